package pgstore

import (
	"database/sql"
	"errors"
	"strconv"

	"github.com/texttosql/texttosql/memory"
)

// Lessons returns a store of learned lessons for memory.LessonsOn. Processes that use the same name share the
// lessons; any name is allowed. Every use checks on the server whether they changed. Each change rewrites all lessons
// of the name, under a lock on their row.
func (s *Store) Lessons(name string) memory.LessonStore { return shelf{s, name} }

type shelf struct {
	s    *Store
	name string
}

// String is memory.LessonStore.String.
func (l shelf) String() string { return "table texttosql_lessons, name " + strconv.Quote(l.name) }

// Read is memory.LessonStore.Read.
func (l shelf) Read(have string) ([]byte, string, error) {
	ctx, cancel := bounded()
	defer cancel()
	var text []byte
	var version string
	err := l.s.db.QueryRowContext(ctx,
		`SELECT version::text, CASE WHEN version > 0 AND version::text <> $2 THEN lessons END FROM texttosql_lessons WHERE name = $1`,
		l.name, have).Scan(&version, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, "0", nil
	}
	return text, version, told(ctx, err)
}

// Change is memory.LessonStore.Change.
func (l shelf) Change(change func([]byte) ([]byte, error)) error {
	ctx, cancel := bounded()
	defer cancel()
	var failed error
	err := l.s.change(ctx, func(tx *sql.Tx) error {
		// A row of version 0 is one that nobody has written: what it takes to lock it.
		if _, err := tx.ExecContext(ctx, "INSERT INTO texttosql_lessons VALUES ($1, 0, '') ON CONFLICT DO NOTHING",
			l.name); err != nil {
			return err
		}
		var text []byte
		err := tx.QueryRowContext(ctx, "SELECT CASE WHEN version > 0 THEN lessons END FROM texttosql_lessons "+
			"WHERE name = $1 FOR UPDATE", l.name).Scan(&text)
		if err != nil {
			return err
		}
		if text, failed = change(text); failed != nil || text == nil {
			return failed
		}
		_, err = tx.ExecContext(ctx, "UPDATE texttosql_lessons SET version = version + 1, lessons = $2 WHERE name = $1",
			l.name, text)
		return err
	})
	if failed != nil {
		return failed
	}
	return err
}
