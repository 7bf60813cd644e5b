package doubt_test

import (
	"fmt"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

func ExampleRules() {
	question := "What is the name of the oldest singer?"
	answer := vote.Candidate{SQL: "SELECT name, age FROM singer ORDER BY age DESC", Fingerprint: "r"}
	rows := &result.Table{Columns: []string{"name", "age"}, Rows: [][]any{{"Joe", int64(52)}, {"Ann", int64(43)}}}

	rules := doubt.Rules{}
	answer.Findings = rules.Find(question, "", answer, rows)
	for _, f := range answer.Findings {
		fmt.Println(f.Rule, "-", f.Detail)
	}
	other := vote.Candidate{SQL: "SELECT name FROM singer", Fingerprint: "s"}
	majority := vote.Majority{Penalty: 1, MaxDoubt: rules.Spread()}
	for _, votes := range [][]vote.Candidate{{answer}, {answer, other}} {
		ballot, _ := majority.Count(votes)
		fmt.Printf("%s: doubt %v, confidence %.2f\n", ballot.Clusters[0].SQL, ballot.Clusters[0].Doubt, ballot.Confidence)
	}
	// Output:
	// more_columns - more columns than asked
	// SELECT name, age FROM singer ORDER BY age DESC: doubt 0, confidence 1.00
	// SELECT name FROM singer: doubt 0, confidence 0.73
}

// A rule of one's own is a value like those of the package.
func ExampleRule() {
	limit := doubt.Rule{
		Name:   "top_limit",
		Source: "who asks for the top few wants no more of them",
		Weight: 0.5,
		Broken: func(in doubt.Input) (string, bool) {
			return "no LIMIT for the top few", in.Question.Has("top #") && !in.Outline.Limit
		},
		ReadsWords: true,
	}
	rules := doubt.Rules{}.With(limit).Without("sum")
	found := rules.Find("Show the top 3 singers.", "", vote.Candidate{SQL: "SELECT name FROM singer"}, nil)
	fmt.Println(found)
	// Output:
	// [{top_limit no LIMIT for the top few 0.5 false}]
}

// Doubt rules that read words learn another language from a list of them.
func ExampleLanguage() {
	german := doubt.Language{
		Name:    "de",
		Common:  []string{"wie", "viele", "gibt", "es", "die", "der", "welche"},
		HowMany: []string{"wie viele"},
		Each:    []string{"je", "pro"},
	}
	rules := doubt.Rules{Languages: []doubt.Language{doubt.English(), german}}
	for _, question := range []string{"How many singers are there?", "Wie viele Alben gibt es je Jahr?",
		"Combien de chansons ?"} {
		q := rules.Read(question, "")
		fmt.Printf("%q %v %v\n", q.Language, q.HowMany, q.Each)
	}
	// Output:
	// "en" true false
	// "de" true true
	// "" false false
}

// The condition of the question before is doubted where the next question asks for all, and kept where it refers to it.
func ExampleRules_WithEarlier() {
	before := sqltext.SQLite().Parse("SELECT count(*) FROM customers WHERE country = 'France'")
	kept := vote.Candidate{SQL: "SELECT count(*) FROM orders JOIN customers USING (customer) WHERE country = 'France'"}
	for _, question := range []string{"How many orders are there in total?", "And how many orders do they have?"} {
		rules := doubt.Rules{}.WithEarlier(question, before)
		fmt.Println(rules.Find(question, "", kept, nil))
	}
	// Output:
	// [{carried_filter a condition of an earlier question is kept, which this one does not name 1 false}]
	// []
}
