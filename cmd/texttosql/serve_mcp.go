package main

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/door"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/mcpserver"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/llm"
)

// serveMCP is the verb of the server for clients of the Model Context Protocol.
type serveMCP struct {
	setup.Asking  `embed:""`
	setup.Serving `embed:""`

	SessionBudget string        `placeholder:"FILE" help:"What one client may cost, as JSON: {\"Calls\": 200}; --budget bounds a question."`
	ShownRows     int           `placeholder:"N" help:"Rows of an answer that a client is given; default: 100."`
	Questions     int           `placeholder:"N" help:"Questions that run at once; default: 4."`
	HTTP          string        `name:"http" placeholder:"ADDRESS" help:"Serve streamable HTTP at this address, as 127.0.0.1:8808, instead of standard input and output."`
	Sessions      int           `placeholder:"N" help:"Clients over HTTP at once; default: 32."`
	Idle          time.Duration `placeholder:"TIME" help:"After which a client over HTTP that sends nothing is forgotten; default: 15m."`
}

// Run serves until the client goes away, or the program is told to end.
func (s *serveMCP) Run(p *program) error {
	budget, err := setup.BudgetOf("session-budget", s.SessionBudget)
	if err != nil {
		return err
	}
	e, err := s.Open(p.ctx, p.getenv, []llm.Middleware{mcpserver.Charge()})
	if err != nil {
		return err
	}
	defer e.Close()
	server, err := mcpserver.New(mcpserver.Config{
		Engine: e.Engine, Names: e.Dialect.Language(), Confirmed: e.Confirmed, Budget: budget,
		Rows: s.ShownRows, Questions: s.Questions, Sessions: s.Sessions, Idle: s.Idle, Version: version(),
		Logger: slog.New(slog.NewTextHandler(p.err, nil)), Hide: func(text string) string { return withoutParts(text, s.DSN(p.getenv)) },
	})
	if err != nil {
		return &setup.UsageError{Err: err}
	}
	if s.HTTP == "" {
		return server.Run(p.ctx, &mcp.IOTransport{Reader: io.NopCloser(p.in), Writer: writer{p.out}, MaxLineLength: maxLine})
	}
	d, err := s.Door(p.getenv)
	if err != nil {
		return err
	}
	l, err := d.Listen(p.ctx, s.HTTP)
	if err != nil {
		return &setup.UsageError{Err: fmt.Errorf("--http: %w", err)}
	}
	cli.Say(p.err, "serving %s to clients of the Model Context Protocol at http://%s/\n", e.Place, l.Addr())
	return door.Serve(p.ctx, l, d.Guard(server.Handler()), server.Close)
}

// maxLine bounds a message of a client on standard input, in bytes.
const maxLine = 1 << 20

// writer is standard output, which stays open.
type writer struct{ io.Writer }

func (writer) Close() error { return nil }
