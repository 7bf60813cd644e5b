package main

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime"
	"slices"
	"strconv"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/metrics"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/lab/stats"
	"github.com/texttosql/texttosql/lab/testsuite"
)

// score is the verb score.
type score struct {
	Data        string `required:"" default:"${data}" placeholder:"DIR" help:"Folder of evaluation data (default: TEXTTOSQL_DATA)."`
	Dataset     string `required:"" placeholder:"NAME" help:"Dataset of the folder, or a file: BIRD's or Spider's dev.json, a list of {nlq, sql}, CSV, JSONL."`
	Predictions string `required:"" placeholder:"FILE" help:"File of answers: {qid, sql} lines, BIRD's or Spider's prediction file; gzip is fine."`
	RunName     string `name:"run" placeholder:"NAME" help:"Score only this run of a file with several."`
	Gold2023    bool   `name:"gold-2023" help:"Compare with BIRD's golds of 2023, as old leaderboards do."`
	Timed       bool   `help:"Also ves and r_ves, which run every right answer and its gold many times."`
	Suites      string `placeholder:"DIR" help:"Also ts: test-suite accuracy on variations of the databases, kept in DIR and made there if need be."`
	PerQuestion bool   `help:"Also a line for each question."`
	Workers     int    `default:"${cpus}" help:"Statements at a time."`
	Seed        uint64 `default:"1" help:"Seed of the intervals."`
	Rounds      int    `default:"2000" help:"Rounds of the bootstrap."`
	JSON        bool   `name:"json" help:"JSON lines instead of tables."`
	MySQL       bool   `name:"mysql" help:"The SQLite files are copies of MySQL's: statements may call YEAR, MONTH, DATEDIFF and their like."`
	onServer    `embed:""`
}

// Help is the part of --help that explains metrics and keys.
func (score) Help() string {
	return `Every metric is a mean over all questions of the dataset: one without an answer, or whose gold or
database is missing or broken, counts as 0; it is told on standard error with file and line, and
counted. A file of answers that cannot be read to its end is an error, and nothing is scored.

  va                 the answer runs (valid accuracy)
  ex_set, ex_bag     execution accuracy: equal sets of rows (BIRD), equal bags of rows
  ex_order           bags, in order where the gold orders
  ex_strict          row by row
  ex_suite           rules of test-suite-sql-eval without DISTINCT; ex_suite_distinct keeps it
  em, em_lexed       same text after folding case and space; after lexing
  soft_f1            BIRD's soft F1
  ts                 test-suite accuracy (--suites): right on seeded variations of the database too
  ves, r_ves         BIRD's efficiency scores (--timed): they depend on the machine
  calls, prompt_tokens, completion_tokens, wall_sec
                     what an answer cost, in the mean of those that say so

JSON: a line for each run and metric.
  run, metric, value, n   n is the number of questions, or of answers for costs
  ci                      95 % interval, questions sampled again; ci_by_template: templates of golds
  scorable                the mean over the questions that can be scored, where that differs
  unanswered, faults      questions without an answer; that cannot be scored
With --per-question first a line for each run and question:
  run, qid, db_id, difficulty, answered, status (ok, refused, error, timeout, too_large), error,
  fault (why it cannot be scored), scores (an object from metric to number)`
}

// metricLine is one figure.
type metricLine struct {
	Run        string      `json:"run"`
	Metric     string      `json:"metric"`
	Value      float64     `json:"value"`
	N          int         `json:"n"`
	Scorable   *float64    `json:"scorable,omitempty"`
	CI         *[2]float64 `json:"ci,omitempty"`
	ByTemplate *[2]float64 `json:"ci_by_template,omitempty"`
	Unanswered int         `json:"unanswered"`
	Faults     int         `json:"faults"`
}

// questionLine is one question of a run.
type questionLine struct {
	Run        string             `json:"run"`
	ID         string             `json:"qid"`
	DB         string             `json:"db_id"`
	Difficulty string             `json:"difficulty,omitempty"`
	Answered   bool               `json:"answered"`
	Status     string             `json:"status,omitempty"`
	Error      string             `json:"error,omitempty"`
	Fault      string             `json:"fault,omitempty"`
	Scores     map[string]float64 `json:"scores"`
}

// Run scores the file.
func (s *score) Run(p *program) error {
	if s.Rounds < 1 || s.Workers < 1 {
		return errors.New("--rounds and --workers must be at least 1")
	}
	if s.Suites != "" && (s.MySQL || s.Engine != "") {
		return errors.New("--suites are variations of plain SQLite files: leave out --engine and --mysql")
	}
	asked := access{MySQL: s.MySQL, onServer: s.onServer}
	if err := asked.check(); err != nil {
		return err
	}
	folder, dataset, err := openDataset(p, s.Data, s.Dataset)
	if err != nil {
		return err
	}
	if s.Gold2023 {
		for i, q := range dataset.Questions {
			dataset.Questions[i] = q.With2023()
		}
	}
	store := asked.store(folder, s.Workers)
	defer store.Close()
	scorer := eval.Scorer{Store: store, Metrics: []eval.Metric{
		eval.VA{},
		eval.EX{Rule: "set"}, eval.EX{Rule: "bag"}, eval.EX{Rule: "order"}, eval.EX{Rule: "strict"},
		metrics.SuiteEX{Store: store}, metrics.SuiteEX{Store: store, KeepDistinct: true},
		metrics.EM{}, metrics.EM{Lexed: true}, metrics.SoftF1{},
	}}
	if s.Timed {
		scorer.Metrics = append(scorer.Metrics, metrics.VES{Store: store}, metrics.RVES{Store: store})
	}

	if s.Suites != "" {
		loaded, closeAll, err := s.suites(p, folder, dataset)
		defer closeAll()
		if err != nil {
			return err
		}
		scorer.Metrics = append(scorer.Metrics, suiteMetric{testsuite.TS{Suites: loaded}})
	}

	bar := newProgress(p.err, "reading and scoring "+s.Predictions, -1)
	reports, err := scorer.ScoreRuns(p.ctx, dataset, s.Predictions, s.answers(bar))
	bar.done()
	if err != nil {
		return err
	}
	if len(reports) == 0 {
		if s.RunName != "" {
			return fmt.Errorf("%s has no answer of a run %q", s.Predictions, s.RunName)
		}
		return fmt.Errorf("%s has no answer", s.Predictions)
	}
	var lines []metricLine
	s.tell(p, folder, reports)
	for _, r := range reports {
		list, err := s.figures(r)
		if err != nil {
			return err
		}
		lines = append(lines, list...)
	}
	return s.print(p, reports, lines)
}

// answers reads the file, or one run of it.
func (s *score) answers(bar *progress) iter.Seq2[eval.Answer, error] {
	return func(yield func(eval.Answer, error) bool) {
		for a, err := range eval.Answers(s.Predictions) {
			if err == nil && s.RunName != "" && a.Run != s.RunName {
				continue
			}
			bar.step(-1)
			if !yield(a, err) {
				return
			}
		}
	}
}

// tell says what could not be scored, once for all runs that share it.
func (s *score) tell(p *program, folder *pools.Folder, reports []*eval.Report) {
	var texts []string
	runs := map[string][]string{}
	add := func(run, text string) {
		if runs[text] == nil {
			texts = append(texts, text)
		}
		runs[text] = append(runs[text], run)
	}
	for _, r := range reports {
		if n := len(r.Faults()); n > 0 {
			add(r.Run, fmt.Sprintf("questions that cannot be scored and count as 0: %d of %d", n, r.N()))
		}
		if text := r.LeftOut.String(); text != "" {
			add(r.Run, "left out: "+text)
		}
	}
	for _, text := range texts {
		name := runs[text][0]
		if n := len(runs[text]); n > 1 {
			name = fmt.Sprintf("%d runs", n)
		}
		p.note("%s: %s", name, text)
	}
	// Every run shares a fault, unless only its own answer met the damage.
	var faults []eval.Verdict
	seen := map[string]bool{}
	for _, r := range reports {
		for _, v := range r.Faults() {
			if !seen[v.Question.ID] {
				seen[v.Question.ID] = true
				faults = append(faults, v)
			}
		}
	}
	p.tellFaults(faults, datasetFile(folder, s.Dataset))
}

// figures returns the means of a report with their intervals.
func (s *score) figures(r *eval.Report) (lines []metricLine, err error) {
	boot := stats.Bootstrap{Rounds: s.Rounds, Seed: s.Seed}
	line := metricLine{Run: r.Run, N: r.N(), Unanswered: r.Unanswered(), Faults: len(r.Faults())}
	outcomes, err := r.Outcomes(eval.EX{}) // every metric has the same questions and templates
	if err != nil {
		return nil, err
	}
	for at, metric := range r.Metrics {
		for i := range outcomes {
			outcomes[i].Score = r.Verdicts[i].Scores[at]
		}
		l := line
		boot.Unit = stats.ByQuestion
		mean := boot.Mean(outcomes)
		boot.Unit = stats.ByTemplate
		byTemplate := boot.Mean(outcomes)
		l.Metric, l.Value = metric, mean.Value
		if l.Faults > 0 && l.Faults < l.N {
			value := scorable(r, metric)
			l.Scorable = &value
		}
		l.CI, l.ByTemplate = &[2]float64{mean.Low, mean.High}, &[2]float64{byTemplate.Low, byTemplate.High}
		lines = append(lines, l)
	}
	if n := r.Cost.Recorded; n > 0 {
		for _, c := range []struct {
			name string
			sum  float64
		}{
			{"calls", float64(r.Cost.Usage.Calls)}, {"prompt_tokens", float64(r.Cost.Usage.PromptTokens)},
			{"completion_tokens", float64(r.Cost.Usage.CompletionTokens)}, {"wall_sec", r.Cost.Wall.Seconds()},
		} {
			l := line
			l.Metric, l.Value, l.N = c.name, c.sum/float64(n), n
			lines = append(lines, l)
		}
	}
	return lines, nil
}

// scorable returns the mean of a metric over the questions without a fault.
func scorable(r *eval.Report, metric string) float64 {
	at := slices.Index(r.Metrics, metric)
	sound := slices.DeleteFunc(slices.Clone(r.Verdicts), func(v eval.Verdict) bool { return v.Fault != "" })
	sum := 0.0
	for _, v := range sound {
		sum += v.Scores[at]
	}
	return sum / float64(max(1, len(sound)))
}

func (s *score) print(p *program, reports []*eval.Report, lines []metricLine) error {
	var questions []questionLine
	if s.PerQuestion {
		for _, r := range reports {
			questions = append(questions, questionLines(r)...)
		}
	}
	if s.JSON {
		if err := jsonLines(p.out, questions); err != nil {
			return err
		}
		return jsonLines(p.out, lines)
	}
	if len(questions) > 0 {
		heads := append([]string{"run", "question", "database", "status"}, reports[0].Metrics...)
		var rows [][]string
		for _, q := range questions {
			row := []string{q.Run, q.ID, q.DB, q.Status}
			for _, m := range reports[0].Metrics {
				row = append(row, strconv.FormatFloat(q.Scores[m], 'g', 3, 64))
			}
			rows = append(rows, row)
		}
		if err := table(p.out, heads, rows); err != nil {
			return err
		}
		fmt.Fprintln(p.out)
	}
	heads, rows := metricsTable(lines)
	return table(p.out, heads, rows)
}

func questionLines(r *eval.Report) []questionLine {
	var list []questionLine
	for _, v := range r.Verdicts {
		q := questionLine{
			Run: r.Run, ID: v.Question.ID, DB: v.Question.DB, Difficulty: v.Question.Difficulty, Answered: v.Answered,
			Status: string(v.Answer.Status), Error: v.Answer.Err, Fault: v.Fault,
			Scores: make(map[string]float64, len(r.Metrics)),
		}
		for i, m := range r.Metrics {
			q.Scores[m] = v.Scores[i]
		}
		list = append(list, q)
	}
	return list
}

func metricsTable(lines []metricLine) (heads []string, rows [][]string) {
	heads = []string{"run", "metric", "value", "n", "95 %", "by template", "unanswered", "faults", "scorable"}
	for _, l := range lines {
		row := []string{l.Run, l.Metric, strconv.FormatFloat(l.Value, 'f', 4, 64), strconv.Itoa(l.N), "–", "–",
			strconv.Itoa(l.Unanswered), strconv.Itoa(l.Faults), "–"}
		if l.CI != nil {
			row[4] = share(l.CI[0]) + " to " + share(l.CI[1])
			row[5] = share(l.ByTemplate[0]) + " to " + share(l.ByTemplate[1])
		}
		if l.Scorable != nil {
			row[8] = strconv.FormatFloat(*l.Scorable, 'f', 4, 64)
		}
		rows = append(rows, row)
	}
	return heads, rows
}

// openDataset opens the folder and a dataset of it, or a dataset in a file.
func openDataset(p *program, dir, name string) (*pools.Folder, *eval.Dataset, error) {
	folder, err := pools.OpenFolder(dir)
	if err != nil {
		return nil, nil, err
	}
	read := folder.Dataset
	if isFile(name) {
		read = eval.ReadDataset
	}
	dataset, err := readDataset(p, read, name)
	return folder, dataset, err
}

func readDataset(p *program, read func(string) (*eval.Dataset, error), name string) (*eval.Dataset, error) {
	dataset, err := read(name)
	if err == nil && dataset.Repeated > 0 {
		p.note("%s: %d of its questions stand there once more and count once", name, dataset.Repeated)
	}
	return dataset, err
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// cpus is the default of --workers.
func cpus() string { return strconv.Itoa(runtime.GOMAXPROCS(0)) }
