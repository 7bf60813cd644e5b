package askedrules_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/internal/askedrules"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/vote"
)

// TestPossibleAsked: a statement can break a rule about requested things only if the question requests one.
func TestPossibleAsked(t *testing.T) {
	rules := doubt.Rules{List: askedrules.Asked()}
	for question, want := range map[string]float64{
		"How many singers are there?":         3 + 2, // no_aggregate, limit
		"How many singers are there by city?": 3 + 2, // no_group, limit
		"Who are the top 3 singers?":          3 + 2, // no_order, limit
		"List the singers":                    1 + 2, // aggregate, limit
		"Welche Sänger gibt es?":              0,
	} {
		golden.Equal(t, want, rules.SpreadAbout(rules.Read(question, ""), vote.Candidate{}), question)
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
		{"How many singers are there?", "SELECT name FROM singer", 3, []string{"value_rows", "no_aggregate"},
			"a list in place of a number"},
		{"How many singers are there?", "SELECT count(*) FROM singer GROUP BY country", 3, []string{"value_rows"},
			"several numbers"},
		{"What is the average age per country?", "SELECT avg(age) FROM singer", 1, []string{"no_group"}, "nothing grouped"},
		{"What is the average age per country?", "SELECT avg(age) OVER (PARTITION BY country) FROM singer", 3, nil,
			"a window groups"},
		{"What is the average age per country?", "SELECT DISTINCT country, mean FROM ages", 3, nil,
			"distinct rows are groups"},
		{"Who is the best singer?", "SELECT name FROM singer", 1, []string{"no_order"}, "a ranking without order"},
		{"Who is the best singer?", "SELECT name FROM singer WHERE score = (SELECT max(score) FROM singer)", 1, nil,
			"max ranks"},
		{"Which are the singers of the band?", "SELECT name FROM singer LIMIT 10", 3, []string{"limit"}, "cut off"},
		{"Show the singers sorted by age, please", "SELECT name FROM singer ORDER BY age LIMIT 10", 3, nil,
			"an order may be cut"},
		{"Which are the singers of the band?", "SELECT count(*) FROM singer", 1, []string{"aggregate"},
			"a number in place of a list"},
		{"Welche Sänger gibt es?", "SELECT count(*) FROM singer LIMIT 1", 1, nil, "words of another language are not read"},
	} {
		var got []string
		for _, f := range (doubt.Rules{List: askedrules.Asked()}).Find(tt.question, "", vote.Candidate{SQL: tt.sql},
			rows(tt.rows)) {
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
		found := doubt.Rules{List: []doubt.Rule{askedrules.Absent("France")}}.Find("q", "", vote.Candidate{SQL: sql}, nil)
		if len(found) > 0 != absent {
			t.Errorf("%s: %v", sql, found)
		}
	}
}

// The rules of an agent doubt a list in place of a number, and a value that is not used.
func ExampleAsked() {
	rules := doubt.Rules{List: append(askedrules.Asked(), askedrules.Absent("France"))}
	for _, f := range rules.Find("How many singers from France are there?", "",
		vote.Candidate{SQL: "SELECT name FROM singer LIMIT 5"}, nil) {
		fmt.Println(f.Rule, f.Doubt)
	}
	// Output:
	// no_aggregate 3
	// limit 2
	// value_absent 2
}
