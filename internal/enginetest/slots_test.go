package enginetest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/slots"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/strategy/qasql"
	"github.com/texttosql/texttosql/strategy/threephase"
	"github.com/texttosql/texttosql/trace"
)

// slotClass is a class of statements.
type slotClass struct {
	name, why, sql string
	answer         exec.Bounds
	cancelled      bool          // the context ends when the first slot is taken
	after          time.Duration // the context ends while the statement runs; 0: it does not
	slow           bool          // only calls that show it are made
	as             any           // a pointer to the type of the error of Query; nil: any error, or none
}

const slotEndless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n, pupils"

func slotClasses() []slotClass {
	return []slotClass{
		{name: "answered", why: "the paths behind a statement that runs", sql: "SELECT name FROM pupils WHERE room = 7"},
		{name: "no rows", why: "the values of the statement are looked up",
			sql: "SELECT name FROM pupils WHERE name = 'Nobody'"},
		{name: "syntax", why: "the engine takes no statement", sql: "SELECT FROM WHERE", as: new(*exec.InvalidError)},
		{name: "unknown name", why: "the hint reads the schema", sql: "SELECT nmae FROM pupils", as: new(*exec.InvalidError)},
		{name: "refused text", why: "the text check refuses", sql: "DELETE FROM pupils", as: new(*exec.RefusedError)},
		{name: "refused table", why: "the guard refuses", sql: "SELECT name FROM sqlite_master", as: new(*exec.RefusedError)},
		{name: "limit", why: "a result with too many columns", sql: "SELECT pupil_id, name, room FROM pupils",
			answer: exec.Bounds{Columns: 2},
			as:     new(*exec.LimitError)},
		{name: "time", why: "a statement that runs too long loses its connection", sql: slotEndless,
			answer: exec.Bounds{Timeout: time.Second}, slow: true,
			as: new(*exec.LimitError)},
		{name: "cancelled", why: "the caller goes away when it takes a slot", sql: slotEndless, cancelled: true},
		{name: "cancelled late", why: "the caller goes away while its statement runs", sql: slotEndless,
			after: 200 * time.Millisecond, slow: true},
	}
}

// slotCall is one way to use an Engine or a Conversation.
type slotCall struct {
	method   string // that is tested
	why      string
	slow     bool              // it shows all classes
	strategy strategy.Strategy // nil: Direct
	opts     []texttosql.Option
	run      func(ctx context.Context, e *texttosql.Engine, sql string) error
}

const slotQuestion = `Does "Ada" have a mark of 4 in room 7?`

func slotCalls() []slotCall {
	ask := func(ctx context.Context, e *texttosql.Engine, _ string) error {
		_, err := e.Ask(ctx, slotQuestion)
		return err
	}
	// talk asks in a conversation and then does something with it.
	talk := func(then func(context.Context, *texttosql.Conversation) error) func(context.Context, *texttosql.Engine,
		string) error {
		return func(ctx context.Context, e *texttosql.Engine, _ string) error {
			c := e.NewConversation(nil)
			_, err := c.Ask(ctx, slotQuestion)
			return errors.Join(err, then(ctx, c))
		}
	}
	calls := []slotCall{
		{method: "Engine.Ready", run: func(ctx context.Context, e *texttosql.Engine, _ string) error { return e.Ready(ctx) }},
		{method: "Engine.Schema", run: func(ctx context.Context, e *texttosql.Engine, _ string) error {
			_, err := e.Schema(ctx)
			return err
		}},
		{method: "Engine.Knowledge", run: func(ctx context.Context, e *texttosql.Engine, _ string) error {
			_, err := e.Knowledge(ctx)
			return err
		}},
		{method: "Engine.Query", slow: true, run: func(ctx context.Context, e *texttosql.Engine, sql string) error {
			_, err := e.Query(ctx, sql)
			return err
		}},
		{method: "Engine.Query", why: "a callback reads the schema", run: func(ctx context.Context, e *texttosql.Engine,
			sql string) error {
			_, err := e.Query(ctx, sql, texttosql.WithProgress(func(p texttosql.Progress) {
				if p.Step == "check" && p.Kind == "ended" {
					_, _ = e.Schema(ctx)
				}
			}))
			return err
		}},
		{method: "Engine.Stream", slow: true, run: func(ctx context.Context, e *texttosql.Engine, sql string) error {
			s, err := e.Stream(ctx, sql)
			if err != nil {
				return err
			}
			for _, err := range s.Rows() {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{method: "Engine.Check", run: func(ctx context.Context, e *texttosql.Engine, sql string) error {
			_, err := e.Check(ctx, sql)
			return err
		}},
		{method: "Engine.Confirm", run: func(ctx context.Context, e *texttosql.Engine, sql string) error {
			return e.Confirm(ctx, "who?", sql)
		}},
		{method: "Engine.Generate", run: func(ctx context.Context, e *texttosql.Engine, _ string) error {
			_, err := e.Generate(ctx, slotQuestion)
			return err
		}},
		{method: "Engine.Estimate", run: func(ctx context.Context, e *texttosql.Engine, _ string) error {
			_, err := e.Estimate(ctx, slotQuestion)
			return err
		}},
		{method: "Engine.AskAll", run: func(ctx context.Context, e *texttosql.Engine, _ string) (all error) {
			questions := slices.Values([]texttosql.Question{{Text: slotQuestion}, {Text: "Who has a 1?"}})
			for _, err := range e.AskAll(ctx, iter.Seq[texttosql.Question](questions), 0) {
				all = errors.Join(all, err)
			}
			return all
		}},
		{method: "Engine.For", run: func(ctx context.Context, e *texttosql.Engine, sql string) error {
			narrow, err := e.For(texttosql.WithPolicy(exec.Policy{DenyTables: []string{"pupils_old"}}))
			if err != nil {
				return err
			}
			_, err = narrow.Query(ctx, sql)
			return err
		}},
		{method: "Engine.Permitted", run: func(ctx context.Context, e *texttosql.Engine, sql string) error {
			narrow, err := e.For(texttosql.WithPolicy(exec.Policy{DenyTables: []string{"pupils_old"}}))
			if err != nil {
				return err
			}
			_, err = narrow.Permitted(ctx, []memory.Exemplar{{Question: "who?", SQL: sql}})
			return err
		}},
		{method: "Engine.OpenConversation", run: func(ctx context.Context, e *texttosql.Engine, _ string) error {
			store := &session.MemoryStore{}
			c := e.NewConversation(store)
			_, err := c.Ask(ctx, slotQuestion)
			opened, oerr := e.OpenConversation(ctx, store, c.Record().ID)
			if oerr == nil {
				_, oerr = opened.Restart(ctx)
			}
			return errors.Join(err, oerr)
		}},
		{method: "Conversation.Ask", run: talk(func(ctx context.Context, c *texttosql.Conversation) error {
			_, err := c.Ask(ctx, "And who of them is in room 7?")
			return err
		})},
		{method: "Conversation.Correct", why: "held to a table",
			run: talk(func(ctx context.Context, c *texttosql.Conversation) error {
				_, err := c.Correct(ctx, "select pupils not pupils_old")
				return err
			})},
		{method: "Conversation.Apply", run: talk(func(ctx context.Context, c *texttosql.Conversation) error {
			_, err := c.Apply(ctx, session.Correction{Kind: "natural_language", Text: "only those who are still here"})
			return err
		})},
		{method: "Conversation.Resume", run: talk(func(ctx context.Context, c *texttosql.Conversation) error {
			_, err := c.Resume(ctx)
			return err
		})},
		{method: "Conversation.Restart", run: talk(func(ctx context.Context, c *texttosql.Conversation) error {
			_, err := c.Restart(ctx)
			return err
		})},
		{method: "Conversation.Confirm", run: talk(func(ctx context.Context, c *texttosql.Conversation) error {
			return c.Confirm(ctx, "")
		})},
		{method: "Conversation.Choose", strategy: strategy.Func(askWhich),
			run: talk(func(ctx context.Context, c *texttosql.Conversation) error {
				_, err := c.Choose(ctx, "r1")
				return err
			})},
		{method: "Engine.AskQuestion", run: func(ctx context.Context, e *texttosql.Engine, _ string) error {
			_, err := e.AskQuestion(ctx, texttosql.Question{Text: slotQuestion})
			return err
		}},
		{method: "Engine.Ask", why: "a model says what was found, and asks the engine",
			opts: []texttosql.Option{texttosql.WithSummary()}, run: ask},
	}
	strategies := slotStrategies()
	for _, name := range slices.Sorted(maps.Keys(strategies)) {
		calls = append(calls, slotCall{method: "Engine.Ask", why: name, slow: name == "direct", strategy: strategies[name],
			run: ask})
	}
	return calls
}

// slotStrategies are those that use the database in a way of their own.
func slotStrategies() map[string]strategy.Strategy {
	examiner := exec.CheckFunc(func(ctx context.Context, s *exec.Runner, c *exec.Checked) error {
		if _, err := s.Schema(ctx); err != nil {
			return err
		}
		_, err := s.Query(ctx, "SELECT count(*) FROM pupils")
		return err
	})
	return map[string]strategy.Strategy{
		"direct": strategy.Direct{}, "metric requests": strategy.SelfConsistency{Samples: 2},
		"a vote and a judge": strategy.Consensus{Samples: 4},
		"value look-ups":     strategy.Pipeline{Linker: linker.Union{linker.Lexical{}, linker.Values{Choose: true}}},
		"an own check":       strategy.Pipeline{Checks: append(exec.DefaultChecks(), examiner)},
		"an own check alone": strategy.Pipeline{Checks: []exec.Check{examiner}},
		"probes":             planvote.Augmented{Samples: 2, Probe: true}, "feedback": planvote.Feedback{Samples: 2},
		"maker":  maker.Strategy{Samples: 2, FallbackCalls: 2},
		"petsql": petsql.Strategy{}, "qasql": qasql.Strategy{}, "staged": agent.Staged{},
		"tools":        agent.ReAct{Tools: agent.Tools(), Steps: 8},
		"three phases": threephase.Strategy{},
	}
}

// askWhich asks the user which statement is meant.
func askWhich(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
	m, _ := env.Model(0)
	reply, err := m.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: t.Question}}})
	if err != nil {
		return nil, err
	}
	sql := strings.Trim(strings.TrimPrefix(reply.Text, "```sql"), "\n`")
	return nil, &session.QuestionError{Kind: "result", Message: "which?", Options: []session.Option{
		{ID: "r1", Label: "this", SQL: sql}, {ID: "r2", Label: "all", SQL: "SELECT name FROM pupils"},
	}}
}

// slotModel answers each request with sql, after a walk through the tools of an agent.
func slotModel(engine **texttosql.Engine, sql string) llm.Model {
	scope := func() string { return "Tables: marks, pupils\nJoins: marks.pupil_id = pupils.pupil_id" }
	steps := []string{"tables[]", "describe[pupils]", "samples[pupils]", "find[Ada]", "explain[" + sql + "]"}
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		text := strategytest.Reply(req.Purpose, scope, func() string { return sql })
		taken := 0
		for _, m := range req.Messages {
			if m.Role == llm.Assistant {
				taken++
			}
		}
		switch {
		case req.Purpose == "metric":
			text = `{"metrics": ["given"]}`
		case req.Purpose == "agent.step" && taken < len(steps):
			text = "Thought: look\nAction: " + steps[taken]
		case req.Purpose == "headline":
			_, err := (*engine).Schema(ctx)
			return llm.Response{Text: "Ada", StopReason: llm.StopEnd}, err
		}
		return llm.Response{Text: text, StopReason: llm.StopEnd, Usage: llm.Estimate(req, text)}, nil
	})
}

// meeting makes the statements of callers end their checks at the same time, each with its connection.
type meeting struct{}

func (meeting) Follow(ctx context.Context, s *trace.Span) (context.Context, func()) {
	all, _ := ctx.Value(meeting{}).(*sync.WaitGroup)
	if all == nil || s.Name() != "check" {
		return ctx, func() {}
	}
	return ctx, func() { all.Done(); all.Wait() }
}

func (meeting) Ended(*texttosql.Result, error) {}

// slotEngine is an engine whose model answers with the statement of a class.
func slotEngine(t *testing.T, connections int, class slotClass, call slotCall) *texttosql.Engine {
	t.Helper()
	pool := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "test.sqlite")+"?_sync=OFF"))(t)
	t.Cleanup(func() { pool.Close() })
	testutil.Value(pool.Exec(strategytest.SchoolSQL))(t)
	opts := append([]texttosql.Option{
		texttosql.WithLimits(exec.Limits{Connections: connections, Answer: class.answer, Candidate: class.answer,
			Stream: class.answer}),
		texttosql.WithTelemetry(meeting{}), texttosql.WithDescriptions(schema.Descriptions{"pupils": {Text: "who learns"}}),
		texttosql.WithKnowledge(knowledge.Model{
			Tables:  []knowledge.Table{{Name: "marks", Keys: [][]string{{"mark_id"}}}},
			Metrics: []knowledge.Metric{{Name: "given", Expr: "COUNT(marks.*)"}},
		}),
	}, call.opts...)
	if call.strategy == nil {
		call.strategy = strategy.Direct{}
	}
	var e *texttosql.Engine
	e = testutil.Value(texttosql.New(pool, slotModel(&e, class.sql),
		append(opts, texttosql.WithStrategy(call.strategy))...))(t)
	return e
}

// TestOneSlot: no call waits for a second slot of Limits.Connections while it holds one. Callers that take all slots at
// the same time end, whatever becomes of their statements, and so does an ordinary caller beside them. The race
// detector sees a quarter: each class, and each call.
func TestOneSlot(t *testing.T) {
	for _, n := range []int{1, 4} {
		if race.Enabled && n == 1 {
			continue // the detector wants callers beside each other
		}
		for i, class := range slotClasses() {
			for j, call := range slotCalls() {
				if class.slow && !call.slow || race.Enabled && !class.slow && (i+j)%4 > 0 {
					continue
				}
				name := strings.TrimSpace(fmt.Sprintf("%d/%s/%s %s", n, class.name, call.method, call.why))
				t.Run(name, func(t *testing.T) { oneSlot(t, n, class, call) })
			}
		}
	}
}

// holds reports whether an error is of the class. Callers beside each other share the class and not the target.
func (c slotClass) holds(err error) bool {
	if c.as == nil || err == nil {
		return c.as == nil && err == nil
	}
	return errors.As(err, reflect.New(reflect.TypeOf(c.as).Elem()).Interface())
}

// oneSlot makes a call n times at once, on n connections, with an ordinary call beside them.
func oneSlot(t *testing.T, n int, class slotClass, call slotCall) {
	const deadline = 30 * time.Second // only a failing test waits for it
	e := slotEngine(t, n, class, call)
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	var (
		counter slots.Counter
		met     sync.WaitGroup
		all     sync.WaitGroup
	)
	met.Add(n)
	for range n {
		all.Go(func() {
			own, leave := context.WithCancel(ctx)
			defer leave()
			watch := slots.Watch(counter.Watch)
			switch {
			case class.cancelled:
				watch = func() func() { leave(); return counter.Watch() }
			case class.after > 0:
				defer time.AfterFunc(class.after, leave).Stop()
			case call.method == "Engine.Query" || call.method == "Engine.Stream":
				own = context.WithValue(own, meeting{}, &met)
			}
			err := call.run(watch.Into(own), e, class.sql)
			if own.Value(meeting{}) == nil {
				return
			}
			if !class.holds(err) {
				t.Errorf("%s: %v, want a %T", class.why, err, class.as)
			}
		})
	}
	all.Go(func() {
		rows, err := e.Query(slots.Watch(counter.Watch).Into(ctx), "SELECT name FROM pupils")
		if err != nil || len(rows.Rows) != 2 {
			t.Errorf("the ordinary caller: %+v, %v", rows, err)
		}
	})
	all.Wait()
	if ctx.Err() != nil {
		t.Errorf("the deadline was hit: %s", class.why)
	}
	taken, second := counter.Counted()
	for _, stack := range second {
		t.Errorf("a second slot of one call:\n%s", stack)
	}
	if taken == 0 {
		t.Error("no slot was seen")
	}
}

// TestOneSlotOfEveryMethod: TestOneSlot knows every exported method that can reach the database.
func TestOneSlotOfEveryMethod(t *testing.T) {
	reachNothing := []string{"Engine.NewConversation", "Engine.ScopeKey", "Conversation.Record"}
	tested := map[string]bool{}
	for _, call := range slotCalls() {
		tested[call.method] = true
	}
	for _, of := range []reflect.Type{reflect.TypeFor[*texttosql.Engine](), reflect.TypeFor[*texttosql.Conversation]()} {
		for m := range of.NumMethod() {
			name := of.Elem().Name() + "." + of.Method(m).Name
			if tested[name] == slices.Contains(reachNothing, name) {
				t.Errorf("%s: tested %v", name, tested[name])
			}
		}
	}
}

// TestCallInsideStream: a call inside the loop over a stream has a slot of its own, or waits no longer than its
// context.
func TestCallInsideStream(t *testing.T) {
	const many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) SELECT i FROM n, pupils"
	for _, test := range []struct {
		why         string
		connections int
		stream      time.Duration // the limit of the stream
		ended       bool          // the inner context
		want        error
	}{
		{"there is another connection", 2, time.Minute, false, nil},
		{"the stream has the only one, and the caller goes away", 1, time.Minute, true, context.Canceled},
		{"the stream has the only one until its time is over", 1, time.Second, false, nil},
	} {
		e := slotEngine(t, test.connections, slotClass{sql: many, answer: exec.Bounds{Timeout: test.stream}}, slotCall{})
		s := testutil.Value(e.Stream(t.Context(), many))(t)
		for _, err := range s.Rows() {
			testutil.OK(t, err)
			inner, cancel := context.WithCancel(t.Context())
			waits := slots.Watch(func() func() {
				if test.ended {
					cancel()
				}
				return func() {}
			})
			if _, err := e.Query(waits.Into(inner), "SELECT name FROM pupils"); !errors.Is(err, test.want) {
				t.Errorf("%s: %v", test.why, err)
			}
			cancel()
			break
		}
		if _, err := e.Query(t.Context(), "SELECT name FROM pupils"); err != nil {
			t.Errorf("%s, behind the loop: %v", test.why, err)
		}
	}
}
