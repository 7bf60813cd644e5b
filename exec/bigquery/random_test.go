package bigquery_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	bq "github.com/texttosql/texttosql/exec/bigquery"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestNested holds the parser to statements of the greatest length: what it recurses on is refused before, and nothing
// takes long.
func TestNested(t *testing.T) {
	for _, test := range []struct{ name, prefix, again, suffix string }{
		{"brackets", "SELECT ", "(", "1"}, {"signs", "SELECT ", "- ", "1"}, {"tildes", "SELECT ", "~", "1"},
		{"NOT", "SELECT ", "NOT ", "true"},
		{"CASE", "SELECT ", "CASE WHEN ", "1"}, {"CASE ELSE", "SELECT ", "CASE WHEN true THEN 1 ELSE ", "1"},
		{"INTERVAL", "SELECT ", "INTERVAL ", "1 DAY"},
		{"types", "SELECT CAST(1 AS ", "ARRAY<", "INT64"}, {"struct types", "SELECT ", "STRUCT<a ", "INT64"},
		{"lambdas", "SELECT array_filter(x, ", "e -> ", "e)"},
		{"UNION", "SELECT 1", " UNION ALL SELECT 1", ""}, {"AND", "SELECT true", " AND true", ""},
		{"plus", "SELECT 1", " + 1", ""},
		{"JOIN", "SELECT 1 FROM t", " JOIN t", " ON true"}, {"cross", "SELECT 1 FROM t", ", t", ""},
		{"dots", "SELECT a", ".a", ""},
		{"pipes", "FROM t", " |> WHERE true", ""}, {"subscripts", "SELECT a", "[0]", ""},
		{"concatenation", "SELECT 'a'", " || 'a'", ""},
		{"comparisons", "SELECT 1", " = 1", ""}, {"IS", "SELECT 1", " IS NULL", ""}, {"IN", "SELECT 1", " IN (1)", ""},
		{"strings", "SELECT 'a'", " 'a'", ""},
		{"WITH", "WITH a AS (SELECT 1)", ", a AS (SELECT 1)", " SELECT 1"}, {"BETWEEN", "SELECT 1", " BETWEEN 1 AND 1", ""},
		{"NEW", "SELECT ", "NEW a(", "1"}, {"EXISTS", "SELECT ", "EXISTS(SELECT ", "1"},
		{"pairs", "SELECT ", "((SELECT ", "1"},
		{"IF", "SELECT ", "IF(true, 1, ", "1"},
		{"joins behind each other", "SELECT 1 FROM t", " JOIN t", strings.Repeat(" ON true", 5000)},
		{"LATERAL", "SELECT 1 FROM ", "LATERAL ", "t"},
		{"braces", "SELECT NEW a ", "{a ", "1"}, {"ANY", "SELECT 1", " LIKE ANY (1", ""}, {"<", "SELECT 1", " < 1", ""},
		{"hints", "SELECT ", "@{a=1} ", "1"},
	} {
		for _, times := range []int{190, 95_000} {
			times = min(times, (99_000-len(test.prefix)-len(test.suffix))/len(test.again))
			start := time.Now()
			_, _, _ = bq.Read(test.prefix + strings.Repeat(test.again, times) + test.suffix)
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("%s, %d times: %v", test.name, times, took)
			}
		}
	}
}

// FuzzRead: the parser and the walk come back without a panic, and whatever the parser makes of a text, no call of a
// forbidden function and no forbidden table, as the tokens tell them, gets through.
func FuzzRead(f *testing.F) {
	for _, test := range refusals {
		f.Add(test.sql)
	}
	for _, test := range harmless {
		f.Add(test.sql)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := bq.Dialect{}.Language().Text
		s, err := d.Check(text)
		if err != nil {
			return
		}
		tables, _, err := bq.Read(text)
		if err != nil {
			return
		}
		for _, name := range tables {
			if strings.EqualFold(name, "information_schema") || strings.HasSuffix(name, "*") {
				t.Errorf("the table %s passes: %q", name, text)
			}
		}
		attack.Calls(t, s, "session_user", "external_query", "error", "predict", "generate_text", "generate", "forecast")
	})
}

// writer makes statements over the tables of dbtest.PolicyScript. Aliases are few, so that they often mean several
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
		return w.one("users", "users AS u", "keyring", "keyring AS k", "orders", "t", "names", "c", "users AS t",
			"keyring AS users", "`users` AS k")
	}
	text := item()
	for w.IntN(3) == 0 {
		text += w.one(" JOIN ", " LEFT JOIN ", " CROSS JOIN ") + item() + w.one("", " ON true", " USING (id)",
			" ON u.id = k.note")
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
	f.script(strings.TrimSuffix(dbtest.PolicyScript, "\n"))
	db := database(t, f, bq.Config{}, exec.Config{Policy: dbtest.DenyColumn})
	conn := testutil.Value(f.db.Conn(t.Context()))(t)
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
	t.Logf("%d statements compile: %d read the denied column, and of the others %d are accepted", compiled, reading,
		accepted)
	if reading < 50 || accepted < 100 {
		t.Error("the statements show too little")
	}
}
