package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/trace"
)

// TestLoop: where a walk ends, what it answers and what that costs.
func TestLoop(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	published := agent.ReAct{}.Published()
	all := agent.ReAct{Tools: agent.Tools()}
	star := "SELECT * FROM customers"
	var told strings.Builder
	for _, tt := range []struct {
		loop  agent.ReAct
		steps []string
		sql   string // "": no candidate
		calls int
		stop  string
		why   string
	}{
		{agent.ReAct{}, acts(usa), usa, 1, "answer", "the first statement runs"},
		{agent.ReAct{}, acts(broken, usa), usa, 2, "answer", "one after an error"},
		{agent.ReAct{}, acts(broken), "", 3, "no-progress", "the same failing statement for ever"},
		{agent.ReAct{}, acts(broken, broken+" ;", usa), usa, 3, "answer", "one repeat is no end"},
		{agent.ReAct{}, acts("SELECT a1", "SELECT a2", "SELECT a3", "SELECT a4", "SELECT a5", "SELECT a6", "SELECT a7", usa),
			"", 7, "steps", "seven steps"},
		{agent.ReAct{Steps: 2}, acts(broken, Other, usa), "", 2, "steps", "two steps"},
		{agent.ReAct{}, []string{"I would look at customers."}, "", 3, "no-progress", "only prose"},
		{agent.ReAct{}, []string{act("finish", usa)}, usa, 1, "answer", "finish with a statement is a query"},
		{agent.ReAct{}, []string{act("finish", broken), "finish[" + usa + "]"}, usa, 2, "answer",
			"also one that fails, and without the word Action"},
		{agent.ReAct{}, []string{act("finish", "done")}, "", 3, "no-progress", "finish without a statement"},
		{agent.ReAct{Tools: agent.Tools("describe")}, []string{act("finish", usa)}, "", 3, "no-progress",
			"no query is among the tools"},
		{agent.ReAct{}, []string{act("fly", "moon"), act("query", usa)}, usa, 2, "answer", "an unknown tool"},
		{agent.ReAct{}, []string{act("query", "SELECT '"+strings.Repeat("x", 1<<20)+"'")}, "", 3, "no-progress",
			"an argument of 1 MB"},
		{agent.ReAct{}, []string{usa}, usa, 1, "answer", "a bare statement"},
		{agent.ReAct{}, acts("DELETE FROM customers", usa), usa, 2, "answer", "the guard refuses, and says so"},
		{agent.ReAct{}, acts(star, usa), usa, 2, "answer", "a star is sent back"},
		{agent.ReAct{}, acts(star), star, 3, "no-progress", "a star is the answer if nothing else runs"},
		{agent.ReAct{}, acts(star, broken, broken, broken), star, 4, "no-progress", "also before others that do not run"},
		{all, []string{act("list_tables", ""), act("describe", "customers"), act("find", "USA"), act("query", usa)},
			usa, 4, "answer", "it looks around first"},
		{all, []string{act("list_tables", "")}, "", 3, "no-progress", "it looks around for ever"},
		{published, acts(usa, strategytest.USAJoin), strategytest.USAJoin, 2, "answer", "published: two that run"},
		{published, []string{act("query", usa), act("finish", strategytest.Everyone)}, usa, 2, "finish",
			"published: the SQL of finish is ignored"},
		{published, []string{act("finish", usa)}, "", 1, "finish", "published: only finish"},
		{published, acts(broken), "", 7, "steps", "published: it may repeat itself"},
		{published, append(acts(usa, broken), act("finish", "")), usa, 3, "finish", "published: the last that ran"},
	} {
		out, report, calls, err := asked(t, env, tt.loop, scripted(tt.steps), 0)
		told.WriteString("== " + tt.why + "\n" + strategytest.Told(out, err))
		if (tt.sql == "") != errors.Is(err, strategy.ErrNoCandidate) || tt.sql != "" && err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		if out.SQL != tt.sql || calls != tt.calls || len(report.Walks) != 1 || report.Walks[0].Stop != tt.stop ||
			len(out.Steps) != calls {
			t.Errorf("%s: %q, %d calls, %+v, %d steps; want %q, %d, %s", tt.why, out.SQL, calls, report.Walks, len(out.Steps),
				tt.sql, tt.calls, tt.stop)
		}
	}
	golden.Check(t, "loop.golden", told.String())
}

// TestAmbiguous: the published form tells the class of the error.
func TestAmbiguous(t *testing.T) {
	steps := acts("SELECT id FROM customers, orders", usa, strategytest.USAJoin)
	out, _, _, err := asked(t, strategytest.ShopEnv(t, nil), agent.ReAct{}.Published(), scripted(steps), 0)
	if err != nil || out.Steps[0].Observation != "Error: ambiguous_column" {
		t.Errorf("%v: %+v", err, out.Steps)
	}
}

// Other fails too.
const Other = "SELECT name FROM clients"

// TestStatementsRunOnce: a statement of a tool goes through the examiner of the question, so two walks and the vote run
// it once.
func TestStatementsRunOnce(t *testing.T) {
	root := trace.Tracer{}.New("question")
	env := strategytest.ShopEnv(t, scripted(acts(broken, usa), acts(broken, usa)))
	task := strategytest.USATask
	task.Samples = 2
	testutil.Value((agent.ReAct{}).Generate(trace.NewContext(t.Context(), root), env, task))(t)
	seen := map[string]int{}
	for s := range root.All() {
		if s.Name() == "check" {
			sql, _ := s.Attr("sql")
			seen[fmt.Sprint(sql)]++
		}
	}
	if len(seen) != 2 {
		t.Errorf("statements: %v", seen)
	}
	for sql, n := range seen {
		if n != 1 {
			t.Errorf("%s ran %d times", sql, n)
		}
	}
}

// TestConversation has the whole conversation of a walk with every tool.
func TestConversation(t *testing.T) {
	env := strategytest.MarketEnv(t, nil)
	env.Exemplars = &memory.Pool{Pairs: []memory.Exemplar{
		{Question: "How many orders are there?", SQL: "SELECT count(*) FROM orders"},
		{Question: "Which notes are there?", SQL: "SELECT text FROM nowhere"},
		{Question: "Which customers live in Norway?", SQL: "SELECT name FROM customers WHERE country = 'Norway'"},
	}}
	steps := []string{
		act("list_tables", ""), act("describe", "customers"), act("samples", "`orders`"), act("find", "'USA'"),
		act("find", "20"), act("explain", usa), "no idea",
		act("samples", "nowhere"), act("query", "SELECT nme FROM customers"), act("query", "SELECT id, name FROM customers"),
		act("query", usa),
	}
	for _, tt := range []struct {
		loop agent.ReAct
		file string
	}{
		{agent.ReAct{Tools: agent.Tools(), Steps: 20}, "conversation.txt"},
		{agent.ReAct{Tools: agent.Tools(), Steps: 20}.Published(), "conversation_published.txt"},
	} {
		last := ""
		model := scripted(steps)
		watched := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			resp, err := model.Complete(ctx, req)
			last = strategytest.Written(append(req.Messages, llm.Message{Role: llm.Assistant, Text: resp.Text}))
			return resp, err
		})
		out := testutil.Value(tt.loop.Generate(t.Context(), strategytest.Asking(env, watched), strategytest.USATask))(t)
		for _, s := range out.Steps {
			last += fmt.Sprintf("--- %d %s %s %q %d rows, %s\n", s.Try, s.Action, s.Status, s.Problem, s.Rows, s.SQL)
		}
		golden.Check(t, tt.file, last)
	}
}

// TestTrajectoriesVote: whole walks vote by result, and only as many are made as decide.
func TestTrajectoriesVote(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	model := scripted(acts(broken, usa), acts(strategytest.Everyone), acts(strategytest.USAJoin),
		acts(broken, broken, strategytest.USAJoin), acts(strategytest.Everyone))
	out, report, _, err := asked(t, env, agent.ReAct{}, model, 5)
	if err != nil || out.SQL != strategytest.USAJoin || len(out.Ballot.Clusters) != 2 ||
		len(report.Walks) != len(out.Candidates) {
		t.Errorf("%v: %+v, %+v", err, out, report)
	}
	hot := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if want := 0.7; req.Temperature == nil || *req.Temperature != want || req.Purpose != "agent.step" ||
			len(req.Stop) == 0 {
			t.Errorf("request %+v", req)
		}
		return model.Complete(ctx, req)
	})
	if _, _, _, err := asked(t, env, agent.ReAct{}, hot, 3); err != nil {
		t.Error(err)
	}
}

func (fault) Spec() (name, argument, help string) { return "fault", "", "fails" }

// TestModelFails: a walk ends with what there is.
func TestModelFails(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	for _, tt := range []struct {
		loop  agent.ReAct
		steps []string // before the failure
		sql   string
		why   string
	}{
		{agent.ReAct{}, nil, "", "at once"},
		{agent.ReAct{}, acts(broken), "", "after a statement that does not run"},
		{agent.ReAct{}.Published(), acts(usa), usa, "after one that runs"},
		{agent.ReAct{}, acts("SELECT * FROM customers"), "SELECT * FROM customers", "after one with a star"},
	} {
		gone := errors.New("gone")
		calls := 0
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			if calls++; calls > len(tt.steps) {
				return llm.Response{}, gone
			}
			return scripted(tt.steps).Complete(ctx, req)
		})
		out, report, _, err := asked(t, env, tt.loop, model, 0)
		if (err != nil) != (tt.sql == "") || err != nil && !errors.Is(err, gone) || out.SQL != tt.sql ||
			report.Walks[0].Stop != "model" || len(out.Steps) != len(tt.steps) {
			t.Errorf("%s: %v, %q, %+v, %d steps", tt.why, err, out.SQL, report, len(out.Steps))
		}
	}
}

// TestBudget: with any number of calls there is an answer, or an error that says the budget is spent; never more calls.
func TestBudget(t *testing.T) {
	script := scripted(acts(broken, Other, usa), acts(broken, usa), acts(usa))
	for most := 1; most <= 8; most++ {
		account := llm.Budget{Calls: most}.Start()
		env := strategytest.ShopEnv(t, nil)
		env.Host.CallsLeft, env.Concurrency = account.CallsLeft, 1
		out, _, _, err := asked(t, env, agent.ReAct{Steps: 4}, llm.Chain(script, account.Middleware()), 3)
		switch {
		case most < 3 && !errors.Is(err, llm.ErrBudget):
			t.Errorf("%d calls: %v", most, err)
		case most >= 3 && (err != nil || out.SQL != usa):
			t.Errorf("%d calls: %v", most, err)
		case most >= 4 && strings.Contains(strings.Join(out.Notes, "\n"), "failed"):
			t.Errorf("%d calls: a walk was begun that could not end: %v", most, out.Notes)
		}
	}
}

// TestCancelled: the call ends with its context, and what had run until then is the answer beside the error.
func TestCancelled(t *testing.T) {
	for _, tt := range []struct {
		loop    agent.ReAct
		samples int
		sql     string
		why     string
	}{
		{agent.ReAct{}, 0, "", "nothing has run"},
		{agent.ReAct{}.Published(), 0, usa, "one statement has run"},
		{agent.ReAct{}.Published(), 3, usa, "in each of three walks"},
	} {
		synctest.Test(t, func(t *testing.T) {
			env := strategytest.ShopEnv(t, nil)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			first := usa
			if tt.sql == "" {
				first = broken
			}
			model := scripted(acts(first))
			slow := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				if last := req.Messages[len(req.Messages)-1]; strings.HasPrefix(last.Text, "Observation") {
					<-ctx.Done()
					return llm.Response{}, ctx.Err()
				}
				return model.Complete(ctx, req)
			})
			task := strategytest.USATask
			task.Samples = tt.samples
			start := time.Now()
			out, err := tt.loop.Generate(ctx, strategytest.Asking(env, slow), task)
			if !errors.Is(err, context.DeadlineExceeded) || out == nil || out.SQL != tt.sql || time.Since(start) != time.Second {
				t.Errorf("%s: %v after %v, %+v", tt.why, err, time.Since(start), out)
			}
		})
	}
}

// TestSameWhateverTheLatency: equal replies give equal bytes, at any concurrency.
func TestSameWhateverTheLatency(t *testing.T) {
	model := scripted(acts(broken, usa), acts(strategytest.Everyone), acts(Other, broken, broken, broken),
		acts(strategytest.USAJoin), append(acts(broken), "?"), acts(usa))
	task := strategytest.USATask
	task.Samples = 6
	strategytest.SameWhateverTheLatency(t, agent.ReAct{}, strategytest.ShopEnv(t, nil), task, func() []llm.Model {
		return []llm.Model{model}
	}, 1, 4, 16)
}

// TestValidate: what is wrong is told before a model is asked.
func TestValidate(t *testing.T) {
	env := strategytest.ShopEnv(t, scripted(acts(usa)))
	for _, tt := range []struct {
		loop agent.ReAct
		want string // part of the error; "": none
		why  string
	}{
		{agent.ReAct{}, "", "the zero value is the default"},
		{agent.ReAct{Tools: agent.Tools()}, "", "all tools"},
		{agent.ReAct{Steps: -1}, "agent: ReAct.Steps", "negative steps"},
		{agent.ReAct{Steps: 101}, "agent: ReAct.Steps", "too many steps"},
		{agent.ReAct{MaxTokens: -1}, "agent: ReAct.MaxTokens", "negative tokens"},
		{agent.ReAct{ToolTime: -1}, "agent: ReAct.ToolTime", "negative time"},
		{agent.ReAct{Tools: []agent.Tool{}}, "agent: ReAct.Tools: the list is empty", "no tool"},
		{agent.ReAct{Tools: []agent.Tool{nil}}, "agent: ReAct.Tools[0]: it is nil", "a nil tool"},
		{agent.ReAct{Tools: agent.Tools("find", "find")}, `agent: ReAct.Tools[1]: its name is "find"`, "the same tool twice"},
	} {
		err := tt.loop.Validate(0)
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
		if _, got := tt.loop.Generate(t.Context(), env, strategytest.USATask); (got != nil) != (err != nil) {
			t.Errorf("%s: Generate: %v", tt.why, got)
		}
	}
	if _, err := (agent.ReAct{}).Generate(t.Context(), env, strategy.Task{Question: " "}); !errors.Is(err,
		strategy.ErrEmptyQuestion) {
		t.Error(err)
	}
}

// TestTruncated: a reply that was cut within its statement runs nothing, because its beginning may run and be wrong.
// The model is told that, and that it repeats itself.
func TestTruncated(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		if len(req.Messages) < 6 {
			return llm.Response{Text: "Action: query[SELECT name FROM customers", StopReason: llm.StopLength}, nil
		}
		if last := req.Messages[5].Text; !strings.HasSuffix(last, "This is the same action as before.") {
			t.Error(last)
		}
		return llm.Response{Text: "Action: query[" + usa + "] It is", StopReason: llm.StopLength}, nil
	})
	out, _, calls, err := asked(t, env, agent.ReAct{}, model, 0)
	if err != nil || calls != 3 || out.SQL != usa || !strings.Contains(out.Steps[0].Observation, "cut at its limit") {
		t.Errorf("%v, %d calls, %+v", err, calls, out.Steps)
	}
}

// TestLate: nobody waits for a walk whose vote could not change the winner, and none of its steps is told.
func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := strategytest.ShopEnv(t, nil)
		model := scripted(acts(broken, broken), acts(usa), acts(usa), acts(usa), acts(usa))
		slow := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			if req.Sample == 0 && len(req.Messages) > 2 {
				<-ctx.Done()
				return llm.Response{}, ctx.Err()
			}
			return model.Complete(ctx, req)
		})
		out, report, _, err := asked(t, env, agent.ReAct{}, slow, 5)
		if err != nil || out.SQL != usa || len(out.Candidates) < 3 || len(report.Walks) != len(out.Candidates) ||
			out.Steps[0].Sample == 0 {
			t.Errorf("%v, %+v, %+v", err, report, out)
		}
	})
}

// TestPrivate: thoughts and observations are in no JSON that was not asked to show them.
func TestPrivate(t *testing.T) {
	env := strategytest.ShopEnv(t, scripted([]string{"Thought: secret plan\nAction: query[SELECT name FROM customers]"}))
	for _, keep := range []trace.Sensitivity{0, trace.PrivateReplies | trace.PrivateRows} {
		root := trace.Tracer{Keep: keep}.New("question")
		out := testutil.Value(agent.ReAct{}.Generate(trace.NewContext(t.Context(), root), env, strategytest.USATask))(t)
		traced, _ := json.Marshal(root)
		result, _ := json.Marshal(out)
		for _, private := range []string{"secret plan", "Ada"} {
			if strings.Contains(string(result), private) || strings.Contains(string(traced), private) != (keep != 0) {
				t.Errorf("kept kinds %d, %q:\n%s\n%s", keep, private, traced, result)
			}
		}
		if s := out.Steps[0]; s.Thought != "secret plan" || !strings.Contains(s.Observation, "Ada") {
			t.Errorf("%+v", s)
		}
	}
}

// What the user corrected about a question says nothing about the worked examples.
func TestExamplesBesideCorrections(t *testing.T) {
	var first llm.Request
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		if len(first.Messages) == 0 {
			first = req
		}
		return llm.Response{Text: act("query", usa), StopReason: llm.StopEnd}, nil
	})
	env := strategytest.ShopEnv(t, model)
	env.Exemplars = &memory.Pool{Pairs: []memory.Exemplar{{Question: "How many orders are there?",
		SQL: "SELECT count(*) FROM orders"}}}
	task := strategytest.USATask
	task.Corrections = []session.Correction{{
		Kind: dialogue.CorrectTable, Tables: []schema.TableName{{Name: "customers"}},
		Rejected: []schema.TableName{{Name: "orders"}},
	}}
	if out, err := (agent.ReAct{}).Generate(t.Context(), env, task); err != nil || out.SQL != usa {
		t.Fatal(out, err)
	}
	text := strategytest.Written(first.Messages)
	if !strings.Contains(text, "query[SELECT count(*) FROM orders]") || !strings.Contains(text, "DO NOT use: orders") {
		t.Errorf("the prompt is\n%s", text)
	}
}
