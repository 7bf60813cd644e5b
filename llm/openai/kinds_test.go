package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/llmerr"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/openai"
	"github.com/texttosql/texttosql/trace"
)

// This file has the servers that speak OpenAI's protocol as they are: the kinds of trouble that people reported,
// several of each.

// TestContextWords: the words of servers for a prompt that does not fit, at every status, and texts that merely repeat
// them.
func TestContextWords(t *testing.T) {
	for _, tt := range []struct {
		server, message string
		long            bool
	}{
		{"OpenAI, Azure, DeepSeek, vLLM", "This model's maximum context length is 8192 tokens. However, " +
			"your messages resulted in 9000 tokens.", true},
		{"OpenAI, newer", "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 " +
			"tokens.", true},
		{"OpenAI, responses", "Your input exceeds the context window of this model. Please adjust your input and try again.",
			true},
		{"OpenRouter", "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens.",
			true},
		{"vLLM, prompt", "The decoder prompt (length 9000) is longer than the maximum model length of 8192. " +
			"Make sure that `max_model_len` is no smaller.", true},
		{"vLLM, older", "You passed 9001 input tokens and requested 0 output tokens. However, " +
			"the model's context length is only 8192 tokens.", true},
		{"SGLang", "The input (9000 tokens) is longer than the model's context length (8192 tokens).", true},
		{"SGLang, total", "Requested token count exceeds the model's maximum context length of 8192 tokens.", true},
		{"Anthropic", "prompt is too long: 210000 tokens > 200000 maximum", true},
		{"Anthropic, with the reply", "input length and `max_tokens` exceed context limit: 199000 + 32000 > 200000, " +
			"decrease input length or `max_tokens`", true},
		{"llama.cpp", "the request exceeds the available context size. try increasing the context size or enable context " +
			"shift", true},
		{"llama.cpp, newer", "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it",
			true},
		{"llama.cpp, while writing", "Context size has been exceeded.", true},
		{"Mistral", "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
			true},
		{"Ollama", "the input length exceeds the context length", true},
		{"Ollama, cloud", "prompt too long; exceeded max context length by 1000 tokens", true},
		{"xAI", "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", true},
		{"LM Studio", "Trying to keep the first 40000 tokens when context the overflows. However, " +
			"the model is loaded with context length of only 4096 tokens", true},
		{"LM Studio, newer", "The number of tokens to keep from the initial prompt is greater than the context length.",
			true},
		{"LM Studio, n_keep", "Cannot truncate prompt with n_keep (5000) >= n_ctx (4096)", true},
		{"Groq, Cerebras", "Please reduce the length of the messages or completion. Current length is 9000 while limit is " +
			"8192", true},
		{"TGI, Together", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: " +
			"9000 `inputs` tokens and 512 `max_new_tokens`", true},
		{"TGI", "Input validation error: `inputs` must have less than 4096 tokens. Given: 9000", true},
		{"Google", "The input token count (1300000) exceeds the maximum number of tokens allowed (1048576).", true},
		{"Vertex", "Unable to submit request because the input token count is 1200000 but model only supports up to 1048576.",
			true},
		{"Cohere", "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.", true},
		{"Bedrock", "Input is too long for requested model.", true},
		{"Bedrock, behind a gateway", "The model returned the following errors: Input is too long for requested model.",
			true},
		{"Bedrock, Nova", "Too many input tokens. Max input tokens: 8000, request input token count: 9000", true},
		{"Fireworks", "The prompt is too long: 9000, model maximum context length: 8191", true},
		{"MiniMax", "invalid params, context window exceeds limit", true},
		{"Moonshot", "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)", true},
		{"Zhipu", "Prompt exceeds max length", true},
		{"DashScope", "Range of input length should be [1, 30720]", true},
		{"GitHub", "Request body too large for gpt-4o model. Max size: 8000 tokens.", true},
		{"Copilot", "prompt token count of 9000 exceeds the limit of 8192", true},
		{"tabbyAPI", "Prompt length 9000 is greater than max_seq_len 8192", true},
		{"LiteLLM", "litellm.ContextWindowExceededError: litellm.BadRequestError: This model's maximum context length is " +
			"8192 tokens.", true},

		{"quoted", "Invalid schema: the field note holds 'maximum context length is 8192 tokens'", false},
		{"a prompt behind a colon", "messages.1: the text says that the prompt is too long", false},
		{"a limit on the reply", "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for m-1",
			false},
		{"a limit on the reply, in words", "`max_tokens` is too large: 100000. This model supports at most 16384 " +
			"completion tokens", false},
		{"another refusal", "Invalid value for 'content': expected a string, got null.", false},
	} {
		for status, body := range map[int]string{
			400: fault(tt.message, "invalid_request_error", "", ""), 500: fault(tt.message, "server_error", "", ""),
			200: `{"error":` + quote(tt.message) + `}`,
			422: `{"object":"error","message":` + quote(tt.message) + `,"code":422}`,
		} {
			_, err := serve(t, answer(status, "", body)).Complete(t.Context(), full())
			if got := llm.ClassOf(err) == llm.ClassContextTooLong; got != tt.long {
				t.Errorf("%s, status %d: too long is %v, want %v: %v", tt.server, status, got, tt.long, err)
			}
		}
	}
}

func quote(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// TestSystemRole: messages of the system that are refused become a part of the user's, at once and from then on.
func TestSystemRole(t *testing.T) {
	for _, tt := range []struct {
		server, body string
		status       int
		folds        bool
	}{
		{"vLLM", `{"object":"error","message":"System role not supported","type":"BadRequestError","param":null,"code":400}`,
			400, true},
		{"OpenAI", fault("Unsupported value: 'messages[0].role' does not support 'system' with this model.",
			"invalid_request_error", "messages[0].role", "unsupported_value"), 400, true},
		{"jinja", fault("Error in applying chat template from request: jinja2.exceptions.TemplateError: "+
			"System role not supported", "", "", ""), 500, true},
		{"Gemma's template", fault("Conversation roles must alternate user/assistant/user/assistant/...", "", "", ""), 400,
			true},
		{"Google", fault("Developer instruction is not enabled for models/gemma-3-27b-it", "", "", ""), 400, true},
		{"Bedrock", `{"message":"This model doesn't support system messages. Try again without system messages."}`, 400,
			true},
		{"pydantic", `{"detail":[{"loc":["body","messages",0,"role"],"msg":"Input should be 'user' or 'assistant'"}]}`, 422,
			true},
		{"a list of roles", fault("messages[0].role must be one of: user, assistant", "", "", ""), 400, true},
		{"with a success", `{"error":"the system prompt is not supported by this model"}`, 200, true},
		{"unknown role", fault("Unknown role: 'system'", "", "", ""), 400, true},
		{"another refusal", fault("The system is not available", "", "", ""), 400, false},
		{"a wrong key", fault("System role not supported", "", "", ""), 401, false},
	} {
		t.Run(tt.server, func(t *testing.T) {
			calls, sent := 0, ""
			m := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				calls, sent = calls+1, string(body)
				if strings.Contains(sent, `"role":"system"`) {
					w.WriteHeader(tt.status)
					io.WriteString(w, tt.body)
					return
				}
				io.WriteString(w, completion("SELECT 1", "stop", ""))
			})
			for _, want := range []int{2, 1} {
				calls = 0
				resp, err := m.Complete(t.Context(), full())
				if !tt.folds {
					if err == nil || calls != 1 {
						t.Errorf("%v, %d calls", err, calls)
					}
					return
				}
				if err != nil || calls != want || resp.Usage.Calls != want ||
					!strings.Contains(sent, `"Answer in SQL.\n\nHow many?"`) {
					t.Errorf("%v, %d calls of %d, sent %s", err, calls, want, sent)
				}
			}
		})
	}
	m := serve(t, answer(400, "", fault("System role not supported", "", "", "")))
	if _, err := m.Complete(t.Context(), full()); llm.AsError(err).Usage.Calls != 2 {
		t.Errorf("a server that refuses everything is asked twice, and counted so: %+v", err)
	}
}

// TestParameterWords: a parameter that is refused in words is named, and one that the text merely repeats is not.
func TestParameterWords(t *testing.T) {
	for _, tt := range []struct{ why, message, prompt, parameter string }{
		{"Kimi", "invalid temperature: only 1 is allowed for this model", "", "temperature"},
		{"LiteLLM", "litellm.UnsupportedParamsError: gpt-5 models don't support temperature=0.8. " +
			"Only temperature=1 is supported.", "", "temperature"},
		{"Bedrock", "The model returned the following errors: temperature is deprecated for this model.", "", "temperature"},
		{"another order", "For this model the only supported value of Temperature is 1", "", "temperature"},
		{"a list", "Sampling parameters (temperature, top_p) cannot be used with reasoning", "", "temperature"},
		{"a range", "temperature must be between 0 and 1", "", "temperature"},
		{"a prompt with the word, and the parameter", "invalid temperature: only 1 is allowed", "The temperature of Lima?",
			"temperature"},
		{"a prompt with the word, another order", "This model does not support temperature", "The temperature of Lima?",
			"temperature"},
		{"top_p", "top_p is not supported by this model", "", "top_p"},
		{"seed", "this backend does not support seed", "", "seed"},
		{"stop", "stop sequences are not supported for this model", "", "stop"},
		{"effort", "reasoning effort is not supported", "", "effort"},
		{"schema", "structured outputs are not supported by this model", "", "schema"},
		{"a prompt that is repeated", "messages.1: the text about the temperature of Lima is not allowed",
			"The temperature of Lima?", ""},
		{"the same, quoted", `not allowed: "what is the temperature in Lima"`, "What is the temperature in Lima?", ""},
		{"the same, of a server that repeats much", "invalid request, content: average temperature in May",
			"average temperature in May", ""},
		{"nothing is refused", "the temperature", "", ""},
	} {
		req := full()
		if tt.prompt != "" {
			req.Messages = []llm.Message{{Role: llm.User, Text: tt.prompt}}
		}
		for _, body := range []string{fault(tt.message, "invalid_request_error", "", ""),
			fault(tt.message, "None", "None", "400"),
			`{"message":` + quote(tt.message) + `}`} {
			_, err := serve(t, answer(400, "", body)).Complete(t.Context(), req)
			if got := llm.AsError(err).Parameter; got != tt.parameter {
				t.Errorf("%s: parameter %q, want %q: %v", tt.why, got, tt.parameter, err)
			}
		}
	}
}

// TestStreams: a stream that nobody asked for is one reply, an error in it is one, and a cut one has none.
func TestStreams(t *testing.T) {
	chunk := func(delta, finish string) string {
		return fmt.Sprintf(
			`{"id":"c","object":"chat.completion.chunk","model":"m-1-2026","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, delta, finish)
	}
	one, two := chunk(`{"role":"assistant","content":"SELECT"}`, "null"), chunk(`{"role":"assistant","content":" 1"}`,
		`"stop"`)
	usage := `{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7}}`
	for _, tt := range []struct {
		why, body string
		text      string
		stop      string
		class     llm.Class
		says      string
	}{
		{"whole", "data: " + one + "\n\n: keep-alive\n\ndata: " + two + "\n\ndata: " + usage + "\n\ndata: [DONE]\n\n",
			"SELECT 1", llm.StopEnd, "", ""},
		{"no end mark", "data: " + one + "\n\ndata: " + two + "\n\n", "SELECT 1", llm.StopEnd, "", ""},
		{"no blank behind the colon, and carriage returns", "data:" + one + "\r\n\r\ndata:" + two + "\r\n\r\n", "SELECT 1",
			llm.StopEnd, "", ""},
		{"comments and blanks first", "\n\n: hello\n\ndata: " + one + "\n\ndata: " + two, "SELECT 1", llm.StopEnd, "", ""},
		{"named events", "event: message\nid: 1\ndata: " + one + "\n\nevent: message\nid: 2\ndata: " + two + "\n\n",
			"SELECT 1", llm.StopEnd, "", ""},
		{"no finish reason but an end mark", "data: " + one + "\n\ndata: [DONE]\n\n", "SELECT", "", "", ""},
		{"reasoning beside it", "data: " + chunk(`{"reasoning_content":"SELECT 2"}`, "null") + "\n\ndata: " + one +
			"\n\ndata: " + two + "\n\n",
			"SELECT 1", llm.StopEnd, "", ""},
		{"whole messages", `data: {"choices":[{"message":{"content":"SELECT 1"},"finish_reason":"stop"}]}` + "\n\n",
			"SELECT 1", llm.StopEnd, "", ""},
		{"parts", "data: " + chunk(`{"content":[{"type":"text","text":"SELECT"}]}`,
			"null") + "\n\ndata: " + chunk(`{"content":[{"type":"text","text":" 1"}]}`, `"stop"`) + "\n\n",
			"SELECT 1", llm.StopEnd, "", ""},
		{"another choice", `data: {"choices":[{"index":1,"delta":{"content":"no"}}]}` + "\n\ndata: " + one + "\n\ndata: " +
			two + "\n\n", "SELECT 1",
			llm.StopEnd, "", ""},
		{"cut by its limit", "data: " + one + "\n\ndata: " + chunk("{}", `"length"`) + "\n\n", "SELECT", llm.StopLength, "",
			""},
		{"cut on its way", "data: " + one + "\n\n", "", "", llm.ClassOverloaded, "broke off"},
		{"cut in an event", "data: " + one + "\n\ndata: {\"choices\":[{\"del", "", "", llm.ClassOverloaded, "broke off"},
		{"an error", "event: error\ndata: {\"error\":{\"message\":\"Overloaded\",\"type\":\"overloaded_error\"}}\n\n", "", "",
			llm.ClassOverloaded, "Overloaded"},
		{"an error behind a part", "data: " + one + "\n\ndata: {\"error\":{\"message\":\"slow down\",\"code\":429}}\n\n", "",
			"", llm.ClassRateLimit, "slow down"},
		{"an error as text", "event: error\ndata: upstream is gone\n\n", "", "", llm.ClassUnknown, "upstream is gone"},
	} {
		for _, header := range []string{"Content-Type: text/event-stream", "Content-Type: application/json"} {
			resp, err := serve(t, answer(200, header, tt.body)).Complete(t.Context(), full())
			if resp.Text != tt.text || resp.StopReason != tt.stop || llm.ClassOf(err) != tt.class || err != nil &&
				!strings.Contains(err.Error(), tt.says) ||
				(err == nil) != (tt.says == "") {
				t.Errorf("%s: %+v, %v", tt.why, resp, err)
			}
		}
	}
	resp := testutil.Value(serve(t, answer(200, "", "data: "+one+"\n\ndata: "+two+"\n\ndata: "+usage+
		"\n\n")).Complete(t.Context(), full()))(t)
	if resp.Usage.PromptTokens != 11 || !resp.Usage.Known || resp.Model != "m-1-2026" {
		t.Errorf("usage in an event of its own: %+v", resp)
	}
}

// TestErrorInSuccess: an error with the status of a success counts as if it had the status that it names.
func TestErrorInSuccess(t *testing.T) {
	for _, tt := range []struct {
		why, body string
		class     llm.Class
		says      string
	}{
		{"a number", `{"error":{"message":"slow down","code":429}}`, llm.ClassRateLimit, "slow down"},
		{"a text", `{"error":{"message":"slow down","code":"429"}}`, llm.ClassRateLimit, "slow down"},
		{"a number with a point", `{"error":{"message":"gone","code":503.0}}`, llm.ClassOverloaded, "gone"},
		{"status", `{"error":{"message":"late","status":504}}`, llm.ClassTimeout, "late"},
		{"beside the error", `{"error":"gone","status":502}`, llm.ClassOverloaded, "gone"},
		{"statusCode", `{"statusCode":401,"message":"no such key"}`, llm.ClassPermanent, "set OPENAI_API_KEY"},
		{"a wrong key", `{"error":{"message":"Invalid API key","code":401}}`, llm.ClassPermanent, "set OPENAI_API_KEY"},
		{"a word", `{"error":{"message":"slow down","type":"rate_limit_error"}}`, llm.ClassRateLimit, "slow down"},
		{"a word of Google", `{"error":{"message":"gone","status":"UNAVAILABLE"}}`, llm.ClassOverloaded, "gone"},
		{"in the choice",
			`{"choices":[{"message":{"content":""},"finish_reason":"error","error":{"code":502,"message":"Upstream idle"}}]}`,
			llm.ClassOverloaded, "Upstream idle"},
		{"in the choice, behind a part",
			`{"choices":[{"message":{"content":"SELECT"},"finish_reason":"error","error":{"code":429,"message":"slow down"}}]}`,
			llm.ClassRateLimit, "slow down"},
		{"words alone", `{"code":"rate_limit_daily","message":"Daily limit reached"}`, llm.ClassRateLimit, "Daily limit"},
		{"detail", `{"detail":"Model is loading"}`, llm.ClassUnknown, "loading"},
		{"a list", `{"success":false,"errors":[{"code":10000,"message":"Authentication error"}]}`, llm.ClassUnknown,
			"Authentication error"},
		{"MiniMax", `{"choices":null,"base_resp":{"status_code":1004,"status_msg":"login fail"}}`, llm.ClassUnknown,
			"login fail"},
		{"behind a gateway", `{"error":{"message":"Provider returned error","code":400,
			"metadata":{"raw":"{\"error\":{\"message\":\"This model's maximum context length is 9 tokens\"}}"}}}`,
			llm.ClassContextTooLong, "maximum context"},
		{"no words", `{"error":{"code":500}}`, llm.ClassOverloaded, "without words"},
		{"LM Studio: no such path", `{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`, llm.ClassPermanent,
			"look at OPENAI_BASE_URL"},
		{"another service", `{"status":"ok"}`, llm.ClassPermanent, "look at OPENAI_BASE_URL"},
		{"Ollama's own page", `Ollama is running`, llm.ClassPermanent, "look at OPENAI_BASE_URL"},
	} {
		_, err := serve(t, answer(200, "", tt.body)).Complete(t.Context(), full())
		if llm.ClassOf(err) != tt.class || !strings.Contains(fmt.Sprint(err), tt.says) {
			t.Errorf("%s: %v, want class %v and %q", tt.why, err, tt.class, tt.says)
		}
	}
}

// TestContent: the text of a reply, as one or as a list of parts, and what is said of one that has none.
func TestContent(t *testing.T) {
	for _, tt := range []struct{ why, message, finish, text, says string }{
		{"a text", `{"content":"SELECT 1"}`, "stop", "SELECT 1", ""},
		{"a part", `{"content":[{"type":"text","text":"SELECT 1"}]}`, "stop", "SELECT 1", ""},
		{"parts", `{"content":[{"type":"text","text":"SELECT"},{"type":"text","text":" 1"}]}`, "stop", "SELECT 1", ""},
		{"texts", `{"content":["SELECT"," 1"]}`, "stop", "SELECT 1", ""},
		{"other kinds", `{"content":[{"type":"reference","reference_ids":[1]},{"type":"output_text","text":"SELECT 1"},
			{"type":"draft","text":"no"},null,7]}`, "stop", "SELECT 1", ""},
		{"thinking first",
			`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"SELECT 2"}]},{"type":"text","text":"SELECT 1"}]}`,
			"stop",
			"SELECT 1", ""},
		{"thinking last", `{"content":[{"type":"text","text":"SELECT 1"},{"type":"reasoning","text":"SELECT 2"}]}`, "stop",
			"SELECT 1", ""},
		{"a thought", `{"content":[{"text":"SELECT 2","thought":true},{"text":"SELECT 1"}]}`, "stop", "SELECT 1", ""},
		{"a value", `{"content":[{"type":"text","text":{"value":"SELECT 1","annotations":[]}}]}`, "stop", "SELECT 1", ""},
		{"a fence in a part of its own",
			"{\"content\":[{\"type\":\"text\",\"text\":\"Here:\"},{\"type\":\"text\",\"text\":\"```sql\\nSELECT 1\\n```\"}]}",
			"stop",
			"Here:\n```sql\nSELECT 1\n```", ""},
		{"reasoning_content", `{"content":"","reasoning_content":"The answer is SELECT 1"}`, "stop", "",
			"nothing but reasoning"},
		{"reasoning", `{"content":null,"reasoning":"The answer is SELECT 1"}`, "stop", "", "nothing but reasoning"},
		{"a part of thinking", `{"content":[{"type":"thinking","thinking":"hm"}]}`, "stop", "", "nothing but reasoning"},
		{"a call", `{"content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"run_sql","arguments":"{}"}}]}`, "tool_calls", "",
			"the call of a tool"},
		{"an old call", `{"content":null,"function_call":{"name":"run_sql","arguments":"{}"}}`, "function_call", "",
			"the call of a tool"},
		{"nothing", `{"content":null,"reasoning_content":null,"tool_calls":[]}`, "weird", "", "reason: weird"},
	} {
		body := fmt.Sprintf(`{"choices":[{"index":0,"message":%s,"finish_reason":%q}]}`, tt.message, tt.finish)
		resp, err := serve(t, answer(200, "", body)).Complete(t.Context(), full())
		if resp.Text != tt.text || (err == nil) != (tt.says == "") || !strings.Contains(fmt.Sprint(err), tt.says) {
			t.Errorf("%s: %q, %v", tt.why, resp.Text, err)
		}
	}
}

// TestOddBodies: a reply is not lost to what stands around it, nor to a usage of another form.
func TestOddBodies(t *testing.T) {
	const choices = `"choices":[{"index":0,"message":{"content":"SELECT 1"},"finish_reason":"stop"}]`
	for _, tt := range []struct{ why, body, text, fault string }{
		{"a byte order mark", "\ufeff{" + choices + "}", "SELECT 1", ""},
		{"comments of a stream", "\n\n: PROCESSING\n\n: PROCESSING\n\n{" + choices + "}", "SELECT 1", ""},
		{"a usage that is a list", "{" + choices + `,"usage":[]}`, "SELECT 1", ""},
		{"a usage that is a text", `{"usage":"none",` + choices + "}", "SELECT 1", ""},
		{"counts that are texts", "{" + choices + `,"usage":{"prompt_tokens":"11","completion_tokens":"7"}}`, "SELECT 1", ""},
		{"details that are a number", "{" + choices + `,"usage":{"prompt_tokens_details":3}}`, "SELECT 1", ""},
		{"a part in place of a message", `{"choices":[{"delta":{"content":"SELECT 1"},"finish_reason":"stop"}]}`, "SELECT 1",
			""},
		{"the form of completions", `{"choices":[{"text":"SELECT 1","finish_reason":"stop"}]}`, "SELECT 1", ""},
		{"no choices", `{"choices":null}`, "", "nothing that the client reads"},
		{"choices of another form", `{"choices":{"a":1},"usage":{}}`, "", "JSON of another form"},
		{"comments alone", ": PROCESSING\n\n: PROCESSING", "", "no JSON"},
	} {
		resp, err := serve(t, answer(200, "", tt.body)).Complete(t.Context(), full())
		if resp.Text != tt.text || (err == nil) != (tt.fault == "") || err != nil &&
			!strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: %q, %v", tt.why, resp.Text, err)
		}
	}
}

// TestFinish: only a word that means "done" is an end. Any other one is a cut, and such a reply has no vote.
func TestFinish(t *testing.T) {
	for word, want := range map[string]string{
		"stop": llm.StopEnd, "STOP": llm.StopEnd, "Stop": llm.StopEnd, "end_turn": llm.StopEnd, "eos_token": llm.StopEnd,
		"eos":           llm.StopEnd,
		"stop_sequence": llm.StopEnd,
		"length":        llm.StopLength, "MAX_TOKENS": llm.StopLength, "model_length": llm.StopLength,
		"max_output_tokens": llm.StopLength, "abort": llm.StopLength,
		"insufficient_system_resource": llm.StopLength, "cancelled": llm.StopLength, "time_limit": llm.StopLength,
		"zork": llm.StopLength, "": "",
	} {
		resp, err := serve(t, answer(200, "", completion("SELECT 1", word, ""))).Complete(t.Context(), full())
		if err != nil || resp.StopReason != want {
			t.Errorf("%q: %q, %v", word, resp.StopReason, err)
		}
	}
	for _, word := range []string{"content_filter", "SAFETY", "sensitive"} {
		if _, err := serve(t, answer(200, "", completion("SELECT 1", word, ""))).Complete(t.Context(),
			full()); llm.ClassOf(err) != llm.ClassRefused {
			t.Errorf("%q: %v", word, err)
		}
	}
}

// TestAccount: no money and spent limits are no wrong key, and content that is held back is neither.
func TestAccount(t *testing.T) {
	for _, tt := range []struct {
		provider string
		status   int
		body     string
		account  bool
		class    llm.Class
	}{
		{"DeepSeek", 402, fault("Insufficient Balance", "unknown_error", "", "invalid_request_error"), true,
			llm.ClassPermanent},
		{"OpenRouter", 402, fault("This request requires more credits, or fewer max_tokens.", "", "", ""), true,
			llm.ClassPermanent},
		{"OpenRouter, a key's limit", 403,
			`{"error":{"message":"Key limit exceeded (total limit). Manage it in your settings","code":403}}`, true,
			llm.ClassPermanent},
		{"OpenAI", 429, fault("You exceeded your current quota, please check your plan and billing details.",
			"insufficient_quota", "", "insufficient_quota"), true, llm.ClassPermanent},
		{"OpenAI, not paid", 429, fault("Your account is not active.", "billing_not_active", "", "billing_not_active"), true,
			llm.ClassPermanent},
		{"Moonshot", 429, fault("Your account is suspended, please check your plan.", "exceeded_current_quota_error", "", ""),
			true, llm.ClassPermanent},
		{"Anthropic", 400, fault("Your credit balance is too low to access the Anthropic API.", "invalid_request_error", "",
			""), true, llm.ClassPermanent},
		{"xAI", 403, fault("Your newly created team doesn't have any credits yet.", "", "", ""), true, llm.ClassPermanent},
		{"DashScope", 400, fault("Access denied, please make sure your account is in good standing.", "", "", "Arrearage"),
			true, llm.ClassPermanent},
		{"with a success", 200, `{"error":{"message":"insufficient credits","code":402}}`, true, llm.ClassPermanent},
		{"a rate", 429, fault("Rate limit reached for requests per minute", "requests", "", "rate_limit_exceeded"), false,
			llm.ClassRateLimit},
		{"a rate by tokens", 429, fault("Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): "+
			"Limit 30000, Used 29000, Requested 2000. "+
			"Please try again in 2s.", "tokens", "", "rate_limit_exceeded"), false, llm.ClassRateLimit},
		{"a rate by tokens, in fewer words", 429, fault("Too many tokens, please wait before trying again.", "", "", ""),
			false, llm.ClassRateLimit},
		{"more tokens than a minute allows", 429,
			fault("Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, "+
				"Requested 41000. The input or output tokens must be reduced in order to run successfully.", "tokens", "",
				"rate_limit_exceeded"), false,
			llm.ClassContextTooLong},
		{"Groq's, with the status of a rate", 429,
			fault("Request too large for model `llama-3.1-8b-instant` on tokens per minute (TPM): Limit 6000, "+
				"Requested 7000, please reduce your message size and try again.", "tokens", "", "rate_limit_exceeded"), false,
			llm.ClassContextTooLong},
		{"a prompt in the words of a limit", 429, fault("Rate limit reached: \"is this request too large for you\"", "", "",
			""), false, llm.ClassRateLimit},
		{"a region", 403, fault("Country, region, or territory not supported", "", "", ""), false, llm.ClassPermanent},
		{"a wrong key", 401, fault("Incorrect API key provided", "", "", "invalid_api_key"), false, llm.ClassPermanent},
		{"OpenRouter, moderated", 403, fault("Your input was flagged by moderation", "", "", ""), false, llm.ClassRefused},
		{"DeepSeek, held back", 400, fault("Content Exists Risk", "invalid_request_error", "", "invalid_request_error"),
			false, llm.ClassRefused},
		{"xAI, held back", 403, fault("Content violates usage guidelines.", "", "", ""), false, llm.ClassRefused},
		{"DashScope, held back", 400, fault("Input data may contain something.", "", "", "data_inspection_failed"), false,
			llm.ClassRefused},
	} {
		_, err := serve(t, answer(tt.status, "", tt.body)).Complete(t.Context(), full())
		if errors.Is(err, llmerr.ErrAccount) != tt.account || llm.ClassOf(err) != tt.class {
			t.Errorf("%s: account %v, want %v; class %v, want %v: %v", tt.provider, !tt.account, tt.account, llm.ClassOf(err),
				tt.class, err)
		}
		if tt.account &&
			!strings.Contains(err.Error(), "look at the balance, the billing and the limits of the key (OPENAI_API_KEY)") {
			t.Errorf("%s: %v", tt.provider, err)
		}
	}
}

// TestPromptCut: a server that read less than half of the prompt is told of.
func TestPromptCut(t *testing.T) {
	// about 9,000 tokens
	long := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: strings.Repeat("measurement of the first kind ",
		1200)}}}
	for _, tt := range []struct {
		why            string
		prompt, cached int
		warns          bool
	}{
		{"2048", 2051, 0, true}, {"4096", 4096, 0, true}, {"512", 512, 0, true},
		{"all", 9000, 0, false}, {"words that are long tokens", 5000, 0, false}, {"cached ones are counted apart", 600, 8400,
			false},
		{"none told", 0, 0, false}, {"a server that tells nonsense", 11, 0, false},
	} {
		body := fmt.Sprintf(
			`{"choices":[{"message":{"content":"SELECT 1"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":9,
			"prompt_tokens_details":{"cached_tokens":%d}}}`, tt.prompt, tt.cached)
		tracer := trace.Tracer{}.New("test")
		testutil.Value(llm.Chain(serve(t, answer(200, "", body)), llm.Trace()).Complete(trace.NewContext(t.Context(), tracer),
			long))(t)
		warned := slices.ContainsFunc(tracer.Warnings(), func(w trace.Warning) bool {
			return w.Code == "prompt-cut" && strings.Contains(w.Message, "num_ctx")
		})
		if warned != tt.warns {
			t.Errorf("%s: warned %v, want %v: %v", tt.why, warned, tt.warns, tracer.Warnings())
		}
	}
}

// TestAddress: addresses as people write them, keys that stay where they belong, and a redirection that would take one
// along.
func TestAddress(t *testing.T) {
	keys := ""
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		keys += r.Header.Get("Authorization") + r.Header.Get("Api-Key")
	}))
	defer elsewhere.Close()
	_, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}).Complete(t.Context(), full())
	if keys != "" || !strings.Contains(fmt.Sprint(err), "look at OPENAI_BASE_URL") {
		t.Errorf("a redirection to another host: sent %q, %v", keys, err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(200, "", completion(r.URL.RequestURI()+r.Header.Get("Authorization"), "stop", ""))(w, r)
	}))
	defer server.Close()
	t.Setenv("OPENAI_API_KEY", "of-the-environment")
	for address, want := range map[string]string{
		"/v1": "/v1/chat/completions", "/v1/": "/v1/chat/completions", "/v1/chat/completions": "/v1/chat/completions",
		"":                                    "/chat/completions",
		"/openai/deployments/d?api-version=1": "/openai/deployments/d/chat/completions?api-version=1",
	} {
		resp := testutil.Value(openai.Client{BaseURL: " " + server.URL + address + " "}.Model("m").Complete(t.Context(),
			full()))(t)
		if resp.Text != want {
			t.Errorf("%q: asked %s", address, resp.Text)
		}
	}
}
