package vote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
)

// mixedVote has clusters of every kind: doubted, empty, truncated, abstaining.
func mixedVote() []Candidate {
	more := Finding{Rule: "more_columns", Detail: "more columns than asked", Doubt: 1}
	star := Finding{Rule: "star", Detail: "all columns selected, some asked", Doubt: 1}
	return []Candidate{
		{SQL: "SELECT * FROM singer", Sample: 0, Model: "m", Fingerprint: "aa", Rows: 2, Columns: 7,
			Findings: []Finding{more, star}},
		{SQL: "SELECT name FROM singer", Sample: 1, Model: "m", Fingerprint: "bb", Rows: 2, Columns: 1},
		{SQL: "SELECT id, name FROM singer", Sample: 2, Model: "m", Fingerprint: "aa", Rows: 2, Columns: 7,
			Findings: []Finding{more}},
		{SQL: "SELEC name", Sample: 3, Model: "m", Rejected: "syntax error near SELEC", Invalid: true},
		{SQL: "SELECT name FROM singer WHERE 0", Sample: 4, Model: "m", Fingerprint: "cc", Columns: 1, Empty: true,
			Findings: []Finding{{Rule: "empty", Detail: "no rows", Doubt: 1}}},
		{SQL: "SELECT a.name FROM singer a, singer b", Sample: 5, Model: "m", Truncated: true, Rows: 10000, Columns: 1},
		{SQL: "SELECT name FROM singer ORDER BY 1", Sample: 6, Model: "m", Fingerprint: "bb", Rows: 2, Columns: 1},
	}
}

func TestDisputed(t *testing.T) {
	votes := func(fingerprints string) (list []Candidate) {
		for i, f := range fingerprints {
			c := Candidate{SQL: "SELECT 1", Sample: i, Fingerprint: string(f)}
			if f == '-' {
				c.Fingerprint, c.Rejected = "", "no such table"
			}
			list = append(list, c)
		}
		return list
	}
	heavy := func(c Candidate) float64 {
		if c.Fingerprint == "c" {
			return 0
		}
		return 0.5
	}
	for _, tt := range []struct {
		votes  string
		weight func(Candidate) float64
		below  float64
		want   bool
		why    string
	}{
		{"aab", nil, 0.7, true, "two thirds"},
		{"aab", nil, 2.0 / 3, false, "two thirds are not below two thirds"},
		{"aab", nil, 0, false, "never"},
		{"aaa-", nil, 1, false, "one answer: nothing to choose"},
		{"aaab--", nil, 0.6, true, "three of six samples, three quarters of the votes"},
		{"aabccc", heavy, 0.6, false, "what has no weight is no sample"},
		{"aabccc", heavy, 0.7, true, "two thirds of the weight"},
	} {
		b, err := Majority{Weight: tt.weight}.Count(votes(tt.votes))
		if err != nil || b.Disputed(tt.below) != tt.want {
			t.Errorf("%s below %v: %v, %v; want %v: %s", tt.votes, tt.below, b.Disputed(tt.below), err, tt.want, tt.why)
		}
	}
	if (Ballot{}).Disputed(1) || (Ballot{Sampled: 3, Clusters: make([]Cluster, 2)}).Disputed(1) {
		t.Error("a ballot without votes is disputed")
	}
}

func TestBallotGolden(t *testing.T) {
	for name, m := range map[string]Majority{
		"plain.json":   {},
		"penalty.json": {Penalty: 1, MaxDoubt: 6, MinShare: 0.6},
	} {
		t.Run(name, func(t *testing.T) {
			b := testutil.Value(m.Count(mixedVote()))(t)
			got := testutil.Value(json.MarshalIndent(b, "", "\t"))(t)
			got = append(got, '\n')
			golden.Check(t, name, got)
			for range 20 {
				again, _ := m.Count(mixedVote())
				b, _ := json.MarshalIndent(again, "", "\t")
				if !bytes.Equal(append(b, '\n'), got) {
					t.Fatal("the same vote gave other bytes")
				}
			}
		})
	}
}

func TestExplain(t *testing.T) {
	doubted := func(votes string, doubts ...Finding) []Candidate {
		c := pool(votes)
		for i := range c {
			if votes[i] == 'a' {
				c[i].Findings = doubts
			}
		}
		return c
	}
	spoken := func(votes string, replies int) []Candidate {
		c := pool(votes)
		for i := range c[:replies] {
			c[i].ReplyGroup = 1
		}
		return c
	}
	more := Finding{Rule: "more_columns", Detail: "more columns than asked", Doubt: 1}
	onePlan := pool("aaab")
	for i := range onePlan {
		onePlan[i].Plan = "scan"
	}
	tests := []struct {
		name  string
		m     Majority
		cands []Candidate
		want  string
	}{
		{"clean", Majority{}, pool("aab"), "2 of 3 samples, no doubt"},
		{"one sample", Majority{}, pool("a"), "1 of 1 sample, no doubt; a single vote, nothing confirms it"},
		{"abstained", Majority{}, pool("aa.b"), "2 of 4 samples (1 abstained), no doubt"},
		{"prose", Majority{}, pool("a!!!"), "1 of 4 samples (3 abstained), no doubt; a single vote, nothing confirms it"},
		{"failed calls", Majority{Missing: 2}, pool("aa"), "2 of 2 samples (2 more gave no reply), no doubt"},
		{"one repair", Majority{}, spoken("aaa", 3),
			"3 of 3 samples, no doubt; one reply made all of these votes, nothing confirms it"},
		{"one doubt", Majority{}, doubted("aaab", more), "3 of 4 samples, 1 doubt: more columns than asked"},
		{"two doubts", Majority{}, doubted("aaab", more, Finding{Rule: "star", Doubt: 1}),
			"3 of 4 samples, 2 doubts: more columns than asked; star"},
		{"half a doubt", Majority{}, func() []Candidate {
			c := pool("aab")
			c[0].Findings = []Finding{more}
			return c
		}(), "2 of 3 samples, 0.5 doubts: more columns than asked"},
		{"doubt of a few", Majority{}, func() []Candidate {
			c := doubted("aaaaaaaaaa", more)
			c[9].Findings = append([]Finding{{Rule: "star", Doubt: 1}}, more)
			return c
		}(), "10 of 10 samples, 1.1 doubts: more columns than asked"},
		{"weights", Majority{Weight: func(c Candidate) float64 { return float64(3 - c.Sample) }}, pool("ab"),
			"1 of 2 samples (60 % of the weight), no doubt; a single vote, nothing confirms it"},
		// These three confidences were right by the formula, and nothing said why.
		{"rivals are doubted", Majority{Prior: 1}, doubted("bbbbbaaaa", more, more, more),
			"0.83: 5 of 9 samples, no doubt; " +
				"the 4 votes for other answers are doubted or repeated and count as 0.2; 1 vote for and 1 against are added"},
		{"one rival is doubted", Majority{Prior: 1}, doubted("bbba", more, more, more), "0.79: 3 of 4 samples, no doubt; " +
			"the vote for another answer is doubted or repeated and counts as 0; 1 vote for and 1 against are added"},
		{"some votes repeat a reply", Majority{Prior: 1}, spoken("aaaaaaaabbbb", 4), "0.55: 8 of 12 samples, no doubt; " +
			"repeated replies made 3 of these votes, which add no confidence; 1 vote for and 1 against are added"},
		{"one repair made all votes", Majority{Prior: 1}, spoken("aaaaaaaaaaaa", 12), "0.18: 12 of 12 samples, no doubt; " +
			"one reply made all of these votes, nothing confirms it; 8 votes against it for abstentions, " +
			"failures and repeated replies; " +
			"1 vote for and 1 against are added"},
		{"abstentions are named already", Majority{Prior: 1}, pool("aa!"),
			"0.60: 2 of 3 samples (1 abstained), no doubt; 1 vote for and 1 against are added"},
		{"slips count when they are many", Majority{}, pool("a........"), "1 of 9 samples (8 abstained), no doubt; " +
			"a single vote, nothing confirms it; 5 votes against it for abstentions, failures and repeated replies"},
		{"one plan, two answers", Majority{Key: ByPlan}, onePlan,
			"4 of 4 samples, no doubt; 25 % of these votes are for another answer of the same plan"},
		{"a calibration", Majority{Calibrate: func(float64) float64 { return 0.4 }}, pool("aab"),
			"2 of 3 samples, no doubt; calibrated"},
		{"judged", Majority{}, pool("aab"), "1 of 3 samples, no doubt; a single vote, nothing confirms it; " +
			"chosen against the count"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := testutil.Value(tt.m.Count(tt.cands))(t)
			if tt.name == "judged" {
				b.Overrule(1)
			}
			got := b.Explain()
			if tt.m.Prior > 0 {
				got = fmt.Sprintf("%.2f: %s", b.Confidence, got)
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestExplainThresholds: what is too small to be seen in a figure is not told.
func TestExplainThresholds(t *testing.T) {
	even := func(share, doubt float64) Ballot {
		members := make([]int, 500)
		return Ballot{Sampled: 1000, Voted: 1000, Clusters: []Cluster{
			{Members: members, Weight: 500, Share: share}, {Members: members, Weight: 500, Doubt: doubt},
		}}
	}
	const weight, credit = "% of the weight", "are doubted or repeated and count as"
	for _, tt := range []struct {
		share, doubt float64
		want         []string
		why          string
	}{
		{.5, 0, nil, "as many votes as weight"},
		{.504, 0, nil, "less than half a point above"},
		{.506, 0, []string{weight}, "more than that"},
		{.496, 0, nil, "less than half a point below"},
		{.494, 0, []string{weight}, "more than that"},
		{.5, .00009, nil, "doubts that take .045 of 500 votes"},
		{.5, .00011, []string{credit}, "doubts that take .055 of them"},
	} {
		text := even(tt.share, tt.doubt).Explain()
		for _, note := range []string{weight, credit} {
			if got := strings.Contains(text, note); got != slices.Contains(tt.want, note) {
				t.Errorf("%s: %q in %q: %v", tt.why, note, text, got)
			}
		}
	}
}

func TestRunnerUp(t *testing.T) {
	b, _ := Majority{}.Count(pool("aab"))
	if c, ok := b.RunnerUp(); !ok || c.Key != "b" {
		t.Errorf("%q, %v", c.Key, ok)
	}
	b, _ = Majority{}.Count(pool("aa"))
	if _, ok := b.RunnerUp(); ok {
		t.Error("one cluster has a runner-up")
	}
}

// TestClosing: a level is named by its evidence, and the sentence beside it says which.
func TestClosing(t *testing.T) {
	six := []int{0, 1, 2, 3, 4, 5}
	cluster := Cluster{Members: six}
	doubted := Cluster{Members: six, Doubts: []Finding{{Rule: "r", Detail: "the question says 2024, the statement 2023",
		Doubt: 1}}}
	for _, tt := range []struct {
		why   string
		b     Ballot
		level Level
		want  string
	}{
		{"from .85 on", Ballot{Sampled: 6, Voted: 6, Clusters: []Cluster{cluster}, Confidence: .85}, LevelAgreed,
			"All 6 samples agree."},
		{"another model agrees", Ballot{Sampled: 6, Voted: 6, Clusters: []Cluster{cluster}, Confidence: .85, Second: "m"},
			LevelAgreed,
			"Two models agree. All 6 samples agree."},
		{"one abstained", Ballot{Sampled: 7, Voted: 6, Clusters: []Cluster{cluster}, Confidence: .86,
			Abstained: make([]Abstention, 1)},
			LevelAgreed, "6 of 7 samples agree; 1 gave no usable statement."},
		{"half of them gave nothing to compare, which costs no confidence",
			Ballot{Sampled: 12, Voted: 6, Clusters: []Cluster{cluster}, Confidence: .875,
				Abstained: make([]Abstention, 6)}, LevelCheck, "Check this: 6 of 12 samples agree; 6 gave no usable statement."},
		{"three in four", Ballot{Sampled: 8, Voted: 6, Clusters: []Cluster{cluster}, Confidence: .87,
			Abstained: make([]Abstention, 2)},
			LevelAgreed, "6 of 8 samples agree; 2 gave no usable statement."},
		{"a candidate without weight is no sample", Ballot{Sampled: 7, Voted: 6, Clusters: []Cluster{cluster},
			Confidence: .86,
			Abstained:  []Abstention{{6, noWeight}}}, LevelAgreed, "All 6 samples agree."},
		{"lost samples beside enough votes", Ballot{Sampled: 6, Voted: 6, Clusters: []Cluster{cluster}, Confidence: .86,
			Missing: 2},
			LevelAgreed, "All 6 samples agree. 2 of 8 samples did not reply."},
		{"a split", Ballot{Sampled: 9, Voted: 7, Clusters: []Cluster{cluster}, Confidence: .70,
			Abstained: make([]Abstention, 2)},
			LevelCheck, "Check this: 6 of 9 samples agree; 2 gave no usable statement."},
		{"half of them", Ballot{Sampled: 12, Voted: 12, Clusters: []Cluster{cluster}, Confidence: .5}, LevelCheck,
			"Check this: 6 of 12 samples agree."},
		{"fewer than half", Ballot{Sampled: 13, Voted: 13, Clusters: []Cluster{cluster}, Confidence: .5}, LevelUnsure,
			"Not sure: this answer has 6 of 13 samples."},
		{"an outage took the others", Ballot{Sampled: 3, Voted: 3, Clusters: []Cluster{{Members: []int{0, 1, 2}}},
			Confidence: .8, Missing: 9},
			LevelUnsure, "Not sure: only 3 samples were compared, and all agree. 9 of 12 samples did not reply."},
		{"one of two votes", Ballot{Sampled: 3, Voted: 1, Clusters: []Cluster{{Members: []int{0}}}, Confidence: .4,
			Abstained: make([]Abstention, 2)},
			LevelUnsure, "Not sure: this answer has 1 of 3 samples; 2 gave no usable statement."},
		{"four equal votes are not enough", Ballot{Sampled: 4, Voted: 4, Clusters: []Cluster{{Members: []int{0, 1, 2, 3}}},
			Confidence: .83},
			LevelCheck, "Check this: only 4 samples were compared, and all agree."},
		{"one statement", Ballot{Sampled: 1, Voted: 1, Clusters: []Cluster{{Members: []int{0}}}, Confidence: .67},
			LevelSingle,
			"One statement; not voted on."},
		{"one doubted statement",
			Ballot{Sampled: 1, Voted: 1, Clusters: []Cluster{{Members: []int{0}, Doubt: 1, Doubts: doubted.Doubts}},
				Confidence: .4},
			LevelCheck, "Check this: the question says 2024, the statement 2023. One statement; not voted on."},
		{"a doubt about the meaning", Ballot{Sampled: 6, Voted: 6, Clusters: []Cluster{doubted}, Confidence: .5}, LevelCheck,
			"Check this: the question says 2024, the statement 2023."},
		{"a doubt and a split", Ballot{Sampled: 20, Voted: 20, Clusters: []Cluster{doubted}, Confidence: .2}, LevelUnsure,
			"Not sure: this answer has 6 of 20 samples; the question says 2024, the statement 2023."},
		{"a judge", Ballot{Sampled: 9, Voted: 9, Clusters: []Cluster{cluster}, Confidence: .6, Overruled: true}, LevelCheck,
			"Check this: this answer has 6 of 9 samples and was chosen over the count."},
		{"no vote", Ballot{}, "", "No answer: no vote: no candidate."},
	} {
		if got := tt.b.Closing(); got != tt.want || tt.b.Level() != tt.level {
			t.Errorf("%s: %s %q, want %s %q", tt.why, tt.b.Level(), got, tt.level, tt.want)
		}
	}
}

// TestAgreedFrom: five equal votes are enough with one vote for and one against added, four are not.
func TestAgreedFrom(t *testing.T) {
	for n, want := range map[string]Level{"aaaa": LevelCheck, "aaaaa": LevelAgreed} {
		if b := testutil.Value(Majority{Prior: 1}.Count(pool(n)))(t); b.Level() != want {
			t.Errorf("%s: %s at %.2f", n, b.Level(), b.Confidence)
		}
	}
}

// TestAfterAgreeing: a small vote goes on until it can show that all agree; a split or larger one does not.
func TestAfterAgreeing(t *testing.T) {
	stop := Stop(Decided).AfterAgreeing(5)
	for _, tt := range []struct {
		why   string
		votes string
		n     int
		want  bool
	}{
		{"three of five decide, and cannot show that all agree", "aaa", 5, false},
		{"four of five", "aaaa", 5, false},
		{"all of them", "aaaaa", 5, true},
		{"fewer than five were asked for", "aaa", 4, true},
		{"a split vote is not made better by more samples", "baaa", 5, true},
		{"of twelve seven decide anyway", "aaaaaaa", 12, true},
		{"six do not", "aaaaaa", 12, false},
	} {
		state := testutil.Value(Majority{}.State(pool(tt.votes), tt.n))(t)
		if got := stop(state); got != tt.want {
			t.Errorf("%s: %v", tt.why, got)
		}
	}
}
