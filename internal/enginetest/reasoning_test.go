package enginetest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// sold is a model as providers sell them: it reasons, which counts into the limit on tokens, refuses parameters, and
// bills prompts by the published rules. Each call takes a second, and what it sent is in the cache once it is over.
type sold struct {
	thinks  []int    // tokens of reasoning, by sample
	refuses []string // parameters
	// only what stands before a mark is cached, and putting it there costs 1.25 (Anthropic); else every prefix is (OpenAI)
	marked bool
	same   bool // every sample says the same

	mu        sync.Mutex
	calls     int
	lost      int // that gave no reply
	parallel  int // most calls at once
	flying    int
	read      float64 // the price of all prompts, in tokens of the full price
	sent      int     // their tokens
	completed int
	cache     []string
}

// bill charges the prompt of req. It returns what a later call finds in the cache.
func (p *sold) bill(req llm.Request) (cached string) {
	var all, marked strings.Builder
	for i, m := range req.Messages {
		all.WriteString(m.Text)
		if i < req.CachePrefix {
			marked.WriteString(m.Text)
		}
	}
	text, best := all.String(), 0
	for _, c := range p.cache {
		n := 0
		for n < min(len(c), len(text)) && c[n] == text[n] {
			n++
		}
		if p.marked && n < len(c) { // nothing but a whole prefix
			n = 0
		}
		best = max(best, n)
	}
	tokens, hit := len(text)/4, best/4/128*128
	if p.marked {
		hit = best / 4
	}
	if hit < 1024 {
		hit = 0
	}
	p.sent += tokens
	p.read += float64(tokens-hit) + 0.1*float64(hit)
	if p.marked {
		if text = marked.String(); len(text)/4 >= 1024 && hit == 0 {
			p.read += 0.25 * float64(len(text)/4)
		}
	}
	return text
}

func (p *sold) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	p.mu.Lock()
	p.calls++
	p.flying++
	p.parallel = max(p.parallel, p.flying)
	cached := p.bill(req)
	p.mu.Unlock()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flying--
	if isWarming(req) { // it costs nothing, and leaves nothing behind
		p.calls, p.read, p.sent = 0, 0, 0
		return llm.Response{Text: usa}, nil
	}
	if ctx.Err() != nil {
		return llm.Response{}, ctx.Err()
	}
	if slices.Contains(p.refuses, "temperature") && req.Temperature != nil {
		p.lost++
		return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Status: 400, Parameter: "temperature",
			Message: "Unsupported value: 'temperature'"}
	}
	if cached != "" {
		p.cache = append(p.cache, cached)
	}
	text := fmt.Sprintf("```sql\nSELECT %d AS n\n```", req.Sample)
	if p.same {
		text = "```sql\nSELECT name FROM customers\n```"
	}
	thought := 0
	if len(p.thinks) > 0 {
		thought = p.thinks[req.Sample%len(p.thinks)]
	}
	u := llm.Usage{Calls: 1, PromptTokens: llm.Estimate(req, "").PromptTokens, ReasoningTokens: thought,
		CompletionTokens: thought + len(text)/4, Known: true}
	if req.MaxTokens != nil && u.CompletionTokens > *req.MaxTokens {
		u.ReasoningTokens, u.CompletionTokens = min(thought, *req.MaxTokens), *req.MaxTokens
		p.lost++
		p.completed += u.CompletionTokens
		if said := *req.MaxTokens - thought; said > 0 {
			return llm.Response{Text: text[:4*said], StopReason: llm.StopLength, Usage: u}, nil
		}
		return llm.Response{}, &llm.Error{Class: llm.ClassOutOfTokens, Usage: u, Message: "the reply is empty"}
	}
	p.completed += u.CompletionTokens
	return llm.Response{Text: text, StopReason: llm.StopEnd, Usage: u}, nil
}

// TestReasoningModel: what Consensus loses on a model whose reasoning counts into the limit, and that it answers.
func TestReasoningModel(t *testing.T) {
	for _, tt := range []struct {
		why   string
		model *sold
		lost  int // calls
	}{
		{"a model that does not reason", &sold{same: true}, 0},
		{"little thought: the room is there before it is needed", &sold{same: true, thinks: []int{700, 5000, 9000}}, 0},
		{"thought that needs all there is", &sold{same: true, thinks: []int{20_000, 5000, 31_000}}, 3},
		{"and a parameter that is refused", &sold{same: true, thinks: []int{5000, 20_000, 30_000},
			refuses: []string{"temperature"}}, 4},
		{"half a statement, of which little was said", &sold{same: true, thinks: []int{1021, 5000, 30_000}}, 1},
	} {
		t.Run(tt.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := engine(t, tt.model)
				for question := range 2 {
					r, err := e.Ask(t.Context(), "Which customers are there?")
					if err != nil || r.SQL == "" || r.Confidence < 0.88 {
						t.Fatalf("%+v, %v", r, err)
					}
					if told := warned(r, "parameter-refused"); told != (question == 0 && tt.model.refuses != nil) {
						t.Errorf("question %d: %v", question, r.Warnings)
					}
					if r.Usage.Calls != tt.model.calls || r.Usage.CompletionTokens != tt.model.completed ||
						r.Usage.Calls-tt.model.lost != 7 && question == 0 {
						t.Errorf("usage %+v of %d calls, %d tokens", r.Usage, tt.model.calls, tt.model.completed)
					}
					if tt.model.lost != tt.lost {
						t.Errorf("%d calls lost of %d, want %d", tt.model.lost, tt.model.calls, tt.lost)
					}
					if tt.model.parallel < 4 {
						t.Errorf("at most %d calls at once", tt.model.parallel)
					}
					tt.model.calls, tt.model.completed = 0, 0
				}
			})
		})
	}
}

// TestFirstSampleGoesAlone: which sample goes first is no matter of time, so that a trace with lost calls is the same
// twice.
func TestFirstSampleGoesAlone(t *testing.T) {
	var docs []string
	slow := strategy.PrompterFunc(func(ctx context.Context, env *strategy.Env, in strategy.PromptInput) ([]llm.Message,
		error) {
		if in.Sample == 0 { // its prompt is ready long after the others
			time.Sleep(10 * time.Millisecond)
		}
		return strategy.Prompt{}.Prompt(ctx, env, in)
	})
	vote := strategy.Pipeline{Prompter: slow, Sampler: strategy.Sampler{Samples: 5}}
	for range 5 {
		e := engine(t, llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			if *req.MaxTokens < 3000 {
				return llm.Response{}, &llm.Error{Class: llm.ClassOutOfTokens}
			}
			return llm.Response{Text: usa}, nil
		}), texttosql.WithStrategy(vote))
		r := testutil.Value(e.Ask(t.Context(), whoInUSA))(t)
		doc := testutil.Value(r.Trace.Comparable())(t)
		docs = append(docs, string(doc))
		found := 0
		for s := range r.Trace.All() {
			if s.Name() == "sample" && s.Attrs()[0].Value == int64(0) &&
				slices.ContainsFunc(s.Events(), func(e trace.Event) bool { return e.Name == "more-room" }) {
				found++
			}
		}
		if found != 1 || docs[0] != docs[len(docs)-1] {
			t.Errorf("%d samples were asked for again, want the first alone; the same trace: %v", found,
				docs[0] == docs[len(docs)-1])
		}
	}
}

// TestSharedPrefix: what the prompts of twelve samples cost, in prompts of the full price.
func TestSharedPrefix(t *testing.T) {
	var script strings.Builder
	script.WriteString(shop)
	for i := range 40 {
		fmt.Fprintf(&script, "CREATE TABLE depot_%d (id INTEGER PRIMARY KEY, opened_on TEXT, staff_count INTEGER, "+
			"monthly_revenue REAL);\n", i)
	}
	consensus := strategy.Consensus{}
	atOnce := consensus
	atOnce.AtOnce = true
	for _, tt := range []struct {
		why      string
		strategy strategy.Strategy
		marked   bool
		most     float64 // prompts
		least    float64 // what it costs without
	}{
		{"one prompt, every prefix is cached", strategy.SelfConsistency{}, false, 2.6, 2},
		{"one prompt, what is marked is cached", strategy.SelfConsistency{}, true, 2.5, 2},
		{"three forms", consensus, false, 4.8, 4},
		{"three forms, marked", consensus, true, 4.8, 4},
		{"all at once: a wave pays in full", strategy.SelfConsistency{AtOnce: true}, false, 8, 7},
		{"all at once, without a mark", strategy.SelfConsistency{AtOnce: true}, true, 12, 12},
		{"three forms at once", atOnce, true, 12, 12},
	} {
		t.Run(tt.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := &sold{marked: tt.marked}
				e := testutil.Value(texttosql.New(open(t, script.String()), model, texttosql.WithStrategy(tt.strategy)))(t)
				testutil.Value(warmed(t, e).Ask(t.Context(), "Which customers are there?"))(t)
				paid := model.read / (float64(model.sent) / float64(model.calls))
				t.Logf("%d calls, %.2f prompts", model.calls, paid)
				if model.calls != 12 || paid > tt.most || paid < tt.least {
					t.Errorf("%d calls cost %.2f prompts, want 12 that cost %v to %v", model.calls, paid, tt.least, tt.most)
				}
			})
		})
	}
}

// TestPromptsBeginAlike: samples of one form are the same prompt, and prompts of another question about the same tables
// differ from it only behind the schema.
func TestPromptsBeginAlike(t *testing.T) {
	text := func(r llm.Request) string {
		var b strings.Builder
		for _, m := range r.Messages {
			fmt.Fprintf(&b, "[%s]\n%s\n", m.Role, m.Text)
		}
		return b.String()
	}
	shared := func(a, b string) string {
		n := 0
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		return a[:n]
	}
	for _, s := range []strategy.Strategy{strategy.Consensus{}, strategy.SelfConsistency{},
		strategy.Direct{}} {
		script := &llmtest.Script{Rules: []llmtest.Rule{{Repeat: true,
			Replies: llmtest.Texts("SELECT 0 AS n", "SELECT 1 AS n", "SELECT 2 AS n",
				"SELECT 3 AS n", "SELECT 4 AS n", "SELECT 5 AS n", "SELECT 6 AS n", "SELECT 7 AS n", "SELECT 8 AS n")}}}
		e := engine(t, script, texttosql.WithStrategy(s))
		for _, question := range []string{"Which customers live in the USA?", "How many customers have no order?"} {
			testutil.Value(e.Ask(t.Context(), question, texttosql.WithEvidence("A customer without orders is new.")))(t)
		}
		reqs := script.RequestsFor("generate") // by sample, both questions of each one after the other
		for i, r := range reqs {
			if of := i - 6; of >= 0 && text(reqs[of]) != text(r) {
				t.Errorf("%T: sample %d does not begin as sample %d of the same form does", s, r.Sample, reqs[of].Sample)
			}
		}
		first, second := text(reqs[0]), text(reqs[1])
		linked, _, _ := strings.Cut(first, "### ")
		for _, part := range strings.SplitAfter(first[len(linked):], "\n### ") {
			if strings.HasPrefix(part, "Stored") || strings.HasPrefix(part, "Notes") || strings.HasPrefix(part, "Question") {
				break
			}
			linked += part
		}
		if got := shared(first, second); len(got)*10 < len(linked)*9 || len(linked)*2 < len(first) {
			t.Errorf("%T: %d bytes are shared of the %d of rules and schema, of %d; they end with %q", s, len(got), len(linked),
				len(first), got[max(0, len(got)-60):])
		}
	}
}

// TestWrongKeyIsAskedOnce: by each question once, since the key may be another one by then; a waiting sample has the
// error too.
func TestWrongKeyIsAskedOnce(t *testing.T) {
	model := &llmtest.Script{Rules: []llmtest.Rule{{Repeat: true,
		Replies: llmtest.Errors(&llm.Error{Class: llm.ClassPermanent, Status: 401, Message: "no key"})}}}
	e := engine(t, model)
	for i := range 2 {
		r, err := e.Ask(t.Context(), whoInUSA)
		if failure.Of(err).Class != failure.Key || r.Usage.Calls != 1 || len(model.Requests()) != i+1 {
			t.Errorf("%d calls, usage %+v, %v", len(model.Requests()), r.Usage, err)
		}
	}
}
