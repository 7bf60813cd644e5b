package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/httpserver"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/web"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/sessionscope"
)

// serve is the verb of the page for people.
type serve struct {
	setup.Asking  `embed:""`
	setup.Serving `embed:""`

	Listen   string `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Where to listen; another machine's browser needs a token; default: 127.0.0.1:8080."`
	Sessions string `placeholder:"FOLDER" help:"Keep conversations here, or on PostgreSQL (postgres://…); default: a folder of the database in the user's settings."`
	Sweep    bool   `help:"Delete conversations that nobody has changed for 30 days, and for 90 days those without an answer: at the start and every day."`
	Title    string `placeholder:"TEXT" help:"What the page is called, such as the name of a company; default: texttosql."`
	Accent   string `placeholder:"COLOUR" help:"The colour of buttons, links and charts: #2457d6."`
	Parallel int    `default:"4" placeholder:"N" help:"Questions of each scope that are answered at a time; default: 4."`
}

// Help is the part of --help below the flags.
func (serve) Help() string {
	return `Examples:

  texttosql serve --db shop.db --model openai:gpt-4o-mini
  texttosql serve --db shop.db
  TEXTTOSQL_TOKEN=$(openssl rand -hex 32) \
    texttosql serve --listen 0.0.0.0:8080

Open the address that it prints. Without a model the page shows tables and runs statements, and answers no questions.`
}

// Run serves until the program is interrupted.
func (s *serve) Run(p *program) error {
	entry, err := s.Door(p.getenv)
	if err != nil {
		return err
	}
	if s.Parallel < 1 {
		return &setup.UsageError{Err: fmt.Errorf("--parallel %d: want 1 or more", s.Parallel)}
	}
	listener, err := entry.Listen(p.ctx, s.Listen)
	if err != nil {
		return &setup.UsageError{Err: err}
	}
	defer listener.Close()
	steps := &web.Progress{}
	sent, err := p.telemetry(true)
	if err != nil {
		return err
	}
	defer sent.Close()
	followed, err := sent.Option(s.DSN(p.getenv), p.logger())
	if err != nil {
		return err
	}
	options := []texttosql.Option{texttosql.WithProgress(steps.Tell), followed}
	s.Beside = s.besideSessions
	var e *setup.Engine
	if s.Named(p.getenv) {
		e, err = s.Open(p.ctx, p.getenv, nil, options...)
	} else {
		e, err = s.OpenWithout(p.ctx, p.getenv, options...)
	}
	if err != nil {
		return err
	}
	defer e.Close()
	place, err := s.place(e.Opened)
	if err != nil {
		return err
	}
	store, place, closeStore, err := setup.OpenSessions(p.ctx, place)
	if err != nil {
		return err
	}
	defer closeStore()
	db, err := e.Guarded() // its limit on connections holds for all scopes
	if err != nil {
		return err
	}
	n := db.Limits().Connections
	if n < 2 {
		return &setup.UsageError{Err: fmt.Errorf("--limits: want Connections 2 or more, not %d: a file that is read slowly "+
			"would hold the only one", n)}
	}
	files := make(chan struct{}, n/2) // the other half answers while clients read slowly
	dsn := s.DSN(p.getenv)
	var pages []*web.Server
	closePages := func() {
		for _, page := range pages {
			page.Close()
		}
	}
	defer closePages()
	made := func(user string, scope *exec.Scope, entry httpserver.Door) (http.Handler, error) {
		engine, err := setup.As(e.Engine, scope)
		if err != nil {
			return nil, err
		}
		view, err := db.For(scope, nil)
		if err != nil {
			return nil, err
		}
		page, err := web.New(web.Config{
			Engine: engine, DB: view, Store: sessionscope.Of(store, engine.ScopeKey()), Sweep: s.Sweep, Confirmed: e.Confirmed,
			Progress: steps, Parallel: s.Parallel, Files: files, Door: entry,
			NoModel: !s.Named(p.getenv), Who: user,
			Title: s.Title, Accent: s.Accent, Database: strings.TrimSuffix(filepath.Base(e.Place), filepath.Ext(e.Place)),
			Hide: hiding(dsn, s.Sessions, s.Lessons),
		})
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
		return page.Handler(), nil
	}
	handler, err := s.ByScope(entry, made)
	if err == nil {
		err = gauges(sent, pages, e.Confirmed)
	}
	if err != nil {
		return err
	}
	asks := ""
	if !s.Named(p.getenv) {
		asks = "no model is named with --model: the page shows tables and runs statements, and answers no questions\n"
	}
	lines := fmt.Sprintf("the page is at http://%s, until Ctrl-C\nconversations are stored in %s\n%s%s", listener.Addr(),
		place, asks, p.notice(e.Warnings))
	cli.Say(p.out, "%s", textformat.Wrap(lines, p.width()))
	return httpserver.Serve(p.ctx, listener, p.watched(sent, handler, entry, s.Serving, e.Pool.PingContext), closePages)
}

// besideSessions is the file of confirmed answers in the folder of conversations. Those on PostgreSQL have none, and
// the default folder has it.
func (s *serve) besideSessions(o *setup.Opened) (string, error) {
	of := *s
	if setup.IsShared(s.Sessions) {
		of.Sessions = ""
	}
	folder, err := of.place(o)
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	return filepath.Join(folder, "confirmed.jsonl"), err
}

// place is where conversations about a database are kept: those about another one could not go on.
func (s *serve) place(o *setup.Opened) (string, error) {
	if s.Sessions != "" {
		return s.Sessions, nil
	}
	settings, err := os.UserConfigDir()
	if err != nil {
		return "", &setup.UsageError{Err: fmt.Errorf("%w; give --sessions", err)}
	}
	place := o.Place
	if o.Engine == "sqlite" {
		if place, err = filepath.Abs(place); err != nil {
			return "", err
		}
	}
	sum := sha256.Sum256([]byte(o.Engine + " " + place))
	return filepath.Join(settings, "texttosql", "sessions", hex.EncodeToString(sum[:8])), nil
}

// credentials finds user, password and address in the forms of a DSN that are no URL.
var credentials = regexp.MustCompile(`^([^:@/]+):(.*)@\w+\((.+?)\)|\b(?:user|password|host|hostaddr)\s*=\s*('[^']*'|\S+)`)

// hiding takes what DSNs say of user, password and place out of a text.
func hiding(dsns ...string) func(string) string {
	return func(text string) string {
		for _, dsn := range dsns {
			text = withoutParts(text, dsn)
		}
		return text
	}
}

// withoutParts takes a DSN, and what it says of user, password and place, out of a text.
func withoutParts(text, dsn string) string {
	parts := []string{dsn}
	if u, err := url.Parse(dsn); err == nil && u.Host != "" {
		password, _ := u.User.Password()
		parts = append(parts, u.Host, u.Hostname(), password, u.User.Username())
	} else if !setup.IsDSN(dsn) {
		parts = append(parts, filepath.Dir(dsn))
	}
	for _, m := range credentials.FindAllStringSubmatch(dsn, -1) {
		for _, part := range m[1:] {
			parts = append(parts, strings.Trim(part, "'"))
		}
	}
	for _, part := range parts {
		if len(part) > 3 { // "." and a user "app" are parts of other words
			text = strings.ReplaceAll(text, part, "…")
		}
	}
	return text
}
