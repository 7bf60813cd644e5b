package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/door"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/telemetry"
	"github.com/texttosql/texttosql/trace"
)

// telemetry starts what the environment says. The caller closes it.
func (p *program) telemetry(server bool) (*telemetry.Telemetry, error) {
	sent, err := telemetry.Start(p.ctx, p.getenv, version(), server, func(err error) { fmt.Fprintln(p.err, trace.Scrub(err.Error())) })
	if err != nil {
		return nil, &setup.UsageError{Err: err}
	}
	return sent, nil
}

// logger writes lines to standard error.
func (p *program) logger() *slog.Logger { return slog.New(slog.NewTextHandler(p.err, nil)) }

// watched is the handler of a server with what watches it.
func (p *program) watched(sent *telemetry.Telemetry, next http.Handler, d door.Door, s setup.Serving, ready func(context.Context) error) http.Handler {
	var log *slog.Logger
	if s.AccessLog {
		log = p.logger()
	}
	return sent.Watched(next, d.Guard, ready, log)
}
