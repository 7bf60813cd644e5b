package trace_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/trace"
)

// untimed is a logger into out that leaves out when it was called.
func untimed(out *bytes.Buffer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(out,
		&slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
}

func TestLogTo(t *testing.T) {
	run := func(level slog.Level) string {
		var out bytes.Buffer
		c := newClock()
		root := trace.Tracer{Now: c.read, Observe: func(n trace.Notice) {
			n.Log(context.Background(), untimed(&out, level), 0)
		}}.New("ask")
		_, s := trace.Start(trace.NewContext(context.Background(), root), "llm",
			trace.Attr{Key: "purpose", Value: "generate"})
		c.add(20 * time.Millisecond)
		s.Event("retry", trace.Attr{Key: "after", Value: 5 * time.Millisecond})
		s.Warn("forged", "x\nlevel=ERROR msg=forged \x1b[31m")
		s.Set("sql", trace.PrivateSQL.Secret("SELECT 1"))
		s.Set("tables", []string{"a", "b"})
		s.Set("plan", map[string]int{"rows": 3})
		s.AddUsage(trace.Usage{Calls: 1, PromptTokens: 5, CompletionTokens: 2, Money: 0.5, Known: true, Partial: true})
		s.Fail(context.DeadlineExceeded)
		s.Cancelled()
		s.End()
		root.End()
		return out.String()
	}
	const warning = `level=WARN msg=warning span=llm code=forged message="x\nlevel=ERROR msg=forged \x1b[31m"` + "\n"
	const usage = ` usage.calls=1 usage.prompt_tokens=5 usage.completion_tokens=2 usage.known=true usage.money=0.5 usage.partial=true`
	want := `level=DEBUG msg=event span=llm name=retry attrs.after=5ms` + "\n" + warning +
		`level=DEBUG msg="span ended" name=llm took=20ms failed=true failure="context deadline exceeded" cancelled=true` +
		usage +
		` attrs.purpose=generate attrs.sql="sql not shown (8 bytes, sha256 e004ebd5b5532a4b)" attrs.tables="[a b]" attrs.plan="{\"rows\":3}"` + "\n" +
		`level=DEBUG msg="span ended" name=ask took=20ms` + usage + "\n"
	golden.Equal(t, want, run(slog.LevelDebug))
	golden.Equal(t, warning, run(slog.LevelInfo), "only warnings above debug level")
}

func TestSpan_LogValue_nil(t *testing.T) {
	var out bytes.Buffer
	untimed(&out, slog.LevelInfo).Info("done", "trace", (*trace.Span)(nil))
	if got := out.String(); got != "level=INFO msg=done trace=<nil>\n" {
		t.Error(got)
	}
}
