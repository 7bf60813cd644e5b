//go:build sqlite_fts5

package sqlite_test

import (
	"errors"
	"testing"

	"github.com/texttosql/texttosql/exec"
)

// TestFTS5 needs a go-sqlite3 that was built with FTS5, whose module runs a PRAGMA by itself.
func TestFTS5(t *testing.T) {
	pool, _ := open(t, fixture+`
		CREATE VIRTUAL TABLE docs USING fts5(title, body);
		INSERT INTO docs VALUES ('hello', 'many words'), ('other', 'no more');
		CREATE VIRTUAL TABLE terms USING fts5vocab(docs, 'row');
		CREATE VIEW people AS SELECT id AS rowid, name, password FROM users;
		CREATE VIRTUAL TABLE found USING fts5(name, password, content='people', content_rowid='rowid');
		INSERT INTO found(found) VALUES ('rebuild');`)
	denied := exec.Policy{DenyColumns: []string{"users.password"}}
	for _, test := range []struct {
		sql    string
		policy exec.Policy
		rows   int // -1: refused
	}{
		{"SELECT title FROM docs WHERE docs MATCH 'words'", exec.Policy{}, 1},
		{"SELECT title FROM docs WHERE docs MATCH 'words'", denied, 1},
		{"SELECT highlight(docs, 1, '<', '>'), bm25(docs) FROM docs WHERE docs MATCH 'words OR more' ORDER BY rank",
			denied, 2},
		{"SELECT term FROM terms WHERE term >= 'many'", denied, 5},
		{"SELECT * FROM pragma_data_version", exec.Policy{}, -1},
		{"SELECT name FROM found WHERE found MATCH 's3cret'", exec.Policy{Reveal: []string{"password"}}, 3},
		{"SELECT name FROM found WHERE found MATCH 's3cret'", exec.Policy{}, -1},
		{"SELECT name FROM found WHERE found MATCH 's3cret'", denied, -1},
		{"SELECT block FROM found_data", denied, -1},
	} {
		db := newDB(t, pool, exec.Config{Policy: test.policy})
		table, err := db.Query(t.Context(), test.sql)
		var refused *exec.RefusedError
		switch {
		case test.rows < 0 && !errors.As(err, &refused):
			t.Errorf("%s: %v, want a refusal", test.sql, err)
		case test.rows >= 0 && (err != nil || len(table.Rows) != test.rows):
			t.Errorf("%s: %+v, %v", test.sql, table, err)
		}
	}
}
