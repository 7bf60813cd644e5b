package texttosql_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/describe"
	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// TestDocsShowCompiledCode holds every Go block of the README and of docs/ that is a part of a program against the code
// of this package's tests and of examples: the lines of a block stand in one of its files, in the same order.
func TestDocsShowCompiledCode(t *testing.T) {
	var sources []string
	for _, name := range []string{"readme_test.go", "docs_test.go", "strategy/strategy.go", "exec/exectest/example_test.go", "llm/openai/example_test.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, folded(string(text)))
	}
	for _, name := range append(pages(t), "README.md") {
		for i, block := range blocks(t, name, "go") {
			if !isProgram(block) && !slices.ContainsFunc(sources, func(source string) bool { return hasLines(source, block) }) {
				t.Errorf("%s: no example compiles block %d:\n%s", name, i+1, block)
			}
		}
	}
}

// hasLines reports whether the lines of block stand in source, in the same order.
func hasLines(source, block string) bool {
	for line := range strings.Lines(block) {
		_, after, found := strings.Cut(source, folded(line))
		if !found {
			return false
		}
		source = after
	}
	return true
}

// anchors returns what links to the headings of a document are called, in order.
func anchors(t *testing.T, name string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if heading := strings.TrimLeft(line, "#"); heading != line && strings.HasPrefix(heading, " ") {
			list = append(list, strings.Map(func(r rune) rune {
				switch {
				case r == ' ':
					return '-'
				case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
					return unicode.ToLower(r)
				}
				return -1
			}, strings.TrimSpace(heading)))
		}
	}
	return list
}

// TestKnowledgePage is the program of docs/knowledge.md.
func TestKnowledgePage(t *testing.T) {
	page, err := os.ReadFile("docs/knowledge.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```json\n")
	text, _, _ := strings.Cut(rest, "```")
	pool := open(t, `CREATE TABLE customers (id INTEGER, country TEXT);
CREATE TABLE orders (id INTEGER, customer_id INTEGER, total REAL, status TEXT, ordered_at TEXT);
INSERT INTO customers VALUES (1, 'NO'); INSERT INTO orders VALUES (1, 1, 5, 'paid', '2026-01-01'), (2, 1, 7, 'cancelled', '2026-01-01')`)
	model := llm.Func(func(_ context.Context, r llm.Request) (llm.Response, error) {
		if r.Purpose == strategy.PurposeMetric {
			return llm.Response{Text: `{"metrics": ["revenue"], "group_by": ["customers.country"]}`}, nil
		}
		return llm.Response{Text: "SELECT country, 5.0 FROM customers"}, nil
	})
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		t.Fatal(err)
	}
	program := func(ctx context.Context, file io.Reader) error {
		m, err := knowledge.Read(file) // or dbt.Read, ossie.Read, snowflake.Read, wren.Read
		if err != nil {
			return err
		}
		faults, err := m.Check(ctx, db, "sqlite") // db is an *exec.DB
		if err != nil {
			return err
		}
		engine, err := texttosql.New(pool, model, texttosql.WithKnowledge(m.Without(faults)))
		if err != nil {
			return err
		}
		answer, err := engine.Ask(ctx, "What is the turnover by country?")
		if err != nil {
			return err
		}
		fmt.Println(answer.Grounds) // [by metric revenue]
		if len(faults) > 0 || fmt.Sprint(answer.Grounds, answer.Rows.Rows) != "[by metric revenue] [[NO 5]]" {
			t.Errorf("%v, %v, %v", faults, answer.Grounds, answer.Rows.Rows)
		}
		return nil
	}
	if err := program(t.Context(), strings.NewReader(text)); err != nil {
		t.Error(err)
	}
}

// TestGuideContents: the contents list of the guide has its numbered chapters.
func TestGuideContents(t *testing.T) {
	text, err := os.ReadFile("docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, anchor := range anchors(t, "docs/guide.md") {
		if unicode.IsDigit(rune(anchor[0])) && !strings.Contains(string(text), "(#"+anchor+")") {
			t.Errorf("the contents list has no %s", anchor)
		}
	}
}

// TestDocsLinkToFiles follows every relative link of the documents.
func TestDocsLinkToFiles(t *testing.T) {
	for _, name := range append(pages(t), "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "](")[1:] {
			target, _, _ := strings.Cut(part, ")")
			file, anchor, _ := strings.Cut(target, "#")
			if strings.Contains(file, "://") {
				continue
			}
			linked := name
			if file != "" {
				linked = filepath.Join(filepath.Dir(name), file)
			}
			_, err := os.Stat(linked)
			if err != nil || anchor != "" && !slices.Contains(anchors(t, linked), anchor) {
				t.Errorf("%s links to %s, which is not there", name, target)
			}
		}
	}
}

// TestMap: docs/README.md has a link to every page, and the list of the site has every page but those of figures.
func TestMap(t *testing.T) {
	index := string(need.Value(os.ReadFile("docs/README.md"))(t))
	site := string(need.Value(os.ReadFile(".ci/site/mkdocs.yml"))(t))
	for _, name := range pages(t) {
		page := strings.TrimPrefix(name, "docs/")
		if page != "README.md" && !strings.Contains(index, "("+page+")") {
			t.Errorf("docs/README.md has no link to %s", page)
		}
		if !strings.HasPrefix(page, "lab/") && !strings.Contains(site, "- "+page+"\n") {
			t.Errorf(".ci/site/mkdocs.yml does not have %s", page)
		}
	}
}

// TestTroubleshooting: the page has every class that asks for something to be done, with its message as it is printed.
func TestTroubleshooting(t *testing.T) {
	page := string(need.Value(os.ReadFile("docs/troubleshooting.md"))(t))
	for _, err := range []error{
		texttosql.ErrAbstained, llm.ErrBudget, context.DeadlineExceeded, exec.ErrBusy, session.ErrStale,
		&llm.Error{Class: llm.ClassPermanent, Status: http.StatusUnauthorized}, &llm.Error{Class: llm.ClassRateLimit},
		&llm.Error{Class: llm.ClassOverloaded}, &llm.Error{Class: llm.ClassContextTooLong}, &llm.Error{Class: llm.ClassRefused},
	} {
		failed := texttosql.Failure(err)
		message, _, _ := strings.Cut(strings.TrimSuffix(failed.Message, "."), ": ") // behind it stand a provider's words
		if !strings.Contains(page, "| `"+string(failed.Class)+"` | "+message) {
			t.Errorf("the page has no row %q with %q", failed.Class, failed.Message)
		}
	}
}

func Example_guidePolicy() {
	var db *sql.DB
	var model llm.Model
	policy := exec.Policy{
		DenyTables:  []string{"audit_log"},
		DenyColumns: []string{"customers.password", "ssn"},
	}
	engine, err := texttosql.New(db, model, texttosql.WithPolicy(policy))
	_, _ = engine, err
}

func Example_guideQuery() {
	var db *sql.DB
	var policy exec.Policy
	ctx, sql := context.Background(), "SELECT name FROM customers"
	engine, err := texttosql.New(db, texttosql.NoModel, texttosql.WithPolicy(policy))
	rows, err := engine.Query(ctx, sql) // one statement of an agent, a person or a saved report
	_, _ = rows, err
}

// Example_guideMeasure is an engine measured on questions of one's own.
func Example_guideMeasure() {
	dir, err := os.MkdirTemp("", "measure")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file, questions := filepath.Join(dir, "shop.db"), filepath.Join(dir, "questions.csv")
	db, err := sql.Open("sqlite3", "file:"+file)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(shop); err != nil {
		log.Fatal(err)
	}
	const rows = "question,gold\nWho lives in the USA?,SELECT name FROM customers WHERE country = 'USA'\nHow many orders are there?,SELECT count(*) FROM orders\n"
	if err := os.WriteFile(questions, []byte(rows), 0o600); err != nil {
		log.Fatal(err)
	}
	engine, err := texttosql.New(db, says("SELECT name FROM customers WHERE country = 'USA'"))
	if err != nil {
		log.Fatal(err)
	}

	dataset, err := eval.ReadDataset(questions) // CSV or JSON lines with question and gold
	store := eval.NewStore(eval.StoreConfig{
		Find: func(string) (string, error) { return file, nil },
		Open: func(path string) (*sql.DB, error) { return sql.Open("sqlite3", "file:"+path+"?mode=ro") },
	})
	defer store.Close()
	ask := func(ctx context.Context, q eval.Question) (eval.Answer, error) {
		r, err := engine.Generate(ctx, q.Text, texttosql.Question{Evidence: q.Evidence})
		if r == nil {
			return eval.Answer{}, err
		}
		return eval.Answer{SQL: r.SQL, Usage: r.Usage, Confidence: r.Confidence}, err
	}
	report, err := eval.Run(ctx, ask, dataset, &eval.Scorer{Store: store})
	right, _ := report.Estimate("ex_set")
	fmt.Printf("%.2f of %d questions, 95 %%: %.2f to %.2f\n", right.Value, right.N, right.Low, right.High)
	// Output: 0.50 of 2 questions, 95 %: 0.00 to 1.00
}

func Example_guideBounds() {
	var db *sql.DB
	var model llm.Model
	model = llm.Chain(model,
		llm.Limit{Concurrency: 8, PerMinute: 300}.Middleware(),
		llm.Timeout(30*time.Second),
	)
	engine, err := texttosql.New(db, model,
		texttosql.WithBudget(llm.Budget{Calls: 16, Tokens: 60_000, Time: 45 * time.Second}),
		texttosql.WithLimits(exec.Limits{
			Candidate: exec.Bounds{Timeout: 5 * time.Second},             // each statement that is tried
			Answer:    exec.Bounds{Rows: 500, Timeout: 10 * time.Second}, // the one whose rows are shown
		}),
	)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	answer, err := engine.Ask(ctx, "Which customers in the USA never ordered?")
	_, _ = answer, err
}

// What a service says of an error.
func respond(w http.ResponseWriter, err error) {
	failed := texttosql.Failure(err)
	w.WriteHeader(failed.HTTPStatus)
	json.NewEncoder(w).Encode(map[string]string{"class": string(failed.Class), "message": failed.Message, "advice": failed.Advice})
}

func Example_guideRespond() {
	w := httptest.NewRecorder()
	respond(w, texttosql.ErrEmptyQuestion)
	fmt.Println(w.Code, w.Body)
	// Output: 422 {"advice":"","class":"input","message":"The question is empty."}
}

func Example_guideConfidence() {
	var db *sql.DB
	var model llm.Model
	engine, err := texttosql.New(db, model,
		texttosql.WithStrategy(strategy.Consensus{MinConfidence: 0.6}))
	answer, err := engine.Ask(ctx, "Which customers in the USA never ordered?")
	if errors.Is(err, texttosql.ErrAbstained) {
		fmt.Println("not sure; the best guess is", answer.SQL)
	}
	fmt.Println(answer.Ballot.Explain())
}

func Example_guideConverse() {
	var engine *texttosql.Engine
	sessions, err := session.OpenFiles("sessions") // or &session.Memory{}
	talk := engine.NewConversation(sessions)
	answer, err := talk.Ask(ctx, "Which customers are there in the USA?")
	if q := (*session.QuestionError)(nil); errors.As(err, &q) {
		answer, err = talk.Choose(ctx, q.Options[0].ID)
	}
	answer, err = talk.Correct(ctx, "use table customers, not people")
	answer, err = talk.Ask(ctx, "And how many of those ordered?")
	err = talk.Confirm(ctx, "How many customers in the USA ordered?")
	_, _ = answer, err
}

func Example_guideResume() {
	var engine *texttosql.Engine
	var sessions session.Store
	var id string
	talk, err := engine.OpenConversation(ctx, sessions, id)
	answer, err := talk.Resume(ctx)
	if errors.Is(err, session.ErrStale) { // the schema or the configuration changed
		answer, err = talk.Restart(ctx)
	}
	_, _ = answer, err
}

func talk(engine *texttosql.Engine, sessions session.Store, w http.ResponseWriter, r *http.Request) {
	var in struct{ ID, Question, Option, Correction string }
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err != nil || json.Unmarshal(body, &in) != nil {
		http.Error(w, "want one JSON object", http.StatusBadRequest)
		return
	}
	talk := engine.NewConversation(sessions)
	if in.ID != "" {
		talk, err = engine.OpenConversation(r.Context(), sessions, in.ID)
	}
	var answer *texttosql.Result
	switch {
	case err != nil: // no such conversation
	case in.Option != "":
		answer, err = talk.Choose(r.Context(), in.Option)
	case in.Correction != "":
		answer, err = talk.Correct(r.Context(), in.Correction)
	default:
		answer, err = talk.Ask(r.Context(), in.Question)
	}
	q := (*session.QuestionError)(nil)
	switch {
	case errors.As(err, &q): // the options, each with an ID
		json.NewEncoder(w).Encode(map[string]any{"id": talk.Record().ID, "question": q})
	case err != nil:
		respond(w, err)
	default:
		json.NewEncoder(w).Encode(map[string]any{"id": talk.Record().ID, "sql": answer.SQL, "rows": answer.Rows})
	}
}

// TestGuideTalk: the handler of the guide holds a conversation.
func TestGuideTalk(t *testing.T) {
	e, err := texttosql.New(open(t, shop), always(usa), texttosql.WithStrategy(strategy.Direct{}))
	if err != nil {
		t.Fatal(err)
	}
	var store session.Memory
	post := func(body string) (int, map[string]any) {
		w := httptest.NewRecorder()
		talk(e, &store, w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		reply := map[string]any{}
		json.Unmarshal(w.Body.Bytes(), &reply) // a plain text is none
		return w.Code, reply
	}
	status, first := post(`{"question": "Who lives in the USA?"}`)
	if status != http.StatusOK || first["sql"] != usa || first["rows"] == nil {
		t.Fatal(status, first)
	}
	for _, tt := range []struct {
		turn, body string
		status     int
	}{
		{"a follow-up", `{"id": %q, "question": "And how many?"}`, 200},
		{"a correction", `{"id": %q, "correction": "people means customers.name"}`, 200},
		{"a choice that nobody asked for", `{"id": %q, "option": "r1"}`, 409},
		{"two turns in one body", `{"id": %q, "question": "Who?"} {"question": "How many?"}`, 400},
		{"another conversation", `{"id": "x%s", "question": "Who?"}`, 404},
	} {
		if status, reply := post(fmt.Sprintf(tt.body, first["id"])); status != tt.status || status == 200 && reply["id"] != first["id"] {
			t.Errorf("%s: %d %v, want %d", tt.turn, status, reply, tt.status)
		}
	}
}

func Example_guideAsk() {
	var db *sql.DB
	var model llm.Model
	engine, err := texttosql.New(db, model, texttosql.WithAskBelow(0.6))
	answer, err := engine.Ask(ctx, "Which customers are there in the USA?")
	if q := (*session.QuestionError)(nil); errors.As(err, &q) {
		for _, o := range q.Options {
			fmt.Println(o.ID, o.Label, o.SQL)
		}
	}
	_ = answer
}

func Example_guideBetter() {
	var db *sql.DB
	var model llm.Model
	confirmed, err := memory.OpenConfirmed("confirmed.jsonl")
	engine, err := texttosql.New(db, model, texttosql.WithMemory(memory.Options{Confirmed: confirmed}),
		texttosql.WithDescriptions(schema.Descriptions{"orders.total": {Text: "in euros, without tax"}}),
		texttosql.WithInstructions("A year is a fiscal year: it begins in July."))
	answer, err := engine.Ask(ctx, "Turnover of 2024?", texttosql.Question{Evidence: "turnover is the sum of orders.total"})
	err = engine.Confirm(ctx, "Turnover of 2024?", answer.SQL)
	_ = err
}

func Example_guideDescribe() {
	var db *sql.DB
	var model llm.Model
	var policy exec.Policy
	guarded, err := exec.New(db, sqlite.Dialect{}, exec.Config{Policy: policy})
	file, err := describe.Columns{Model: model, File: "shop.json"}.Describe(ctx, guarded, nil)
	engine, err := texttosql.New(db, model, texttosql.WithPolicy(policy), texttosql.WithDescriptions(file.Descriptions))
	_, _ = engine, err
}

func Example_guideProgress() {
	var engine *texttosql.Engine
	answer, err := engine.Ask(ctx, "Which customers in the USA never ordered?", texttosql.Question{ID: "request-17"},
		texttosql.WithProgress(func(p texttosql.Progress) {
			if p.Step == "sample" && p.Kind == trace.Ended {
				log.Print(p.ID, ": a sample has ended")
			}
		}))
	_, _ = answer, err
}

func Example_guideBatch() {
	var engine *texttosql.Engine
	questions := slices.Values([]texttosql.Question{
		{ID: "1", Text: "How many customers are there?"},
		{ID: "2", Text: "Which order was the largest?"},
	})
	for answer, err := range engine.AskAll(ctx, questions, texttosql.Batch{Parallel: 4}) {
		if err != nil {
			log.Print(answer.Question.ID, ": ", err)
			continue
		}
		fmt.Println(answer.Question.ID, answer.Result.SQL)
	}
}

type report struct {
	Drafts int `json:"drafts"`
}

func (report) Method() string { return "careful" }

// TestWritingAStrategy runs the strategies of docs/writing-a-strategy.md.
func TestWritingAStrategy(t *testing.T) {
	db, model := open(t, shop), always("```sql\n"+usa+"\n```")
	one := strategy.Func(func(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
		messages, err := strategy.Prompt{}.Prompt(ctx, env, strategy.PromptInput{Task: t, Schema: env.Schema})
		if err != nil {
			return nil, err
		}
		model, name := env.Model(0)
		reply, err := model.Complete(ctx, strategy.Sampler{}.Request(env, 0, messages))
		if err != nil {
			return nil, err
		}
		examiner := strategy.NewExaminer(ctx, env, t, nil, nil)
		defer examiner.Close()
		c, err := examiner.Examine(ctx, 0, name, reply)
		return &strategy.Outcome{SQL: c.SQL, Confidence: 0.5, Candidates: []vote.Candidate{c}}, err
	})
	engine, err := texttosql.New(db, model, texttosql.WithStrategy(one))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := engine.Ask(t.Context(), "Which customers live in the USA?")
	if err != nil || answer.SQL != usa {
		t.Fatal(answer, err)
	}
	voting := strategy.Pipeline{
		Sampler: strategy.Sampler{Samples: 9, Temperature: 0.7, Stop: vote.Decided},
		Voter:   vote.Majority{},
	}
	noStar := exec.CheckFunc(func(ctx context.Context, s *exec.Runner, c *exec.Checked) error {
		if c.Statement.Outline().Star {
			return &exec.InvalidError{Fault: exec.FaultCompile, Message: "name the columns instead of *"}
		}
		return nil
	})
	careful := strategy.Pipeline{
		Linker:   linker.Union{linker.Lexical{}, linker.Values{Choose: true}},
		Prompter: strategy.Alternate{strategy.Prompt{Form: schema.MSchema}, strategy.Prompt{Reasoning: true}},
		Sampler:  strategy.Sampler{Samples: 9, Temperature: 0.8, FirstGreedy: true, Stop: vote.Decided},
		Checks:   append(exec.DefaultChecks(), noStar),
		Doubts:   &doubt.Rules{},
		Refine:   &strategy.Refine{Whom: strategy.Deciding},
		Voter:    vote.Majority{Penalty: 1, MaxDoubt: doubt.Rules{}.Spread(), MinShare: 0.6},
		Judge:    strategy.Rubric{},
	}
	for _, s := range []strategy.Strategy{voting, careful} {
		answer, err := engineOn(t, db, model, s).Ask(t.Context(), "Which customers live in the USA?")
		if err != nil || answer.SQL != usa || answer.Usage.Calls >= 9 {
			t.Errorf("got %+v, %v", answer, err)
		}
	}
	star := always("SELECT * FROM customers")
	if _, err := engineOn(t, db, star, careful).Ask(t.Context(), "Which customers live in the USA?"); !errors.Is(err, texttosql.ErrNoCandidate) {
		t.Errorf("a statement that fails the check was answered: %v", err)
	}
	told, err := strategy.ReadReport[report](report{Drafts: 2})
	if err != nil || told.Drafts != 2 {
		t.Error(told, err)
	}
}

func engineOn(tb testing.TB, db *sql.DB, model llm.Model, s strategy.Strategy) *texttosql.Engine {
	tb.Helper()
	e, err := texttosql.New(db, model, texttosql.WithStrategy(s))
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// fewSamples is the strategy that docs/strategies.md shows for a reasoning model.
func fewSamples() texttosql.Option {
	return texttosql.WithStrategy(strategy.Pipeline{
		Sampler: strategy.Sampler{Samples: 3, Stop: vote.Decided, Effort: llm.EffortLow},
		Voter:   vote.Majority{Prior: 1},
		Refine:  &strategy.Refine{},
	})
}
