package testsuite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// bench runs statements on one database.
type bench struct {
	pool *sql.DB
	db   *exec.DB
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
func (b *bench) close() error { return b.pool.Close() }

// backwards makes SQLite read tables in the other direction if no order is asked for, or stops that.
func (b *bench) backwards(ctx context.Context, on bool) error {
	value := "OFF"
	if on {
		value = "ON"
	}
	_, err := b.pool.ExecContext(ctx, "PRAGMA reverse_unordered_selects="+value)
	return err
}

// rows runs a statement. A statement that the engine rejects or that runs into a bound has no rows and no error. The
// end of ctx is an error.
func (b *bench) rows(ctx context.Context, text string) (*result.Table, error) {
	t, err := b.db.QueryWithin(ctx, text, bounds)
	switch {
	case err != nil && (ctx.Err() != nil || !exec.IsRejection(err)):
		return nil, err
	case err != nil || t.Truncated:
		return nil, nil
	}
	return t, nil
}

// reading is a gold on one database.
type reading struct {
	rows     *result.Table // nil: it failed
	unstable bool          // the rows depend on the order of reading
	ordered  bool          // the gold asks for an order, and its rows have the same order both ways
}

// read runs a gold in both directions.
func (b *bench) read(ctx context.Context, gold string) (reading, error) {
	r := reading{}
	var err error
	if r.rows, err = b.rows(ctx, gold); err != nil || r.rows == nil {
		return r, err
	}
	if err := b.backwards(ctx, true); err != nil {
		return r, err
	}
	back, err := b.rows(ctx, gold)
	if err != nil {
		return r, err
	}
	if err := b.backwards(ctx, false); err != nil {
		return r, err
	}
	r.unstable = !same(r.rows, back, false)
	r.ordered = !r.unstable && isOrdered(gold) && same(r.rows, back, true)
	return r, nil
}

// isOrdered reports whether a statement asks for an order of its rows.
func isOrdered(text string) bool { return len(sqltext.SQLite().Parse(text).Outline().OrderBy) > 0 }

// digits is how many significant digits of floats are compared. A sum in another order differs in its last bits.
const digits = 9

func same(a, b *result.Table, ordered bool) bool {
	e := result.Equality{Digits: digits}
	if ordered {
		e.Ordered = true
	}
	return e.Equal(a, b)
}

// content returns a fingerprint of the rows of all tables.
func (b *bench) content(ctx context.Context, d *database) (string, error) {
	var all strings.Builder
	for _, t := range d.tables {
		read, err := loadTable(ctx, b.db, t.def)
		if err != nil {
			return "", err
		}
		fp, _ := result.Equality{}.Fingerprint(&result.Table{Columns: make([]string, len(read.columns)), Rows: read.rows})
		fmt.Fprintf(&all, "%d:%s:%s\n", len(t.def.Name), t.def.Name, fp)
	}
	sum := sha256.Sum256([]byte(all.String()))
	return hex.EncodeToString(sum[:]), nil
}
