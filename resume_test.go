package texttosql_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// TestJournalIsClosed however the loop ends.
func TestJournalIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	held := func() (n int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("the system does not list open files:", err)
		}
		for _, e := range entries {
			if target, _ := os.Readlink(filepath.Join("/proc/self/fd", e.Name())); target == path {
				n++
			}
		}
		return n
	}
	e := engine(t, always(usa), texttosql.WithStrategy(strategy.Direct{}))
	for name, leave := range map[string]func(){"goexit": runtime.Goexit, "panic": func() { panic("mine") }} {
		var done sync.WaitGroup
		done.Add(1)
		go func() {
			defer done.Done()
			defer func() { recover() }()
			for range e.AskAll(t.Context(), slices.Values(asked("a", "b")), texttosql.Batch{Journal: path}) {
				leave()
			}
		}()
		done.Wait()
		if n := held(); n > 0 {
			t.Errorf("%s: the journal is open %d times", name, n)
		}
	}
}

// journaled runs a batch with a journal.
func journaled(t *testing.T, e *texttosql.Engine, path string, questions []texttosql.Question) []texttosql.Answer {
	t.Helper()
	var all []texttosql.Answer
	for a := range e.AskAll(t.Context(), slices.Values(questions), texttosql.Batch{Parallel: 2, Journal: path}) {
		all = append(all, a)
	}
	return all
}

// batchModel answers by the question's first word and counts the calls.
type batchModel struct {
	mu    sync.Mutex
	calls int
	up    bool // the provider of "down" and "part" is up
}

func (m *batchModel) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	text := req.Messages[len(req.Messages)-1].Text
	word, _, _ := strings.Cut(text[strings.LastIndex(text, "### Question\n")+len("### Question\n"):], " ")
	down := &llm.Error{Class: llm.ClassPermanent, Message: "out of service"}
	switch word {
	case "unsure":
		return llm.Response{Text: []string{usa, "SELECT 1", "SELECT 2"}[req.Sample%3]}, nil
	case "unsafe":
		return llm.Response{Text: "DROP TABLE orders"}, nil
	case "down":
		if !m.up {
			return llm.Response{}, down
		}
	case "part": // one reply is of no use, the others do not come
		if !m.up && req.Sample > 0 {
			return llm.Response{}, down
		}
		if !m.up {
			return llm.Response{Text: "I cannot."}, nil
		}
	}
	return llm.Response{Text: usa}, nil
}

func (m *batchModel) since(calls int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls - calls
}

var sure = texttosql.WithStrategy(strategy.Consensus{Samples: 3, MinConfidence: 0.7, WithoutRepair: true, WithoutJudge: true})

// TestAskAllResumes: what was finished comes from the journal with everything but
// rows, which are read again; what a provider ended is asked again.
func TestAskAllResumes(t *testing.T) {
	model := &batchModel{}
	db := open(t, shop)
	newEngine := func() *texttosql.Engine {
		e, err := texttosql.New(db, llm.Named("m", model), sure)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	questions := asked("who lives in the USA?", "unsure about it", "unsafe wish", "down it is", "part of it", "caf\xe9 \xff who?", "who lives in the USA?")
	questions[6].ID = questions[0].ID // the very same question twice
	first := journaled(t, newEngine(), path, questions)
	for i, want := range []error{nil, texttosql.ErrAbstained, texttosql.ErrNoCandidate, texttosql.ErrNoCandidate, texttosql.ErrNoCandidate, nil, nil} {
		if !errors.Is(first[i].Err, want) || first[i].Resumed {
			t.Fatalf("first run: %s", said(first[i]))
		}
	}

	if _, err := db.Exec("INSERT INTO customers VALUES (4,'Dee','USA',NULL)"); err != nil {
		t.Fatal(err)
	}
	model.up = true
	calls := model.since(0)
	second := journaled(t, newEngine(), path, questions)
	for i, resumed := range []bool{true, true, true, false, false, true, true} {
		a, b := first[i], second[i]
		if b.Resumed != resumed {
			t.Errorf("%s: resumed %v, want %v", a.Question.Text, b.Resumed, resumed)
		}
		if !resumed {
			if b.Err != nil || b.Result.SQL != usa {
				t.Errorf("asked again: %s", said(b))
			}
			continue
		}
		if fmt.Sprint(a.Err) != fmt.Sprint(b.Err) || a.Question != b.Question {
			t.Errorf("%s came back as %s", said(a), said(b))
		}
		for _, is := range []error{texttosql.ErrAbstained, texttosql.ErrNoCandidate} {
			if errors.Is(a.Err, is) != errors.Is(b.Err, is) {
				t.Errorf("%v lost its identity: %v", a.Err, b.Err)
			}
		}
		if a.Result.SQL != b.Result.SQL || a.Result.Confidence != b.Result.Confidence || len(a.Result.Candidates) != len(b.Result.Candidates) ||
			a.Result.Usage != b.Result.Usage || a.Result.Ballot.Explain() != b.Result.Ballot.Explain() || b.Result.Trace == nil || b.Result.Trace.Name() != "question" {
			t.Errorf("%s came back as %+v, was %+v", a.Question.Text, b.Result, a.Result)
		}
	}
	if got := len(second[0].Result.Rows.Rows); got != 3 {
		t.Errorf("%d rows: they were not read again", got)
	}
	if second[0].Result == second[6].Result {
		t.Error("two answers share a result")
	}
	if n := model.since(calls); n != 4 { // two questions, decided after two of three samples each
		t.Errorf("%d calls for two questions", n)
	}
	var abstained *strategy.AbstainedError
	if !errors.As(second[1].Err, &abstained) || abstained.Min != 0.7 {
		t.Errorf("the bound is lost: %+v", abstained)
	}
	var none *strategy.NoCandidateError
	if !errors.As(second[2].Err, &none) || len(none.Rejected) != 3 {
		t.Errorf("the reasons are lost: %+v", none)
	}

	calls = model.since(0)
	for _, a := range journaled(t, newEngine(), path, questions) {
		if !a.Resumed {
			t.Errorf("third run: %s was asked again", a.Question.Text)
		}
	}
	if n := model.since(calls); n != 0 {
		t.Errorf("third run: %d calls", n)
	}
}

// TestResumeOfTooFewVotes: why there was no answer comes back in the same words.
func TestResumeOfTooFewVotes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	pipeline := strategy.Pipeline{Sampler: strategy.Sampler{Samples: 3, MinVotes: 3}, Voter: vote.Majority{}}
	model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(usa, "DROP TABLE orders", usa)}}}
	var got []string
	for range 2 {
		e, err := texttosql.New(open(t, shop), model, texttosql.WithStrategy(pipeline))
		if err != nil {
			t.Fatal(err)
		}
		a := journaled(t, e, path, asked("q"))[0]
		if !errors.Is(a.Err, strategy.ErrQuorum) || a.Resumed != (len(got) == 1) {
			t.Errorf("resumed %v: %v", a.Resumed, a.Err)
		}
		got = append(got, said(a))
	}
	if got[0] != got[1] {
		t.Errorf("first %s\nthen  %s", got[0], got[1])
	}
}

// TestResumeIsUnderGuardAndLimits: rows of a resumed answer are read as those of
// a fresh one.
func TestResumeIsUnderGuardAndLimits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	db := open(t, shop)
	ask := func(model llm.Model, opts ...texttosql.Option) texttosql.Answer {
		e, err := texttosql.New(db, model, append(opts, texttosql.WithStrategy(strategy.Direct{}))...)
		if err != nil {
			t.Fatal(err)
		}
		return journaled(t, e, path, asked("q"))[0]
	}
	endless := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	if a := ask(always(endless), texttosql.WithoutExecution()); a.Err != nil {
		t.Fatal(a.Err)
	}
	if a := ask(always(usa), texttosql.WithoutExecution()); !a.Resumed || a.Err != nil || a.Result.Rows != nil {
		t.Errorf("WithoutExecution: %s", said(a))
	}
	if _, err := db.Exec("DROP TABLE orders; DROP TABLE customers; " + shop); err != nil { // the schema is the same, its version is not
		t.Fatal(err)
	}
	limited := texttosql.WithLimits(exec.Limits{Answer: exec.Bounds{Timeout: 500 * time.Millisecond}})
	if a := ask(always(usa), limited); !a.Resumed || !errors.Is(a.Err, texttosql.ErrBudget) || a.Result.SQL != endless {
		t.Errorf("got %s", said(a))
	}
}

// TestJournalIsOfOneEngine refuses the journal of another one and leaves it as
// it was.
func TestJournalIsOfOneEngine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	ask := func(db string, opts ...texttosql.Option) string {
		e, err := texttosql.New(open(t, db), llm.Named("m", always(usa)), opts...)
		if err != nil {
			t.Fatal(err)
		}
		return said(journaled(t, e, path, asked("q"))[0])
	}
	if got := ask(shop); !strings.HasPrefix(got, "q: SELECT") {
		t.Fatal(got)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		"other fields":     ask(shop, texttosql.WithStrategy(strategy.Consensus{MinConfidence: 0.5})),
		"another strategy": ask(shop, texttosql.WithStrategy(strategy.Direct{})),
		"another schema":   ask(shop + "CREATE TABLE t (x);"),
		"other options":    ask(shop, texttosql.WithSamples(3)),
		"asking the user":  ask(shop, texttosql.WithAskBelow(0.6)),
		"another model":    ask(shop, texttosql.WithModels(llm.Named("n", always(usa)))),
	} {
		if !strings.Contains(got, "another engine") || !strings.Contains(got, path) {
			t.Errorf("%s: %s", name, got)
		}
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the journal was changed: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the journal: %v, %v", info.Mode(), err)
	}
}

// TestJournalOfTwoBatches: two batches on one file, by mistake, lose nothing.
func TestJournalOfTwoBatches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	db := open(t, shop)
	run := func(texts ...string) []texttosql.Answer {
		e, err := texttosql.New(db, always(usa), texttosql.WithStrategy(strategy.Direct{}))
		if err != nil {
			t.Error(err)
			return nil
		}
		var all []texttosql.Answer
		for a := range e.AskAll(t.Context(), slices.Values(asked(texts...)), texttosql.Batch{Journal: path}) {
			all = append(all, a)
		}
		return all
	}
	texts := strings.Fields("a b c d e f g h i j k l m n o p")
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { run(texts...) })
	}
	both.Wait()
	for _, a := range run(texts...) {
		if a.Err != nil || !a.Resumed {
			t.Errorf("not resumed: %s", said(a))
		}
	}
	if len(run()) != 0 {
		t.Error("the journal cannot be read again")
	}
}

// TestJournalDamage: a line that cannot be read costs its question, and a file that is no journal is not touched.
func TestJournalDamage(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.jsonl")
	db := open(t, shop)
	run := func(path string) []string {
		e, err := texttosql.New(db, always(usa), texttosql.WithStrategy(strategy.Direct{}))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range journaled(t, e, path, asked("a", "b", "c")) {
			if a.Resumed {
				got = append(got, "resumed "+a.Question.Text)
			} else {
				got = append(got, said(a))
			}
		}
		return got
	}
	run(whole)
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n")) // header, a, b, c, ""
	slices.SortFunc(lines[1:4], bytes.Compare)    // they stand in the order in which they ended
	text = bytes.Join(lines, nil)
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	fresh := func(q string) string { return q + ": " + usa + " [[Ada] [Cyd]]" }
	resumed := func(q string) string { return "resumed " + q }
	tests := []struct {
		name string
		file []byte
		want []string // answers; or part of the one error
		why  string
	}{
		{"whole", text, []string{resumed("a"), resumed("b"), resumed("c")}, "nothing is asked again"},
		{"torn in the middle", text[:len(text)-100], []string{resumed("a"), resumed("b"), fresh("c")}, "a crash while the last line was written"},
		{"torn before the line end", text[:len(text)-1], []string{resumed("a"), resumed("b"), resumed("c")}, "nothing of it is missing"},
		{
			"torn in the middle of the file", join(lines[0], lines[1], lines[2][:50], []byte("\n"), lines[3]),
			[]string{resumed("a"), fresh("b"), resumed("c")}, "a crash, and a batch that went on behind it",
		},
		{"no start of a line at the end", join(lines[0], lines[1], []byte("\x00\x00\x00")), []string{resumed("a"), fresh("b"), fresh("c")}, "a crash of the machine"},
		{"blank line", join(lines[0], []byte("\n"), lines[1]), []string{resumed("a"), fresh("b"), fresh("c")}, "a batch began while another wrote"},
		{"torn header", lines[0][:10], []string{fresh("a"), fresh("b"), fresh("c")}, "a crash right at the start"},
		{"empty", nil, []string{fresh("a"), fresh("b"), fresh("c")}, "a crash before the start"},
		{"header alone", lines[0], []string{fresh("a"), fresh("b"), fresh("c")}, "nothing was finished"},
		{"corrupt line", join(lines[0], lines[1], []byte("{\"asked\":}\n"), lines[3]), []string{resumed("a"), fresh("b"), resumed("c")}, "it costs its question"},
		{"binary line", join(lines[0], []byte("\x00\x01\xff\n"), lines[2], lines[3]), []string{fresh("a"), resumed("b"), resumed("c")}, "the same"},
		{
			"line without a result", join(lines[0], []byte("{\"asked\":{\"question\":\"a\"},\"outcome\":\"answered\"}\n"), lines[2]),
			[]string{fresh("a"), resumed("b"), fresh("c")}, "of no use",
		},
		{"null", join(lines[0], []byte("null\n"), lines[3]), []string{fresh("a"), fresh("b"), resumed("c")}, "of no use"},
		{
			"answer without a statement", join(lines[0], []byte("{\"asked\":{\"question\":\"a\"},\"outcome\":\"answered\",\"result\":{}}\n"), lines[2]),
			[]string{fresh("a"), resumed("b"), fresh("c")}, "of no use",
		},
		{
			"unknown outcome", join(lines[0], []byte("{\"asked\":{\"question\":\"a\"},\"outcome\":\"maybe\",\"result\":{}}\n"), lines[2]),
			[]string{fresh("a"), resumed("b"), fresh("c")}, "of a later version",
		},
		{"no header", join(lines[1:]...), []string{"another engine"}, "the first line is its head"},
		{"some other file", []byte("a,b,c\n1,2,3\n"), []string{"line 1: no journal of AskAll"}, "not ours"},
		{"some other file without a line end", []byte("SQLite format 3\x00 and so on"), []string{"no journal of AskAll"}, "and never to be overwritten"},
		{"a journal of an earlier release", bytes.Replace(lines[0], []byte(`"version":2`), []byte(`"version":1`), 1),
			[]string{"its lines are of version 1, this texttosql reads version 2: use another file"}, "told as such"},
		{"a later version", bytes.Replace(lines[0], []byte(`"version":2`), []byte(`"version":3`), 1), []string{"version 3"}, "the same"},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", i))
			if err := os.WriteFile(path, tt.file, 0o600); err != nil {
				t.Fatal(err)
			}
			got := run(path)
			if len(tt.want) == 3 {
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tt.why, diff)
				}
				// What was mended is a whole journal again.
				if again := run(path); !slices.Equal(again, []string{resumed("a"), resumed("b"), resumed("c")}) {
					t.Errorf("the next run: %q", again)
				}
				return
			}
			if len(got) != 1 || !strings.Contains(got[0], tt.want[0]) || !strings.Contains(got[0], path) {
				t.Errorf("got %q, want %q with the file's name: %s", got, tt.want, tt.why)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, tt.file) {
				t.Errorf("the file was changed: %v", err)
			}
		})
	}
}

// TestJournalCannotBeOpened says so once, without asking anything.
func TestJournalCannotBeOpened(t *testing.T) {
	model := always(usa)
	e := engine(t, model)
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing", "journal.jsonl")} {
		got := journaled(t, e, path, asked("a", "b"))
		if len(got) != 1 || got[0].Err == nil || got[0].Result != nil || !strings.Contains(got[0].Err.Error(), path) {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if len(model.Requests()) > 0 {
		t.Errorf("%d calls", len(model.Requests()))
	}
}

// TestJournalKeepsOutOfTurn: a question is in the file when it ends, while one before it is still being asked.
func TestJournalKeepsOutOfTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	kept := func(q string) bool {
		text, err := os.ReadFile(path)
		return err == nil && bytes.Contains(text, []byte(`"question":"`+q+`"`))
	}
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if strings.Contains(req.Messages[len(req.Messages)-1].Text, "### Question\nslow") {
			for !kept("second") && ctx.Err() == nil { // it waits for the line of the other question
				runtime.Gosched()
			}
		}
		return llm.Response{Text: usa}, nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // only a failing test waits for it
	defer cancel()
	var order []string
	e := engine(t, model, texttosql.WithStrategy(strategy.Direct{}))
	for a := range e.AskAll(ctx, slices.Values(asked("slow", "second")), texttosql.Batch{Journal: path}) {
		if a.Err != nil {
			t.Fatal(a.Err)
		}
		order = append(order, a.Question.Text)
	}
	if diff := cmp.Diff([]string{"slow", "second"}, order); diff != "" || !kept("slow") {
		t.Error(diff)
	}
}

// TestBreakKeepsWhatIsFinished: leaving the loop loses no answer that was there.
func TestBreakKeepsWhatIsFinished(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	var answered sync.WaitGroup
	answered.Add(3)
	e := engine(t, always(usa), texttosql.WithStrategy(strategy.Direct{}), texttosql.WithProgress(func(p texttosql.Progress) {
		if p.Step == "question" && p.Kind.String() == "ended" {
			answered.Done()
		}
	}))
	for range e.AskAll(t.Context(), slices.Values(asked("a", "b", "c")), texttosql.Batch{Parallel: 3, Journal: path}) {
		answered.Wait()
		break
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n != 4 {
		t.Errorf("%d lines, want the header and three answers", n)
	}
}
