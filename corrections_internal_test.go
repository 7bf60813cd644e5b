package texttosql

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// A foreign strategy may know nothing of corrections. Its winner is held to them, also one that an examination passed.
func TestLastLookAtCorrections(t *testing.T) {
	pool := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "test.sqlite")))(t)
	defer pool.Close()
	testutil.Value(pool.Exec("CREATE TABLE a(x INTEGER, y INTEGER); CREATE TABLE b(x INTEGER); " +
		"CREATE TABLE c(x INTEGER)"))(t)
	e := testutil.Value(New(pool, &llmtest.Script{}))(t)
	a, b := schema.TableName{Name: "a"}, schema.TableName{Name: "b"}
	same := schema.Join{Left: schema.ColumnName{Table: a, Column: "x"}, Right: schema.ColumnName{Table: b, Column: "x"}}
	join := session.Correction{Kind: dialogue.CorrectJoin, Join: &same}
	notB := session.Correction{Kind: dialogue.CorrectTable, Tables: []schema.TableName{a}, Rejected: []schema.TableName{b}}
	tests := []struct {
		name, why, sql string
		corrections    []session.Correction
		refused        bool
	}{
		{"nothing", "nobody corrected", "SELECT x FROM b", nil, false},
		{"rejected", "the table is read", "SELECT x FROM a UNION SELECT x FROM b", []session.Correction{notB}, true},
		{"other", "the table is not read", "SELECT x FROM c", []session.Correction{notB}, true},
		{"selected", "it is", "SELECT y FROM a", []session.Correction{notB}, false},
		{"using", "the join is the user's", "SELECT y FROM a JOIN b USING (x)", []session.Correction{join}, false},
		{"natural", "and here", "SELECT y FROM a NATURAL JOIN b", []session.Correction{join}, false},
		{"cross", "nothing joins", "SELECT y FROM a, b", []session.Correction{join}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := testutil.Value(e.env(t.Context(), asking{}, e.budget.Start()))(t)
			ignorant := strategy.NewChecker(t.Context(), env, strategy.Task{Question: "x?"}, nil, nil)
			defer ignorant.Close()
			c, err := ignorant.ExamineSQL(t.Context(), 0, "", tt.sql)
			if err != nil || c.Rejected != "" {
				t.Fatal(c, err)
			}
			runner := testutil.Value(e.db.Runner(exec.Bounds{}))(t)
			defer runner.Close()
			out := &strategy.Outcome{SQL: tt.sql}
			for range 2 { // without the candidate, and with it
				a := answering{Engine: e, env: env, task: strategy.Task{Question: "x?", Corrections: tt.corrections}, out: out}
				winner, err := a.passed(t.Context(), runner)
				var invalid *exec.InvalidError
				if tt.refused != (errors.As(err, &invalid) && invalid.Fault == "constraint") || tt.refused != (winner == nil) {
					t.Errorf("%s: got %v, %v", tt.why, winner, err)
				}
				out.Candidates = append(out.Candidates, c)
			}
		})
	}
}
