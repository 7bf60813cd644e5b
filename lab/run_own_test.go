package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// ownShop is a folder of somebody's own: one SQLite file, and a file of questions of the name and text given.
func ownShop(t *testing.T, name, text string) (db, questions string) {
	t.Helper()
	dir := t.TempDir()
	db, questions = filepath.Join(dir, "my shop.db"), filepath.Join(dir, name)
	makeDatabase(t, db, `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
		INSERT INTO customers VALUES (1, 'Ada', 'UK'), (2, 'Bob', 'USA'), (3, 'Cyd', 'USA')`)
	write(t, questions, text)
	return db, questions
}

// answering is a server that answers one question right and the others with all names.
func answering(t *testing.T) map[string]string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		reply := "SELECT name FROM customers"
		if strings.Contains(string(body), "How many customers") {
			reply = "SELECT count(*) FROM customers"
		}
		fmt.Fprintf(w,
			`{"choices":[{"message":{"content":"%s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":8}}`, reply)
	}))
	t.Cleanup(server.Close)
	return map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1"}
}

// TestRunOwn: a database and questions of one's own, in every form.
func TestRunOwn(t *testing.T) {
	const list = `"question": "How many customers are there?", "gold": "SELECT count(*) FROM customers"},
		{"question": "Who lives in the USA?", "gold": "SELECT name FROM customers WHERE country = 'USA'"}`
	for _, tt := range []struct{ name, file, text, why string }{
		{
			"csv", "q.csv", "question,gold\nHow many customers are there?,SELECT count(*) FROM customers\n" +
				"Who lives in the USA?,\"SELECT name FROM customers\nWHERE country = 'USA'\"\n", "a gold of two lines",
		},
		{"lines", "q.jsonl", strings.ReplaceAll("{"+list, "},\n\t\t", "}\n"), "JSON lines"},
		{"list", "q.json", "[{" + list + "]", "a JSON list"},
		{
			"names", "q.jsonl",
			`{"id": "a", "db": "other", "question": "How many customers are there?", "sql": "SELECT count(*) FROM customers"}` +
				"\n" +
				`{"id": "b", "db": "other", "question": "Who lives in the USA?", "sql": "SELECT name FROM customers WHERE country = 'USA'"}`, "other names",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db, questions := ownShop(t, tt.file, tt.text)
			prices := filepath.Join(t.TempDir(), "prices.json")
			testutil.OK(t, os.WriteFile(prices, []byte(`[{"model": "", "input": 1e6, "output": 1e6, "date": "2026-11-20"}]`),
				0o600))
			out, _ := measured(t, answering(t), "run", "--db", db, "--questions", questions, "--strategy", "consensus",
				"--samples", "3", "--model", "openai:m", "--json", "--rounds", "50", "--prices", prices)
			lines := objects(t, out)
			last := lines[len(lines)-1]
			if len(lines) != 3 || last["n"] != 2.0 || last["ex"] != 0.5 || last["va"] != 1.0 || last["dataset"] != questions ||
				last["model_kind"] != "live" ||
				last["money"] != last["tokens"] || last["money"] == 0.0 {
				t.Errorf("%s: %v", tt.why, lines)
			}
			for _, key := range []string{"ci", "calls", "tokens", "tokens_known", "sec", "auroc", "failed", "left_out",
				"exemplars", "strategy", "model"} {
				if _, ok := last[key]; !ok {
					t.Errorf("no key %q in %v", key, last)
				}
			}
		})
	}
}

// TestRunOwnPool: recorded answers serve where the questions are those of a folder.
func TestRunOwnPool(t *testing.T) {
	dir := data(t)
	db, questions := ownShop(t, "questions_spider_dev.jsonl",
		`{"qid": 1, "db_id": "shop", "question": "How many customers are there?", "gold": "SELECT count(*) FROM customers"}`)
	args := []string{"run", "--db", db, "--questions", questions, "--strategy", "direct", "--model",
		"pool:spider_dev/first", "--json", "--rounds", "50"}
	if _, _, err := evaluate(t, nil, args...); err == nil || !strings.Contains(err.Error(), "--data") {
		t.Errorf("without the folder of the pool: %v", err)
	}
	out, _ := measured(t, nil, append(args, "--data", dir)...)
	if lines := objects(t, out); lines[len(lines)-1]["ex"] != 1.0 {
		t.Errorf("%v", lines)
	}
}

// TestRunOwnBadInput: one line that says what is wrong, and where.
func TestRunOwnBadInput(t *testing.T) {
	const first = `{"question": "How many?", "gold": "SELECT 1"}` + "\n"
	for _, tt := range []struct{ name, file, text, want, why string }{
		{"no gold", "q.jsonl", `{"question": "How many?"}`, "q.jsonl:1: field gold: missing", "nothing to judge by"},
		{"a gold missing", "q.jsonl", first + `{"question": "Who?"}`, "q.jsonl:2: field gold: missing", "one row without"},
		{"an empty gold", "q.csv", "question,gold\nHow many?,SELECT 1\nWho?,\n", "q.csv:3: field gold: empty",
			"the same in CSV"},
		{"no question", "q.jsonl", first + `{"gold": "SELECT 1"}`, "q.jsonl:2: field question: missing", "one row without"},
		{"no names", "q.csv", "How many?,SELECT 1\n", "no question in the file", "CSV needs a line of names"},
		{"broken JSON", "q.jsonl", first + `{"question": `, "q.jsonl:2: the JSON is cut off", "a cut line"},
		{"a column too few", "q.csv", "question,gold\nHow many?,SELECT 1\nWho?\n", "q.csv:3: broken CSV", "a cut row"},
		{
			"two databases", "q.csv", "db,question,gold\na,How many?,SELECT 1\nb,Who?,SELECT 1\n",
			"q.csv:3: field db_id: is b, but a before",
			"there is one database",
		},
		{"golds only", "dev.sql", "SELECT 1\tshop\n", "dev.sql:1: field question: missing", "a gold file has no questions"},
		{"empty", "q.jsonl", "", "q.jsonl: the file is empty", "nothing to ask"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db, questions := ownShop(t, tt.file, tt.text)
			_, _, err := evaluate(t, answering(t), "run", "--db", db, "--questions", questions, "--strategy", "direct",
				"--model", "openai:m")
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want one line with %q", tt.why, err, tt.want)
			}
		})
	}
	db, questions := ownShop(t, "q.jsonl", first)
	broken := filepath.Join(t.TempDir(), "broken.db")
	testutil.OK(t, os.WriteFile(broken, []byte(strings.Repeat("no database ", 20)), 0o600))
	for _, tt := range []struct {
		name, want string
		args       []string
	}{
		{"no such database", "missing.db", []string{"--db", "missing.db", "--questions", questions}},
		{"no database", "broken.db", []string{"--db", broken, "--questions", questions}},
		{"no such questions", "missing.csv", []string{"--db", db, "--questions", "missing.csv"}},
		{"no questions", "go together", []string{"--db", db}},
		{"no database given", "go together", []string{"--questions", questions}},
		{"a dataset too", "without --dataset", []string{"--db", db, "--questions", questions, "--dataset", "spider_dev"}},
		{"no such prices", "missing.json", []string{"--db", db, "--questions", questions, "--prices", "missing.json"}},
		{"nothing", "nothing to ask", nil},
		{"train", "--data", []string{"--db", db, "--questions", questions, "--exemplars", "train"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := evaluate(t, answering(t), append([]string{"run", "--strategy", "direct", "--model", "openai:m"},
				tt.args...)...)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want one line with %q", err, tt.want)
			}
		})
	}
}

// TestRunWithoutGolds: questions that nothing judges, with what people know, and answers that are questions back.
func TestRunWithoutGolds(t *testing.T) {
	db, questions := ownShop(t, "q.jsonl", `{"question": "How many customers are there?"}
{"question": "Which buyers are there?"}`)
	model := filepath.Join(t.TempDir(), "known.json")
	write(t, model, `{"terms": [{"words": ["buyers"], "description": "A row of customers, whatever it bought."}]}`)
	var calls, shown atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "whatever it bought") {
			shown.Add(1)
		}
		reply := "SELECT name FROM customers"
		if strings.Contains(string(body), "How many") && calls.Add(1)%2 == 0 {
			reply = "SELECT count(*) FROM customers"
		}
		fmt.Fprintf(w,
			`{"choices":[{"message":{"content":"%s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":8}}`, reply)
	}))
	t.Cleanup(server.Close)
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1"}
	command := []string{"run", "--db", db, "--questions", questions, "--strategy", "self-consistency", "--samples", "4",
		"--model", "openai:m",
		"--json", "--rounds", "50", "--concurrency", "1", "--knowledge", model, "--clarify-below", "0.9"}

	if _, _, err := evaluate(t, env, command...); err == nil || !strings.Contains(err.Error(), "gold") {
		t.Errorf("a question without a gold: %v", err)
	}
	out, _ := measured(t, env, append(command, "--ungraded")...)
	lines := objects(t, out)
	first, second, last := lines[0], lines[1], lines[len(lines)-1]
	if first["asked"] != true || first["sql"] != "" || second["asked"] != nil || second["sql"] == "" ||
		second["ex"] != 0.0 ||
		last["asked"] != 1.0 || last["n"] != 2.0 {
		t.Errorf("one question is asked back, and the other answered: %v", lines)
	}
	if _, scored := second["answerable"].(float64); !scored || shown.Load() == 0 {
		t.Errorf("the score of what can be answered is %v; the term was shown %d times", second["answerable"], shown.Load())
	}
}
