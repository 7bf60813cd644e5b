package strategy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/constraints"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// schoolSQL has tables whose keys have one name, keys of two names, a twin and a view over it.
const schoolSQL = `
CREATE TABLE pupils (pupil_id INTEGER PRIMARY KEY, name TEXT, room INTEGER);
CREATE TABLE marks (pupil_id INTEGER, subject TEXT, mark INTEGER);
CREATE TABLE rooms (number INTEGER PRIMARY KEY, floor INTEGER);
CREATE TABLE pupils_old (pupil_id INTEGER PRIMARY KEY, name TEXT, room INTEGER);
CREATE VIEW gone AS SELECT name FROM pupils_old;
INSERT INTO pupils VALUES (1,'Ada',7),(2,'Bo',8);
INSERT INTO marks VALUES (1,'art',2);
INSERT INTO rooms VALUES (7,1),(8,2);
INSERT INTO pupils_old VALUES (9,'Zed',7);`

func column(table, name string) schema.ColumnName {
	return schema.ColumnName{Table: schema.TableName{Name: table}, Column: name}
}

func joining(a, b schema.ColumnName) session.Correction {
	return session.Correction{Kind: dialogue.CorrectJoin, Join: &schema.Join{Left: a, Right: b}}
}

func tables(names ...string) (list []schema.TableName) {
	for _, name := range names {
		list = append(list, schema.TableName{Name: name})
	}
	return list
}

var (
	byPupil = joining(column("marks", "pupil_id"), column("pupils", "pupil_id"))
	byRoom  = joining(column("pupils", "room"), column("rooms", "number"))
	notOld  = session.Correction{Kind: dialogue.CorrectTable, Tables: tables("Pupils"), Rejected: tables("pupils_old")}
)

func TestConstraints(t *testing.T) {
	env := envOf(t, schoolSQL, nil)
	tests := []struct {
		name, why, sql string
		correction     session.Correction
		wrong          string // in the message; "" for a statement that passes
	}{
		{"selected", "the table is read", "SELECT name FROM pupils", notOld, ""},
		{"rejected", "the other one is", "SELECT name FROM pupils JOIN pupils_old USING (name)", notOld,
			"the statement reads pupils_old"},
		{"missing", "neither is", "SELECT floor FROM rooms", notOld, "the statement does not read Pupils"},
		{"view", "a view reads what lies under it", "SELECT p.name FROM pupils AS p, gone", notOld,
			"the statement reads pupils_old"},
		{"counted view", "SQLite does not report it", "SELECT COUNT(*) FROM gone",
			session.Correction{Kind: dialogue.CorrectTable, Tables: tables("Gone")}, ""},
		{"rejected view", "nor here", "SELECT COUNT(*) FROM gone", session.Correction{Kind: dialogue.CorrectTable,
			Rejected: tables("gone")},
			"the statement reads gone"},
		{"named as a cte", "which is no view", "WITH gone AS (SELECT name FROM pupils) SELECT COUNT(*) FROM gone",
			session.Correction{Kind: dialogue.CorrectTable, Rejected: tables("gone")}, ""},
		{"in text", "a literal reads nothing", "SELECT name FROM pupils WHERE name <> 'pupils_old'", notOld, ""},
		{"cte", "what lies in it is read", "WITH x AS (SELECT name FROM pupils_old) SELECT p.name FROM pupils p, x", notOld,
			"the statement reads pupils_old"},
		{"on", "both columns are read", "SELECT name, mark FROM pupils AS p JOIN marks AS m ON m.pupil_id = p.pupil_id",
			byPupil, ""},
		{"where", "an old join is one", "SELECT name FROM pupils p, marks m WHERE p.pupil_id = m.pupil_id", byPupil, ""},
		{"rowid", "the key by another name", "SELECT name FROM pupils p JOIN marks m ON p.rowid = m.pupil_id", byPupil, ""},
		{"using", "SQLite does not report its columns", "SELECT name, mark FROM pupils JOIN marks USING (PUPIL_ID)", byPupil,
			""},
		{"natural", "nor those that it finds itself", "SELECT name, mark FROM pupils NATURAL JOIN marks", byPupil, ""},
		{"using another", "that column is not the one", "SELECT p.name FROM pupils p JOIN pupils_old USING (name), marks",
			byPupil,
			"does not read marks.pupil_id and pupils.pupil_id"},
		{"cross", "both tables without a join", "SELECT name, mark FROM pupils, marks", byPupil,
			"does not read marks.pupil_id and pupils.pupil_id"},
		{"one side", "another column is compared", "SELECT name FROM pupils JOIN rooms ON room = floor", byRoom,
			"does not read rooms.number"},
		{"natural of two names", "nothing natural joins them", "SELECT name, floor FROM pupils NATURAL JOIN rooms", byRoom,
			"does not read pupils.room and rooms.number"},
		{"no table", "a join needs both", "SELECT mark FROM marks JOIN pupils_old USING (pupil_id)", byPupil,
			"does not read pupils.pupil_id"},
		{"column", "what a word means rejects nothing", "SELECT floor FROM rooms",
			session.Correction{Kind: dialogue.CorrectColumn, Term: "kid", Column: new(column("pupils", "name"))}, ""},
		{"text", "nor does prose", "SELECT floor FROM rooms", session.Correction{Kind: dialogue.CorrectText,
			Text: "DO NOT use rooms"}, ""},
		{"no join", "of a record that is damaged", "SELECT floor FROM rooms", session.Correction{Kind: dialogue.CorrectJoin},
			""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, checks := range [][]exec.Check{{constraints.Check{tt.correction}},
				{exec.ReadOnly{}, constraints.Check{tt.correction}}} {
				_, err := env.DB.Examine(t.Context(), tt.sql, checks...)
				var invalid *exec.InvalidError
				switch {
				case tt.wrong == "" && err != nil:
					t.Errorf("%s: %v", tt.why, err)
				case tt.wrong != "" && (!errors.As(err, &invalid) || invalid.Fault != "constraint" ||
					!strings.HasSuffix(invalid.Message, tt.wrong)):
					t.Errorf("%s: got %v; want the end %q", tt.why, err, tt.wrong)
				case tt.wrong != "" && (!strings.HasPrefix(invalid.Message, tt.correction.String()) ||
					strings.Contains(invalid.Message, "MANDATORY")):
					t.Errorf("%q does not begin with the words of the correction", invalid.Message)
				}
			}
		})
	}
}

// The checks of a caller do not take the place of the constraints, wherever they stand.
func TestAdmissionConstraints(t *testing.T) {
	env := envOf(t, schoolSQL, nil)
	own := exec.CheckFunc(func(_ context.Context, _ *exec.Runner, c *exec.Checked) error { return nil })
	for name, checks := range map[string][]exec.Check{
		"none": nil, "empty": {}, "own": {own}, "own first": {own, exec.ReadOnly{}, exec.RunCheck{}},
		"plan": exec.PlanChecks(),
	} {
		a := strategy.NewChecker(t.Context(), env, strategy.Task{Question: "who?", Corrections: []session.Correction{notOld}},
			checks, nil)
		c, err := a.ExamineSQL(t.Context(), 0, "", "SELECT name FROM pupils_old")
		if err != nil || !c.Invalid ||
			!strings.Contains(c.Rejected, "do not read pupils_old; the statement reads pupils_old") || c.Fingerprint != "" {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		if c, err = a.ExamineSQL(t.Context(), 0, "", "SELECT name FROM pupils"); err != nil || c.Rejected != "" {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		a.Close()
	}
}

// A statement against a correction is repaired by its reason, which a prompt states in full where no value may stand.
func TestRepairOfConstraint(t *testing.T) {
	script := &llmtest.Script{Rules: []llmtest.Rule{
		always("generate", "SELECT name FROM pupils_old"), always("repair", "SELECT name FROM pupils"),
	}}
	env := envOf(t, schoolSQL, script)
	env.WithoutValues = true
	out, err := strategy.Consensus{Samples: 1}.Generate(t.Context(), env,
		strategy.Task{Question: "who?", Corrections: []session.Correction{notOld}})
	if err != nil || out.SQL != "SELECT name FROM pupils" {
		t.Fatal(out, err)
	}
	last := script.Requests()[1].Messages
	want := "This statement goes against what the user said: read Pupils; do not read pupils_old; " +
		"the statement reads pupils_old\n"
	if text := last[len(last)-1].Text; !strings.Contains(text, want) {
		t.Errorf("the repair is told %q", text)
	}
}
