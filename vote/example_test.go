package vote_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/vote"
)

// draws stands for what package exec found out about five answers: the
// fingerprints of their results and their plans.
func draws() []vote.Candidate {
	return []vote.Candidate{
		{SQL: "SELECT name FROM singer", Draw: 0, Model: "small", Fingerprint: "r1", Plan: "scan:singer:full"},
		{SQL: "SELECT s.name FROM singer s", Draw: 1, Model: "small", Fingerprint: "r1", Plan: "scan:singer:full"},
		{SQL: "SELECT name, age FROM singer", Draw: 2, Model: "large", Fingerprint: "r2", Plan: "scan:singer:full"},
		{SQL: "SELECT nam FROM singer", Draw: 3, Model: "small", Rejected: "no such column: nam"},
		{SQL: "SELECT name FROM singer WHERE age > 20", Draw: 4, Model: "large", Fingerprint: "r3", Plan: "search:singer:index"},
	}
}

func ExampleMajority() {
	ballot, err := vote.Majority{Key: vote.ByResult}.Count(draws())
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
	// 2 of 5 draws (1 abstained), no doubt
	// [{3 no such column: nam}]
}

func ExampleMajority_byPlan() {
	ballot, _ := vote.Majority{Key: vote.ByPlan}.Count(draws())
	for _, c := range ballot.Clusters {
		fmt.Println(c.Key, c.Members)
	}
	// Output:
	// scan:singer:full [0 1 2]
	// search:singer:index [4]
}

func ExampleMajority_weights() {
	weights := vote.Weights{Of: map[string]float64{"small": 0.4, "large": 0.9}}
	if err := weights.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	ballot, _ := vote.Majority{Weight: weights.Weight, MaxWeight: weights.Max()}.Count(draws())
	winner, _ := ballot.Winner()
	fmt.Printf("%s (%.2f)\n", winner.SQL, winner.Share)
	// Output:
	// SELECT name, age FROM singer (0.35)
}

func ExampleWeights_Disagree() {
	weights := vote.Weights{} // equal votes
	candidates := draws()
	ballot, _ := vote.Majority{Weight: weights.Weight}.Count(candidates)
	weights = weights.Disagree(ballot, candidates, vote.LearningRate)
	fmt.Printf("large %.4f, small %.4f\n", weights.Of["large"], weights.Of["small"])
	// Output:
	// large 0.9967, small 1.0000
}

func ExampleDoubts() {
	question := "What is the name of the oldest singer?"
	answer := vote.Candidate{SQL: "SELECT name, age FROM singer ORDER BY age DESC", Fingerprint: "r"}
	rows := &result.Table{Columns: []string{"name", "age"}, Rows: [][]any{{"Joe", int64(52)}, {"Ann", int64(43)}}}

	answer.Findings = vote.Doubts{}.Find(question, "", answer, rows)
	for _, f := range answer.Findings {
		fmt.Println(f.Rule, "-", f.Detail)
	}
	ballot, _ := vote.Majority{Penalty: 1}.Count([]vote.Candidate{answer})
	fmt.Printf("%s; confidence %.2f\n", ballot.Explain(), ballot.Confidence)
	// Output:
	// superlative - one extreme asked, several rows
	// more_columns - more columns than asked
	// 1 of 1 draw, 2 doubts: one extreme asked, several rows; more columns than asked; confidence 0.37
}

// A rule of one's own is a value like those of the package.
func ExampleRule() {
	limit := vote.Rule{
		Name:   "top_limit",
		Source: "who asks for the top few wants no more of them",
		Weight: 0.5,
		Broken: func(in vote.RuleInput) (string, bool) {
			return "no LIMIT for the top few", in.Question.TopN && !in.Outline.Limit
		},
		ReadsWords: true,
	}
	doubts := vote.Doubts{}.With(limit).Without("sum").Weigh("more_columns", 0.5)
	found := doubts.Find("Show the top 3 singers.", "", vote.Candidate{SQL: "SELECT name FROM singer"}, nil)
	fmt.Println(found)
	// Output:
	// [{top_limit no LIMIT for the top few 0.5}]
}

func ExampleDecided() {
	candidates := make([]vote.Candidate, 12)
	for i := range candidates {
		candidates[i] = vote.Candidate{SQL: "SELECT 1", Draw: i, Fingerprint: "r"}
	}
	_, spent, _ := vote.Majority{}.CountUntil(candidates, vote.Decided)
	fmt.Printf("%d of %d draws in %d wave, %d wasted\n", spent.Drawn, spent.Planned, spent.Waves, spent.Wasted)
	// Output:
	// 7 of 12 draws in 1 wave, 0 wasted
}

func ExampleAheadBy() {
	stop := vote.AheadBy(3)
	fmt.Println(stop(vote.Tally{Leader: 4, RunnerUp: 1}), stop(vote.Tally{Leader: 4, RunnerUp: 2}))
	// Output:
	// true false
}

func ExamplePosterior() {
	stop := vote.Posterior(0.95)
	fmt.Println(stop(vote.Tally{Leader: 4, RunnerUp: 0}), stop(vote.Tally{Leader: 4, RunnerUp: 1}))
	// Output:
	// true false
}

// An election over anything that has a key: here the tables that each reply
// names.
func ExampleCounter() {
	replies := []string{"orders, customers", "customers, orders", "orders", "customers, orders"}
	const planned = 5
	var count vote.Counter
	var wave vote.Wave
	drawn := 0
	for tally := count.Tally(planned); !vote.Decided(tally) && drawn < len(replies); tally = count.Tally(planned) {
		for range wave.Next(tally, vote.Decided) {
			count.Vote(vote.SetKey(strings.Split(replies[drawn], ", ")), 1, 0)
			drawn++
		}
	}
	key, _ := count.Leader()
	fmt.Println(key == vote.SetKey([]string{"orders", "customers"}), count.Tally(planned).Leader, "of", drawn)
	// Output:
	// true 3 of 4
}

func ExampleWave() {
	first := vote.Tally{Remaining: 12}
	fmt.Println(vote.Wave{}.Next(first, vote.Decided))
	fmt.Println(vote.Wave{}.Next(first, vote.AheadBy(3)))
	fmt.Println(vote.Wave{Min: 4}.Next(first, vote.AheadBy(3)))
	fmt.Println(vote.Wave{}.Next(vote.Tally{Leader: 5, RunnerUp: 2, Drawn: 7, Remaining: 5}, vote.Decided))
	// Output:
	// 7
	// 3
	// 4
	// 2
}

func ExampleWeightsFromLabels() {
	weights := vote.WeightsFromLabels(map[string]vote.Record{
		"small": {Right: 60, Asked: 100},
		"large": {Right: 80, Asked: 100},
	})
	out, _ := json.Marshal(weights)
	fmt.Println(string(out))
	// Output:
	// {"of":{"large":0.7909090909090909,"small":0.6090909090909091},"from":"labels","n":100}
}

func ExampleWeightsFromAgreement() {
	question := func(small, medium, large string) []vote.Candidate {
		return []vote.Candidate{
			{SQL: "a", Draw: 0, Model: "small", Fingerprint: small},
			{SQL: "b", Draw: 1, Model: "medium", Fingerprint: medium},
			{SQL: "c", Draw: 2, Model: "large", Fingerprint: large},
		}
	}
	weights := vote.WeightsFromAgreement(vote.ByResult, [][]vote.Candidate{
		question("x", "y", "y"), question("z", "z", "z"), question("u", "v", "v"),
	})
	fmt.Printf("small %.2f, medium %.2f, large %.2f\n", weights.Of["small"], weights.Of["medium"], weights.Of["large"])
	// Output:
	// small 0.50, medium 0.58, large 0.58
}

func ExamplePanel() {
	panel := vote.PanelFromLabels(1, map[string]map[string]vote.Record{
		"easy": {"small": {Right: 50, Asked: 50}, "large": {Right: 40, Asked: 50}},
		"hard": {"small": {Right: 10, Asked: 50}, "large": {Right: 30, Asked: 50}},
	})
	fmt.Println(panel.Models("easy"), panel.Models("hard"), panel.Models("unheard of"))
	// Output:
	// [small] [large] [large]
}

func ExampleByPosition() {
	// One reply that lists different queries, the best first.
	list := []vote.Candidate{
		{SQL: "a", Draw: 0, Position: 0, Fingerprint: "x"},
		{SQL: "b", Draw: 1, Position: 1, Fingerprint: "y"},
		{SQL: "c", Draw: 2, Position: 2, Fingerprint: "y"},
	}
	ballot, _ := vote.Majority{Weight: vote.ByPosition(0.5)}.Count(list)
	winner, _ := ballot.Winner()
	fmt.Println(winner.SQL)
	// Output:
	// a
}

func ExampleRowOverlap() {
	table := func(names ...any) *result.Table {
		t := &result.Table{Columns: []string{"name"}}
		for _, n := range names {
			t.Rows = append(t.Rows, []any{n})
		}
		return t
	}
	var candidates []vote.Candidate
	for i, t := range []*result.Table{table("Ann", "Bo", "Cy"), table("Ann", "Bo"), table("Ann", "Bo", "Di"), table("Eve"), table("Eve")} {
		c := vote.Candidate{SQL: fmt.Sprintf("SELECT %d", i), Draw: i, Sketch: result.Equality{}.Sketch(t, 64)}
		c.Fingerprint, _ = result.Equality{}.Fingerprint(t)
		candidates = append(candidates, c)
	}
	hard, _ := vote.Majority{}.Count(candidates)
	soft, _ := vote.Majority{Overlap: vote.RowOverlap}.Count(candidates)
	fmt.Println(hard.Clusters[0].SQL, "/", soft.Clusters[0].SQL)
	// Output:
	// SELECT 3 / SELECT 1
}

func ExampleCalibration() {
	// Fitted by package eval, saved as JSON.
	var c vote.Calibration
	if err := json.Unmarshal([]byte(`{"raw":[0.2,0.9],"right":[0.4,0.96],"n":496}`), &c); err != nil {
		fmt.Println(err)
		return
	}
	ballot, _ := vote.Majority{Calibrate: c.At}.Count(draws())
	fmt.Printf("%.2f\n", ballot.Confidence)
	// Output:
	// 0.64
}
