package enginetest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// billed is SQLite as if each statement were billed by what it reads.
type billed struct{ sqlite.Dialect }

func (d billed) Language() exec.Language {
	l := d.Dialect.Language()
	l.BillsScans = true
	return l
}

// TestRowsThatDoNotCount: an answer over deleted rows is shown with both figures, and loses no confidence for it.
func TestRowsThatDoNotCount(t *testing.T) {
	const (
		script = `CREATE TABLE members (id INTEGER PRIMARY KEY, town TEXT, deleted_at TEXT);
			INSERT INTO members VALUES (1, 'Bern', NULL), (2, 'Bern', '2024-01-01'), (3, 'Basel', NULL)`
		question, careless = "How many members are there?", "SELECT count(*) FROM members"
		told               = "3 members. 1 of them has deleted_at set; without them 2."
	)
	isState := func(w trace.Warning) bool { return w.Code == "state-of-rows" }
	known := knowledge.Model{
		Tables: []knowledge.Table{{Name: "members", Columns: []knowledge.Column{{Name: "id", Expr: "id"}}}},
		Terms:  []knowledge.Term{{Words: []string{"members"}, Expr: "members.id > 0"}},
	}
	for _, tt := range []struct {
		why, sql string
		options  []texttosql.Option
		want     string
	}{
		{"careless", careless, nil, told},
		{"one connection", careless, []texttosql.Option{texttosql.WithLimits(exec.Limits{Connections: 1})}, told},
		{"careful", careless + " WHERE deleted_at IS NULL", nil, ""},
		{"instructions count them", careless, []texttosql.Option{texttosql.WithInstructions("A deleted member is a member.")},
			""},
		{"instructions leave them out", careless,
			[]texttosql.Option{texttosql.WithInstructions("Leave out deleted members.")}, told},
		{"a term says what a member is", careless + " WHERE id > 0", []texttosql.Option{texttosql.WithKnowledge(known)}, ""},
		{"each statement is billed", careless, []texttosql.Option{texttosql.WithDialect(billed{})}, ""},
		{"no value may be read", careless, []texttosql.Option{texttosql.WithoutValues()}, ""},
		{"no statement may run", careless, []texttosql.Option{texttosql.WithoutExecution()}, ""},
	} {
		e := testutil.Value(texttosql.New(open(t, script), always(tt.sql), tt.options...))(t, tt.why)
		r := testutil.Value(e.Ask(t.Context(), question))(t, tt.why)
		got := ""
		if at := slices.IndexFunc(r.Warnings, isState); at >= 0 {
			got = r.Warnings[at].Message
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q (%s, %v)", tt.why, got, tt.want, r.SQL, r.Grounds)
		}
		if tt.want != "" && (r.Confidence < 0.85 || r.Level != vote.LevelAgreed || len(r.Warnings) != 1 ||
			strings.Contains(r.Ballot.Explain(), "deleted_at")) {
			t.Errorf("%s: the remark is a doubt: %v, %v, %v, %s", tt.why, r.Level, r.Confidence, r.Warnings, r.Ballot.Explain())
		}
	}
	e := testutil.Value(texttosql.New(open(t, script), always(careless),
		texttosql.WithMemory(memory.Options{VerifiedAnswers: &memory.VerifiedAnswers{}})))(t)
	testutil.OK(t, e.Confirm(t.Context(), question, careless))
	if r := testutil.Value(e.Ask(t.Context(), question))(t); slices.ContainsFunc(r.Warnings, isState) {
		t.Errorf("a person confirmed the statement: %v", r.Warnings)
	}
}
