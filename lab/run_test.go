package main

import (
	"bytes"
	"context"
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

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/internal/testutil"
)

func TestRunGoesOn(t *testing.T) {
	dir, file := data(t), filepath.Join(t.TempDir(), "run.jsonl")
	command := []string{"run", "--data", dir, "--dataset", "spider_dev", "--strategy", "consensus", "--model",
		"pool:spider_dev/all",
		"--samples", "3", "--out", file, "--json", "--rounds", "50"}
	measured(t, nil, append(command, "--limit", "1")...)
	// A crash cut the next line.
	log := testutil.Value(os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0))(t)
	io.WriteString(log, `{"v":1,"run":"consensus`)
	log.Close()

	out, notes := measured(t, nil, command...)
	lines := objects(t, out)
	last := lines[len(lines)-1]
	if len(lines) != 3 || last["n"] != 3.0 || last["ex"] != 1.0 || last["va"] != 1.0 || last["model_kind"] != "recorded" ||
		last["left_out"] != 2.0 {
		t.Errorf("got %v\n%s", lines, notes)
	}
	for _, key := range []string{"calls", "tokens", "sec", "ci", "auroc", "failed"} {
		if _, ok := last[key]; !ok {
			t.Errorf("no key %q in %v", key, last)
		}
	}
	if !strings.Contains(notes, "1 of 3 questions are finished") {
		t.Errorf("notes:\n%s", notes)
	}
	if text, _ := os.ReadFile(file); bytes.Count(text, []byte("\n")) != 3 {
		t.Errorf("the file holds:\n%s", text)
	}
	// The file can be scored.
	out, _, err := evaluate(t, nil, "score", "--data", dir, "--dataset", "spider_dev", "--predictions", file, "--rounds",
		"50")
	if err != nil || !strings.Contains(strings.Join(strings.Fields(out), " "), "ex_set 0.6000 5") {
		t.Errorf("%v\n%s", err, out)
	}
	// Another run does not mix with it.
	command[6] = "direct"
	command = slices.Delete(command, 9, 11)
	if _, _, err := evaluate(t, nil, command...); err == nil ||
		!strings.Contains(err.Error(), file+": line 1: of the run") {
		t.Errorf("got %v", err)
	}
}

// TestRunLeavesForeignFiles: what was never an --out is told and stays, with a line
// end at its end or without.
func TestRunLeavesForeignFiles(t *testing.T) {
	dir := data(t)
	for _, text := range []string{"hello", "hello\n", `{"0": "SELECT 1"}`, "[{}]", "\n"} {
		file := filepath.Join(t.TempDir(), "notes")
		write(t, file, text)
		_, _, err := evaluate(t, nil, "run", "--data", dir, "--dataset", "spider_dev", "--strategy", "direct", "--model",
			"pool:spider_dev/all", "--out", file)
		if after, _ := os.ReadFile(file); err == nil || !strings.Contains(err.Error(), file+": line 1: ") ||
			string(after) != text {
			t.Errorf("%q: %v, now %q", text, err, after)
		}
	}
}

// TestTwoRunsOnOneFile: lines of two programs stand side by side.
func TestTwoRunsOnOneFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.jsonl")
	var logs [2]*journal
	for i := range logs {
		log := testutil.Value(openJournal(file, "r", "d"))(t)
		defer log.close()
		logs[i] = log
	}
	for i := range 6 {
		testutil.OK(t, logs[i%2].keep(finished{Version: journalVersion, Run: "r", Dataset: "d", ID: fmt.Sprint(i)}))
	}
	again := testutil.Value(openJournal(file, "r", "d"))(t)
	defer again.close()
	if len(again.finished) != 6 {
		t.Errorf("%d questions are finished, want 6", len(again.finished))
	}
}

func TestRunWithSeveralPools(t *testing.T) {
	out, _ := measured(t, nil, "run", "--data", data(t), "--dataset", "spider_dev", "--strategy", "self-consistency",
		"--model", "pool:spider_dev/first,spider_dev/third", "--samples", "2", "--json", "--rounds", "50")
	lines := objects(t, out)
	if last := lines[len(lines)-1]; last["calls"] != 6.0 || last["tokens_known"] != false {
		t.Errorf("got %v", last)
	}
}

// TestRunLive speaks to a loopback server as to any provider.
func TestRunLive(t *testing.T) {
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		body, _ := io.ReadAll(r.Body)
		reply := "```sql\\nSELECT name FROM customers\\n```"
		if strings.Contains(string(body), "How many customers") {
			reply = "SELECT count(*) FROM customers;"
		}
		fmt.Fprintf(w,
			`{"choices":[{"message":{"content":"%s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":8}}`, reply)
	}))
	defer server.Close()
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1", "TEXTTOSQL_DATA": data(t)}
	file := filepath.Join(t.TempDir(), "run.jsonl")
	out, _ := measured(t, env, "run", "--dataset", "spider_dev", "--strategy", "direct", "--model", "openai:m", "--json",
		"--rounds", "50", "--out", file)
	lines := objects(t, out)
	last := lines[len(lines)-1]
	if last["model_kind"] != "live" || last["tokens"] != 3*28.0 || last["tokens_known"] != true ||
		last["ex"].(float64) < 0.66 || calls.Load() != 3 {
		t.Errorf("after %d calls: %v", calls.Load(), last)
	}
	// Of another dataset nothing is finished, even where its questions have the same ids.
	questions := filepath.Join(env["TEXTTOSQL_DATA"], "questions")
	write(t, filepath.Join(questions, "questions_bird_dev.jsonl.gz"),
		unpack(t, filepath.Join(questions, "questions_spider_dev.jsonl.gz"), ""))
	_, _, err := evaluate(t, env, "run", "--dataset", "bird_dev", "--strategy", "direct", "--model", "openai:m", "--out",
		file)
	if err == nil || !strings.Contains(err.Error(), file+`: line 1: of the dataset "spider_dev"`) {
		t.Errorf("the file of another dataset: %v", err)
	}
}

// TestRunWithoutTables: a question that no table is relevant to has no answer; it was not failed by the provider.
func TestRunWithoutTables(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w,
			`{"choices":[{"message":{"content":"{\"is_relevant\": false, \"confidence\": 1}"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1", "TEXTTOSQL_DATA": data(t)}
	out, notes, err := evaluate(t, env, "run", "--dataset", "spider_dev", "--strategy", "threephase", "--model",
		"openai:m", "--json", "--rounds", "50")
	if err != nil || !strings.Contains(out, `"failed":0`) || strings.Count(out, "no table is relevant") != 3 {
		t.Errorf("%v\n%s%s", err, out, notes)
	}
}

func TestRunGivesUp(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":{"message":"no such key"}}`)
	}))
	defer server.Close()
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1", "TEXTTOSQL_DATA": data(t)}
	out, _, err := evaluate(t, env, "run", "--dataset", "spider_dev", "--strategy", "direct", "--model", "openai:m",
		"--json", "--rounds", "50")
	// Three questions are fewer than giveUp: all are asked, and fail.
	if err == nil || !strings.Contains(err.Error(), "all 3 questions failed, the last one with: ") ||
		!strings.Contains(out, `"failed":3`) {
		t.Errorf("got %v\n%s", err, out)
	}
}

func TestCancelledRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, notes bytes.Buffer
	err := run(ctx, []string{"votes", "--data", data(t), "--pool", "spider_dev/all"}, &out, &notes, func(string) string {
		return ""
	})
	if err == nil || out.Len() > 0 {
		t.Errorf("got %v\n%s", err, out.String())
	}
}

// TestRunPhases: run knows simulated models.
func TestRunPhases(t *testing.T) {
	dir := data(t)
	out, _ := measured(t, nil, "run", "--data", dir, "--dataset", "spider_dev", "--strategy", "maker", "--model",
		"phases:spider_dev/all?keep=scope", "--samples", "3", "--json")
	lines := objects(t, out)
	if last := lines[len(lines)-1]; last["model_kind"] != "simulated" || last["n"] != 3.0 {
		t.Errorf("got %v", last)
	}
}
