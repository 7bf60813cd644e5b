package testsuite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// trial is a gold with its mutants and their results on the base.
type trial struct {
	gold     Gold
	mutants  []Mutant
	excluded bool   // the gold does not run on the base
	blind    bool   // it is blind on the base
	decided  []bool // for each mutant: it ran on the base
	killed   []bool // for each mutant: its result on the base differs from the gold's
}

// look is the results of the trials on one variation.
type look struct {
	operations []string
	content    string
	failing    []bool   // for each trial: the gold fails
	unstable   []bool   // for each trial: the rows of the gold depend on the order of reading
	seeing     []bool   // for each trial: the gold is not blind
	kills      [][]bool // for each trial and mutant: its result differs from the gold's
}

// bench runs statements on one database.
type bench struct {
	pool *sql.DB
	db   *exec.DB
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
		e.Mode = result.Ordered
	}
	return e.Equal(a, b)
}

// isBlind reports whether a result is one that many wrong statements share: no rows, or one row of nothing but NULL and
// 0.
func isBlind(t *result.Table) bool {
	if len(t.Rows) == 0 {
		return true
	}
	if len(t.Rows) > 1 {
		return false
	}
	for _, v := range t.Rows[0] {
		if v != nil && v != int64(0) && v != 0.0 {
			return false
		}
	}
	return true
}

// first runs the trials on the base.
func (b *bench) first(ctx context.Context, trials []*trial) error {
	for _, t := range trials {
		gold, err := b.read(ctx, t.gold.SQL)
		if err != nil {
			return err
		}
		t.decided, t.killed = make([]bool, len(t.mutants)), make([]bool, len(t.mutants))
		if gold.rows == nil {
			t.excluded = true
			continue
		}
		t.blind = isBlind(gold.rows)
		for i, m := range t.mutants {
			rows, err := b.rows(ctx, m.SQL)
			if err != nil {
				return err
			}
			t.decided[i] = rows != nil
			t.killed[i] = rows != nil && !gold.unstable && !same(gold.rows, rows, gold.ordered)
		}
	}
	return nil
}

// look runs the trials on a variation: the golds, and those mutants that the base does not kill.
func (b *bench) look(ctx context.Context, trials []*trial) (*look, error) {
	l := &look{
		failing: make([]bool, len(trials)), unstable: make([]bool, len(trials)), seeing: make([]bool, len(trials)),
		kills: make([][]bool, len(trials)),
	}
	for n, t := range trials {
		l.kills[n] = make([]bool, len(t.mutants))
		if t.excluded {
			continue
		}
		gold, err := b.read(ctx, t.gold.SQL)
		if err != nil {
			return nil, err
		}
		if l.failing[n] = gold.rows == nil; l.failing[n] {
			continue
		}
		l.unstable[n] = gold.unstable
		if gold.unstable {
			continue
		}
		l.seeing[n] = !isBlind(gold.rows)
		for i, m := range t.mutants {
			if !t.decided[i] || t.killed[i] {
				continue
			}
			rows, err := b.rows(ctx, m.SQL)
			if err != nil {
				return nil, err
			}
			l.kills[n][i] = rows != nil && !same(gold.rows, rows, gold.ordered)
		}
	}
	return l, nil
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
	return digest(all.String()), nil
}
