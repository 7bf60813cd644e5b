package vote_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/vote"
)

// samples stands for what package exec found out about five answers: the
// fingerprints of their results and their plans.
func samples() []vote.Candidate {
	return []vote.Candidate{
		{SQL: "SELECT name FROM singer", Sample: 0, Model: "small", Fingerprint: "r1", Plan: "scan:singer:full"},
		{SQL: "SELECT s.name FROM singer s", Sample: 1, Model: "small", Fingerprint: "r1", Plan: "scan:singer:full"},
		{SQL: "SELECT name, age FROM singer", Sample: 2, Model: "large", Fingerprint: "r2", Plan: "scan:singer:full"},
		{SQL: "SELECT nam FROM singer", Sample: 3, Model: "small", Rejected: "no such column: nam", Invalid: true},
		{SQL: "SELECT name FROM singer WHERE age > 20", Sample: 4, Model: "large", Fingerprint: "r3",
			Plan: "search:singer:index"},
	}
}

func ExampleMajority() {
	ballot, err := vote.Majority{Key: vote.ByResult}.Count(samples())
	if err != nil {
		fmt.Println(err)
		return
	}
	winner, _ := ballot.Winner()
	fmt.Println(winner.SQL)
	fmt.Println(ballot.Explain())
	fmt.Println(ballot.Abstained)
	// Output:
	// SELECT name FROM singer
	// 2 of 5 samples (1 abstained), no doubt
	// [{3 no such column: nam}]
}

// A person is asked where the winner holds few of the samples.
func ExampleBallot_Disputed() {
	ballot, _ := vote.Majority{}.Count(samples())
	winner, _ := ballot.Winner()
	fmt.Println(len(winner.Members), "of", ballot.Sampled, ballot.Disputed(0.6), ballot.Disputed(0.4))
	// Output: 2 of 5 true false
}

func ExampleBallot_Closing() {
	ballot, _ := vote.Majority{Key: vote.ByResult, Prior: 1}.Count(samples())
	fmt.Println(ballot.Level(), ballot.Closing())
	fmt.Printf("%q\n", ballot.Reasons())
	// Output:
	// unsure Not sure: this answer has 2 of 5 samples; 1 gave no usable statement.
	// ["this answer has 2 of 5 samples; 1 gave no usable statement"]
}

func ExampleMajority_byPlan() {
	ballot, _ := vote.Majority{Key: vote.ByPlan}.Count(samples())
	for _, c := range ballot.Clusters {
		fmt.Println(c.Key, c.Members)
	}
	// Output:
	// scan:singer:full [0 1 2]
	// search:singer:index [4]
}

func ExampleMajority_weights() {
	weights := map[string]float64{"small": 0.4, "large": 0.9} // by model
	ballot, _ := vote.Majority{Weight: func(c vote.Candidate) float64 {
		return weights[c.Model]
	}, MaxWeight: 0.9}.Count(samples())
	winner, _ := ballot.Winner()
	fmt.Printf("%s (%.2f)\n", winner.SQL, winner.Share)
	// Output:
	// SELECT name, age FROM singer (0.35)
}

func ExampleDecided() {
	state := vote.State{Remaining: 12}
	for !vote.Decided(state) {
		state.Vote("the same answer", 1, 0)
	}
	fmt.Println(state.Sampled, "samples,", state.Remaining, "saved")
	// Output:
	// 7 samples, 5 saved
}

// state is the state of a vote after votes for two clusters.
func state(leader, second, remaining int) vote.State {
	return vote.State{
		Sampled: leader + second, Remaining: remaining,
		Clusters: []vote.ClusterState{{Key: "a", Weight: float64(leader)}, {Key: "b", Weight: float64(second)}},
	}
}

func ExampleAheadBy() {
	stop := vote.AheadBy(3)
	fmt.Println(stop(state(4, 1, 9)), stop(state(4, 2, 9)))
	// Output:
	// true false
}

func ExamplePosterior() {
	stop := vote.Posterior(0.95)
	fmt.Println(stop(state(4, 0, 9)), stop(state(4, 1, 9)))
	// Output:
	// true false
}

// Stops are combined: decided, or a lead that will do.
func ExampleStop_Or() {
	stop := vote.AheadBy(3).Or(vote.Decided)
	fmt.Println(stop(state(3, 0, 9)), stop(state(4, 2, 1)), stop(state(4, 2, 6)))
	// Output:
	// true true false
}

// A lead of three after the third sample does not count before the fourth.
func ExampleStop_Every() {
	stop := vote.AheadBy(3).Every(4)
	fmt.Println(stop(state(3, 0, 9)), stop(state(4, 0, 8)))
	// Output:
	// false true
}

// The state of a vote after three of twelve samples, and two stops that look at it.
func ExampleMajority_State() {
	state, err := vote.Majority{}.State(samples()[:3], 12)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%g to %g after %d, %d to come\n", state.Leader().Weight, state.RunnerUp().Weight, state.Sampled,
		state.Remaining)
	// a Stop of one's own
	twoThirds := func(t vote.State) bool { return t.Sampled >= 3 && 3*t.Leader().Weight >= 2*float64(t.Sampled) }
	fmt.Println(vote.Decided(state), twoThirds(state))
	// Output:
	// 2 to 1 after 3, 9 to come
	// false true
}

// An election over anything that has a key: here the tables that each reply
// names.
func ExampleState() {
	replies := []string{"orders, customers", "customers, orders", "orders", "customers, orders"}
	state := vote.State{Remaining: 5}
	for !vote.Decided(state) && state.Sampled < len(replies) {
		for range state.Wave(vote.Decided, 0) {
			tables := strings.Split(replies[state.Sampled], ", ")
			slices.Sort(tables) // the order is no part of the vote
			state.Vote(strings.Join(tables, ", "), 1, 0)
		}
	}
	leader := state.Leader()
	fmt.Println(leader.Key+":", leader.Weight, "of", state.Sampled)
	// Output:
	// customers, orders: 3 of 4
}

func ExampleState_Wave() {
	first := vote.State{Remaining: 12}
	fmt.Println(first.Wave(vote.Decided, 0), first.Wave(vote.AheadBy(3), 0), first.Wave(vote.AheadBy(3), 4))
	fmt.Println(state(5, 2, 5).Wave(vote.Decided, 0))
	// Output:
	// 7 3 4
	// 2
}
