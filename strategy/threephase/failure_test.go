package threephase_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// TestBroken: a model that fails is no answer about the question: the error is the model's, and nothing says that there
// is no candidate.
func TestBroken(t *testing.T) {
	shop := strategytest.ShopEnv(t, nil)
	down := &llm.Error{Class: llm.ClassOverloaded, Status: 503, Message: "down"}
	for _, tt := range []struct {
		purpose string
		ends    bool
		why     string
	}{
		{"table", true, "more than half of the tables"},
		{"tables", false, "the relevant tables stay"},
		{"synthesis", false, "several tables are joined"},
		{"generate", true, "no statement at all"},
		{"repair", true, "no correction"},
	} {
		m := &scripted{tables: both, sql: []string{strategytest.Broken}, fail: func(r llm.Request) error {
			if r.Purpose == tt.purpose {
				return down
			}
			return nil
		}}
		if !tt.ends {
			m.sql = []string{strategytest.USA}
		}
		out, report, err := ask(t, shop, threephase.Strategy{}, m, orderedTask)
		got := errors.Is(err, down)
		if got != tt.ends || got && (errors.Is(err, strategy.ErrNoCandidate) || report.Failure != nil) ||
			!got && (err != nil || len(out.Notes) == 0) {
			t.Errorf("%s: %v, notes %q", tt.why, err, out.Notes)
		}
	}
}

// TestUnreadable: of a model whose replies about tables are no JSON the statement is taken all the same, from the whole
// schema where that fits a call; where it does not, nothing is said about the question.
func TestUnreadable(t *testing.T) {
	for _, tt := range []struct {
		tokens, calls int
		want          string
		why           string
	}{
		{0, 2*2 + 1, strategytest.USA, "two tables, each asked about twice, and the statement"},
		{50, 2 * 2, "", "tables that do not fit a call"},
	} {
		model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("```sql\n" + strategytest.USA + "\n```"),
			Repeat: true}}}
		out, report, err := ask(t, strategytest.ShopEnv(t, model), threephase.Strategy{CallTokens: tt.tokens}, model,
			strategytest.USATask)
		var unread *llm.ReplyError
		if out.SQL != tt.want || len(model.Requests()) != tt.calls || (err == nil) != (tt.want != "") ||
			err != nil && (!errors.As(err, &unread) || errors.Is(err, strategy.ErrNoCandidate)) || report.Failure != nil {
			t.Errorf("%s: %q after %d calls, %v", tt.why, out.SQL, len(model.Requests()), err)
		}
		if told := strings.Join(out.Notes, "\n"); err == nil &&
			(len(out.Links.Tables) != 2 || !strings.Contains(told, "the whole schema is used")) {
			t.Errorf("%s: links %+v, notes %s", tt.why, out.Links, told)
		}
	}
}

// TestFailure: what cannot be answered says why, and what to do.
func TestFailure(t *testing.T) {
	lonely := `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE weather (day DATE, rain REAL);`
	text := session.Correction{Kind: dialogue.CorrectText, Text: "the big ones"}
	for _, tt := range []struct {
		tables      []string
		corrections int
		is          error
		attempts    int
		first, last string
		why         string
	}{
		{nil, 0, linker.ErrNoTables, 0, "names of the things", "", "no table is relevant"},
		{[]string{"customers", "weather"}, 0, linker.ErrNoJoin, 0, "joined", "", "no way to join"},
		{[]string{"customers"}, 2, strategy.ErrNoCandidate, 3, "Check the names", "Correct", "nothing runs"},
		{[]string{"customers"}, 3, strategy.ErrNoCandidate, 3, "Check the names", "Correct",
			"nothing runs; that no correction is left is the session's to say"},
	} {
		m := &scripted{tables: tt.tables, joins: `{"found_joins": false, "joins": []}`,
			sql: []string{"SELECT a FROM b", "SELECT c FROM d", "SELECT e FROM f"}}
		env := strategytest.EnvOf(t, lonely, m)
		states(t, env)
		task := orderedTask
		for range tt.corrections {
			task.Corrections = append(task.Corrections, text)
		}
		out, err := threephase.Strategy{}.Generate(t.Context(), env, task)
		var failure *threephase.FailureError
		if !errors.As(err, &failure) || !errors.Is(err, tt.is) || !errors.Is(err, strategy.ErrNoCandidate) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		f := failure.Failure
		advice := f.Recommendations
		if f.Question != task.Question || f.Iterations != tt.attempts || len(f.Attempts) != tt.attempts ||
			f.Corrections != tt.corrections || f.Error == "" ||
			len(advice) == 0 || !strings.Contains(advice[0], tt.first) || !strings.Contains(advice[len(advice)-1], tt.last) {
			t.Errorf("%s: %+v", tt.why, f)
		}
		for _, a := range f.Attempts {
			if a.SQL == "" || !strings.Contains(a.Error, "no such table") {
				t.Errorf("%s: attempt %+v", tt.why, a)
			}
		}
		report, rerr := strategy.ReadReport[threephase.Report](out.Report)
		if rerr != nil || report.Failure == nil || strings.Contains(failure.Public(), "customers") {
			t.Errorf("%s: %+v, %q, %v", tt.why, report, failure.Public(), rerr)
		}
	}
}

// TestBudget: a budget that is spent ends the question as such, in every step, and a larger one answers it.
func TestBudget(t *testing.T) {
	shop := strategytest.ShopEnv(t, nil)
	for calls := 1; calls <= 6; calls++ {
		m := &scripted{tables: both, sql: []string{strategytest.Broken, strategytest.Ordered}}
		account := llm.Budget{Calls: calls}.Start()
		_, _, err := ask(t, shop, threephase.Strategy{}, llm.Chain(m, account.Middleware()), orderedTask)
		spent := calls < 6
		if errors.Is(err, llm.ErrBudget) != spent || errors.Is(err, strategy.ErrNoCandidate) ||
			!spent && err != nil || len(m.requests) > calls {
			t.Errorf("%d calls: %v after %d", calls, err, len(m.requests))
		}
	}
}

// TestBudgetOfWaves: a budget that covers the first forty calls also covers what follows them; further waves leave five
// calls to the later steps.
func TestBudgetOfWaves(t *testing.T) {
	wide := *strategytest.ShopEnv(t, nil)
	whole := *wide.Schema
	for i := range 1000 - len(whole.Tables) {
		name := fmt.Sprintf("%c%c%c", 'k'+i/100, 'b'+i/10%10, 'b'+i%10)
		whole.Tables = append(whole.Tables, schema.Table{Name: name, Columns: []schema.Column{{Name: "id", Type: "INTEGER"}}})
	}
	wide.Schema = &whole
	for _, tt := range []struct {
		calls, asked int // calls 0: no budget; asked: calls about eight tables each
		why          string
	}{
		{0, 125, "all"},
		{60, 55, "five are left"},
		{41, 40, "the first wave is asked about"},
		{20, 20, "until the budget is spent"},
	} {
		env, m := wide, &scripted{sql: []string{strategytest.USA}}
		asking := llm.Model(m)
		if tt.calls > 0 {
			account := llm.Budget{Calls: tt.calls}.Start()
			env.Host.CallsLeft = account.CallsLeft
			asking = llm.Chain(m, account.Middleware())
		}
		_, report, err := ask(t, &env, threephase.Strategy{Tables: linker.PerTable{Workers: 1}}, asking, strategytest.USATask)
		if n := len(m.of("table")); n != tt.asked || err == nil {
			t.Errorf("%s: %d calls were about tables, want %d: %v, %+v", tt.why, n, tt.asked, err, report.Tables.NotAsked)
		}
	}
}

// TestNothing: what cannot be asked is refused before any call.
func TestNothing(t *testing.T) {
	m := &scripted{tables: both, sql: []string{strategytest.USA}}
	empty := strategytest.EnvOf(t, "", m)
	if _, err := (threephase.Strategy{}).Generate(t.Context(), empty, orderedTask); !errors.Is(err, linker.ErrNoTables) {
		t.Errorf("an empty schema: %v", err)
	}
	shop := strategytest.ShopEnv(t, m)
	if _, err := (threephase.Strategy{}).Generate(t.Context(), shop, strategy.Task{Question: " \n"}); !errors.Is(err,
		strategy.ErrEmptyQuestion) {
		t.Errorf("an empty question: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (threephase.Strategy{}).Generate(ended, shop, orderedTask); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	for _, bad := range []threephase.Strategy{
		{CallTokens: -1}, {OnAmbiguity: "nine"}, {Refine: strategy.Refine{Executions: -1}},
		{Tables: linker.PerTable{Workers: -1}},
		{Joins: linker.Joins{MinConfidence: 2}},
	} {
		if _, err := bad.Generate(t.Context(), shop, orderedTask); err == nil || bad.Validate(0) == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	if len(m.requests) > 0 {
		t.Errorf("%d calls", len(m.requests))
	}
}

// TestRefused: what does not only read is refused, also where only the statement is wanted, and the database stays as
// it is.
func TestRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.sqlite")
	pool := testutil.Value(sql.Open("sqlite3", "file:"+path))(t)
	defer pool.Close()
	testutil.Value(pool.Exec(strategytest.ShopSQL))(t)
	hash := func() [32]byte {
		raw := testutil.Value(os.ReadFile(path))(t)
		return sha256.Sum256(raw)
	}
	before := hash()
	hostile := []string{"DELETE FROM orders", "SELECT 1; DROP TABLE orders", "ATTACH 'x' AS y", "PRAGMA user_version = 7",
		"INSERT INTO orders VALUES (9, 1, 1)",
		"UPDATE customers SET name = 'x'", "CREATE TABLE x (y)", "SELECT load_extension('x')", "VACUUM INTO 'copy.sqlite'"}
	for i := range hostile {
		for _, opts := range [][]texttosql.Option{nil, {texttosql.WithoutExecution()}} {
			m := &scripted{tables: both, sql: []string{hostile[i], hostile[(i+1)%len(hostile)], strategytest.USA}}
			engine := testutil.Value(texttosql.New(pool, m, append(opts, texttosql.WithStrategy(threephase.Strategy{}))...))(t)
			out, err := engine.Generate(t.Context(), orderedTask.Question)
			if err != nil || out.SQL != strategytest.USA || out.Rows != nil || len(out.Steps) != 3 ||
				out.Steps[0].Status == "ok" || out.Steps[0].Problem == "" {
				t.Errorf("%q: %+v, %v", hostile[i], out.Steps, err)
			}
			m = &scripted{tables: both, sql: []string{hostile[i], "SELECT nobody FROM orders", hostile[(i+1)%len(hostile)]}}
			engine = testutil.Value(texttosql.New(pool, m, append(opts, texttosql.WithStrategy(threephase.Strategy{}))...))(t)
			if _, err := engine.Generate(t.Context(), orderedTask.Question); !errors.Is(err, strategy.ErrNoCandidate) {
				t.Errorf("%q: %v", hostile[i], err)
			}
		}
	}
	if hash() != before {
		t.Error("the database has changed")
	}
}
