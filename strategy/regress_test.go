package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// TestBigSchemaIsLinkedNotCut: a linker that keeps the whole schema (as the value
// linker does) does not undo that a schema over the budget is linked by words;
// what it found is kept.
func TestBigSchemaIsLinkedNotCut(t *testing.T) {
	var script strings.Builder
	for i := range 100 {
		fmt.Fprintf(&script, "CREATE TABLE warehouse_%d (id INTEGER PRIMARY KEY, place_%d TEXT, capacity INTEGER);\n", i, i)
	}
	script.WriteString("CREATE TABLE invoices (id INTEGER PRIMARY KEY, amount REAL, branch TEXT); " +
		"INSERT INTO warehouse_7 VALUES (1, 'Oslo', 5);")
	model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT sum(amount) FROM invoices"),
		Repeat: true}}}
	env := envOf(t, script.String(), model)
	env.SchemaBudget = 500
	for name, l := range map[string]linker.Linker{"none": nil, "values": linker.Values{},
		"whole": linker.Func(func(context.Context, linker.Input) (schema.Links,
			error) {
			return schema.Links{Whole: true}, nil
		})} {
		p := plain(1)
		p.Linker = l
		out := testutil.Value(p.Generate(t.Context(), env,
			strategy.Task{Question: "What is the total amount of the invoices of Oslo?"}))(t)
		requests := model.Requests()
		prompt := requests[len(requests)-1].Messages[1].Text
		if !strings.Contains(prompt, "branch TEXT") || strings.Contains(prompt, "warehouse_8") {
			t.Errorf("%s: the schema was not linked:\n%s", name, prompt)
		}
		if found := strings.Contains(prompt, `warehouse_7.place_7 has "Oslo"`) &&
			strings.Contains(prompt, "CREATE TABLE warehouse_7"); found != (name == "values") {
			t.Errorf("%s: the stored value and its table are shown: %v\n%s", name, found, prompt)
		}
		if out.Links.Whole || !slices.ContainsFunc(out.Notes, func(n string) bool {
			return strings.Contains(n, "over the budget of 500")
		}) {
			t.Errorf("%s: links %+v, notes %q", name, out.Links, out.Notes)
		}
	}
}

// TestQuorumHoldsAfterRepairs: votes that are missing stay missing when a repair
// does not bring them.
func TestQuorumHoldsAfterRepairs(t *testing.T) {
	rate := &llm.Error{Class: llm.ClassRateLimit, Message: "slow down"}
	replies := []llmtest.Reply{{Text: usa}, {Text: broken}, {Text: broken}, {Err: rate}}
	tests := []struct {
		name    string
		min     int
		repair  string
		refused bool
		why     string
	}{
		{"met by repairs", 3, usa, false, "one repair gives two copies their votes"},
		{"repair fails", 3, "SELECT nothing FROM nowhere", true, "one vote is not three"},
		{"never to be met", 4, usa, true, "three votes at most: no repair is tried"},
		{"not needed", 1, "SELECT nothing FROM nowhere", false, "one vote is enough"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := &llmtest.Script{Rules: []llmtest.Rule{{Purpose: "generate", Replies: replies}, repairs(tt.repair)}}
			p := plain(4)
			p.Refine, p.Sampler.MinVotes = &strategy.Refine{Decisive: true}, tt.min
			_, err := p.Generate(t.Context(), shopEnv(t, script), strategy.Task{Question: "q"})
			if refused := errors.Is(err, strategy.ErrNoCandidate); refused != tt.refused {
				t.Fatalf("got %v: %s", err, tt.why)
			}
			if tt.refused && (!errors.Is(err, strategy.ErrQuorum) || !errors.Is(err, rate)) {
				t.Errorf("the quorum or the failed sample is not in the error: %v", err)
			}
			if n := len(script.RequestsFor("repair")); n > 0 != (tt.min != 4) {
				t.Errorf("%d repairs: %s", n, tt.why)
			}
		})
	}
}

// TestFailedSamplesAreTold also when nothing could be repaired.
func TestFailedSamplesAreTold(t *testing.T) {
	down := &llm.Error{Class: llm.ClassOverloaded, Message: "busy"}
	script := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "generate", Replies: []llmtest.Reply{{Text: broken}, {Err: down}}}, repairs("SELECT nothing FROM nowhere"),
	}}
	p := plain(2)
	p.Refine = &strategy.Refine{Decisive: true}
	_, err := p.Generate(t.Context(), shopEnv(t, script), strategy.Task{Question: "q"})
	var none *strategy.NoCandidateError
	if !errors.As(err, &none) || len(none.Failed) != 1 || len(none.Rejected) != 1 || !errors.Is(err, down) {
		t.Errorf("got %+v", err)
	}
}

// TestRepairLooksAtDoubts: five votes for a doubtful answer can be overtaken by
// fewer than five.
func TestRepairLooksAtDoubts(t *testing.T) {
	odd := doubt.Rule{Name: "odd", Broken: func(in doubt.Input) (string, bool) {
		return "it is for everyone", !strings.Contains(in.Statement.SQL(), "WHERE")
	}}
	for _, tt := range []struct {
		penalty float64
		calls   int
		sql     string
	}{
		{0, 8, everyone}, // 5 against 1 + 2: no repair
		{1, 9, usa},      // 5/e against 1 + 2
	} {
		script := &llmtest.Script{Rules: []llmtest.Rule{generate(everyone, everyone, everyone, everyone, everyone, usa,
			broken, broken), repairs(usa)}}
		p := plain(8)
		p.Refine, p.Doubts = &strategy.Refine{Decisive: true}, &doubt.Rules{List: []doubt.Rule{odd}}
		p.Voter = vote.Majority{Penalty: tt.penalty}
		out := testutil.Value(p.Generate(t.Context(), shopEnv(t, script), strategy.Task{Question: "q"}))(t)
		if n := len(script.Requests()); n != tt.calls || out.SQL != tt.sql {
			t.Errorf("penalty %v: %d calls, %q; want %d, %q", tt.penalty, n, out.SQL, tt.calls, tt.sql)
		}
	}
}

// TestJudgedConfidenceIsCalibratedOnce.
func TestJudgedConfidenceIsCalibratedOnce(t *testing.T) {
	p := plain(4)
	p.Judge = strategy.Rubric{}
	p.Voter = vote.Majority{MinShare: 0.9, Calibrate: func(x float64) float64 { return x / 2 }}
	for _, verdicts := range [][]string{{"A", "B"}, {"B", "A"}} {
		out, err := p.Generate(t.Context(),
			shopEnv(t, &llmtest.Script{Rules: []llmtest.Rule{generate(usa, usa, everyone, everyone), judges(verdicts...)}}),
			strategy.Task{Question: "q"})
		if err != nil || out.Confidence != 0.25 {
			t.Errorf("judge %v: confidence %v, %v; want half of 0.5", verdicts, out.Confidence, err)
		}
	}
}

// TestOtherVoters: a voter that is no Majority works in every stage.
func TestOtherVoters(t *testing.T) {
	p := plain(4)
	p.Refine, p.Voter = &strategy.Refine{Decisive: true}, countOf{vote.Majority{}}
	for _, tt := range []struct {
		replies []string
		calls   int
	}{
		{[]string{everyone, broken, usa, broken}, 5},
		{[]string{usa, usa, usa, broken}, 4},
		{[]string{broken, broken, broken, broken}, 5},
	} {
		script := &llmtest.Script{Rules: []llmtest.Rule{generate(tt.replies...), repairs(usa)}}
		out, err := p.Generate(t.Context(), shopEnv(t, script), strategy.Task{Question: "q"})
		if err != nil || out.SQL != usa || len(script.Requests()) != tt.calls {
			t.Errorf("%q: %q after %d calls, %v", tt.replies, out.SQL, len(script.Requests()), err)
		}
	}
}

// countOf hides what a voter is.
type countOf struct{ voter strategy.Voter }

func (c countOf) Count(candidates []vote.Candidate) (vote.Ballot, error) {
	return c.voter.Count(candidates)
}

// TestInvisibleQuestion: a question that nobody can see is none.
func TestInvisibleQuestion(t *testing.T) {
	script := &llmtest.Script{}
	for _, question := range []string{"", " \n\t\u00a0", "\u200b\u2060\ufeff", "\U000e0064\U000e0072\U000e006f\U000e0070",
		"\x00\x1b"} {
		if _, err := (strategy.Direct{}).Generate(t.Context(), shopEnv(t, script),
			strategy.Task{Question: question}); !errors.Is(err, strategy.ErrEmptyQuestion) {
			t.Errorf("%q: %v", question, err)
		}
	}
	if n := len(script.Requests()); n > 0 {
		t.Errorf("%d calls were made", n)
	}
}

func TestSeeds(t *testing.T) {
	tests := []struct {
		seed int64
		want [3]int
		why  string
	}{
		{0, [3]int{0, 0, 0}, "none are sent"},
		{1, [3]int{1, 2, 3}, "base, base+1, …"},
		{7, [3]int{7, 8, 9}, "base, base+1, …"},
		{1 << 30, [3]int{1 << 30, 1<<30 + 1, 1<<30 + 2}, "the greatest base"},
		{1<<30 + 1, [3]int{1, 2, 3}, "begins again"},
		{-1, [3]int{1<<30 - 1, 1 << 30, 1<<30 + 1}, "providers take none below 1"},
		{-1 << 63, [3]int{1 << 30, 1<<30 + 1, 1<<30 + 2}, "no overflow"},
	}
	for _, tt := range tests {
		env := &strategy.Env{Seed: tt.seed}
		var got [3]int
		for i := range got {
			if seed := env.SeedOf(i); seed != nil {
				got[i] = *seed
			} else if tt.seed != 0 {
				t.Errorf("%d: no seed of sample %d", tt.seed, i)
			}
		}
		if got != tt.want {
			t.Errorf("%d: got %v, want %v: %s", tt.seed, got, tt.want, tt.why)
		}
	}
	script := &llmtest.Script{Rules: []llmtest.Rule{generate(usa, usa)}}
	env := shopEnv(t, script)
	env.Seed = 7
	testutil.Value(plain(2).Generate(t.Context(), env, strategy.Task{Question: "q"}))(t)
	for i, r := range script.RequestsFor("generate") {
		if *r.Seed != 7+i {
			t.Errorf("sample %d was sent seed %d", i, *r.Seed)
		}
	}
}

// TestDiscardedStatementComesBack: what an early stop cancelled in the middle of
// its check is checked anew when a later reply has it.
func TestDiscardedStatementComesBack(t *testing.T) {
	env := shopEnv(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	checks := append(exec.PlanChecks(), exec.CheckFunc(func(ctx context.Context, _ *exec.Runner, _ *exec.Checked) error {
		return ctx.Err()
	}))
	a := strategy.NewChecker(t.Context(), env, strategy.Task{Question: "q"}, checks, nil)
	defer a.Close()
	cancel()
	if _, err := a.ExamineSQL(ctx, 5, "", usa); !errors.Is(err, context.Canceled) {
		t.Fatalf("a cancelled sample: %v", err)
	}
	for _, discard := range []bool{false, true} {
		if discard {
			a.Discard(5)
		}
		if c, err := a.ExamineSQL(t.Context(), 1, "", usa); err != nil || c.Rejected != "" || c.Plan == "" {
			t.Errorf("discarded %v: the statement is still cancelled: %+v, %v", discard, c, err)
		}
	}
}

func TestWrongConfidenceBounds(t *testing.T) {
	nan := 0.0
	nan /= nan
	for _, min := range []float64{-0.1, 1.1, nan} {
		if err := (strategy.Pipeline{MinConfidence: min}).Validate(0); err == nil {
			t.Errorf("MinConfidence %v is accepted", min)
		}
	}
}
