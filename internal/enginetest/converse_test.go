package enginetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// asker is a strategy with every kind of question to its user. It asks the model twice with the same request, and then
// once with what it knows; a question with "unclear" asks for a table, and then for a join.
type asker struct{}

func (asker) Generate(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
	m, _ := env.Model(0)
	ask := func(purpose, text string) (string, error) {
		resp, err := m.Complete(ctx, llm.Request{Purpose: purpose, Messages: []llm.Message{{Role: llm.User, Text: text}}})
		return resp.Text, err
	}
	stage := func(s session.State) { env.Tell(ctx, s) }
	stage(dialogue.QueryUnderstanding)
	for range 2 {
		if _, err := ask("tables", t.Question); err != nil {
			return nil, err
		}
	}
	about := t.Question
	table, join := false, false
	for _, c := range t.Corrections {
		about += "\n" + c.Constraint()
		table, join = table || c.Kind == dialogue.CorrectTable, join || c.Kind == dialogue.CorrectJoin
	}
	for _, e := range t.Earlier {
		about = e.Question + ": " + e.SQL + "\n" + about
	}
	customers, people, orders := schema.TableName{Name: "customers"}, schema.TableName{Name: "people"},
		schema.TableName{Name: "orders"}
	if strings.Contains(t.Question, "unclear") && !table {
		return nil, &session.QuestionError{Kind: dialogue.KindTable, Message: "which table?", Options: []session.Option{
			{ID: "t1", Label: "customers", Table: &customers}, {ID: "t2", Label: "people", Table: &people},
		}}
	}
	stage(dialogue.InferringJoins)
	if strings.Contains(t.Question, "unclear") && !join {
		on := func(column string) *schema.Join {
			return &schema.Join{Left: schema.ColumnName{Table: orders, Column: column},
				Right: schema.ColumnName{Table: customers, Column: "id"}}
		}
		return nil, &session.QuestionError{Kind: dialogue.KindJoin, Message: "which join?", Options: []session.Option{
			{ID: "j1", Label: "by customer", Join: on("customer_id")}, {ID: "j2", Label: "by id", Join: on("id")},
		}}
	}
	if strings.Contains(t.Question, "disagree") {
		return nil, &session.QuestionError{Kind: dialogue.KindResult, Message: "which result?", Options: []session.Option{
			{ID: "r1", Label: "the USA", SQL: usa}, {ID: "r2", Label: "all", SQL: "SELECT name FROM customers"},
		}}
	}
	stage(dialogue.GeneratingSQL)
	sql, err := ask("generate", about)
	if err != nil {
		return nil, err
	}
	stage(dialogue.ExecutingQuery)
	if strings.Contains(t.Question, "impossible") {
		return nil, &strategy.NoCandidateError{}
	}
	return &strategy.Outcome{SQL: sql, Confidence: 0.5}, nil
}

// provider answers every request, counts them and can be down.
type provider struct {
	mu    sync.Mutex
	calls []string // their purposes
	texts []string // their last messages
	down  error
	hook  func(n int)
	hangs bool // until the end of the context
}

func (p *provider) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return llm.Response{}, p.down
	}
	p.calls = append(p.calls, req.Purpose)
	p.texts = append(p.texts, req.Messages[len(req.Messages)-1].Text)
	if p.hook != nil {
		p.hook(len(p.calls))
	}
	if p.hangs {
		<-ctx.Done()
	}
	if ctx.Err() != nil {
		return llm.Response{}, ctx.Err()
	}
	text := usa
	if req.Purpose == "tables" {
		text = "all of them"
	} else if strings.Contains(p.texts[len(p.texts)-1], "MANDATORY JOIN") {
		text = joined
	}
	return llm.Response{Text: text, Usage: llm.Usage{Calls: 1, PromptTokens: 10, CompletionTokens: 1, Known: true}}, nil
}

// joined obeys both joins that asker asks about.
const joined = "SELECT name FROM customers JOIN orders ON orders.customer_id = customers.id AND orders.id > 0 " +
	"WHERE country = 'USA'"

// since returns the purposes of the calls from the n-th on.
func (p *provider) since(n int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.calls[n:], " ")
}

// twin is a table that may be taken for customers.
const twin = "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT);"

func talking(t *testing.T, m llm.Model, opts ...texttosql.Option) *texttosql.Engine {
	t.Helper()
	e := testutil.Value(texttosql.New(open(t, shop+twin), llm.Named("m", m),
		append([]texttosql.Option{texttosql.WithStrategy(asker{})}, opts...)...))(t)
	return e
}

func converse(t *testing.T, e *texttosql.Engine, store session.Store, id string) *texttosql.Conversation {
	t.Helper()
	s, err := e.NewConversation(store), error(nil)
	if id != "" {
		s, err = e.OpenConversation(t.Context(), store, id)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestConversation goes through every kind of turn, each time in a new session that was opened again: nothing but the
// store carries the conversation.
func TestConversation(t *testing.T) {
	model, store := &provider{}, &session.MemoryStore{}
	e := talking(t, model)
	id := ""
	question := func(kind string) func(error) bool {
		return func(err error) bool {
			q := (*session.QuestionError)(nil)
			return errors.As(err, &q) && q.Kind == kind
		}
	}
	answered := func(err error) bool { return err == nil }
	is := func(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }
	steps := []struct {
		why   string
		do    func(s *texttosql.Conversation) (*texttosql.Result, error)
		ended func(error) bool
		state session.State
		live  string // purposes of the model calls
	}{
		{"a question that is not clear", func(s *texttosql.Conversation) (*texttosql.Result, error) {
			return s.Ask(t.Context(), "an unclear question")
		}, question(dialogue.KindTable), session.AwaitingCorrection, "tables tables"},
		{"what is pending is there again", resume, question(dialogue.KindTable), session.AwaitingCorrection, ""},
		{"an option that is not there", choose("t9"), is(session.ErrInvalidCorrection), session.AwaitingCorrection, ""},
		{"an option: the next question", choose("t1"), question(dialogue.KindJoin), session.AwaitingCorrection, ""},
		{"a join in words", func(s *texttosql.Conversation) (*texttosql.Result, error) {
			return s.Apply(t.Context(), session.Correction{Kind: dialogue.CorrectJoin, Join: s.Record().Pending.Options[0].Join})
		}, answered, session.Completed, "generate"},
		{"the answer again", resume, answered, session.Completed, ""},
		{"a correction of the answer", func(s *texttosql.Conversation) (*texttosql.Result, error) {
			return s.Correct(t.Context(), "buyers means customers.name")
		}, answered, session.Completed, "generate"},
		{"the third correction, as a choice is not counted", func(s *texttosql.Conversation) (*texttosql.Result, error) {
			return s.Correct(t.Context(), "land means customers.country")
		}, answered, session.Completed, "generate"},
		{"prose, which is not counted", func(s *texttosql.Conversation) (*texttosql.Result, error) {
			return s.Correct(t.Context(), "or rather all")
		}, answered, session.Completed, "generate"},
		{"the fourth correction", func(s *texttosql.Conversation) (*texttosql.Result, error) {
			return s.Correct(t.Context(), "place means customers.country")
		}, is(session.ErrMaxCorrections), session.Completed, ""},
		{"a follow-up", func(s *texttosql.Conversation) (*texttosql.Result, error) {
			return s.Ask(t.Context(), "and of those?")
		}, answered, session.Completed, "tables tables generate"},
	}
	for _, step := range steps {
		s := converse(t, e, store, id)
		calls := len(model.calls)
		res, err := step.do(s)
		id = s.Record().ID
		if !step.ended(err) {
			t.Fatalf("%s: %v", step.why, err)
		}
		if got := s.Record().State; got != step.state {
			t.Errorf("%s: it is %s, want %s", step.why, got, step.state)
		}
		if got := model.since(calls); got != step.live {
			t.Errorf("%s: calls %q, want %q", step.why, got, step.live)
		}
		if want := map[bool]string{true: usa, false: joined}[step.why == "a follow-up"]; err == nil &&
			(res.SQL != want || len(res.Rows.Rows) != 2) {
			t.Errorf("%s: %+v", step.why, res)
		}
	}
	last := model.texts[len(model.texts)-1]
	if want := "an unclear question: " + joined + "\nand of those?"; last != want {
		t.Errorf("the follow-up saw %q, want %q", last, want)
	}
	rec := converse(t, e, store, id).Record()
	if want := len(model.calls); rec.Usage.Calls != want || rec.Usage.PromptTokens != 10*want {
		t.Errorf("usage = %+v after %d calls", rec.Usage, want)
	}
	if c := rec.Turns[1].Correction; c == nil || fmt.Sprint(c.Tables, c.Rejected) != "[customers] [people]" {
		t.Errorf("choosing a table is the correction %+v, and rejects no other", c)
	}
	var restarts []session.State // after a question to the user, or an answer
	for _, tr := range rec.Transitions {
		if tr.From == session.AwaitingCorrection || tr.From == session.Completed {
			restarts = append(restarts, tr.To)
		}
	}
	again := session.State(dialogue.QueryUnderstanding)
	if want := []session.State{again, dialogue.InferringJoins, again, again, again, again}; !slices.Equal(restarts, want) {
		t.Errorf("a table, a join, words twice, prose and a follow-up begin again at %v, want %v", restarts, want)
	}
	legal(t, rec)
}

// legal reports transitions that the table does not have, and gaps between them.
func legal(t *testing.T, rec session.Record) {
	t.Helper()
	state := session.State(dialogue.Initializing)
	for _, tr := range rec.Transitions {
		if tr.From != state || !tr.From.May(tr.To) {
			t.Errorf("%s to %s after %s", tr.From, tr.To, state)
		}
		state = tr.To
	}
	if state != rec.State {
		t.Errorf("the transitions end in %s, the record is in %s", state, rec.State)
	}
}

func resume(s *texttosql.Conversation) (*texttosql.Result, error) {
	return s.Resume(context.Background())
}

func restart(s *texttosql.Conversation) (*texttosql.Result, error) {
	return s.Restart(context.Background())
}

func choose(id string) func(*texttosql.Conversation) (*texttosql.Result, error) {
	return func(s *texttosql.Conversation) (*texttosql.Result, error) { return s.Choose(context.Background(), id) }
}

// TestChooseResult: an option of kind result is the answer, without a call of a model, in this process and in another
// one.
func TestChooseResult(t *testing.T) {
	model, store := &provider{}, &session.MemoryStore{}
	e := talking(t, model)
	s := converse(t, e, store, "")
	_, err := s.Ask(t.Context(), "answers that disagree")
	var q *session.QuestionError
	if !errors.As(err, &q) || q.Kind != dialogue.KindResult {
		t.Fatal(err)
	}
	s = converse(t, e, store, s.Record().ID)
	if _, err = s.Resume(t.Context()); !errors.As(err, &q) || len(q.Options[1].Rows.Rows) != 3 {
		t.Errorf("the options came back as %+v, %v: without their rows", q, err)
	}
	calls := len(model.calls)
	for _, again := range []bool{false, true} {
		var res *texttosql.Result
		if again {
			res, err = converse(t, e, store, s.Record().ID).Resume(t.Context())
		} else {
			res, err = s.Choose(t.Context(), "r2")
		}
		if err != nil || len(res.Rows.Rows) != 3 || res.Confidence != 1 || res.Level != "chosen" {
			t.Errorf("again %v: %+v, %v", again, res, err)
		}
	}
	if live := model.since(calls); live != "" {
		t.Errorf("the model was asked: %q", live)
	}
	legal(t, s.Record())
}

// TestChosenIsChecked: what an option holds comes from a model, and the session may be in a file.
func TestChosenIsChecked(t *testing.T) {
	store := &session.MemoryStore{}
	e := talking(t, &provider{})
	s := converse(t, e, store, "")
	s.Ask(t.Context(), "answers that disagree")
	rec := s.Record()
	rec.Pending.Options[0].SQL = "DELETE FROM customers"
	testutil.OK(t, store.Save(t.Context(), rec))
	_, err := converse(t, e, store, rec.ID).Choose(t.Context(), "r1")
	if !errors.Is(err, exec.ErrNotReadOnly) {
		t.Errorf("it ended with %v", err)
	}
	var q *session.QuestionError
	if _, err := converse(t, e, store, rec.ID).Resume(t.Context()); !errors.As(err, &q) {
		t.Errorf("resumed, it ended with %v: it should ask again", err)
	}
	if rec = converse(t, e, store, rec.ID).Record(); rec.State != session.AwaitingCorrection ||
		rec.Turns[1].Answer != nil {
		t.Errorf("it is %s with the answer %+v", rec.State, rec.Turns[1].Answer)
	}
}

// TestConfirmInSession: the answer becomes an exemplar under a wording that stands alone.
func TestConfirmInSession(t *testing.T) {
	kept := &memory.VerifiedAnswers{}
	s := converse(t, talking(t, &provider{}, texttosql.WithMemory(memory.Options{VerifiedAnswers: kept})),
		&session.MemoryStore{}, "")
	for i, standalone := range []string{"", "who of all lives in the USA?"} {
		testutil.Value(s.Ask(t.Context(), fmt.Sprint("question ", i)))(t)
		testutil.OK(t, s.Confirm(t.Context(), standalone))
	}
	pairs, err := kept.Pairs()
	if err != nil || len(pairs) != 2 || pairs[0].Question != "question 0" ||
		pairs[1].Question != "who of all lives in the USA?" || pairs[1].SQL != usa {
		t.Errorf("kept %+v, %v", pairs, err)
	}
	rec := s.Record()
	if last := rec.Turns[len(rec.Turns)-1]; last.Kind != dialogue.TurnConfirmation || rec.State != session.Completed {
		t.Errorf("the last turn is %+v, the state %s", last, rec.State)
	}
}

// TestSameSession: equal replies give equal records, results and traces, times and ids aside.
func TestSameSession(t *testing.T) {
	run := func() (string, []byte) {
		s := converse(t, talking(t, &provider{}), &session.MemoryStore{}, "")
		s.Ask(t.Context(), "unclear")
		s.Choose(t.Context(), "t1")
		res := testutil.Value(s.Choose(t.Context(), "j1"))(t)
		tree := testutil.Value(res.Trace.Comparable())(t)
		return timeless(t, s.Record()), tree
	}
	a, traceA := run()
	b, traceB := run()
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("records:\n%s", diff)
	}
	if diff := cmp.Diff(string(traceA), string(traceB)); diff != "" {
		t.Errorf("traces:\n%s", diff)
	}
}

// timeless is a record as JSON without what differs from run to run.
func timeless(t *testing.T, rec session.Record) string {
	t.Helper()
	rec.ID, rec.Revision, rec.Created, rec.Updated = "", 0, time.Time{}, time.Time{}
	for i := range rec.Transitions {
		rec.Transitions[i].At = time.Time{}
	}
	for i := range rec.Turns {
		rec.Turns[i].At = time.Time{}
	}
	text := testutil.Value(json.MarshalIndent(rec, "", " "))(t)
	return string(text)
}

// slowStore is a store whose saves wait until goOn is closed. The first one closes began.
type slowStore struct {
	session.MemoryStore
	began chan struct{}
	goOn  chan struct{}
	once  sync.Once
}

func (s *slowStore) Save(ctx context.Context, r session.Record) error {
	s.once.Do(func() { close(s.began) })
	<-s.goOn
	return s.MemoryStore.Save(ctx, r)
}

// TestBusyWhileSaved: no call waits for a save of another one.
func TestBusyWhileSaved(t *testing.T) {
	for _, tt := range []struct {
		why  string
		call func(ctx context.Context, c *texttosql.Conversation) error
		want error
	}{
		{"the record can be read", func(_ context.Context, c *texttosql.Conversation) error { c.Record(); return nil }, nil},
		{"another question", func(ctx context.Context, c *texttosql.Conversation) error {
			_, err := c.Ask(ctx, "And now?")
			return err
		}, exec.ErrBusy},
		{"a confirmation", func(ctx context.Context, c *texttosql.Conversation) error { return c.Confirm(ctx, "") },
			exec.ErrBusy},
		{"a call whose context has ended", func(ctx context.Context, c *texttosql.Conversation) error {
			ended, cancel := context.WithCancel(ctx)
			cancel()
			_, err := c.Resume(ended)
			return err
		}, context.Canceled},
	} {
		store := &slowStore{began: make(chan struct{}), goOn: make(chan struct{})}
		c := engine(t, always("SELECT 1"), texttosql.WithSamples(1)).NewConversation(store)
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { _, err := c.Ask(t.Context(), "How many customers?"); first <- err }()
		<-store.began
		go func() { second <- tt.call(t.Context(), c) }()
		select {
		case err := <-second:
			if !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, want %v", tt.why, err, tt.want)
			}
		case <-time.After(3 * time.Second):
			t.Errorf("%s: it waits for the save", tt.why)
		}
		close(store.goOn)
		if err := <-first; err != nil {
			t.Errorf("%s: the first call: %v", tt.why, err)
		}
	}
}
