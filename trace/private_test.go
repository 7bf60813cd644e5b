package trace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/internal/tracepage"
	"github.com/texttosql/texttosql/trace"
)

const canary = "s3cret-7f3a"

// secretive is a trace with a canary in every private value, told to log.
func secretive(keep trace.Sensitivity, observe func(trace.Notice)) *trace.Span {
	root := trace.Tracer{Keep: keep, Observe: observe}.New("ask")
	ctx := trace.NewContext(context.Background(), root)
	_, s := trace.Start(ctx, "llm", trace.Attr{Key: "prompt", Value: prompt(canary + "-prompt")})
	s.Set("reply", reply(canary+"-reply"))
	s.Set("sql", trace.PrivateSQL.Secret("SELECT '"+canary+"-sql'"))
	s.Event("probed", trace.Attr{Key: "rows", Value: rows(canary + "-rows")})
	s.Fail(fmt.Errorf("401: key=%s-key", canary))
	s.End()
	_, check := trace.Start(ctx, "check")
	check.Fail(errors.Join(errors.New("some call failed"), fmt.Errorf("vote: %w", engineError{})))
	check.End()
	root.End()
	return root
}

// engineError repeats a part of a statement.
type engineError struct{}

func (engineError) Error() string  { return "no such column: " + canary + "-sql" }
func (engineError) Public() string { return "engine error" }

// Each way out of a trace shows what it was asked to show, and nothing else.
func TestPrivate(t *testing.T) {
	logged := func(show trace.Sensitivity) func(keep trace.Sensitivity) string {
		return func(keep trace.Sensitivity) string {
			var out bytes.Buffer
			l := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
			root := secretive(keep, func(n trace.Notice) { n.Log(context.Background(), l, show) })
			l.Info("done", "trace", root, "llm", root.Children()[0])
			return out.String()
		}
	}
	asJSON := func(show trace.Sensitivity) func(keep trace.Sensitivity) string {
		return func(keep trace.Sensitivity) string {
			b := testutil.Value(secretive(keep, nil).JSON(show))(t)
			return string(b)
		}
	}
	asPage := func(show trace.Sensitivity) func(keep trace.Sensitivity) string {
		return func(keep trace.Sensitivity) string {
			var out bytes.Buffer
			testutil.OK(t, secretive(keep, nil).WritePage(&out, tracepage.Page{}, show))
			return out.String()
		}
	}
	printed := func(keep trace.Sensitivity) string {
		root := secretive(keep, nil)
		return fmt.Sprintf("%v %+v %s %+v", root, root, root, struct{ Trace *trace.Span }{root})
	}
	const all = trace.PrivateSQL | trace.PrivatePrompts | trace.PrivateReplies | trace.PrivateRows
	tests := []struct {
		name   string
		why    string
		out    func(keep trace.Sensitivity) string
		keep   trace.Sensitivity
		want   []string
		public bool // shows what may be said of a failure
	}{
		{"JSON", "nothing is written unasked", asJSON(0), 0, nil, true},
		{"JSON, SQL shown", "SQL is held, so it can be shown later", asJSON(trace.PrivateSQL), 0, []string{"sql"}, false},
		{"JSON, all shown", "what is not held cannot be shown", asJSON(all), 0, []string{"sql"}, false},
		{"JSON, prompts kept", "what is kept is written", asJSON(0), trace.PrivatePrompts, []string{"prompt"}, true},
		{"JSON, all kept", "", asJSON(0), all, []string{"prompt", "reply", "sql", "rows"}, false},
		{"page", "a page is no exception", asPage(0), 0, nil, true},
		{"page, SQL shown", "", asPage(trace.PrivateSQL), 0, []string{"sql"}, false},
		{"page, rows kept", "", asPage(0), trace.PrivateRows, []string{"rows"}, true},
		{"log", "", logged(0), 0, nil, true},
		{"log, all kept", "logs go further than a trace", logged(0), all, nil, true},
		{"log, SQL shown", "", logged(trace.PrivateSQL), 0, []string{"sql"}, false},
		{"log, all kept and shown", "", logged(all), all, []string{"prompt", "reply", "sql", "rows"}, false},
		{"print", "a print shows a summary", printed, all, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := tt.out(tt.keep)
			for _, kind := range []string{"prompt", "reply", "sql", "rows", "key"} {
				want := false
				for _, w := range tt.want {
					want = want || w == kind
				}
				if got := strings.Contains(out, canary+"-"+kind); got != want {
					t.Errorf("%s: the canary of %s is shown: %v, want %v\n%s", tt.why, kind, got, want, out)
				}
			}
			if tt.public && (!strings.Contains(out, "some call failed") || !strings.Contains(out, "vote: engine error")) {
				t.Errorf("%s: the public part of the failure is missing:\n%s", tt.why, out)
			}
		})
	}
}

func TestWithheld(t *testing.T) {
	root := secretive(0, nil)
	llm := root.Children()[0]
	prompt, _ := llm.Attr("prompt")
	reply, _ := llm.Attr("reply")
	want := []any{
		trace.Secret{Kind: trace.PrivatePrompts, Withheld: true, Bytes: 18, Sum: "cf60a219544e69d1"},
		trace.Secret{Kind: trace.PrivateReplies, Withheld: true, Bytes: 17},
	}
	got := []any{prompt, reply}
	golden.Equal(t, want, got)
	if got := fmt.Sprint(reply); got != "reply not shown (17 bytes)" {
		t.Errorf("String = %q", got)
	}
}

// silent is an error that may say nothing in public.
type silent struct{}

func (silent) Error() string  { return "cell " + canary }
func (silent) Public() string { return "" }

// TestPublicFailures: what else a failure says is left, however often and in
// whatever words it wraps what may not be said.
func TestPublicFailures(t *testing.T) {
	other := errors.New("model: 503")
	tests := []struct {
		err  error
		want string
		why  string
	}{
		{errors.Join(fmt.Errorf("sample 1: %w", engineError{}), fmt.Errorf("sample 2: %w", engineError{}), other),
			"sample 1: engine error\nsample 2: engine error\nmodel: 503", "equal texts"},
		{fmt.Errorf("a: %w: b", silent{}), "a: withheld: b", "no public text"},
		{silent{}, "withheld", ""},
		{rephrased{engineError{}}, "engine error", "nobody knows what the other words repeat"},
		{other, "model: 503", "nothing to hide"},
	}
	for _, tt := range tests {
		s := trace.Tracer{}.New("ask")
		s.Fail(tt.err)
		var back trace.Span
		b := testutil.Value(s.JSON(0))(t)
		if err := back.UnmarshalJSON(b); err != nil || back.Failure() != tt.want {
			t.Errorf("%v: %q, %v, want %q: %s", tt.err, back.Failure(), err, tt.want, tt.why)
		}
	}
}

// rephrased says what it wraps in other words.
type rephrased struct{ error }

func (rephrased) Error() string   { return "something like " + canary + " failed" }
func (r rephrased) Unwrap() error { return r.error }
