package replay

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/stats"
	"github.com/texttosql/texttosql/vote"
)

// question makes a question of candidates: a letter each for what they vote for,
// in lower case where that is right, "." for one that failed. models names the
// run of each; "" for none.
func question(id, votes string, models ...string) *Question {
	q := &Question{ID: id, Database: "db", Template: "t" + id, Grade: "easy"}
	for i, v := range votes {
		c := vote.Candidate{SQL: "SELECT " + string(v), Sample: i, Fingerprint: string(v), Plan: "plan " + string(v)}
		if i < len(models) {
			c.Model = models[i]
		}
		a := &answer{rows: string(v), right: v >= 'a' && v <= 'z'}
		if v != '.' {
			a.planned = planned{compiles: true, strict: c.Plan, compat: planForm{signature: "p" + string(v)}}
		} else {
			c.Rejected, c.Fingerprint, a.rows = "failed", "", ""
		}
		a.candidate = c
		q.Candidates, q.answers = append(q.Candidates, c), append(q.answers, a)
	}
	return q
}

// doubted gives the candidates of q that vote for what a broken rule.
func doubted(q *Question, what, rule string) *Question {
	for i, c := range q.Candidates {
		if c.Fingerprint == what {
			q.Candidates[i].Findings = []vote.Finding{{Rule: rule, Doubt: 1}}
		}
	}
	return q
}

func TestVoters(t *testing.T) {
	pool := Pool{Name: "p", Samples: 5, Questions: []*Question{
		question("1", "aaBB."),                        // a tie: the first wins
		question("2", "BBa.."),                        // wrong by count
		doubted(question("3", "BBaaB"), "B", "star"),  // wrong by count, doubted
		question("4", "....."),                        // nobody votes
		doubted(question("5", "aaaaa"), "a", "empty"), // right, doubted
	}}
	tests := []struct {
		voter string
		right float64
		calls int
	}{
		{"one", 2.0/5 + 1.0/5 + 2.0/5 + 0 + 1, 5},
		{"any", 4, 25},
		{"text", 2, 25}, // the failed ones vote, too
		{"result", 2, 25},
		{"result-bag", 2, 25},
		{"plan", 2, 25},
		{"plan-compat", 2, 25},
		{"consensus", 3, 25},
		{"result+decided", 2, 5 + 5 + 5 + 5 + 3},
	}
	for _, test := range tests {
		v := testutil.Value(VoterNamed(test.voter))(t)
		lines := testutil.Value(Measure([]Pool{pool}, []Voter{v}, Settings{}, stats.Bootstrap{Rounds: 20}, nil))(t)
		if l := lines[0]; len(lines) != 1 || math.Abs(l.Right-test.right) > 1e-9 || l.Calls != test.calls || l.N != 5 ||
			l.K != 5 {
			t.Errorf("%s: %v right in %d calls, want %v in %d", test.voter, l.Right, l.Calls, test.right, test.calls)
		}
	}
}

func TestEveryVoterHasANameAndRuns(t *testing.T) {
	var questions []*Question
	for i := range 20 {
		questions = append(questions, question(fmt.Sprint(i), []string{"aaBa", "BaBa", "aa.."}[i%3], "m1_seed1", "m2_seed1",
			"m1_seed2", "m2_seed2"))
	}
	pools := []Pool{{Name: "p", Samples: 4, Questions: questions}, {Name: "q", Samples: 4, Questions: questions[:10]}}
	steps := 0
	lines := testutil.Value(Measure(pools, Voters(), Settings{Folds: 3}, stats.Bootstrap{Rounds: 20}, func() {
		steps++
	}))(t)
	if len(lines) != 3*len(Voters()) || steps != 2*len(Voters()) {
		t.Errorf("%d lines, %d steps for %d voters", len(lines), steps, len(Voters()))
	}
	names := map[string]bool{}
	for _, v := range slices.Concat(Voters(), Plans()) {
		if names[v.Name] || v.Name == "" || v.About == "" {
			t.Errorf("voter %q (%q) is there twice or says nothing", v.Name, v.About)
		}
		names[v.Name] = true
	}
	for _, l := range lines[2*len(Voters()):] {
		if l.Pool != AllPools || l.N != 30 {
			t.Errorf("the last lines are of all pools: %s, %d questions", l.Pool, l.N)
		}
		// Ten questions are in both pools: 20 units.
		if l.Voter == "consensus" && l.Versus == nil {
			t.Error("no comparison with result")
		}
	}
	if _, err := Measure(pools, Plans(), Settings{}, stats.Bootstrap{Rounds: 20}, nil); err != nil {
		t.Error(err)
	}
	if _, err := VoterNamed("x"); err == nil || !strings.Contains(err.Error(), "consensus") {
		t.Errorf("an unknown voter: %v", err)
	}
}

// TestFittingNeedsOtherQuestions: where there are none a fitted voter is as good as
// consensus, and no better.
func TestFittingNeedsOtherQuestions(t *testing.T) {
	pool := Pool{Name: "p", Questions: []*Question{question("1", "aBB", "good", "bad", "bad")}}
	consensus := testutil.Value(VoterNamed("consensus"))(t)
	lines := testutil.Value(Measure([]Pool{pool}, append(fitted(), consensus), Settings{}, stats.Bootstrap{Rounds: 2},
		nil))(t)
	want := lines[len(lines)-1]
	for _, l := range lines {
		if l.Right != 0 || l.Outcomes[0].Confidence != want.Outcomes[0].Confidence {
			t.Errorf("%s: %v right, confidence %v, want that of consensus, %v", l.Voter, l.Right, l.Outcomes[0].Confidence,
				want.Outcomes[0].Confidence)
		}
	}
}

// TestMoreFoldsThanQuestions: each is then voted on with what all others gave, and
// folds without questions cost nothing.
func TestMoreFoldsThanQuestions(t *testing.T) {
	pool := Pool{Name: "p"}
	for i := range 6 {
		pool.Questions = append(pool.Questions, question(fmt.Sprint(i), "aBB", "good", "bad", "worse"))
	}
	lines := testutil.Value(Measure([]Pool{pool}, fitted(), Settings{Folds: math.MaxInt}, stats.Bootstrap{Rounds: 2},
		nil))(t)
	for _, l := range lines {
		if l.Voter == "weighted-labels" && l.Right != 6 {
			t.Errorf("%v right; the others teach that one model is good", l.Right)
		}
	}
}

func TestInTurn(t *testing.T) {
	tests := []struct{ runs, want, why string }{
		{"a_seed1 a_seed2 a_seed3 b_seed1 b_seed2", "a_seed1 b_seed1 a_seed2 b_seed2 a_seed3", "two models take turns"},
		{"a_seed1 a_seed2", "a_seed1 a_seed2", "one model"},
		{"a b c", "a b c", "each its own model"},
	}
	for _, test := range tests {
		runs := strings.Fields(test.runs)
		q := question("1", "abcde"[:len(runs)], runs...)
		turned := q.inTurn()
		var got []string
		for i, c := range turned.Candidates {
			got = append(got, c.Model)
			if c.Sample != i || turned.answers[i].rows != c.Fingerprint {
				t.Errorf("%s: candidate %d is sample %d of %s", test.why, i, c.Sample, c.Fingerprint)
			}
		}
		golden.Equal(t, strings.Fields(test.want), got, test.why)
	}
}

func TestRules(t *testing.T) {
	pools := []Pool{
		{Name: "p", Questions: []*Question{doubted(question("1", "BBa"), "B", "star"),
			doubted(question("2", "aB"), "a", "star")}},
		{Name: "q", Questions: []*Question{question("3", "aa")}},
	}
	list := testutil.Value(Rules(pools))(t)
	var got []RuleFigures
	for _, f := range list {
		if f.Rule == "star" {
			got = append(got, f)
		}
	}
	want := []RuleFigures{
		// It rescues question 1 and spoils question 2: all the same in sum.
		{Pool: "p", Rule: "star", Candidates: 5, Fires: 3, FiresRight: 1, Questions: 2, Right: 1, Without: 1},
		{Pool: "q", Rule: "star", Candidates: 2, Questions: 1, Right: 1, Without: 1},
		{Pool: AllPools, Rule: "star", Candidates: 7, Fires: 3, FiresRight: 1, Questions: 3, Right: 2, Without: 2},
	}
	golden.Equal(t, want, got)
}

func TestLooks(t *testing.T) {
	pools := []Pool{
		{Name: "p", Samples: 8, Questions: []*Question{question("1", "aaaaBBBB"), question("2", "aaaaaaaa")}},
		{Name: "small", Samples: 2, Questions: []*Question{question("3", "aB")}},
	}
	list := testutil.Value(Looks(pools))(t)
	for _, f := range list {
		if f.Voter != "result" || f.Order != "file" || f.Every != 1 {
			continue
		}
		want := map[string]LookFigures{
			"decided":     {Calls: (8 + 5) / 16.0, Looks: 2.5, N: 2},
			"ahead3":      {Calls: (3 + 3) / 16.0, Looks: 1, N: 2},
			"posterior95": {Calls: (4 + 4) / 16.0, Looks: 1, N: 2},
		}[f.Stop]
		want.Voter, want.Stop, want.Order, want.Every = f.Voter, f.Stop, f.Order, f.Every
		if f.Stop == "decided" {
			f.Looks = want.Looks // how many waves it takes is tested with the rule
		}
		golden.Equal(t, want, f)
	}
}

func TestWithoutRuleLeavesItsInput(t *testing.T) {
	q := doubted(question("1", "aB"), "B", "star")
	out := withoutRule(q.Candidates, "star")
	if len(q.Candidates[1].Findings) != 1 || len(out[1].Findings) != 0 {
		t.Errorf("in %v, out %v", q.Candidates[1].Findings, out[1].Findings)
	}
}

// TestBaselinesHaveNoDoubts: strategies without doubt rules of their own know nothing
// of rules on the question, so neither do the votes that stand for them. Naive votes
// have the share as their confidence, whatever abstained.
func TestBaselinesHaveNoDoubts(t *testing.T) {
	p := Pool{Name: "p", Samples: 5, Questions: []*Question{doubted(question("1", "aaaBB"), "a", "empty")}}
	for name, want := range map[string]float64{
		"text": 0.6, "result": 0.6, "result-bag": 4.0 / 7, "result-probing": 4.0 / 7, "plan": 4.0 / 7,
		"plan-unrun": 4.0 / 7, "text-unrun": 4.0 / 7, "result+decided": 1,
	} {
		v := testutil.Value(VoterNamed(name))(t)
		elect := testutil.Value(v.start(p, Settings{}))(t)
		d, err := elect(p.Questions[0])
		if err != nil || math.Abs(d.Confidence-want) > 1e-4 {
			t.Errorf("%s: confidence %.4f, %v, want %.4f", name, d.Confidence, err, want)
		}
	}
	if len(p.Questions[0].Candidates[0].Findings) != 1 {
		t.Error("the findings of the question are gone")
	}
}
