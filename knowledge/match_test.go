package knowledge_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// TestMatch: a verified question is the same text, but for its parameters.
func TestMatch(t *testing.T) {
	v := knowledge.VerifiedQuery{
		Question: "How many 2004 orders of ACME Ltd. came from Norway in 2004?",
		Params: []knowledge.Param{{Name: "year", Default: "2004"}, {Name: "who", Default: "ACME Ltd."},
			{Name: "unsaid", Default: "Sweden"}},
	}
	for _, test := range []struct {
		why, question string
		values        map[string]string // nil: no match
	}{
		{"the question itself", v.Question, map[string]string{"year": "2004", "who": "ACME Ltd."}},
		{"case, blanks and the last mark", " how many 2004  orders of acme ltd. CAME from norway\nin 2004 ",
			map[string]string{"year": "2004", "who": "ACME Ltd."}},
		{"other values, as they are written", "How many 2005 orders of Zed & co came from Norway in 2005?",
			map[string]string{"year": "2005", "who": "Zed & co"}},
		{"two values for one parameter", "How many 2005 orders of Zed came from Norway in 2006?", nil},
		{"a constant that is no parameter", "How many 2004 orders of ACME Ltd. came from Sweden in 2004?", nil},
		{"a value without a text", "How many 2004 orders of  came from Norway in 2004?", nil},
		{"words in front", "Tell me how many 2004 orders of ACME Ltd. came from Norway in 2004?", nil},
		{"words behind", v.Question + " And why?", nil},
		{"what is an expression to a pattern", "How many .* orders of .* came from Norway in .*?",
			map[string]string{"year": ".*", "who": ".*"}},
	} {
		values, ok := v.Match(test.question)
		if ok != (test.values != nil) {
			t.Errorf("%s: %t %v", test.why, ok, values)
		} else if ok {
			golden.Equal(t, test.values, values, test.why)
		}
	}
	inside := knowledge.VerifiedQuery{Question: "Sales of Northwind?",
		Params: []knowledge.Param{{Name: "n", Default: "North"}}}
	if _, ok := inside.Match("Sales of Southwind?"); ok {
		t.Error("a parameter is a part of a word")
	}
}

// TestParameterized: a constant is a parameter where nothing else of the statement may depend on it.
func TestParameterized(t *testing.T) {
	s := &schema.Schema{Tables: []schema.Table{
		{Name: "customers", Columns: []schema.Column{{Name: "id"}, {Name: "country"}, {Name: "currency"}, {Name: "segment"}}},
		{Name: "orders", Columns: []schema.Column{{Name: "id"}, {Name: "customer_id"}}}}}
	for _, test := range []struct{ why, question, sql, params string }{
		{"a text", "How many are from Norway?", "SELECT COUNT(*) FROM customers WHERE country = 'Norway'",
			"customers.country"},
		{"a number", "Where does customer 42 live?", "SELECT country FROM customers WHERE id = 42", "customers.id"},
		{"two", "Is customer 42 from Norway?", "SELECT COUNT(*) > 0 FROM customers WHERE id = 42 AND country = 'Norway'",
			"customers.country customers.id"},
		{"through a join", "Orders from Norway?",
			"SELECT o.id FROM orders AS o JOIN customers AS c ON c.id = o.customer_id WHERE c.country = 'Norway'",
			"customers.country"},
		{"a constant that may depend on it", "Who is from Norway?",
			"SELECT id FROM customers WHERE country = 'Norway' AND currency = 'NOK'", ""},
		{"it stands twice in the question", "The 2 first of segment 2?", "SELECT id FROM customers WHERE segment = 2 LIMIT 2",
			""},
		{"it stands twice in the statement", "Segment 2?", "SELECT id FROM customers WHERE segment = 2 LIMIT 2", ""},
		{"a bound of a range", "Customers over 42?", "SELECT id FROM customers WHERE id > 42", ""},
		{"inside of a function", "From norway?", "SELECT id FROM customers WHERE lower(country) = 'norway'", ""},
		{"of which table nobody knows", "Number 42?", "SELECT 3 FROM orders, customers WHERE id = 42", ""},
		{"a part of a word", "Norwegians?", "SELECT id FROM customers WHERE country = 'Norw'", ""},
	} {
		v := knowledge.VerifiedQuery{Question: test.question, SQL: test.sql}.Parameterized(s, sqltext.SQLite())
		var columns []string
		for _, p := range v.Params {
			columns = append(columns, p.Column)
		}
		if got := strings.Join(columns, " "); got != test.params || test.params == "" && v.SQL != test.sql {
			t.Errorf("%s: %q, %s", test.why, got, v.SQL)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("Who is from Norway?", "Norway", "who is from Sweden")
	f.Add("((", "(", "))")
	f.Fuzz(func(t *testing.T, question, text, asked string) {
		v := knowledge.VerifiedQuery{Question: question, Params: []knowledge.Param{{Name: "p", Default: text}}}
		v.Match(asked)
		without := !strings.Contains(strings.ToLower(question), strings.ToLower(text))
		if _, ok := v.Match(question); !ok && without && strings.TrimSpace(strings.Trim(question, "?!. ")) != "" {
			t.Errorf("%q is not itself", question)
		}
	})
}
