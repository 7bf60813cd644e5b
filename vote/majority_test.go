package vote

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/testutil"
)

// weighing counts with the weights of the samples.
func weighing(weights ...float64) Majority {
	return Majority{Weight: func(c Candidate) float64 { return weights[c.Sample] }}
}

// pool makes one candidate for every letter of votes: its fingerprint is the
// letter, its SQL names letter and sample. "." is a candidate that the
// engine did not take, "!" one without SQL.
func pool(votes string) []Candidate {
	out := make([]Candidate, len(votes))
	for i, v := range votes {
		out[i] = Candidate{SQL: "SELECT " + string(v), Sample: i, Fingerprint: string(v)}
		if v == '.' {
			out[i].Rejected, out[i].Invalid, out[i].Fingerprint = "syntax error", true, ""
		}
		if v == '!' {
			out[i].SQL, out[i].Rejected, out[i].Fingerprint = "", "no-sql: prose", ""
		}
	}
	return out
}

// winner returns the key and the representative of the winner.
func winner(t *testing.T, m Majority, candidates []Candidate) (key string, best int) {
	t.Helper()
	b := testutil.Value(m.Count(candidates))(t)
	w := testutil.Value(b.Winner())(t)
	return w.Key, w.Best
}

func TestMajority(t *testing.T) {
	with := func(votes string, change func([]Candidate)) []Candidate {
		c := pool(votes)
		change(c)
		return c
	}
	doubt := func(rule string, d float64) []Finding { return []Finding{{Rule: rule, Doubt: d}} }
	tests := []struct {
		name  string
		why   string
		m     Majority
		cands []Candidate
		want  string
		best  int
	}{
		{"most votes", "the largest cluster wins", Majority{}, pool("abbcb"), "b", 1},
		{"one candidate", "it elects itself", Majority{}, pool("a"), "a", 0},
		{"rejected", "a rejected candidate never votes", Majority{}, pool("..a"), "a", 2},
		{"tie: earliest", "the cluster sampled first wins a tie", Majority{}, pool("baab"), "b", 0},
		{"tie 1: empty", "with equal votes a result with rows goes first", Majority{},
			with("aabb", func(c []Candidate) { c[0].Empty, c[1].Empty = true, true }), "b", 2},
		{"tie 1: all NULL", "NULLs are as good as nothing", Majority{},
			with("aabb", func(c []Candidate) { c[0].AllNull, c[1].AllNull = true, true }), "b", 2},
		{"empty majority", "only ties: an empty result may well be right", Majority{},
			with("aaab", func(c []Candidate) { c[0].Empty, c[1].Empty, c[2].Empty = true, true, true }), "a", 0},
		{"tie: off", "Earliest has no opinion", Majority{Tie: Ties()},
			with("aabb", func(c []Candidate) { c[0].Empty, c[1].Empty = true, true }), "a", 0},
		{"tie: own, then default", "Ties asks in order", Majority{Tie: Ties(func(a, b Candidate) int {
			return b.Rows - a.Rows
		}, PreferRows)},
			with("abc", func(c []Candidate) { c[1].Rows, c[2].Rows, c[1].Empty = 5, 5, true }), "c", 2},
		{"weights", "weight decides, not heads", weighing(5, 2, 2), pool("abb"), "a", 0},
		{"equal sums of weights", "0.1+0.2 ties with 0.3", weighing(0.3, 0.1, 0.2), pool("abb"), "a", 0},
		{"weight 0", "is no vote", Majority{Weight: func(c Candidate) float64 { return float64(c.Sample) }}, pool("ab"),
			"b", 1},
		{"doubt without penalty", "findings are no votes", Majority{},
			with("aab", func(c []Candidate) { c[0].Findings, c[1].Findings = doubt("x", 1), doubt("x", 1) }), "a", 0},
		{"doubt with penalty", "one doubt costs a factor e: 2/e < 1", Majority{Penalty: 1, MaxDoubt: 6},
			with("aab", func(c []Candidate) { c[0].Findings, c[1].Findings = doubt("x", 1), doubt("x", 1) }), "b", 2},
		{"enough votes", "3/e > 1: a doubt is no veto", Majority{Penalty: 1, MaxDoubt: 6},
			with("aaab", func(c []Candidate) {
				c[0].Findings, c[1].Findings, c[2].Findings = doubt("x", 1), doubt("x", 1), doubt("x", 1)
			}), "a", 0},
		{"mean doubt", "half of the members doubt: 2·e^(−½) > 1", Majority{Penalty: 1, MaxDoubt: 6},
			with("aab", func(c []Candidate) { c[0].Findings = doubt("x", 1) }), "a", 0},
		{"information", "a finding of weight 0 costs nothing", Majority{Penalty: 1, MaxDoubt: 6},
			with("aab", func(c []Candidate) { c[0].Findings, c[1].Findings = doubt("x", 0), doubt("x", -3) }), "a", 0},
		{"broken doubt", "NaN and infinity are ignored", Majority{Penalty: 1, MaxDoubt: 6},
			with("aab", func(c []Candidate) { c[0].Findings, c[1].Findings = doubt("x", math.NaN()), doubt("x", math.Inf(1)) }),
			"a", 0},
		{"represented by the usual text", "however cheap another one is", Majority{},
			with("aaa", func(c []Candidate) { c[0].SQL, c[0].Cost, c[1].Cost, c[2].Cost = "TABLE a", 10, 50, 150 }), "a", 1},
		{"represented by cost", "the cheapest plan of one text", Majority{},
			with("aaa", func(c []Candidate) { c[0].Cost, c[1].Cost, c[2].Cost = 100, 50, 150 }), "a", 1},
		{"represented by length", "of texts that are as frequent the shortest", Majority{},
			with("aa", func(c []Candidate) { c[1].SQL = "TABLE a" }), "a", 1},
		{"represented by sample", "then the earliest sample, whatever the order of the list", Majority{},
			with("aa", func(c []Candidate) { c[0].Sample, c[1].Sample = 1, 0 }), "a", 1},
		{"ordered", "most members sort, so the answer does, however short the other is", Majority{},
			with("aaa", func(c []Candidate) { c[0].SQL, c[1].SQL = "SELECT x FROM t ORDER BY x", "SELECT x FROM t ORDER BY y" }),
			"a", 0},
		{"not ordered", "half is not most", Majority{},
			with("aa", func(c []Candidate) { c[0].SQL = "SELECT x FROM t ORDER BY x" }), "a", 1},
		{"ordered inside", "an ORDER BY of a subquery sorts nothing", Majority{},
			with("aaa", func(c []Candidate) {
				for i := range 2 {
					c[i].SQL = fmt.Sprintf("SELECT x FROM (SELECT x FROM t ORDER BY x LIMIT %d)", i+3)
				}
			}), "a", 2},
		{"ordered as most", "among those that sort the most frequent sequence, though it costs more", Majority{},
			with("aaa", func(c []Candidate) {
				for i := range c {
					c[i].SQL = "SELECT x FROM t ORDER BY x"
				}
				c[0].Sequence, c[1].Sequence, c[2].Sequence = "up", "down", "down"
				c[1].Cost, c[2].Cost = 50, 40
			}), "a", 2},
		{"truncated", "cut results are equal when their texts are", Majority{},
			with("abc", func(c []Candidate) {
				c[1].Truncated, c[1].SQL = true, "SELECT x  FROM t;"
				c[2].Truncated, c[2].SQL = true, "select x from t"
			}), "text:" + mustText("select x from t"), 2},
		{"truncated and complete", "a cut result never joins a complete one", Majority{},
			with("aab", func(c []Candidate) { c[0].Truncated = true; c[1].Truncated, c[1].SQL = true, "SELECT other" }),
			"text:" + mustText("SELECT a"), 0},
		{"by plan", "another key", Majority{Key: ByPlan},
			with("abc", func(c []Candidate) { c[1].Plan, c[2].Plan = "scan:t", "scan:t" }), "scan:t", 1},
		{"by text", "case and blanks do not count", Majority{Key: ByText},
			with("abc", func(c []Candidate) { c[1].SQL, c[2].SQL = "SELECT x FROM t", "select  x\nfrom t;" }),
			mustText("SELECT x FROM t"), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			key, best := winner(t, tt.m, tt.cands)
			if key != tt.want || best != tt.best {
				t.Errorf("winner %q by candidate %d, want %q by %d: %s", key, best, tt.want, tt.best, tt.why)
			}
		})
	}
}

func mustText(sql string) string {
	key, ok := ByText(Candidate{SQL: sql})
	if !ok {
		panic("no key for " + sql)
	}
	return key
}

func TestNoVote(t *testing.T) {
	weight := func(Candidate) float64 { return 0 } // of a panel that names none of the models
	tests := []struct {
		name  string
		cands []Candidate
		want  string
	}{
		{"nobody", nil, "vote: no vote: no candidate"},
		{"all rejected", pool(".."), "vote: no vote: 2 of 2 candidates abstained: syntax error"},
		{"not executed", []Candidate{{SQL: "SELECT 1"}},
			"vote: no vote: 1 of 1 candidates abstained: nothing to vote with: neither executed nor explained"},
		{"nothing", []Candidate{{}}, "vote: no vote: 1 of 1 candidates abstained: no SQL"},
		{"some without a weight", []Candidate{{Model: "zero", SQL: "SELECT 1", Fingerprint: "1"}, {Rejected: "a"}},
			"vote: no vote: 2 of 2 candidates abstained: its weight is 0; a"},
		{"all without a weight", []Candidate{{Model: "zero", SQL: "SELECT 1", Fingerprint: "1"},
			{Model: "zero", SQL: "SELECT 2", Fingerprint: "2"}},
			"vote: no vote: Majority.Weight is 0 for each of 2 candidates, as with weights that name none of their models"},
		{"many reasons", []Candidate{{Rejected: "a"}, {Rejected: "b"}, {Rejected: "a"}, {Rejected: "c"}, {Rejected: "d"}},
			"vote: no vote: 5 of 5 candidates abstained: a; b; c; …"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := Majority{Weight: weight}.Count(tt.cands)
			if !errors.Is(err, ErrNoVote) || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
			if len(b.Abstained) != len(tt.cands) || b.Sampled != len(tt.cands) {
				t.Errorf("the ballot does not hold the abstentions: %+v", b)
			}
			if _, werr := b.Winner(); werr == nil || werr.Error() != tt.want {
				t.Errorf("Winner: %v", werr)
			}
			if got := b.Explain(); "vote: "+got != tt.want {
				t.Errorf("Explain: %s", got)
			}
		})
	}
}

func TestMajorityErrors(t *testing.T) {
	tests := []struct {
		name string
		m    Majority
		want string
	}{
		{"negative weight", Majority{Weight: func(Candidate) float64 { return -1 }}, "weight of candidate 0 is -1"},
		{"NaN weight", Majority{Weight: func(Candidate) float64 { return math.NaN() }}, "weight of candidate 0 is NaN"},
		{"infinite weight", Majority{Weight: func(Candidate) float64 { return math.Inf(1) }},
			"weight of candidate 0 is +Inf"},
		{"weight whose sums overflow", Majority{Weight: func(Candidate) float64 { return math.MaxFloat64 }},
			"weight of candidate 0 is 1.79"},
		{"greatest weight", Majority{MaxWeight: math.Inf(1)}, "Majority.MaxWeight is +Inf"},
		{"greatest doubt", Majority{MaxDoubt: -1}, "Majority.MaxDoubt is -1"},
		{"negative penalty", Majority{Penalty: -1}, "Majority.Penalty is -1"},
		{"penalty alone", Majority{Penalty: 1}, "Majority.Penalty needs MaxDoubt"},
		{"NaN penalty", Majority{Penalty: math.NaN()}, "Majority.Penalty is NaN"},
		{"share", Majority{MinShare: 1.5}, "Majority.MinShare is 1.5"},
		{"two faults", Majority{MinShare: -1, Penalty: -1}, "Majority.MinShare is -1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := tt.m.Count(pool("a")); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Count: %v, want %q", err, tt.want)
			}
			if _, err := tt.m.State(pool("a"), 3); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("State: %v, want %q", err, tt.want)
			}
		})
	}
}

func TestMinShare(t *testing.T) {
	for _, tt := range []struct {
		votes string
		min   float64
		weak  bool
	}{{"aab", 0.6, false}, {"ab", 0.6, true}, {"aaabb", 0.6, false}, {"ab", 0, false}} {
		b, err := Majority{MinShare: tt.min}.Count(pool(tt.votes))
		if err != nil || b.Weak != tt.weak {
			t.Errorf("%s at %v: weak %v, %v, want %v", tt.votes, tt.min, b.Weak, err, tt.weak)
		}
	}
}

func TestConfidence(t *testing.T) {
	broken := func(d float64) []Finding { return []Finding{{Rule: "r", Doubt: d}} }
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

	b, _ := Majority{}.Count(pool("aaab."))
	if !near(b.Confidence, 0.75) {
		t.Errorf("without doubts it is the share of the votes: %v", b.Confidence)
	}
	c := pool("aaab")
	for i := range 3 {
		c[i].Findings = broken(1)
	}
	b, _ = Majority{}.Count(c)
	if want := 3 * math.Exp(-1) / (3*math.Exp(-1) + 1) * math.Exp(-0.5); !near(b.Confidence, want) {
		t.Errorf("with a doubt of the winner: %v, want %v", b.Confidence, want)
	}
	c = pool("aaab")
	c[3].Findings = broken(2)
	b, _ = Majority{}.Count(c)
	if want := 3 / (3 + math.Exp(-2)); !near(b.Confidence, want) {
		t.Errorf("with doubts of a rival: %v, want %v", b.Confidence, want)
	}
	for _, tt := range []struct {
		votes  string
		prior  float64
		weight float64
		want   float64
		why    string
	}{
		{"aaaaa", 1, 1, 6.0 / 7, "the rule of succession"},
		{"aaaaaaaaaaaa", 1, 1, 13.0 / 14, "more votes of the same share say more"},
		{"a", 1, 1, 2.0 / 3, "a single vote says little"},
		{"aab.", 1, 1, 3.0 / 5, "a slip of the pen says nothing"},
		{"aa......", 1, 1, 3.0 / 4, "nor do three for each vote"},
		{"a...........", 1, 1, 2.0 / 11, "but eight more do: one sample of twelve that the engine took"},
		{"a!!!!!!!!!!!", 1, 1, 2.0 / 14, "one sample of twelve with SQL"},
		{"a!!!!!!!!!!!", 0, 1, 1.0 / 12, "the same without a prior"},
		{"aaa!!!!!!!!", 0, 1, 3.0 / 11, "eight of eleven refused"},
		{"aab!", 0, 1, 2.0 / 4, "a rival that gave no answer"},
		{"aab", 1, 7, 3.0 / 5, "a prior vote counts as an average one"},
		{"aab", 0.5, 1, 2.5 / 4, "half a vote for each side"},
	} {
		b, err := Majority{Prior: tt.prior, Weight: func(Candidate) float64 { return tt.weight }}.Count(pool(tt.votes))
		if err != nil || !near(b.Confidence, tt.want) {
			t.Errorf("%s: %s with prior %v: %v, %v, want %v", tt.why, tt.votes, tt.prior, b.Confidence, err, tt.want)
		}
	}
	c = pool("aaaaaaaaaaaa")
	for i := range c {
		c[i].ReplyGroup = 1
	}
	if b, _ := (Majority{Prior: 1}).Count(c); !near(b.Confidence, 2.0/11) || b.Clusters[0].Weight != 12 {
		t.Errorf("twelve votes of one reply: %v, weight %v, want what one reply of twelve has, and every vote", b.Confidence,
			b.Clusters[0].Weight)
	}
	if b, _ := (Majority{Prior: 1, Missing: 11}).Count(pool("a")); !near(b.Confidence, 2.0/11) {
		t.Errorf("eleven failed calls: %v", b.Confidence)
	}
	if _, err := (Majority{Missing: -1}).Count(pool("a")); err == nil {
		t.Error("a negative Missing is no error")
	}
	weighed := Majority{Weight: func(c Candidate) float64 { return float64(len(c.SQL) - len("SELECT ")) }}
	c = pool("aabb")
	c[2].SQL, c[3].SQL = "SELECT ", "SELECT "
	if b, _ := weighed.Count(c); !near(b.Confidence, 1) {
		t.Errorf("a model of weight 0 counts against the others: %v", b.Confidence)
	}
	for _, prior := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := (Majority{Prior: prior}).Count(pool("a")); err == nil ||
			!strings.Contains(err.Error(), "Majority.Prior") {
			t.Errorf("prior %v: %v", prior, err)
		}
	}
	c = pool("aa")
	c[0].Findings, c[1].Findings = broken(1e6), broken(1e6)
	if b, err := (Majority{}).Count(c); err != nil || b.Confidence != 0 {
		t.Errorf("a doubt beyond the range: %v, %v", b.Confidence, err)
	}
	for _, tt := range []struct{ calibrated, want float64 }{{0.4, 0.4}, {7, 1}, {-1, 0}, {math.NaN(), 0}} {
		b, _ = Majority{Calibrate: func(float64) float64 { return tt.calibrated }}.Count(pool("aab"))
		if b.Confidence != tt.want {
			t.Errorf("calibrated to %v: %v, want %v", tt.calibrated, b.Confidence, tt.want)
		}
	}
}

func TestCountDoesNotDependOnOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		c := randomCandidates(r, 12)
		m := Majority{Penalty: float64(r.IntN(2)), MaxDoubt: 6, Weight: func(c Candidate) float64 {
			return 0.1 * float64(1+len(c.Model))
		}}
		want, err := m.Count(c)
		shuffled := append([]Candidate(nil), c...)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		got, err2 := m.Count(shuffled)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("%v, shuffled %v", err, err2)
		}
		if err != nil {
			continue
		}
		if shuffled[got.Clusters[0].Best].Sample != c[want.Clusters[0].Best].Sample ||
			len(got.Clusters) != len(want.Clusters) {
			t.Fatalf("winner %+v, shuffled %+v", want.Clusters[0], got.Clusters[0])
		}
		for i := range got.Clusters {
			if got.Clusters[i].Key != want.Clusters[i].Key {
				t.Fatalf("cluster %d is %q, shuffled %q", i, want.Clusters[i].Key, got.Clusters[i].Key)
			}
		}
	}
}

// randomCandidates makes n candidates of four results, with doubts, models,
// rejections and ties.
func randomCandidates(r *rand.Rand, n int) []Candidate {
	out := make([]Candidate, n)
	for i := range out {
		k := min(r.IntN(6), r.IntN(6))
		c := Candidate{
			SQL: strings.Repeat("S", 1+r.IntN(3)), Sample: i, Fingerprint: string(rune('a' + k)),
			Model: strings.Repeat("m", r.IntN(3)), Empty: k == 1, Cost: float64(r.IntN(2)),
		}
		if k == 2 { // a doubt of the result is that of all members
			c.Findings = append(c.Findings, Finding{Rule: "result", Doubt: 1})
		}
		for range r.IntN(3) {
			c.Findings = append(c.Findings, Finding{Rule: "sql", Doubt: 0.5})
		}
		if r.IntN(8) == 0 {
			c.Rejected = "broken"
		}
		out[i] = c
	}
	return out
}

func TestOverrule(t *testing.T) {
	b := testutil.Value(Majority{}.Count(pool("aaabbc")))(t)
	kept := b
	b.Overrule(1)
	var keys []string
	for _, c := range b.Clusters {
		keys = append(keys, c.Key)
	}
	if diff := cmp.Diff([]string{"b", "a", "c"}, keys); diff != "" || !b.Overruled || b.Confidence != 2.0/6 {
		t.Errorf("overruled %v, confidence %v (-want +got):\n%s", b.Overruled, b.Confidence, diff)
	}
	if kept.Clusters[0].Key != "a" {
		t.Error("the copy of the ballot changed")
	}
	for _, i := range []int{-1, 0, 9} {
		b := kept
		if b.Overrule(i); b.Overruled {
			t.Errorf("Overrule(%d) did something", i)
		}
	}
}

// TestForm: what is doubted of the form of an answer decides between answers, and takes nothing from one that all votes
// are for.
func TestForm(t *testing.T) {
	form := Finding{Rule: "more_columns", Doubt: 1, Form: true}
	sense := Finding{Rule: "sum", Doubt: 1}
	count := func(findings ...Finding) (list []Candidate) {
		for i, f := range findings {
			list = append(list, Candidate{Sample: i, SQL: "SELECT 1", Fingerprint: "a", Findings: []Finding{f}})
		}
		return list
	}
	other := Candidate{Sample: 9, SQL: "SELECT 2", Fingerprint: "b"}
	for _, tt := range []struct {
		why   string
		votes []Candidate
		doubt float64 // of the answer a
	}{
		{"all votes agree", count(form, form, form), 0},
		{"a doubt about the meaning stays", count(sense, sense, sense), 1},
		{"beside another answer the form counts", append(count(form, form), other), 1},
		{"an abstention is no other answer", append(count(form, form), Candidate{Sample: 8, Rejected: "no SQL"}), 0},
	} {
		b, err := Majority{Penalty: 1, MaxDoubt: 6, Prior: 1}.Count(tt.votes)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(b.Clusters, func(c Cluster) bool { return c.Key == "a" || c.SQL == "SELECT 1" })
		if got := b.Clusters[at].Doubt; got != tt.doubt {
			t.Errorf("%s: doubt %v, want %v", tt.why, got, tt.doubt)
		}
	}
}
