package ported

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Copied is what Load did.
type Copied struct {
	Tables, Rows int
	Same         bool     // the server had this copy, and nothing was done
	Notes        []string // keys that were left out, and columns whose numbers became texts
}

// made begins the marks of Load. Its number counts the ways in which Load makes databases.
const (
	made       = "made by evaluate load, form 1, of "
	unfinished = "unfinished"
)

// Load copies source, the SQLite file at path, to a database of its own with the name Name(path), or runs script there,
// the engine's own form of it. What Load made before it makes anew, unless the source is the same. A database that
// somebody else made is a [*ForeignError].
func (s *Server) Load(ctx context.Context, path, script string, source *sql.DB) (done Copied, err error) {
	name := Name(path)
	if script != "" {
		path = script
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return done, err
	}
	mark := fmt.Sprintf("%s%x", made, sha256.Sum256(content))
	root, err := s.open("", true)
	if err != nil {
		return done, err
	}
	defer root.Close()
	there, have, err := s.mark(ctx, root, name)
	switch {
	case err != nil:
		return done, err
	case there && have == mark:
		return Copied{Same: true}, nil
	}
	pool, err := s.open(name, true)
	if err != nil {
		return done, err
	}
	defer func() { pool.Close() }()
	if there && !strings.HasPrefix(have, made) {
		count := 0
		query := relations
		if _, ok := s.engine.(mysqlEngine); ok {
			query += " AND table_schema = DATABASE()"
		}
		if err := pool.QueryRowContext(ctx, query).Scan(&count); err != nil {
			return done, err
		}
		if count > 0 {
			return done, &ForeignError{name}
		}
	}
	if there {
		pool.Close() // PostgreSQL drops no database that somebody has open
		if _, err := root.ExecContext(ctx, "DROP DATABASE "+s.quote(name)); err != nil {
			return done, err
		}
		if pool, err = s.open(name, true); err != nil {
			return done, err
		}
	}
	if err := s.create(ctx, root, name); err != nil {
		return done, err
	}
	if err := s.setMark(ctx, root, name, made+unfinished); err != nil {
		return done, err
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return done, err
	}
	defer conn.Close()
	if script != "" {
		done, err = run(ctx, conn, name, string(content))
	} else {
		done, err = s.copy(ctx, conn, source)
	}
	if err != nil {
		return done, err
	}
	return done, s.setMark(ctx, root, name, mark)
}

var named = regexp.MustCompile("(?im)^\\s*(?:USE|CREATE DATABASE|DROP DATABASE)\\b[^`;]*`([^`]+)`")

// run runs a script of MySQL, which must name no other database.
func run(ctx context.Context, conn *sql.Conn, name, script string) (done Copied, err error) {
	for _, m := range named.FindAllStringSubmatch(script, -1) {
		if m[1] != name {
			return done, fmt.Errorf("the script is about a database %q, not %q", m[1], name)
		}
	}
	if _, err := conn.ExecContext(ctx, script); err != nil {
		return done, err
	}
	rows, err := conn.QueryContext(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")
	if err != nil {
		return done, err
	}
	var tables []string
	for rows.Next() {
		var t string
		if err := rows.Scan(&t); err != nil {
			return done, errors.Join(err, rows.Close())
		}
		tables = append(tables, t)
	}
	if err := rows.Err(); err != nil {
		return done, err
	}
	for _, t := range tables {
		n := 0
		if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+mysqlEngine{}.quote(t)).Scan(&n); err != nil {
			return done, err
		}
		done.Tables, done.Rows = done.Tables+1, done.Rows+n
	}
	return done, nil
}

// copy copies all tables of source.
func (s *Server) copy(ctx context.Context, conn *sql.Conn, source *sql.DB) (done Copied, err error) {
	tables, err := tablesOf(ctx, source)
	if err != nil {
		return done, err
	}
	var late []string
	for _, t := range tables {
		if _, err := conn.ExecContext(ctx, s.definition(t)); err != nil {
			return done, fmt.Errorf("table %s: %w", t.name, err)
		}
		n, err := s.fill(ctx, conn, source, t)
		if err == nil && n != t.rows {
			err = fmt.Errorf("%d of %d rows", n, t.rows)
		}
		if err != nil {
			return done, fmt.Errorf("table %s: %w", t.name, err)
		}
		done.Tables, done.Rows = done.Tables+1, done.Rows+n
		done.Notes = append(done.Notes, t.lost...)
		for _, c := range t.columns {
			if c.mixed {
				done.Notes = append(done.Notes, fmt.Sprintf("column %s.%s holds texts too, so its numbers are texts", t.name,
					c.name))
			}
		}
		if keys := s.foreignKeys(t); len(keys) > 0 {
			late = append(late, "ALTER TABLE "+s.quote(s.name(t.name))+" "+strings.Join(keys, ", "))
		}
	}
	for _, text := range late {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return done, fmt.Errorf("%s: %w", text, err)
		}
	}
	// Without it, when the engine counts values decides which of equal rows comes first.
	for _, t := range tables {
		if _, err := conn.ExecContext(ctx, s.analyze()+s.quote(s.name(t.name))); err != nil {
			return done, err
		}
	}
	return done, nil
}

func (s *Server) list(names []string) string {
	var quoted []string
	for _, n := range names {
		quoted = append(quoted, s.quote(s.name(n)))
	}
	return "(" + strings.Join(quoted, ", ") + ")"
}

func (s *Server) definition(t *table) string {
	var parts []string
	for _, c := range t.columns {
		text := s.quote(s.name(c.name)) + " " + s.columnType(c)
		if c.required || slices.Contains(t.primary, c.name) {
			text += " NOT NULL"
		}
		parts = append(parts, text)
	}
	if len(t.primary) > 0 {
		parts = append(parts, "PRIMARY KEY "+s.list(t.primary))
	}
	for _, key := range t.unique {
		parts = append(parts, "UNIQUE "+s.list(key))
	}
	return "CREATE TABLE " + s.quote(s.name(t.name)) + " (" + strings.Join(parts, ", ") + ")"
}

func (s *Server) foreignKeys(t *table) (list []string) {
	for _, k := range t.foreign {
		list = append(list, "ADD FOREIGN KEY "+s.list(k.columns)+" REFERENCES "+s.quote(s.name(k.table))+" "+
			s.list(k.targets))
	}
	return list
}

// fill copies the rows of a table.
func (s *Server) fill(ctx context.Context, conn *sql.Conn, source *sql.DB, t *table) (int, error) {
	rows, err := source.QueryContext(ctx, t.selected())
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	into := make([]any, len(t.columns))
	return s.insert(ctx, conn, t, func() ([]any, error) {
		if !rows.Next() {
			return nil, rows.Err()
		}
		values := make([]any, len(t.columns))
		for i := range values {
			into[i] = &values[i]
		}
		return values, rows.Scan(into...)
	})
}
