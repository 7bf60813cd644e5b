package main

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// TestEval: what is right, wrong, not answered, not to be scored and given away is told apart.
func TestEval(t *testing.T) {
	env := with(asking(t, func(prompt string, _ int) string {
		switch asked := prompt[strings.LastIndex(prompt, "### Question"):]; { // behind the exemplars
		case strings.Contains(asked, "customers"), strings.Contains(asked, "products"):
			return "SELECT count(*) FROM customers"
		}
		return "I cannot say."
	}), "TEXTTOSQL_DSN", shopFile(t))
	questions := file(t, "questions.jsonl",
		`{"question": "How many customers are there?", "sql": "SELECT count(id) FROM customers"}
{"question": "How many products are there?", "sql": "SELECT count(*) FROM products"}
{"question": "What will the weather be?", "sql": "SELECT 1"}
{"question": "How many clients are there?", "sql": "SELECT count(*) FROM clients"}
`)
	exemplars := file(t, "exemplars.jsonl",
		`{"question": "How many customers are there?", "sql": "SELECT count(id) FROM customers"}`)
	code, out, told := try(t, env, "", "eval", "-s", "direct", "--json", "--exemplars", exemplars, questions)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var all total
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &all); err != nil || code != exitAnswer || len(lines) != 5 {
		t.Fatalf("code %d, %v: %s%s", code, err, out, told)
	}
	if all.N != 4 || all.EX.Value != 0.25 || all.VA.Value != 0.5 || all.Faults != 1 || all.Leaks != 1 ||
		all.Unanswered != 2 || all.Calls != 3 ||
		all.EX.Low > 0.25 || all.EX.High < 0.25 {
		t.Errorf("%+v", all)
	}
	if !strings.Contains(told, "gives 1 of the 4 questions away") {
		t.Errorf("%s", told)
	}
	code, out, _ = try(t, env, "", "eval", "-s", "direct", questions)
	for _, want := range []string{"EX 0.250 (95 %: ", "VA 0.500 of 4 questions",
		"2: wrong: How many products are there?\n   SELECT",
		"3: no answer: What", "4: cannot be scored: How"} {
		if code != exitAnswer || !strings.Contains(out, want) {
			t.Errorf("code %d, no %q in\n%s", code, want, out)
		}
	}
	for share, want := range map[string]int{"0.25": exitAnswer, "0.5": exitError} {
		if code, _, told := try(t, env, "", "eval", "-s", "direct", "--min-ex", share, questions); code != want {
			t.Errorf("--min-ex %s: code %d, %s", share, code, told)
		}
	}
	faulty := file(t, "faulty.jsonl", `{"question": "Who?", "sql": "SELECT nope FROM customers"}`)
	code, out, told = try(t, env, "", "eval", "-s", "direct", faulty)
	if want := "question 1: its right statement fails: no such column: nope\n"; code != exitError ||
		!strings.Contains(told, want) ||
		!strings.Contains(out, "1: cannot be scored: Who?\n") {
		t.Errorf("no right statement: code %d, no %q in %s\n%s", code, want, told, out)
	}
	refuses := with(asking(t, always("")), "TEXTTOSQL_DSN", shopFile(t))
	code, _, told = try(t, refuses, "", "eval", "-s", "direct", questions)
	if code != exitError || !strings.Contains(told, "none of the 4 questions was answered") {
		t.Errorf("no answer at all: code %d, %s", code, told)
	}
}

// TestTalk: a question back, a choice, a confirmation; the session is listed and goes on without a call.
func TestTalk(t *testing.T) {
	var calls atomic.Int64
	env := with(asking(t, func(_ string, call int) string {
		calls.Add(1)
		return []string{"SELECT count(*) AS n FROM customers", "SELECT count(*) AS n FROM orders"}[call%2]
	}), "TEXTTOSQL_DSN", shopFile(t))
	confirmed := filepath.Join(t.TempDir(), "confirmed.jsonl")
	csv := filepath.Join(t.TempDir(), "rows.csv")
	talk := []string{"talk", "-s", "self-consistency", "-n", "4", "--confirmed", confirmed}
	typed := "2\nhelp\n/sql\nHow many?\nr9\n/magic\n1\nok\n/sql\n/csv\n/csv " + csv + "\nexit\nWho?\n"
	code, out, told := try(t, env, typed, talk...)
	for _, want := range []string{"  1  Number of orders (2 of 4 samples)\n     120\n", "  2  Number of customers (",
		"120 orders.\n\nSELECT count(*) AS n FROM orders\n\nn\n---", "nothing is to be chosen", "/csv [FILE]",
		"there is no answer yet", "no command /magic", "1 row in " + csv, "> n\n120\n", "choose one of r1, r2",
		"You chose this reading.", "kept"} {
		if code != exitAnswer || !strings.Contains(out, want) {
			t.Fatalf("code %d, no %q in\n%s%s", code, want, out, told)
		}
	}
	if text, err := os.ReadFile(csv); err != nil || string(text) != "n\n120\n" || calls.Load() != 4 {
		t.Errorf("%v: %q, %d calls", err, text, calls.Load())
	}
	id := regexp.MustCompile(`session ([0-9a-f]{32})`).FindStringSubmatch(out)
	if kept, err := os.ReadFile(confirmed); err != nil || len(id) != 2 || strings.Count(string(kept), "question") != 1 {
		t.Fatalf("%v: %s\n%s", err, kept, out)
	}
	if _, out, _ := try(t, env, "", "talk", "--list"); !strings.Contains(out, id[1]) ||
		!strings.Contains(out, "How many?") {
		t.Errorf("the list: %s", out)
	}
	asked := calls.Load()
	code, out, told = try(t, env, "", append(talk, "--resume", id[1])...)
	if code != exitAnswer || !strings.Contains(out, "count(*)") || calls.Load() != asked {
		t.Errorf("code %d, %d calls more: %s%s", code, calls.Load()-asked, out, told)
	}
}

// TestTalkGoesOn: a question without an answer ends neither the conversation nor what is resumed of it.
func TestTalkGoesOn(t *testing.T) {
	provider := &fake{reply: func(prompt string, _ int) string {
		switch _, asked, _ := strings.Cut(prompt, "### Question"); {
		case strings.Contains(asked, "weather"):
			return "I cannot."
		case strings.Contains(asked, "Remove"):
			return "DROP TABLE customers"
		}
		return "SELECT count(*) AS n FROM customers"
	}}
	var refuses atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuses.Load() {
			http.Error(w, `{"error": {"message": "no"}}`, http.StatusUnauthorized)
			return
		}
		provider.ServeHTTP(w, r)
	}))
	defer server.Close()
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1",
		"TEXTTOSQL_MODEL": "openai:fake", "HOME": t.TempDir(),
		"TEXTTOSQL_DSN": shopFile(t)}
	long := strings.Repeat("x", 80_000)
	for _, tt := range []struct {
		why, line, want string
		args            []string
		refuses         bool
	}{
		{why: "a model that declines", line: "What will the weather be?",
			want: "The model declined to answer: I cannot. Ask for"},
		{why: "a statement that is refused", line: "Remove the customers", want: "This only reads. Ask for what is stored"},
		{why: "a key that is refused", line: "How many customers?", want: "The provider of the model refuses the key",
			refuses: true},
		{why: "a spent budget", line: "How many customers?", want: "The budget of the question is spent.",
			args: []string{"--tokens", "1"}},
		{why: "too long", line: long, want: "The question has 80000 bytes; the limit is 8192. Shorten it."},
		{why: "a correction of nothing", line: "no: use table customers",
			want: "Only a pending question, an answer or a failure can be corrected"},
		{why: "an unknown table", line: "What will the weather be?\nno: use table custmers", want: "Did you mean customers?"},
	} {
		refuses.Store(tt.refuses)
		talk := append([]string{"talk", "-s", "self-consistency", "-n", "2"}, tt.args...)
		code, out, told := try(t, env, tt.line+"\n/magic\n", talk...)
		if code != exitAnswer || told != "" || !strings.Contains(out, tt.want) ||
			!strings.Contains(out, "no command /magic") {
			t.Errorf("%s: code %d, no %q in\n%.2000s%s", tt.why, code, tt.want, out, told)
		}
		if !strings.Contains(out, "\n> "+tt.want) && !strings.Contains(tt.line, "no:") {
			t.Errorf("%s: a line without the message alone:\n%.2000s", tt.why, out)
		}
		if id := regexp.MustCompile(`session ([0-9a-f]{32})`).FindStringSubmatch(out); tt.line != long &&
			!strings.HasPrefix(tt.line, "no:") {
			code, out, told = try(t, env, "/magic\n", append(talk, "--resume", id[1])...)
			if code != exitAnswer || told != "" || !strings.Contains(out, "no command /magic") {
				t.Errorf("%s, resumed: code %d, %.2000s%s", tt.why, code, out, told)
			}
		}
	}
}

// TestTalkWarns: talk prints the warnings that ask prints, without those that its closing line has, and lessons in
// words.
func TestTalkWarns(t *testing.T) {
	db := filepath.Join(t.TempDir(), "soft.db")
	pool := testutil.Value(sql.Open("sqlite3", db))(t)
	testutil.Value(pool.Exec("CREATE TABLE customers (id INTEGER, deleted_at TIMESTAMP); INSERT INTO customers " +
		"VALUES (1, NULL), (2, '2024-01-01')"))(t)
	testutil.OK(t, pool.Close())
	count := always("SELECT count(*) FROM customers")
	for _, tt := range []struct {
		why   string
		reply func(string, int) string
		typed string
		want  string // behind the closing line
	}{
		{"deleted rows", count, "How many customers?",
			"All 5 samples agree. 5 calls\n  warning: 2 customers. 1 of them has deleted_at set"},
		{"a change", count, "Delete customers", "\nNothing was changed: this program only reads. All 5 samples agree. " +
			"5 calls\n"},
		{"a correction in words", count, "How many customers?\nno: the active ones",
			"  warning: the correction is shown to the model as it is, and nothing"},
		{"the closing line has it", count, "How many customers in 2024?",
			"the statement does not. 5 calls\n  warning: 2 customers. 1 of them"},
		{"a choice", func(_ string, call int) string {
			return []string{"SELECT count(*) FROM customers", "SELECT id FROM customers"}[call%2]
		}, "Which?\n1", `learned: for "Which?" you chose "SELECT `},
	} {
		env := with(asking(t, tt.reply), "TEXTTOSQL_DSN", db)
		args := []string{"talk", "-s", "self-consistency", "-n", "8", "--lessons", filepath.Join(t.TempDir(), "lessons.json")}
		code, out, told := try(t, env, tt.typed+"\n", args...)
		if code != exitAnswer || !strings.Contains(out, tt.want) || strings.Contains(out, "warning: The question says 2024") {
			t.Errorf("%s: code %d, no %q in\n%s%s", tt.why, code, tt.want, out, told)
		}
	}
}

// TestTalkDamaged: a record that was changed is named, and hides no other.
func TestTalkDamaged(t *testing.T) {
	env := with(asking(t, always("SELECT count(*) AS n FROM customers")), "TEXTTOSQL_DSN", shopFile(t))
	folder := t.TempDir()
	talk := []string{"talk", "-s", "direct", "--sessions", folder}
	for _, question := range []string{"How many are readable?", "How many are damaged?", "How many are broken?"} {
		if code, _, told := try(t, env, question+"\n", talk...); code != exitAnswer {
			t.Fatalf("code %d, %s", code, told)
		}
	}
	var damaged []string
	for _, path := range testutil.Value(filepath.Glob(filepath.Join(folder, "*.json")))(t) {
		text := string(testutil.Value(os.ReadFile(path))(t))
		if changed := strings.NewReplacer("damaged", "damagee", "broken", "brokem").Replace(text); changed != text {
			testutil.OK(t, os.WriteFile(path, []byte(changed), 0o600))
			damaged = append(damaged, path)
		}
	}
	code, out, told := try(t, env, "", append(talk, "--list")...)
	if code != exitAnswer || strings.Count(out, "\n") != 1 || !strings.Contains(out, "How many are readable?") ||
		strings.Count(told, "\n") != 2 {
		t.Errorf("the list: code %d\n%s\n%s", code, out, told)
	}
	for _, path := range damaged {
		id := strings.TrimSuffix(filepath.Base(path), ".json")
		want := "texttosql: The record of " + id + " (" + path + "): the checksum does not match"
		if !strings.Contains(told, want) {
			t.Errorf("the list: no %q in\n%s", want, told)
		}
		if code, _, told := try(t, env, "", append(talk, "--resume", id)...); code != exitError ||
			!strings.HasPrefix(told, want) {
			t.Errorf("resumed: code %d, no %q in %s", code, want, told)
		}
	}
}

// TestDescribe: a description that a person changed stays, and the second call asks nothing.
func TestDescribe(t *testing.T) {
	var calls atomic.Int64
	env := with(asking(t, func(string, int) string {
		calls.Add(1)
		return `{"id": "its number", "name": "what it is called", "price": "list price"}`
	}), "TEXTTOSQL_DSN", shopFile(t))
	out := filepath.Join(t.TempDir(), "shop.json")
	for range 2 {
		if code, _, told := try(t, env, "", "describe", "-o", out, "--policy",
			file(t, "p", `{"AllowTables": ["products"]}`)); code != exitAnswer {
			t.Fatalf("code %d, %s", code, told)
		}
	}
	text, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(text), "list price") || strings.Contains(string(text), "customers") {
		t.Fatalf("%v: %s", err, text)
	}
	first := calls.Load()
	if code, shown, _ := try(t, env, "", "schema", "products", "--descriptions", out); code != exitAnswer ||
		!strings.Contains(shown, "what it is called") {
		t.Errorf("code %d: %s", code, shown)
	}
	if calls.Load() != first || first == 0 || first > 4 {
		t.Errorf("%d calls", first)
	}
	nonsense := with(asking(t, always("nonsense")), "TEXTTOSQL_DSN", shopFile(t))
	code, _, told := try(t, nonsense, "", "describe", "-o", filepath.Join(t.TempDir(), "d"))
	if want := "customers: no usable reply (1 of 4)\n"; code != exitError || !strings.HasPrefix(told, want) ||
		strings.Contains(told, "kept") {
		t.Errorf("nonsense: code %d, no %q in %s", code, want, told)
	}
	if code, _, told := try(t, env, "", "describe", "-o", filepath.Join(t.TempDir(), "d"), "--calls",
		"1"); code != exitBudget {
		t.Errorf("a spent budget: code %d, %s", code, told)
	}
}

// TestShells: the scripts complete in the shells that are here.
func TestShells(t *testing.T) {
	for name, line := range map[string]string{
		"bash": `source <(texttosql completion bash); COMP_WORDS=(texttosql ask --strategy pet); COMP_CWORD=3; _texttosql; echo "${COMPREPLY[@]}"`,
		"zsh": `zsh -f -c 'autoload -U compinit; compinit -u; compadd() { shift 3; print -- "$@" }; source <(texttosql completion zsh)
words=(texttosql ask --strategy pet); CURRENT=4; _texttosql'`,
		"fish": `fish -c 'texttosql completion fish | source; complete -C "texttosql ask --strategy pet"' | tr '\n' ' '`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Skip("this shell is not installed")
			}
			out, err := shell(t, t.TempDir(), map[string]string{"HOME": t.TempDir()}, line).CombinedOutput()
			if got := strings.TrimSpace(string(out)); err != nil || got != "petsql petsql-compat" {
				t.Errorf("%v: %q", err, got)
			}
		})
	}
}

// TestEvalExpectations: the keys tell a file of texttosqltest; a miss is printed, with code 1.
func TestEvalExpectations(t *testing.T) {
	env := with(asking(t, func(prompt string, call int) string {
		switch _, asked, _ := strings.Cut(prompt, "### Question"); {
		case strings.Contains(asked, "best"):
			return []string{"SELECT count(*) FROM customers", "SELECT count(*) FROM orders"}[call%2]
		case strings.Contains(asked, "Remove"):
			return "DELETE FROM customers"
		}
		return "SELECT count(*) AS n FROM customers"
	}), "TEXTTOSQL_DSN", shopFile(t))
	right := []string{
		`{"question": "How many customers?", "rows": [[40]], "reads": ["customers"], "calls": 9, "within": "1m"}`,
		`{"question": "How many?", "sql": "SELECT count(*) FROM customers"}`, `{"question": "Who is best?", "asks": true}`,
		`{"question": "Remove all", "refuses": true}`}
	for _, tt := range []struct {
		why      string
		more     []string
		args     []string
		code     int
		out, err string
	}{
		{"all as expected", nil, nil, exitAnswer, "", "all 4 questions are as expected"},
		{"other rows", []string{`{"question": "How many now?", "rows": [[41]]}`}, nil, exitError, "How many now?\n   ",
			"1 of 5 questions are not as expected"},
		{"another table", []string{`{"question": "How many now?", "reads": ["orders"]}`}, nil, exitError,
			"the statement is SELECT count(*)", "1 of 5"},
		{"as JSON", []string{`{"question": "How many now?", "asks": true}`}, []string{"--json"}, exitError,
			`{"question":"How many now?","drift":["it does not ask`, "1 of 5"},
		{"a slip", []string{`{"question": "How many now?", "row": [[41]]}`}, nil, exitUsage, "", "line 5"},
	} {
		path := file(t, "questions.jsonl", strings.Join(append(slices.Clone(right), tt.more...), "\n"))
		code, out, told := try(t, env, "", append([]string{"eval", "-s", "self-consistency", "-n", "4", path}, tt.args...)...)
		if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(told, tt.err) {
			t.Errorf("%s: code %d\n%s\n%s", tt.why, code, out, told)
		}
	}
}
