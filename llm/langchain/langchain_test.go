package langchain_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/langchain"
	"github.com/texttosql/texttosql/trace"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
)

func TestSuccess(t *testing.T) {
	eachWire(t, func(t *testing.T, w wire, ours bool) {
		m := w.model(t, ours, answer(200, w.reply("SELECT 1")))
		got := testutil.Value(m.Complete(t.Context(), ask("One?")))(t)
		want := llm.Response{
			Text:       "SELECT 1",
			StopReason: llm.StopEnd,
			Usage:      llm.Usage{Calls: 1, PromptTokens: 11, CompletionTokens: 7, Known: true},
		}
		if w.name == "ollama" {
			want.StopReason = "" // its client drops it
		}
		golden.Equal(t, want, got)
	})
}

// sampling is where the providers have what we look at.
func sampling(w wire, body map[string]any) map[string]any {
	keys := map[string]string{"temperature": "temperature", "seed": "seed", "top_p": "top_p"}
	from := body
	switch w.name {
	case "openai":
		keys["max"], keys["stop"] = "max_completion_tokens", "stop"
	case "ollama":
		from, _ = body["options"].(map[string]any)
		keys["max"], keys["stop"] = "num_predict", "stop"
	case "anthropic":
		keys["max"], keys["stop"] = "max_tokens", "stop_sequences"
	}
	got := make(map[string]any)
	for name, key := range keys {
		if v, ok := from[key]; ok {
			got[name] = v
		}
	}
	for _, unwanted := range []string{"stream", "n", "candidate_count"} {
		if v, ok := body[unwanted]; ok {
			got[unwanted] = v
		}
	}
	return got
}

func TestWhatIsSent(t *testing.T) {
	half, zero := 0.5, 0.0
	tests := []struct {
		name   string
		config langchain.Config
		req    llm.Request
		want   map[string]any
		why    string
	}{
		{
			name: "nothing set", req: llm.Request{},
			want: map[string]any{"temperature": 1.0, "max": 4096.0},
			why:  "langchaingo would send temperature 0, and Anthropic stop at 2,048 tokens",
		},
		{
			name: "all set", req: llm.Request{Temperature: &half, MaxTokens: new(99), Seed: new(1), TopP: new(0.9),
				Stop: []string{";"}},
			want: map[string]any{"temperature": 0.5, "top_p": 0.9, "max": 99.0, "seed": 1.0, "stop": []any{";"}},
			why:  "what the request says is sent",
		},
		{
			name: "temperature 0", req: llm.Request{Temperature: &zero},
			want: map[string]any{"temperature": 0.0, "max": 4096.0},
			why:  "0 is a temperature",
		},
		{
			name:   "config",
			config: langchain.Config{Temperature: &zero, MaxTokens: 5},
			req:    llm.Request{MaxTokens: new(-1)},
			want:   map[string]any{"temperature": 0.0, "max": 5.0},
			why:    "the config stands in for what the request leaves out",
		},
		{
			name: "options",
			config: langchain.Config{Options: []llms.CallOption{
				llms.WithTemperature(0.1), llms.WithStopWords([]string{"#"}), llms.WithN(3), llms.WithCandidateCount(3),
				llms.WithStreamingFunc(func(context.Context, []byte) error { return errors.New("streamed") }),
			}},
			req:  llm.Request{Temperature: &half},
			want: map[string]any{"temperature": 0.5, "max": 4096.0, "stop": []any{"#"}},
			why:  "the request wins, and neither streams nor several choices get through",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, w := range wires {
				var seen bodies
				client := w.llms(t, true, func(rw http.ResponseWriter, r *http.Request) {
					seen.take(t, r)
					io.WriteString(rw, w.reply("SELECT 1"))
				})
				test.req.Messages = ask("One?").Messages
				testutil.Value(test.config.Model(client).Complete(t.Context(), test.req))(t, w.name)
				want := test.want
				if _, seeded := want["seed"]; seeded && w.name == "anthropic" {
					want = map[string]any{"temperature": 0.5, "top_p": 0.9, "max": 99.0, "stop": []any{";"}} // it has no seeds
				}
				golden.Equal(t, want, sampling(w, seen.all()[0]), w.name, test.why)
			}
		})
	}
}

func TestMessages(t *testing.T) {
	text := func(v any) string { // content is a text, or blocks of text
		if s, ok := v.(string); ok {
			return s
		}
		var texts []string
		for _, block := range v.([]any) {
			texts = append(texts, block.(map[string]any)["text"].(string))
		}
		return strings.Join(texts, "|")
	}
	req := llm.Request{Messages: []llm.Message{
		{Role: llm.System, Text: "Be terse."},
		{Role: llm.User, Text: "One?"},
		{Role: llm.Assistant, Text: "SELECT 1"},
		{Role: llm.Assistant, Text: " \n"},
		{Role: llm.System, Text: "SQLite."},
		{Role: llm.User, Text: "Two?"},
	}}
	want := []string{"system: Be terse.\n\nSQLite.", "user: One?", "assistant: SELECT 1", "user: Two?"}
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			var seen bodies
			m := w.model(t, true, func(rw http.ResponseWriter, r *http.Request) {
				seen.take(t, r)
				io.WriteString(rw, w.reply("SELECT 2"))
			})
			testutil.Value(m.Complete(t.Context(), req))(t)
			body := seen.all()[0]
			var got []string
			if s, ok := body["system"]; ok {
				got = append(got, "system: "+text(s))
			}
			for _, m := range body["messages"].([]any) {
				m := m.(map[string]any)
				got = append(got, fmt.Sprintf("%s: %s", m["role"], text(m["content"])))
			}
			golden.Equal(t, want, got)
		})
	}
}

func TestMessagesRefused(t *testing.T) {
	m := langchain.Model(fakeModel(func(context.Context) (*llms.ContentResponse, error) {
		t.Error("the model was called")
		return nil, nil
	}))
	for _, test := range []struct {
		why string
		in  []llm.Message
	}{
		{"none at all", nil},
		{"Google refuses a lone system message", []llm.Message{{Role: llm.System, Text: "x"}}},
		{"a blank message is none", []llm.Message{{Role: llm.User, Text: "  "}}},
		{"the role is not one of ours", []llm.Message{{Role: "tool", Text: "x"}}},
	} {
		_, err := m.Complete(t.Context(), llm.Request{Messages: test.in})
		if llm.ClassOf(err) != llm.ClassPermanent {
			t.Errorf("%s: got %v", test.why, err)
		}
	}
}

// fakeModel is an llms.Model of a function.
type fakeModel func(ctx context.Context) (*llms.ContentResponse, error)

func (f fakeModel) GenerateContent(ctx context.Context, _ []llms.MessageContent,
	_ ...llms.CallOption) (*llms.ContentResponse, error) {
	return f(ctx)
}
func (f fakeModel) Call(context.Context, string, ...llms.CallOption) (string, error) { panic("unused") }

func choice(text, stop string, info map[string]any) *llms.ContentChoice {
	return &llms.ContentChoice{Content: text, StopReason: stop, GenerationInfo: info}
}

func TestResponse(t *testing.T) {
	type mistral struct{ PromptTokens, CompletionTokens, TotalTokens int }
	tests := []struct {
		name    string
		choices []*llms.ContentChoice
		want    llm.Response
		class   string // of the error, if any
		why     string
	}{
		{
			name: "blocks",
			choices: []*llms.ContentChoice{
				choice("", "end_turn", map[string]any{"InputTokens": 5, "OutputTokens": 3, "ThinkingContent": "hm"}),
				choice("```sql\nSELECT 1\n```", "end_turn", map[string]any{"InputTokens": 5, "OutputTokens": 3}),
				choice("Done.", "end_turn", map[string]any{"InputTokens": 5, "OutputTokens": 3}),
			},
			want: llm.Response{Text: "```sql\nSELECT 1\n```\nDone.", StopReason: llm.StopEnd, Usage: usage(5, 3)},
			why:  "Anthropic's choices are blocks: thinking has no text, and usage stands on each",
		},
		{
			name: "alternatives",
			choices: []*llms.ContentChoice{
				choice("SELECT 1", "stop", map[string]any{"PromptTokens": 5, "CompletionTokens": 3}),
				choice("SELECT 2", "stop", map[string]any{"PromptTokens": 5, "CompletionTokens": 3}),
			},
			want: llm.Response{Text: "SELECT 1", StopReason: llm.StopEnd, Usage: usage(5, 3)},
			why:  "two candidates are never mixed",
		},
		{
			name: "prompt cache",
			choices: []*llms.ContentChoice{choice("x", "end_turn", map[string]any{"InputTokens": 5, "OutputTokens": 3,
				"CacheReadInputTokens":     100,
				"CacheCreationInputTokens": 10})},
			want: llm.Response{Text: "x", StopReason: llm.StopEnd, Usage: llm.Usage{Calls: 1, PromptTokens: 115,
				CompletionTokens: 3,
				CachedTokens:     100, CacheWriteTokens: 10, Known: true}},
			why: "Anthropic counts cached tokens apart",
		},
		{
			name: "reasoning",
			choices: []*llms.ContentChoice{choice("x", "stop", map[string]any{"PromptTokens": 50, "CompletionTokens": 30,
				"ReasoningTokens": 20, "ThinkingTokens": 20, "PromptCachedTokens": 40})},
			want: llm.Response{Text: "x", StopReason: llm.StopEnd, Usage: llm.Usage{Calls: 1, PromptTokens: 50,
				CompletionTokens: 30,
				CachedTokens:     40, ReasoningTokens: 20, Known: true}},
			why: "OpenAI counts reasoning and cached tokens as parts",
		},
		{
			name: "google",
			choices: []*llms.ContentChoice{choice("x", "FinishReasonStop", map[string]any{"PromptTokens": int32(5),
				"CompletionTokens":     int32(3),
				"CacheReadInputTokens": int32(2)})},
			want: llm.Response{Text: "x", StopReason: llm.StopEnd, Usage: llm.Usage{Calls: 1, PromptTokens: 5,
				CompletionTokens: 3, CachedTokens: 2, Known: true}},
			why: "int32, and cached tokens are part of the prompt's",
		},
		{
			name: "bedrock",
			choices: []*llms.ContentChoice{choice("x", "", map[string]any{"input_tokens": float64(5),
				"output_tokens": uint32(3)})},
			want: llm.Response{Text: "x", Usage: usage(5, 3)},
			why:  "other keys, other numbers",
		},
		{
			name:    "mistral",
			choices: []*llms.ContentChoice{choice("x", "stop", map[string]any{"usage": mistral{5, 3, 8}})},
			want:    llm.Response{Text: "x", StopReason: llm.StopEnd, Usage: usage(5, 3)},
			why:     "a struct",
		},
		{
			name:    "usage is no struct",
			choices: []*llms.ContentChoice{choice("x", "stop", map[string]any{"usage": "5", "PromptTokens": "5"})},
			want:    llm.Response{Text: "x", StopReason: llm.StopEnd, Usage: llm.Usage{Calls: 1}},
			why:     "what is no number is absent",
		},
		{
			name:    "no usage",
			choices: []*llms.ContentChoice{choice("x", "stop", map[string]any{"PromptTokens": 0, "CompletionTokens": 0})},
			want:    llm.Response{Text: "x", StopReason: llm.StopEnd, Usage: llm.Usage{Calls: 1}},
			why:     "0 is how the clients write nothing",
		},
		{
			name:    "half a usage",
			choices: []*llms.ContentChoice{choice("x", "stop", map[string]any{"PromptTokens": 0, "CompletionTokens": 3})},
			want:    llm.Response{Text: "x", StopReason: llm.StopEnd, Usage: llm.Usage{Calls: 1, CompletionTokens: 3}},
			why:     "Ollama leaves out the prompt's tokens when it has the prompt cached",
		},
		{
			name:    "cut",
			choices: []*llms.ContentChoice{choice("SELECT", "length", nil)},
			want:    llm.Response{Text: "SELECT", StopReason: llm.StopLength, Usage: llm.Usage{Calls: 1}},
			why:     "a cut reply is a reply: the extractor flags it",
		},
		{
			name:    "cut and not said",
			choices: []*llms.ContentChoice{choice("SELECT", "", map[string]any{"PromptTokens": 5, "CompletionTokens": 4096})},
			want:    llm.Response{Text: "SELECT", StopReason: llm.StopLength, Usage: usage(5, 4096)},
			why:     "Ollama's client gives no reason, but as many tokens as allowed are no coincidence",
		},
		{
			name: "huge count",
			choices: []*llms.ContentChoice{choice("x", "stop", map[string]any{"PromptTokens": int64(1) << 60,
				"CompletionTokens": -3})},
			want: llm.Response{Text: "x", StopReason: llm.StopEnd, Usage: llm.Usage{Calls: 1, PromptTokens: 1<<31 - 1}},
			why:  "sums of hostile counts must not overflow",
		},
		{name: "filtered", choices: []*llms.ContentChoice{choice("SELECT", "content_filter", nil)}, class: "refused",
			why: "OpenAI"},
		{name: "declined", choices: []*llms.ContentChoice{choice("", "refusal", nil)}, class: "refused", why: "Anthropic"},
		{name: "blank", choices: []*llms.ContentChoice{choice(" \n", "stop", nil)}, class: "unknown",
			why: "an empty reply is an error"},
		{name: "all thought", choices: []*llms.ContentChoice{choice("", "length", nil)}, class: "no-room",
			why: "reasoning used it up"},
		{name: "no choice", class: "unknown", why: "an empty reply is an error"},
		{name: "nil choice", choices: []*llms.ContentChoice{nil}, class: "unknown", why: "no panic"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := langchain.Model(fakeModel(func(context.Context) (*llms.ContentResponse, error) {
				return &llms.ContentResponse{Choices: test.choices}, nil
			}))
			got, err := m.Complete(t.Context(), ask("One?"))
			if test.class != "" {
				if err == nil || llm.ClassOf(err).String() != test.class {
					t.Errorf("%s: got %v, %v", test.why, got, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", test.why, err)
			}
			golden.Equal(t, test.want, got, test.why)
		})
	}
}

func usage(prompt, completion int) llm.Usage {
	return llm.Usage{Calls: 1, PromptTokens: prompt, CompletionTokens: completion, Known: true}
}

func TestNilModel(t *testing.T) {
	var none *openai.LLM // what openai.New returns beside an error
	for _, m := range []llms.Model{nil, none} {
		_, err := langchain.Model(m).Complete(t.Context(), ask("One?"))
		if llm.ClassOf(err) != llm.ClassPermanent {
			t.Errorf("got %v", err)
		}
	}
}

func TestTemperatureRefused(t *testing.T) {
	refusals := map[string]string{
		"openai": "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is " +
			"supported.",
		"anthropic": "`temperature` is deprecated for this model.",
		"ollama":    "invalid temperature",
	}
	eachWire(t, func(t *testing.T, w wire, ours bool) {
		if w.name == "ollama" && !ours {
			t.Skip("without our HTTP client Ollama's errors have no status")
		}
		var seen bodies
		m := w.model(t, ours, func(rw http.ResponseWriter, r *http.Request) {
			got, sent := sampling(w, seen.take(t, r))["temperature"]
			if sent && got != 1.0 {
				answer(400, w.fault(refusals[w.name], "unsupported_value"))(rw, r)
				return
			}
			if sent && ours {
				t.Errorf("the second call has temperature %v", got)
			}
			io.WriteString(rw, w.reply("SELECT 1"))
		})
		warm := 0.7
		req := ask("One?")
		req.Temperature = &warm
		tracer := trace.Tracer{}.New("test")
		for i, calls := range []int{2, 1, 1} {
			resp := testutil.Value(m.Complete(trace.NewContext(t.Context(), tracer), req))(t)
			if resp.Usage.Calls != calls {
				t.Errorf("call %d: %d attempts, want %d", i, resp.Usage.Calls, calls)
			}
		}
		if n := len(seen.all()); n != 4 {
			t.Errorf("%d requests, want 4", n)
		}
		if got := tracer.Warnings(); len(got) != 1 || got[0].Code != "temperature-refused" {
			t.Errorf("warnings: %v", got)
		}
	})
}

// TestTopPUnsent: what does not reach the provider is told, once a call.
func TestTopPUnsent(t *testing.T) {
	eachWire(t, func(t *testing.T, w wire, ours bool) {
		m := w.model(t, ours, answer(200, w.reply("SELECT 1")))
		for _, topP := range []float64{0, 0.9} {
			req, tracer := ask("One?"), trace.Tracer{}.New("test")
			req.TopP = &topP
			testutil.Value(m.Complete(trace.NewContext(t.Context(), tracer), req))(t)
			told := tracer.Warnings()
			if want := topP != 0 && !ours; (len(told) == 1 && told[0].Code == "top-p-unsent") != want || len(told) > 1 {
				t.Errorf("top_p %g: warnings %v, want one %v", topP, told, want)
			}
		}
	})
}

// An error that only repeats a prompt about temperatures costs no second call, and must not switch the temperature off.
func TestTemperatureNamedByThePrompt(t *testing.T) {
	w := wires[0]
	var seen bodies
	fail := true
	m := w.model(t, true, func(rw http.ResponseWriter, r *http.Request) {
		seen.take(t, r)
		if fail {
			answer(400, w.fault("cannot answer: average temperature in May", "x"))(rw, r)
			return
		}
		io.WriteString(rw, w.reply("SELECT 1"))
	})
	if _, err := m.Complete(t.Context(), ask("Average temperature in May?")); llm.ClassOf(err) != llm.ClassPermanent {
		t.Fatalf("got %v", err)
	}
	fail = false
	testutil.Value(m.Complete(t.Context(), ask("One?")))(t)
	all := seen.all()
	if got := sampling(w, all[len(all)-1])["temperature"]; len(all) != 2 || got != 1.0 {
		t.Errorf("request %d has temperature %v", len(all), got)
	}
}

// A temperature that is only too high for the provider says nothing of others.
func TestTemperatureTooHigh(t *testing.T) {
	w := wires[2]
	var seen bodies
	m := w.model(t, true, func(rw http.ResponseWriter, r *http.Request) {
		if got, sent := sampling(w, seen.take(t, r))["temperature"]; sent && got.(float64) > 1 {
			answer(400, w.fault("temperature: range: 0..1", "invalid_request_error"))(rw, r)
			return
		}
		io.WriteString(rw, w.reply("SELECT 1"))
	})
	var got []any
	for _, temperature := range []float64{1.2, 0.5} {
		req := ask("One?")
		req.Temperature = &temperature
		testutil.Value(m.Complete(t.Context(), req))(t)
	}
	for _, body := range seen.all() {
		got = append(got, sampling(w, body)["temperature"])
	}
	golden.Equal(t, []any{1.2, nil, 0.5}, got)
}

// Concurrent calls of one client keep their notes apart: each gets the error
// that was meant for it.
func TestConcurrentErrors(t *testing.T) {
	w := wires[0]
	m := w.model(t, true, func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for i := range 40 {
			if strings.Contains(string(body), fmt.Sprintf(`"q%d"`, i)) {
				rw.Header().Set("Retry-After", fmt.Sprint(i+1))
				answer(429+i%2*74, w.fault(fmt.Sprintf("m%d", i), ""))(rw, r) // 429 or 503
			}
		}
	})
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			_, err := m.Complete(t.Context(), ask(fmt.Sprintf("q%d", i)))
			var e *llm.Error
			if !errors.As(err, &e) || e.Status != 429+i%2*74 || e.RetryAfter.Seconds() != float64(i+1) ||
				e.Message != fmt.Sprintf("m%d", i) {
				t.Errorf("call %d: %+v", i, err)
			}
		})
	}
	wg.Wait()
}

// TestSystemRole: messages of the system that a server refuses become a part of the user's, at once and from then on.
func TestSystemRole(t *testing.T) {
	for _, w := range wires {
		var seen bodies
		m := w.model(t, true, func(rw http.ResponseWriter, r *http.Request) {
			body := seen.take(t, r)
			text := fmt.Sprint(body["messages"])
			if strings.Contains(text, "role:system") || body["system"] != nil {
				answer(400, w.fault("System role not supported", "x"))(rw, r)
				return
			}
			io.WriteString(rw, w.reply("SELECT 1"))
		})
		req := ask("One?")
		req.Messages = append([]llm.Message{{Role: llm.System, Text: "Answer in SQL."}}, req.Messages...)
		for _, want := range []int{2, 3} {
			resp, err := m.Complete(t.Context(), req)
			if err != nil || resp.Text != "SELECT 1" || len(seen.all()) != want {
				t.Errorf("%s: %+v, %v, %d calls", w.name, resp, err, len(seen.all()))
			}
		}
	}
}
