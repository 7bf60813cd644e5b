package testsuite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/evalbounds"
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

	Golds    []Gold      // whose literals are put into the replicas
	Replicas int         // how many to make; 0: 20
	Seed     uint64      // another seed gives another suite
	Exec     exec.Config // how the databases are read: Unwrap for a wrapped driver
	Workers  int         // how many are made at once; 0: 2
}

// bounds bounds golds and answers as an eval.Store does.
var bounds = exec.Bounds{Rows: evalbounds.Rows, Bytes: evalbounds.Bytes, Timeout: evalbounds.Timeout}

// Generate writes a suite for the SQLite database in the file base into the folder dir, which is made if need be, and
// returns its manifest. The base is copied as a file and never opened.
//
// A variation that breaks a rule of the database is left out. These are errors: a folder that has a manifest, a
// database without rows or with triggers, a database of which no variation keeps the rules. After an error, or when ctx
// ends, dir has no manifest and holds none of the files made here.
func (g Generator) Generate(ctx context.Context, base, dir string) (*Manifest, error) {
	if g.Open == nil || g.Replicas < 0 || g.Workers < 0 {
		return nil, errors.New("testsuite: Generator.Open is missing, or a number of Generator is negative")
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
	defer func() {
		if err != nil {
			for i := range cmp.Or(g.Replicas, defaultReplicas) {
				err = errors.Join(err, removed(filepath.Join(dir, replicaName(i))))
			}
		}
	}()
	m = &Manifest{Version: manifestVersion, Seed: g.Seed}
	d, err := g.read(ctx, base, dir, m)
	if err != nil {
		return nil, err
	}
	planted := witnesses(d, g.Golds)
	made := make([]Replica, cmp.Or(g.Replicas, defaultReplicas))
	faults := make([]string, len(made))
	group, drawing := errgroup.WithContext(ctx)
	group.SetLimit(cmp.Or(g.Workers, 2))
	for i := range made {
		group.Go(func() error {
			var fault *faultError
			r, err := g.replica(drawing, base, filepath.Join(dir, replicaName(i)), vary(d, planted, g.Seed, i))
			if errors.As(err, &fault) {
				faults[i] = fmt.Sprintf("draw %d: %s", i, fault.detail)
				return removed(filepath.Join(dir, replicaName(i)))
			}
			made[i] = r
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, r := range made {
		if faults[i] != "" {
			m.Rejected = append(m.Rejected, faults[i])
		} else {
			m.Replicas = append(m.Replicas, r)
		}
	}
	if len(m.Replicas) == 0 {
		return nil, fmt.Errorf("no variation keeps the rules of the database: %s", m.Rejected[0])
	}
	return m, m.write(dir)
}

// defaultReplicas is how many variations a suite has.
const defaultReplicas = 20

func replicaName(i int) string { return fmt.Sprintf("replica-%02d.sqlite", i+1) }

// removed removes a file that may not be there.
func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// read reads the base from a copy, and its fingerprint into m.
func (g Generator) read(ctx context.Context, base, dir string, m *Manifest) (d *database, err error) {
	path := filepath.Join(dir, ".base.sqlite")
	defer func() { err = errors.Join(err, removed(path)) }()
	if err := copyBase(base, path); err != nil {
		return nil, err
	}
	b, err := newBench(path, g.Open, g.Exec)
	if err != nil {
		return nil, err
	}
	defer b.close()
	if d, err = load(ctx, b.db); err != nil {
		return nil, err
	}
	if err := d.inspect(ctx, b.pool); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(d.tables, func(t *table) bool { return len(t.rows) > 0 }) {
		return nil, errors.New("the database has no rows to vary")
	}
	m.Base, err = b.content(ctx, d)
	return d, err
}

// replica writes one variation to a file.
func (g Generator) replica(ctx context.Context, base, path string, v *variation) (Replica, error) {
	r := Replica{File: filepath.Base(path), Operations: v.log}
	if err := copyBase(base, path); err != nil {
		return r, err
	}
	pool, err := g.Open(path)
	if err != nil {
		return r, err
	}
	return r, errors.Join(v.write(ctx, pool), pool.Close())
}
