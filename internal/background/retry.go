package background

import "context"

type retryKey struct{}

// OnRetry returns a context within which a call that a provider turned away calls f before it waits and is repeated.
func OnRetry(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, retryKey{}, f)
}

// Retry calls the function of OnRetry, if ctx has one.
func Retry(ctx context.Context) {
	if f, ok := ctx.Value(retryKey{}).(func()); ok {
		f()
	}
}
