package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
)

// TestRunRecords: a reply is asked for once, and the folder answers without a server, of whatever run.
func TestRunRecords(t *testing.T) {
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		io.WriteString(w,
			`{"choices":[{"message":{"content":"SELECT name, \"about\":\"\" FROM customers"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1", "TEXTTOSQL_DATA": data(t)}
	tapes := filepath.Join(t.TempDir(), "tapes")
	command := func(strategy, model string, more ...string) []string {
		return append([]string{"run", "--dataset", "spider_dev", "--strategy", strategy, "--model", model, "--json",
			"--rounds", "50"}, more...)
	}
	for _, tt := range []struct {
		why      string
		command  []string
		n, asked int64 // questions; calls of the server since the start
	}{
		{"one question", command("direct", "openai:m", "--record", tapes, "--limit", "1"), 1, 1},
		{"and two more", command("direct", "openai:m", "--record", tapes), 3, 3},
		{"the same again", command("direct", "openai:m", "--record", tapes), 3, 3},
		{"another strategy, whose first prompt is the same", command("direct-refine", "openai:m", "--record", tapes), 3, 6},
		{"from the folder", command("direct-refine", "replay:"+tapes), 3, 6},
		{"from one file of it", command("direct", "replay:"+filepath.Join(tapes, "01.jsonl")), 3, 6},
	} {
		out, notes := measured(t, env, tt.command...)
		lines := objects(t, out)
		last := lines[len(lines)-1]
		if last["n"] != float64(tt.n) || last["failed"] != 0.0 || calls.Load() != tt.asked {
			t.Errorf("%s: after %d calls, want %d: %v\n%s", tt.why, calls.Load(), tt.asked, last, notes)
		}
	}
	text := string(testutil.Value(os.ReadFile(filepath.Join(tapes, "01.jsonl")))(t))
	if strings.Contains(text, "ustomers?") || strings.Count(text, `\"about\":\"\" FROM`) != 6 ||
		strings.Count(text, "\n") != 6 {
		t.Errorf("the recording repeats a question, or lacks a reply:\n%s", text)
	}
	for why, args := range map[string][]string{
		"a pool is recorded already": command("direct", "pool:spider_dev/all", "--record", tapes),
		"so is a recording":          command("direct", "replay:"+tapes, "--record", tapes),
		"a file, and no folder":      command("direct", "openai:m", "--record", filepath.Join(tapes, "01.jsonl")),
	} {
		if _, _, err := evaluate(t, env, args...); err == nil || !strings.Contains(err.Error(), "--record") {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// TestRunSecond: where all samples agree, a second model gives its opinion; its replies have a folder of their own, and
// the last line says how often it agreed.
func TestRunSecond(t *testing.T) {
	replies := map[string]string{"m": "SELECT count(*) FROM customers", "same": "SELECT count(name) FROM customers",
		"other": "SELECT 7"}
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		var body struct{ Model string }
		json.NewDecoder(r.Body).Decode(&body)
		fmt.Fprintf(w, `{"choices":[{"message":{"content":%q},"finish_reason":"stop"}]}`, replies[body.Model])
	}))
	defer server.Close()
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1", "TEXTTOSQL_DATA": data(t)}
	tapes := t.TempDir()
	command := func(model, second string, more ...string) []string {
		return append([]string{"run", "--dataset", "spider_dev", "--limit", "1", "--strategy", "self-consistency",
			"--samples", "7", "--json", "--rounds", "50", "--model", model, "--second", second}, more...)
	}
	live := func(second string) []string {
		return command("openai:m", "openai:"+second, "--record", filepath.Join(tapes, "m"), "--second-record",
			filepath.Join(tapes, second))
	}
	recorded := func(second string) []string {
		return command("replay:"+filepath.Join(tapes, "m"), "replay:"+filepath.Join(tapes, second))
	}
	for _, tt := range []struct {
		why     string
		command []string
		want    string
		asked   int64 // calls of the server since the start
	}{
		{"the same count in other words", live("same"), "equal", 6},
		{"another number, twice", live("other"), "differs", 8},
		{"from the folders", recorded("same"), "equal", 8},
		{"from the folders, another number", recorded("other"), "differs", 8},
	} {
		out, notes := measured(t, env, tt.command...)
		lines := objects(t, out)
		second := lines[len(lines)-1]["second"]
		if got, _ := second.(map[string]any)[tt.want].(map[string]any); got["n"] != 1.0 || lines[0]["second"] != tt.want ||
			calls.Load() != tt.asked {
			t.Errorf("%s: %v after %d calls, want %s after %d\n%s", tt.why, second, calls.Load(), tt.want, tt.asked, notes)
		}
	}
	if _, _, err := evaluate(t, env, command("openai:m", "nobody:n")...); err == nil ||
		!strings.Contains(err.Error(), "--second") {
		t.Errorf("an unknown provider: %v", err)
	}
}

// TestTapeFiles: full files are followed by others, and a crash costs one line.
func TestTapeFiles(t *testing.T) {
	dir := t.TempDir()
	ask := func(from, to int) {
		tape := testutil.Value(openTape(dir))(t)
		m := tape.over(llm.Named("m", llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			return llm.Response{Text: strings.Repeat("x", 100_000)}, nil
		})))
		for i := from; i < to; i++ {
			testutil.Value(m.Complete(t.Context(), llm.Request{Purpose: "generate", Sample: i}))(t)
		}
	}
	ask(0, 12)
	last := filepath.Join(dir, "02.jsonl")
	info := testutil.Value(os.Stat(last))(t)
	testutil.OK(t, os.Truncate(last, info.Size()-5))
	ask(10, 20)
	for i, calls := range []int{8, 8, 4} {
		text := testutil.Value(os.ReadFile(filepath.Join(dir, fmt.Sprintf("%02d.jsonl", i+1))))(t)
		if got := strings.Count(string(text), "\n"); got != calls || len(text) > maxTape {
			t.Errorf("file %d: %d calls in %d bytes, want %d", i+1, got, len(text), calls)
		}
	}
	player := testutil.Value(openReplay(dir))(t)
	for i := range 20 {
		testutil.Value(player.Complete(t.Context(), llm.Request{Purpose: "generate", Sample: i}))(t)
	}
}

// TestTapeFailures: a call that failed is made again, and its error is no reply.
func TestTapeFailures(t *testing.T) {
	dir, down := t.TempDir(), true
	ask := func() (llm.Response, error) {
		m := llm.Named("m", llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			if down {
				return llm.Response{}, llm.StatusError(http.StatusServiceUnavailable, 0,
					fmt.Errorf("Loading model \"m\", \"error\":{"))
			}
			return llm.Response{Text: `SELECT '"error":{'`}, nil
		}))
		return testutil.Value(openTape(dir))(t).over(m).Complete(t.Context(), llm.Request{Purpose: "generate"})
	}
	if _, err := ask(); err == nil {
		t.Error("no error of a server that is down")
	}
	down = false
	testutil.Value(ask())(t)
	down = true
	testutil.Value(ask())(t) // from the tape
}

// TestDrawn: the beginning of a draw does not depend on what else there is.
func TestDrawn(t *testing.T) {
	var all []eval.Question
	for i := range 20 {
		all = append(all, eval.Question{Dataset: "d", ID: fmt.Sprint(i)})
	}
	order := func(questions []eval.Question, seed uint64) (ids []string) {
		for _, q := range drawn(questions, seed) {
			ids = append(ids, q.ID)
		}
		return ids
	}
	first := order(all, 1)
	if slices.Equal(first, order(all, 2)) || slices.IsSortedFunc(first, func(a, b string) int { return len(a) - len(b) }) {
		t.Errorf("the seed draws nothing: %v", first)
	}
	fewer := slices.DeleteFunc(slices.Clone(first), func(id string) bool { return len(id) == 2 })
	if got := order(all[:10], 1); !slices.Equal(got, fewer) {
		t.Errorf("ten of the questions are drawn as %v, want %v", got, fewer)
	}
}
