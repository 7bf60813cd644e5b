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

// Suite is the replicas of one database, open for scoring. Each distinct statement runs once on each replica. Safe for
// concurrent use.
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

// footing is how a gold behaves on a replica.
type footing struct {
	fails, unstable bool // in both cases the replica is skipped
	ordered         bool // the order of its rows does not depend on the order of reading
}

// Load opens the suite that Generate wrote into dir. c.Open opens the files of the replicas, best read-only. c.Policy
// must allow the functions that golds call. c.Find is not used. Load reads the manifest and opens no database yet. A
// folder without a manifest, or without one of its replicas, is an error.
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

// MadeFrom reports whether the suite was made from the database in the file base as it is now. On replicas of another
// database all golds fail and all replicas are skipped, so every answer that is right on the base would be right. It
// opens the base as the replicas are opened, and reads all of it.
func (s *Suite) MadeFrom(ctx context.Context, base string) (bool, error) {
	fault := func(err error) error { return fmt.Errorf("testsuite: comparing with %s: %w", base, err) }
	b, err := newBench(base, s.config.Open, exec.Config{})
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

// Close closes the replicas. Call no method during or after it.
func (s *Suite) Close() error {
	errs := []error{s.store.Close()}
	for _, r := range s.replicas {
		if r.bench != nil {
			errs = append(errs, r.bench.close())
		}
	}
	return errors.Join(errs...)
}

// score returns 1 if the answer is right on every replica that counts.
func (s *Suite) score(ctx context.Context, q eval.Question, sql string) (float64, error) {
	for _, r := range s.replicas {
		on, err := s.footing(ctx, r, q.Gold)
		switch {
		case err != nil:
			return 0, err
		case on.fails || on.unstable:
			continue
		}
		rule := "order"
		if !on.ordered {
			rule = "bag"
		}
		q.DB = r.id
		scorer := eval.Scorer{Store: s.store, Metrics: []eval.Metric{eval.EX{Rule: rule, Digits: digits}}}
		got, err := scorer.Score(ctx, q, sql)
		if err != nil || got.Scores[0] < 1 {
			return 0, err
		}
	}
	return 1, nil
}

// footing returns how a gold behaves on a replica. The gold runs once in each direction, and the result is kept.
func (s *Suite) footing(ctx context.Context, r *replica, gold string) (footing, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f, ok := r.golds[gold]; ok {
		return f, nil
	}
	if r.bench == nil {
		b, err := newBench(r.path, s.config.Open,
			exec.Config{Policy: s.config.Policy, Limits: exec.Limits{Answer: bounds, Candidate: bounds}})
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
