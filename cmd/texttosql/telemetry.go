package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/httpserver"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/telemetry"
	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/memory"
)

// telemetry starts what the environment says. The caller closes it.
func (p *program) telemetry(server bool) (*telemetry.Telemetry, error) {
	sent, err := telemetry.Start(p.ctx, p.getenv, version(), server, func(err error) {
		fmt.Fprintln(p.err, redact.Credentials(err.Error()))
	})
	if err != nil {
		return nil, &setup.UsageError{Err: err}
	}
	return sent, nil
}

// gauges has among the metrics of a server how many questions wait, and how many answers are confirmed.
func gauges[S interface{ Waiting() int }](sent *telemetry.Telemetry, servers []S,
	confirmed ...*memory.VerifiedAnswers) error {
	waiting := sent.Gauge("texttosql.questions.waiting", "questions that wait until others have ended", func() (n int) {
		for _, s := range servers {
			n += s.Waiting()
		}
		return n
	})
	return errors.Join(waiting, sent.Gauge("texttosql.answers.confirmed", "answers that people confirmed", func() (n int) {
		for _, c := range confirmed {
			pairs, _ := c.Pairs() // a file that cannot be read is told where it is used
			n += len(pairs)
		}
		return n
	}))
}

// logger writes lines to standard error.
func (p *program) logger() *slog.Logger { return slog.New(slog.NewTextHandler(p.err, nil)) }

// watched is the handler of a server with what watches it.
func (p *program) watched(sent *telemetry.Telemetry, next http.Handler, d httpserver.Door, s setup.Serving,
	ready func(context.Context) error) http.Handler {
	var log *slog.Logger
	if s.AccessLog {
		log = p.logger()
	}
	if s.Scopes != "" && d.Token == "" { // each token of the file is that of one user, and the figures are those of all
		d.Sum = []byte{}
	}
	return sent.Watched(next, d.Guard, ready, log)
}
