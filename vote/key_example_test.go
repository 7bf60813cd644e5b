package vote_test

import (
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

// A question for an order wants results compared in theirs: a key of one's own.
func ExampleKey() {
	byOrder := func(c vote.Candidate) (string, bool) { return c.Sequence, c.Sequence != "" }
	candidates := []vote.Candidate{
		{SQL: "SELECT name FROM singer", Draw: 0, Fingerprint: "r1", Sequence: "s1"},
		{SQL: "SELECT name FROM singer ORDER BY age", Draw: 1, Fingerprint: "r1", Sequence: "s2"},
		{SQL: "SELECT name FROM singer ORDER BY age, name", Draw: 2, Fingerprint: "r1", Sequence: "s2"},
		{SQL: "SELECT name FROM singer ORDER BY rank", Draw: 3, Plan: "scan:singer:full"}, // was not run
	}
	for _, key := range []vote.Key{vote.ByResult, byOrder} {
		ballot, err := vote.Majority{Key: key}.Count(candidates)
		fmt.Println(len(ballot.Clusters), "answers:", ballot.Clusters[0].Members, ballot.Abstained, err)
	}
	// Output:
	// 1 answers: [0 1 2] [{3 nothing to vote with: not executed}] <nil>
	// 2 answers: [1 2] [{3 nothing to vote with: not executed}] <nil>
}

// A vote on the tables that statements read, before one on the statements.
func ExampleBySet() {
	tables := vote.BySet(func(c vote.Candidate) (set []string, ok bool) {
		for _, t := range sqltext.SQLite().Tables(c.SQL) {
			set = append(set, t.Name)
		}
		return set, true
	})
	ballot, err := vote.Majority{Key: tables}.Count([]vote.Candidate{
		{SQL: "SELECT name FROM singer", Draw: 0},
		{SQL: "SELECT name FROM singer JOIN album ON album.singer = singer.id", Draw: 1},
		{SQL: "SELECT s.name FROM album AS a, singer AS s WHERE s.id = a.singer", Draw: 2},
	})
	fmt.Println(ballot.Clusters[0].Members, err)
	// Output: [1 2] <nil>
}

// How a vote stands after three of twelve draws, and two rules that look at it.
func ExampleTally() {
	tally, err := vote.Majority{}.Tally(draws()[:3], 12)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d to %d after %d, %d to come\n", tally.Leader, tally.RunnerUp, tally.Drawn, tally.Remaining)
	twoThirds := func(t vote.Tally) bool { return t.Drawn >= 3 && 3*t.Leader >= 2*t.Drawn } // a Stop of one's own
	fmt.Println(vote.Decided(tally), twoThirds(tally))
	// Output:
	// 2 to 1 after 3, 9 to come
	// false true
}

// Stops are combined: decided, or a lead that will do.
func ExampleAnyOf() {
	stop := vote.AnyOf(vote.Decided, vote.AheadBy(3))
	fmt.Println(stop(vote.Tally{Leader: 3, RunnerUp: 0, Remaining: 9}))
	fmt.Println(stop(vote.Tally{Leader: 4, RunnerUp: 2, Remaining: 1}))
	fmt.Println(stop(vote.Tally{Leader: 4, RunnerUp: 2, Remaining: 6}))
	// Output:
	// true
	// true
	// false
}

// A lead of three that stands after the third draw does not count before the
// fourth.
func ExampleEvery() {
	stop := vote.Every(4, vote.AheadBy(3))
	fmt.Println(stop(vote.Tally{Drawn: 3, Leader: 3, Remaining: 9}))
	fmt.Println(stop(vote.Tally{Drawn: 4, Leader: 4, Remaining: 8}))
	// Output:
	// false
	// true
}

// Of two answers with one vote each, the one with rows wins, then the shorter
// statement.
func ExampleTies() {
	shorter := func(a, b vote.Candidate) int { return len(a.SQL) - len(b.SQL) }
	majority := vote.Majority{Tie: vote.Ties(vote.PreferRows, shorter)}
	ballot, err := majority.Count([]vote.Candidate{
		{SQL: "SELECT 1 WHERE 0", Draw: 0, Fingerprint: "none", Empty: true},
		{SQL: "SELECT name, age FROM singer", Draw: 1, Fingerprint: "r1", Rows: 3},
		{SQL: "SELECT name FROM singer", Draw: 2, Fingerprint: "r2", Rows: 3},
	})
	for _, c := range ballot.Clusters {
		fmt.Println(c.SQL)
	}
	fmt.Println(err)
	// Output:
	// SELECT name FROM singer
	// SELECT name, age FROM singer
	// SELECT 1 WHERE 0
	// <nil>
}

// A weak ballot is put to a judge, whose word is noted.
func ExampleBallot_Overrule() {
	ballot, err := vote.Majority{MinShare: 0.6}.Count(draws())
	if err != nil {
		fmt.Println(err)
		return
	}
	if second, ok := ballot.RunnerUp(); ok && ballot.Weak {
		fmt.Println("asking about:", ballot.Clusters[0].SQL, "/", second.SQL)
		ballot.Overrule(1)
	}
	fmt.Println(ballot.Explain())
	// Output:
	// asking about: SELECT name FROM singer / SELECT name, age FROM singer
	// 1 of 5 draws (1 abstained), no doubt; a judge chose it over the count
}

// Weights come from files, so they are checked before they count.
func ExampleWeightError() {
	weights := vote.Weights{Of: map[string]float64{"small": 0.4, "large": -1}}
	var wrong *vote.WeightError
	if errors.As(weights.Validate(), &wrong) {
		fmt.Println(wrong.Model, wrong.Weight)
	}
	// Output: large -1
}

// Doubt rules that read words learn another language from a list of them.
func ExampleLanguage() {
	german := vote.Language{
		Name:    "de",
		Common:  []string{"wie", "viele", "gibt", "es", "die", "der", "welche"},
		HowMany: []string{"wie viele"},
		Each:    []string{"je", "pro"},
	}
	doubts := vote.Doubts{Languages: []vote.Language{vote.English(), german}}
	for _, question := range []string{"How many singers are there?", "Wie viele Alben gibt es je Jahr?", "Combien de chansons ?"} {
		q := doubts.Read(question, "")
		fmt.Printf("%q %v %v\n", q.Language, q.HowMany, q.Each)
	}
	// Output:
	// "en" true false
	// "de" true true
	// "" false false
}

// Rules on values ask an index of the program's own what is stored.
func ExampleLookup() {
	stored := map[string][]string{"France": {"country"}, "Joe": {"name"}} // value -> columns
	lookup := func(column, value string, _ bool) (found, known bool) {
		for _, c := range stored[value] {
			found = found || column == "" || c == column
		}
		return found, true
	}
	doubts := vote.Doubts{Rules: vote.ValueRules(), Lookup: lookup}
	for _, sql := range []string{
		"SELECT age FROM singer WHERE country = 'France'",
		"SELECT age FROM singer WHERE name = 'France'",
		"SELECT age FROM singer WHERE country = 'french'",
	} {
		fmt.Println(doubts.Find("How old are singers from France?", "", vote.Candidate{SQL: sql}, nil))
	}
	// Output:
	// []
	// [{literal_column a value compared with a column that does not hold it 1}]
	// [{literal_unknown a text that is stored nowhere 1} {value_missing a value of the question is not used 1}]
}
