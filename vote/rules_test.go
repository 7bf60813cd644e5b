package vote

import (
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/result"
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
		{"any_null", "a NULL", who, "", "SELECT name, age FROM singer", table(2, "Joe,-"), true},
		{"any_null", "an empty text is a value", who, "", "SELECT name FROM singer", table(1, ";Joe"), false},

		{"how_many", "a list instead of a number", "How many singers are there?", "", "SELECT 1 FROM singer", table(1, "1;2"), true},
		{"how_many", "one number", "How many singers are there?", "", "SELECT count(*) FROM singer", table(1, "7"), false},
		{"how_many", "a number each", "How many singers are there in each country?", "", "SELECT 1", table(2, "a,1;b,2"), false},
		{"how_many", "another language", "Wie viele Sänger gibt es?", "", "SELECT 1", table(1, "1;2"), false},

		{"superlative", "two oldest", who, "", "SELECT name FROM singer", table(1, "Joe;Jim"), true},
		{"superlative", "one", who, "", "SELECT name FROM singer", table(1, "Joe"), false},
		{"superlative", "asked for three", "Who is in the list of the top 3 oldest singers?", "", "SELECT name FROM singer", table(1, "a;b;c"), false},
		{"superlative", "asked in the plural", "What are the names of the oldest singers?", "", "SELECT name FROM singer", table(1, "a;b"), false},
		{"superlative", "at least is no superlative", "What is the name of the singer with at least two songs?", "", "SELECT name FROM singer", table(1, "a;b"), false},

		{"echo", "the answer repeats the question", "What is the age of Joe Sharp?", "", "SELECT name, age FROM singer", table(2, "Joe Sharp,52"), true},
		{"echo", "in every row", "Which songs are by Joe?", "", "SELECT name, title FROM song", table(2, "Joe,a;Jim,b"), false},
		{"echo", "short words stand in many questions", "What is an id of it?", "", "SELECT a FROM t", table(1, "it"), false},

		{"more_columns", "three instead of one", who, "", "SELECT name, age, country FROM singer", table(3, "a,b,c"), true},
		{"more_columns", "as many as asked", "List name and age of the singers.", "", "SELECT name, age FROM singer", table(2, "a,b"), false},
		{"more_columns", "fewer", "List name and age of the singers.", "", "SELECT name FROM singer", table(1, "a"), false},
		{"more_columns", "everything asked", "Show all information about the singers.", "", "SELECT * FROM singer", table(9, "a"), false},
		{"more_columns", "a thing may be shown by number and name", "List orders for customers in Spain.", "", "SELECT number, name FROM orders", table(2, "a,b"), false},
		{"more_columns", "but not by any number of columns", "List orders for customers in Spain.", "", "SELECT a, b, c FROM orders", table(3, "a,b,c"), true},
		{"more_columns", "a name may be stored in two columns", "What is the name of the oldest employee?", "", "SELECT first_name, last_name FROM staff", table(2, "a,b"), false},
		{"more_columns", "who asks for one of them wants one", "What is the last name of the oldest employee?", "", "SELECT firstName, lastName FROM staff", table(2, "a,b"), true},
		{"more_columns", "an attribute is no thing", "List the names of customers.", "", "SELECT name, city FROM customers", table(2, "a,b"), true},
		{"more_columns", "not executed", who, "", "SELECT name, age, country FROM singer", nil, false},

		{"star", "all columns, one asked", who, "", "SELECT * FROM singer", table(1, "a"), true},
		{"star", "of one table", who, "", "SELECT s.* FROM singer s", table(1, "a"), true},
		{"star", "COUNT(*) is no star", "How many singers are there?", "", "SELECT count(*) FROM singer", table(1, "1"), false},
		{"star", "inside", who, "", "SELECT name FROM (SELECT * FROM singer)", table(1, "a"), false},
		{"star", "asked for", "Show all the details of the singers.", "", "SELECT * FROM singer", table(1, "a"), false},

		{"sum", "a total without a sum", "What is the total revenue of the shop?", "", "SELECT revenue FROM shop", nil, true},
		{"sum", "summed", "What is the total revenue of the shop?", "", "SELECT sum(revenue) FROM shop", nil, false},
		{"sum", "summed inside", "What is the overall revenue of the shop?", "", "SELECT x FROM (SELECT sum(revenue) x FROM shop)", nil, false},
		{"sum", "a total number is counted", "What is the total number of shops?", "", "SELECT max(n) FROM shop", nil, false},
		{"sum", "a measure of one thing", "How much does the youngest dog weigh?", "", "SELECT weight FROM pets", nil, false},

		{"negation", "NOT IN for nothing", "Which singers have songs?", "", "SELECT name FROM singer WHERE id NOT IN (SELECT id FROM song)", nil, true},
		{"negation", "asked for", "Which singers have no songs?", "", "SELECT name FROM singer WHERE id NOT IN (SELECT id FROM song)", nil, false},
		{"negation", "asked for by the evidence", "Which singers are retired?", "retired refers to active <> 1", "SELECT name FROM singer WHERE active <> 1", nil, false},
		{"negation", "IS NOT NULL excludes nothing that the question names", who, "", "SELECT name FROM singer WHERE age IS NOT NULL", nil, false},
		{"negation", "IS NULL does", who, "", "SELECT name FROM singer WHERE age IS NULL", nil, true},
		{"negation", "EXCEPT", who, "", "SELECT name FROM singer EXCEPT SELECT name FROM song", nil, true},
		{"negation", "unequal", who, "", "SELECT name FROM singer WHERE age != 3", nil, true},
		{"negation", "a text that says not", who, "", "SELECT name FROM singer WHERE song = 'not <> null'", nil, false},

		{"group_bare", "numbers of what?", "How many songs per singer?", "", "SELECT count(*) FROM song GROUP BY singer", nil, true},
		{"group_bare", "with the group", "How many songs per singer?", "", "SELECT singer, count(*) FROM song GROUP BY singer", nil, false},
		{"group_bare", "with an expression for it", "How many songs per year?", "", "SELECT substr(d, 1, 4), count(*) FROM song GROUP BY 1", nil, false},
		{"group_bare", "in any language", "Wie viele Lieder je Sänger?", "", "SELECT count(*) FROM song GROUP BY singer", nil, true},
		{"group_bare", "the group alone", who, "", "SELECT singer FROM song GROUP BY singer", nil, false},

		{"count_top", "a count that nobody asked for", who, "", "SELECT name, count(*) FROM singer GROUP BY name", nil, true},
		{"count_top", "asked for", "How many singers are there?", "", "SELECT count(*) FROM singer", nil, false},
		{"count_top", "only to order by", who, "", "SELECT name FROM singer GROUP BY name ORDER BY count(*) DESC LIMIT 1", nil, false},
		{"count_top", "a share needs counts", "What percentage of singers is French?", "", "SELECT 100.0 * count(f) / count(*) FROM singer", nil, false},
	}
	names := map[string]int{}
	for _, tt := range tests {
		t.Run(tt.rule+"/"+tt.why, func(t *testing.T) {
			if tt.broken {
				names[tt.rule]++
			}
			got := Doubts{}.Find(tt.question, tt.evidence, Candidate{SQL: tt.sql}, tt.table)
			at := slices.IndexFunc(got, func(f Finding) bool { return f.Rule == tt.rule })
			if (at >= 0) != tt.broken {
				t.Fatalf("%s on %q of %q: findings %+v, want broken: %v", tt.rule, tt.sql, tt.question, got, tt.broken)
			}
			if tt.broken && (got[at].Detail == "" || got[at].Doubt != 1) {
				t.Errorf("finding %+v has no detail or not the weight 1", got[at])
			}
		})
	}
	for _, r := range DefaultRules() {
		if names[r.Name] == 0 {
			t.Errorf("no test breaks rule %s", r.Name)
		}
		if r.Source == "" {
			t.Errorf("rule %s has no source", r.Name)
		}
	}
}

func TestValueRules(t *testing.T) {
	stored := map[string][]string{"France": {"country"}, "Joe Sharp": {"name"}, "UK": {"country"}, "": {"name"}}
	lookup := func(column, value string, fold bool) (bool, bool) {
		if value == "unknowable" {
			return false, false
		}
		for v, columns := range stored {
			if v == value || fold && strings.EqualFold(v, value) {
				return column == "" || slices.Contains(columns, column), true
			}
		}
		return false, true
	}
	tests := []struct {
		rule     string
		why      string
		question string
		sql      string
		broken   bool
	}{
		{"literal_unknown", "stored nowhere", "Who is it?", "SELECT 1 FROM t WHERE country = 'Frankreich'", true},
		{"literal_unknown", "case counts", "Who is it?", "SELECT 1 FROM t WHERE country = 'france'", true},
		{"literal_unknown", "stored", "Who is it?", "SELECT 1 FROM t WHERE country = 'France'", false},
		{"literal_unknown", "patterns and dates are no values", "Who is it?", "SELECT 1 FROM t WHERE a LIKE '%x%' AND b = '2014-01-01'", false},
		{"literal_unknown", "cannot be told", "Who is it?", "SELECT 1 FROM t WHERE a = 'unknowable'", false},
		{"literal_column", "in another column", "Who is it?", "SELECT 1 FROM t WHERE name = 'France'", true},
		{"literal_column", "in this column", "Who is it?", "SELECT 1 FROM t WHERE country = 'FRANCE'", false},
		{"literal_column", "nowhere is another rule's", "Who is it?", "SELECT 1 FROM t WHERE name = 'Frankreich'", false},
		{"value_missing", "named and not used", "Who comes from the UK?", "SELECT 1 FROM t", true},
		{"value_missing", "used", "Who comes from the UK?", "SELECT 1 FROM t WHERE country = 'UK'", false},
		{"value_missing", "used in a pattern", "Who comes from the UK?", "SELECT 1 FROM t WHERE country LIKE '%uk%'", false},
		{"value_missing", "a value of two words", "How old is Joe Sharp?", "SELECT 1 FROM t", true},
		{"value_missing", "an empty quotation names nothing, though \"\" is stored", `Who is called "" or " "?`, "SELECT 1 FROM t", false},
		{"value_missing", "not stored", "Who comes from Spain?", "SELECT 1 FROM t", false},
	}
	d := Doubts{Lookup: lookup}.With(ValueRules()...)
	for _, tt := range tests {
		t.Run(tt.rule+"/"+tt.why, func(t *testing.T) {
			has := func(d Doubts) bool {
				return slices.ContainsFunc(d.Find(tt.question, "", Candidate{SQL: tt.sql}, nil), func(f Finding) bool { return f.Rule == tt.rule })
			}
			if got := has(d); got != tt.broken {
				t.Errorf("%q of %q: broken %v, want %v", tt.sql, tt.question, got, tt.broken)
			}
			if has(Doubts{}.With(ValueRules()...)) {
				t.Error("the rule spoke without a Lookup")
			}
			if has(Doubts{Lookup: lookup}) {
				t.Error("the rule is on by default")
			}
		})
	}
}

func TestDoubtsChange(t *testing.T) {
	d := Doubts{}
	find := func(d Doubts) []Finding {
		return d.Find("What is the name of the oldest singer?", "", Candidate{SQL: "SELECT * FROM singer"}, table(2, "Joe,-;Jim,1"))
	}
	has := func(f []Finding, rule string) (Finding, bool) {
		i := slices.IndexFunc(f, func(f Finding) bool { return f.Rule == rule })
		if i < 0 {
			return Finding{}, false
		}
		return f[i], true
	}
	for _, rule := range []string{"any_null", "superlative", "more_columns", "star"} {
		if _, ok := has(find(d), rule); !ok {
			t.Fatalf("%s is not broken: the test needs it", rule)
		}
	}
	if _, ok := has(find(d.Without("star", "any_null")), "star"); ok {
		t.Error("Without left the rule in")
	}
	if f, _ := has(find(d.Weigh("star", 0.25)), "star"); f.Doubt != 0.25 {
		t.Errorf("weighed %+v", f)
	}
	if f, ok := has(find(d.Weigh("star", 0)), "star"); !ok || f.Doubt != 0 {
		t.Errorf("weighed 0 it is information: %+v, %v", f, ok)
	}
	own := Rule{Name: "own", Weight: 2, Broken: func(in RuleInput) (string, bool) { return "own doubt", in.Question.Has("oldest") }}
	if f, _ := has(find(d.With(own)), "own"); f != (Finding{Rule: "own", Detail: "own doubt", Doubt: 2}) {
		t.Errorf("own rule: %+v", f)
	}
	replaced := d.With(Rule{Name: "star", Broken: func(RuleInput) (string, bool) { return "", false }})
	if _, ok := has(find(replaced), "star"); ok || len(replaced.Rules) != len(DefaultRules()) {
		t.Error("With did not replace the rule of that name")
	}
	if f, ok := has(find(d.With(Rule{Name: "silent"})), "silent"); ok {
		t.Errorf("a rule without Broken spoke: %+v", f)
	}
	if got := find(Doubts{Rules: []Rule{}}); len(got) != 0 {
		t.Errorf("an empty list of rules finds %+v", got)
	}
	if d.Rules != nil {
		t.Error("the original changed")
	}
	if got := d.Find("Who is it?", "", Candidate{Rejected: "no SQL"}, nil); got != nil {
		t.Errorf("a candidate without SQL has findings: %+v", got)
	}
	if got, want := d.Spread(), float64(len(StatementRules())); got != want {
		t.Errorf("Spread %v, want %v", got, want)
	}
	if got := (Doubts{Rules: ResultRules()}).Spread(); got != 0 {
		t.Errorf("candidates of equal results agree on the rules on results: Spread %v", got)
	}
}
