package training_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mattn/go-sqlite3"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/texttosql/texttosql"
	guarded "github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/training"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/langchain"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy"
)

const usa = "SELECT name FROM customers WHERE country = 'USA'"

const shop = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), total REAL);
INSERT INTO customers VALUES (1,'Ada','USA'),(2,'Bo','Norway'),(3,'Cyd','USA');
INSERT INTO orders VALUES (1,1,10.5),(2,2,20),(3,1,NULL);`

// open opens a new database.
func open(t *testing.T, script string) *sql.DB {
	t.Helper()
	db := testutil.Value(sql.Open("sqlite3", filepath.Join(t.TempDir(), "shop.sqlite")))(t)
	t.Cleanup(func() { db.Close() })
	testutil.Value(db.Exec(script))(t)
	return db
}

func exporter(t *testing.T, opts ...texttosql.Option) *training.Exporter {
	t.Helper()
	e := testutil.Value(training.NewExporter(t.Context(), open(t, shop), opts...))(t)
	return e
}

var solved = []memory.Exemplar{
	{ID: "a", Question: "Which customers live in the USA?", SQL: usa + " ; -- all of them"},
	{ID: "b", Question: "How many orders are there?", Evidence: "an order is a row", SQL: "SELECT COUNT(*) FROM orders"},
	{ID: "c", Question: "Who lives in Norway?", SQL: "SELECT name FROM customers WHERE country = 'Norway';"},
	{ID: "d", Question: "What are all totals?", SQL: "SELECT total FROM orders ORDER BY id"},
}

// TestExportReasons: what cannot be trained on is reported by its line and stops nothing.
func TestExportReasons(t *testing.T) {
	tests := []struct {
		why    string
		pair   memory.Exemplar
		reason string // "": kept
	}{
		{"a plain pair", solved[0], ""},
		{"invalid UTF-8 in the question", memory.Exemplar{Question: "Who\xff?", SQL: usa}, "not_utf8"},
		{"invalid UTF-8 in the SQL", memory.Exemplar{Question: "Who?", SQL: "SELECT '\xff' FROM customers"}, "not_utf8"},
		{"no question", memory.Exemplar{Question: " \n", SQL: usa}, "empty"},
		{"no SQL", memory.Exemplar{Question: "Who?", SQL: " "}, "empty"},
		{"a question over the limit", memory.Exemplar{Question: strings.Repeat("who ", 3000), SQL: usa}, "too_long"},
		{"a statement that writes", memory.Exemplar{Question: "Who?", SQL: "DELETE FROM customers"}, "not_select"},
		{"two statements", memory.Exemplar{Question: "Who?", SQL: "SELECT 1; SELECT 2"}, "not_select"},
		{"prose", memory.Exemplar{Question: "Who?", SQL: "I do not know."}, "not_select"},
		{"no such table", memory.Exemplar{Question: "Who?", SQL: "SELECT name FROM persons"}, "does_not_execute"},
		{"it fails as it runs", memory.Exemplar{Question: "Who?", SQL: "SELECT json_extract(name, '$.a') FROM customers"},
			"does_not_execute"},
		{"it occurred", memory.Exemplar{Question: " which CUSTOMERS live in the USA?",
			SQL: "select Name from customers where country='USA';"}, "duplicate"},
		{"its question occurred, with another statement", memory.Exemplar{Question: solved[0].Question,
			SQL: usa + " LIMIT 5"}, ""},
		{"a question of the evaluation", memory.Exemplar{Question: "HOW many orders are there?", SQL: "SELECT 7"},
			"same_question"},
		{"its pattern", memory.Exemplar{Question: "Who lives in Peru?",
			SQL: "SELECT id FROM customers WHERE country = 'Peru'"}, "question_template"},
		{"its statement's pattern", memory.Exemplar{Question: "Count them.", SQL: "select count ( * ) from Orders"},
			"sql_template"},
		{"a twin whose column is qualified", memory.Exemplar{Question: "Anybody near Lima?",
			SQL: "SELECT 2 FROM customers AS p WHERE p.country = 'Peru'"},
			"sql_template"},
		{"WITH is a query too", memory.Exemplar{Question: "One?", SQL: "WITH x AS (SELECT 1 AS a) SELECT a FROM x"}, ""},
	}
	var pairs []memory.Exemplar
	var want []training.Dropped
	counts := map[string]int{}
	for i, tt := range tests {
		pairs = append(pairs, tt.pair)
		if tt.reason != "" {
			want = append(want, training.Dropped{Line: i + 1, ID: tt.pair.ID, Reason: tt.reason})
			counts[tt.reason]++
		}
	}
	path := filepath.Join(t.TempDir(), "train.jsonl")
	against := []memory.Exemplar{solved[1],
		{Question: "Who lives in Chile?", SQL: "SELECT 1 FROM customers WHERE country = 'Chile'"}}
	report := testutil.Value(exporter(t).Export(t.Context(), path, pairs, training.Config{Against: against}))(t)
	golden.Equal(t, want, report.Dropped, "dropped", cmpopts.IgnoreFields(training.Dropped{}, "Detail"))
	var written training.Manifest
	b, err := os.ReadFile(strings.TrimSuffix(path, ".jsonl") + ".manifest.json")
	testutil.OK(t, errors.Join(err, json.Unmarshal(b, &written)))
	if diff := cmp.Diff(counts, written.Dropped); diff != "" || written.Kept != len(tests)-len(want) ||
		written.SHA256 != report.Manifest.SHA256 {
		t.Errorf("manifest %+v; dropped (-want +got):\n%s", written, diff)
	}
	var ends []string
	for _, line := range exported(t, path) {
		ends = append(ends, line[len(line)-1].Text)
	}
	golden.Equal(t, []string{usa + ";", usa + " LIMIT 5;", "WITH x AS (SELECT 1 AS a) SELECT a FROM x;"}, ends,
		"statements")
}

// TestExportExemplars: an exemplar that gives the answer away is replaced by another one, and the choice depends on the
// pair alone.
func TestExportExemplars(t *testing.T) {
	e := exporter(t, texttosql.WithMemory(memory.Options{Exemplars: solved}), texttosql.WithSeed(3))
	config := training.Config{K: 2}
	write := func(pairs []memory.Exemplar) [][]llm.Message {
		path := filepath.Join(t.TempDir(), "train.jsonl")
		testutil.Value(e.Export(t.Context(), path, pairs, config))(t)
		return exported(t, path)
	}
	backwards := slices.Clone(solved)
	slices.Reverse(backwards)
	there, back := write(solved), write(backwards)
	slices.Reverse(back)
	if diff := cmp.Diff(there, back); diff != "" {
		t.Errorf("the order of the pairs changes lines:\n%s", diff)
	}
	// a and c have one statement, values aside; the other pairs are left for them.
	for i, never := range map[int]string{0: "Norway", 2: "USA'"} {
		for _, m := range there[i][1 : len(there[i])-1] {
			if m.Role == llm.Assistant && strings.Contains(m.Text, never) {
				t.Errorf("line %d shows %q", i+1, m.Text)
			}
		}
		if len(there[i]) != 7 {
			t.Errorf("line %d has %d messages; want 7", i+1, len(there[i]))
		}
	}
}

// TestExportFaults: an export that cannot be written leaves nothing behind, and says what to do.
func TestExportFaults(t *testing.T) {
	var refused *strategy.ConfigError
	var failed *training.Error
	readOnly := filepath.Join(t.TempDir(), "read-only")
	testutil.OK(t, os.Mkdir(readOnly, 0o555))
	if os.Geteuid() == 0 { // modes do not bind this user
		readOnly = "/proc"
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		why    string
		ctx    context.Context
		path   string // "": one of its own
		pairs  []memory.Exemplar
		config training.Config
		as     any
		says   string
	}{
		{"negative K", t.Context(), "", solved, training.Config{K: -1}, nil, "Direct.Shots is -1"},
		{"more exemplars than there are", t.Context(), "", solved, training.Config{K: 5}, &refused, "the pool has 4"},
		{"the evaluation takes too many", t.Context(), "", solved, training.Config{K: 3, Against: solved[:2]}, &refused,
			"the pool has 1"},
		{"no pair", t.Context(), "", nil, training.Config{}, &failed, "no pair is left"},
		{"no pair is left", t.Context(), "", solved, training.Config{Against: solved}, &failed, "no pair is left"},
		{"no such folder", t.Context(), filepath.Join(t.TempDir(), "none", "a.jsonl"), solved, training.Config{}, &failed,
			"choose a folder"},
		{"a read-only folder", t.Context(), filepath.Join(readOnly, "a.jsonl"), solved, training.Config{}, &failed,
			"choose a folder"},
		{"the context ended", ended, "", solved, training.Config{}, nil, "context canceled"},
	} {
		dir := t.TempDir()
		path := tt.path
		if path == "" {
			path = filepath.Join(dir, "a.jsonl")
		}
		e := exporter(t, texttosql.WithMemory(memory.Options{Exemplars: solved}))
		_, err := e.Export(tt.ctx, path, tt.pairs, tt.config)
		if err == nil || !strings.Contains(err.Error(), tt.says) || tt.as != nil && !errors.As(err, tt.as) {
			t.Errorf("%s: %T %v; want %q", tt.why, err, err, tt.says)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: left %v", tt.why, left)
		}
	}
}

// child is the export of TestExportKilled in a process of its own. The third statement runs until the process is
// killed.
func child(dir string) {
	sql.Register("sqlite3_stuck", &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		return c.RegisterFunc("stuck", func() int64 { fmt.Println("stuck"); select {} }, false)
	}})
	db, err := sql.Open("sqlite3_stuck", filepath.Join(dir, "shop.sqlite"))
	if err != nil {
		panic(err)
	}
	e, err := training.NewExporter(context.Background(), db,
		texttosql.WithPolicy(guarded.Policy{AllowFunctions: []string{"stuck"}}),
		texttosql.WithLimits(guarded.Limits{Candidate: guarded.Bounds{Timeout: time.Hour}}))
	if err != nil {
		panic(err)
	}
	pairs := append(slices.Clone(solved[:2]), memory.Exemplar{Question: "Is it stuck?",
		SQL: "SELECT stuck() FROM customers"})
	_, err = e.Export(context.Background(), filepath.Join(dir, "train.jsonl"), pairs, training.Config{})
	panic(fmt.Sprint("the export came to its end: ", err))
}

// TestExportKilled: a process that is killed in the middle of an export leaves no file under the final names, and the
// next export is as if nothing had happened.
func TestExportKilled(t *testing.T) {
	if dir := os.Getenv("TEXTTOSQL_TEST_EXPORT"); dir != "" {
		child(dir)
	}
	dir := t.TempDir()
	db := testutil.Value(sql.Open("sqlite3", filepath.Join(dir, "shop.sqlite")))(t)
	defer db.Close()
	testutil.Value(db.Exec(shop))(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestExportKilled$")
	cmd.Env = append(os.Environ(), "TEXTTOSQL_TEST_EXPORT="+dir)
	cmd.Stderr = os.Stderr
	out := testutil.Value(cmd.StdoutPipe())(t)
	testutil.OK(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	cmd.Process.Kill() // SIGKILL
	cmd.Wait()
	if line != "stuck\n" {
		t.Fatalf("the child said %q, %v", line, err)
	}
	for _, name := range []string{"train.jsonl", "train.manifest.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
	if parts, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(parts) != 2 {
		t.Errorf("the export had not begun: %q", parts)
	}
	e := testutil.Value(training.NewExporter(t.Context(), db))(t)
	report, err := e.Export(t.Context(), filepath.Join(dir, "train.jsonl"), solved, training.Config{})
	if err != nil || report.Manifest.Kept != 4 {
		t.Errorf("the next export: %+v, %v", report, err)
	}
}

// TestManifestUnfit: a run under another contract is told, by what differs.
func TestManifestUnfit(t *testing.T) {
	of := func(k int, opts ...texttosql.Option) training.Manifest {
		m := testutil.Value(exporter(t, opts...).Manifest(t.Context(), k))(t)
		return m
	}
	other := func() training.Manifest {
		e := testutil.Value(training.NewExporter(t.Context(), open(t, "CREATE TABLE customers (id INTEGER)")))(t)
		m := testutil.Value(e.Manifest(t.Context(), 0))(t)
		return m
	}
	for _, tt := range []struct {
		why  string
		run  training.Manifest
		want []string // beginnings
	}{
		{"the same contract, from another engine", of(0), nil},
		{"another seed", of(0, texttosql.WithSeed(5)), nil},
		{"other exemplars", of(3), []string{"exemplars: trained with 0, run with 3"}},
		{"other instructions", of(0, texttosql.WithInstructions("Be brief.")), []string{"prompt: "}},
		{"no values", of(0, texttosql.WithoutValues()), []string{"prompt: "}},
		{"another schema", other(), []string{"prompt: ", "schema: "}},
	} {
		got := of(0).Unfit(tt.run)
		if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}

// TestServedAdapter asks an adapter behind an OpenAI-compatible endpoint: its name is the model's, the request is
// greedy, and the messages are those that the adapter was trained on. An adapter that is not there is a typed error.
func TestServedAdapter(t *testing.T) {
	type body struct {
		Model       string
		Temperature *float64
		Messages    []struct {
			Role    string
			Content any
		}
	}
	var got body
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = body{}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		if got.Model != "shop-adapter" {
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w,
				`{"error":{"message":"The model does not exist","type":"invalid_request_error","code":"model_not_found"}}`)
			return
		}
		io.WriteString(w, `{"choices":[{"message":{"content":"SELECT name FROM customers;"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	adapter := func(name string, k int) (*texttosql.Engine, *training.Exporter) {
		client := testutil.Value(openai.New(openai.WithBaseURL(server.URL), openai.WithToken("none"), openai.WithModel(name),
			openai.WithHTTPClient(langchain.HTTPClient(nil))))(t)
		db, shown := open(t, shop), texttosql.WithMemory(memory.Options{Exemplars: []memory.Exemplar{solved[1], solved[3]}})
		if k == 0 { // such an engine has none to show
			shown = texttosql.WithMemory(memory.Options{})
		}
		e := testutil.Value(texttosql.New(db, langchain.Model(client), texttosql.WithStrategy(strategy.Direct{Shots: k}),
			texttosql.WithClock(nil), shown))(t)
		x := testutil.Value(training.NewExporter(t.Context(), db, shown))(t)
		return e, x
	}
	for _, k := range []int{0, 2} {
		e, x := adapter("shop-adapter", k)
		path := filepath.Join(t.TempDir(), "train.jsonl")
		testutil.Value(x.Export(t.Context(), path, solved[:1], training.Config{K: k}))(t)
		if r, err := e.Ask(t.Context(), solved[0].Question); err != nil || r.SQL != "SELECT name FROM customers" {
			t.Fatal(r, err)
		}
		if got.Temperature == nil || *got.Temperature != 0 {
			t.Errorf("K %d: the temperature is not sent as 0", k)
		}
		var sent []llm.Message
		for _, m := range got.Messages {
			text, ok := m.Content.(string)
			if parts, many := m.Content.([]any); many && len(parts) == 1 {
				text, ok = parts[0].(map[string]any)["text"].(string)
			}
			if !ok {
				t.Fatalf("K %d: content %v", k, m.Content)
			}
			sent = append(sent, llm.Message{Role: m.Role, Text: text})
		}
		line := exported(t, path)[0]
		if diff := cmp.Diff(line[:len(line)-1], sent); diff != "" {
			t.Errorf("K %d (-exported +sent):\n%s", k, diff)
		}
	}
	var missing *llm.Error
	e, _ := adapter("no-such-adapter", 0)
	_, err := e.Ask(t.Context(), solved[0].Question)
	if !errors.As(err, &missing) || missing.Class != llm.ClassPermanent {
		t.Errorf("an unknown adapter: %v", err)
	}
}
