package linker_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
)

// TestIndexKnowledge: a word of a term or a metric leads to the tables of its expression.
func TestIndexKnowledge(t *testing.T) {
	s := &schema.Schema{}
	for _, name := range []string{"t_0a", "t_0b", "t_0c", "t_0d"} {
		s.Tables = append(s.Tables, schema.Table{Name: name, Kind: "table", Columns: []schema.Column{{Name: "x_" + name}}})
	}
	m := &knowledge.Model{
		Tables: []knowledge.Table{{Name: "facts", Source: "t_0c"}, {Name: "t_0d"}},
		Metrics: []knowledge.Metric{{Name: "net_revenue", Expr: "SUM(facts.x_t_0c)",
			Subject: knowledge.Subject{Synonyms: []string{"turnover"}}}},
		Terms: []knowledge.Term{{Words: []string{"churned"}, Expr: "t_0d.x_t_0d = 1"}},
	}
	for question, want := range map[string]string{"What is our turnover?": "t_0c", "How many customers churned?": "t_0d",
		"net revenue?": "t_0c"} {
		env := linker.Input{Question: question, Schema: s, Knowledge: m}
		links := testutil.Value(linker.Lexical{Tables: 1}.Link(t.Context(), env))(t)
		if len(links.Tables) != 1 || links.Tables[0].Table != want {
			t.Errorf("%s: %v; want %s", question, links, want)
		}
	}
}
