package docstest_test

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

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/openai"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

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
	const rows = "question,gold\nWho lives in the USA?,SELECT name FROM customers WHERE country = 'USA'\nHow many " +
		"orders are there?,SELECT count(*) FROM orders\n"
	if err := os.WriteFile(questions, []byte(rows), 0o600); err != nil {
		log.Fatal(err)
	}
	engine, err := texttosql.New(db, always("SELECT name FROM customers WHERE country = 'USA'"))
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
		r, err := engine.Generate(ctx, q.Text, texttosql.WithEvidence(q.Evidence))
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

func Example_guideLocal() {
	var db *sql.DB
	local := openai.Client{BaseURL: "http://localhost:11434/v1"}.Model("qwen2.5-coder:7b")
	engine, err := texttosql.New(db, llm.Chain(local, llm.Limit{Concurrency: 1}.Middleware(), llm.Timeout(5*time.Minute)),
		texttosql.WithStrategy(strategy.Pipeline{Refine: &strategy.Refine{Executions: 2}}))
	_, _ = engine, err
}

func Example_guideBounds() {
	var db *sql.DB
	var model llm.Model
	model = llm.Chain(model,
		llm.Limit{Concurrency: 8, PerMinute: 300}.Middleware(),
		llm.Timeout(30*time.Second),
	)
	engine, err := texttosql.New(db, model,
		texttosql.WithBudget(llm.Budget{Calls: 16, Tokens: 60_000, Timeout: 45 * time.Second}),
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
	failed := failure.Of(err)
	w.WriteHeader(failed.HTTPStatus)
	json.NewEncoder(w).Encode(map[string]string{"class": string(failed.Class), "message": failed.Message,
		"advice": failed.Advice})
}

func Example_guideRespond() {
	w := httptest.NewRecorder()
	respond(w, strategy.ErrEmptyQuestion)
	fmt.Println(w.Code, w.Body)
	// Output: 422 {"advice":"","class":"input","message":"The question is empty."}
}

func Example_guideConfidence() {
	var db *sql.DB
	var model llm.Model
	engine, err := texttosql.New(db, model,
		texttosql.WithStrategy(strategy.Consensus{MinConfidence: 0.6}))
	answer, err := engine.Ask(ctx, "Which customers in the USA never ordered?")
	if errors.As(err, new(*strategy.AbstainedError)) {
		fmt.Println(answer.Closing(), "The best guess is", answer.SQL)
	}
	fmt.Println(answer.Ballot.Explain())
}

func Example_confidence() {
	var answer *texttosql.Result
	fmt.Printf("%.3f %s %s\n", answer.Confidence, answer.Level, answer.Closing())
	// 0.889 agreed All 7 samples agree.
}

func Example_guideConverse() {
	var engine *texttosql.Engine
	sessions, err := session.OpenFiles("sessions") // or &session.MemoryStore{}
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
	var store session.MemoryStore
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
		if status, reply := post(fmt.Sprintf(tt.body, first["id"])); status != tt.status || status == 200 &&
			reply["id"] != first["id"] {
			t.Errorf("%s: %d %v, want %d", tt.turn, status, reply, tt.status)
		}
	}
}

func Example_guideAsk() {
	var db *sql.DB
	var model llm.Model
	engine, err := texttosql.New(db, model, texttosql.WithClarifyBelow(0.6))
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
	confirmed, err := memory.OpenVerifiedAnswers("confirmed.jsonl")
	engine, err := texttosql.New(db, model, texttosql.WithMemory(memory.Options{VerifiedAnswers: confirmed}),
		texttosql.WithDescriptions(schema.Descriptions{"orders.total": {Text: "in euros, without tax"}}),
		texttosql.WithInstructions("A year is a fiscal year: it begins in July."))
	answer, err := engine.Ask(ctx, "Turnover of 2024?", texttosql.WithEvidence("turnover is the sum of orders.total"))
	err = engine.Confirm(ctx, "Turnover of 2024?", answer.SQL, texttosql.WithUser("ann"))
	_ = err
}

func Example_guideDescribe() {
	var db *sql.DB
	var model llm.Model
	var policy exec.Policy
	var file io.Reader
	descriptions, err := schema.ReadDescriptions(file) // file is the open shop.json
	engine, err := texttosql.New(db, model, texttosql.WithPolicy(policy),
		texttosql.WithDescriptions(descriptions.Descriptions))
	_, _ = engine, err
}

func Example_guideProgress() {
	var engine *texttosql.Engine
	answer, err := engine.Ask(ctx, "Which customers in the USA never ordered?", texttosql.WithID("request-17"),
		texttosql.WithProgress(func(p texttosql.Progress) {
			if p.Step == "sample" && p.Kind == "ended" {
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
	for answer, err := range engine.AskAll(ctx, questions, 4) {
		if err != nil {
			log.Print(answer.Question.ID, ": ", err)
			continue
		}
		fmt.Println(answer.Question.ID, answer.Result.SQL)
	}
}
