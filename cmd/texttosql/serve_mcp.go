package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/door"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/mcpserver"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/star"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
)

// serveMCP is the verb of the server for clients of the Model Context Protocol.
type serveMCP struct {
	setup.Asking  `embed:""`
	setup.Serving `embed:""`

	SessionBudget string        `placeholder:"FILE" help:"What one client may cost, as JSON: {\"Calls\": 200}; --budget bounds a question."`
	ShownRows     int           `placeholder:"N" help:"Most rows of a result; default: 100."`
	Questions     int           `placeholder:"N" help:"Questions that run at once; default: 4."`
	HTTP          string        `name:"http" placeholder:"ADDRESS" help:"Serve streamable HTTP at this address, as 127.0.0.1:8808, instead of standard input and output."`
	MaxSessions   int           `placeholder:"N" help:"Clients over HTTP at once; default: 32."`
	Idle          time.Duration `placeholder:"TIME" help:"After which a client over HTTP that sends nothing is forgotten; default: 15m."`
}

// Help is the part of --help below the flags.
func (serveMCP) Help() string {
	return `Examples:

  claude mcp add shop -- texttosql serve-mcp --db shop.db
  texttosql serve-mcp --db shop=shop.db --db crm=postgres://reader@host/crm --policy crm=crm.json
  texttosql serve-mcp --db shop.db --model openai:gpt-4o-mini --http 127.0.0.1:8808

Without a model it has tools that run and check statements and show the schema; with one, tools that ask in words too.

` + exitHelp
}

// Run serves until the client goes away, or the program is told to end.
func (s *serveMCP) Run(p *program) error {
	budget, err := setup.BudgetOf("session-budget", s.SessionBudget)
	if err != nil {
		return err
	}
	all, err := s.Each(p.getenv)
	if err != nil {
		return err
	}
	c := mcpserver.Config{
		Model: len(s.Model) > 0 || p.getenv("TEXTTOSQL_MODEL") != "", Budget: budget,
		Rows: s.ShownRows, Questions: s.Questions, Sessions: s.MaxSessions, Idle: s.Idle, Version: version(),
		Logger: slog.New(slog.NewTextHandler(p.err, nil)), Hide: func(text string) string {
			for _, d := range all {
				text = withoutParts(text, d.DSN(p.getenv))
			}
			return text
		},
	}
	sent, err := p.telemetry(s.HTTP != "")
	if err != nil {
		return err
	}
	defer sent.Close()
	var places []string
	var warnings string
	var pools []*sql.DB
	for _, d := range all {
		followed, err := sent.Option(d.DSN(p.getenv), p.logger())
		if err != nil {
			return err
		}
		var e *setup.Engine
		if asking := s.Asking; c.Model {
			asking.Database = d.Database
			e, err = asking.Open(p.ctx, p.getenv, []llm.Middleware{mcpserver.Charge()}, followed)
		} else {
			e, err = d.Engine(p.ctx, p.getenv, followed)
		}
		if err != nil {
			return err
		}
		defer e.Close()
		warnings += p.notice(e.Warnings)
		if s.Scopes == "" { // else a scope brings its own
			if _, err := setup.As(e.Engine, nil); err != nil {
				return fmt.Errorf("database %s: %w", e.Place, err)
			}
		}
		db, err := e.Guarded()
		if err != nil {
			return err
		}
		confirmed := e.Confirmed
		if !c.Model {
			confirmed = nil
		}
		c.Databases = append(c.Databases, mcpserver.Database{Name: d.Name, Engine: e.Engine, DB: db, Confirmed: confirmed, Metrics: d.Knowledge != "",
			Schemas: func(ctx context.Context) (star.Schemas, error) { return e.Schemas(ctx, e.Schema) }})
		places, pools = append(places, e.Place), append(pools, e.Pool)
	}
	if s.HTTP == "" {
		server, err := mcpserver.New(c)
		if err != nil {
			return &setup.UsageError{Err: err}
		}
		if s.Scopes != "" {
			return &setup.UsageError{Err: errors.New("--scopes needs --http; --scope names the scope of the one client")}
		}
		if warnings != "" {
			cli.Say(p.err, "serving %s%s\n", strings.Join(places, ", "), warnings)
		}
		out := &writer{Writer: p.out}
		in := &messages{in: bufio.NewReaderSize(p.in, 64<<10), out: out}
		return server.Run(p.ctx, &mcp.IOTransport{Reader: in, Writer: out, MaxLineLength: maxLine + 1})
	}
	d, err := s.Door(p.getenv)
	if err != nil {
		return err
	}
	l, err := d.Listen(p.ctx, s.HTTP)
	if err != nil {
		return &setup.UsageError{Err: fmt.Errorf("--http: %w", err)}
	}
	ready := func(ctx context.Context) error {
		for _, pool := range pools {
			if err := pool.PingContext(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	var servers []*mcpserver.Server
	closeAll := func() {
		for _, server := range servers {
			server.Close()
		}
	}
	defer closeAll()
	made := func(scope *exec.Scope, d door.Door) (http.Handler, error) {
		mine := c
		mine.Databases = slices.Clone(c.Databases)
		for i := range mine.Databases {
			of := &mine.Databases[i]
			if of.Engine, err = setup.As(of.Engine, scope); err == nil {
				of.DB, err = of.DB.For(scope, nil)
			}
			if err != nil {
				return nil, fmt.Errorf("database %s: %w", places[i], err)
			}
		}
		server, err := mcpserver.New(mine)
		if err != nil {
			return nil, &setup.UsageError{Err: err}
		}
		servers = append(servers, server)
		return d.Guard(server.Handler()), nil
	}
	handler, err := s.ByScope(d, made)
	if err != nil {
		return err
	}
	cli.Say(p.err, "serving %s to clients of the Model Context Protocol at http://%s/%s\n", strings.Join(places, ", "), l.Addr(), warnings)
	return door.Serve(p.ctx, l, p.watched(sent, handler, d, s.Serving, ready), closeAll)
}

// maxLine bounds a message of a client on standard input, in bytes. A longer one is refused.
const maxLine = 16 << 20
