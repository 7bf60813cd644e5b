package maker

import (
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

const schoolSQL = `
CREATE TABLE pupils (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE pupils_old (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE marks (pupil_id INTEGER, tutor_id INTEGER REFERENCES pupils(id));`

// A scope that no statement could keep to does not vote, however many name it, and the join of the user goes before those
// of the replies and of the schema.
func TestScopeKeepsToCorrections(t *testing.T) {
	name := func(table string) schema.TableName { return schema.TableName{Name: table} }
	task := strategy.Task{Question: "Who has a mark?", Corrections: []session.Correction{
		{Kind: session.CorrectTable, Tables: []schema.TableName{name("pupils")}, Rejected: []schema.TableName{name("PUPILS_OLD")}},
		{Kind: session.CorrectJoin, Join: &schema.Join{
			Left:  schema.ColumnName{Table: name("Marks"), Column: "PUPIL_ID"},
			Right: schema.ColumnName{Table: name("pupils"), Column: "id"},
		}},
	}}
	const (
		old   = "Tables: marks, pupils_old\nJoins: marks.pupil_id = pupils_old.id"
		all   = "Tables: marks, pupils, pupils_old\nJoins: marks.pupil_id = pupils.id AND pupils.id = pupils_old.id"
		alone = "Tables: pupils"
		tutor = "Tables: marks, pupils\nJoins: marks.tutor_id = pupils.id"
		sql   = "SELECT name FROM pupils JOIN marks ON pupil_id = id"
	)
	script := &llmtest.Script{Rules: []llmtest.Rule{
		samples("maker.scope", old, old, old, all, alone, tutor, tutor),
		always("maker.filter", "No filters needed"), always("maker.projection", sql),
	}}
	out, err := Strategy{Samples: 7}.Generate(t.Context(), strategytest.EnvOf(t, schoolSQL, script), task)
	if err != nil || out.SQL != sql {
		t.Fatal(out, err)
	}
	scope := reportOf(out).Phases[0]
	if want := "marks, pupils on marks.pupil_id = pupils.id"; scope.Winner != want {
		t.Errorf("the scope is %q, want %q", scope.Winner, want)
	}
	var flags []string
	for _, f := range scope.Flags {
		flags = append(flags, f.Reason)
	}
	golden.Equal(t, []string{"correction", "correction", "correction", "correction", "correction"}, flags, "flags")
}
