package doubt

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/vote"
)

// table makes a result of text cells: rows by ";", cells by ",". "-" is NULL.
func table(columns int, text string) *result.Table {
	t := &result.Table{Columns: make([]string, columns)}
	if text == "" {
		return t
	}
	for _, line := range strings.Split(text, ";") {
		row := make([]any, columns)
		for i, cell := range strings.SplitN(line, ",", columns) {
			if cell != "-" {
				row[i] = cell
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func TestRules(t *testing.T) {
	const who = "What is the name of the oldest singer?"
	tests := []struct {
		rule     string
		why      string
		question string
		evidence string
		sql      string
		table    *result.Table
		broken   bool
	}{
		{"empty", "no rows", who, "", "SELECT name FROM singer", table(1, ""), true},
		{"empty", "rows", who, "", "SELECT name FROM singer", table(1, "Joe"), false},
		{"empty", "not executed: nothing is known", who, "", "SELECT name FROM singer", nil, false},
		{"empty", "nothing but NULL", who, "", "SELECT max(age) FROM singer", table(1, "-"), true},
		{"any_null", "a NULL", who, "", "SELECT name, age FROM singer", table(2, "Joe,-"), true},
		{"any_null", "a NULL in a listing", who, "", "SELECT name, age FROM singer", table(2, "Joe,-;Jim,1"), false},
		{"any_null", "a row of nobody", who, "", "SELECT name, age FROM singer", table(2, "Joe,2;-,1"), true},
		{"any_null", "alone it is no value at all", who, "", "SELECT max(age) FROM singer", table(1, "-"), false},
		{"any_null", "an empty text is a value", who, "", "SELECT name FROM singer", table(1, ";Joe"), false},

		{"how_many", "a list instead of a number", "How many singers are there?", "", "SELECT 1 FROM singer", table(1, "1;2"),
			true},
		{"how_many", "one number", "How many singers are there?", "", "SELECT count(*) FROM singer", table(1, "7"), false},
		{"how_many", "a number each", "How many singers are there in each country?", "", "SELECT 1", table(2, "a,1;b,2"),
			false},
		{"how_many", "another language", "Wie viele Sänger gibt es?", "", "SELECT 1", table(1, "1;2"), false},

		{"more_columns", "three instead of one", who, "", "SELECT name, age, country FROM singer", table(3, "a,b,c"), true},
		{"more_columns", "as many as asked", "List name and age of the singers.", "", "SELECT name, age FROM singer",
			table(2, "a,b"), false},
		{"more_columns", "fewer", "List name and age of the singers.", "", "SELECT name FROM singer", table(1, "a"), false},
		{"more_columns", "everything asked", "Show all information about the singers.", "", "SELECT * FROM singer",
			table(9, "a"), false},
		{"more_columns", "records: columns are open", "List orders for customers in Spain.", "", "SELECT a, b, c FROM orders",
			table(3, "a,b,c"), false},
		{"more_columns", "the noun is no last word", "Which suppliers deliver laptops?", "",
			"SELECT id, name, city FROM suppliers", table(3, "a,b,c"), false},
		{"more_columns", "of another table", "List orders for customers in Spain.", "", "SELECT a, b, c FROM customers",
			table(3, "a,b,c"), true},
		{"more_columns", "a key or a name beside the total", "List orders and totals for Spain.", "",
			"SELECT a, b, c FROM orders", table(3, "a,b,c"), false},
		{"more_columns", "but no more than that", "List orders and totals for Spain.", "", "SELECT a, b, c, d FROM orders",
			table(4, "a,b,c,d"), true},
		{"more_columns", "what they own is asked for", "Name the customers' phones.", "", "SELECT name, phone FROM customers",
			table(2, "a,b"), true},
		{"more_columns", "a number of records is one number", "How many orders are there?", "", "SELECT a, b FROM orders",
			table(2, "a,b"), true},
		{"more_columns", "not orders are asked for", "Customers who have orders", "", "SELECT a, b FROM orders",
			table(2, "a,b"), true},
		{"more_columns", "a person is no column", "Who earns the most?", "", "SELECT id, name, salary FROM staff",
			table(3, "a,b,c"), false},
		{"more_columns", "the group beside its measure", "Show revenue by month for 2024", "",
			"SELECT m, sum(x) FROM sales GROUP BY m", table(2, "a,b"), false},
		{"more_columns", "two groups", "Show revenue by month and region", "", "SELECT m, r, sum(x) FROM sales GROUP BY m, r",
			table(3, "a,b,c"), false},
		{"more_columns", "three instead of group and measure", "Show revenue by month", "",
			"SELECT m, r, sum(x) FROM sales GROUP BY m, r", table(3, "a,b,c"), true},
		{"more_columns", "an order, no group", "Show the revenue sorted by month", "", "SELECT m, x FROM sales ORDER BY m",
			table(2, "a,b"), true},
		{"more_columns", "how much is a measure", "How much did we collect each month?", "",
			"SELECT m, sum(x) FROM sales GROUP BY m", table(2, "a,b"), false},
		{"more_columns", "a second question", "Which country has how many customers?", "",
			"SELECT a, count(*) FROM customers GROUP BY 1", table(2, "a,b"), false},
		{"more_columns", "another language", "Zeige die Umsätze", "", "SELECT a, b, c FROM orders", table(3, "a,b,c"), false},
		{"more_columns", "a name may be two columns", "What is the name of the oldest one?", "",
			"SELECT first_name, last_name FROM staff", table(2, "a,b"), false},
		{"more_columns", "one of the two is asked", "What is the last name of the oldest one?", "",
			"SELECT firstName, lastName FROM staff", table(2, "a,b"), true},
		{"more_columns", "an attribute is no thing", "List the names of customers.", "", "SELECT name, city FROM customers",
			table(2, "a,b"), true},
		{"more_columns", "not executed", who, "", "SELECT name, age, country FROM singer", nil, false},

		{"star", "all columns, one asked", who, "", "SELECT * FROM singer", table(1, "a"), true},
		{"star", "of one table", who, "", "SELECT s.* FROM singer s", table(1, "a"), true},
		{"star", "COUNT(*) is no star", "How many singers are there?", "", "SELECT count(*) FROM singer", table(1, "1"),
			false},
		{"star", "inside", who, "", "SELECT name FROM (SELECT * FROM singer)", table(1, "a"), false},
		{"star", "records", "Show me the open orders", "", "SELECT * FROM orders", table(3, "a,b,-;d,e,f"), false},
		{"star", "records and something else", "Show the orders and totals", "", "SELECT * FROM orders", table(3, "a,b,c"),
			true},
		{"star", "whether it is so", "Do we have customers in Kenya?", "", "SELECT * FROM customers", table(3, "a,b,c"),
			false},
		{"star", "asked for", "Show all the details of the singers.", "", "SELECT * FROM singer", table(1, "a"), false},

		{"sum", "a total without a sum", "What is the total revenue of the shop?", "", "SELECT revenue FROM shop", nil, true},
		{"sum", "summed", "What is the total revenue of the shop?", "", "SELECT sum(revenue) FROM shop", nil, false},
		{"sum", "summed inside", "What is the overall revenue of the shop?", "",
			"SELECT x FROM (SELECT sum(revenue) x FROM shop)", nil, false},
		{"sum", "a total number is counted", "What is the total number of shops?", "", "SELECT max(n) FROM shop", nil, false},
		{"sum", "a measure of one thing", "How much does the youngest dog weigh?", "", "SELECT weight FROM pets", nil, false},

		{"sum", "the total of one row", "What is the total of order 17?", "",
			"SELECT total_gross FROM orders WHERE id = 17",
			table(1, "9"), false},
		{"sum", "what one cost", "How much did order 17 cost?", "", "SELECT gross FROM orders WHERE id = 17",
			table(1, "9"),
			false},
		{"sum", "how much in all", "How much did we earn in 2024?", "", "SELECT gross FROM orders", table(1, "9;8"),
			true},
		{"sum", "rows by their total", "orders whose total is 500", "", "SELECT id, day FROM orders WHERE total = 500",
			table(2, "1,a;2,b"), false},
		{"sum", "over a total", "orders with a total over 500", "", "SELECT id FROM orders o JOIN t ON t.id = o.t",
			table(1, "1;2"), false},
		{"sum", "rows with their total", "Show the date and total of the orders in May", "",
			"SELECT day, total_gross FROM orders",
			table(2, "a,1;b,2"), false},
		{"sum", "rows in place of the total", "What is the total revenue in 2024?", "",
			"SELECT id, total_net FROM orders",
			table(2, "1,1;2,2"), true},
		{"sum", "the highest one in place of the total", "What is the total revenue in 2024?", "",
			"SELECT max(total_net) FROM orders", table(1, "9"), true},
		{"sum", "the lowest total of an order", "What was the lowest order total in 2024?", "",
			"SELECT min(total_gross) FROM orders", table(1, "9"), false},
		{"sum", "an average in place of the lowest", "What was the lowest order total in 2024?", "",
			"SELECT avg(total_gross) FROM orders", table(1, "9"), true},
		{"sum", "the highest total of an order", "What was the highest order total in 2024?", "",
			"SELECT id, total_gross FROM orders ORDER BY total_gross DESC LIMIT 1", table(2, "7,9"), false},
		{"sum", "an order without a limit", "What was the overall order total in 2024?", "",
			"SELECT id, total_gross FROM orders ORDER BY total_gross DESC", table(2, "7,9;8,8"), true},
		{"sum", "the average of totals", "Which customer has the highest average total per order?", "",
			"SELECT customer, avg(o.total_net) AS a FROM orders o GROUP BY customer ORDER BY a DESC LIMIT 1",
			table(2, "Ann,9"), false},
		{"sum", "the average in place of the total", "What is the total of each customer?", "",
			"SELECT customer, avg(total_net) FROM orders GROUP BY customer", table(2, "Ann,9;Bo,8"), true},
		{"sum", "a total of each", "Show the total per country", "", "SELECT country, total FROM orders", table(2,
			"a,1;b,2"), true},

		{"group_bare", "numbers of what?", "How many songs per singer?", "", "SELECT count(*) FROM song GROUP BY singer", nil,
			true},
		{"group_bare", "with the group", "How many songs per singer?", "",
			"SELECT singer, count(*) FROM song GROUP BY singer", nil, false},
		{"group_bare", "with every column", "How many songs per singer?", "", "SELECT count(*), * FROM song GROUP BY singer",
			nil, false},
		{"group_bare", "with an expression for it", "How many songs per year?", "",
			"SELECT substr(d, 1, 4), count(*) FROM song GROUP BY 1", nil, false},
		{"group_bare", "in any language", "Wie viele Lieder je Sänger?", "", "SELECT count(*) FROM song GROUP BY singer", nil,
			true},
		{"group_bare", "the group alone", who, "", "SELECT singer FROM song GROUP BY singer", nil, false},

		{"count_top", "a count that nobody asked for", who, "", "SELECT name, count(*) FROM singer GROUP BY name", nil, true},
		{"count_top", "asked for", "How many singers are there?", "", "SELECT count(*) FROM singer", nil, false},
		{"count_top", "only to order by", who, "", "SELECT name FROM singer GROUP BY name ORDER BY count(*) DESC LIMIT 1",
			nil, false},
		{"count_top", "a group that is asked for", "Break down the orders by status", "",
			"SELECT status, count(*) FROM orders GROUP BY status", nil, false},
		{"count_top", "grouped by", "customers grouped by country", "",
			"SELECT country, count(*) FROM customers GROUP BY country", nil, false},
		{"count_top", "ordered by it does not group", "Show the songs ordered by singer", "",
			"SELECT singer, count(*) FROM song GROUP BY singer", nil, true},
		{"count_top", "whose work it is does not group", "Show the songs written by Joe", "",
			"SELECT title, count(*) FROM song GROUP BY title", nil, true},
		{"count_top", "to compare is to count", "compare 2003 and 2004", "",
			"SELECT year, count(*) FROM orders GROUP BY year", nil, false},
		{"count_top", "whether there are some", "do we have customers in Kenya", "", "SELECT count(*) FROM customers", nil,
			false},
		{"count_top", "it ranks the names", "Which singer is the most busy?", "",
			"SELECT name, count(*) n FROM song GROUP BY 1 ORDER BY n DESC", nil, false},
		{"count_top", "it filters the names", "In which cities are more than 2?", "",
			"SELECT city, count(*) FROM t GROUP BY 1 HAVING count(*) > 2", nil, false},
		{"count_top", "part of a rate", "What share of the loans is in default?", "",
			"SELECT 100.0 * sum(d) / count(*) FROM loan", nil, false},
		{"count_top", "a number in place of a share", "What share of the loans is in default?", "",
			"SELECT count(*) FROM loan", nil, true},
		{"count_top", "a share needs counts", "What percentage of singers is French?", "",
			"SELECT 100.0 * count(f) / count(*) FROM singer", nil, false},
	}
	names := map[string]int{}
	for _, tt := range tests {
		t.Run(tt.rule+"/"+tt.why, func(t *testing.T) {
			if tt.broken {
				names[tt.rule]++
			}
			got := Rules{}.Find(tt.question, tt.evidence, vote.Candidate{SQL: tt.sql}, tt.table)
			at := slices.IndexFunc(got, func(f vote.Finding) bool { return f.Rule == tt.rule })
			if (at >= 0) != tt.broken {
				t.Fatalf("%s on %q of %q: findings %+v, want broken: %v", tt.rule, tt.sql, tt.question, got, tt.broken)
			}
			if tt.broken && (got[at].Detail == "" || got[at].Doubt != 1) {
				t.Errorf("finding %+v has no detail or not the weight 1", got[at])
			}
		})
	}
	for _, r := range checkedRules() {
		names[r.Name]++ // TestCheckedRules has them
	}
	for _, r := range defaultRules() {
		if names[r.Name] == 0 {
			t.Errorf("no test breaks rule %s", r.Name)
		}
		if r.Source == "" {
			t.Errorf("rule %s has no source", r.Name)
		}
	}
}

func TestCheckedRules(t *testing.T) {
	tests := []struct {
		rule, finding string
		table         *result.Table
		doubt         float64
		why           string
	}{
		{"name_as_string", checks.String, table(1, "nmae;nmae"), 1, "SELECT \"nmae\" FROM customers"},
		{"name_as_string", checks.String, nil, 1, "nothing was run"},
		{"no_table", checks.NoTable, table(1, "I am sorry"), 1, "SELECT 'I am sorry'"},
		{"no_table", checks.NoTable, nil, 1, "nothing was run"},
		{"no_table", checks.NoTable, table(1, "1;2"), 0, "a list of constants"},
		{"absent_value", checks.Absent, table(1, ""), 2, "no rows"},
		{"absent_value", checks.Absent, table(1, "0"), 2, "a count of nothing"},
		{"date", checks.Odd + "date", table(1, "1"), 2, "a date compared as text"},
		{"bare_column", checks.Odd + "bare-column", table(1, "1"), 1, "a column beside groups"},
		{"date", checks.Odd + "date", nil, 0, "nothing was run"},
	}
	for _, tt := range tests {
		c := vote.Candidate{SQL: "SELECT 1", Findings: []vote.Finding{{Rule: tt.finding}}}
		found := Rules{List: checkedRules()}.Find("Wie heißen die Kunden?", "", c, tt.table)
		got := 0.0
		for _, f := range found {
			if f.Rule == tt.rule {
				got = f.Doubt
			}
		}
		if got != tt.doubt || len(found) > 1 {
			t.Errorf("%s, %s: %+v, want a doubt of %v", tt.rule, tt.why, found, tt.doubt)
		}
	}
	if found := (Rules{List: checkedRules()}).Find("Who is it?", "", vote.Candidate{SQL: "SELECT 1"},
		table(1, "")); len(found) > 0 {
		t.Errorf("without a finding: %+v", found)
	}
}

func TestEmptyAnswerRate(t *testing.T) {
	tests := []struct {
		share, weight float64
		why           string
	}{
		{0, 1, "nothing is known"},
		{0.05, 1, "the default"},
		{0.01, 1 + math.Log(5)/2, "rarely empty"},
		{1e-9, 3, "never: no more than three rules"},
		{0.5, 0, "often"},
		{math.NaN(), 1, "no number"},
		{Rules{}.LearnEmptyRate(0, 0), 1, "no confirmed answer"},
		{Rules{}.LearnEmptyRate(5, 100), 1, "100 confirmed answers as the default has it"},
		{Rules{}.LearnEmptyRate(0, 100), 1 + math.Log(0.05*120)/2, "100 confirmed answers, all with values"},
		{Rules{}.LearnEmptyRate(50, 100), 0, "50 of 100 without"},
	}
	for _, tt := range tests {
		found := Rules{EmptyAnswerRate: tt.share}.Find("Who is it?", "", vote.Candidate{SQL: "SELECT a FROM t"}, table(1, ""))
		if len(found) != 1 || math.Abs(found[0].Doubt-tt.weight) > 1e-9 {
			t.Errorf("share %v: %+v, want a doubt of %v: %s", tt.share, found, tt.weight, tt.why)
		}
	}
	own := resultRules()[0]
	own.Weight = 0.5
	found := Rules{EmptyAnswerRate: 0.01}.With(own).Find("Who is it?", "", vote.Candidate{SQL: "SELECT a FROM t"},
		table(1, ""))
	if len(found) != 1 || found[0].Doubt != 0.5 {
		t.Errorf("a weight of one's own goes before the share: %+v", found)
	}
}

// TestPossible: no rule is broken that SpreadAbout holds for impossible.
func TestPossible(t *testing.T) {
	questions := []string{
		"", "Wie viele Sänger gibt es?", "How many singers are there in each country?", "What is the total revenue?",
		"Which singers have no songs?", "Show all information about singers.", "Show name and age of the singers.",
		"List the singers.",
	}
	statements := []string{
		"SELECT * FROM singer", "SELECT a, b, c FROM t WHERE d <> 1", "SELECT count(*) FROM t GROUP BY a",
		"SELECT a FROM t EXCEPT SELECT b FROM u", "SELECT 1",
	}
	tables := []*result.Table{table(1, ""), table(1, "-"), table(1, "0"), table(1, "a"), table(3, "a,b,c;d,e,f"),
		table(2, "a,-")}
	findings := []vote.Finding{{Rule: checks.String}, {Rule: checks.NoTable}}
	least := Rules{}.Spread()
	for _, question := range questions {
		q := Rules{}.Read(question, "")
		for _, sql := range statements {
			for i, rows := range tables {
				c := vote.Candidate{
					SQL: sql, Rows: len(rows.Rows), Columns: len(rows.Columns), Findings: findings,
					Empty: rows.Empty(), AllNull: rows.AllNull(), Zero: i == 2,
				}
				if i < 3 {
					c.Findings = append(findings[:2:2], vote.Finding{Rule: checks.Absent})
				}
				doubt := 0.0
				for _, f := range (Rules{}).About(q, c, rows) {
					if !slices.ContainsFunc(resultRules(), func(r Rule) bool { return r.Name == f.Rule }) {
						doubt += f.Doubt
					}
				}
				most := Rules{}.SpreadAbout(q, c)
				least = min(least, most)
				if doubt > most {
					t.Errorf("%q, %s, %v: a doubt of %v, at most %v are possible", question, sql, rows.Rows, doubt, most)
				}
			}
		}
	}
	if least > 4 {
		t.Errorf("at least %v doubts are possible: nothing is ruled out", least)
	}
}

// TestPossibleOfRules: a rule that no candidate can break adds nothing to what is possible.
func TestPossibleOfRules(t *testing.T) {
	c := vote.Candidate{SQL: "SELECT * FROM singer", Rows: 1, Columns: 3}
	for _, tt := range []struct {
		rule, question string
		want           float64
		why            string
	}{
		{"star", "Show the name of the oldest singer.", 1, "a name is asked for"},
		{"star", "Show all information about the singers.", 0, "everything is asked for"},
		{"star", "Do we have singers in Kenya?", 0, "whether it is so"},
		{"star", "Wie viele Sänger gibt es?", 0, "its words are not read"},
		{"group_bare", "Wie viele Sänger gibt es?", 1, "it reads no words"},
		{"any_null", "Show the name of the oldest singer.", 0, "equal results break it alike"},
	} {
		rules := Rules{}
		for _, r := range defaultRules() {
			if r.Name == tt.rule {
				rules.List = append(rules.List, r)
			}
		}
		if got := rules.SpreadAbout(Rules{}.Read(tt.question, ""), c); got != tt.want {
			t.Errorf("%s, %s: %v, want %v", tt.rule, tt.why, got, tt.want)
		}
	}
}

func TestDoubtsChange(t *testing.T) {
	d := Rules{}
	find := func(d Rules) []vote.Finding {
		return d.Find("What is the name of the oldest singer?", "", vote.Candidate{SQL: "SELECT * FROM singer"},
			table(2, "-,Joe;1,Jim"))
	}
	has := func(f []vote.Finding, rule string) (vote.Finding, bool) {
		i := slices.IndexFunc(f, func(f vote.Finding) bool { return f.Rule == rule })
		if i < 0 {
			return vote.Finding{}, false
		}
		return f[i], true
	}
	for _, rule := range []string{"any_null", "more_columns", "star"} {
		if _, ok := has(find(d), rule); !ok {
			t.Fatalf("%s is not broken: the test needs it", rule)
		}
	}
	if _, ok := has(find(d.Without("star", "any_null")), "star"); ok {
		t.Error("Without left the rule in")
	}
	star := func(weight float64) Rule {
		return Rule{Name: "star", Weight: weight, Broken: func(in Input) (string, bool) { return "star", in.Outline.Star }}
	}
	if f, _ := has(find(d.With(star(0.25))), "star"); f.Doubt != 0.25 {
		t.Errorf("weighed %+v", f)
	}
	if f, ok := has(find(d.With(star(-1))), "star"); !ok || f.Doubt != 0 {
		t.Errorf("weighed below 0 it is information: %+v, %v", f, ok)
	}
	own := Rule{Name: "own", Weight: 2, Broken: func(in Input) (string, bool) {
		return "own doubt", in.Question.Has("oldest")
	}}
	if f, _ := has(find(d.With(own)), "own"); f != (vote.Finding{Rule: "own", Detail: "own doubt", Doubt: 2}) {
		t.Errorf("own rule: %+v", f)
	}
	replaced := d.With(Rule{Name: "star", Broken: func(Input) (string, bool) { return "", false }})
	if _, ok := has(find(replaced), "star"); ok || len(replaced.List) != len(defaultRules()) {
		t.Error("With did not replace the rule of that name")
	}
	if f, ok := has(find(d.With(Rule{Name: "silent"})), "silent"); ok {
		t.Errorf("a rule without Broken spoke: %+v", f)
	}
	if got := find(Rules{List: []Rule{}}); len(got) != 0 {
		t.Errorf("an empty list of rules finds %+v", got)
	}
	if d.List != nil {
		t.Error("the original changed")
	}
	if got := d.Find("Who is it?", "", vote.Candidate{Rejected: "no SQL"}, nil); got != nil {
		t.Errorf("a candidate without SQL has findings: %+v", got)
	}
	if got, want := d.Spread(), float64(len(statementRules()))+4; got != want {
		t.Errorf("Spread %v, want %v", got, want)
	}
	if got := (Rules{List: resultRules()}).Spread(); got != 0 {
		t.Errorf("candidates of equal results agree on the rules on results: Spread %v", got)
	}
}
