package vote_test

import (
	"fmt"

	"github.com/texttosql/texttosql/vote"
)

func Example() {
	candidates := []vote.Candidate{
		{SQL: "SELECT name FROM singer", Sample: 0, Fingerprint: "r1"},
		{SQL: "SELECT s.name FROM singer s", Sample: 1, Fingerprint: "r1"},
		{SQL: "SELECT nam FROM singer", Sample: 2, Rejected: "no such column: nam", Invalid: true},
	}
	ballot, err := vote.Majority{Key: vote.ByResult}.Count(candidates)
	if err != nil {
		fmt.Println(err)
		return
	}
	winner, err := ballot.Winner()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(winner.SQL, ballot.Confidence, ballot.Sampled-len(ballot.Abstained))
	// Output: SELECT name FROM singer 1 2
}
