package dialecttest

import (
	"context"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/trace"
)

// Fence is a statement on the tables of [Fences], and whether its rows depend on the order of others.
type Fence struct {
	Why, SQL string
	Fenced   bool
}

// fencesScript makes tables with rows of two teams, in which two indexes lead to the same rows in opposite orders.
const fencesScript = `CREATE TABLE log(id INTEGER PRIMARY KEY, team INTEGER, txt VARCHAR(20), val INTEGER NOT NULL, city VARCHAR(20), f DOUBLE PRECISION);
CREATE TABLE loose(team INTEGER, val INTEGER, txt VARCHAR(20));
CREATE TABLE pays(id INTEGER PRIMARY KEY, team INTEGER, val INTEGER);
CREATE INDEX log_txt ON log(txt);
CREATE INDEX log_val ON log(val);
INSERT INTO log VALUES (1, 1, 'b', 3, 'Oslo', 0.1), (2, 2, 'c', 4, 'Rome', 1e60), (3, 1, 'd', 1, 'Bergen', 0.3), (4, 1, 'e', 3, 'Oslo', 2);
INSERT INTO loose VALUES (1, 2, 'a'), (2, 5, 'b'), (1, 2, 'a'), (1, 1, 'c');
`

// portableFences are statements of which every engine says the same.
func portableFences() []Fence {
	return []Fence{
		{"the first ones by a column", "SELECT id, txt FROM log ORDER BY val DESC LIMIT 2", false},
		{"a list by name", "SELECT txt, val FROM log WHERE val > 0 ORDER BY txt", false},
		{"a list", "SELECT txt FROM log WHERE txt BETWEEN 'b' AND 'd' AND val BETWEEN 1 AND 3", false},
		{"the first one of a list", "SELECT id FROM log WHERE txt BETWEEN 'b' AND 'd' AND val BETWEEN 1 AND 3 LIMIT 1",
			false},
		{"all rows of a table without a key", "SELECT val FROM loose LIMIT 2", false},
		{"a join", "SELECT a.id, b.txt FROM log a JOIN log b ON b.val = a.val ORDER BY a.val LIMIT 3", false},
		{"counts of groups", "SELECT val, count(*) AS n FROM log GROUP BY val ORDER BY n DESC LIMIT 1", false},
		{"the greatest of them", "SELECT max(val), min(id), count(DISTINCT city) FROM log", false},
		{"different values", "SELECT DISTINCT val FROM log LIMIT 1", false},
		{"a text beside a key", "SELECT l.city, count(*) FROM log l GROUP BY l.id, l.city", false},
		{"a window", "SELECT id, row_number() OVER (ORDER BY val) FROM log", true},
		{"the first ones of a query", "SELECT count(*) FROM (SELECT id FROM log LIMIT 2) AS q WHERE id < 3", true},
		{"a join with a table whose rule may fail", "SELECT l.id FROM log l JOIN pays p ON p.id = l.val", true},
		{"that table alone", "SELECT id FROM pays WHERE val > 1 LIMIT 1", true},
		{"a scalar query", "SELECT (SELECT id FROM log LIMIT 1)", true},
	}
}

// Fences runs statements for a scope, and fails t for each that is answered with a fence or without one against what it
// says.
func Fences(t *testing.T, e exectest.Engine, fences ...Fence) {
	t.Helper()
	policy := exec.Policy{Rows: map[string]string{"log": "team = :team", "loose": "team = :team",
		"pays": "team = :team AND team % 5 < 3"}}
	db, err := e.Make(t, fencesScript)(exec.Config{Policy: policy})
	if err == nil {
		db, err = db.For(&exec.Scope{Key: "red", Params: map[string]any{"team": 1}}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(portableFences(), fences...) {
		if fenced, err := isFenced(t.Context(), db, f.SQL); err != nil || fenced != f.Fenced {
			t.Errorf("%s: %s: a fence: %v, %v", f.Why, f.SQL, fenced, err)
		}
	}
}

// isFenced reports whether a statement runs behind a fence.
func isFenced(ctx context.Context, db *exec.DB, text string) (bool, error) {
	span := trace.Tracer{Keep: ^trace.Sensitivity(0)}.New("fences")
	_, err := db.Query(trace.NewContext(ctx, span), text)
	span.End()
	shown, _ := span.JSON(^trace.Sensitivity(0))
	return strings.Contains(string(shown), `"fenced":true`), err
}
