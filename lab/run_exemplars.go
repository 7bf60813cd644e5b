package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/leakguard"
	"github.com/texttosql/texttosql/internal/masking"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/strategy/petsql"
)

// exemplars are the solved questions that a run shows; nil: none, and the run is zero-shot.
type exemplars struct {
	source string // as it was given
	chance bool   // those shown are drawn, whatever the question
	pairs  []memory.Exemplar
	guard  *leakguard.Guard // of pairs
	across bool             // pairs of the question's own database are not shown

	golds   map[string][]*sqltext.Statement // by database and question
	maskers map[string]func(string) string  // by database

	mu                    sync.Mutex
	questions, shown, cut int
	alike                 float64
}

// openExemplars reads the pool of --exemplars: a file of questions with their SQL, or for "train" the folder's
// questions/NAME_train file of the dataset. A dataset without one has its questions about other databases. "random" is
// train, of which a draw chooses.
func openExemplars(ctx context.Context, source string, folder *pools.Folder, find finder, on onServer,
	dataset *eval.Dataset) (*exemplars, error) {
	x := &exemplars{source: source, golds: map[string][]*sqltext.Statement{}, maskers: map[string]func(string) string{}}
	pool := dataset
	path := source
	if x.chance = source == "random"; x.chance || source == "train" {
		if folder == nil {
			return nil, fmt.Errorf("--exemplars %s is a file of a folder of evaluation data: give --data too, or a file",
				source)
		}
		path = folder.Path("questions", dataset.Name+"_train.jsonl")
		if _, err := os.Stat(path); err != nil {
			path, x.across = "", true
		}
	}
	if path != "" {
		var err error
		if pool, err = eval.ReadDataset(path); err != nil {
			return nil, fmt.Errorf("--exemplars: %w", err)
		}
	}
	opened := &databases{folder: find, on: on}
	defer opened.close()
	for _, q := range pool.Questions {
		if q.Text == "" || q.Gold == "" {
			continue
		}
		if q.DB != "" && x.maskers[q.DB] == nil {
			x.maskers[q.DB] = masking.Masker(nil, false)
			if env, err := opened.env(ctx, q.DB); err == nil {
				x.maskers[q.DB] = masking.Masker(env.Schema, false)
			}
		}
		x.pairs = append(x.pairs, memory.Exemplar{ID: q.DB, Question: q.Text, Evidence: q.Evidence, SQL: q.Gold})
	}
	if len(x.pairs) == 0 {
		return nil, fmt.Errorf("--exemplars %s: no question with its SQL", source)
	}
	x.guard = leakguard.New(sqltext.SQLite(), x.pairs)
	for _, q := range dataset.Questions {
		key := q.DB + "\x00" + q.Text
		x.golds[key] = append(x.golds[key], sqltext.SQLite().Parse(q.Gold))
	}
	return x, ctx.Err()
}

// of returns the pairs that may be shown with a question, and how many the guard keeps away because their gold or their
// question is its own, other values aside. Questions that differ in names too are left to memory.Similar.
func (x *exemplars) of(database, question string) (pairs []memory.Exemplar, cut int) {
	away := map[int]bool{}
	for _, gold := range x.golds[database+"\x00"+question] {
		_, places := x.guard.Find(memory.Exemplar{Question: question, SQL: gold.SQL()})
		for _, i := range places {
			away[i] = true
		}
	}
	for i, p := range x.pairs {
		switch {
		case x.across && p.ID == database:
		case away[i]:
			cut++
		default:
			pairs = append(pairs, p)
		}
	}
	return pairs, cut
}

// String is the run's word for what it shows.
func (x *exemplars) String() string {
	if x == nil {
		return "zero-shot"
	}
	return x.source + ", guarded"
}

// tell says what was shown.
func (x *exemplars) tell(p *program, kind string) {
	if x == nil || x.questions == 0 {
		return
	}
	n := float64(x.questions)
	p.note("exemplars of %s: %d pairs; a question was shown %.1f, whose SQL is like its gold by %s (Jaccard index of "+
		"skeletons)",
		x.source, len(x.pairs), float64(x.shown)/n, share(x.alike/max(float64(x.shown), 1)))
	p.note("the guard kept %.1f pairs a question away that have its gold, and those that ask the same but for names and "+
		"values", float64(x.cut)/n)
	if kind == "recorded" {
		p.note("recorded answers were given to other prompts: here exemplars change the tokens and not the answers")
	}
}

// showing is a strategy that shows exemplars of a pool of its own for each question about one database.
type showing struct {
	strategy.Strategy
	exemplars *exemplars
	database  string
}

// Validate is that of the strategy.
func (s showing) Validate(samples int) error {
	if v, ok := s.Strategy.(interface{ Validate(samples int) error }); ok {
		return v.Validate(samples)
	}
	return nil
}

// strategy returns s with exemplars for questions about a database.
func (x *exemplars) strategy(s strategy.Strategy, database string) (strategy.Strategy, error) {
	if x == nil {
		return s, nil
	}
	if _, ok := s.(petsql.Strategy); ok && x.chance {
		return nil, errors.New("--exemplars random: petsql shows those that are like the question; direct shows drawn ones")
	}
	switch s.(type) {
	case strategy.Direct:
		return showing{strategy.Direct{Shots: shotsShown}, x, database}, nil
	case petsql.Strategy, agent.ReAct, agent.Staged:
		return showing{s, x, database}, nil
	}
	return nil, errors.New("--exemplars: the strategy shows none; petsql, direct, react and staged3 do")
}

// Generate picks the exemplars of one question and counts what they are worth.
func (s showing) Generate(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
	x := s.exemplars
	pairs, cut := x.of(s.database, t.Question)
	p, ok := s.Strategy.(petsql.Strategy)
	if !ok {
		return s.generateFrom(ctx, env, t, &memory.Pool{Pairs: pairs}, cut)
	}
	own := masking.Masker(env.Schema, false)
	mask := func(p memory.Exemplar) string {
		if m := x.maskers[p.ID]; m != nil {
			return m(p.Question)
		}
		return own(p.Question)
	}
	pick := &p.Prompter.Exemplars
	pick.Pool, pick.WithoutTemplate, pick.WithoutValues = &memory.Pool{Pairs: pairs, Mask: mask}, true, true
	shown, err := env.Similar(ctx, *pick, t.Question)
	if err != nil {
		return nil, err
	}
	x.count(s.database, t.Question, shown, cut)
	return p.Generate(ctx, env, t)
}

// generateFrom shows exemplars of a pool: direct those that are like the question, react some that run, by chance.
func (s showing) generateFrom(ctx context.Context, env *strategy.Env, t strategy.Task, pool *memory.Pool, cut int) (
	*strategy.Outcome, error) {
	shown := pool.Random(shotsShown, t.Question, env.Seed)
	worked := *env
	worked.Exemplars = pool
	switch _, direct := s.Strategy.(strategy.Direct); {
	case s.exemplars.chance:
		worked.Exemplars = &memory.Pool{Pairs: shown}
	case direct:
		var err error
		if shown, err = worked.Similar(ctx, memory.Similar{K: shotsShown}, t.Question); err != nil {
			return nil, err
		}
	}
	s.exemplars.count(s.database, t.Question, shown, cut)
	return s.Strategy.Generate(ctx, &worked, t)
}

// shotsShown is how many direct shows, and the default of agent.ReAct and agent.Staged.
const shotsShown = 3

func (x *exemplars) count(database, question string, shown []memory.Exemplar, cut int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.questions, x.shown, x.cut = x.questions+1, x.shown+len(shown), x.cut+cut
	for _, p := range shown {
		best := 0.0
		for _, gold := range x.golds[database+"\x00"+question] {
			best = max(best, gold.Alike(sqltext.SQLite().Parse(p.SQL)))
		}
		x.alike += best
	}
}
