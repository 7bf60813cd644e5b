package answerable_test

import (
	"fmt"
	"testing"

	"github.com/texttosql/texttosql/internal/answerable"
	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

var shop = &schema.Schema{Tables: []schema.Table{
	{Name: "customers", Columns: []schema.Column{{Name: "id"}, {Name: "country", Description: "where the customer lives"},
		{Name: "segment", Profile: &schema.Profile{Top: []schema.Value{{Value: "Wholesale"}}}},
		{Name: "ssn", Sensitive: true, Profile: &schema.Profile{Top: []schema.Value{{Value: "Topsecret"}}}}}},
	{Name: "orders", Columns: []schema.Column{{Name: "id"}, {Name: "customerId"}, {Name: "total"}, {Name: "orderedAt"}}},
}}

var words = &knowledge.Model{
	Tables: []knowledge.Table{{Name: "orders", Subject: knowledge.Subject{Synonyms: []string{"purchases"}}}},
	Metrics: []knowledge.Metric{{Name: "revenue", Expr: "SUM(orders.total)",
		Subject: knowledge.Subject{Synonyms: []string{"turnover"}}}},
	Terms: []knowledge.Term{{Words: []string{"Nordic"}, Expr: "customers.country = 'NO'"}},
}

func samples(texts ...string) (list []vote.Candidate) {
	for i, sql := range texts {
		list = append(list, vote.Candidate{Sample: i, SQL: sql})
	}
	return list
}

// TestUnmet: what stands for a word of a question.
func TestUnmet(t *testing.T) {
	absent := samples("SELECT COUNT(*) FROM orders WHERE id = 'humidity'")
	absent[0].Findings = []vote.Finding{{Rule: checks.Absent}}
	for _, test := range []struct {
		why, question string
		candidates    []vote.Candidate
		evidence      string
		unmet         []string
	}{
		{"names of tables and columns", "What is the total of the orders of each customer?",
			samples("SELECT SUM(total) FROM orders GROUP BY customerId"), "", nil},
		{"a word for which there is nothing", "What is the humidity?", samples("SELECT AVG(total) FROM orders"), "",
			[]string{"humidity"}},
		// no word of English alone
		{"as it was asked, once", "Humidities by Humidity?", samples("SELECT AVG(total) FROM orders"), "", nil},
		{"in the plural", "Which humidities, and what humidity?", samples("SELECT AVG(total) FROM orders"), "",
			[]string{"humidities"}},
		{"a constant of the answer", "What did humidity cost?",
			samples("SELECT SUM(total) FROM orders WHERE id = 'humidity'"), "", []string{"cost"}},
		{"a constant that no row has", "What is the humidity?", absent, "", []string{"humidity"}},
		{"another form of the word", "Which orders were totalled?", samples("SELECT total FROM orders"), "", nil},
		{"a description", "Where do they live?", samples("SELECT country FROM customers"), "", nil},
		{"an alias is made up", "What is the humidity?", samples("SELECT AVG(total) AS humidity FROM orders"), "",
			[]string{"humidity"}},
		{"as is a table that there is not", "What is the humidity?",
			[]vote.Candidate{{SQL: "SELECT humidity FROM humidity", Rejected: "no such table"}}, "",
			[]string{"humidity"}},
		{"a stored value", "How many are wholesale?", samples("SELECT COUNT(*) FROM customers WHERE segment = 'x'"), "", nil},
		{"no value of a sensitive column", "Who is topsecret?", samples("SELECT id FROM customers"), "",
			[]string{"topsecret"}},
		{"what the evidence explains", "What is the humidity?", samples("SELECT AVG(total) FROM orders"),
			"humidity is the total", nil},
		{"synonyms", "What is the turnover of purchases?", samples("SELECT SUM(total) FROM orders"), "", nil},
		{"terms", "Which are Nordic?", samples("SELECT id FROM customers WHERE country = 'NO'"), "", nil},
		{"numbers are not unmet", "Which orders were 42?", samples("SELECT id FROM orders"), "", nil},
		{"no statement", "What is the humidity of an order?", []vote.Candidate{{Rejected: "no SQL"}}, "",
			[]string{"humidity"}},
	} {
		q := answerable.Question{Text: test.question, Evidence: test.evidence, Candidates: test.candidates, Schema: shop,
			Knowledge: words, Dialect: sqltext.SQLite()}
		t.Run(test.why, func(t *testing.T) { golden.Equal(t, test.unmet, q.Answerable().Unmet) })
	}
}

// TestFeatures: samples are compared by text within their kind, and those that passed no check do not elect where
// others did.
func TestFeatures(t *testing.T) {
	sum, bad := "SELECT SUM(total) FROM orders", vote.Candidate{SQL: "SELECT x FROM y", Rejected: "no such table",
		Invalid: true}
	compiled := vote.Candidate{SQL: "SELECT SUM(o.total) FROM orders AS o", Metrics: []string{"revenue"}}
	plain := vote.Candidate{SQL: sum}
	for _, test := range []struct {
		why             string
		candidates      []vote.Candidate
		texts, compiles float64
	}{
		{"all equal, blanks and case apart", samples(sum, "select  sum(TOTAL)\nfrom orders"), 1, 1},
		{"half", samples(sum, "SELECT 1"), 0.5, 1},
		{"broken ones do not elect", []vote.Candidate{bad, bad, plain}, 1.0 / 3, 1.0 / 3},
		{"where all are broken they do", []vote.Candidate{bad, bad, {Rejected: "no SQL"}}, 2.0 / 3, 0},
		{"requests and statements apart", []vote.Candidate{compiled, plain, compiled, plain}, 1, 1},
		{"no statement", []vote.Candidate{{Rejected: "no SQL"}}, 0, 0},
		{"nothing", nil, 0, 0},
	} {
		f := answerable.Question{Text: "What is the total of orders?", Candidates: test.candidates, Schema: shop,
			Dialect: sqltext.SQLite()}.Features()
		if f.Texts != test.texts || f.Compiles != test.compiles {
			t.Errorf("%s: %+v", test.why, f)
		}
	}
	for question, beyond := range map[string]float64{"Predict the total of orders": 1, "What is the total of orders?": 0,
		"Plot the totals of orders": 1} {
		if f := (answerable.Question{Text: question, Candidates: samples(sum), Schema: shop,
			Dialect: sqltext.SQLite()}).Features(); f.Beyond != beyond {
			t.Errorf("%s: %+v", question, f)
		}
	}
}

// TestNearest: misspelt words and what the rest of the question touches come first; the list is short and without
// denied columns, since the schema has none.
func TestNearest(t *testing.T) {
	for question, want := range map[string]string{
		"What is the sgement of the customers?": "customers.segment",
		"What was the tturnover of the orders?": "revenue",
		"What is the humidity?":                 "",
	} {
		got := answerable.Question{Text: question, Candidates: samples("SELECT 1"), Schema: shop, Knowledge: words,
			Dialect: sqltext.SQLite()}.Answerable().Nearest()
		if len(got) > 5 || want == "" && len(got) > 0 || want != "" && (len(got) == 0 || got[0] != want) {
			t.Errorf("%s: %v, want %s first", question, got, want)
		}
	}
}

func FuzzAnswerable(f *testing.F) {
	f.Add("What is the humidity?", "SELECT 1")
	f.Add("Wie viele?", "SELECT 'x")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, question, sql string) {
		q := answerable.Question{Text: question, Candidates: samples(sql), Schema: shop, Knowledge: words,
			Dialect: sqltext.SQLite()}
		if a := q.Answerable(); !(a.Score >= 0 && a.Score <= 1) || len(a.Nearest()) > 5 {
			t.Errorf("%+v", a)
		}
	})
}

// A word without a name or a constant in the answer lowers the score, and is told.
func ExampleQuestion_Answerable() {
	q := answerable.Question{
		Text: "What was the humidity of each order?", Schema: shop, Dialect: sqltext.SQLite(),
		Candidates: samples("SELECT total FROM orders", "SELECT orderedAt FROM orders", "SELECT id, total FROM orders"),
	}
	a := q.Answerable()
	fmt.Printf("%.2f %v %v\n", a.Score, a.Unmet, a.Nearest())
	// Output: 0.04 [humidity] [orders.orderedAt orders.id orders.total orders.customerId]
}
