package pgstore

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"github.com/texttosql/texttosql/memory"
)

// Lessons is a shelf of learned lessons for memory.LessonsOn. Processes that give the same name share them; any name will do. Every use asks the
// server whether they changed, and each change rewrites all of them under a lock of their row.
func (s *Store) Lessons(name string) memory.Shelf { return shelf{s, name} }

type shelf struct {
	s    *Store
	name string
}

// String is memory.Shelf.String.
func (l shelf) String() string { return "table texttosql_lessons, name " + strconv.Quote(l.name) }

// Read is memory.Shelf.Read.
func (l shelf) Read(have string) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var text []byte
	var version string
	err := l.s.db.QueryRowContext(ctx, `SELECT version::text, CASE WHEN version > 0 AND version::text <> $2 THEN lessons END FROM texttosql_lessons WHERE name = $1`,
		l.name, have).Scan(&version, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, "0", nil
	}
	return text, version, told(ctx, err)
}

// Change is memory.Shelf.Change.
func (l shelf) Change(change func([]byte) ([]byte, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var failed error
	err := l.s.change(ctx, func(tx *sql.Tx) error {
		// A row of version 0 is one that nobody has written: what it takes to lock it.
		if _, err := tx.ExecContext(ctx, "INSERT INTO texttosql_lessons VALUES ($1, 0, '') ON CONFLICT DO NOTHING", l.name); err != nil {
			return err
		}
		var text []byte
		err := tx.QueryRowContext(ctx, "SELECT CASE WHEN version > 0 THEN lessons END FROM texttosql_lessons WHERE name = $1 FOR UPDATE", l.name).Scan(&text)
		if err != nil {
			return err
		}
		if text, failed = change(text); failed != nil || text == nil {
			return failed
		}
		_, err = tx.ExecContext(ctx, "UPDATE texttosql_lessons SET version = version + 1, lessons = $2 WHERE name = $1", l.name, text)
		return err
	})
	if failed != nil {
		return failed
	}
	return err
}
