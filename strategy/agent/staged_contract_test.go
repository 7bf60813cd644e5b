package agent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

// shop makes a schema of lines like "products: productCode productName".
func shop(lines ...string) *schema.Schema {
	s := &schema.Schema{}
	for _, line := range lines {
		name, columns, _ := strings.Cut(line, ":")
		t := schema.Table{Name: name}
		for c := range strings.FieldsSeq(columns) {
			t.Columns = append(t.Columns, schema.Column{Name: c})
		}
		s.Tables = append(s.Tables, t)
	}
	s.Tables[0].Columns[1].Title = "trade mark"
	return s
}

func TestContract(t *testing.T) {
	s := shop("products: productCode productVendor productName MSRP",
		"customers: customerNumber customerName creditLimit city",
		"employees: employeeNumber lastName firstName", "orders: orderNumber orderDate shippedDate", "order_lines: id",
		"things: id label")
	for _, tt := range []struct {
		question string
		want     contract
		why      string
	}{
		{"Show the names, codes, and MSRPs of the products", contract{"productName", "productCode", "MSRP"},
			"in the order of the question"},
		{"Show product codes and trade marks for all products", contract{"productCode", "productVendor"}, "by a title"},
		{"Customers in France with their credit limits", contract{"customerName", "creditLimit"}, "the display name stays"},
		{"Customers with credit limits above 50000", contract{"customerName"}, "a comparison is a filter"},
		{"Which customers have credit limits above 50000?", contract{"customerName"}, "here too"},
		{"List the customers and their credit limits and cities", contract{"customerName", "creditLimit", "city"},
			"two fields"},
		{"List employees who report to nobody", contract{"firstName", "lastName"}, "a person has two names"},
		{"List order numbers and dates of the orders", nil, "two columns are dates"},
		{"List customers with the colours of their cars and their cats", nil, "no such column"},
		{"List customers who have never placed an order", nil, "another table is spoken of"},
		{"Customers who have never placed an order", contract{"customerName"}, "no word asks"},
		{"List the orders of 2004", nil, "an order has no name"},
		{"List the things", nil, "nor has a thing"},
		{"Show all information about customers and products", nil, "everything"},
		{"How many customers are there in the city?", nil, "no list"},
		{"What is the best customer and the city?", nil, "a ranking"},
		{"Welche Kunden gibt es?", nil, "another language"},
	} {
		if diff := cmp.Diff(tt.want, readContract(doubt.Rules{}.Read(tt.question, ""), s, true)); diff != "" {
			t.Errorf("%s: %q: %s", tt.why, tt.question, diff)
		}
	}
	if got := readContract(doubt.Rules{}.Read("List the customers of the city", ""), s, false); got != nil {
		t.Errorf("without names: %v", got)
	}
}

func TestProject(t *testing.T) {
	for _, tt := range []struct {
		sql, want string
		why       string
	}{
		{"SELECT a, t.B, c FROM t", "t.B a", "moved and dropped"},
		{"SELECT a AS x, b FROM t", "b a", "an alias goes"},
		{"SELECT a, upper(b) FROM t", "", "an expression is never dropped"},
		{"SELECT a, b, count(*) FROM t", "", "nor is an aggregate"},
		{"SELECT a FROM t", "", "one is missing"},
		{"SELECT * FROM t", "", "no plain column"},
	} {
		got := contract{"b", "a"}.project(sqltext.SQLite().Parse(tt.sql).Outline().Items)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q", tt.why, got)
		}
	}
}

// TestChoice: penalty, then votes, then select items, then the earliest sample; a result is doubted as much as its
// least doubted member, which represents it.
func TestChoice(t *testing.T) {
	type one struct {
		result string
		doubt  float64
		sql    string
	}
	const short, long = "SELECT a FROM t", "SELECT a, b FROM t"
	for _, tt := range []struct {
		list []one
		want int
		why  string
	}{
		{[]one{{"x", 2, short}, {"x", 2, short}, {"x", 2, short}, {"y", 1, long}}, 3, "doubts go before votes"},
		{[]one{{"y", 1, short}, {"x", 1, long}, {"x", 1, long}}, 1, "then votes"},
		{[]one{{"x", 1, long}, {"y", 1, short}}, 1, "then select items"},
		{[]one{{"x", 1, long}, {"y", 1, long}}, 0, "then the earliest"},
		{[]one{{"x", 3, short}, {"x", 0, short}, {"y", 1, short}}, 1, "the least doubted member"},
		{[]one{{"x", 1, long}, {"x", 1, short}}, 1, "that with fewer items represents it"},
		{[]one{{"", 0, short}, {"y", 3, short}}, 1, "what did not run has no vote"},
	} {
		var list []vote.Candidate
		for i, o := range tt.list {
			c := vote.Candidate{SQL: o.sql, Sample: i, Fingerprint: o.result,
				Findings: []vote.Finding{{Rule: "r", Doubt: o.doubt}}}
			list = append(list, c)
		}
		for _, result := range []string{"z", "x"} { // of another step, and doubted least
			list = append(list, vote.Candidate{SQL: "SELECT 1", Sample: 9, Fingerprint: result})
		}
		ballot, err := choice{Majority: vote.Majority{Key: vote.ByResult}, votes: func(c vote.Candidate) bool {
			return c.Sample < 9
		}}.Count(list)
		if err != nil || ballot.Clusters[0].Best != tt.want || ballot.Clusters[0].SQL != list[tt.want].SQL {
			t.Errorf("%s: %+v, %v", tt.why, ballot.Clusters, err)
		}
	}
}

// TestContractOfShortPlurals: fields that are called ids and nos are found.
func TestContractOfShortPlurals(t *testing.T) {
	s := shop("customers: id name city no")
	for question, want := range map[string]contract{
		"List the names, ids and cities of customers": {"name", "id", "city"},
		"List the nos and names of customers":         {"no", "name"},
	} {
		if diff := cmp.Diff(want, readContract(doubt.Rules{}.Read(question, ""), s, true)); diff != "" {
			t.Errorf("%q: %s", question, diff)
		}
	}
}

// TestContractBesideTheirs: fields of two sorts, those that are enumerated and those of "with their", are no contract.
func TestContractBesideTheirs(t *testing.T) {
	s := shop("customers: id name city no limit")
	q := doubt.Rules{}.Read("List the names and cities of customers with their limits", "")
	if len(q.Phrases) < 2 || len(q.Theirs) == 0 {
		t.Fatalf("the question is read otherwise: %+v", q)
	}
	if got := readContract(q, s, true); got != nil {
		t.Errorf("%v", got)
	}
}

// TestDualIsNoTable: a statement of MySQL that reads no table may say FROM dual.
func TestDualIsNoTable(t *testing.T) {
	for sql, want := range map[string]bool{"SELECT 1 FROM dual": true, "SELECT 1 FROM DUAL": true, "SELECT 1": true,
		"SELECT count(*) FROM some_view": false} {
		c := &exec.Checked{Statement: sqltext.MySQL().Parse(sql), Analysis: &exec.Analysis{}}
		err := (output{}).Check(t.Context(), nil, c)
		if (err != nil) != want {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
