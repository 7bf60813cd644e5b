package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/texttosql/texttosql/trace"
)

func request(text string, sample int) llm.Request {
	temperature := 0.8
	return llm.Request{
		Messages:    []llm.Message{{Role: llm.System, Text: "One statement."}, {Role: llm.User, Text: text}},
		Purpose:     "generate",
		Sample:      sample,
		Temperature: &temperature,
		MaxTokens:   new(512),
	}
}

// outcomes is one of everything that can be recorded, for samples 0, 1, ….
func outcomes() []llmtest.Reply {
	return []llmtest.Reply{
		{Text: "SELECT name FROM singer WHERE age < 30 AND name <> 'é'", Model: "m-1",
			Usage: llm.Usage{Calls: 1, PromptTokens: 40, CompletionTokens: 12,
				Money: .002, Known: true}},
		{Text: "SELECT\nname", Stop: llm.StopLength},
		{Text: "not \xff UTF-8"},
		{Err: &llm.Error{Class: llm.ClassRateLimit, Status: 429, RetryAfter: 1500 * time.Microsecond,
			Message: "slow down, key=abc"}},
		{Err: &llm.Error{Class: llm.ClassOverloaded, Err: io.ErrUnexpectedEOF}},
		{Err: io.EOF},
	}
}

func script(replies ...llmtest.Reply) *llmtest.Script {
	return &llmtest.Script{Rules: []llmtest.Rule{{Replies: replies}}}
}

// record makes a recording of one call a sample.
func record(t *testing.T, m llm.Model, samples int) []byte {
	t.Helper()
	var file bytes.Buffer
	rec := replay.NewRecorder(&file)
	m = llm.Chain(m, rec.Record)
	for sample := range samples {
		m.Complete(t.Context(), request("How many singers?\nDDL", sample))
	}
	testutil.OK(t, rec.Close())
	return file.Bytes()
}

func player(t *testing.T, file []byte) *replay.Player {
	t.Helper()
	p := testutil.Value(replay.NewPlayer(bytes.NewReader(file)))(t)
	return p
}

// The file is read by later versions of this package: its bytes are the contract.
func TestFormatGolden(t *testing.T) {
	got := record(t, llm.Named("m", script(outcomes()...)), len(outcomes()))
	golden.Check(t, "v1.jsonl", got)
}

func TestReplayEqualsRun(t *testing.T) {
	live := llm.Named("m", script(outcomes()...))
	p := player(t, record(t, live, len(outcomes())))
	if got := llm.NameOf(p); got != "m" {
		t.Errorf("NameOf = %q, want the name of the only model", got)
	}
	for sample := range outcomes() {
		want, wantErr := live.Complete(t.Context(), request("How many singers?\nDDL", sample))
		got, err := p.Complete(t.Context(), request("How many singers?\nDDL", sample))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sample %d (-run +replay):\n%s", sample, diff)
		}
		if (err == nil) != (wantErr == nil) || llm.ClassOf(err) != llm.ClassOf(wantErr) {
			t.Errorf("sample %d: error = %v, want %v", sample, err, wantErr)
		}
		var e, wantE *llm.Error
		if errors.As(wantErr, &wantE) && errors.As(err, &e) {
			if e.Error() != wantE.Error() || e.Status != wantE.Status || e.RetryAfter < wantE.RetryAfter {
				t.Errorf("sample %d: error = %#v, want %#v", sample, e, wantE)
			}
		}
	}
}

// The whole point: a run around which the recorder sat directly gives the same
// trace again, attempts and all.
func TestReplayGivesTheSameTrace(t *testing.T) {
	run := func(m llm.Model) (comparable []byte) {
		synctest.Test(t, func(t *testing.T) {
			root := trace.Tracer{}.New("ask")
			ctx := trace.NewContext(t.Context(), root)
			m := llm.Chain(m, llm.Retry{}.Middleware(), llm.Timeout(time.Minute), llm.Trace())
			var wg sync.WaitGroup
			for sample := range 4 {
				wg.Go(func() { m.Complete(ctx, request("q", sample)) })
			}
			wg.Wait()
			comparable = testutil.Value(root.Comparable())(t)
		})
		return comparable
	}
	limited := &llm.Error{Class: llm.ClassRateLimit, Status: 429, RetryAfter: time.Second, Message: "slow down"}
	live := llm.Named("m", &llmtest.Script{Rules: []llmtest.Rule{
		{Times: 2, Replies: []llmtest.Reply{{Text: "first"}, {Err: limited}, {Err: &llm.Error{Class: llm.ClassRefused}},
			{Err: io.EOF}}},
		{Replies: llmtest.Texts("0", "1", "2", "3")},
	}})
	var file bytes.Buffer
	rec := replay.NewRecorder(&file)
	want := run(llm.Chain(live, rec.Record))
	for i := range 3 {
		if diff := cmp.Diff(string(want), string(run(player(t, file.Bytes())))); diff != "" {
			t.Fatalf("replay %d (-run +replay):\n%s", i, diff)
		}
	}
}

// TestReplayAnswersAsk: the second call of llm.Ask is a call like the first: paid for, traced, and found in a
// recording.
func TestReplayAnswersAsk(t *testing.T) {
	type count struct{ Singers int }
	ask := func(ctx context.Context, m llm.Model) (count, error) {
		return llm.Ask[count](ctx, m, request("How many singers?", 0), nil)
	}
	model := &llmtest.Script{Rules: []llmtest.Rule{{Contains: "cannot be used", Replies: llmtest.Texts(`{"singers": 7}`)},
		{Replies: llmtest.Texts("Seven.")}}}
	var file bytes.Buffer
	rec, account, root := replay.NewRecorder(&file), llm.Budget{Calls: 2}.Start(), trace.Tracer{}.New("question")
	first, err := ask(trace.NewContext(t.Context(), root), llm.Chain(model, llm.Trace(), account.Middleware(), rec.Record))
	if err := errors.Join(err, rec.Close()); err != nil || first.Singers != 7 || account.Usage().Calls != 2 ||
		len(root.Children()) != 2 {
		t.Fatalf("%+v, %v, %d calls, %d spans", first, err, account.Usage().Calls, len(root.Children()))
	}
	if again, err := ask(t.Context(), player(t, file.Bytes())); err != nil || again != first {
		t.Errorf("replayed: %+v, %v, want %+v", again, err, first)
	}
	if _, err := ask(t.Context(), llm.Chain(model, llm.Budget{Calls: 1}.Start().Middleware())); !errors.Is(err,
		llm.ErrBudget) {
		t.Errorf("one call is paid for: %v", err)
	}
}

func TestMissing(t *testing.T) {
	p := player(t, record(t, llm.Named("m", script(llmtest.Texts("a", "b")...)), 2))
	tests := []struct {
		why string
		req llm.Request
		m   llm.Model
		say []string
	}{
		{"another sample", request("How many singers?\nDDL", 7), p,
			[]string{`"generate" of model "m"`, "sample 7", "(2 of its samples recorded)", "How many singers?"}},
		{"another question", request("How many songs?", 0), p, []string{"sample 0", "(0 of its samples recorded)",
			"How many songs?"}},
		{"another model", request("How many singers?\nDDL", 0), p.Model("n"), []string{`model "n"`}},
		{"no message", llm.Request{Purpose: "judge"}, p, []string{`"judge"`}},
		{"a long line", request(strings.Repeat("長", 200), 0), p, []string{strings.Repeat("長", 20)}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			_, err := tt.m.Complete(t.Context(), tt.req)
			var missing *replay.MissingError
			if !errors.As(err, &missing) || llm.ClassOf(err) != llm.ClassPermanent {
				t.Fatalf("error = %v, want a permanent MissingError", err)
			}
			if missing.Hash != tt.req.Hash() || missing.Sample != tt.req.Sample || missing.Purpose != tt.req.Purpose {
				t.Errorf("error = %+v", missing)
			}
			for _, part := range append(tt.say, tt.req.Hash()[:16]) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %s", err, part)
				}
			}
		})
	}
}

func TestKey(t *testing.T) {
	p := player(t, record(t, script(llmtest.Texts("a")...), 1))
	base := request("How many singers?\nDDL", 0)
	testutil.Value(p.Complete(t.Context(), base))(t)
	changes := map[string]func(*llm.Request){
		"purpose":     func(r *llm.Request) { r.Purpose = "link" },
		"draw":        func(r *llm.Request) { r.Sample = 1 },
		"temperature": func(r *llm.Request) { r.Temperature = nil },
		"limit":       func(r *llm.Request) { r.MaxTokens = new(513) },
		"seed":        func(r *llm.Request) { r.Seed = new(8) },
		"top_p":       func(r *llm.Request) { r.TopP = new(0.9) },
		"stop":        func(r *llm.Request) { r.Stop = []string{";"} },
		"message":     func(r *llm.Request) { r.Messages = r.Messages[1:] },
	}
	for what, change := range changes {
		req := base
		change(&req)
		if resp, err := p.Complete(t.Context(), req); err == nil {
			t.Errorf("another %s is answered: %+v", what, resp)
		}
	}
}

func TestSequenceOfOneKey(t *testing.T) {
	live := &llmtest.Script{Rules: []llmtest.Rule{
		{Times: 2, Replies: llmtest.Errors(io.EOF)},
		{Times: 1, Replies: llmtest.Texts("third")},
	}}
	var file bytes.Buffer
	rec := replay.NewRecorder(&file)
	m := llm.Chain(live, rec.Record)
	for range 3 {
		m.Complete(t.Context(), request("q", 0))
	}
	p := player(t, file.Bytes())
	for n := range 5 {
		resp, err := p.Complete(t.Context(), request("q", 0))
		if n < 2 && err == nil || n >= 2 && resp.Text != "third" {
			t.Errorf("call %d: %+v, %v", n, resp, err)
		}
	}
}

func TestSeveralModels(t *testing.T) {
	var file bytes.Buffer
	rec := replay.NewRecorder(&file)
	for _, name := range []string{"b", "a", ""} {
		m := llm.Chain(llm.Named(name, script(llmtest.Texts("from "+name)...)), rec.Record)
		testutil.Value(m.Complete(t.Context(), request("q", 0)))(t)
	}
	p := player(t, file.Bytes())
	golden.Equal(t, []string{"", "a", "b"}, p.Models(), "Models")
	for _, name := range p.Models() {
		m := p.Model(name)
		resp, err := m.Complete(t.Context(), request("q", 0))
		if err != nil || resp.Text != "from "+name || llm.NameOf(m) != name {
			t.Errorf("model %q: %q, %v, name %q", name, resp.Text, err, llm.NameOf(m))
		}
	}
	if p.Name() != "" {
		t.Errorf("Name = %q, although there are several", p.Name())
	}
}

func TestWhatIsNotRecorded(t *testing.T) {
	var file bytes.Buffer
	rec := replay.NewRecorder(&file)
	m := llm.Chain(script(llmtest.Texts("a")...), rec.Record, llm.Budget{Calls: 1}.Start().Middleware())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m.Complete(ctx, request("cancelled", 0))
	m.Complete(t.Context(), request("made", 0))
	if _, err := m.Complete(t.Context(), request("no budget", 0)); !errors.Is(err, llm.ErrBudget) {
		t.Errorf("error = %v", err)
	}
	if n := bytes.Count(file.Bytes(), []byte("\n")); n != 1 || !bytes.Contains(file.Bytes(), []byte(`"made"`)) {
		t.Errorf("recorded:\n%s", file.Bytes())
	}
}

func TestRecorderPassesErrorsOn(t *testing.T) {
	fault := &llm.Error{Class: llm.ClassRefused, Message: "no"}
	m := replay.NewRecorder(io.Discard).Record(script(llmtest.Errors(fault)...))
	if _, err := m.Complete(t.Context(), request("q", 0)); err != error(fault) {
		t.Errorf("error = %v, want the model's own", err)
	}
}

func TestPlayerConformance(t *testing.T) {
	llmtest.Conformance(t, func(t *testing.T, b string) llm.Model {
		if b == "fails" {
			return player(t, nil) // nothing is recorded
		}
		if b != "answers" {
			return nil
		}
		// The suite's requests are its own: record them on the way.
		var file bytes.Buffer
		rec := replay.NewRecorder(&file)
		live := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("x"), Repeat: true}}}
		return player(t, nil).Or(llm.Chain(live, rec.Record))
	})
}

// TestOrCounts: a run that sends the same request twice gets both replies again, in their order, and asks on where they
// end.
func TestOrCounts(t *testing.T) {
	failing := llmtest.Reply{Err: &llm.Error{Class: llm.ClassPermanent, Message: "no"}}
	tests := []struct {
		why      string
		recorded []llmtest.Reply
		want     string
		live     int
	}{
		{"nothing recorded", nil, "live live live", 3},
		{"one of three", llmtest.Texts("a"), "a live live", 2},
		{"all in order", llmtest.Texts("a", "b", "c"), "a b c", 0},
		{"an error between is left out", []llmtest.Reply{{Text: "a"}, failing, {Text: "c"}}, "a c live", 1},
		{"more than are asked for", llmtest.Texts("a", "b", "c", "d"), "a b c", 0},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			var file bytes.Buffer
			rec := replay.NewRecorder(&file)
			for _, r := range tt.recorded {
				llm.Chain(script(r), rec.Record).Complete(t.Context(), request("q", 0))
			}
			live := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("live"), Repeat: true}}}
			m := player(t, file.Bytes()).Or(live)
			var got []string
			for range 3 {
				resp := testutil.Value(m.Complete(t.Context(), request("q", 0)))(t)
				got = append(got, resp.Text)
			}
			if strings.Join(got, " ") != tt.want || len(live.Requests()) != tt.live {
				t.Errorf("replies %q with %d live calls, want %q with %d", got, len(live.Requests()), tt.want, tt.live)
			}
		})
	}
}

// TestPlayerUsage: the sum does not depend on the order of the lines, as that of floats would.
func TestPlayerUsage(t *testing.T) {
	line := func(draw int, money string) string {
		const form = `{"v":1,"hash":"a","draw":%d,"reply":{"text":"x","usage":{"calls":1,"prompt_tokens":2,"completion_tokens":1,"money":%s,"known":true}}}`
		return fmt.Sprintf(form+"\n", draw, money)
	}
	lines := []string{line(0, "0.1"), line(1, "0.2"), line(2, "0.3"),
		`{"v":1,"hash":"a","draw":3,"error":{"class":"overloaded"}}` + "\n"}
	want := player(t, []byte(strings.Join(lines, ""))).Usage()
	if want.Calls != 3 || want.PromptTokens != 6 || want.CompletionTokens != 3 || !want.Known {
		t.Errorf("usage = %+v", want)
	}
	slices.Reverse(lines)
	if got := player(t, []byte(strings.Join(lines, ""))).Usage(); got != want {
		t.Errorf("in another order %+v, want %+v", got, want)
	}
	if got := player(t, nil).Usage(); got != (llm.Usage{}) {
		t.Errorf("of nothing: %+v", got)
	}
}
