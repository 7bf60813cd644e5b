package llm

import (
	"context"
	"fmt"
	"time"

	"github.com/texttosql/texttosql/internal/background"
	"github.com/texttosql/texttosql/internal/llmerr"
	"github.com/texttosql/texttosql/trace"
)

// grace is how long a call may go on after its context ended before nobody waits for it any more. A client of net/http
// needs a few milliseconds.
const grace = 100 * time.Millisecond

type panicError struct{ value any }

func (e panicError) Error() string        { return fmt.Sprintf("%v: %v", llmerr.ErrPanic, e.value) }
func (e panicError) Public() string       { return llmerr.ErrPanic.Error() } // the value may hold anything
func (e panicError) Is(target error) bool { return target == llmerr.ErrPanic }

// contained completes req by next in a goroutine of its own, so that a model can harm its own call only. A panic
// becomes an [*Error] of ClassUnknown that matches llmerr.ErrPanic. If next is still running 100 ms after the end of
// ctx, contained returns ctx.Err() and warns that the call goes on.
func contained(ctx context.Context, next Model, req Request) (resp Response, err error) {
	defer func() {
		if r := recover(); r != nil {
			resp, err = Response{}, &Error{Err: panicError{r}}
		}
	}()
	work, returned := background.NewWork[Response](nil), false
	go func() {
		defer work.End()
		work.Value, work.Err = next.Complete(ctx, req)
		returned = true
	}()
	resp, err, left := work.Wait(ctx, grace)
	switch {
	case left:
		trace.FromContext(ctx).Root().Warn("model-still-running",
			fmt.Sprintf("a call of the model %q ignores the end of its context: it is still running, and nobody waits for it",
				NameOf(next)))
		return Response{}, ctx.Err()
	case !returned: // runtime.Goexit
		return Response{}, &Error{Message: "the model ended its goroutine"}
	}
	return resp, err
}
