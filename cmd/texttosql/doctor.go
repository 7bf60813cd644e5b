package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
)

// doctor is the verb that looks whether questions can be answered.
type doctor struct {
	setup.Database `embed:"" group:"The database"`
	setup.Models   `embed:"" group:"The model"`
	Call           bool `help:"Make a call to each model too: a key that the provider refuses is seen only so. It costs a few tokens."`
}

// Help is the part of --help below the flags.
func (doctor) Help() string {
	return `It looks at the versions, the database and its files, the rights of its role, and the keys of models. "ok" needs nothing, "see" may be
meant so, "bad" keeps questions from being answered. No secret is shown.

Exit codes: 0 nothing is bad, 1 something is.`
}

// examination is what the doctor found so far.
type examination struct {
	*program
	bad int
}

// say writes a line: "ok", "see" or "bad", about what, and what was found.
func (x *examination) say(verdict, about, format string, args ...any) {
	if verdict == "bad" {
		x.bad++
	}
	colour := map[string]int{"bad": red, "see": yellow}[verdict]
	shown := verdict
	if colour != 0 {
		shown = x.paint(colour, verdict)
	}
	const indent = 15
	text := textformat.Hanging(words.Line(fmt.Sprintf(format, args...)), x.width(), indent)
	fmt.Fprintf(x.out, "%s%*s", shown, 5-len(verdict), "")
	cli.Say(x.out, "%-*s%s\n", indent-5, about, text)
}

// Run looks.
func (d *doctor) Run(p *program) error {
	x := &examination{program: p}
	x.say("ok", "versions", "texttosql %s, %s, %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	place := "there is no file of settings"
	if p.settings.file != "" {
		place = p.settings.file
	}
	if p.settings.profile != "" {
		place += ", profile " + p.settings.profile
	}
	x.say("ok", "settings", "%s", place)

	x.database(&d.Database)
	x.models(d)
	if p.ctx.Err() != nil {
		return p.ctx.Err()
	}
	if x.bad > 0 {
		return &wordedError{fmt.Errorf("%d %s failed", x.bad, words.Plural("check", x.bad))}
	}
	return nil
}

// database looks at the database, its files, and the rights of the role that asks.
func (x *examination) database(d *setup.Database) {
	e, err := d.Engine(x.ctx, x.getenv)
	if err != nil {
		x.say("bad", "database", "%s", x.line(err))
		return
	}
	defer e.Close()
	server, err := x.asked(e, versions[e.Opened.Engine], "SELECT version()")
	if err != nil {
		server = "(it does not tell its version)"
	}
	x.say("ok", "database", "%s %s, %s", e.Dialect.Language().Title, words.Short(server, 80), e.Place)

	switch known, err := e.Schema(x.ctx); {
	case err != nil:
		x.say("bad", "schema", "%s", x.line(err))
	case len(known.Tables) == 0:
		x.say("bad", "schema", "there is no table that may be read: is it the right database, and does the policy allow one?")
	default:
		x.say("ok", "schema", "%d %s may be read", len(known.Tables), words.Plural("table", len(known.Tables)))
	}

	told := 0
	for _, w := range e.Warnings {
		about := "database"
		if w.Code == "privileged-user" {
			about, told = "rights", told+1
		}
		x.say("see", about, "%s", x.withoutDSN(w.Message))
	}
	if e.Opened.Engine == "postgres" && told == 0 {
		if n, err := x.asked(e, changeable, ""); err == nil && n != "0" {
			told++
			x.say("see", "rights", "the role may change %s of the tables; the guard holds all the same, "+
				"but connect as one that may only SELECT", n)
		}
	}
	if told == 0 {
		x.say("ok", "rights", "no right beyond reading is known")
	}
}

// changeable counts the tables of PostgreSQL that a role may change; the catalogs of the other servers tell it by
// themselves.
const changeable = `SELECT count(*) FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p')
AND c.relnamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema') AND pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')`

// versions are the queries of versions where that is not SELECT version().
var versions = map[string]string{"sqlite": "SELECT sqlite_version()", "postgres": "SHOW server_version"}

// asked is the one value of a query of ours; other is the one where there is none for the engine.
func (x *examination) asked(e *setup.Engine, query, other string) (value string, err error) {
	ctx, cancel := context.WithTimeout(x.ctx, 5*time.Second)
	defer cancel()
	err = e.Pool.QueryRowContext(ctx, cmp.Or(query, other)).Scan(&value)
	return value, err
}

// models looks at the models, and asks them where that is wanted.
func (x *examination) models(d *doctor) {
	if !d.Named(x.getenv) {
		x.say("see", "model", "none is named, which ask and talk need: give --model or TEXTTOSQL_MODEL")
		return
	}
	models, err := d.Models.Open(x.getenv)
	if err != nil {
		x.say("bad", "model", "%s", x.line(err))
		return
	}
	for _, m := range models {
		if !d.Call {
			x.say("ok", "model", "%s, and what it needs is set; --call sees whether it answers", llm.NameOf(m))
			continue
		}
		ctx, cancel := context.WithTimeout(x.ctx, time.Minute)
		_, err := m.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Reply with the word ok."}},
			Purpose: "doctor"})
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("it gave no answer within a minute")
		}
		if err != nil {
			x.say("bad", "model", "%s", x.line(err))
			continue
		}
		x.say("ok", "model", "%s answers", llm.NameOf(m))
	}
}
