package enginetest_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/enginetest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

const (
	shop = enginetest.Shop
	usa  = enginetest.USA
)

var (
	open   = enginetest.Open
	always = enginetest.Always
)

func engine(tb testing.TB, model llm.Model, opts ...texttosql.Option) *texttosql.Engine {
	tb.Helper()
	reveal := texttosql.WithPolicy(exec.Policy{Reveal: []string{"*"}}) // the column password is there to be looked for
	e := testutil.Value(texttosql.New(open(tb, shop), model, enginetest.Options([]texttosql.Option{reveal},
		opts...)...))(tb)
	return e
}

func TestAsk(t *testing.T) {
	r := testutil.Value(engine(t, always("```sql\n"+usa+";\n```")).Ask(t.Context(), "Which customers live in the USA?"))(t)
	if diff := cmp.Diff([][]any{{"Ada"}, {"Cyd"}}, r.Rows.Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if r.SQL != usa || r.Confidence != 8.0/9 || r.Usage.Calls != 7 || r.Saved != 5 {
		t.Errorf("got %q, confidence %v, %d calls, %d saved", r.SQL, r.Confidence, r.Usage.Calls, r.Saved)
	}
}

func TestNewReportsAllFaults(t *testing.T) {
	_, err := texttosql.New(open(t, shop), nil,
		texttosql.WithSamples(-1), texttosql.WithBudget(llm.Budget{InFlight: -1}), texttosql.WithStrategy(nil),
		texttosql.WithDialect(nil),
		texttosql.WithSchema(nil), texttosql.WithInstructions(strings.Repeat("x", 17<<10)),
		texttosql.WithBudget(llm.Budget{Calls: -1, Prices: map[string]llm.Price{"m": {Completion: math.NaN()}}}),
		texttosql.WithMemory(memory.Options{Exemplars: []memory.Exemplar{{Question: "q"}}}),
		texttosql.WithLimits(exec.Limits{Connections: -1}),
		texttosql.WithRetry(llm.Retry{Attempts: -1}))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"WithSamples", "WithStrategy", "WithDialect", "WithSchema", "WithBudget: a limit", `the price of "m"`,
		"WithRetry", "WithInstructions", "WithMemory", "Connections", "model 0 is nil",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no word about %s in:\n%v", want, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	two := always(usa)
	tests := []struct {
		name string
		db   *sql.DB
		opts []texttosql.Option
		want string
		is   error
	}{
		{"no database", nil, nil, "database is nil", nil},
		{"unknown driver", sql.OpenDB(connector{}), nil, "the database cannot be guarded", nil},
		{"unnamed models", open(t, shop), []texttosql.Option{texttosql.WithModels(two)}, "llm.Named", nil},
		{"models of one name", open(t, shop),
			[]texttosql.Option{texttosql.WithModels(llm.Named("a", two), llm.Named("a", two))}, `"a"`, nil},
		{"a budget that is no number", open(t, shop), []texttosql.Option{texttosql.WithBudget(llm.Budget{Money: math.NaN()})},
			"WithBudget", nil},
		{"more samples than memory", open(t, shop), []texttosql.Option{texttosql.WithSamples(1 << 50)}, "WithSamples", nil},
		{"a name and no model", open(t, shop), []texttosql.Option{texttosql.WithModels(llm.Named("second", nil))},
			"model 1 is nil", nil},
		{"samples for Direct", open(t, shop), []texttosql.Option{texttosql.WithStrategy(strategy.Direct{}),
			texttosql.WithSamples(3)}, "SelfConsistency votes", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := texttosql.New(tt.db, llm.Named("first", two), tt.opts...)
			if tt.name == "unnamed models" {
				_, err = texttosql.New(tt.db, two, tt.opts...)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("got %v, want %q and %v", err, tt.want, tt.is)
			}
		})
	}
}

// TestNewRefusesVotes: a model that a Variant names and nobody gave, and a weight over the bound, are errors of New.
func TestNewRefusesVotes(t *testing.T) {
	first, second := llm.Named("first", always(usa)), llm.Named("second", always(usa))
	variant := func(model string) strategy.Prompter {
		return strategy.Variant{Prompter: strategy.Prompt{}, Model: model}
	}
	weight := func(most float64, weights map[string]float64) vote.Majority {
		return vote.Majority{Weight: func(c vote.Candidate) float64 { return weights[c.Model] }, MaxWeight: most}
	}
	heavy := weight(0, map[string]float64{"first": 1, "second": 2})
	for _, tt := range []struct {
		why      string
		strategy strategy.Pipeline
		field    string // "": it is accepted
		want     string
	}{
		{"a model that is there", strategy.Pipeline{Prompter: variant("second")}, "", ""},
		{"the model whose turn it is", strategy.Pipeline{Prompter: variant("")}, "", ""},
		{"a misspelt model", strategy.Pipeline{Prompter: variant("secnd")}, "strategy: Variant.Model",
			`no model is called "secnd"; the models are ["first" "second"]`},
		{"one of several", strategy.Pipeline{Prompter: strategy.RotatePrompts{variant("first"), strategy.Prompt{},
			variant("third")}},
			"strategy: Variant.Model", `"third"`},
		{"one inside of another",
			strategy.Pipeline{Prompter: strategy.RotatePrompts{strategy.RotatePrompts{variant("third")}}},
			"strategy: Variant.Model", `"third"`},
		{"several that are there", strategy.Pipeline{Prompter: strategy.RotatePrompts{variant("first"), variant("second")}},
			"", ""},

		{"weights up to 1", strategy.Pipeline{Voter: weight(0, map[string]float64{"first": .5, "second": 1})}, "", ""},
		{"a weight above 1", strategy.Pipeline{Voter: heavy}, "vote: Majority.Weight",
			`it gives the model "second" 2, above the MaxWeight of 1: set Majority.MaxWeight`},
		{"by a pointer", strategy.Pipeline{Voter: &heavy}, "vote: Majority.Weight", "above the MaxWeight of 1"},
		{"up to the bound", strategy.Pipeline{Voter: weight(2, map[string]float64{"first": 1, "second": 2})}, "", ""},
		{"above a bound", strategy.Pipeline{Voter: weight(2, map[string]float64{"first": 2.5})}, "vote: Majority.Weight",
			`"first" 2.5, above the MaxWeight of 2`},
		{"a weight that needs the statement", strategy.Pipeline{Voter: vote.Majority{Weight: func(c vote.Candidate) float64 {
			return float64(len(c.Statement.Tables()))
		}}}, "", ""},
	} {
		_, err := texttosql.New(open(t, shop), first, texttosql.WithModels(second), texttosql.WithStrategy(tt.strategy))
		var wrong *strategy.ConfigError
		switch {
		case tt.field == "" && err != nil:
			t.Errorf("%s: %v", tt.why, err)
		case tt.field == "":
		case !errors.As(err, &wrong) || wrong.Field != tt.field || !strings.Contains(wrong.Problem, tt.want):
			t.Errorf("%s: %v, want %s: %s", tt.why, err, tt.field, tt.want)
		}
	}
}

// TestReady: New opens no connection and asks no model; Ready says what the first question would.
func TestReady(t *testing.T) {
	never := llm.Func(func(context.Context, llm.Request) (llm.Response, error) { panic("a model was asked") })
	missing := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "missing.sqlite")+"?mode=ro"))(t)
	defer missing.Close()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		why  string
		db   *sql.DB
		opts []texttosql.Option
		ctx  context.Context
		want string // "": ready
	}{
		{"a database", open(t, shop), nil, t.Context(), ""},
		{"no file", missing, nil, t.Context(), "unable to open database file"},
		{"a policy about nothing", open(t, shop),
			[]texttosql.Option{texttosql.WithPolicy(exec.Policy{DenyTables: []string{"nope"}})}, t.Context(), "nope"},
		{"no time", open(t, shop), nil, cancelled, "context canceled"},
	} {
		e, err := texttosql.New(tt.db, never, tt.opts...)
		if err != nil || tt.db == missing && tt.db.Stats().OpenConnections > 0 {
			t.Fatalf("%s: New: %v", tt.why, err)
		}
		err = e.Ready(tt.ctx)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
		if _, err := e.Ask(tt.ctx, whoInUSA); tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: the first question: %v, want %q", tt.why, err, tt.want)
		}
	}
}

// TestOneLineForOneFault: what is wrong with an option is told once, by a typed error, and by nothing that follows from
// it.
func TestOneLineForOneFault(t *testing.T) {
	m := always(usa)
	priced := func(names ...string) texttosql.Option {
		prices := map[string]llm.Price{}
		for _, name := range names {
			prices[name] = llm.Price{Prompt: 1}
		}
		return texttosql.WithBudget(llm.Budget{Money: 1, Prices: prices})
	}
	two := texttosql.WithModels(llm.Named("second", m))
	foreign := sql.OpenDB(connector{})
	tests := []struct {
		why  string
		db   *sql.DB
		opts []texttosql.Option
		want string // "": accepted
	}{
		{"a limit on money that nothing can reach", nil, []texttosql.Option{priced()},
			`texttosql: WithBudget: Money needs Prices, and there is none for the model "first"; the entry "" holds for every model`},
		{"a price for another model only", nil, []texttosql.Option{two, priced("first")},
			`texttosql: WithBudget: Money needs Prices, and there is none for the model "second"; the entry "" holds for every model`},
		{"one price for all", nil, []texttosql.Option{two, priced("")}, ""},
		{"a price for each", nil, []texttosql.Option{two, priced("first", "second")}, ""},
		{"a nil dialect does not mean that the driver is not known", foreign, []texttosql.Option{texttosql.WithDialect(nil)},
			"texttosql: WithDialect: the dialect is nil"},
		{"a bad number of samples is no number of samples for the strategy", nil,
			[]texttosql.Option{texttosql.WithSamples(1 << 20)},
			"texttosql: WithSamples: 1048576 is not in 0..10000"},
		{"a nil strategy leaves the default", nil, []texttosql.Option{texttosql.WithStrategy(nil), texttosql.WithSamples(5)},
			"texttosql: WithStrategy: the strategy is nil"},
		{"a bad budget is no budget", nil, []texttosql.Option{texttosql.WithBudget(llm.Budget{Money: 1, Tokens: -1})},
			"texttosql: WithBudget: a limit is negative or no number"},
		{"Direct would never ask the second model", nil, []texttosql.Option{two, texttosql.WithStrategy(strategy.Direct{})},
			"strategy: Direct: it asks one model, and 2 are given; SelfConsistency spreads samples over several"},
		{"nor by a pointer", nil, []texttosql.Option{two, texttosql.WithStrategy(&strategy.Direct{})},
			"strategy: Direct: it asks one model, and 2 are given; SelfConsistency spreads samples over several"},
	}
	for _, tt := range tests {
		if tt.db == nil {
			tt.db = open(t, shop)
		}
		e, err := texttosql.New(tt.db, llm.Named("first", m), tt.opts...)
		var config *strategy.ConfigError
		switch {
		case tt.want == "" && err == nil:
			_, err = e.Ask(t.Context(), whoInUSA)
			if strings.Contains(tt.why, "pointer") != errors.As(err, &config) {
				t.Errorf("%s: %v", tt.why, err)
			}
		case err == nil || err.Error() != tt.want || !errors.As(err, &config):
			t.Errorf("%s: got %v, want %s", tt.why, err, tt.want)
		}
	}
}

// TestSamplesOfOneQuestion: WithSamples serves New, and overrides itself in Ask.
func TestSamplesOfOneQuestion(t *testing.T) {
	e := engine(t, always(usa), texttosql.WithStrategy(strategy.SelfConsistency{}), texttosql.WithSamples(2))
	for given, want := range map[int]int{0: 2, 3: 3} {
		r, err := e.Ask(t.Context(), "Which customers live in the USA?", texttosql.WithSamples(given),
			texttosql.WithEvidence("all of them"), nil)
		if err != nil || len(r.Candidates)+r.Saved != want {
			t.Errorf("WithSamples(%d): %d samples and %d saved, want %d; %v", given, len(r.Candidates), r.Saved, want, err)
		}
	}
}

func TestInputs(t *testing.T) {
	e := engine(t, always(usa))
	empty := func(err error) bool { return errors.Is(err, strategy.ErrEmptyQuestion) }
	tooLong := func(field string) func(error) bool {
		var input *texttosql.InputError
		return func(err error) bool { return errors.As(err, &input) && input.Field == field }
	}
	samples := func(err error) bool { return strings.Contains(err.Error(), "WithSamples") }
	tests := []struct {
		name     string
		question string
		opt      texttosql.AskOption
		check    func(error) bool
	}{
		{"empty", "", nil, empty},
		{"blank", " \n\t\u00a0", nil, empty},
		{"a megabyte", strings.Repeat("please ", 150_000), nil, tooLong("question")},
		{"long evidence", "q", texttosql.WithEvidence(strings.Repeat("x", 16<<10+1)), tooLong("evidence")},
		{"more samples than memory", "q", texttosql.WithSamples(1 << 50), samples},
		{"negative samples", "q", texttosql.WithSamples(-1), samples},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := e.Ask(t.Context(), tt.question, tt.opt); err == nil || !tt.check(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestErrorsExplainThemselves: an error comes with what there is to show.
func TestErrorsExplainThemselves(t *testing.T) {
	tests := []struct {
		name  string
		model llm.Model
		opt   texttosql.Option
		want  error
		check func(r *texttosql.Result) bool
	}{
		{"no candidate", always("DROP TABLE orders"), nil, strategy.ErrNoCandidate,
			func(r *texttosql.Result) bool { return len(r.Candidates) == 12 && r.Usage.Calls == 12 }},
		{"budget", always("no SQL here"), texttosql.WithBudget(llm.Budget{Calls: 3}), texttosql.ErrBudget,
			func(r *texttosql.Result) bool { return r.Usage.Calls == 3 && warned(r, "budget-spent") }},
		{"abstained",
			&llmtest.Script{Rules: []llmtest.Rule{{Purpose: "generate", Replies: llmtest.Texts(usa, "SELECT 1", "SELECT 2",
				"SELECT 3")}}},
			texttosql.WithStrategy(strategy.Consensus{Samples: 4, MinConfidence: 0.9}), nil,
			func(r *texttosql.Result) bool { return r.SQL != "" && len(r.Ballot.Clusters) == 4 }},
		{"provider down", llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "no such model"}
		}), nil, strategy.ErrNoCandidate, func(r *texttosql.Result) bool { return r.Trace != nil && len(r.Notes) > 0 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := engine(t, tt.model, tt.opt).Ask(t.Context(), "Which customers live in the USA?")
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || r == nil || !tt.check(r) {
				t.Errorf("got %+v, %v", r, err)
			}
			var page bytes.Buffer
			if err := r.WritePage(&page, err, false); err != nil || !strings.Contains(page.String(), "<html") {
				t.Errorf("a failed question has no page: %v", err)
			}
		})
	}
}

// TestBudgetKeepsTheAnswer: a budget that ends the samples early leaves the vote
// of those there were, with a warning.
func TestBudgetKeepsTheAnswer(t *testing.T) {
	e := engine(t, always(usa), texttosql.WithBudget(llm.Budget{Calls: 2}))
	r, err := e.Ask(t.Context(), "Which customers live in the USA?")
	if err != nil || r.SQL != usa || r.Usage.Calls != 2 || len(r.Warnings) != 1 || r.Warnings[0].Code != "budget-spent" {
		t.Errorf("got %+v, %v", r, err)
	}
	// The budget is one of each question.
	if r, err := e.Ask(t.Context(), "And again?"); err != nil || r.Usage.Calls != 2 {
		t.Errorf("second question: %+v, %v", r, err)
	}
}

func TestLimitIsABudget(t *testing.T) {
	endless := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	e := engine(t, always(endless), texttosql.WithStrategy(strategy.Direct{}), texttosql.WithoutExecution())
	if r, err := e.Ask(t.Context(), "q"); err != nil || r.Rows != nil {
		t.Errorf("WithoutExecution ran something: %+v, %v", r, err)
	}
	e = engine(t, always(endless), texttosql.WithStrategy(planned{}),
		texttosql.WithLimits(exec.Limits{Answer: exec.Bounds{Timeout: 500 * time.Millisecond}}))
	r, err := e.Ask(t.Context(), "q")
	if !errors.Is(err, texttosql.ErrBudget) || r.SQL == "" {
		t.Errorf("got %+v, %v; want ErrBudget and the statement", r, err)
	}
}

// planned is a strategy of somebody else's that runs nothing.
type planned struct{}

func (planned) Generate(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
	reply, err := env.Models[0].Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: t.Question}}})
	return &strategy.Outcome{SQL: reply.Text, Confidence: 1}, err
}

// TestForeignConfidence: a confidence that is none is the strategy's mistake, and
// its answer is there to see.
func TestForeignConfidence(t *testing.T) {
	for _, confidence := range []float64{7, -0.1, math.NaN()} {
		sure := strategy.Func(func(context.Context, *strategy.Env, strategy.Task) (*strategy.Outcome, error) {
			return &strategy.Outcome{SQL: usa, Confidence: confidence}, nil
		})
		r, err := engine(t, always(usa), texttosql.WithStrategy(sure)).Ask(t.Context(), "q")
		if err == nil || !strings.Contains(err.Error(), "not in 0..1") || r.SQL != usa || r.Rows != nil {
			t.Errorf("%v: %+v, %v", confidence, r, err)
		}
		if _, err := json.Marshal(r); err != nil || r.Confidence != 0 {
			t.Errorf("%v: confidence %v, as JSON: %v", confidence, r.Confidence, err)
		}
	}
}

func TestCheck(t *testing.T) {
	e := engine(t, always(usa), texttosql.WithPolicy(exec.Policy{DenyColumns: []string{"customers.password"}}))
	tests := []struct {
		sql   string
		want  string
		is    error
		reads string
	}{
		{sql: usa + " ; -- done", reads: "customers"},
		{sql: "DELETE FROM orders", want: "refused", is: exec.ErrNotReadOnly},
		{sql: "SELECT password FROM customers", want: "password"},
		{sql: "SELECT weight FROM orders", want: "no such column"},
		{sql: "SELEC 1", want: "refused"},
	}
	for _, tt := range tests {
		v, err := e.Check(t.Context(), tt.sql)
		if tt.want == "" {
			if err != nil || v.SQL != usa || v.Analysis.Tables[0].Table != tt.reads || v.Plan == nil {
				t.Errorf("%s: %+v, %v", tt.sql, v, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v, want %q", tt.sql, err, tt.want)
		}
	}
}

// TestPromptsCarryEverything: instructions, descriptions and evidence reach every
// prompt of every purpose that writes SQL.
func TestPromptsCarryEverything(t *testing.T) {
	script := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "generate", Replies: llmtest.Texts("SELECT nothing FROM orders", "SELECT total FROM orders",
			"SELECT id FROM orders", "SELECT 4")},
		{Purpose: "repair", Replies: llmtest.Texts("SELECT id FROM orders"), Repeat: true},
		{Purpose: "judge", Replies: llmtest.Texts(`{"selected_option": "A"}`, `{"selected_option": "B"}`)},
	}}
	e := engine(t, script, texttosql.WithSamples(4), texttosql.WithInstructions("Amounts are in crowns."),
		texttosql.WithDescriptions(schema.Descriptions{"orders.total": {Text: "what the customer paid"},
			"orders.nothing": {Text: "?"}}))
	r := testutil.Value(e.Ask(t.Context(), "Which orders are big?", texttosql.WithEvidence("big means over 15")))(t)
	purposes := map[string]int{}
	for _, req := range script.Requests() {
		purposes[req.Purpose]++
		all := ""
		for _, m := range req.Messages {
			all += m.Role + ": " + m.Text + "\n"
		}
		for _, want := range []string{"what the customer paid", "big means over 15", "Which orders are big?"} {
			if !strings.Contains(all, want) {
				t.Errorf("%s %d: no %q in\n%s", req.Purpose, req.Sample, want, all)
			}
		}
		if !strings.Contains(req.Messages[0].Text, "Amounts are in crowns.") {
			t.Errorf("%s %d: no instructions in the system message", req.Purpose, req.Sample)
		}
	}
	if purposes["generate"] != 4 || purposes["repair"] == 0 {
		t.Errorf("calls by purpose: %v", purposes)
	}
	ctx, root := trace.Tracer{}.Start(t.Context(), "start")
	testutil.OK(t, e.Ready(ctx))
	told := slices.DeleteFunc(root.Warnings(), func(w trace.Warning) bool { return w.Code == "few-samples" })
	if len(r.Warnings) > 0 || len(told) != 1 || told[0].Code != "unknown-description" ||
		!strings.Contains(told[0].Message, "orders.nothing") {
		t.Errorf("warnings: of the answer %+v, of Ready %+v", r.Warnings, told)
	}
}

// TestOtherLanguages asks in two languages that are not English.
func TestOtherLanguages(t *testing.T) {
	for _, question := range []string{"¿Qué clientes viven en los Estados Unidos?", "有哪些客户住在美国？"} {
		script := always(usa)
		r, err := engine(t, script).Ask(t.Context(), question)
		if err != nil || len(r.Rows.Rows) != 2 {
			t.Fatalf("%s: %+v, %v", question, r, err)
		}
		last := script.Requests()[0].Messages
		if !strings.Contains(last[len(last)-1].Text, question) {
			t.Errorf("the question was changed: %s", last[len(last)-1].Text)
		}
		for _, c := range r.Candidates {
			if len(c.Findings) > 0 {
				t.Errorf("%s: rules of English words spoke: %+v", question, c.Findings)
			}
		}
	}
}

// TestReplayIsByteForByte records a question and asks it again from the
// recording: result and trace are the same, times aside.
func TestReplayIsByteForByte(t *testing.T) {
	var recording bytes.Buffer
	script := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "generate", Replies: llmtest.Texts(usa, "SELECT name FROM customers", "SELECT nme FROM customers", usa,
			"DROP TABLE orders",
			"SELECT nme FROM customers", "SELECT name FROM customers", usa, "SELECT name FROM customers", usa, "SELECT 1",
			"SELECT 2")},
		{Purpose: "repair", Replies: llmtest.Texts("SELECT name FROM customers"), Repeat: true},
		{Purpose: "judge", Replies: llmtest.Texts(`{"selected_option": "B"}`, `{"selected_option": "A"}`)},
	}}
	recorder := replay.NewRecorder(&recording)
	db := open(t, shop)
	ask := func(m llm.Model) string {
		e := testutil.Value(texttosql.New(db, m, texttosql.WithSeed(7)))(t)
		r := testutil.Value(e.Ask(t.Context(), "Which customers live in the USA?"))(t)
		page := testutil.Value(r.Trace.Comparable())(t)
		r.Trace = nil
		rest := testutil.Value(r.MarshalWithRows())(t)
		return string(rest) + "\n" + string(page)
	}
	want := ask(llm.Chain(llm.Named("m", script), recorder.Record))
	for range 20 {
		player := testutil.Value(replay.NewPlayer(bytes.NewReader(recording.Bytes())))(t)
		if got := ask(llm.Named("m", player)); got != want {
			t.Fatalf("the replay differs (-first +replay):\n%s", cmp.Diff(want, got))
		}
	}
}
