package doubt

import (
	"slices"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

// TestCarried: which conditions of earlier questions are doubted in the statement of a later one.
func TestCarried(t *testing.T) {
	const (
		france = "SELECT count(*) FROM customers WHERE country = 'France'"
		kept   = "SELECT count(*) FROM orders WHERE country = 'France'"
	)
	for _, tt := range []struct {
		why, question string
		earlier       []string
		sql           string
		want          bool
	}{
		{"nothing asks for France", "How many orders were placed last year?", []string{france}, kept, true},
		{"nothing came before", "How many orders were placed last year?", nil, kept, false},
		{"it is named", "How many orders came from France?", []string{france}, kept, false},
		{"by its first letters", "How many French orders came?", []string{france},
			"SELECT 1 FROM orders WHERE nation = 'Fren'", false},
		{"another form of its name", "How many orders came from Francia?", []string{france}, kept, false},
		{"too short to say", "How many orders?", []string{france}, kept, false},
		{"it refers to them", "How many orders do they have?", []string{france}, kept, false},
		{"it refers, and means all", "How many orders do they have in total?", []string{france}, kept, true},
		{"this year refers to nothing", "What is the net revenue this year?", []string{france}, kept, true},
		{"a follow-up begins with and", "And how many in this year?", []string{france}, kept, false},
		{"too short besides", "How many orders this year?", []string{france}, kept, false},
		{"an order of what was shown", "Order by the number of orders please", []string{france}, kept, false},
		{"the condition is dropped", "How many orders were placed last year?", []string{france},
			"SELECT count(*) FROM orders", false},
		{"another value", "How many orders were placed last year?", []string{france},
			"SELECT count(*) FROM orders WHERE country = 'Spain'", false},
		{"only the last question counts", "How many orders were placed last year?",
			[]string{france, "SELECT count(*) FROM customers"}, kept, false},
		{"a condition of all belongs to the data", "How many orders were placed last year?", []string{france, france}, kept,
			false},
		{"of the last one alone", "How many orders were placed last year?", []string{"SELECT count(*) FROM customers",
			france}, kept, true},
		{"a year of a day", "How many orders were placed in 2003?",
			[]string{"SELECT 1 FROM orders WHERE day >= '2003-01-01'"}, "SELECT 2 FROM orders WHERE day >= '2003-01-01'", false},
		{"another year", "How many orders were placed in 2004?",
			[]string{"SELECT 1 FROM orders WHERE day >= '2003-01-01'"}, "SELECT 2 FROM orders WHERE day >= '2003-01-01'", true},
		{"a pattern", "How many orders of the Smith family came?",
			[]string{"SELECT 1 FROM c WHERE name LIKE '%smith%'"}, "SELECT 2 FROM c WHERE name LIKE '%smith%'", false},
		{"a value of nothing", "How many orders were placed last year?",
			[]string{"SELECT 1 FROM c WHERE name LIKE '%'"}, "SELECT 2 FROM c WHERE name LIKE '%'", false},
	} {
		var earlier []*sqltext.Statement
		for _, sql := range tt.earlier {
			earlier = append(earlier, sqltext.SQLite().Parse(sql))
		}
		rules := Rules{List: []Rule{carried(tt.question, earlier)}}
		golden.Equal(t, tt.want, len(rules.Find(tt.question, "", vote.Candidate{SQL: tt.sql}, nil)) > 0, tt.why)
	}
}

// TestPossibleByWords: what a question says decides whether a rule can be broken at all.
func TestPossibleByWords(t *testing.T) {
	for name, questions := range map[string][2]string{ // where it can, and where it cannot
		"star":      {"Which singers are there?", "Show all information about the singers"},
		"sum":       {"What is the total age of the singers?", "Which singers are there?"},
		"count_top": {"Which singers are French?", "How many singers are there?"},
	} {
		all := defaultRules()
		rule := all[slices.IndexFunc(all, func(r Rule) bool { return r.Name == name })]
		for i, question := range questions {
			golden.Equal(t, i == 0, rule.Possible(Rules{}.Read(question, ""), vote.Candidate{}), name+": "+question)
		}
	}
}
