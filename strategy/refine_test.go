package strategy_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

const (
	nobody = "SELECT name FROM customers WHERE country = 'US'"
	typo   = "SELECT nme FROM customers"
	syntax = "SELECT name FROM customers WHERE"
	null   = strategytest.AllNull
)

// slow is a statement that runs until its time is over, endless another one.
const (
	slow    = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	endless = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
)

func TestRefine(t *testing.T) {
	type step struct{ SQL, Status string }
	tests := []struct {
		first   string
		replies []string // nil: the model fails
		refine  strategy.Refine
		sql     string // of the candidate that comes out
		runs    bool
		stop    string
		steps   []step
		why     string
	}{
		{first: usa, sql: usa, runs: true, steps: []step{{usa, "ok"}}, why: "a statement that runs is not touched"},
		{first: typo, replies: []string{usa}, sql: usa, runs: true, steps: []step{{typo, "rejected"}, {usa, "ok"}},
			why: "one correction"},
		{first: typo, replies: []string{syntax, usa}, sql: usa, runs: true,
			steps: []step{{typo, "rejected"}, {syntax, "rejected"}, {usa, "ok"}}, why: "two corrections"},
		{first: typo, replies: []string{syntax, "SELECT no FROM customers", usa}, sql: "SELECT no FROM customers",
			stop:  "executions",
			steps: []step{{typo, "rejected"}, {syntax, "rejected"}, {"SELECT no FROM customers", "rejected"}},
			why:   "three statements are all there are"},
		{first: typo, replies: []string{"select NME from customers;"}, sql: typo, stop: "no-progress",
			steps: []step{{typo, "rejected"}, {"select NME from customers", "no-progress"}},
			why:   "the same statement, written otherwise"},
		{first: typo, replies: []string{syntax, typo, usa}, sql: syntax, stop: "no-progress",
			steps: []step{{typo, "rejected"}, {syntax, "rejected"}, {typo, "no-progress"}},
			why:   "the one before the last again"},
		{first: typo, sql: typo, stop: "model", steps: []step{{typo, "rejected"}, {"", "failed"}}, why: "no model"},
		{first: "", replies: []string{usa}, sql: usa, runs: true, steps: []step{{"", "no-sql"}, {usa, "ok"}},
			why: "a reply without a statement"},
		{first: typo, replies: []string{"I cannot.", usa}, sql: usa, runs: true,
			steps: []step{{typo, "rejected"}, {"", "no-sql"}, {usa, "ok"}}, why: "a correction without a statement"},
		{first: "DELETE FROM customers", replies: []string{"DROP TABLE customers", "DELETE FROM orders"},
			sql: "DELETE FROM orders", stop: "executions",
			steps: []step{{"DELETE FROM customers", "refused"}, {"DROP TABLE customers", "refused"},
				{"DELETE FROM orders", "refused"}},
			why: "writes are refused, and kept for the audit"},
		{first: slow, replies: []string{endless, usa}, sql: endless, stop: "timeout",
			steps: []step{{slow, "timeout"}, {endless, "timeout"}}, why: "the second time-out ends it"},
		{first: slow, replies: []string{typo, endless}, sql: endless, stop: "timeout",
			steps: []step{{slow, "timeout"}, {typo, "rejected"}, {endless, "timeout"}}, why: "wherever it comes"},
		{first: slow, replies: []string{strings.ToLower(slow) + ";", usa}, sql: slow, stop: "no-progress",
			steps: []step{{slow, "timeout"}, {strings.ToLower(slow), "no-progress"}},
			why:   "what was too slow is not executed again"},
		{first: "SELECT * FROM sqlite_master", replies: []string{"SELECT load_extension('x')", usa}, sql: usa, runs: true,
			steps: []step{{"SELECT * FROM sqlite_master", "refused"}, {"SELECT load_extension('x')", "refused"}, {usa, "ok"}},
			why:   "what the guard refuses"},
		{first: "PRAGMA writable_schema = 1", replies: []string{"ATTACH 'x.db' AS x", everyone + "; DELETE FROM orders"},
			stop:  "executions",
			steps: []step{{"PRAGMA writable_schema = 1", "refused"}, {"ATTACH 'x.db' AS x", "refused"}, {"", "no-sql"}},
			why:   "pragmas, databases, two statements"},
		{first: everyone + "; DELETE FROM orders", replies: []string{"I cannot.", "Nor now."}, stop: "executions",
			steps: []step{{everyone + "; DELETE FROM orders", "refused"}, {"", "no-sql"}, {"", "no-sql"}},
			why:   "no statement to the end"},
		{first: slow, replies: []string{usa}, sql: usa, runs: true, steps: []step{{slow, "timeout"}, {usa, "ok"}},
			why: "one time-out does not"},
		{first: nobody, replies: []string{usa}, sql: nobody, runs: true, steps: []step{{nobody, "suspect"}},
			why: "an empty result is an answer"},
		{first: nobody, replies: []string{usa}, refine: strategy.Refine{EmptyResult: true}, sql: usa, runs: true,
			steps: []step{{nobody, "suspect"}, {usa, "ok"}}, why: "or is asked about"},
		{first: nobody, replies: []string{typo, usa}, refine: strategy.Refine{EmptyResult: true}, sql: nobody, runs: true,
			steps: []step{{nobody, "suspect"}, {typo, "rejected"}}, why: "once: what does not run replaces nothing"},
		{first: nobody, replies: []string{nobody + " AND 1 = 1", usa}, refine: strategy.Refine{EmptyResult: true},
			sql: nobody, runs: true,
			steps: []step{{nobody, "suspect"}, {nobody + " AND 1 = 1", "suspect"}}, why: "nor what is empty, too"},
		{first: nobody, replies: []string{nobody}, refine: strategy.Refine{EmptyResult: true}, sql: nobody, runs: true,
			steps: []step{{nobody, "suspect"}, {nobody, "no-progress"}}, why: "the model stands by it"},
		{first: null, replies: []string{usa}, refine: strategy.Refine{EmptyResult: true}, sql: usa, runs: true,
			steps: []step{{null, "suspect"}, {usa, "ok"}}, why: "nothing but NULL is asked about, too"},
		{first: nobody, replies: []string{null, usa}, refine: strategy.Refine{EmptyResult: true}, sql: nobody, runs: true,
			steps: []step{{nobody, "suspect"}, {null, "suspect"}}, why: "and replaces nothing"},
		{first: nobody, replies: []string{"It is right.", usa}, refine: strategy.Refine{EmptyResult: true}, sql: nobody,
			runs:  true,
			steps: []step{{nobody, "suspect"}, {"", "no-sql"}}, why: "nor does prose"},
		{first: nobody, replies: []string{"DELETE FROM customers", usa}, refine: strategy.Refine{EmptyResult: true},
			sql: nobody, runs: true,
			steps: []step{{nobody, "suspect"}, {"DELETE FROM customers", "refused"}}, why: "nor a write"},
		{first: typo, replies: []string{syntax, nobody, usa}, refine: strategy.Refine{EmptyResult: true}, sql: nobody,
			runs:  true,
			steps: []step{{typo, "rejected"}, {syntax, "rejected"}, {nobody, "suspect"}},
			why:   "the third statement is the last, whatever its result"},
		{first: nobody, replies: []string{usa}, refine: strategy.Refine{EmptyResult: true, Executions: 1}, sql: nobody,
			runs:  true,
			steps: []step{{nobody, "suspect"}}, why: "no second execution"},
		{first: nobody, refine: strategy.Refine{EmptyResult: true}, sql: nobody, runs: true,
			steps: []step{{nobody, "suspect"}, {"", "failed"}}, why: "no model to ask about it"},
		{first: typo, replies: []string{nobody, usa}, refine: strategy.Refine{EmptyResult: true}, sql: usa, runs: true,
			steps: []step{{typo, "rejected"}, {nobody, "suspect"}, {usa, "ok"}}, why: "a correction is asked about as well"},
		{first: typo, replies: []string{syntax, usa}, refine: strategy.Refine{Executions: 2}, sql: syntax, stop: "executions",
			steps: []step{{typo, "rejected"}, {syntax, "rejected"}}, why: "fewer executions"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			made := 0
			model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
				if made++; made > len(tt.replies) {
					return llm.Response{}, llm.ErrBudget
				}
				return llm.Response{Text: tt.replies[made-1], StopReason: llm.StopEnd}, nil
			})
			pool := poolOf(t, shopSQL)
			env := makerEnvOf(t, pool, model)
			var seen []string
			limits := exec.Limits{}
			if tt.first == slow {
				limits.Candidate.Timeout = 300 * time.Millisecond
			}
			env.DB = testutil.Value(exec.New(pool, watched(&seen), exec.Config{Limits: limits}))(t)
			before := contents(t, pool)
			got := testutil.Value(refined(t.Context(), t, env, tt.refine, tt.first))(t)
			if contents(t, pool) != before {
				t.Error("the database is another one")
			}
			distinct := map[string]bool{}
			for _, sql := range seen {
				distinct[strings.ToLower(sql)] = true
			}
			if len(distinct) < len(seen) || len(distinct) > 3 {
				t.Errorf("executed %q", seen)
			}
			var steps []step
			for i, s := range got.Steps {
				steps = append(steps, step{s.SQL, s.Status})
				if s.Try != i {
					t.Errorf("step %d has try %d", i, s.Try)
				}
			}
			golden.Equal(t, tt.steps, steps, "steps")
			if got.Candidate.SQL != tt.sql || (got.Candidate.Rejected == "") != tt.runs || got.Stop != tt.stop ||
				(got.Err != nil) != (tt.stop == "model") {
				t.Errorf("%q, rejected %q, stop %q, %v; want %q, runs %v, stop %q",
					got.Candidate.SQL, got.Candidate.Rejected, got.Stop, got.Err, tt.sql, tt.runs, tt.stop)
			}
		})
	}
}

// refined admits sql, or a reply without a statement, and refines it.
func refined(ctx context.Context, t *testing.T, env *strategy.Env, r strategy.Refine, sql string) (strategy.Refined,
	error) {
	t.Helper()
	task := strategy.Task{Question: "Who lives in the USA?", Evidence: "The USA are 'USA'."}
	a := strategy.NewChecker(ctx, env, task, nil, nil)
	defer a.Close()
	c := vote.Candidate{Rejected: "no-sql: the reply holds no query"}
	if sql != "" {
		c = testutil.Value(a.ExamineSQL(ctx, 0, "m", sql))(t)
	}
	return r.Run(ctx, env, strategy.RefineInput{Task: task, Schema: env.Schema, Examiner: a, Candidate: c})
}

// TestRefinePrompt: the model sees question, evidence, schema and everything that was tried.
func TestRefinePrompt(t *testing.T) {
	script := &llmtest.Script{Rules: []llmtest.Rule{
		{Replies: llmtest.Texts(syntax), Times: 1}, {Replies: llmtest.Texts(nobody), Times: 1},
		{Replies: llmtest.Texts(usa)}}}
	testutil.Value(refined(t.Context(), t, shopEnv(t, script), strategy.Refine{EmptyResult: true, Executions: 4}, typo))(t)
	all := ""
	for _, req := range script.Requests() {
		all += written(req.Messages)
	}
	golden.Check(t, "refine.txt", all)
}

// TestRefineWithoutValues: engines repeat what stood in quotes, in the last error and in those before it.
func TestRefineWithoutValues(t *testing.T) {
	script := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT 2two FROM orders"), Times: 1},
		{Replies: llmtest.Texts(usa)}}}
	env := shopEnv(t, script)
	env.WithoutValues = true
	testutil.Value(refined(t.Context(), t, env, strategy.Refine{}, "SELECT 1one FROM orders"))(t)
	last := script.Requests()[1].Messages
	if text := last[len(last)-1].Text; strings.Count(text, "unrecognized token: …\n") != 2 ||
		strings.Contains(text, `token: "`) {
		t.Errorf("the errors are shown with what stood in quotes:\n%s", text)
	}
}

// TestRefineCancelled: while the model is asked, and while what it said is examined.
func TestRefineCancelled(t *testing.T) {
	for _, reply := range []string{"", usa} {
		ctx, cancel := context.WithCancel(t.Context())
		env := shopEnv(t, llm.Func(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
			cancel()
			if reply == "" {
				return llm.Response{}, ctx.Err()
			}
			return llm.Response{Text: reply, StopReason: llm.StopEnd}, nil
		}))
		if got, err := refined(ctx, t, env, strategy.Refine{}, typo); !errors.Is(err, context.Canceled) ||
			len(got.Steps) != 1 {
			t.Errorf("cancelled, reply %q: %v, %+v", reply, err, got.Steps)
		}
	}
}

// TestRefineBudget: a budget that ends inside of a refinement ends it, with what it has.
func TestRefineBudget(t *testing.T) {
	for _, tt := range []struct {
		first, reply string
		stop         string
		sql          string
	}{
		{typo, syntax, "model", syntax}, // of two corrections one is paid for
		{typo, nobody, "", nobody},      // what runs is the answer, though nobody can be asked about it
	} {
		account := llm.Budget{Calls: 1}.Start()
		script := &llmtest.Script{Rules: []llmtest.Rule{always("repair", tt.reply)}}
		got, err := refined(t.Context(), t, shopEnv(t, llm.Chain(script, account.Middleware())),
			strategy.Refine{EmptyResult: true}, tt.first)
		if err != nil || got.Stop != tt.stop || errors.Is(got.Err, llm.ErrBudget) != (tt.stop != "") ||
			got.Candidate.SQL != tt.sql || got.Steps[2].Status != "failed" {
			t.Errorf("%q, then %q: %+v, %v", tt.first, tt.reply, got, err)
		}
	}
}

// TestRefineSharesExecutions: what one candidate tried is not executed for another one.
func TestRefineSharesExecutions(t *testing.T) {
	pool := poolOf(t, shopSQL)
	env := makerEnvOf(t, pool, &llmtest.Script{Rules: []llmtest.Rule{always("repair", usa)}})
	var seen []string
	env.DB = testutil.Value(exec.New(pool, watched(&seen), exec.Config{}))(t)
	a := strategy.NewChecker(t.Context(), env, usaTask, nil, nil)
	defer a.Close()
	for sample, sql := range []string{typo, typo, syntax, usa} {
		c := testutil.Value(a.ExamineSQL(t.Context(), sample, "m", sql))(t)
		got, err := strategy.Refine{}.Run(t.Context(), env, strategy.RefineInput{Task: usaTask, Schema: env.Schema,
			Examiner: a, Candidate: c})
		if err != nil || got.Candidate.SQL != usa || got.Candidate.Sample != sample || got.Candidate.Rejected != "" {
			t.Errorf("sample %d: %+v, %v", sample, got, err)
		}
	}
	golden.Equal(t, []string{typo, usa, syntax}, seen, "executed")
}

// contents is the file behind a pool.
func contents(t *testing.T, pool *sql.DB) string {
	t.Helper()
	var path string
	testutil.OK(t, pool.QueryRow("SELECT file FROM pragma_database_list").Scan(&path))
	b := testutil.Value(os.ReadFile(path))(t)
	return string(b)
}
