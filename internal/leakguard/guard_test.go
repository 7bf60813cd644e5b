package leakguard_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/leakguard"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/sqltext"
)

func TestGuard(t *testing.T) {
	test := []memory.Exemplar{
		{Question: "How many orders came from France in 2004?",
			SQL: "SELECT COUNT(*) FROM orders o JOIN customers c ON o.customer = c.id WHERE c.country = 'France' " +
				"AND o.year = 2004;"},
		{Question: "Which customers are from New Zealand?", SQL: "SELECT name FROM customers WHERE country = 'New Zealand'"},
		{Question: "Who sold most?", SQL: ""},
	}
	for _, tt := range []struct {
		why    string
		pair   memory.Exemplar
		want   string
		places []int
	}{
		{"verbatim", test[0], "same_question", []int{0}},
		{"another case, white space and statement", memory.Exemplar{Question: " how many ORDERS came from\nFrance in 2004?",
			SQL: "SELECT 1"},
			"same_question", []int{0}},
		{"other values", memory.Exemplar{Question: "How many orders came from Norway in 2005?",
			SQL: "SELECT COUNT(*) FROM sales WHERE land = 'Norway' AND year = 2005"},
			"question_template", []int{0}},
		{"a value of fewer words", memory.Exemplar{Question: "Which customers are from Peru?",
			SQL: "SELECT 1 FROM t WHERE x = 'Peru'"},
			"question_template", []int{1}},
		{"other punctuation", memory.Exemplar{Question: "Which customers are from 'Peru'",
			SQL: "SELECT 1 FROM t WHERE x = 'Peru'"}, "question_template", []int{1}},
		{"other words and aliases, the same statement", memory.Exemplar{Question: "Count French orders",
			SQL: "select count(*) from Orders AS a join Customers AS b on a.customer = b.id where b.country = 'Spain' and " +
				"a.year = 1 -- x"},
			"sql_template", []int{0}},
		{"two leaks: the plainest one, both places", memory.Exemplar{Question: "Who sold most?",
			SQL: "SELECT name FROM customers WHERE country = 'Chile'"},
			"same_question", []int{1, 2}},
		{"another column", memory.Exemplar{Question: "Their cities?",
			SQL: "SELECT city FROM customers WHERE country = 'Chile'"}, "", nil},
		{"no statement shares nothing with no statement", memory.Exemplar{Question: "Who bought most?"}, "", nil},
		{"a value that is no literal stays a word", memory.Exemplar{Question: "Which customers are from the north?",
			SQL: "SELECT a FROM t"}, "", nil},
	} {
		leak, places := leakguard.New(sqltext.SQLite(), test).Find(tt.pair)
		if diff := cmp.Diff(tt.places, places); leak != tt.want || diff != "" {
			t.Errorf("%s: %q, want %q; places (-want +got):\n%s", tt.why, leak, tt.want, diff)
		}
	}
	if leak, places := leakguard.New(sqltext.SQLite(), nil).Find(test[0]); leak != "" || places != nil {
		t.Errorf("an empty guard found %q, %v", leak, places)
	}
}

func ExampleNew() {
	evaluation := []memory.Exemplar{{Question: "Orders from France?",
		SQL: "SELECT id FROM orders WHERE country = 'France'"}}
	guard := leakguard.New(sqltext.SQLite(), evaluation)
	leak, _ := guard.Find(memory.Exemplar{Question: "Orders from Norway?",
		SQL: "SELECT id FROM orders WHERE country = 'Norway'"})
	fmt.Println(leak)
	// Output: question_template
}
