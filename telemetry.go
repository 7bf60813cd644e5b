package texttosql

import (
	"context"

	"github.com/texttosql/texttosql/trace"
)

// Telemetry follows questions and statements while they run. The module otel has one for OpenTelemetry. Safe for concurrent use.
type Telemetry interface {
	// Follow is called for each span of a trace: see trace.Tracer.
	Follow(ctx context.Context, s *trace.Span) (work context.Context, ended func())
	// Ended is called once for each root span that Follow was called for, with what the caller gets. Nobody changes the
	// Result while it runs.
	Ended(r *Result, err error)
}

// WithTelemetry has t follow every question of Ask, Generate and a conversation, and every statement of Query. nil: nobody.
// A slow t slows the answers.
func WithTelemetry(t Telemetry) Option { return option(func(c *config) { c.telemetry = t }) }
