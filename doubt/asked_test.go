package doubt_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/doubt"
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
		{"Count the pets that are raised by students", "value", false, "who does it is not a group"},
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
		{"Show the product codes, names & prices for all products", []string{"product codes", "names", "prices"}, nil,
			"a list"},
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
