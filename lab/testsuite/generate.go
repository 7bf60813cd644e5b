package testsuite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
)

// Gold is a statement that is known to be right.
type Gold struct {
	ID  string // the manifest names golds by it
	SQL string // one reading statement
}

// Generator makes suites. Only Open is required. Safe for concurrent use, on different folders.
type Generator struct {
	// Open opens the SQLite database in a file, for reading and writing. It is called with files that the generator
	// made, never with the base. The generator closes the pool.
	Open func(path string) (*sql.DB, error)

	// Golds guide the choice of replicas and the values that are put into them. Without golds the first draws are
	// taken.
	Golds []Gold

	Replicas int    // how many to keep; 0: 10
	Draws    int    // how many to choose from; 0: 40; fewer than Replicas is an error
	Seed     uint64 // another seed gives another suite

	// Exec says how golds and mutants run: AllowFunctions for functions that Open registers, Unwrap for a wrapped
	// driver.
	Exec exec.Config
	// Workers is how many draws are made at once; 0: 2.
	Workers int
}

const (
	defaultReplicas = 10
	defaultDraws    = 40
	defaultWorkers  = 2
)

// bounds bounds golds, mutants and answers as an eval.Store does. A statement that runs into a bound decides nothing,
// so a slow machine may make another suite.
var bounds = exec.Bounds{Rows: eval.DefaultRows, Bytes: eval.DefaultBytes, Timeout: eval.DefaultTimeout}

func (g Generator) validate() error {
	var errs []error
	if g.Open == nil {
		errs = append(errs, errors.New("testsuite: Generator.Open is missing"))
	}
	if g.Replicas < 0 || g.Draws < 0 || g.Workers < 0 {
		errs = append(errs, errors.New("testsuite: a number of Generator is negative"))
	}
	if cmp.Or(g.Draws, defaultDraws) < cmp.Or(g.Replicas, defaultReplicas) {
		errs = append(errs, errors.New("testsuite: Generator has fewer Draws than Replicas"))
	}
	return errors.Join(errs...)
}

// Generate writes a suite for the SQLite database in the file base into the folder dir, which is made if need be, and
// returns its manifest. The base is copied as a file and never opened.
//
// It draws variations, runs the golds and their mutants on the base and on each variation, and keeps those that
// together leave fewest golds blind and fewest mutants alive. It runs (Draws + 1) × (2 golds + mutants) statements at
// most.
//
// If the database rejects many draws, there are fewer replicas than Replicas. These are errors: a folder that has a
// manifest, a database without rows or with triggers, a database of which no variation keeps the rules. After an error,
// or when ctx ends, dir has no manifest and holds none of the files made here.
func (g Generator) Generate(ctx context.Context, base, dir string) (*Manifest, error) {
	if err := g.validate(); err != nil {
		return nil, err
	}
	m, err := g.generate(ctx, base, dir)
	if err != nil {
		return nil, fmt.Errorf("testsuite: generating from %s: %w", base, err)
	}
	return m, nil
}

func (g Generator) generate(ctx context.Context, base, dir string) (m *Manifest, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, manifestName)); err == nil {
		return nil, fmt.Errorf("%s holds a suite already", dir)
	}
	scratch, err := os.MkdirTemp(dir, ".draws-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()

	w := &workshop{Generator: g, base: base, scratch: scratch}
	if err := w.prepare(ctx); err != nil {
		return nil, err
	}
	if err := w.draw(ctx); err != nil {
		return nil, err
	}
	m = w.manifest(w.choose())
	if err := w.keep(dir, m); err != nil {
		return nil, err
	}
	return m, nil
}

// workshop is one run of a Generator.
type workshop struct {
	Generator
	base, scratch string

	data      *database
	witnesses []witness
	trials    []*trial // one for each gold
	content   string   // fingerprint of the base
	looks     []*look  // one for each draw; nil if the draw was rejected
	rejected  []string
}

func (w *workshop) file(draw int) string {
	return filepath.Join(w.scratch, fmt.Sprintf("draw-%03d.sqlite", draw))
}

// prepare reads the base and runs golds and mutants on it.
func (w *workshop) prepare(ctx context.Context) error {
	path := filepath.Join(w.scratch, "base.sqlite")
	if err := copyBase(w.base, path); err != nil {
		return err
	}
	b, err := w.bench(path)
	if err != nil {
		return err
	}
	defer b.close()
	if w.data, err = load(ctx, b.db); err != nil {
		return err
	}
	if err := w.data.inspect(ctx, b.pool); err != nil {
		return err
	}
	rows := 0
	for _, t := range w.data.tables {
		rows += len(t.rows)
	}
	if rows == 0 {
		return errors.New("the database has no rows to vary")
	}
	if w.content, err = b.content(ctx, w.data); err != nil {
		return err
	}
	s, err := b.db.Schema(ctx)
	if err != nil {
		return err
	}
	for _, gold := range w.Golds {
		w.trials = append(w.trials, &trial{gold: gold, mutants: mutants(s, gold)})
	}
	w.witnesses = witnesses(w.data, w.Golds)
	return b.first(ctx, w.trials)
}

// draw makes all variations and looks at golds and mutants on each.
func (w *workshop) draw(ctx context.Context) error {
	draws := cmp.Or(w.Draws, defaultDraws)
	w.looks = make([]*look, draws)
	faults := make([]string, draws)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cmp.Or(w.Workers, defaultWorkers))
	for i := range draws {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			l, err := w.try(ctx, i)
			var fault *faultError
			if errors.As(err, &fault) {
				faults[i] = fmt.Sprintf("draw %d: %s", i, fault.detail)
				return nil
			}
			w.looks[i] = l
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, f := range faults {
		if f != "" {
			w.rejected = append(w.rejected, f)
		}
	}
	if len(w.rejected) == draws {
		return fmt.Errorf("no variation keeps the rules of the database: %s", w.rejected[0])
	}
	return nil
}

// try makes one variation and looks at it.
func (w *workshop) try(ctx context.Context, draw int) (*look, error) {
	path := w.file(draw)
	if err := copyBase(w.base, path); err != nil {
		return nil, err
	}
	v := vary(w.data, w.witnesses, w.Seed, draw)
	pool, err := w.Open(path)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(v.write(ctx, pool), pool.Close()); err != nil {
		return nil, err
	}
	b, err := w.bench(path)
	if err != nil {
		return nil, err
	}
	defer b.close()
	l, err := b.look(ctx, w.trials)
	if err != nil {
		return nil, err
	}
	l.operations = v.log
	l.content, err = b.content(ctx, w.data)
	return l, err
}

// keep moves the chosen databases to their place and writes the manifest.
func (w *workshop) keep(dir string, m *Manifest) (err error) {
	var moved []string
	defer func() {
		if err != nil {
			for _, path := range moved {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	for _, r := range m.Replicas {
		to := filepath.Join(dir, r.File)
		if err := os.Rename(w.file(r.Draw), to); err != nil {
			return err
		}
		moved = append(moved, to)
	}
	return m.write(dir)
}

// bench opens a database to run golds and mutants on.
func (w *workshop) bench(path string) (*bench, error) {
	return newBench(path, w.Open, w.Exec)
}

func newBench(path string, open func(string) (*sql.DB, error), c exec.Config) (*bench, error) {
	pool, err := open(path)
	if err != nil {
		return nil, err
	}
	b := &bench{pool: pool}
	pool.SetMaxOpenConns(1)
	if b.db, err = exec.New(pool, sqlite.Dialect{}, c); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return b, nil
}
