package petsql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/petsql"
)

// describedEnv has two tables with all that a prompt may say of them: keys of two columns, a reference out of sight,
// descriptions, titles, a column marked sensitive, NULLs and equal values.
func describedEnv(t *testing.T) (*strategy.Env, *schema.Schema) {
	env := strategytest.EnvOf(t, `
CREATE TABLE visits (shop INTEGER, day TEXT, guest TEXT, phone TEXT, note TEXT, PRIMARY KEY (shop, day), FOREIGN KEY (shop, day) REFERENCES shops(id, day));
CREATE TABLE shops (id INTEGER, day TEXT, owner INTEGER, PRIMARY KEY (id, day), FOREIGN KEY (owner) REFERENCES owners(id));
CREATE TABLE owners (id INTEGER PRIMARY KEY);
INSERT INTO visits VALUES (1, 'Mo', 'Ann', '555', NULL), (2, 'Mo', 'Ann', '556', NULL), (3, 'Tu', 'Bo', '557', 'late');
INSERT INTO shops VALUES (1, 'Mo', 7)`, nil)
	s := env.Schema.Project(func(t *schema.Table) bool {
		return t.Name != "owners"
	}, func(*schema.Table, *schema.Column) bool { return true })
	for i := range s.Tables {
		switch t := &s.Tables[i]; t.Name {
		case "visits":
			t.Description = "one line a visit"
			t.Columns[1].Title, t.Columns[1].Values = "Weekday", "Mo to Su"
			t.Columns[2].Title, t.Columns[2].Description, t.Columns[2].Described = "GUEST", "who came", "not this one"
			t.Columns[3].Sensitive = true
			t.Columns[4].Described = "a remark"
		case "shops":
			t.Columns[1].Type = "TEXT; DROP"
		}
	}
	return env, s
}

// TestREpParts: each part of a prompt stands in one place, and each setting leaves out its own part alone.
func TestREpParts(t *testing.T) {
	const (
		visits = "# visits(shop INTEGER, day TEXT, guest TEXT, phone TEXT, note TEXT, PRIMARY KEY (shop, day));\n"
		shops  = "# shops(id INTEGER, day, owner INTEGER, PRIMARY KEY (id, day)).\n"
		values = `# visits(shop[1,2,3],day["Mo","Tu"],guest["Ann","Bo"],phone,note["late"]);` + "\n" +
			`# shops(id[1],day["Mo"],owner[7]).` + "\n"
		keys     = "# visits(shop, day) REFERENCES shops(id, day)\n"
		comments = "# visits: one line a visit\n# visits.day: Weekday; Mo to Su\n# visits.guest: who came\n# visits.note: " +
			"a remark\n"
	)
	task := strategy.Task{Question: "Who came?", Evidence: "a guest came"}
	for _, tt := range []struct {
		reason  string
		without petsql.Parts
		edit    func(env *strategy.Env)
		has     []string
		not     []string
	}{
		{"everything; the sensitive phone has no values, and a reference out of sight is not a key", petsql.Parts{}, nil,
			[]string{visits + shops, values, keys, comments, "### External knowledge: a guest came\n"},
			[]string{"555", "owners", "not this one", "GUEST", "DROP"}},
		{"no values", petsql.Parts{Values: true}, nil, []string{visits + shops, keys, comments},
			[]string{"### Sample values", "Ann"}},
		{"no values in the whole Env", petsql.Parts{}, func(env *strategy.Env) {
			env.WithoutValues = true
		}, []string{visits + shops, keys, comments},
			[]string{"### Sample values", "Ann"}},
		{"no foreign keys", petsql.Parts{ForeignKeys: true}, nil, []string{visits + shops, values, comments},
			[]string{"### Foreign keys", "REFERENCES"}},
		{"no types", petsql.Parts{Types: true}, nil,
			[]string{"# visits(shop, day, guest, phone, note, PRIMARY KEY (shop, day));\n", values, keys, comments},
			[]string{"INTEGER"}},
		{"no primary keys", petsql.Parts{Keys: true}, nil,
			[]string{"# visits(shop INTEGER, day TEXT, guest TEXT, phone TEXT, note TEXT);\n# shops(id INTEGER, day, " +
				"owner INTEGER).\n", values, keys, comments},
			[]string{"PRIMARY"}},
		{"no evidence", petsql.Parts{Evidence: true}, nil, []string{visits + shops, values, keys, comments},
			[]string{"### External knowledge", "a guest came"}},
		{"no descriptions", petsql.Parts{Descriptions: true}, nil, []string{visits + shops, values, keys},
			[]string{"### Descriptions", "one line a visit",
				"remark"}},
	} {
		env, s := describedEnv(t)
		if tt.edit != nil {
			tt.edit(env)
		}
		messages := testutil.Value((petsql.REp{Without: tt.without}).Prompt(t.Context(), env,
			strategy.PromptInput{Task: task, Schema: s}))(t)
		text := messages[1].Text
		for _, part := range tt.has {
			if strings.Count(text, part) != 1 {
				t.Errorf("%s: %q does not stand once in\n%s", tt.reason, part, text)
			}
		}
		for _, part := range tt.not {
			if strings.Contains(text, part) {
				t.Errorf("%s: %q stands in\n%s", tt.reason, part, text)
			}
		}
	}
}

// TestREpConversation: dates, corrections, and earlier questions with their statements on one line, before the
// question.
func TestREpConversation(t *testing.T) {
	env, s := describedEnv(t)
	task := strategy.Task{Question: "And Bo?", Dates: "as Mo or Tu",
		Corrections: []session.Correction{{Kind: "natural_language", Text: "Use visits"}},
		Earlier:     []session.PreviousTurn{{Question: "When did\nAnn come?", SQL: "SELECT day -- which\nFROM visits;"}}}
	for _, tt := range []struct {
		reason string
		rep    petsql.REp
		dates  bool
	}{{"ours", petsql.REp{}, true}, {"the published form has no dates", petsql.REp{}.Published(), false}} {
		messages := testutil.Value(tt.rep.Prompt(t.Context(), env, strategy.PromptInput{Task: task, Schema: s}))(t)
		text := messages[len(messages)-1].Text
		if strings.Contains(text, "### Dates in this database: as Mo or Tu\n") != tt.dates {
			t.Errorf("%s: dates in\n%s", tt.reason, text)
		}
		at := -1
		for _, part := range []string{"Use visits", "### When did Ann come?\nSELECT day FROM visits\n\n",
			"### Question: And Bo?\n"} {
			next := strings.Index(text, part)
			if next <= at || strings.Count(text, part) != 1 {
				t.Errorf("%s: %q is not in its place in\n%s", tt.reason, part, text)
			}
			at = next
		}
	}
}

// TestREpRoom: exemplars fill the room up to the last byte, in their order, and the widest values go first.
func TestREpRoom(t *testing.T) {
	env, s := describedEnv(t)
	env.Exemplars = &memory.Pool{Pairs: []memory.Exemplar{{Question: "Who is first?", SQL: "SELECT 1"},
		{Question: "Who is second?", SQL: "SELECT 2"}}}
	at := func(tokens int) string {
		in := strategy.PromptInput{Task: strategy.Task{Question: "Who came?"}, Schema: s}
		messages := testutil.Value((petsql.REp{MaxTokens: tokens}).Prompt(t.Context(), env, in))(t)
		text, said := messages[1].Text, ""
		for _, part := range []string{"Who is first?", "Who is second?", `guest["Ann","Bo"]`, `owner[7]`} {
			said += fmt.Sprint(strings.Count(text, part))
		}
		return said
	}
	var steps []string
	for tokens := 400; tokens > 20; tokens-- {
		if said := at(tokens); len(steps) == 0 || steps[len(steps)-1] != said {
			steps = append(steps, said)
		}
	}
	golden.Equal(t, []string{"1111", "1011", "0011", "0001", "0000"}, steps, "first, second, guests, owners")
}

// TestREpTypes: a declared type of up to 40 plain letters is shown as it is, another one not at all.
func TestREpTypes(t *testing.T) {
	env := strategytest.EnvOf(t, "CREATE TABLE t (a TEXT)", nil)
	for _, tt := range []struct{ reason, declared, shown string }{
		{"plain", "varchar(40)", " varchar(40)"}, {"the longest", strings.Repeat("x", 40), " " + strings.Repeat("x", 40)},
		{"too long", strings.Repeat("x", 41), ""}, {"none", "", ""}, {"a part of another line", "int; #", ""},
	} {
		s := &schema.Schema{Tables: []schema.Table{{Name: "t", Columns: []schema.Column{{Name: "a", Type: tt.declared}}}}}
		messages := testutil.Value((petsql.REp{}).Prompt(t.Context(), env,
			strategy.PromptInput{Task: strategy.Task{Question: "?"}, Schema: s}))(t)
		if !strings.Contains(messages[1].Text, "# t(a"+tt.shown+").\n") {
			t.Errorf("%s: in\n%s", tt.reason, messages[1].Text)
		}
	}
}
