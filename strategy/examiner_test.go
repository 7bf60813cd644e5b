package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

func TestAdmission(t *testing.T) {
	tests := []struct {
		name     string
		reply    llm.Response
		sql      string
		rejected string // part of it
		invalid  bool   // a repair may help
		why      string
	}{
		{"plain", llm.Response{Text: usa}, usa, "", false, "a statement alone"},
		{"fenced", llm.Response{Text: "Sure:\n```sql\n" + usa + ";\n```\nDone."}, usa, "", false, "the statement in it"},
		{"cut by the provider", llm.Response{Text: usa, StopReason: llm.StopLength}, "", "truncated", false,
			"what is missing may be half a condition"},
		{"cut behind its block", llm.Response{Text: "```sql\n" + usa + "\n```\nThis sho", StopReason: llm.StopLength}, usa,
			"", false, "the statement is whole"},
		{"cut in its block", llm.Response{Text: "```sql\n" + usa, StopReason: llm.StopLength}, "", "truncated", false,
			"what is missing may be half a condition"},
		{"cut in the middle", llm.Response{Text: "```sql\nSELECT name FROM customers WHERE country = 'US"}, "", "truncated",
			false, "an open string"},
		{"ends with a keyword", llm.Response{Text: "SELECT id FROM order"}, "", "truncated", false,
			"there may have been more"},
		{
			"ends with a keyword, and that was all", llm.Response{Text: "SELECT id FROM order", StopReason: llm.StopEnd},
			"SELECT id FROM order",
			"syntax error", true, "a name without its quotes",
		},
		{"refusal", llm.Response{Text: "I cannot help with that."}, "", "refusal", false, "no statement"},
		{"prose", llm.Response{Text: "There are three."}, "", "no-sql", false, "no statement"},
		{"two statements", llm.Response{Text: usa + "; " + everyone}, "", "several", false, "which one is meant?"},
		{"writes", llm.Response{Text: "DROP TABLE orders"}, "DROP TABLE orders", "not-read-only", false,
			"refused before the database sees it"},
		{
			"reads the catalog", llm.Response{Text: "SELECT name FROM sqlite_master"}, "SELECT name FROM sqlite_master",
			"refused (table)", false,
			"refused by the guard",
		},
		{"unknown column", llm.Response{Text: "SELECT nme FROM customers"}, "SELECT nme FROM customers",
			"no such column: nme", true, "the engine's word"},
		{
			"fails while it runs", llm.Response{Text: "SELECT abs(-9223372036854775808)"}, "SELECT abs(-9223372036854775808)",
			"integer overflow", true,
			"the engine's word",
		},
		{"too long", llm.Response{Text: usa + strings.Repeat(" x", 20_000)}, "", "too-long", false,
			"a model that does not stop"},
		{"not UTF-8", llm.Response{Text: "SELECT '\xff'"}, "", "not-utf8", false, "no text"},
	}
	env := shopEnv(t, nil)
	a := strategy.NewChecker(t.Context(), env, strategy.Task{Question: "q"}, nil, nil)
	defer a.Close()
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := testutil.Value(a.Examine(t.Context(), i, "m", tt.reply))(t)
			if c.SQL != tt.sql || c.Sample != i || c.Model != "m" || c.Rejected != "" != (tt.rejected != "") ||
				!strings.Contains(c.Rejected, tt.rejected) {
				t.Errorf("got %+v: %s", c, tt.why)
			}
			if strings.Contains(c.Rejected, "\n") {
				t.Errorf("the reason is no line: %q", c.Rejected)
			}
			if invalid := a.Invalid(c.SQL) != nil; invalid != tt.invalid {
				t.Errorf("to be repaired: %v: %s", invalid, tt.why)
			}
		})
	}
	if a.Invalid("SELECT 'never seen'") != nil {
		t.Error("a statement that nobody admitted is invalid")
	}
}

// TestAdmissionKeepsSecrets: no judge sees rows of a statement that reads a sensitive column.
func TestAdmissionKeepsSecrets(t *testing.T) {
	env := shopEnv(t, nil)
	marked := *env.Schema
	marked.Tables = slices.Clone(marked.Tables)
	for i := range marked.Tables {
		marked.Tables[i].Columns = slices.Clone(marked.Tables[i].Columns)
		if c, ok := marked.Tables[i].Column("country"); ok {
			c.Sensitive = true
		}
	}
	env.Schema = &marked
	a := strategy.NewChecker(t.Context(), env, strategy.Task{Question: "Where do they live?"}, nil, &doubt.Rules{})
	defer a.Close()
	for sql, shown := range map[string]bool{
		"SELECT name FROM customers": true, "SELECT country FROM customers": false,
		"SELECT name FROM customers WHERE country = 'USA'": false,
		"SELECT * FROM main.customers":                     false,
	} {
		if c, err := a.ExamineSQL(t.Context(), 0, "", sql); err != nil || c.Rejected != "" || (c.Preview != "") != shown {
			t.Errorf("%s: %q, %v", sql, c.Preview, err)
		}
	}
}

// TestAdmissionDescribes what a vote needs to know.
func TestAdmissionDescribes(t *testing.T) {
	env := shopEnv(t, nil)
	doubts := &doubt.Rules{}
	a := strategy.NewChecker(t.Context(), env, strategy.Task{Question: "How many customers are there?"}, nil, doubts)
	defer a.Close()
	admit := func(sql string) vote.Candidate {
		t.Helper()
		c, err := a.ExamineSQL(t.Context(), 0, "", sql)
		if err != nil || c.Rejected != "" {
			t.Fatalf("%s: %+v, %v", sql, c, err)
		}
		return c
	}
	rows, none, null := admit(everyone), admit(everyone+" WHERE id > 9"), admit("SELECT total FROM orders WHERE id = 3")
	type known struct {
		rows, columns  int
		empty, allNull bool
	}
	for _, tt := range []struct {
		c    vote.Candidate
		want known
	}{{rows, known{3, 1, false, false}}, {none, known{0, 1, true, false}}, {null, known{1, 1, false, true}}} {
		if got := (known{tt.c.Rows, tt.c.Columns, tt.c.Empty, tt.c.AllNull}); got != tt.want || tt.c.Fingerprint == "" ||
			tt.c.Plan == "" || tt.c.Preview == "" {
			t.Errorf("%s: %+v", tt.c.SQL, tt.c)
		}
	}
	if a, b := admit(usa), admit(usaJoin); a.Fingerprint != b.Fingerprint || a.Fingerprint == rows.Fingerprint {
		t.Errorf("equal results have unequal fingerprints: %q and %q", a.Fingerprint, b.Fingerprint)
	}
	if up, down := admit(everyone+" ORDER BY name"),
		admit(everyone+" ORDER BY name DESC"); up.Fingerprint != down.Fingerprint || up.Sequence == down.Sequence {
		t.Error("the order of rows is in the fingerprint, or not in the sequence")
	}
	// 0.1+0.2 differs from 0.3 in the last bit alone.
	if a, b := admit("SELECT 0.1 + 0.2"), admit("SELECT 0.3"); a.Fingerprint != b.Fingerprint {
		t.Error("sums that differ in the last bits are unequal votes")
	}
	found := ""
	for _, f := range rows.Findings {
		found += f.Rule + " "
	}
	if !strings.Contains(found, "how_many") {
		t.Errorf("three rows for \"how many\" raise no doubt: %q", found)
	}
}

// TestAdmissionIgnoresTiming admits the same replies in many orders at once:
// candidates and trace are the same, and each statement is checked once.
func TestAdmissionIgnoresTiming(t *testing.T) {
	replies := []string{
		usa, everyone, "SELECT nme FROM customers", usa, "```sql\n" + usa + "\n```", everyone, "I refuse.",
		"SELECT nme FROM customers", usaJoin, usa,
	}
	env := shopEnv(t, nil)
	var want string
	for round := range 20 {
		var checks atomic.Int32
		count := exec.CheckFunc(func(context.Context, *exec.Runner, *exec.Checked) error { checks.Add(1); return nil })
		root := trace.Tracer{}.New("test")
		a := strategy.NewChecker(trace.NewContext(t.Context(), root), env, strategy.Task{Question: "q"},
			append([]exec.Check{count}, exec.DefaultChecks()...), nil)
		candidates := make([]vote.Candidate, len(replies))
		var all sync.WaitGroup
		for k := range replies {
			i := (k*7 + round) % len(replies) // every round starts with another one
			all.Go(func() {
				var err error
				if candidates[i], err = a.Examine(t.Context(), i, "", llm.Response{Text: replies[i]}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for i := range candidates {
			candidates[i].Statement = nil // another pointer each time
		}
		a.Close()
		root.End()
		tree := testutil.Value(root.Comparable())(t)
		got := fmt.Sprintf("%+v\n%s", candidates, tree)
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("round %d (-first +this):\n%s", round, cmp.Diff(want, got))
		}
		if n := checks.Load(); n != 4 {
			t.Errorf("%d checks of 4 distinct statements", n)
		}
	}
}

// TestAdmissionTellsTheDatabasesFaults: a database that fails is no fault of the
// statement.
func TestAdmissionTellsTheDatabasesFaults(t *testing.T) {
	env := shopEnv(t, nil)
	gone := errors.New("the disk is gone")
	a := strategy.NewChecker(t.Context(), env, strategy.Task{Question: "q"},
		[]exec.Check{exec.CheckFunc(func(context.Context, *exec.Runner, *exec.Checked) error { return gone })}, nil)
	defer a.Close()
	if c, err := a.ExamineSQL(t.Context(), 0, "", usa); !errors.Is(err, gone) || c.Rejected != "" {
		t.Errorf("got %+v, %v", c, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Examine(ctx, 1, "", llm.Response{Text: usa}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// TestAdmissionWaitsNoLongerThanItsContext: a sample whose statement another one
// is examining returns when its own context ends.
func TestAdmissionWaitsNoLongerThanItsContext(t *testing.T) {
	env := shopEnv(t, nil)
	entered, leave := make(chan struct{}), make(chan struct{})
	task := strategy.Task{Question: "q"}
	a := strategy.NewChecker(t.Context(), env, task,
		[]exec.Check{exec.CheckFunc(func(context.Context, *exec.Runner, *exec.Checked) error {
			close(entered)
			<-leave
			return nil
		})}, nil)
	defer a.Close()
	first := make(chan error)
	go func() {
		_, err := a.ExamineSQL(t.Context(), 0, "", usa)
		first <- err
	}()
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.ExamineSQL(ctx, 1, "", usa); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(leave)
	if err := <-first; err != nil {
		t.Errorf("the first sample: %v", err)
	}
}

// TestAdmissionWithoutExecution: whatever the checks are, none can run a statement
// where that is not allowed.
func TestAdmissionWithoutExecution(t *testing.T) {
	querying := exec.CheckFunc(func(ctx context.Context, db *exec.Runner, c *exec.Checked) error {
		_, err := db.Query(ctx, c.SQL)
		return err
	})
	for _, tt := range []struct {
		why    string
		checks []exec.Check
		want   error
	}{
		{"those of the Env", nil, nil},
		{"an empty list, which means the default ones", []exec.Check{}, nil},
		{"the default ones", exec.DefaultChecks(), nil},
		{"one that queries", []exec.Check{exec.ExplainCheck{}, querying}, exec.ErrNoExecution},
	} {
		t.Run(tt.why, func(t *testing.T) {
			env := shopEnv(t, nil)
			env.WithoutExecution = true
			a := strategy.NewChecker(t.Context(), env, strategy.Task{Question: "q"}, tt.checks, nil)
			defer a.Close()
			c, err := a.ExamineSQL(t.Context(), 0, "", usa)
			if !errors.Is(err, tt.want) || c.Rejected != "" || c.Plan == "" || c.Fingerprint != "" || c.Rows > 0 {
				t.Errorf("got %+v, %v", c, err)
			}
		})
	}
}
