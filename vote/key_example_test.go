package vote_test

import (
	"fmt"

	"github.com/texttosql/texttosql/vote"
)

// A question for an order wants results compared in theirs: a key of one's own.
func ExampleMajority_key() {
	byOrder := func(c vote.Candidate) (string, bool) { return c.Sequence, c.Sequence != "" }
	candidates := []vote.Candidate{
		{SQL: "SELECT name FROM singer", Sample: 0, Fingerprint: "r1", Sequence: "s1"},
		{SQL: "SELECT name FROM singer ORDER BY age", Sample: 1, Fingerprint: "r1", Sequence: "s2"},
		{SQL: "SELECT name FROM singer ORDER BY age, name", Sample: 2, Fingerprint: "r1", Sequence: "s2"},
		{SQL: "SELECT name FROM singer ORDER BY rank", Sample: 3, Plan: "scan:singer:full"}, // was not run
	}
	for _, key := range []func(vote.Candidate) (key string, ok bool){vote.ByResult, byOrder} {
		ballot, err := vote.Majority{Key: key}.Count(candidates)
		fmt.Println(len(ballot.Clusters), "answers:", ballot.Clusters[0].Members, ballot.Abstained, err)
	}
	// Output:
	// 1 answers: [0 1 2] [{3 nothing to vote with: not executed}] <nil>
	// 2 answers: [1 2] [{3 nothing to vote with: not executed}] <nil>
}

// Of two answers with one vote each, the one with rows wins, then the shorter
// statement.
func ExampleTies() {
	shorter := func(a, b vote.Candidate) int { return len(a.SQL) - len(b.SQL) }
	ballot, err := vote.Majority{Tie: vote.Ties(vote.PreferRows, shorter)}.Count([]vote.Candidate{
		{SQL: "SELECT 1 WHERE 0", Sample: 0, Fingerprint: "none", Empty: true},
		{SQL: "SELECT name, age FROM singer", Sample: 1, Fingerprint: "r1", Rows: 3},
		{SQL: "SELECT name FROM singer", Sample: 2, Fingerprint: "r2", Rows: 3},
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
	ballot, err := vote.Majority{MinShare: 0.6}.Count(samples())
	if err != nil {
		fmt.Println(err)
		return
	}
	if second, ok := ballot.RunnerUp(); ok && ballot.Weak {
		fmt.Println("asking about:", ballot.Clusters[0].SQL, "/", second.SQL)
		ballot.Overrule(1)
	}
	fmt.Println(ballot.Overruled, ballot.Clusters[0].SQL)
	// Output:
	// asking about: SELECT name FROM singer / SELECT name, age FROM singer
	// true SELECT name, age FROM singer
}
