package mcpserver_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/mcpserver"
	"github.com/texttosql/texttosql/internal/testutil"
)

// The protocols that ask a user in a way of their own: the client calls again, the form has titles, the form has none.
var protocols = []string{"2026-07-28", "2025-11-25", "2025-06-18"}

func TestElicitation(t *testing.T) {
	noLeak(t)
	accept := func(choice any) *mcp.ElicitResult {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"choice": choice}}
	}
	tests := []struct {
		why    string
		result *mcp.ElicitResult
		err    error
		status string
		rows   []any
		said   string // of the message where the status is unsure
	}{
		{"an option", accept("r2"), nil, "answered", []any{[]any{"Bo"}}, ""},
		{"the first option", accept("r1"), nil, "answered", []any{[]any{"Ann"}, []any{"Cy"}}, ""},
		{"the user declines", &mcp.ElicitResult{Action: "decline"}, nil, "unsure", nil, "chose none"},
		{"the user goes away", &mcp.ElicitResult{Action: "cancel"}, nil, "unsure", nil, "chose none"},
		{"declined with an answer", &mcp.ElicitResult{Action: "decline", Content: map[string]any{"choice": "r1"}}, nil,
			"unsure", nil, "chose none"},
		{"an option that is none", accept("r9"), nil, "unsure", nil, ""},
		{"a wrong type", accept(2.0), nil, "unsure", nil, ""},
		{"accepted without an answer", &mcp.ElicitResult{Action: "accept"}, nil, "unsure", nil, ""},
	}
	for _, protocol := range protocols {
		for _, tt := range tests {
			t.Run(protocol+"/"+tt.why, func(t *testing.T) {
				var form *mcp.ElicitParams
				m := newModel()
				cs := connect(t, serverOf(t, m, nil), &mcp.ClientOptions{
					ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						form = req.Params
						return tt.result, tt.err
					},
				}, protocol)
				if got := cs.InitializeResult().ProtocolVersion; got != protocol {
					t.Fatalf("protocol %s", got)
				}
				res, err := cs.CallTool(t.Context(),
					&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": disagree}})
				if err != nil { // the client of this SDK checks what its own user answered
					if tt.status == "unsure" && tt.said == "" && protocol == protocols[0] {
						return
					}
					t.Fatal(err)
				}
				out, _ := res.StructuredContent.(map[string]any)
				if out["status"] != tt.status {
					t.Fatalf("%v: %s", out, textOf(res))
				}
				if rows, _ := out["rows"].([]any); tt.rows != nil && !cmp.Equal(tt.rows, rows) {
					t.Errorf("rows %v, want %v", rows, tt.rows)
				}
				message, _ := out["message"].(string)
				if !strings.Contains(message, tt.said) {
					t.Errorf("message %q, want %q", message, tt.said)
				}
				if options, _ := out["options"].([]any); (tt.status == "unsure") != (len(options) == 3) {
					t.Errorf("options %v", options)
				}
				if form == nil || !strings.Contains(form.Message, " (1 of 3 samples)") ||
					!strings.Contains(form.Message, "\n  name\n  Bo\n") {
					t.Errorf("the user was asked %+v", form)
				}
				if cost := asJSON(t, out["cost"]); !strings.Contains(cost, `"calls":3,`) || m.calls != 3 {
					t.Errorf("cost %s for %d calls", cost, m.calls)
				}
				_, why, _ := call(t, cs, "explain_answer", map[string]any{"answer_id": out["answer_id"]})
				votes, _ := why["votes"].([]any)
				if chose := why["level"] == "chosen"; len(votes) != 3 || chose != (tt.status == "answered") {
					t.Errorf("why: %v", why)
				}
			})
		}
	}
}

// A client that cannot ask its user gets the options.
func TestNobodyToAsk(t *testing.T) {
	for _, protocol := range protocols {
		cs := connect(t, serverOf(t, newModel(), nil), nil, protocol)
		res, out, text := call(t, cs, "ask", map[string]any{"question": disagree})
		if options, _ := out["options"].([]any); res.IsError || out["status"] != "unsure" || len(options) != 3 ||
			!strings.Contains(text, "Unsure: ") ||
			!strings.Contains(asJSON(t, out["message"]), "cannot ask the user") {
			t.Errorf("%s: %v\n%s", protocol, out, text)
		}
	}
	cs := connect(t, serverOf(t, newModel(), nil), &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{
		Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}},
	}}, "2025-11-25")
	if _, out, text := call(t, cs, "ask", map[string]any{"question": disagree}); out["status"] != "unsure" {
		t.Errorf("a client that opens pages alone: %s", text)
	}
}

// A user who does not answer is not waited for longer than may be, and keeps no other question waiting.
func TestUserTakesLong(t *testing.T) {
	noLeak(t)
	asked, release := make(chan bool), make(chan bool)
	s := serverOf(t, newModel(), func(c *mcpserver.Config) { c.Questions, c.Patience = 1, 300*time.Millisecond })
	other := connect(t, s, nil, "")
	cs := connect(t, s,
		&mcp.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			close(asked)
			<-release
			return nil, errors.New("nobody is here")
		}}, "2025-11-25")
	type given struct {
		res *mcp.CallToolResult
		err error
	}
	done := make(chan given)
	go func() {
		res, err := cs.CallTool(context.Background(),
			&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": disagree}})
		done <- given{res, err}
	}()
	<-asked
	if res, _, text := call(t, other, "ask", map[string]any{"question": howMany}); res.IsError {
		t.Errorf("another question: %s", text)
	}
	g := <-done
	close(release)
	if g.err != nil || !strings.Contains(asJSON(t, g.res.StructuredContent), "no answer in time") {
		t.Errorf("%v %v", g.res, g.err)
	}
}

// A client that calls again may name no other state and ask no other question. Where it calls twice, it gets the answer
// twice.
func TestStateOfAQuestion(t *testing.T) {
	s := serverOf(t, newModel(), nil)
	opts := &mcp.ClientOptions{
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return nil, errors.New("not used")
		},
	}
	cs, other := connect(t, s, opts, "2026-07-28"), connect(t, s, opts, "2026-07-28")
	begin := func() *mcp.CallToolResult {
		res, err := cs.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": disagree}})
		if err != nil || len(res.InputRequests) != 1 || res.RequestState == "" {
			t.Fatalf("%v %v", res, err)
		}
		return res
	}
	again := func(cs *mcp.ClientSession, question, state string) (*mcp.CallToolResult, string) {
		res := testutil.Value(cs.CallTool(t.Context(), &mcp.CallToolParams{
			Name: "ask", Arguments: map[string]any{"question": question}, RequestState: state,
			InputResponses: mcp.InputResponseMap{"choice": &mcp.ElicitResult{Action: "accept",
				Content: map[string]any{"choice": "r2"}}},
		}))(t)
		return res, textOf(res)
	}
	state := begin().RequestState
	if res, text := again(other, disagree, state); !res.IsError {
		t.Errorf("another client goes on: %s", text)
	}
	if res, text := again(cs, disagree, "0"); !res.IsError {
		t.Errorf("an unknown state: %s", text)
	}
	if res, text := again(cs, disagree, state); res.IsError || !strings.Contains(text, "Norway") {
		t.Errorf("the right one: %s", text)
	}
	if res, text := again(cs, disagree, state); res.IsError || !strings.Contains(text, "Norway") ||
		!strings.Contains(text, "cost: 3 calls") {
		t.Errorf("a state is used twice: %s", text)
	}
	if res, text := again(cs, howMany, begin().RequestState); !res.IsError {
		t.Errorf("another question: %s", text)
	}
	first := begin().RequestState
	for range 32 {
		begin()
	}
	if res, text := again(cs, disagree, first); !res.IsError {
		t.Errorf("more than 32 wait: %s", text)
	}
}

// Where a user is asked, the end of the server, of the client and of the call end the question too.
func TestEndWhileTheUserIsAsked(t *testing.T) {
	for _, why := range []string{"the server ends", "the client goes away", "the call is cancelled"} {
		t.Run(why, func(t *testing.T) {
			noLeak(t)
			s := serverOf(t, newModel(), nil)
			there, here := mcp.NewInMemoryTransports()
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			done := make(chan error, 1)
			go func() { done <- s.Run(ctx, there) }()
			asked := make(chan bool)
			cs := testutil.Value(mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
				ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					close(asked)
					<-ctx.Done()
					return nil, ctx.Err()
				},
			}).Connect(t.Context(), here, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"}))(t)
			call, cancel := context.WithCancel(t.Context())
			over := make(chan bool)
			go func() {
				defer close(over)
				cs.CallTool(call, &mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": disagree}})
			}()
			<-asked
			switch why {
			case "the server ends":
				stop()
			case "the client goes away":
				conn, _ := here.Connect(context.Background())
				conn.Close()
			case "the call is cancelled":
				cancel()
				<-over
				stop()
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			cancel()
			<-over
			cs.Close()
		})
	}
}
