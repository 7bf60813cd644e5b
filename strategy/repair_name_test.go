package strategy_test

import (
	"slices"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
)

const kennels = `
CREATE TABLE Professionals (ProfessionalID INTEGER PRIMARY KEY, first_name TEXT, home_phone TEXT);
CREATE TABLE Treatments (TreatmentID INTEGER PRIMARY KEY, ProfessionalID INTEGER REFERENCES Professionals(ProfessionalID),
	treatment TEXT);
CREATE TABLE phone_call (id INTEGER PRIMARY KEY, home_phone TEXT, "Home Phone" TEXT);
CREATE TABLE phone_calls (id INTEGER PRIMARY KEY);
CREATE TABLE shifts (id INTEGER PRIMARY KEY, hours INTEGER, q11 TEXT, professional_no INTEGER);
INSERT INTO Professionals VALUES (1, 'Ada', '1');
INSERT INTO Treatments VALUES (1, 1, 'walk');`

// TestRespelledNames: a name that is spelled otherwise than in the schema is replaced, without a call. The first ones
// are of kinds that Qwen2.5-Coder-1.5B wrote, which was shown solved questions about other databases.
func TestRespelledNames(t *testing.T) {
	for _, tt := range []struct {
		why, sql string
		want     string // the statement that runs without a call; "": the model writes another one
	}{
		{"a table in the singular", "SELECT first_name FROM professional", "SELECT first_name FROM Professionals"},
		{"and its columns", "SELECT professional.first_name FROM professional WHERE professional.first_name = 'Ada'",
			"SELECT Professionals.first_name FROM Professionals WHERE Professionals.first_name = 'Ada'"},
		{"words apart", "SELECT professional_id FROM Professionals ORDER BY professional_id",
			"SELECT ProfessionalID FROM Professionals ORDER BY ProfessionalID"},
		{"of one table of two", "SELECT p.professional_id FROM Professionals p JOIN Treatments t " +
			"ON p.ProfessionalID = t.ProfessionalID",
			"SELECT p.ProfessionalID FROM Professionals p JOIN Treatments t ON p.ProfessionalID = t.ProfessionalID"},
		{"a column of the same name stays", "SELECT treatment, count(*) AS treatment FROM treatment GROUP BY treatment",
			"SELECT treatment, count(*) AS treatment FROM Treatments GROUP BY treatment"},
		{"three names", "SELECT t.treatment_id FROM treatment t WHERE t.ProfessionalID IN (SELECT p.ProfessionalID " +
			"FROM professional p)",
			"SELECT t.TreatmentID FROM Treatments t WHERE t.ProfessionalID IN (SELECT p.ProfessionalID FROM Professionals p)"},
		{"a text is none", "SELECT first_name FROM professional WHERE first_name <> 'professional' -- professional",
			"SELECT first_name FROM Professionals WHERE first_name <> 'professional'"},
		{"a subquery has its own tables", "SELECT first_name FROM Professionals WHERE ProfessionalID NOT IN " +
			"(SELECT professional_id FROM shifts)", ""},
		{"both queries have one", "SELECT first_name FROM Professionals WHERE professional_id NOT IN " +
			"(SELECT professional_id FROM Treatments)",
			"SELECT first_name FROM Professionals WHERE ProfessionalID NOT IN (SELECT ProfessionalID FROM Treatments)"},
		{"of the qualifier's table only", "SELECT home_phone FROM phone_call c JOIN Professionals p " +
			"ON p.HomePhone = c.id", ""},
		{"a string of SQLite", "SELECT professional_id FROM Professionals WHERE first_name <> \"professional_id\"",
			"SELECT ProfessionalID FROM Professionals WHERE first_name <> \"professional_id\""},
		{"the words of an alias", "SELECT first_name, count(*) AS professional_id FROM Professionals GROUP BY first_name " +
			"ORDER BY professionalId2, ProfessionalIds", ""},
		{"a plural is another thing", "SELECT hour, count(*) FROM shifts GROUP BY hour", ""},
		{"in quotes behind a qualifier", "SELECT t . \"treatment_id\" FROM Treatments t",
			"SELECT t . TreatmentID FROM Treatments t"},
		{"numbers apart", "SELECT q_1_1 FROM shifts", ""},
		{"one number", "SELECT q_11 FROM shifts", "SELECT q11 FROM shifts"},
		{"the words of a CTE", "WITH pro_fessional AS (SELECT 1 AS n) SELECT n FROM professional, pro_fessional", ""},
		{"ORDER BY means the alias", "SELECT first_name AS professional_id, max(professional_id) FROM Professionals " +
			"GROUP BY 1 ORDER BY professional_id", ""},
		{"two tables have the words", "SELECT id FROM PhoneCall", ""},
		{"two columns have them", "SELECT homephone FROM phone_call", ""},
		{"other words", "SELECT first_name FROM persons", ""},
	} {
		model := &llmtest.Script{Rules: []llmtest.Rule{
			{Purpose: "generate", Replies: llmtest.Texts(strategy.CodeBlock(tt.sql))}, repairs("SELECT 'asked'"),
		}}
		env := envOf(t, kennels, model)
		pipeline := strategy.Pipeline{Refine: &strategy.Refine{Executions: 2}}
		out := testutil.Value(pipeline.Generate(t.Context(), env, strategy.Task{Question: "Which are there?"}))(t, tt.why)
		want, calls := tt.want, 1
		if want == "" {
			want, calls = "SELECT 'asked'", 2
		}
		golden.Equal(t, want, out.SQL, tt.why, tt.sql)
		golden.Equal(t, calls, len(model.Requests()), tt.why, tt.sql)
	}
}

// FuzzRespelledNames: a mended statement has as many tokens as it had, and all but names are the same.
func FuzzRespelledNames(f *testing.F) {
	for _, seed := range [][2]string{
		{"SELECT p.professional_id FROM professional p", "professional"},
		{"SELECT treatment_id FROM Treatments", "treatment_id"},
		{"SELECT t.treatment_id FROM Treatments t -- t.treatment_id", "t.treatment_id"},
		{".treatment_id FROM Treatments", "x.treatment_id"},
		{"SELECT '", "professional"}, {"", "."}, {"SELECT\"professional\"FROM professional", "professional"},
	} {
		f.Add(seed[0], seed[1])
	}
	env := envOf(f, kennels, nil)
	f.Fuzz(func(t *testing.T, sql, name string) {
		got := strategy.Respell(env, sql, name)
		if got == "" {
			return
		}
		tokens := func(text string) []sqltext.Token {
			return slices.Collect(env.DB.Language().Text.Parse(text).Tokens())
		}
		before, after := tokens(sql), tokens(got)
		if len(before) != len(after) {
			t.Fatalf("%q, %q became %q", sql, name, got)
		}
		for i := range before {
			if before[i].Text != after[i].Text && before[i].Kind != sqltext.Word && before[i].Kind != sqltext.QuotedName {
				t.Errorf("%q, %q became %q", sql, name, got)
			}
		}
	})
}
