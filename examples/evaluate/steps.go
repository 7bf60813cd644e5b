package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/eval/models"
	"github.com/texttosql/texttosql/examples/evaluate/internal/replay"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/vote"
)

// steps is the verb steps.
type steps struct {
	Data        string   `required:"" default:"${data}" placeholder:"DIR" help:"Folder of evaluation data (default: TEXTTOSQL_DATA)."`
	Pool        []string `sep:"none" placeholder:"NAME" help:"Pool to sample from; may be repeated. Default: the reference pools."`
	Wide        bool     `help:"Also every other pool of four or more samples."`
	Variant     []string `sep:"none" placeholder:"NAME" help:"Variant to run; may be repeated. Default: all that are listed above."`
	Samples     int      `placeholder:"N" help:"Samples a question and step at most. Default: all that the pool has."`
	Keep        bool     `help:"Assume that a model keeps to the tables agreed on (phases:…?keep=scope)."`
	Concurrency int      `default:"4" placeholder:"N" help:"Questions at a time."`
	Seed        uint64   `default:"1" help:"Seed of the intervals."`
	Rounds      int      `default:"2000" help:"Rounds of the bootstrap."`
	JSON        bool     `name:"json" help:"JSON lines instead of a table."`
}

// variant is one way to answer from the samples of a pool.
type variant struct {
	name, about string
	strategy    func(k int) strategy.Strategy // k samples a question
}

func variants() []variant {
	steps := func(change func(*maker.Strategy)) func(int) strategy.Strategy {
		return func(k int) strategy.Strategy {
			m := maker.Strategy{Samples: k, FallbackCalls: k}
			change(&m)
			return m
		}
	}
	flat := func(k int) strategy.Strategy { return strategy.SelfConsistency{Samples: k} }
	return []variant{
		{"flat", "vote by result over whole statements, the baseline (SelfConsistency)", flat},
		{"plan", "flat vote by strict plan (planvote.Plain)", func(k int) strategy.Strategy { return planvote.Plain{Samples: k} }},
		{"plan-compat", "flat vote by the documented plan signature (planvote.Plain.Published)", func(k int) strategy.Strategy {
			return planvote.Plain{Samples: k}.Published()
		}},
		{"maker", "the preset (maker.Strategy)", steps(func(*maker.Strategy) {})},
		{"maker-k3", "maker that stops 3 votes ahead", steps(func(m *maker.Strategy) { m.Stop = vote.AheadBy(3) })},
		{"maker-flat-fallback", "maker that falls back to a vote by result", func(k int) strategy.Strategy {
			return maker.Strategy{Samples: k, Fallback: strategy.SelfConsistency{Samples: k}}
		}},
		{"maker-compat", "maker as published (maker.Strategy.Published)", func(k int) strategy.Strategy {
			return maker.Strategy{Samples: k, FallbackCalls: k}.Published()
		}},
	}
}

// Help is the part of --help that explains words and keys.
func (steps) Help() string {
	text := `Strategies that settle a statement step by step, on simulated models: sample i of a step is the part
of recorded answer i that the step is about (eval/models, Phases). Every variant sees the same
samples, as many as the pool has. It shows votes, stops, ways back and fallbacks on real mistakes, and
says nothing about whether taking a question apart helps a model.

Variants:

`
	for _, v := range variants() {
		text += fmt.Sprintf("  %-20s %s\n", v.name, v.about)
	}
	return text + `
JSON: a line for each pool and variant, and for all pools together with "pool": "all".
  pool, variant, n (questions), k (samples a step), right (sets of rows, as BIRD has it), ex
  better, worse    questions against flat; points, ci, ci_by_template: the difference and its 95 %
                   intervals; mid_p of McNemar's test
  calls            made for all questions; calls_mean a question
  scope_valid      questions whose first step found tables that join
  scope_right      questions whose first step has most votes for the tables of the gold
  consensus        mean share of the winning filter
  signatures       mean number of different answers in the last step
  backtracks       questions that gave their first tables up
  fallbacks        questions that another method answered, with why as counts
  model_kind       "simulated", "recorded" for flat votes; keep (the assumption)`
}

// stepsLine is one line of the output.
type stepsLine struct {
	Pool       string         `json:"pool"`
	Variant    string         `json:"variant"`
	N          int            `json:"n"`
	K          int            `json:"k"`
	Right      int            `json:"right"`
	EX         float64        `json:"ex"`
	Better     int            `json:"better"`
	Worse      int            `json:"worse"`
	Points     float64        `json:"points"`
	CI         [2]float64     `json:"ci"`
	Template   [2]float64     `json:"ci_by_template"`
	MidP       float64        `json:"mid_p"`
	Calls      int            `json:"calls"`
	CallsMean  float64        `json:"calls_mean"`
	ScopeValid int            `json:"scope_valid"`
	ScopeRight int            `json:"scope_right"`
	Consensus  float64        `json:"consensus"`
	Signatures float64        `json:"signatures"`
	Backtracks int            `json:"backtracks"`
	Fallbacks  int            `json:"fallbacks"`
	Why        map[string]int `json:"why,omitempty"`
	Kind       string         `json:"model_kind"`
	Keep       bool           `json:"keep"`
}

// Run runs every variant on every pool.
func (s *steps) Run(p *program) error {
	if s.Rounds < 1 || s.Concurrency < 1 || s.Samples < 0 {
		return errors.New("--rounds and --concurrency must be at least 1, --samples 0 or more")
	}
	folder, err := eval.OpenFolder(s.Data)
	if err != nil {
		return err
	}
	chosen, err := s.chosen()
	if err != nil {
		return err
	}
	names := distinct(s.Pool)
	if len(names) == 0 {
		names = eval.Pools()
	}
	if s.Wide {
		names = distinct(append(names, widePools()...))
	}
	store := access{}.store(folder, s.Concurrency)
	defer store.Close()
	scorer := &eval.Scorer{Store: store, Metrics: []eval.Metric{eval.EX{}}}
	var lines []stepsLine
	var failed []error
	all := make([]stepsTaken, len(chosen))
	pools, most := 0, 0
	for _, name := range names {
		of, k, err := s.pool(p, folder, scorer, name, chosen)
		if p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("pool %s: %w", name, err))
			continue
		}
		pools, most = pools+1, max(most, k)
		for i, taken := range of {
			line, err := s.line(name, k, chosen[i], taken, of[0])
			if err != nil {
				return err
			}
			lines = append(lines, line)
			all[i].results = append(all[i].results, taken.results...)
			all[i].outcomes = append(all[i].outcomes, taken.outcomes...)
		}
	}
	if pools == 0 {
		return noneLeft(p, failed)
	}
	for i := 0; i < len(chosen) && pools > 1; i++ {
		line, err := s.line(replay.AllPools, most, chosen[i], all[i], all[0])
		if err != nil {
			return err
		}
		lines = append(lines, line)
	}
	for _, err := range failed {
		p.note("left out: %v", err)
	}
	if s.JSON {
		err = jsonLines(p.out, lines)
	} else {
		heads, rows := stepsTable(lines)
		err = table(p.out, heads, rows)
	}
	if err == nil && len(s.Pool) > 0 && len(failed) > 0 {
		err = fmt.Errorf("%d of the %d pools asked for are left out", len(failed), len(names))
	}
	return err
}

// stepsTaken holds the results of one variant, and the same in the form of the statistics, by question.
type stepsTaken struct {
	results  []measured
	outcomes []eval.Outcome
}

// pool runs the variants on one pool, with k samples a step.
func (s *steps) pool(p *program, folder *eval.Folder, scorer *eval.Scorer, name string, chosen []variant) (of []stepsTaken, k int, err error) {
	pool, err := folder.Pool(name)
	if err != nil {
		return nil, 0, err
	}
	run := &stepsRun{steps: s, pool: pool, databases: databases{folder: folder}, scorer: scorer}
	defer run.databases.close()
	of, err = run.measure(p, chosen)
	return of, run.samples(), err
}

// fourExperts are systems that answer most of Spider alike.
const fourExperts = "spider_dev/dail_sql/DAIL-SQL+GPT-4,dail_sql/DAIL-SQL+GPT-4+self-consistency,dail_sql/graphix_result,c3sql/predicted_sql"

// widePools are the pools with at least four samples that eval.Pools leaves out.
func widePools() []string {
	return []string{
		"classicmodels/llama_qlora_k3", "classicmodels/qwen_qlora_k3", "classicmodels/llama_react_k3",
		"samples/spider_samples", "samples/spider_samples_lp", "samples/spider_samples_gpt_4o", "samples/spider_samples_gpt_3_5_turbo",
		"samples/bird_samples", "samples/bird_samples_gpt_4_1_mini",
		"samples/deepseek_chat_k=4", "samples/deepseek_chat_k=5", "samples/deepseek_chat_k=8", "samples/deepseek_chat_k=12",
		"samples/deepseek_chat_k=22", "samples/deepseek_chat_k=35",
		"samples/grok-4-1-fast-non-reasoning_k=4", "samples/grok-4-1-fast-non-reasoning_k=5", "samples/grok-4-1-fast-non-reasoning_k=8",
		"samples/grok-4-1-fast-non-reasoning_k=22", "samples/grok-4-1-fast-non-reasoning_k=35",
		"bird_minidev/all", fourExperts,
	}
}

// chosen returns the variants to run, each once. flat comes first, because the others are compared with it.
func (s *steps) chosen() ([]variant, error) {
	all := variants()
	if len(s.Variant) == 0 {
		return all, nil
	}
	list := []variant{all[0]}
	for _, name := range distinct(s.Variant) {
		i := slices.IndexFunc(all, func(v variant) bool { return v.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no variant %q (--help lists them)", name)
		}
		if i > 0 {
			list = append(list, all[i])
		}
	}
	return list, nil
}

// line sums up the figures of a variant, beside those of the flat vote.
func (s *steps) line(pool string, k int, v variant, taken, flat stepsTaken) (stepsLine, error) {
	l := stepsLine{Pool: pool, Variant: v.name, N: len(taken.results), K: k, Why: map[string]int{}, Kind: models.KindSimulated, Keep: s.Keep}
	filters, last := 0, 0
	for _, m := range taken.results {
		if m.right {
			l.Right++
		}
		l.Calls += m.calls
		if m.scope {
			l.ScopeRight++
		}
		if m.report.Fallback != "" {
			l.Fallbacks++
			l.Why[m.report.Fallback]++
		}
		back := false
		for _, phase := range m.report.Phases {
			back = back || phase.Attempt > 0
			switch {
			case phase.Phase == "scope" && phase.Valid:
				l.ScopeValid++
			case phase.Phase == "filter" && phase.Valid:
				filters++
				l.Consensus += phase.Share
			case phase.Phase == "projection" && phase.Valid:
				last++
				l.Signatures += float64(phase.UniqueSignatures)
			}
		}
		if back {
			l.Backtracks++
		}
	}
	l.EX, l.CallsMean = float64(l.Right)/float64(max(l.N, 1)), float64(l.Calls)/float64(max(l.N, 1))
	l.Consensus /= float64(max(filters, 1))
	l.Signatures /= float64(max(last, 1))
	if !strings.HasPrefix(v.name, "maker") {
		l.Kind = models.KindRecorded
	}
	pairs, err := eval.Pairs(flat.outcomes, taken.outcomes)
	if err != nil {
		return l, err
	}
	test := eval.NewMcNemar(pairs)
	l.Better, l.Worse, l.MidP = test.OnlyB, test.OnlyA, test.MidP()
	boot := eval.Bootstrap{Rounds: s.Rounds, Seed: s.Seed}
	byQuestion := boot.Difference(pairs)
	boot.Unit = eval.ByTemplate
	byTemplate := boot.Difference(pairs)
	l.Points, l.CI, l.Template = 100*byQuestion.Value, [2]float64{100 * byQuestion.Low, 100 * byQuestion.High}, [2]float64{100 * byTemplate.Low, 100 * byTemplate.High}
	return l, nil
}

func stepsTable(lines []stepsLine) (heads []string, rows [][]string) {
	heads = []string{"pool", "variant", "n", "k", "right", "better", "worse", "points", "95 %", "by template", "calls", "scope", "consensus", "signatures", "backtracks", "fallbacks"}
	for _, l := range lines {
		row := []string{
			l.Pool, l.Variant, strconv.Itoa(l.N), strconv.Itoa(l.K), strconv.Itoa(l.Right), "–", "–", "–", "–", "–",
			strconv.FormatFloat(l.CallsMean, 'f', 1, 64), "–", "–", "–", "–", "–",
		}
		if l.Variant != "flat" {
			row[5], row[6] = strconv.Itoa(l.Better), strconv.Itoa(l.Worse)
			row[7] = fmt.Sprintf("%+.1f", l.Points)
			row[8] = fmt.Sprintf("%+.1f to %+.1f", l.CI[0], l.CI[1])
			row[9] = fmt.Sprintf("%+.1f to %+.1f", l.Template[0], l.Template[1])
		}
		if l.Kind == models.KindSimulated {
			row[11] = fmt.Sprintf("%d, right %d", l.ScopeValid, l.ScopeRight)
			row[12], row[13] = share(l.Consensus), strconv.FormatFloat(l.Signatures, 'f', 1, 64)
			row[14], row[15] = strconv.Itoa(l.Backtracks), strconv.Itoa(l.Fallbacks)
		}
		rows = append(rows, row)
	}
	return heads, rows
}
