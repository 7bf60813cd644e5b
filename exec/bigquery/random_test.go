package bigquery_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	bq "github.com/texttosql/texttosql/exec/bigquery"
	"github.com/texttosql/texttosql/exec/exectest"
)

// writer makes statements over the tables of exectest.PolicyScript. Aliases are few, so that they often mean several
// things.
type writer struct{ *rand.Rand }

func (w writer) one(of ...string) string { return of[w.IntN(len(of))] }

func (w writer) column() string {
	name := w.one("id", "name", "password", "note", "total", "a", "*")
	if w.IntN(2) == 0 {
		return w.one("users", "u", "keyring", "k", "t") + "." + name
	}
	return name
}

func (w writer) expression(depth int) string {
	c := strings.TrimPrefix(strings.TrimSuffix(w.column(), "*")+"id", ".")
	switch w.IntN(7) {
	case 0:
		return "count(*)"
	case 1:
		return "max(" + c + ")"
	case 2:
		if depth > 0 {
			return "(SELECT " + w.expression(0) + " FROM " + w.from(depth-1) + ")"
		}
	case 3:
		return "row_number() OVER (ORDER BY " + c + ")"
	}
	return w.column()
}

func (w writer) from(depth int) string {
	item := func() string {
		if depth > 0 && w.IntN(3) == 0 {
			return "(" + w.query(depth-1) + ") AS " + w.one("u", "k", "users", "t")
		}
		return w.one("users", "users AS u", "keyring", "keyring AS k", "orders", "t", "names", "c", "users AS t", "keyring AS users", "`users` AS k")
	}
	text := item()
	for w.IntN(3) == 0 {
		text += w.one(" JOIN ", " LEFT JOIN ", " CROSS JOIN ") + item() + w.one("", " ON true", " USING (id)", " ON u.id = k.note")
	}
	return text
}

func (w writer) query(depth int) string {
	text := "SELECT " + w.expression(depth)
	for w.IntN(2) == 0 {
		text += ", " + w.expression(depth)
	}
	text += " FROM " + w.from(depth)
	if w.IntN(3) == 0 {
		text += " WHERE " + w.one("id", "u.password", "password", "name", "k.note") + " > 'a'"
	}
	if w.IntN(4) == 0 {
		text += " ORDER BY " + w.one("1", "id", "name", "password")
	}
	if depth > 1 && w.IntN(3) == 0 {
		text = "WITH " + w.one("c", "users", "u") + " AS (" + w.query(depth-2) + ") " + text
	}
	return text
}

// TestRandom holds the guard to what SQLite says that a statement reads: what reads a denied column is refused.
func TestRandom(t *testing.T) {
	f := newFake(t)
	f.script(strings.TrimSuffix(exectest.PolicyScript, "\n"))
	db := database(t, f, bq.Config{}, exec.Config{Policy: exectest.DenyColumn})
	conn, err := f.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	w := writer{rand.New(rand.NewPCG(1, 2))}
	compiled, reading, accepted := 0, 0, 0
	for range 40_000 {
		if compiled == 700 {
			break
		}
		text := w.query(2)
		reads := false
		err := conn.Raw(func(dc any) error {
			c := dc.(*sqlite3.SQLiteConn)
			c.RegisterAuthorizer(func(op int, table, column, _ string) int {
				reads = reads || op == sqlite3.SQLITE_READ && table == "users" && column == "password"
				return sqlite3.SQLITE_OK
			})
			defer c.RegisterAuthorizer(nil)
			s, err := c.Prepare(toLite(text))
			if err == nil {
				s.Close()
			}
			return err
		})
		if err != nil {
			continue
		}
		compiled++
		_, err = db.Analyze(t.Context(), text)
		switch {
		case reads && err == nil:
			t.Errorf("accepted: %s", text)
		case reads:
			reading++
		case err == nil:
			accepted++
		}
	}
	t.Logf("%d statements compile: %d read the denied column, and of the others %d are accepted", compiled, reading, accepted)
	if reading < 50 || accepted < 100 {
		t.Error("the statements show too little")
	}
}
