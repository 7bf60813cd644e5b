package enginetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// spell is an outage of a provider.
type spell struct {
	lasts  time.Duration
	status int           // of each refusal; 0: requests of that time never have a reply
	after  time.Duration // Retry-After
	behind int           // so many replies of the question come before it
}

func (s spell) String() string {
	what := fmt.Sprintf("status %d", s.status)
	if s.status == 0 {
		what = "hang"
	}
	return fmt.Sprintf("%v of %s, Retry-After %v, after %d replies", s.lasts, what, s.after, s.behind)
}

// spells are the outages of the grid that end before a Retry gives up.
func spells() (all []spell) {
	for _, lasts := range []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second} {
		for _, status := range []int{429, 503, 500} {
			for _, after := range []time.Duration{0, time.Second, 20 * time.Second} {
				all = append(all, spell{lasts, status, after, 0})
			}
		}
		all = append(all, spell{lasts: lasts})
		for _, behind := range []int{1, 4, 6} {
			all = append(all, spell{lasts, 429, 0, behind})
		}
	}
	return all
}

// flaky is a provider with outages. Two of its three prompt forms have the same answer.
type flaky struct {
	mu      sync.Mutex
	outage  spell
	ends    time.Time
	refused int // requests in the outage
}

// begin begins an outage.
func (p *flaky) begin(s spell) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outage, p.ends, p.refused = s, time.Time{}, 0
}

// out reports whether a request meets an outage.
func (p *flaky) out() (spell, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outage.behind > 0 {
		p.outage.behind--
		return spell{}, false
	}
	if p.ends.IsZero() {
		p.ends = time.Now().Add(p.outage.lasts)
	}
	if !time.Now().Before(p.ends) {
		return spell{}, false
	}
	p.refused++
	return p.outage, true
}

func (p *flaky) reply(prompt string) string {
	time.Sleep(50 * time.Millisecond)
	if strings.Contains(prompt, "CREATE TABLE") {
		return "SELECT name FROM customers"
	}
	return usa
}

// Complete is the provider as an llm.Model.
func (p *flaky) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	switch s, out := p.out(); {
	case out && s.status == 0:
		<-ctx.Done()
		return llm.Response{}, ctx.Err()
	case out:
		return llm.Response{}, llm.StatusError(s.status, s.after, errors.New("no"))
	}
	var prompt strings.Builder
	for _, m := range req.Messages {
		prompt.WriteString(m.Text)
	}
	return llm.Response{Text: p.reply(prompt.String())}, nil
}

// RoundTrip is the provider as the server of the guide's own model.
func (p *flaky) RoundTrip(r *http.Request) (*http.Response, error) {
	prompt, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	reply := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}
	s, out := p.out()
	if out && s.status == 0 {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if out {
		reply.StatusCode = s.status
		if s.after > 0 {
			reply.Header.Set("Retry-After", fmt.Sprint(s.after.Seconds()))
		}
		return reply, nil
	}
	body, err := json.Marshal(map[string]string{"text": p.reply(string(prompt))})
	reply.Body = io.NopCloser(bytes.NewReader(body))
	return reply, err
}

// waits counts the waits that a question told as progress.
type waits struct{ n, named int }

func (w *waits) option() texttosql.AskOption {
	return texttosql.WithProgress(func(p texttosql.Progress) {
		if p.Kind != "happened" || p.Message != "retry" {
			return
		}
		w.n++
		for _, e := range p.Span.Events() {
			for _, a := range e.Attrs {
				if d, ok := a.Value.(time.Duration); ok && a.Key == "wait" && d > 0 {
					w.named++
				}
			}
		}
	})
}

// doors are the ways in which a question meets an outage. Each asks one question, which the outage begins with.
var doors = []struct {
	name string
	ask  func(t *testing.T, p *flaky, s spell, samples int, w *waits) (*texttosql.Result, error)
}{
	{"Ask", func(t *testing.T, p *flaky, s spell, samples int, w *waits) (*texttosql.Result, error) {
		e := engine(t, llm.Chain(p, llm.Timeout(2*time.Second)), texttosql.WithSamples(samples))
		p.begin(s)
		return e.Ask(t.Context(), whoInUSA, w.option())
	}},
	{"a conversation", func(t *testing.T, p *flaky, s spell, samples int, w *waits) (*texttosql.Result, error) {
		e := engine(t, llm.Chain(p, llm.Timeout(2*time.Second)), texttosql.WithSamples(samples))
		c := e.NewConversation(nil)
		testutil.Value(c.Ask(t.Context(), "Which customers are there?"))(t) // so that no call goes alone
		p.begin(s)
		return c.Ask(t.Context(), whoInUSA, w.option())
	}},
	{"the guide's model", func(t *testing.T, p *flaky, s spell, samples int, w *waits) (*texttosql.Result, error) {
		before := http.DefaultClient.Transport
		http.DefaultClient.Transport = p
		defer func() { http.DefaultClient.Transport = before }()
		e := engine(t, llm.Chain(ownModel("http://provider.test/complete"), llm.Timeout(2*time.Second)),
			texttosql.WithSamples(samples))
		p.begin(s)
		return e.Ask(t.Context(), whoInUSA, w.option())
	}},
}

// TestOutageThatEnds: an outage that is shorter than Retry.GiveUp costs time and no vote, for each client and each form
// of the failure, and the log has each wait.
func TestOutageThatEnds(t *testing.T) {
	for _, door := range doors {
		for _, samples := range []int{1, 7, 12} {
			if race.Enabled && samples != 7 {
				continue // the detector wants each path, not each cell
			}
			var calm *texttosql.Result
			for _, s := range append([]spell{{}}, spells()...) {
				if s.behind > 0 && s.behind >= samples-1 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d samples/%v", door.name, samples, s), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						p, w := &flaky{}, &waits{}
						start := time.Now()
						r := testutil.Value(door.ask(t, p, s, samples, w))(t)
						if calm == nil {
							calm = r
						}
						if diff := cmp.Diff(calm.Ballot, r.Ballot); diff != "" || r.SQL != calm.SQL || r.Confidence != calm.Confidence {
							t.Errorf("%q, %v (-without +with):\n%s", r.SQL, r.Confidence, diff)
						}
						if took := time.Since(start); took < s.lasts || took > s.lasts+25*time.Second {
							t.Errorf("took %v", took)
						}
						if p.refused > 0 != (s.lasts > 0) || w.n != p.refused || w.named < w.n {
							t.Errorf("%d calls refused, %d waits told, %d of them with a time", p.refused, w.n, w.named)
						}
					})
				})
			}
		}
	}
}

// TestGuideShowsTheModel: the model of the grid is that of the guide.
func TestGuideShowsTheModel(t *testing.T) {
	guide := string(testutil.Value(os.ReadFile("../../docs/guide.md"))(t))
	source := string(testutil.Value(os.ReadFile("outage_guide_test.go"))(t))
	_, model, _ := strings.Cut(source, "// ownModel asks")
	if model == "" || !strings.Contains(guide, "// ownModel asks"+model) {
		t.Error("docs/guide.md has another model than outage_guide_test.go")
	}
}

// TestLostVotes: samples without a reply are counted in a warning and in the ballot, and the log does not take the
// question for answered.
func TestLostVotes(t *testing.T) {
	const busy = "samples did not reply: the provider was busy"
	fails := func(err error) func(int) (string, error) {
		return func(sample int) (string, error) {
			if sample < 3 {
				return usa, nil
			}
			return "", err
		}
	}
	for _, tt := range []struct {
		why     string
		reply   func(sample int) (string, error)
		budget  llm.Budget
		warning string // "": none
		log     string
		missing int
	}{
		{"no outage", func(int) (string, error) { return usa, nil }, llm.Budget{}, "", "level=INFO outcome=answered", 0},
		{"9 of 12", fails(llm.StatusError(429, 0, nil)), llm.Budget{}, "9 of 12 " + busy, "level=WARN outcome=degraded", 9},
		{"one of 12", func(sample int) (string, error) {
			if sample == 5 {
				return "", llm.StatusError(503, 0, nil)
			}
			return usa, nil
		}, llm.Budget{}, "1 of 12 " + busy, "level=WARN outcome=degraded", 1},
		{"late replies", fails(llm.StatusError(504, 0, nil)), llm.Budget{},
			"9 of 12 samples did not reply: the provider did not answer in time",
			"level=WARN outcome=degraded", 9},
		{"replies that a filter holds back", fails(&llm.Error{Class: llm.ClassRefused}), llm.Budget{},
			"9 of 12 samples did not reply: the provider declined the content", "level=WARN outcome=degraded", 9},
		{"an error of a model without a class", fails(errors.New("no")), llm.Budget{},
			"9 of 12 samples did not reply: the calls failed",
			"level=WARN outcome=degraded", 9},
		{"a spent budget is no provider that failed", func(int) (string, error) { return usa, nil }, llm.Budget{Calls: 3}, "",
			"level=INFO outcome=answered", 0},
		{"a reply without a statement is a reply", func(sample int) (string, error) {
			if sample < 3 {
				return usa, nil
			}
			return "I do not know.", nil
		}, llm.Budget{}, "", "level=INFO outcome=answered", 0},
		{"no reply at all is an error", func(int) (string, error) { return "", llm.StatusError(429, 0, nil) }, llm.Budget{},
			"", "level=WARN outcome=rate", 0},
	} {
		t.Run(tt.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
					text, err := tt.reply(req.Sample)
					return llm.Response{Text: text}, err
				})
				e := engine(t, model,
					texttosql.WithStrategy(strategy.Pipeline{Sampler: strategy.Sampler{Samples: 12, Temperature: .7}}),
					texttosql.WithBudget(tt.budget),
					texttosql.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				r, _ := e.Ask(t.Context(), whoInUSA)
				var warned []string
				for _, w := range r.Warnings {
					if w.Code == "provider-failed" {
						warned = append(warned, w.Message)
					}
				}
				if got := strings.Join(warned, "; "); got != tt.warning || r.Ballot.Missing != tt.missing {
					t.Errorf("warned %q, %d missing, want %q, %d", got, r.Ballot.Missing, tt.warning, tt.missing)
				}
				lines := strings.SplitAfter(log.String(), "\n")
				record := lines[len(lines)-2]
				level, outcome, _ := strings.Cut(tt.log, " ")
				if !strings.Contains(record, level+" ") || !strings.Contains(record, " "+outcome+" ") {
					t.Errorf("want %s:\n%s", tt.log, log.String())
				}
			})
		})
	}
}

// TestFutilePrompt: a prompt that a filter refuses, or that is larger than a minute allows, costs one call.
func TestFutilePrompt(t *testing.T) {
	for _, tt := range []struct {
		why   string
		err   error
		warm  bool // the engine has answered a question
		most  int32
		class failure.Class
	}{
		{"a filter", &llm.Error{Class: llm.ClassRefused, Status: 400}, false, 1, failure.NoAnswer},
		{"a request too large", &llm.Error{Class: llm.ClassContextTooLong, Status: 429}, false, 1, failure.Provider},
		{"a filter, and samples that are sent at once", &llm.Error{Class: llm.ClassRefused, Status: 400}, true, 12,
			failure.NoAnswer},
		{"a request too large, and samples that are sent at once", &llm.Error{Class: llm.ClassContextTooLong, Status: 429},
			true, 12, failure.Provider},
	} {
		for name, s := range map[string]strategy.Strategy{
			"Consensus": strategy.Consensus{}, "SelfConsistency": strategy.SelfConsistency{Samples: 12},
			"Direct":      strategy.Direct{},
			"all at once": strategy.Pipeline{Sampler: strategy.Sampler{Samples: 12, Temperature: .7, AtOnce: true}},
		} {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int32
				fails := !tt.warm
				model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
					if calls.Add(1); !fails {
						return llm.Response{Text: usa}, nil
					}
					time.Sleep(time.Second)
					return llm.Response{}, tt.err
				})
				e := engine(t, model, texttosql.WithStrategy(s))
				if tt.warm {
					testutil.Value(e.Ask(t.Context(), "Which customers are there?"))(t)
				}
				fails = true
				calls.Store(0)
				_, err := e.Ask(t.Context(), whoInUSA)
				if f := failure.Of(err); f.Class != tt.class {
					t.Errorf("%s, %s: %s: %v", tt.why, name, f.Class, err)
				}
				t.Logf("%s, %s: %d calls", tt.why, name, calls.Load())
				if calls.Load() > tt.most {
					t.Errorf("%s, %s: %d calls", tt.why, name, calls.Load())
				}
			})
		}
	}
}

// TestConversationAfterAnOutage: a question that an outage interrupted is dropped by the next one, and one that comes
// again costs only what was not replied to. No call returns a nil Result.
func TestConversationAfterAnOutage(t *testing.T) {
	for _, tt := range []struct {
		why    string
		before []string // questions that are answered
		next   string   // after the outage; "" is Resume
		turns  string   // kinds of the turns of the record
		follow bool     // the next question is shown the answers before
	}{
		{"another question", nil, "Which customers are there?", "question follow_up", false},
		{"the same question", nil, whoInUSA, "question follow_up", false},
		{"the interrupted question", nil, "", "question", false},
		{"another question, after an answer", []string{"Which customers are there?"}, "And of the USA?",
			"question follow_up follow_up", true},
		{"the interrupted question, after an answer", []string{"Which customers are there?"}, "", "question follow_up", true},
	} {
		t.Run(tt.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, store := &flaky{}, &session.MemoryStore{}
				e := engine(t, p, texttosql.WithSamples(7))
				c := e.NewConversation(store)
				for _, q := range tt.before {
					testutil.Value(c.Ask(t.Context(), q))(t)
				}
				p.begin(spell{lasts: time.Hour, status: 503})
				var stopped *session.InterruptedError
				if r, err := c.Ask(t.Context(), whoInUSA); !errors.As(err, &stopped) || failure.Of(err).HTTPStatus != 502 ||
					r == nil {
					t.Fatalf("in the outage: %v, %v", r, err)
				}
				p.begin(spell{})
				c = testutil.Value(e.OpenConversation(t.Context(), store, c.Record().ID))(t)
				next := c.Resume
				if tt.next != "" {
					next = func(ctx context.Context) (*texttosql.Result, error) { return c.Ask(ctx, tt.next) }
				}
				r, err := next(t.Context())
				if err != nil || r.SQL == "" || tt.next != "" && r.Question != tt.next {
					t.Errorf("after it: %+v, %v", r, err)
				}
				rec := c.Record()
				var kinds []string
				for _, turn := range rec.Turns {
					kinds = append(kinds, string(turn.Kind))
				}
				if got := strings.Join(kinds, " "); got != tt.turns || rec.State != session.Completed ||
					(len(rec.Earlier()) > 0) != tt.follow {
					t.Errorf("turns %s, state %s, %d answers before", got, rec.State, len(rec.Earlier()))
				}
				legal(t, rec)
			})
		})
	}
}

// TestConversationGivesAResult: what is refused before it begins has a Result with its question.
func TestConversationGivesAResult(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	e := engine(t, always(usa))
	asked := e.NewConversation(nil)
	testutil.Value(asked.Ask(t.Context(), whoInUSA))(t)
	for _, c := range []struct {
		of   *texttosql.Conversation
		want string
	}{{(*texttosql.Engine)(nil).NewConversation(nil), ""}, {e.NewConversation(nil), ""}, {asked, whoInUSA}} {
		for name, call := range map[string]func() (*texttosql.Result, error){
			"Ask":     func() (*texttosql.Result, error) { return c.of.Ask(ended, "Who?") },
			"Choose":  func() (*texttosql.Result, error) { return c.of.Choose(ended, "r1") },
			"Correct": func() (*texttosql.Result, error) { return c.of.Correct(ended, "use orders") },
			"Apply":   func() (*texttosql.Result, error) { return c.of.Apply(ended, session.Correction{}) },
			"Resume":  func() (*texttosql.Result, error) { return c.of.Resume(ended) },
			"Restart": func() (*texttosql.Result, error) { return c.of.Restart(ended) },
		} {
			want := c.want
			if name == "Ask" {
				want = "Who?"
			}
			if r, err := call(); r == nil || r.Question != want || err == nil {
				t.Errorf("%s: %+v, %v; want the question %q", name, r, err, want)
			}
		}
	}
}
