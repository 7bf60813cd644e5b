package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
)

// before is the schema that a policy is held against first; passwords are denied.
const before = `
CREATE TABLE vault(id INTEGER, password TEXT);
CREATE TABLE t(id INTEGER, note TEXT);
CREATE VIEW v AS SELECT id, note FROM t;
INSERT INTO vault VALUES (1, 's3cret');
INSERT INTO t VALUES (1, 'fine');`

var noPasswords = exec.Policy{DenyColumns: []string{"password"}}

// TestSchemaChanges changes the schema under a session, which holds its
// connection all the time, and between single statements.
func TestSchemaChanges(t *testing.T) {
	const (
		fine    = ""
		refused = "refused"
		invalid = "invalid"
	)
	for _, test := range []struct {
		why, change, sql, want string
	}{
		{"a new column of a denied name", "ALTER TABLE t ADD COLUMN password DEFAULT 's3cret'", "SELECT password FROM t",
			refused},
		{"the same by star", "ALTER TABLE t ADD COLUMN password DEFAULT 's3cret'", "SELECT * FROM t", refused},
		{"the same beside it", "ALTER TABLE t ADD COLUMN password DEFAULT 's3cret'", "SELECT note FROM t", fine},
		{
			"the same in USING", "ALTER TABLE t ADD COLUMN password DEFAULT 's3cret'",
			"WITH g(password) AS (VALUES ('s3cret')) SELECT count(*) FROM g JOIN t USING (password)", refused,
		},
		{
			"a column becomes a copy", "DROP TABLE t; CREATE TABLE t(id, password DEFAULT 's3cret', note AS (password)); " +
				"INSERT INTO t(id) VALUES (1)",
			"SELECT note FROM t", refused,
		},
		// the policy names columns
		{"a denied column under a new name", "ALTER TABLE vault RENAME COLUMN password TO p", "SELECT p FROM vault", fine},
		{"a view that gains a denied one", "DROP VIEW v; CREATE VIEW v AS SELECT id, password AS note FROM vault",
			"SELECT note FROM v", refused},
		{
			"a view that joins in silence", "DROP VIEW v; CREATE VIEW v AS SELECT t.id FROM vault AS t NATURAL " +
				"JOIN (SELECT 's3cret' AS password)",
			"SELECT id FROM v", refused,
		},
		{"a new table with one", "CREATE TABLE u(password); INSERT INTO u VALUES ('s3cret')", "SELECT password FROM u",
			refused},

		{"a new table", "CREATE TABLE u(x)", "SELECT x FROM u", fine},
		{"a new column", "ALTER TABLE t ADD COLUMN extra", "SELECT extra, rowid, * FROM t", fine},
		{"a view that gains a column", "DROP VIEW v; CREATE VIEW v AS SELECT id, note, id + 1 AS next FROM t",
			"SELECT next, * FROM v", fine},
		{"a column has gone", "DROP VIEW v; ALTER TABLE t DROP COLUMN note", "SELECT * FROM t", fine},
		// as what is denied
		{"a column that has gone", "DROP VIEW v; ALTER TABLE t DROP COLUMN note", "SELECT t.note FROM t", refused},
		{"a table that has gone", "DROP VIEW v; DROP TABLE t", "SELECT id FROM t", invalid},
		{"nothing that matters", "CREATE INDEX i ON t(note)", "SELECT note FROM t WHERE note > ''", fine},
	} {
		t.Run(test.why, func(t *testing.T) {
			db, runner := changed(t, noPasswords, test.change)
			for name, query := range map[string]func() error{
				"session": func() error { _, err := runner.Query(t.Context(), test.sql); return err },
				"single":  func() error { _, err := db.Query(t.Context(), test.sql); return err },
			} {
				err := query()
				got := fmt.Sprint(err)
				switch {
				case err == nil:
					got = fine
				case errors.As(err, new(*exec.RefusedError)):
					got = refused
				case errors.As(err, new(*exec.InvalidError)):
					got = invalid
				}
				if got != test.want {
					t.Errorf("%s: %s: error %v, want %q", name, test.sql, err, test.want)
				}
			}
			if _, err := runner.Query(t.Context(), "SELECT 1"); err != nil {
				t.Errorf("the session afterwards: %v", err)
			}
			if _, err := runner.Query(t.Context(), "DELETE FROM vault"); !errors.Is(err, exec.ErrNotReadOnly) {
				t.Errorf("the session is not guarded any more: %v", err)
			}
		})
	}
}

// changed is a session that has read t, before change was made behind its back.
func changed(t *testing.T, policy exec.Policy, change string) (*exec.DB, *exec.Runner) {
	t.Helper()
	pool, _ := open(t, before)
	db := newDB(t, pool, exec.Config{Policy: policy})
	runner := testutil.Value(db.Runner(exec.Bounds{}))(t)
	t.Cleanup(func() { runner.Close() })
	testutil.Value(runner.Query(t.Context(), "SELECT note FROM t"))(t)
	testutil.Value(pool.Exec(change))(t)
	return db, runner
}

// TestSessionWithoutPolicy: a table made since the session began is readable.
func TestSessionWithoutPolicy(t *testing.T) {
	_, runner := changed(t, exec.Policy{}, "CREATE TABLE u(x)")
	if _, err := runner.Query(t.Context(), "SELECT x FROM u"); err != nil {
		t.Error(err)
	}
}

// TestSchemaChangesInTheMiddle: SQLite compiles a statement again if the schema
// changed between its compilation and its first row.
func TestSchemaChangesInTheMiddle(t *testing.T) {
	for _, test := range []struct {
		why, sql, change string
		want             error
	}{
		{
			"a new column of a denied name", "SELECT * FROM t", "ALTER TABLE t ADD COLUMN password DEFAULT 's3cret'",
			&exec.RefusedError{Reason: "column", Detail: "t.password is no column of the schema"},
		},
		{
			"a column has gone", `SELECT "t".note FROM t`, "DROP VIEW v; ALTER TABLE t DROP COLUMN note",
			&exec.InvalidError{Fault: "schema", Message: "no such column: t.note", Name: "t.note"},
		},
		{
			"a table has gone", "SELECT note FROM t", "DROP VIEW v; DROP TABLE t",
			&exec.InvalidError{Fault: "schema", Message: "no such table: t", Name: "t"},
		},
		{"an index", "SELECT note FROM t", "CREATE INDEX i ON t(note)", nil},
	} {
		t.Run(test.why, func(t *testing.T) {
			pool, _ := open(t, before)
			conn := testutil.Value(pool.Conn(t.Context()))(t)
			defer conn.Close()
			held := guarded(t, conn, exec.GuardConfig{Policy: noPasswords}, 5*time.Second)
			rows := testutil.Value(held.Run(t.Context(), admitted(t, held, test.sql), exec.Bounds{Rows: 10}))(t)
			defer rows.Close()
			testutil.Value(pool.Exec(test.change))(t)
			if rows.Next() != (test.want == nil) {
				t.Error("a row of the changed table, or none of the unchanged one")
			}
			err := rows.Err()
			if err != nil {
				err = rows.Classify(err)
			}
			if diff := cmp.Diff(test.want, err); diff != "" {
				t.Errorf("error (-want +got)\n%s", diff)
			}
		})
	}
}

// swapped makes two files of the same schema_version. In the second one the notes
// are the passwords. swap puts the second in the place of the first.
func swapped(t *testing.T) (file string, swap func()) {
	t.Helper()
	_, file = open(t, "CREATE TABLE vault(id, password); CREATE TABLE t(id, note); INSERT INTO t VALUES (1, 'fine')")
	_, other := open(t, "CREATE TABLE vault(id, password); CREATE TABLE t(password, note AS (password)); INSERT INTO t "+
		"VALUES ('s3cret')")
	return file, func() {
		t.Helper()
		testutil.OK(t, os.Rename(other, file))
	}
}

// TestFileIsReplaced: what is known of one file does not hold for another one in
// its place.
func TestFileIsReplaced(t *testing.T) {
	ctx := context.Background()
	refuses := func(t *testing.T, db *exec.DB, sql string) {
		t.Helper()
		var refused *exec.RefusedError
		if got, err := db.Query(ctx, sql); !errors.As(err, &refused) {
			t.Errorf("%s: want a refusal, got %v, %v", sql, got, err)
		}
	}
	connect := func(t *testing.T, pool *sql.DB) *sql.Conn {
		t.Helper()
		conn := testutil.Value(pool.Conn(ctx))(t)
		return conn
	}
	query := func(t *testing.T, db *exec.DB, sql string) {
		t.Helper()
		testutil.Value(db.Query(ctx, sql))(t)
	}

	t.Run("no connection is kept", func(t *testing.T) {
		file, swap := swapped(t)
		pool := openFile(t, file)
		pool.SetMaxIdleConns(0)
		db := newDB(t, pool, exec.Config{Policy: noPasswords})
		query(t, db, "SELECT note FROM t")
		swap()
		refuses(t, db, "SELECT note FROM t")
		s := testutil.Value(db.Schema(ctx))(t)
		if table, ok := s.Lookup("", "t"); ok { // nothing of it may be read
			t.Errorf("the schema of the old file: %+v", table)
		}
	})
	t.Run("the schema was read before", func(t *testing.T) {
		file, swap := swapped(t)
		pool := openFile(t, file)
		pool.SetMaxIdleConns(0)
		db := newDB(t, pool, exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}})
		testutil.Value(db.Schema(ctx))(t)
		swap()
		s := testutil.Value(db.Schema(ctx))(t)
		if table, ok := s.Lookup("", "t"); !ok || table.Columns[0].Name != "password" {
			t.Errorf("the schema of the old file: %+v", table)
		}
	})
	t.Run("a connection to the old file is still open", func(t *testing.T) {
		file, swap := swapped(t)
		pool := openFile(t, file)
		db := newDB(t, pool, exec.Config{Policy: noPasswords})
		old := connect(t, pool)
		testutil.OK(t, old.PingContext(ctx))
		swap()
		old.Close()
		query(t, db, "SELECT note FROM t") // by the old connection
		old = connect(t, pool)
		defer old.Close()
		refuses(t, db, "SELECT note FROM t") // by a new one
	})
	t.Run("attached again", func(t *testing.T) {
		file, swap := swapped(t)
		pool, _ := open(t, "CREATE TABLE unused(a)")
		pool.SetMaxOpenConns(1)
		run := func(statement string) {
			t.Helper()
			testutil.Value(pool.Exec(statement))(t)
		}
		run("ATTACH '" + file + "' AS other")
		db := newDB(t, pool, exec.Config{Policy: noPasswords})
		query(t, db, "SELECT note FROM t")
		run("DETACH other")
		swap()
		run("ATTACH '" + file + "' AS other")
		refuses(t, db, "SELECT note FROM t")
	})
	t.Run("attached in memory again", func(t *testing.T) {
		pool, _ := open(t, "CREATE TABLE vault(id, password)")
		pool.SetMaxOpenConns(1)
		run := func(statement string) {
			t.Helper()
			testutil.Value(pool.Exec(statement))(t)
		}
		run("ATTACH ':memory:' AS other; CREATE TABLE other.t(id, note)")
		db := newDB(t, pool, exec.Config{Policy: noPasswords})
		query(t, db, "SELECT note FROM t")
		run("DETACH other; ATTACH ':memory:' AS other; CREATE TABLE other.t(password, note AS (password))")
		refuses(t, db, "SELECT note FROM t")
	})
}

func openFile(t *testing.T, file string) *sql.DB {
	t.Helper()
	pool := testutil.Value(sql.Open("sqlite3", filepath.ToSlash(file)))(t)
	t.Cleanup(func() { pool.Close() })
	return pool
}
