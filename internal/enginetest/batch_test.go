package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// asked makes questions of texts.
func asked(texts ...string) []texttosql.Question {
	questions := make([]texttosql.Question, len(texts))
	for i, text := range texts {
		questions[i] = texttosql.Question{ID: fmt.Sprint(i), Text: text}
	}
	return questions
}

// answer is a result of a batch with its error.
type answer struct {
	texttosql.BatchResult
	Err error
}

// said writes an answer in one line.
func said(a answer) string {
	s := a.Question.Text + ": "
	if a.Result != nil {
		s += a.Result.SQL
		if a.Result.Rows != nil {
			s += fmt.Sprint(" ", a.Result.Rows.Rows)
		}
	}
	if a.Err != nil {
		s += " " + a.Err.Error()
	}
	return s
}

func saidAll(answers iter.Seq2[texttosql.BatchResult, error]) []string {
	var all []string
	for r, err := range answers {
		all = append(all, said(answer{r, err}))
	}
	return all
}

// settled waits until no more goroutines run than before.
func settled(t *testing.T, before int) {
	t.Helper()
	for range 10_000 { // a busy machine may take long to end them
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
}

// TestAskAllOrder gives answers in the order of the questions, also when of those
// in flight the last is always done first.
func TestAskAllOrder(t *testing.T) {
	const n = 12
	for _, parallel := range []int{1, 3, 50} {
		var questions []string
		done := make([]chan struct{}, n)
		for i := range n {
			questions = append(questions, fmt.Sprintf("question %c?", 'a'+i))
			done[i] = make(chan struct{})
		}
		e := engine(t, llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			text := req.Messages[len(req.Messages)-1].Text
			if isWarming(req) {
				return llm.Response{Text: usa}, nil
			}
			i := int(text[strings.LastIndex(text, "question ")+len("question ")] - 'a')
			defer close(done[i])
			if i+1 < n && (i+1)%parallel != 0 {
				select {
				case <-done[i+1]:
				case <-ctx.Done():
					return llm.Response{}, ctx.Err()
				}
			}
			return llm.Response{Text: fmt.Sprintf("SELECT '%c'", 'a'+i)}, nil
		}), texttosql.WithStrategy(strategy.Direct{}))
		got := saidAll(warmed(t, e).AskAll(t.Context(), slices.Values(asked(questions...)), parallel))
		var want []string
		for i, q := range questions {
			want = append(want, fmt.Sprintf("%s: SELECT '%c' [[%c]]", q, 'a'+i, 'a'+i))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("parallel %d (-want +got):\n%s", parallel, diff)
		}
	}
}

// warmed asks e a question, whose first call goes alone. The model answers it where isWarming says so.
func warmed(t *testing.T, e *texttosql.Engine) *texttosql.Engine {
	t.Helper()
	testutil.Value(e.Ask(t.Context(), "warm up", texttosql.WithSamples(1)))(t)
	return e
}

func isWarming(req llm.Request) bool {
	return strings.HasSuffix(req.Messages[len(req.Messages)-1].Text, "warm up\n")
}

// TestAskAllIsBounded counts the questions in flight: as many as asked for
// says, no more, and none is pulled before there is a place for it.
func TestAskAllIsBounded(t *testing.T) {
	for _, tt := range []struct {
		batch int
		most  int32
	}{{0, 4}, {1, 1}, {3, 3}} {
		var flying, peak, pulled, given atomic.Int32
		full := make(chan struct{})
		model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			if isWarming(req) {
				return llm.Response{Text: usa}, nil
			}
			n := flying.Add(1)
			defer flying.Add(-1)
			peak.Store(max(peak.Load(), n))
			if n == tt.most {
				select {
				case <-full:
				default:
					close(full)
				}
			}
			<-full
			return llm.Response{Text: usa}, nil
		})
		e := engine(t, model, texttosql.WithStrategy(strategy.Direct{}))
		questions := func(yield func(texttosql.Question) bool) {
			for range 20 {
				if ahead := pulled.Add(1) - given.Load(); ahead > tt.most {
					t.Errorf("%d questions ahead of the answers, want at most %d", ahead, tt.most)
				}
				if !yield(texttosql.Question{Text: "q"}) {
					return
				}
			}
		}
		for r, err := range warmed(t, e).AskAll(t.Context(), questions, tt.batch) {
			a := answer{r, err}
			given.Add(1)
			if a.Err != nil {
				t.Fatal(a.Err)
			}
		}
		if given.Load() != 20 || peak.Load() > tt.most {
			t.Errorf("%d answers, %d in flight; want 20 and at most %d", given.Load(), peak.Load(), tt.most)
		}
	}
}

// TestAskAllWithoutQuestions gives no answer, and one that says what is wrong.
func TestAskAllWithoutQuestions(t *testing.T) {
	e := engine(t, always(usa))
	if got := saidAll(e.AskAll(t.Context(), slices.Values(asked()), 0)); len(got) != 0 {
		t.Errorf("got %q", got)
	}
	got := saidAll(e.AskAll(t.Context(), slices.Values(asked("q")), -1))
	if len(got) != 1 || !strings.Contains(got[0], "AskAll: -1 questions at a time") {
		t.Errorf("got %q", got)
	}
	// What cannot be asked is an answer like any other.
	got = saidAll(e.AskAll(t.Context(),
		slices.Values(asked("", "Which customers live in the USA?", strings.Repeat("x", 9<<10))), 0))
	if len(got) != 3 || !strings.Contains(got[0], "empty") || !strings.Contains(got[1], "Ada") ||
		!strings.Contains(got[2], "the limit is 8192") {
		t.Errorf("got %q", got)
	}
}

// TestAskAllBreak leaves the loop: what is in flight is cancelled, the sequence of
// questions is stopped, and nothing is left when the loop is over.
func TestAskAllBreak(t *testing.T) {
	var cancelled atomic.Int32
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if isWarming(req) || strings.Contains(req.Messages[len(req.Messages)-1].Text, "first") {
			return llm.Response{Text: usa}, nil
		}
		<-ctx.Done()
		cancelled.Add(1)
		return llm.Response{}, ctx.Err()
	})
	e := warmed(t, engine(t, model, texttosql.WithStrategy(strategy.Direct{})))
	before := runtime.NumGoroutine()
	stopped := false
	questions := func(yield func(texttosql.Question) bool) {
		defer func() { stopped = true }()
		for i := 0; ; i++ {
			if text := map[bool]string{true: "first", false: "other"}[i == 0]; !yield(texttosql.Question{Text: text}) {
				return
			}
		}
	}
	for r, err := range e.AskAll(t.Context(), questions, 0) {
		a := answer{r, err}
		if a.Err != nil {
			t.Fatal(a.Err)
		}
		break
	}
	if !stopped {
		t.Error("the sequence of questions was not stopped")
	}
	if n := cancelled.Load(); n > 3 {
		t.Errorf("%d calls were cancelled, want those of 3 questions at most", n)
	}
	settled(t, before)
}

// TestAskAllPanic: a panic in the loop, or in the questions, comes through and
// leaves nothing running.
func TestAskAllPanic(t *testing.T) {
	e := engine(t, always(usa), texttosql.WithStrategy(strategy.Direct{}))
	before := runtime.NumGoroutine()
	for name, run := range map[string]func(){
		"loop": func() {
			for range e.AskAll(t.Context(), slices.Values(asked("a", "b", "c")), 0) {
				panic("mine")
			}
		},
		"questions": func() {
			for range e.AskAll(t.Context(), func(yield func(texttosql.Question) bool) {
				yield(texttosql.Question{Text: "a"})
				panic("mine")
			}, 0) {
			}
		},
	} {
		func() {
			defer func() {
				if recover() != "mine" {
					t.Errorf("%s: the panic is lost", name)
				}
			}()
			run()
		}()
	}
	settled(t, before)
}

// TestAskAllContext: when the context ends, what is in flight is answered with
// its error, and no more is asked.
func TestAskAllContext(t *testing.T) {
	e := warmed(t, engine(t, llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if isWarming(req) || strings.Contains(req.Messages[len(req.Messages)-1].Text, "quick") {
			return llm.Response{Text: usa}, nil
		}
		<-ctx.Done()
		return llm.Response{}, errors.New("network error: failed to reach API server")
	}), texttosql.WithStrategy(strategy.Direct{})))
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var answers []answer
	for r, err := range e.AskAll(ctx, slices.Values(asked("quick", "slow", "slow", "slow", "slow", "never", "never")), 3) {
		a := answer{r, err}
		if answers = append(answers, a); len(answers) == 1 {
			cancel()
		}
	}
	if len(answers) > 5 || len(answers) < 4 || answers[0].Err != nil {
		t.Errorf("%d answers, the first with %v", len(answers), answers[0].Err)
	}
	if last := answers[len(answers)-1]; last.Question != (texttosql.Question{}) {
		t.Errorf("the last answer is of %q; want one that says that others were left out", last.Question.Text)
	}
	for _, a := range answers[1:] {
		if !errors.Is(a.Err, context.Canceled) || strings.Contains(a.Err.Error(), "network") {
			t.Errorf("%s: %v, want context.Canceled", a.Question.Text, a.Err)
		}
	}
	if got := saidAll(e.AskAll(ctx, slices.Values(asked("quick")), 0)); len(got) != 1 ||
		!strings.HasSuffix(got[0], context.Canceled.Error()) {
		t.Errorf("a context that has ended: %q", got)
	}
	settled(t, before)
}

// TestAskAllGivesUp: a batch ends soon when the error of one will be that of all.
func TestAskAllGivesUp(t *testing.T) {
	const n = 60
	failing := func(e llm.Error, questions ...string) func(string) *llm.Error {
		return func(q string) *llm.Error {
			if len(questions) > 0 && !slices.Contains(questions, q) {
				return nil
			}
			e := e
			return &e
		}
	}
	wrongKey := llm.Error{Class: llm.ClassPermanent, Status: 401, Message: "wrong key"}
	unnamed := llm.Error{Class: llm.ClassPermanent, Message: "no such model"}
	for _, tt := range []struct {
		name  string
		fails func(question string) *llm.Error // nil: it has a reply
		most  int                              // questions asked; 0: all
		why   string
	}{
		{"wrong key", failing(wrongKey), 4, "those in flight"},
		{"revoked key", func(q string) *llm.Error {
			if len(q) < 2 {
				return nil
			}
			return &wrongKey
		}, 10 + 4, "though ten questions were answered"},
		{"no such model", failing(unnamed), 2 + 4, "the second question with the same error"},
		{"two odd questions", failing(unnamed, "5", "50"), 0, "others have replies"},
		{"one odd question", failing(unnamed, "0"), 0, "the first may be the odd one"},
		{"overloaded", failing(llm.Error{Class: llm.ClassOverloaded}), 0, "it may pass"},
		{"nothing is recorded", func(q string) *llm.Error {
			return &llm.Error{Class: llm.ClassPermanent, Message: "no recording of " + q}
		}, 0,
			"each question has an error of its own"},
	} {
		model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			_, q, _ := strings.Cut(req.Messages[len(req.Messages)-1].Text, "### Question\n")
			q, _, _ = strings.Cut(q, "\n")
			if e := tt.fails(strings.TrimSpace(q)); e != nil {
				return llm.Response{}, e
			}
			return llm.Response{Text: usa}, nil
		})
		var texts []string
		for i := range n {
			texts = append(texts, fmt.Sprint(i))
		}
		e := engine(t, model, texttosql.WithStrategy(strategy.Direct{}), texttosql.WithRetry(llm.Retry{Attempts: 1}))
		var answers []answer
		for r, err := range e.AskAll(t.Context(), slices.Values(asked(texts...)), 0) {
			a := answer{r, err}
			answers = append(answers, a)
		}
		last := answers[len(answers)-1]
		if tt.most == 0 {
			if len(answers) != n || last.Question.Text == "" {
				t.Errorf("%s: %d answers, the last of %q (%s): %v", tt.name, len(answers), last.Question.Text, tt.why, last.Err)
			}
			continue
		}
		if len(answers) > tt.most+1 || last.Question.Text != "" || llm.ClassOf(last.Err) != llm.ClassPermanent ||
			!strings.Contains(last.Err.Error(), "the batch ends here") {
			t.Errorf("%s: %d answers, want %d at most (%s), the last of %q: %v", tt.name, len(answers), tt.most+1, tt.why,
				last.Question.Text, last.Err)
		}
	}
}
