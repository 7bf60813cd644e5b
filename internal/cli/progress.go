package cli

import (
	"io"
	"os"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/trace"
)

// Progress returns an option that tells of each sample, repair and judge as it ends, one line each, if w is a terminal; else
// it tells nothing.
func Progress(w io.Writer) texttosql.Option {
	if IsTerminal(w) {
		return texttosql.WithProgress(Steps(w))
	}
	return nil
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Steps returns the function behind Progress, which writes to any w.
func Steps(w io.Writer) func(texttosql.Progress) {
	return func(p texttosql.Progress) {
		switch {
		case p.Kind != trace.Ended || p.Span.IsCancelled():
			return
		case p.Step != "sample" && p.Step != "repair" && p.Step != "judge":
			return
		}
		what := p.Step
		if n, ok := p.Span.Attr("sample"); ok {
			Say(w, "  %s %v", what, n)
		} else {
			Say(w, "  %s", what)
		}
		Say(w, " after %v", p.Span.Duration().Round(100*time.Millisecond))
		if p.Message != "" {
			Say(w, ": %s", p.Message)
		}
		io.WriteString(w, "\n")
	}
}
