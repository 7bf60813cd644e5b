package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/lab/models"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
)

// stepsRun works on one pool.
type stepsRun struct {
	*steps
	pool      *pools.Pool
	scorer    *eval.Scorer
	databases databases
	envs      map[string]*strategy.Env // environments with a model
}

// env returns the Env of strategies for one database.
func (r *stepsRun) env(ctx context.Context, database string) (*strategy.Env, error) {
	if env := r.envs[database]; env != nil {
		return env, nil
	}
	opened, err := r.databases.env(ctx, database)
	if err != nil {
		return nil, err
	}
	recorded, err := models.FromPool(r.pool, database)
	if err != nil {
		return nil, err
	}
	phases, err := models.NewPhases(ctx, recorded, opened.DB, models.PhaseOptions{KeepScope: r.Keep})
	if err != nil {
		return nil, err
	}
	env := *opened
	env.Models = []llm.Model{phases}
	if r.envs == nil {
		r.envs = map[string]*strategy.Env{}
	}
	r.envs[database] = &env
	return &env, nil
}

// measured holds the figures of one variant for one question.
type measured struct {
	right  bool
	scope  bool // see scopeRight
	calls  int
	report maker.Report
}

// samples returns how many answers of the pool a step may see.
func (r *stepsRun) samples() int {
	if n := r.pool.Size(); r.Samples == 0 || n < r.Samples {
		return n
	}
	return r.Samples
}

// questions returns the questions that can be judged, and reports the others.
func (r *stepsRun) questions(p *program) ([]eval.Question, error) {
	var questions []eval.Question
	var faults []eval.Verdict
	for _, q := range r.pool.Questions {
		fault, err := r.scorer.Fault(p.ctx, q)
		if err != nil {
			return nil, err
		}
		if fault == "" {
			if _, err := r.env(p.ctx, q.DB); err != nil {
				fault = err.Error()
			}
		}
		if fault == "" {
			questions = append(questions, q)
		} else {
			faults = append(faults, eval.Verdict{Question: q, Fault: fault})
		}
	}
	folder, _ := r.databases.folder.(*pools.Folder)
	p.tellFaults(faults, datasetFile(folder, ""))
	if len(questions) == 0 {
		return nil, errors.New("no question can be judged")
	}
	return questions, p.ctx.Err()
}

func (r *stepsRun) measure(p *program, chosen []variant) ([]stepsTaken, error) {
	questions, err := r.questions(p)
	if err != nil {
		return nil, err
	}
	bar := newProgress(p.err, r.pool.Name, len(questions)*len(chosen))
	defer bar.done()
	var all []stepsTaken
	for _, v := range chosen {
		results := make([]measured, len(questions))
		g, ctx := errgroup.WithContext(p.ctx)
		g.SetLimit(r.Concurrency)
		for i, q := range questions {
			g.Go(func() error {
				var err error
				results[i], err = r.answer(ctx, q, v)
				bar.step(len(questions) * len(chosen))
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		outcomes := make([]eval.Outcome, len(questions))
		for i, q := range questions {
			outcomes[i] = eval.Outcome{
				Pool: r.pool.Name, Question: q.Key(), Database: q.DB,
				Template: eval.GoldTemplate(sqlite.Dialect{}.Language().Text, q.Gold),
			}
			if results[i].right {
				outcomes[i].Score = 1
			}
		}
		all = append(all, stepsTaken{results, outcomes})
	}
	return all, nil
}

func (r *stepsRun) answer(ctx context.Context, q eval.Question, v variant) (measured, error) {
	var m measured
	env := *r.envs[q.DB]
	var calls atomic.Int64
	inner := env.Models[0]
	env.Models = []llm.Model{llm.Named(llm.NameOf(inner), llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		calls.Add(1)
		return inner.Complete(ctx, req)
	}))}
	out, err := v.strategy(r.samples()).Generate(ctx, &env, strategy.Task{Question: q.Text, Evidence: q.Evidence})
	if ctx.Err() != nil {
		return m, ctx.Err()
	}
	if err != nil && !errors.Is(err, strategy.ErrNoCandidate) {
		return m, fmt.Errorf("%s: question %s: %w", v.name, q.ID, err)
	}
	m.calls, m.scope = int(calls.Load()), r.scopeRight(ctx, &env, q, out)
	if out == nil {
		return m, nil
	}
	if report, rerr := maker.ReadReport(out.Report); rerr == nil { // the sums only need this report
		m.report = maker.Report{Fallback: report.Fallback, Phases: slices.Clone(report.Phases)}
		for i := range m.report.Phases {
			m.report.Phases[i].Clusters, m.report.Phases[i].Flags = nil, nil
		}
	}
	if err != nil || out.SQL == "" {
		return m, nil
	}
	verdict, err := r.scorer.Score(ctx, q, out.SQL)
	if err != nil {
		return m, err
	}
	m.right = verdict.Scores[0] == 1
	return m, nil
}

// scopeRight reports whether most votes of the first step are for the tables that the gold reads, whatever their joins.
func (r *stepsRun) scopeRight(ctx context.Context, env *strategy.Env, q eval.Question, out *strategy.Outcome) bool {
	gold, err := env.DB.Analyze(ctx, q.Gold)
	if err != nil || out == nil {
		return false
	}
	report, err := maker.ReadReport(out.Report)
	if err != nil || len(report.Phases) == 0 {
		return false
	}
	var names []string
	for _, t := range gold.Tables {
		names = append(names, t.Table)
	}
	slices.Sort(names)
	tables := report.Phases[0].Winner // with one table there is no vote
	if clusters := report.Phases[0].Clusters; len(clusters) > 0 {
		tables = clusters[0].Key
	}
	tables, _, _ = strings.Cut(tables, "; left join ")
	return strings.EqualFold(tables, strings.Join(names, ", "))
}
