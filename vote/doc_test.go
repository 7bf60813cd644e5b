package vote_test

import (
	"fmt"

	"github.com/texttosql/texttosql/vote"
)

func Example() {
	candidates := []vote.Candidate{
		{SQL: "SELECT name FROM singer", Draw: 0, Fingerprint: "r1"},
		{SQL: "SELECT s.name FROM singer s", Draw: 1, Fingerprint: "r1"},
		{SQL: "SELECT nam FROM singer", Draw: 2, Rejected: "no such column: nam"},
	}
	ballot, err := vote.Majority{Key: vote.ByResult, Penalty: 1}.Count(candidates)
	if err != nil {
		fmt.Println(err)
		return
	}
	winner, err := ballot.Winner()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(winner.SQL, ballot.Confidence, ballot.Explain())
	// Output: SELECT name FROM singer 1 2 of 3 draws (1 abstained), no doubt
}
