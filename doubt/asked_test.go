package doubt_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/vote"
)

func TestAsks(t *testing.T) {
	for _, tt := range []struct {
		question, asks string
		sorted         bool
		why            string
	}{
		{"Which customers live in a country of the north?", "list", false, "a country is not counted"},
		{"How many customers are there?", "value", false, "how many is"},
		{"Show the first name and the last name of the singers", "list", false, "a first name is no ranking"},
		{"Show the first 20 customers", "ranking", true, "the first of a number are"},
		{"Which singers have at least 3 songs?", "list", false, "at least is a bound"},
		{"Which singers have the least songs?", "ranking", true, "least is not"},
		{"What is the average age per country?", "groups", false, "per"},
		{"Show the number of orders by status", "groups", false, "a number by something"},
		{"Count the pets that are raised by students", "value", false, "who does it is no group"},
		{"List each singer", "list", false, "each without a number"},
		{"What is the average age of each singer?", "groups", false, "each with one"},
		{"List the customers and how many orders they have", "groups", false, "a number beside things"},
		{"What is the average age and the total weight?", "value", false, "two numbers"},
		{"Which singers are older than the average?", "list", false, "a bound"},
		{"List the singers sorted by age", "list", true, "an order is no ranking"},
		{"Wie viele Kunden gibt es?", "", false, "another language"},
	} {
		q := doubt.Rules{}.Read(tt.question, "")
		if q.Asks != tt.asks || q.Sorted != tt.sorted {
			t.Errorf("%s: %q asks for %q, sorted %v; want %q, %v", tt.why, tt.question, q.Asks, q.Sorted, tt.asks, tt.sorted)
		}
	}
}

func TestPhrases(t *testing.T) {
	for _, tt := range []struct {
		question        string
		phrases, theirs []string
		why             string
	}{
		{"Show the product codes, names & prices for all products", []string{"product codes", "names", "prices"}, nil, "a list"},
		{"Customers in France with their credit limits", []string{"customers"}, []string{"credit limits"}, "no word asks"},
		{"List customers and their cities and phones", []string{"customers"}, []string{"cities", "phones"}, "behind their"},
		{"List customers with their credit limits above 50000", []string{"customers"}, nil, "what is compared is a filter"},
		{"Show the", nil, nil, "nothing is named"},
		{"Kunden und Orte", nil, nil, "another language"},
	} {
		q := doubt.Rules{}.Read(tt.question, "")
		if diff := cmp.Diff([][]string{tt.phrases, tt.theirs}, [][]string{q.Phrases, q.Theirs}); diff != "" {
			t.Errorf("%s: %s", tt.why, diff)
		}
	}
}

func TestNumbers(t *testing.T) {
	for question, want := range map[string][]string{
		"orders over 50,000, in 2004.":         {"50000", "2004"},
		"between 2004 and 2004":                {"2004"},
		"in 2003-01, 12 times, 1,23 and x1000": {"2003"},
		"2.500 or 2500.5":                      nil,
		"":                                     nil,
	} {
		if diff := cmp.Diff(want, doubt.Rules{}.Read(question, "").Numbers()); diff != "" {
			t.Errorf("%q: %s", question, diff)
		}
	}
}

func TestAsked(t *testing.T) {
	rows := func(n int) *result.Table {
		t := &result.Table{Columns: []string{"x"}}
		for i := range n {
			t.Rows = append(t.Rows, []any{int64(i)})
		}
		return t
	}
	for _, tt := range []struct {
		question, sql string
		rows          int
		want          []string
		why           string
	}{
		{"How many singers are there?", "SELECT count(*) FROM singer", 1, nil, "right"},
		{"How many singers are there?", "SELECT name FROM singer", 3, []string{"value_rows", "no_aggregate"}, "a list in place of a number"},
		{"How many singers are there?", "SELECT count(*) FROM singer GROUP BY country", 3, []string{"value_rows"}, "several numbers"},
		{"What is the average age per country?", "SELECT avg(age) FROM singer", 1, []string{"no_group"}, "nothing grouped"},
		{"What is the average age per country?", "SELECT avg(age) OVER (PARTITION BY country) FROM singer", 3, nil, "a window groups"},
		{"What is the average age per country?", "SELECT DISTINCT country, mean FROM ages", 3, nil, "distinct rows are groups"},
		{"Who is the best singer?", "SELECT name FROM singer", 1, []string{"no_order"}, "a ranking without order"},
		{"Who is the best singer?", "SELECT name FROM singer WHERE score = (SELECT max(score) FROM singer)", 1, nil, "max ranks"},
		{"Which are the singers of the band?", "SELECT name FROM singer LIMIT 10", 3, []string{"limit"}, "cut off"},
		{"Show the singers sorted by age, please", "SELECT name FROM singer ORDER BY age LIMIT 10", 3, nil, "an order may be cut"},
		{"Which are the singers of the band?", "SELECT count(*) FROM singer", 1, []string{"aggregate"}, "a number in place of a list"},
		{"Welche Sänger gibt es?", "SELECT count(*) FROM singer LIMIT 1", 1, nil, "words of another language are not read"},
	} {
		var got []string
		for _, f := range (doubt.Rules{List: doubt.Asked()}).Find(tt.question, "", vote.Candidate{SQL: tt.sql}, rows(tt.rows)) {
			got = append(got, f.Rule)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.why, diff)
		}
	}
}

func TestAbsent(t *testing.T) {
	for sql, absent := range map[string]bool{
		"SELECT a FROM t WHERE b = 'France'":      false,
		"SELECT a FROM t WHERE b LIKE '%france%'": false,
		`SELECT a FROM t WHERE b = "France"`:      false,
		"SELECT France FROM t":                    true,
		"SELECT a FROM t -- France":               true,
	} {
		found := doubt.Rules{List: []doubt.Rule{doubt.Absent("France")}}.Find("q", "", vote.Candidate{SQL: sql}, nil)
		if len(found) > 0 != absent {
			t.Errorf("%s: %v", sql, found)
		}
	}
}

// The rules of an agent doubt a list in place of a number, and a value that is not used.
func ExampleAsked() {
	rules := doubt.Rules{List: append(doubt.Asked(), doubt.Absent("France"))}
	for _, f := range rules.Find("How many singers from France are there?", "", vote.Candidate{SQL: "SELECT name FROM singer LIMIT 5"}, nil) {
		fmt.Println(f.Rule, f.Doubt)
	}
	// Output:
	// no_aggregate 3
	// limit 2
	// value_absent 2
}
