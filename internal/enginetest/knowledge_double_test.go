package enginetest_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/findings"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// doubleCounts reports whether an answer is warned.
func doubleCounts(t *testing.T, pool *sql.DB, statement string) bool {
	t.Helper()
	engine := testutil.Value(texttosql.New(pool, always(statement), texttosql.WithStrategy(strategy.Direct{})))(t)
	res := testutil.Value(engine.Ask(t.Context(), "How much?"))(t, statement)
	warned := slices.ContainsFunc(res.Warnings, func(w trace.Warning) bool { return w.Code == "double-counting" })
	found := false
	for _, f := range res.Candidates[0].Findings {
		if f.Rule == findings.DoubleCounting {
			found = true
			if f.Doubt != 0 {
				t.Error("the finding weighs in the vote")
			}
		}
	}
	if found != warned {
		t.Errorf("%s: found %t, warned %t", statement, found, warned)
	}
	return warned
}

func TestDoubleCountingWarns(t *testing.T) {
	pool := open(t, shop)
	for statement, want := range map[string]bool{
		"SELECT SUM(c.id) FROM customers c JOIN orders o ON o.customer_id = c.id":    true,
		"SELECT SUM(o.total) FROM customers c JOIN orders o ON o.customer_id = c.id": false,
		"SELECT SUM(id) FROM customers":                                              false,
	} {
		if got := doubleCounts(t, pool, statement); got != want {
			t.Errorf("%s: warned %t", statement, got)
		}
	}
}

// TestDoubleCounting: of recorded statements, those that count twice are warned, and those that look alike are not.
func TestDoubleCounting(t *testing.T) {
	files := map[string]func() string{
		"chinook":       func() string { return evaldata.Path(t, "db", "chinook", "Chinook_Sqlite.sqlite") },
		"classicmodels": func() string { return evaldata.Path(t, "db", "classicmodels", "classicmodels.sqlite") },
		"jaffle":        func() string { return evaldata.Knowledge(t, "db", "jaffle.sqlite") },
		"trips":         func() string { return evaldata.Knowledge(t, "db", "trips.sqlite") },
	}
	type line struct {
		DB, Question, SQL string
		Twice             bool
	}
	for l := range evaldata.Lines[line](t, evaldata.Knowledge(t, "double_counting.jsonl")) {
		path := testutil.Value(filepath.Abs(files[l.DB]()))(t)
		pool := testutil.Value(sql.Open("sqlite3", "file:"+path+"?mode=ro&immutable=1"))(t)
		if got := doubleCounts(t, pool, l.SQL); got != l.Twice {
			t.Errorf("%s, %s: warned %t", l.DB, l.Question, got)
		}
		pool.Close()
	}
}
