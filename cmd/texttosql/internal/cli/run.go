package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/strategy"
)

// Context returns a context that an interrupt or SIGTERM cancels. A second signal ends the program at once.
func Context() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}

// Brief shortens an error that lists the failures of all samples to the first of them, if no sample had a reply. It
// returns any other error unchanged.
func Brief(err error) error {
	var none *strategy.NoCandidateError
	if errors.As(err, &none) && none.Votes == 0 && len(none.Rejected) == 0 && len(none.Failed) > 0 {
		return none.Failed[0]
	}
	return err
}

// Say prints text of people, models and databases like fmt.Fprintf, without the characters that a terminal would obey
// (words.Clean).
func Say(w io.Writer, format string, args ...any) {
	io.WriteString(w, words.Clean(fmt.Sprintf(format, args...)))
}
