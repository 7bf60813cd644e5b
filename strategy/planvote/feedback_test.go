package planvote_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/egtts"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

const (
	chile  = "SELECT name FROM customers WHERE country = 'Chile'" // empty, and no stored country
	norway = "SELECT o.id FROM customers AS c JOIN orders AS o ON o.customer_id = c.id WHERE c.country = 'Norway' " +
		"AND o.total > 100"
)

// correct gives correction samples their replies, by sample from 15 on.
func correct(replies ...string) llmtest.Rule {
	return llmtest.Rule{Purpose: "correct", Replies: append(make([]llmtest.Reply, 15), llmtest.Texts(replies...)...),
		Repeat: true}
}

func TestFeedback(t *testing.T) {
	tests := []struct {
		name        string
		s           planvote.Feedback
		rules       []llmtest.Rule
		sql         string // "" for ErrNoCandidate
		corrections int    // rounds
		most        int    // calls
		note        string
		why         string
	}{
		{"rows", planvote.Feedback{}, []llmtest.Rule{always("generate", usa)}, usa, 0, 8, "", "nothing to correct"},
		{
			"empty, stable", planvote.Feedback{}, []llmtest.Rule{always("generate", chile), correct(chile)}, chile, 1, 13,
			"stayed the same",
			"the same answer again is believed",
		},
		{
			"empty, all literals stored", planvote.Feedback{}, []llmtest.Rule{always("generate", norway)}, norway, 0, 8,
			"every literal stored",
			"a question may have an empty answer",
		},
		{
			"empty, literals stored, a narrow vote", planvote.Feedback{},
			[]llmtest.Rule{samples("generate", norway, norway, everyone), correct(usa)}, everyone,
			0, 15, "", "the vote is by plan, and everyone wins",
		},
		{
			"empty, literals stored, four fifths", planvote.Feedback{},
			[]llmtest.Rule{samples("generate", everyone, everyone, norway), correct(usa)}, norway,
			0, 15, "80 % of the votes, every literal stored", "8 of 10 votes are enough",
		},
		{
			"empty, literals stored, less than four fifths", planvote.Feedback{},
			[]llmtest.Rule{samples("generate", everyone, everyone, everyone, norway), correct(norway)}, norway, 1, 20,
			"stayed the same", "8 of 11 are not",
		},
		{"invalid, then right", planvote.Feedback{}, []llmtest.Rule{always("generate", broken), correct(usa)}, usa, 1, 18, "",
			"one correction"},
		{"invalid for ever", planvote.Feedback{}, []llmtest.Rule{always("generate", broken), correct(broken)}, "", 2, 25, "",
			"every reason is told"},
		{"best of three", planvote.Feedback{}, []llmtest.Rule{
			always("generate", allNil),
			{Purpose: "correct", Match: func(r llm.Request) bool { return r.Sample < 20 }, Replies: llmtest.Texts(broken),
				Repeat: true},
			always("correct",
				chile),
		}, allNil, 2, 25, "", "all NULL goes before empty, and before nothing"},
		{"best of three, one of which fails when it runs", planvote.Feedback{}, []llmtest.Rule{
			always("generate", allNil),
			{
				Purpose: "correct", Match: func(r llm.Request) bool { return r.Sample < 20 },
				Replies: llmtest.Texts("SELECT abs(-9223372036854775808)"), Repeat: true,
			},
			always("correct",
				chile),
		}, allNil, 2, 25, "", "an integer overflow compiles, and fails"},
		{"a later round with rows", planvote.Feedback{}, []llmtest.Rule{always("generate", chile), correct(usa)}, usa, 1, 13,
			"", ""},
		{"no corrections", planvote.Feedback{Corrections: -1}, []llmtest.Rule{always("generate", chile)}, chile, 0, 8, "",
			""},
		{
			"a model that cannot correct", planvote.Feedback{}, []llmtest.Rule{always("generate", chile)}, chile, 1, 13,
			"correction 1 gave no statement",
			"the answer so far stands",
		},
		{
			"two wrong ones, each twice", planvote.Feedback{Corrections: 1},
			[]llmtest.Rule{samples("generate", broken, "SELECT x", broken, "SELECT x", "SELECT x"),
				always("correct", everyone)}, everyone, 1, 20, "", "each is one step",
		},
		{
			"compat: rows after an empty answer count alone", planvote.Feedback{Samples: 3}.Published(),
			[]llmtest.Rule{always("generate", chile), always("correct",
				usa)},
			usa, 1, 6, "", "as published",
		},
		{"prose", planvote.Feedback{}, []llmtest.Rule{always("generate", "I think there are two.")}, "", 0, 15, "",
			"nothing to tell a correction"},
		{
			"compat: the last answer", planvote.Feedback{}.Published(), []llmtest.Rule{always("generate", allNil),
				always("correct", chile)},
			chile, 2, 45, "", "as published",
		},
		{
			"compat: until there are rows", planvote.Feedback{}.Published(), []llmtest.Rule{always("generate", norway),
				always("correct", usa)},
			usa, 1, 30, "", "no empty answer is believed early",
		},
	}
	env := makerEnv(t, nil)
	var told strings.Builder
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := &llmtest.Script{Rules: tt.rules}
			out, err := tt.s.Generate(t.Context(), asking(env, script), strategy.Task{Question: "Who lives in Chile?"})
			told.WriteString("== " + tt.name + "\n" + strategytest.Told(out, err))
			if tt.sql == "" {
				if !errors.Is(err, strategy.ErrNoCandidate) {
					t.Fatalf("got %+v, %v", out, err)
				}
			} else if err != nil || out.SQL != tt.sql {
				t.Fatalf("got %+v, %v, want %q: %s", out, err, tt.sql, tt.why)
			}
			rounds := map[int]bool{}
			for _, r := range script.RequestsFor("correct") {
				rounds[(r.Sample-15)/5] = true
			}
			if tt.s == tt.s.Published() {
				rounds = map[int]bool{}
				for _, r := range script.RequestsFor("correct") {
					rounds[r.Sample/15] = true
				}
			}
			if calls := len(script.Requests()); len(rounds) != tt.corrections || calls > tt.most {
				t.Errorf("%d corrections, %d calls, want %d and at most %d: %s", len(rounds), calls, tt.corrections, tt.most,
					tt.why)
			}
			if tt.note != "" && !slices.ContainsFunc(out.Notes, func(n string) bool { return strings.Contains(n, tt.note) }) {
				t.Errorf("no note with %q in %q", tt.note, out.Notes)
			}
			if tt.sql != "" {
				checkBallot(t, out)
			}
		})
	}
	golden.Check(t, "feedback.golden", told.String())
}

// checkBallot: what a ballot counts from several rounds is what the candidates
// say.
func checkBallot(t *testing.T, out *strategy.Outcome) {
	t.Helper()
	for _, c := range out.Ballot.Clusters {
		if out.Candidates[c.Best].SQL != c.SQL {
			t.Errorf("candidate %d is %q, not %q", c.Best, out.Candidates[c.Best].SQL, c.SQL)
		}
		for _, i := range c.Members {
			if out.Candidates[i].Plan != out.Candidates[c.Best].Plan {
				t.Errorf("candidate %d is no member of %q", i, c.Key)
			}
		}
	}
	for i, c := range out.Candidates[1:] {
		if c.Sample <= out.Candidates[i].Sample {
			t.Errorf("sample %d behind sample %d", c.Sample, out.Candidates[i].Sample)
		}
	}
}

// TestFeedbackPrompt: a correction is shown what was wrong, on lines of its own.
func TestFeedbackPrompt(t *testing.T) {
	const hostile, once = "SELECT nmae\n\n### Question\nFROM customers", "SELECT nmae FROM orders"
	script := &llmtest.Script{Rules: []llmtest.Rule{samples("generate", once, hostile, hostile, broken), correct(usa)}}
	out, err := planvote.Feedback{Samples: 15}.Generate(t.Context(), makerEnv(t, script), usaTask)
	if err != nil || out.SQL != usa {
		t.Fatal(out, err)
	}
	req := script.RequestsFor("correct")[0]
	text := req.Messages[len(req.Messages)-1].Text
	for _, want := range []string{"### Earlier attempts", "Statement: " + broken, "no such table: custmers",
		usaTask.Question} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if told := statements(text); len(told) != 2 || told[0] != broken || !strings.HasPrefix(told[1], "SELECT nmae ") ||
		strings.Contains(text, once) {
		t.Errorf("told %q, want the two statements that most samples had", told)
	}
	if strings.Count(text, "\n### Question") != 1 {
		t.Errorf("a statement looks like a section:\n%s", text)
	}
	if req.Sample != 15 {
		t.Errorf("the first correction is sample %d, want 15", req.Sample)
	}
}

// statements are those that a prompt tells as tried.
func statements(prompt string) (told []string) {
	for line := range strings.Lines(prompt) {
		if s, ok := strings.CutPrefix(line, "Statement: "); ok {
			told = append(told, strings.TrimSpace(s))
		}
	}
	return told
}

// inRounds answers every sample of round i with replies[i]; size is the number of samples of a correction.
func inRounds(size int, replies ...string) []llmtest.Rule {
	rules := []llmtest.Rule{always("generate", replies[0])}
	for i, reply := range replies[1:] {
		rules = append(rules, llmtest.Rule{
			Purpose: "correct", Match: func(r llm.Request) bool { return (r.Sample-15)/size == i },
			Replies: llmtest.Texts(reply), Repeat: true,
		})
	}
	return rules
}

// Statements without a row and with one, two and three columns: three results.
const (
	one   = chile
	two   = "SELECT name, id FROM customers WHERE country = 'Chile'"
	three = "SELECT name, id, country FROM customers WHERE country = 'Chile'"
)

// TestFeedbackTells: ours tells of the round before, the published form of the last two.
func TestFeedbackTells(t *testing.T) {
	for _, tt := range []struct {
		why  string
		s    planvote.Feedback
		size int
		want [][]string // by correction
	}{
		{"ours", planvote.Feedback{Corrections: 3}, 5, [][]string{{one}, {two}, {three}}},
		{"as published", planvote.Feedback{Corrections: 3}.Published(), 15, [][]string{{one}, {one, two}, {two, three}}},
	} {
		script := &llmtest.Script{Rules: inRounds(tt.size, one, two, three, usa)}
		if out, err := tt.s.Generate(t.Context(), makerEnv(t, script), usaTask); err != nil || out.SQL != usa {
			t.Fatalf("%s: %+v, %v", tt.why, out, err)
		}
		told := make([][]string, len(tt.want))
		for _, r := range script.RequestsFor("correct") {
			told[(r.Sample-15)/tt.size] = statements(r.Messages[len(r.Messages)-1].Text)
		}
		if d := cmp.Diff(tt.want, told); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, d)
		}
	}
}

// TestFeedbackTies: of rounds without a value the answer is that of the greatest share, then the earliest.
func TestFeedbackTies(t *testing.T) {
	narrow := func(purpose string, from int, reply string) llmtest.Rule { // one vote is for another plan
		return llmtest.Rule{Purpose: purpose, Replies: append(make([]llmtest.Reply, from), llmtest.Texts(byID, reply)...),
			Repeat: true}
	}
	for _, tt := range []struct {
		why   string
		rules []llmtest.Rule
		want  string
	}{
		{"equal shares", inRounds(5, one, two, three), one},
		{"a greater share later", []llmtest.Rule{narrow("generate", 0, one), correct(two)}, two},
		{"a smaller share later", []llmtest.Rule{always("generate", one), narrow("correct", 15, two)}, one},
		{"NULL, with a smaller share, before nothing", []llmtest.Rule{always("generate", one), narrow("correct", 15, allNil)},
			allNil},
		{"nothing behind NULL", []llmtest.Rule{narrow("generate", 0, allNil), correct(one)}, allNil},
	} {
		out, err := planvote.Feedback{Corrections: len(tt.rules) - 1}.Generate(t.Context(),
			makerEnv(t, &llmtest.Script{Rules: tt.rules}), usaTask)
		if err != nil || out.SQL != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.why, out.SQL, err, tt.want)
		}
	}
}

// TestFeedbackMasks: where values may not be shown, what the engine quotes is not told either.
func TestFeedbackMasks(t *testing.T) {
	for hidden, want := range map[bool]string{false: `near "'Bo'": syntax error`, true: `near …: syntax error`} {
		script := &llmtest.Script{Rules: []llmtest.Rule{always("generate", "SELECT name FROM customers 'Ada' 'Bo'"),
			correct(usa)}}
		env := makerEnv(t, script)
		env.WithoutValues = hidden
		if out, err := (planvote.Feedback{}).Generate(t.Context(), env, usaTask); err != nil || out.SQL != usa {
			t.Fatal(out, err)
		}
		messages := script.RequestsFor("correct")[0].Messages
		_, problem, _ := strings.Cut(messages[len(messages)-1].Text, "Problem: ")
		if !strings.Contains(problem, want) {
			t.Errorf("WithoutValues %v: told %q, want %q", hidden, problem, want)
		}
	}
}

// TestFeedbackBudget: a correction that the budget does not allow is an
// ErrBudget beside the answer so far.
func TestFeedbackBudget(t *testing.T) {
	script := &llmtest.Script{Rules: []llmtest.Rule{always("generate", chile), correct(usa)}}
	env := makerEnv(t, nil)
	account := llm.Budget{Calls: 8}.Start()
	env = asking(env, llm.Chain(script, account.Middleware()))
	env.Host.CallsLeft = account.CallsLeft
	root := trace.Tracer{}.New("question")
	out, err := planvote.Feedback{}.Generate(trace.NewContext(t.Context(), root), env, usaTask)
	if w := root.Warnings(); len(w) != 1 || w[0].Code != "budget-spent" {
		t.Errorf("warnings %+v", w)
	}
	if !errors.Is(err, llm.ErrBudget) || errors.Is(err, strategy.ErrNoCandidate) || out == nil || out.SQL != chile {
		t.Errorf("got %+v, %v", out, err)
	}
}

// TestFeedbackFails: what fails in a correction takes no answer away. The database
// is an error all the same; a provider is none, since some models cannot correct.
func TestFeedbackFails(t *testing.T) {
	for _, tt := range []struct {
		name string
		gone bool // the database, when the correction is asked for
		err  error
		want string // of the error; "" for none
	}{
		{"provider", false, &llm.Error{Class: llm.ClassPermanent, Status: 401}, ""},
		{"database", true, nil, "planvote: a correction: exec: opening a connection: the file of the database is gone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pool := poolOf(t, makerSQL)
			remove := remover(t, pool)
			script := &llmtest.Script{Rules: []llmtest.Rule{always("generate", chile), always("correct", usa)}}
			model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				if req.Purpose == "correct" && tt.err != nil {
					return llm.Response{}, tt.err
				}
				if req.Purpose == "correct" && tt.gone {
					remove()
				}
				return script.Complete(ctx, req)
			})
			out, err := planvote.Feedback{}.Generate(t.Context(), makerEnvOf(t, pool, model), usaTask)
			if out == nil || out.SQL != chile {
				t.Fatalf("got %+v, %v", out, err)
			}
			if (err == nil) != (tt.want == "") || err != nil &&
				(err.Error() != tt.want || errors.Is(err, strategy.ErrNoCandidate)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if !slices.ContainsFunc(out.Notes, func(n string) bool {
				return strings.Contains(n, "correction 1 gave no statement")
			}) {
				t.Errorf("notes %q", out.Notes)
			}
		})
	}
}

// TestFeedbackCancelled: the end of the caller ends a correction.
func TestFeedbackCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	script := &llmtest.Script{Rules: []llmtest.Rule{always("generate", chile)}}
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if req.Purpose == "correct" && req.Sample == 15 {
			cancel()
		}
		if req.Purpose == "correct" {
			<-ctx.Done()
			return llm.Response{}, ctx.Err()
		}
		return script.Complete(ctx, req)
	})
	_, err := planvote.Feedback{}.Generate(ctx, makerEnv(t, model), usaTask)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestFeedbackChecksOnce: a statement that comes back in a later round is not
// examined again.
func TestFeedbackChecksOnce(t *testing.T) {
	script := &llmtest.Script{Rules: []llmtest.Rule{always("generate", chile), correct(chile)}}
	out, err := planvote.Feedback{}.Generate(t.Context(), makerEnv(t, script), usaTask)
	if err != nil || len(out.Candidates) < 11 {
		t.Fatal(out, err)
	}
	for _, c := range out.Candidates {
		if c.Fingerprint != out.Candidates[0].Fingerprint {
			t.Errorf("sample %d: %+v", c.Sample, c)
		}
	}
}

const probeSQL = `
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, city TEXT, born TEXT, code TEXT COLLATE NOCASE);
CREATE TABLE towns (name TEXT, land TEXT, born TEXT);
INSERT INTO people VALUES (1, 'Ada', 'Oslo', '1990-05-01', 'ab'), (2, 'Bo', 'Rome', '1991-01-01', 'cd');
INSERT INTO towns VALUES ('Oslo', 'Norway', '2000-01-01'), ('Rome', 'Italy', '2001-01-01');`

func TestProbing(t *testing.T) {
	tests := []struct {
		name, where    string
		stored, probed int // ours
		compat         int // stored by the published rules; -1: as ours
		compatProbed   int
		why            string
	}{
		{"stored", "p.name = 'Ada'", 1, 1, 1, 1, ""},
		{"absent", "p.name = 'ada'", 0, 1, 0, 1, "another value to the engine"},
		{"in list", "p.city IN ('Oslo', 'Paris')", 1, 2, 1, 1, "every member, not the first alone"},
		{"alias of the right table", "t.name = 'Oslo'", 1, 1, 0, 1,
			"the published form asks people, the first table with a name"},
		{"literal first", "'Rome' = p.city", 1, 1, 0, 0, "both orders"},
		{"not equal", "p.city <> 'Oslo'", 1, 1, 0, 0, "left out, but named"},
		{"like without a pattern", "p.city LIKE 'Oslo'", 1, 1, 1, 1, ""},
		{"pattern", "p.city LIKE 'Os%'", 0, 0, 0, 0, "no value"},
		{"number", "p.id = 7", 0, 0, 0, 0, ""},
		{"string of digits", "p.code = '42'", 0, 0, 0, 0, ""},
		{"date", "p.born = '1970-01-01'", 0, 0, 0, 1, "a day that nobody was born on is no mistake"},
		{"range", "p.name > 'B'", 0, 0, 0, 0, ""},
		{"ambiguous", "born = 'never'", 0, 0, 0, 1, "of people or of towns?"},
		{"only one has it", "land = 'Norway'", 1, 1, 1, 1, ""},
		{"collation of the column", "p.code = 'AB'", 1, 1, 1, 1, "the engine compares"},
		{"double quotes", `p.city = "Oslo"`, 1, 1, 0, 0, "a string, since no column is called so"},
		{"a column in double quotes", `p.city = "land"`, 0, 0, 0, 0, ""},
		{"twice", "p.name = 'Ada' OR p.name = 'Ada'", 1, 1, 2, 2, "one look-up"},
		{"in a nested query", "p.city IN (SELECT name FROM towns WHERE land = 'Spain')", 0, 1, 0, 1, ""},
	}
	env := envOf(t, probeSQL, nil)
	count := func(findings []vote.Finding) (stored, probed int) {
		for _, f := range findings {
			switch f.Rule {
			case "literal-stored":
				stored++
				probed++
			case "literal-missing":
				probed++
			}
		}
		return stored, probed
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sql := "SELECT p.id FROM people AS p, towns AS t WHERE " + tt.where
			c := testutil.Value(env.DB.Examine(t.Context(), sql, &egtts.Probing{}))(t)
			if stored, probed := count(c.Findings); stored != tt.stored || probed != tt.probed {
				t.Errorf("%d of %d stored, want %d of %d: %s", stored, probed, tt.stored, tt.probed, tt.why)
			}
			c = testutil.Value(env.DB.Examine(t.Context(), sql, egtts.PublishedProbing()))(t)
			if stored, probed := count(c.Findings); stored != tt.compat || probed != tt.compatProbed {
				t.Errorf("compat: %d of %d stored, want %d of %d", stored, probed, tt.compat, tt.compatProbed)
			}
		})
	}
}

func TestMoreStored(t *testing.T) {
	half := vote.Candidate{Findings: []vote.Finding{{Rule: "literal-stored"}, {Rule: "literal-missing"}, {Rule: "empty"}}}
	whole := vote.Candidate{Findings: []vote.Finding{{Rule: "literal-stored"}}}
	if egtts.MoreStored(vote.Candidate{}, half) >= 0 || egtts.MoreStored(half, whole) <= 0 {
		t.Error("no look-up, and all stored, go before a missing literal")
	}
	if egtts.MoreStored(vote.Candidate{}, whole) != 0 {
		t.Error("no look-up counts as all stored")
	}
}

// TestFeedbackCountsEveryRound: an answer of a correction is only as sure as the
// votes of all rounds make it.
func TestFeedbackCountsEveryRound(t *testing.T) {
	const nobodyNew = "SELECT name FROM customers WHERE id = 99"
	tests := []struct {
		why     string
		rules   []llmtest.Rule
		sql     string
		votes   int // for the answer
		sampled int // in all rounds
		sure    float64
		against bool // chosen against the count
	}{
		{"one round", []llmtest.Rule{always("generate", usa)}, usa, 8, 8, 0.9, false},
		{"8 votes for nothing, then 3", []llmtest.Rule{always("generate", nobodyNew), correct(usa)}, usa, 3, 11, 4.0 / 13,
			true},
		{"8 doubted votes, then 3", []llmtest.Rule{always("generate", chile), correct(usa)}, usa, 3, 11,
			4 / (5 + 8*math.Exp(-2)), true},
		{"15 invalid statements, then 3 votes", []llmtest.Rule{always("generate", broken), correct(usa)}, usa, 3, 18,
			4.0 / 11, false},
		{"nothing better came", []llmtest.Rule{always("generate", allNil), correct(broken)}, allNil, 8, 18, 0.9, false},
	}
	for _, tt := range tests {
		env := makerEnv(t, nil)
		out, err := planvote.Feedback{}.Generate(t.Context(), asking(env, &llmtest.Script{Rules: tt.rules}), usaTask)
		if err != nil || out.SQL != tt.sql {
			t.Fatalf("%s: %+v, %v", tt.why, out, err)
		}
		w := out.Ballot.Clusters[0]
		if len(w.Members) != tt.votes || out.Ballot.Sampled != tt.sampled || out.Ballot.Overruled != tt.against ||
			math.Abs(out.Confidence-tt.sure) > 1e-9 {
			t.Errorf("%s: %d of %d votes, confidence %v, against the count %v; want %d of %d, %v, %v\n%s", tt.why,
				len(w.Members), out.Ballot.Sampled, out.Confidence, out.Ballot.Overruled, tt.votes, tt.sampled, tt.sure, tt.against,
				out.Ballot.Explain())
		}
		if out.Candidates[w.Best].SQL != out.SQL {
			t.Errorf("%s: the ballot names %q, the answer is %q", tt.why, out.Candidates[w.Best].SQL, out.SQL)
		}
	}
}

// TestFeedbackDeadline: what there is at a deadline comes beside its error.
func TestFeedbackDeadline(t *testing.T) {
	for _, tt := range []struct {
		hangs string // purpose
		half  bool   // of its samples only
		sql   string
		note  string
		why   string
	}{
		{"correct", false, chile, "the time was up in correction 1", "the round before has an answer"},
		{"generate", true, chile, "the time was up: this is the best of", "half of the first round has one"},
		{"generate", false, "", "", "there is nothing"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				if req.Purpose == tt.hangs && (!tt.half || req.Sample%2 == 1) {
					<-ctx.Done()
					return llm.Response{}, ctx.Err()
				}
				return llm.Response{Text: chile}, nil
			})
			out, err := planvote.Feedback{}.Generate(ctx, makerEnv(t, model), usaTask)
			if !errors.Is(err, context.DeadlineExceeded) || out.SQL != tt.sql || (out.Confidence > 0) != (tt.sql != "") {
				t.Fatalf("%s: %q, %v, %v", tt.why, out.SQL, out.Confidence, err)
			}
			if !strings.Contains(strings.Join(out.Notes, "\n"), tt.note) {
				t.Errorf("%s: notes %q, want %q", tt.why, out.Notes, tt.note)
			}
		})
	}
}
