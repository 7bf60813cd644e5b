package enginetest_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
)

// remembering is a cache of replies: equal requests for the same sample of one model get the first reply.
func remembering() llm.Middleware {
	var replies sync.Map
	return func(next llm.Model) llm.Model {
		return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
			key := fmt.Sprint(llm.NameOf(next), req.Hash(), req.Sample)
			if resp, ok := replies.Load(key); ok {
				return resp.(llm.Response), nil
			}
			resp, err := next.Complete(ctx, req)
			if err == nil {
				replies.Store(key, resp)
			}
			return resp, err
		})
	}
}

// TestRepeatedQuestion: there is no cache of results. Equal questions make equal requests, so a cache of replies or a
// recording answers them without a call, and whatever changes a prompt or a request misses.
func TestRepeatedQuestion(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "calls.jsonl")
	for _, tt := range []struct {
		name string
		with func(t *testing.T, m llm.Model, remembered llm.Middleware) llm.Model
	}{
		{"cache", func(_ *testing.T, m llm.Model, remembered llm.Middleware) llm.Model { return llm.Chain(m, remembered) }},
		{"recording", func(t *testing.T, m llm.Model, _ llm.Middleware) llm.Model {
			rec := testutil.Value(replay.Append(kept))(t)
			t.Cleanup(func() { rec.Close() })
			player := testutil.Value(replay.Open(kept))(t)
			return llm.Chain(m, player.Or, rec.Record)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db, script, remembered := open(t, shop), always(usa), remembering()
			// ask answers a question with a new engine, and returns what is known of the answer and the number of calls.
			ask := func(name string, evidence string, opts ...texttosql.Option) (string, int) {
				before := len(script.Requests())
				e := testutil.Value(texttosql.New(db, tt.with(t, llm.Named(name, script), remembered), opts...))(t)
				r := testutil.Value(e.Ask(t.Context(), "Which customers live in the USA?", texttosql.WithEvidence(evidence)))(t)
				r.Trace = nil // it has times
				text := testutil.Value(r.MarshalWithRows())(t)
				return string(text), len(script.Requests()) - before
			}
			for _, change := range []struct {
				why, model, evidence string
				opts                 []texttosql.Option
				schema               string
			}{
				{why: "the first time", model: "m"},
				{why: "another model", model: "n"},
				{why: "evidence", model: "m", evidence: "USA is written in capitals"},
				{why: "a description of a person", model: "m", opts: []texttosql.Option{
					texttosql.WithDescriptions(schema.Descriptions{"customers.country": {Text: "where they live"}})}},
				{why: "a description of a model", model: "m", opts: []texttosql.Option{
					texttosql.WithDescriptions(schema.Descriptions{"customers.country": {Described: "The country they live in."}})}},
				{why: "instructions", model: "m", opts: []texttosql.Option{texttosql.WithInstructions("Be brief.")}},
				{why: "a seed", model: "m", opts: []texttosql.Option{texttosql.WithSeed(7)}},
				{why: "a temperature", model: "m",
					opts: []texttosql.Option{texttosql.WithStrategy(strategy.Consensus{Temperature: 0.3})}},
				{why: "no values", model: "m", opts: []texttosql.Option{texttosql.WithoutValues()}},
				{why: "the schema", model: "m", schema: "ALTER TABLE orders ADD COLUMN note TEXT"},
				{why: "stored values, which are shown", model: "m",
					schema: "INSERT INTO customers VALUES (4, 'Dee', 'Chile', NULL)"},
			} {
				testutil.Value(db.Exec(change.schema))(t)
				first, calls := ask(change.model, change.evidence, change.opts...)
				if calls == 0 {
					t.Errorf("%s: no call was made", change.why)
				}
				again, calls := ask(change.model, change.evidence, change.opts...)
				if diff := cmp.Diff(first, again); diff != "" || calls > 0 {
					t.Errorf("%s, asked again: %d calls (-first +again):\n%s", change.why, calls, diff)
				}
			}
		})
	}
}

// killedBatch is what TestBatchKilled tells the processes that it starts.
type killedBatch struct {
	Database, Replies, Asked, Out string         // files
	Questions                     []goldQuestion // to be answered
	KillAt                        int            // the call at which the process kills itself; 0: it ends
}

type goldQuestion struct {
	Question, Gold string
}

// TestBatchKilled: a batch of 70 questions that is killed at some call and started anew pays for no reply that was
// recorded, and its answers are those of a batch that nobody killed.
func TestBatchKilled(t *testing.T) {
	if text := os.Getenv("TEXTTOSQL_TEST_BATCH"); text != "" {
		var b killedBatch
		testutil.OK(t, json.Unmarshal([]byte(text), &b))
		b.run(t)
		return
	}
	dir := t.TempDir()
	whole := killedBatch{Database: filepath.Join(dir, "shop.sqlite")}
	db := testutil.Value(sql.Open("sqlite3", "file:"+whole.Database))(t)
	defer db.Close()
	testutil.Value(db.Exec(shop))(t)
	for i := range 70 {
		sql := fmt.Sprintf("SELECT name FROM customers WHERE id > %d", i)
		whole.Questions = append(whole.Questions, goldQuestion{Question: fmt.Sprintf("Who has a number over %d?", i),
			Gold: sql})
	}
	in := func(b killedBatch, name string) killedBatch {
		b.Replies, b.Asked, b.Out = filepath.Join(dir, name+".replies"), filepath.Join(dir, name+".asked"),
			filepath.Join(dir, name+".out")
		return b
	}
	whole = in(whole, "whole")
	want := whole.start(t)
	calls := len(lines(t, whole.Asked))
	random, times := rand.New(rand.NewPCG(1, 2)), 4
	if race.Enabled {
		times = 2
	}
	for i := range times {
		b := in(whole, fmt.Sprint(i))
		b.KillAt = 1 + random.IntN(calls-1)
		b.start(t)
		if i%2 == 1 { // as if the machine had stopped within the last line
			text := testutil.Value(os.ReadFile(b.Replies))(t)
			testutil.OK(t, os.WriteFile(b.Replies, text[:len(text)-20], 0o600))
		}
		kept := 0
		for _, line := range lines(t, b.Replies) {
			if json.Valid([]byte(line)) {
				kept++
			}
		}
		before := len(lines(t, b.Asked))
		b.KillAt = 0
		if diff := cmp.Diff(want, b.start(t)); diff != "" {
			t.Errorf("killed after %d calls (-undisturbed +resumed):\n%s", before, diff)
		}
		t.Logf("%d of %d calls before it was killed, %d replies were recorded", before, calls, kept)
		if again := len(lines(t, b.Asked)) - before; kept == 0 || again != calls-kept {
			t.Errorf("%d calls after %d of %d were recorded", again, kept, calls)
		}
	}
}

// lines are the lines of a file; one that is not there has none.
func lines(t *testing.T, path string) []string {
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(text)))
}

// start runs the batch in a process of its own, and returns its answers.
func (b killedBatch) start(t *testing.T) string {
	t.Helper()
	text := testutil.Value(json.Marshal(b))(t)
	cmd := osexec.Command(os.Args[0], "-test.run=^TestBatchKilled$")
	cmd.Env = append(os.Environ(), "TEXTTOSQL_TEST_BATCH="+string(text))
	out, err := cmd.CombinedOutput()
	if b.KillAt > 0 {
		if err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("the process was not killed: %v\n%s", err, out)
		}
		return ""
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.Join(lines(t, b.Out), "")
}

// run is the batch. It writes down which questions it asks, and all answers when it ends.
func (b killedBatch) run(t *testing.T) {
	log := testutil.Value(os.OpenFile(b.Asked, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))(t)
	defer log.Close()
	gold := map[string]string{}
	var questions []texttosql.Question
	for _, q := range b.Questions {
		gold[q.Question] = q.Gold
		questions = append(questions, texttosql.Question{Text: q.Question})
	}
	var mu sync.Mutex
	calls := 0
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		_, text, _ := strings.Cut(req.Messages[len(req.Messages)-1].Text, "### Question\n")
		text, _, _ = strings.Cut(text, "\n")
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls == b.KillAt {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill() // SIGKILL
			}
			if err != nil {
				return llm.Response{}, err
			}
			select {}
		}
		if _, err := log.WriteString(text + "\n"); err != nil {
			return llm.Response{}, err
		}
		return llm.Response{Text: gold[text], StopReason: llm.StopEnd}, nil
	})
	db := testutil.Value(sql.Open("sqlite3", "file:"+b.Database+"?mode=ro"))(t)
	defer db.Close()
	rec := testutil.Value(replay.Append(b.Replies))(t)
	defer rec.Close()
	player := testutil.Value(replay.Open(b.Replies))(t)
	e, err := texttosql.New(db, llm.Chain(llm.Named("m", model), player.Or, rec.Record),
		texttosql.WithStrategy(strategy.SelfConsistency{Samples: 2}))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for r, err := range e.AskAll(t.Context(), slices.Values(questions), 0) {
		a := answer{r, err}
		if a.Result == nil {
			t.Fatal(a.Err)
		}
		a.Result.Trace, a.Result.Warnings = nil, nil // times; what the first question of a process is told
		text := testutil.Value(a.Result.MarshalWithRows())(t)
		fmt.Fprintf(&out, "%s %v\n", text, a.Err)
	}
	testutil.OK(t, os.WriteFile(b.Out, out.Bytes(), 0o600))
}
