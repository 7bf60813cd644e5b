package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/texttosql/texttosql/examples/shop"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
)

func noEnv(string) string { return "" }

// TestMain is also the program that TestResumeAfterKill kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv("TALK_TEST_DIR"); dir != "" {
		calls, err := strconv.Atoi(os.Getenv("TALK_TEST_CALLS"))
		if err == nil {
			err = killed(context.Background(), dir, int64(calls))
		}
		fmt.Fprintln(os.Stderr, "not killed:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// killed plays the conversation and kills its own process at a call of the model.
func killed(ctx context.Context, dir string, at int64) error {
	s := readScript()
	var calls atomic.Int64
	model := llm.Named("scripted", llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if calls.Add(1) == at {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			if err != nil {
				return llm.Response{}, err
			}
			select {} // until it is dead
		}
		return s.Complete(ctx, req)
	}))
	db, closeDB, err := shop.Open("", twin)
	if err != nil {
		return err
	}
	defer closeDB()
	t, err := start(ctx, db, model, 1, dir, "", io.Discard)
	if err != nil {
		return err
	}
	return t.listen(ctx, strings.NewReader(strings.Join(s.Lines, "\n")), true)
}

// inOrder reports which of the parts is not in text, or not behind the one before.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			t.Errorf("%q is not there, or before its turn, in\n%s", part, text)
			return
		}
		rest = after
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	if err := run(t.Context(), []string{"-dir", dir}, nil, &out, noEnv); err != nil {
		t.Fatal(err)
	}
	inOrder(t, out.String(), "── session ", "> How many customers live in Portland?",
		"Which table is meant?\n  t1  customers", "  t2  clients", "> t1",
		"FROM customers WHERE city", "One statement; not voted on. 2 calls\n", "> How many of them", "o.status = 'open'",
		"avg(p.price)", "> no: pay means",
		"avg(i.unit_price)", "37.905",
		"> ok:", "kept", "> What will the weather", "no answer: ", "Ask again with the names",
		"── session ", "avg(i.unit_price)", "42.75", `by a lesson: "pay" is order_items.unit_price`)
}

// TestResumeAfterKill: the process is killed in a call of the first question, the choice, the follow-up and the
// correction; the next process ends the conversation as if nothing had been, and no call is made twice.
func TestResumeAfterKill(t *testing.T) {
	calls := func(dir string) int {
		files, err := filepath.Glob(filepath.Join(dir, "sessions", "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, f := range files {
			log, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			n += bytes.Count(log, []byte("\n"))
		}
		return n
	}
	whole := t.TempDir()
	if err := run(t.Context(), []string{"-dir", whole}, nil, io.Discard, noEnv); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{3, 8, 12, 26} {
		dir := t.TempDir()
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), "TALK_TEST_DIR="+dir, fmt.Sprint("TALK_TEST_CALLS=", at))
		if said, err := child.CombinedOutput(); err == nil || child.ProcessState.ExitCode() == 1 || len(said) > 0 {
			t.Fatalf("call %d: %v\n%s", at, err, said)
		}
		store, err := session.OpenFiles(filepath.Join(dir, "sessions"))
		if err != nil {
			t.Fatal(err)
		}
		list, err := store.List(t.Context(), session.Filter{})
		if err != nil || len(list) != 1 {
			t.Fatalf("call %d: %v, %v", at, list, err)
		}
		var out strings.Builder
		if err := run(t.Context(), []string{"-dir", dir, "-resume", list[0].ID}, nil, &out, noEnv); err != nil {
			t.Errorf("killed in call %d: %v", at, err)
		}
		inOrder(t, out.String(), "37.905", "no answer: ", "> What did people in Denver", "42.75")
		if got, want := calls(dir), calls(whole); got != want {
			t.Errorf("killed in call %d: %d calls, want %d", at, got, want)
		}
	}
}

// TestTyped: lines that make no sense are told and change nothing; a program that is stopped says how to go on.
func TestTyped(t *testing.T) {
	db, closeDB, err := shop.Open("", twin)
	if err != nil {
		t.Fatal(err)
	}
	defer closeDB()
	for _, tt := range []struct {
		why, lines string
		parts      []string
	}{
		{"an unknown option", "How many customers live in Portland?\nt9\nt2\n",
			[]string{"Which table", "t9", "choose one of t1, t2", "FROM clients"}},
		{"nothing to correct", "no: use table customers\n\nok\n", []string{"cannot be done now", "cannot be done now"}},
		{"a follow-up needs words of its own",
			"How many customers live in Portland?\nt1\nHow many of them have an open order?\nok\n",
			[]string{"ok: THE QUESTION IN FULL"}},
		{"a table that is not there", "How many customers live in Portland?\nno: use table people\nt1\n",
			[]string{"Which table", "people", "count(*)"}},
	} {
		var out strings.Builder
		talk, err := start(t.Context(), db, llm.Named("scripted", readScript()), 1, t.TempDir(), "", &out)
		if err != nil {
			t.Fatal(err)
		}
		if err := talk.listen(t.Context(), strings.NewReader(tt.lines), false); err != nil {
			t.Errorf("%s: %v", tt.why, err)
		}
		inOrder(t, out.String(), tt.parts...)
	}

	ctx, cancel := context.WithCancel(t.Context())
	var out strings.Builder
	s := readScript()
	model := llm.Named("scripted", llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		cancel()
		return s.Complete(ctx, req)
	}))
	talk, err := start(ctx, db, model, 1, t.TempDir(), "", &out)
	if err != nil {
		t.Fatal(err)
	}
	err = talk.listen(ctx, strings.NewReader("How many customers live in Portland?\n"), false)
	if err == nil || !regexp.MustCompile(`goes on with -dir \S+ -resume [0-9a-f]{32}`).MatchString(out.String()) {
		t.Errorf("cancelled: %v\n%s", err, out.String())
	}
}

func TestRunErrors(t *testing.T) {
	for _, test := range []struct {
		why  string
		args []string
		want string
	}{
		{"a question behind the flags", []string{"Who?"}, "typed once the program runs"},
		{"an id without its folder", []string{"-resume", "x"}, "-resume needs the -dir"},
		{"an id that is none", []string{"-dir", t.TempDir(), "-resume", "../x"}, "id"},
		{"an unknown id", []string{"-dir", t.TempDir(), "-resume", strings.Repeat("0", 32)}, "no session"},
		{"fewer samples than none", []string{"-n", "-1"}, "WithSamples"},
		{"a database without a model", []string{"-db", "nowhere.sqlite"}, "no model is configured"},
		{"a database that is not there", []string{"-model", "ollama:a", "-db", "nowhere.sqlite"}, "nowhere.sqlite"},
	} {
		if err := run(t.Context(), test.args, strings.NewReader(""), io.Discard, noEnv); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.why, err, test.want)
		}
	}
}
