package testsuite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
)

// Suite is the replicas of one database, open for scoring.
//
// Each distinct statement runs once on each replica, as an eval.Store does it.
// Safe for concurrent use.
type Suite struct {
	Manifest *Manifest // as it was read; do not change it

	store    *eval.Store
	config   eval.StoreConfig
	replicas []*replica
}

// replica is one database of an open suite.
type replica struct {
	id, path string

	mu    sync.Mutex
	bench *bench // nil until the first gold
	golds map[string]footing
}

// footing is how a gold stands on a replica.
type footing struct {
	fails, unstable bool // in both cases it decides nothing there
	ordered         bool // the order of its rows does not depend on the order of reading
}

// Load opens the suite that Generate wrote into dir. c says how: Open is called
// with the files of the replicas, best read-only, and Policy must allow the
// functions that golds call; Find is not used. It reads the manifest and opens
// nothing else yet. A folder without a manifest, or without one of its replicas,
// is an error.
func Load(dir string, c eval.StoreConfig) (*Suite, error) {
	if c.Open == nil {
		return nil, errors.New("testsuite: loading: StoreConfig.Open is missing")
	}
	m, err := ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	s := &Suite{Manifest: m, config: c}
	paths := map[string]string{}
	for _, r := range m.Replicas {
		path := filepath.Join(dir, r.File)
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("testsuite: loading %s: %w", dir, err)
		}
		paths[r.File] = path
		s.replicas = append(s.replicas, &replica{id: r.File, path: path, golds: map[string]footing{}})
	}
	s.config.Find = func(id string) (string, error) { return paths[id], nil }
	s.store = eval.NewStore(s.config)
	return s, nil
}

// MadeFrom reports whether the suite was made from the database in the file base
// as it is now. On replicas of another one golds fail, which decides nothing there,
// so every answer that is right on the base would be right on all. It reads all of
// the base, which is opened as the replicas are.
func (s *Suite) MadeFrom(ctx context.Context, base string) (bool, error) {
	fault := func(err error) error { return fmt.Errorf("testsuite: comparing with %s: %w", base, err) }
	b, err := newBench(base, s.config.Open, exec.Config{}, exec.Bounds{})
	if err != nil {
		return false, fault(err)
	}
	defer b.close()
	d, err := load(ctx, b.db)
	if err != nil {
		return false, fault(err)
	}
	content, err := b.content(ctx, d)
	if err != nil {
		return false, fault(err)
	}
	return content == s.Manifest.Base, nil
}

// Close closes the replicas. No method may run then or later.
func (s *Suite) Close() error {
	errs := []error{s.store.Close()}
	for _, r := range s.replicas {
		if r.bench != nil {
			errs = append(errs, r.bench.close())
		}
	}
	return errors.Join(errs...)
}

// Verdict is what a suite says about one answer.
type Verdict struct {
	Right   bool   // on the base and on every replica that counts
	Base    bool   // on the base
	Failed  string // the first replica on which it is wrong; "" for none
	Counted int    // replicas that were looked at
	Skipped int    // replicas among those before Failed on which the gold fails or is unstable
}

// check looks at the replicas in their order and stops at the first on which the
// answer is wrong. base says what it is on the base.
func (s *Suite) check(ctx context.Context, q eval.Question, sql string, base bool, m TS) (Verdict, error) {
	v := Verdict{Base: base}
	if !base {
		return v, nil
	}
	for _, r := range s.replicas {
		on, err := s.footing(ctx, r, q.Gold)
		if err != nil {
			return v, err
		}
		if on.fails || on.unstable {
			if v.Skipped++; m.StrictGold {
				v.Failed = r.id
				return v, nil
			}
			continue
		}
		v.Counted++
		rule := eval.RuleOrder
		if !on.ordered {
			rule = eval.RuleBag
		}
		q.DB = r.id
		scorer := eval.Scorer{Store: s.store, Metrics: []eval.Metric{eval.EX{Rule: rule, Digits: m.digits()}}}
		got, err := scorer.Score(ctx, q, sql)
		if err != nil {
			return v, err
		}
		if got.Scores[0] < 1 {
			v.Failed = r.id
			return v, nil
		}
	}
	v.Right = true
	return v, nil
}

// footing says how a gold stands on a replica. It runs it twice, once.
func (s *Suite) footing(ctx context.Context, r *replica, gold string) (footing, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f, ok := r.golds[gold]; ok {
		return f, nil
	}
	if r.bench == nil {
		limits := scoringBounds(s.config.Bounds)
		b, err := newBench(r.path, s.config.Open, exec.Config{
			Policy: s.config.Policy, Limits: exec.Limits{Answer: limits, Candidate: limits},
		}, limits)
		if err != nil {
			return footing{}, fmt.Errorf("testsuite: opening %s: %w", r.path, err)
		}
		r.bench = b
	}
	read, err := r.bench.read(ctx, gold)
	if err != nil {
		// The connection may be left reading backwards.
		err = errors.Join(fmt.Errorf("testsuite: running a gold on %s: %w", r.id, err), r.bench.close())
		r.bench = nil
		return footing{}, err
	}
	f := footing{fails: read.rows == nil, unstable: read.unstable, ordered: read.ordered}
	r.golds[gold] = f
	return f, nil
}

// scoringBounds are those that an eval.Store has.
func scoringBounds(b exec.Bounds) exec.Bounds {
	if b.Rows == 0 {
		b.Rows = eval.DefaultRows
	}
	if b.Bytes == 0 {
		b.Bytes = eval.DefaultBytes
	}
	if b.Timeout == 0 {
		b.Timeout = eval.DefaultTimeout
	}
	return b
}
