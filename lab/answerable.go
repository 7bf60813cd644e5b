package main

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/lab/internal/replay"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/lab/stats"
)

// answerables is the verb answerable.
type answerables struct {
	Asking string   `default:"${asking}" placeholder:"DIR" help:"Folder with votes on questions that cannot be answered (default: TEXTTOSQL_DATA_ASKING)."`
	Data   string   `default:"${data}" placeholder:"DIR" help:"Folder of evaluation data, whose questions can be (default: TEXTTOSQL_DATA)."`
	Pool   []string `sep:"none" placeholder:"NAME" help:"Pool of answers to plain questions; may be repeated. Default: the four below."`
	Below  float64  `default:"0.2" placeholder:"SCORE" help:"Refuse where the score is lower, in 0..1 (WithRefuseBelow)."`
	Folds  int      `default:"5" placeholder:"N" help:"Folds by which the weights are fitted again."`
	JSON   bool     `name:"json" help:"JSON lines instead of a table."`
}

// plainPools are the default of --pool: several samples of one model.
var plainPools = []string{"classicmodels/qwen_base_k3", "classicmodels/llama_base_k3", "samples/spider_samples_k16",
	"samples/grok-4-1-fast-non-reasoning_k=12"}

// Help is the part of --help that explains words and keys.
func (answerables) Help() string {
	return `Recorded votes are scored by whether the data can answer the question (Result.Answerable). Statements
on the empty database of --asking are planned, those of pools are run. Pools of plain questions are named as for votes. An interval is 95 %.

JSON: a line for each score of the votes of --asking, then a line for each pool.
  score        "texts" (share of the text that most samples have), "texts × compiles", "answerable" (the score of the
               library), "answerable, by folds" (its weights fitted on the other folds, by templates of golds)
  n, can       questions; those that the data can answer
  auroc, ci    of the score against that
  rs10         reliability score at ten points a wrong answer, with the best threshold for these questions; answered is
               the share of the questions that are answered there
  pool, n      a pool and its questions; refused and refused_ci: the share whose score is below --below.
               "answerable" and "unanswerable" are the two halves of the votes of --asking`
}

// reliabilityLine is one score of the votes.
type reliabilityLine struct {
	Score    string     `json:"score"`
	N        int        `json:"n"`
	Can      int        `json:"can"`
	AUROC    float64    `json:"auroc"`
	CI       [2]float64 `json:"ci"`
	RS10     float64    `json:"rs10"`
	Answered float64    `json:"answered"`
}

// refusedLine is what a threshold refuses of a pool.
type refusedLine struct {
	Pool    string     `json:"pool"`
	N       int        `json:"n"`
	Below   float64    `json:"below"`
	Refused float64    `json:"refused"`
	CI      [2]float64 `json:"refused_ci"`
}

// Run scores the votes.
func (a *answerables) Run(p *program) error {
	if !(a.Below >= 0 && a.Below <= 1) || a.Folds < 2 {
		return fmt.Errorf("--below must be in 0..1, and --folds at least 2")
	}
	var scores []reliabilityLine
	var refused []refusedLine
	if a.Asking != "" {
		all, err := a.votes(p)
		if err != nil {
			return err
		}
		scores = a.compare(all)
		for _, can := range []bool{true, false} {
			refused = append(refused, a.refuse(map[bool]string{true: "answerable", false: "unanswerable"}[can], all, can))
		}
	}
	if a.Data != "" {
		more, err := a.plain(p)
		if err != nil {
			return err
		}
		refused = append(refused, more...)
	}
	if a.JSON {
		if err := jsonLines(p.out, scores); err != nil {
			return err
		}
		return jsonLines(p.out, refused)
	}
	return a.tables(p, scores, refused)
}

func (a *answerables) tables(p *program, scores []reliabilityLine, refused []refusedLine) error {
	var rows [][]string
	for _, l := range scores {
		rows = append(rows, []string{l.Score, strconv.Itoa(l.N), strconv.Itoa(l.Can), share(l.AUROC), share(l.CI[0]) +
			" to " + share(l.CI[1]), fmt.Sprintf("%.1f", l.RS10), share(l.Answered)})
	}
	if err := table(p.out, []string{"score", "n", "can", "AUROC", "95 %", "RS(10)", "answered"}, rows); err != nil {
		return err
	}
	fmt.Fprintln(p.out)
	rows = nil
	for _, l := range refused {
		rows = append(rows, []string{l.Pool, strconv.Itoa(l.N), share(l.Refused), share(l.CI[0]) + " to " + share(l.CI[1])})
	}
	return table(p.out, []string{"questions", "n", fmt.Sprintf("refused below %v", a.Below), "95 %"}, rows)
}

// votes scores the votes of the folder Asking.
func (a *answerables) votes(p *program) (all []replay.Scored, err error) {
	folder, err := pools.OpenFolder(a.Asking)
	if err != nil {
		return nil, err
	}
	scorer := &replay.Scorer{Folder: folder}
	defer scorer.Close()
	for _, name := range []string{"ehrsql", "ehrsql_unanswerable"} {
		part, err := votesOf(p, scorer, folder.Path(), name)
		if err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}

// sample is one recorded reply.
type sample struct {
	QID   string `json:"qid"`
	SQL   string `json:"sql"`
	Proxy *int   `json:"proxy"`
}

// votesOf scores the questions of one file.
func votesOf(p *program, scorer *replay.Scorer, dir, name string) (all []replay.Scored, err error) {
	type question struct {
		QID      string `json:"qid"`
		DB       string `json:"db_id"`
		Question string `json:"question"`
		Gold     string `json:"gold"`
		Can      bool   `json:"answerable"`
	}
	questions, err := files.Lines[question](filepath.Join(dir, "questions", "questions_"+name+".jsonl.gz"))
	if err != nil {
		return nil, err
	}
	samples, err := files.Lines[sample](filepath.Join(dir, "samples", "samples_"+name+".jsonl.gz"))
	if err != nil {
		return nil, err
	}
	replies := map[string][]string{}
	right := map[[2]string]*int{}
	for _, s := range samples {
		replies[s.QID] = append(replies[s.QID], s.SQL)
		right[[2]string{s.QID, replay.Fold(s.SQL)}] = s.Proxy
	}
	for _, q := range questions {
		if replies[q.QID] == nil {
			continue
		}
		s, err := scorer.Score(p.ctx, eval.Question{ID: q.QID, DB: q.DB, Text: q.Question, Gold: q.Gold}, replies[q.QID])
		if err != nil {
			return nil, err
		}
		if s.Answerable = q.Can; q.Can {
			s.Outcome.Score = 1
		}
		if proxy := right[[2]string{q.QID, s.Text}]; proxy != nil {
			s.Right = new(*proxy == 1)
		}
		all = append(all, s)
	}
	return all, nil
}

// compare measures each score.
func (a *answerables) compare(all []replay.Scored) (lines []reliabilityLine) {
	refitted := replay.Refitted(all, a.Folds)
	for _, score := range []struct {
		name string
		of   func(i int) float64
	}{
		{"texts", func(i int) float64 { return all[i].Equal }},
		{"texts × compiles", func(i int) float64 { return all[i].Equal * all[i].Features.Compiles }},
		{"answerable", func(i int) float64 { return all[i].Score.Score }},
		{"answerable, by folds", func(i int) float64 { return refitted[i] }},
	} {
		l := reliabilityLine{Score: score.name, N: len(all)}
		outcomes, scores := make([]eval.Outcome, len(all)), make([]float64, len(all))
		for i, s := range all {
			scores[i] = score.of(i)
			outcomes[i] = s.Outcome
			outcomes[i].Confidence = scores[i]
			l.Can += int(s.Outcome.Score)
		}
		auroc, _ := stats.AUROC(stats.Bootstrap{Rounds: 2000}, outcomes)
		l.AUROC, l.CI = auroc.Value, [2]float64{auroc.Low, auroc.High}
		l.RS10, l.Answered = replay.Reliability(all, scores, 10)
		lines = append(lines, l)
	}
	return lines
}

// refuse counts what the threshold refuses among the questions that can be answered, or among the others.
func (a *answerables) refuse(pool string, all []replay.Scored, can bool) refusedLine {
	l := refusedLine{Pool: pool, Below: a.Below}
	refused := 0
	for _, s := range all {
		if s.Answerable != can {
			continue
		}
		if l.N++; s.Score.Score < a.Below {
			refused++
		}
	}
	interval := stats.Wilson(refused, l.N, 0.95)
	l.Refused, l.CI = float64(refused)/float64(max(l.N, 1)), [2]float64{interval.Low, interval.High}
	return l
}

// plain scores pools of questions that the data can answer.
func (a *answerables) plain(p *program) (lines []refusedLine, err error) {
	folder, err := pools.OpenFolder(a.Data)
	if err != nil {
		return nil, err
	}
	names := plainPools
	if len(a.Pool) > 0 {
		names = a.Pool
	}
	for _, name := range names {
		pool, err := folder.Pool(name)
		if err != nil {
			return nil, err
		}
		scorer := &replay.Scorer{Folder: folder, Run: true}
		var all []replay.Scored
		for i, q := range pool.Questions {
			var replies []string
			for _, answer := range pool.Answers[i] {
				replies = append(replies, answer.SQL)
			}
			s, err := scorer.Score(p.ctx, q, replies)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			s.Answerable = true
			all = append(all, s)
		}
		if err := scorer.Close(); err != nil {
			return nil, err
		}
		lines = append(lines, a.refuse(name, all, true))
	}
	return lines, nil
}
