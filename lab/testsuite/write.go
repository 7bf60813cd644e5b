package testsuite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/texttosql/texttosql/exec/sqlite"
)

// copyBase copies the file of a database. Pages that wait in a write-ahead log would be missing from the copy, so a log
// with content is an error.
func copyBase(base, to string) error {
	if info, err := os.Stat(base + "-wal"); err == nil && info.Size() > 0 {
		return fmt.Errorf("%s-wal holds changes: checkpoint the database first", base)
	}
	in, err := os.Open(base)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// faultError says that a variation breaks a rule of its database, so it is no replica.
type faultError struct{ detail string }

func (e *faultError) Error() string { return e.detail }

// write puts the rows of v into the database of pool, a copy of the base.
func (v *variation) write(ctx context.Context, pool *sql.DB) (err error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for _, pragma := range []string{"PRAGMA journal_mode=DELETE", "PRAGMA foreign_keys=OFF", "PRAGMA synchronous=OFF"} {
		if _, err := conn.ExecContext(ctx, pragma); err != nil {
			return err
		}
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := v.fill(ctx, tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (v *variation) fill(ctx context.Context, tx *sql.Tx) error {
	for _, t := range v.tables {
		if err := t.fill(ctx, tx); err != nil {
			return err
		}
	}
	return v.verify(ctx, tx)
}

// each calls f for each row of a statement.
func each(ctx context.Context, tx *sql.Tx, text string, columns int, f func(row []sql.NullString)) error {
	rows, err := tx.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	row, dest := make([]sql.NullString, columns), make([]any, columns)
	for i := range row {
		dest[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		f(row)
	}
	return rows.Err()
}

// fill replaces the rows of one table.
func (t *table) fill(ctx context.Context, tx *sql.Tx) error {
	quote := sqlite.Dialect{}.Language().Quote
	if _, err := tx.ExecContext(ctx, "DELETE FROM "+quote(t.def.Name)); err != nil {
		return err
	}
	var names, marks []string
	var cols []int
	for i, c := range t.columns {
		if !c.Generated {
			names, marks, cols = append(names, quote(c.Name)), append(marks, "?"), append(cols, i)
		}
	}
	insert, err := tx.PrepareContext(ctx, "INSERT INTO "+quote(t.def.Name)+" ("+strings.Join(names, ", ")+") VALUES ("+
		strings.Join(marks, ", ")+")")
	if err != nil {
		return err
	}
	defer insert.Close()
	args := make([]any, len(cols))
	for _, row := range t.rows {
		for i, c := range cols {
			args[i] = row[c]
		}
		if _, err := insert.ExecContext(ctx, args...); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return &faultError{fmt.Sprintf("writing table %s: %v", t.def.Name, err)}
		}
	}
	return nil
}

// verify runs SQLite's own checks. A foreign key that the base breaks may stay broken.
func (v *variation) verify(ctx context.Context, tx *sql.Tx) error {
	var faults []string
	err := each(ctx, tx, "PRAGMA integrity_check(3)", 1, func(row []sql.NullString) {
		if row[0].String != "ok" {
			faults = append(faults, row[0].String)
		}
	})
	if err != nil {
		return err
	}
	for _, t := range v.tables {
		if t.uncheckable {
			continue
		}
		err := each(ctx, tx, foreignKeyCheck(t), 1, func(row []sql.NullString) {
			if !v.broken(t, row[0].String) {
				faults = append(faults, fmt.Sprintf("a foreign key from %s to %s", t.def.Name, row[0].String))
			}
		})
		if err != nil {
			return err
		}
	}
	if len(faults) > 0 {
		return &faultError{"checking: " + strings.Join(faults, "; ")}
	}
	return nil
}

func foreignKeyCheck(t *table) string {
	return "SELECT DISTINCT parent FROM pragma_foreign_key_check('" + strings.ReplaceAll(t.def.Name, "'", "''") + "')"
}

// broken reports whether the base breaks a foreign key between two tables.
func (v *variation) broken(from *table, to string) bool {
	for _, ref := range from.refs {
		if strings.EqualFold(ref.to.def.Name, to) && ref.loose {
			return true
		}
	}
	return false
}

// inspect finds the tables whose foreign keys SQLite cannot check, because they point at no key, and classifies the
// columns.
func (d *database) inspect(ctx context.Context, pool *sql.DB) error {
	var n int
	if err := pool.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'").Scan(&n); err != nil {
		return err
	}
	if n > 0 {
		return errors.New("the database has triggers, which would change what is written")
	}
	for _, t := range d.tables {
		err := pool.QueryRowContext(ctx, "SELECT count(*) FROM ("+foreignKeyCheck(t)+")").Scan(&n)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		t.uncheckable = err != nil
		t.classify()
	}
	return nil
}
