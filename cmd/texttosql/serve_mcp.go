package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/httpserver"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/mcpserver"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/telemetry"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
)

// serveMCP is the verb of the server for clients of the Model Context Protocol.
type serveMCP struct {
	setup.Asking  `embed:""`
	setup.Serving `embed:""`

	SessionBudget string        `placeholder:"FILE" help:"What one client may cost, as JSON: {\"Calls\": 200}; --budget bounds a question."`
	ShownRows     int           `placeholder:"N" help:"Most rows of a result; default: 100."`
	Questions     int           `placeholder:"N" help:"Calls of each scope that run at once; default: 4."`
	HTTP          string        `name:"http" placeholder:"ADDRESS" help:"Serve streamable HTTP at this address, as 127.0.0.1:8808, instead of standard input and output."`
	MaxSessions   int           `placeholder:"N" help:"Clients over HTTP at once; default: 32."`
	KeptIn        string        `name:"sessions" placeholder:"FOLDER" help:"Keep conversations here, or on PostgreSQL (postgres://…), for all processes; default: in memory."`
	Sweep         bool          `help:"Delete what of --sessions nobody has changed for 30 days, and for 90 days what has no answer: at the start."`
	Stateless     bool          `help:"Give no client over HTTP a session, also of protocols before 2026-07-28: for load balancers."`
	Idle          time.Duration `placeholder:"TIME" help:"After which a client over HTTP that sends nothing is forgotten; default: 15m."`
}

// Help is the part of --help below the flags.
func (serveMCP) Help() string {
	return `Examples:

  claude mcp add shop -- texttosql serve-mcp --db shop.db
  texttosql serve-mcp --db shop=shop.db --db crm=postgres://reader@host/crm \
    --policy crm=crm.json
  texttosql serve-mcp --db shop.db --model openai:gpt-4o-mini \
    --http 127.0.0.1:8808

Without a model it has tools that run and check statements and show the schema; with one, tools that ask in words too.

` + exitHelp
}

// Run serves until the client disconnects or the program receives a signal to stop.
func (s *serveMCP) Run(p *program) error {
	sent, err := p.telemetry(s.HTTP != "")
	if err != nil {
		return err
	}
	defer sent.Close()
	served, err := s.open(p, sent)
	if err != nil {
		return err
	}
	defer served.close()

	if s.HTTP == "" {
		return s.overStdio(p, served)
	}
	return s.overHTTP(p, sent, served)
}

// servedMCP is what a server has to give.
type servedMCP struct {
	mcpserver.Config
	places   []string // of the databases, for messages
	warnings string
	pools    []*sql.DB
	ends     []func() error

	confirmed []*memory.VerifiedAnswers
}

func (m *servedMCP) close() {
	for _, end := range slices.Backward(m.ends) {
		_ = end() // nothing is left to be written
	}
}

// ready reports whether every database answers.
func (m *servedMCP) ready(ctx context.Context) error {
	for _, pool := range m.pools {
		if err := pool.PingContext(ctx); err != nil {
			return err
		}
	}
	return nil
}

// open opens the store and the databases. The caller closes what it returns, which is nil beside an error.
func (s *serveMCP) open(p *program, sent *telemetry.Telemetry) (_ *servedMCP, err error) {
	budget, err := setup.BudgetOf("session-budget", s.SessionBudget)
	if err != nil {
		return nil, err
	}
	all, err := s.Each(p.getenv)
	if err != nil {
		return nil, err
	}
	places := []string{s.KeptIn}
	for _, d := range all {
		places = append(places, d.DSN(p.getenv))
	}
	m := &servedMCP{Config: mcpserver.Config{
		Model: s.Named(p.getenv), Budget: budget, Stateless: s.Stateless,
		Rows: s.ShownRows, Questions: s.Questions, Sessions: s.MaxSessions, Idle: s.Idle, Version: version(),
		Logger: p.logger(), Hide: hiding(places...),
	}}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	if s.KeptIn != "" {
		store, _, end, err := setup.OpenSessions(p.ctx, s.KeptIn)
		if err != nil {
			return nil, err
		}
		m.Store, m.ends = store, append(m.ends, end)
		if s.Sweep {
			if _, err := session.DeleteExpired(p.ctx, store, time.Now()); err != nil {
				return nil, err
			}
		}
	}
	for _, d := range all {
		if err := s.add(p, sent, m, d); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// add opens one of the databases.
func (s *serveMCP) add(p *program, sent *telemetry.Telemetry, m *servedMCP, d setup.Named) error {
	followed, err := sent.Option(d.DSN(p.getenv), p.logger())
	if err != nil {
		return err
	}
	var e *setup.Engine
	if asking := s.Asking; m.Model {
		asking.Database = d.Database
		e, err = asking.Open(p.ctx, p.getenv, []llm.Middleware{mcpserver.Charge()}, followed)
	} else {
		e, err = d.Engine(p.ctx, p.getenv, followed)
	}
	if err != nil {
		return err
	}
	m.ends = append(m.ends, e.Close)
	m.warnings += p.notice(e.Warnings)
	if s.Scopes == "" { // else a scope brings its own
		if _, err := setup.As(e.Engine, nil); err != nil {
			return fmt.Errorf("database %s: %w", e.Place, err)
		}
	}
	db, err := e.Guarded()
	if err != nil {
		return err
	}
	of := mcpserver.Database{Name: d.Name, Engine: e.Engine, DB: db, Metrics: d.Knowledge != ""}
	if m.Model {
		of.Confirmed = e.Confirmed
		m.confirmed = append(m.confirmed, e.Confirmed)
	}
	m.Databases, m.places, m.pools = append(m.Databases, of), append(m.places, e.Place), append(m.pools, e.Pool)
	return nil
}

// overStdio serves the one client of standard input and output.
func (s *serveMCP) overStdio(p *program, m *servedMCP) error {
	server, err := mcpserver.New(m.Config)
	if err != nil {
		return &setup.UsageError{Err: err}
	}
	if s.Scopes != "" || s.Stateless {
		return &setup.UsageError{Err: errors.New("--scopes and --stateless need --http; --scope names the scope of the one " +
			"client")}
	}
	if in, ok := p.in.(io.Writer); ok && cli.IsTerminal(in) {
		p.tell("serving " + strings.Join(m.places, ", ") + " to the program that started this one, " +
			"over standard input and output. " +
			"A person needs texttosql serve; Ctrl-D ends this.")
	}
	if m.warnings != "" {
		p.tell(strings.TrimSpace(m.warnings))
	}
	out := &writer{Writer: p.out}
	in := &messages{in: bufio.NewReaderSize(p.in, 64<<10), out: out}
	return server.Run(p.ctx, &mcp.IOTransport{Reader: in, Writer: out, MaxLineLength: maxLine + 1})
}

// overHTTP serves the clients of an address, each in its scope.
func (s *serveMCP) overHTTP(p *program, sent *telemetry.Telemetry, m *servedMCP) error {
	d, err := s.Door(p.getenv)
	if err != nil {
		return err
	}
	l, err := d.Listen(p.ctx, s.HTTP)
	if err != nil {
		return &setup.UsageError{Err: fmt.Errorf("--http: %w", err)}
	}
	var servers []*mcpserver.Server
	closeAll := func() {
		for _, server := range servers {
			server.Close()
		}
	}
	defer closeAll()
	made := func(_ string, scope *exec.Scope, d httpserver.Door) (http.Handler, error) {
		mine := m.Config
		mine.Databases = slices.Clone(m.Databases)
		for i := range mine.Databases {
			of := &mine.Databases[i]
			if of.Engine, err = setup.As(of.Engine, scope); err == nil {
				of.DB, err = of.DB.For(scope, nil)
			}
			if err != nil {
				return nil, fmt.Errorf("database %s: %w", m.places[i], err)
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
	if err == nil {
		err = gauges(sent, servers, m.confirmed...)
	}
	if err != nil {
		return err
	}
	text := fmt.Sprintf("serving %s to clients of the Model Context Protocol at http://%s/\n",
		strings.Join(m.places, ", "), l.Addr())
	p.tell(strings.TrimSpace(text + m.warnings))
	return httpserver.Serve(p.ctx, l, p.watched(sent, handler, d, s.Serving, m.ready), closeAll)
}

// maxLine bounds a message of a client on standard input, in bytes. A longer one is refused.
const maxLine = 16 << 20
