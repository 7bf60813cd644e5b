package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/internal/ask"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/internal/engines"
	"github.com/texttosql/texttosql/internal/servers"
	"github.com/texttosql/texttosql/internal/shop"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/providers"
)

//go:embed replies_postgres.json
var repliesPostgres []byte

//go:embed replies_mysql.json
var repliesMySQL []byte

//go:embed role_postgres.sql
var rolePostgres string

//go:embed role_mysql.sql
var roleMySQL string

// demo is what makes an engine's demonstration.
type demo struct {
	script  string // the name of Chinook's script; "": there is none for the engine
	replies []byte // about Chinook
	// make makes the database of d, and returns a DSN for questions and what removes it.
	make func(ctx context.Context, d data) (dsn string, remove func() error, err error)
}

// data is what a demonstration asks about.
type data struct {
	script, database string
	replies          shop.Script
	file             string // of the replies
}

var demos = map[string]demo{
	"postgres": {"Chinook_PostgreSql.sql", repliesPostgres, onServer(servers.Postgres, loadPostgres)},
	"mysql":    {"Chinook_MySql.sql", repliesMySQL, onServer(servers.MariaDB, loadMySQL)},
	"duckdb":   {make: makeFolder},
}

func runDemo(ctx context.Context, flags *flag.FlagSet, args []string, stdout, stderr io.Writer, getenv func(string) string) error {
	asked := ask.Define(flags)
	script := flags.String("script", "", "Chinook's script for the engine, a `file`; default: a small shop")
	name := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	if err := cli.Parse(flags, args); err != nil {
		return err
	}
	shown := slices.DeleteFunc(slices.Clone(all), func(e engines.Engine) bool { return demos[e.Name].make == nil })
	if name == "" {
		return fmt.Errorf("demo needs an engine behind it: %s", engines.Names(shown...))
	}
	e, err := engines.Of(name, shown...)
	if err != nil {
		return err
	}
	d := demos[name]
	question, err := cli.Question(flags, "")
	if err != nil {
		return err
	}
	about, err := d.read(name, *script)
	if err != nil {
		return err
	}
	return asked.Run(ctx, ask.Program{
		Scripted: cli.Scripted{Questions: about.replies.Questions(), Models: []llm.Model{about.replies.Model()}, File: about.file, Model: providers.Model},
		Question: question,
		Open: func(ctx context.Context) (*sql.DB, []texttosql.Option, func(), error) {
			dsn, remove, err := d.make(ctx, about)
			if err != nil {
				return nil, nil, nil, err
			}
			pool, options, closeAll, err := connect(ctx, e, dsn)
			if err != nil {
				return nil, nil, nil, errors.Join(err, remove())
			}
			return pool, options, func() { closeAll(); remove() }, nil
		},
	}, stdout, stderr, getenv)
}

// read returns Chinook, by its script for an engine, or the shop of the other examples.
func (d demo) read(name, path string) (data, error) {
	if path != "" && d.script == "" {
		return data{}, fmt.Errorf("-script: the demonstration of %s asks about the shop only", name)
	}
	if path == "" {
		return data{
			strings.NewReplacer("PRAGMA foreign_keys = ON;", "", " REAL ", " NUMERIC(10,2) ").Replace(shop.SQL()), "shop",
			// The replies to one question are in the words of SQLite.
			slices.DeleteFunc(shop.Listed(), func(e shop.Exchange) bool { return strings.Contains(e.Replies["generate"][0], "strftime") }),
			"internal/shop/replies.json",
		}, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return data{}, fmt.Errorf("script %s: %w", path, cli.PathlessError(err))
	}
	return data{strings.TrimPrefix(string(text), "\ufeff"), "Chinook", shop.ReadScript(d.replies), "examples/engines/replies_" + name + ".json"}, nil
}

// onServer makes a database on a server of its own: load fills it and makes the role, and returns the DSN of the role.
func onServer(start func() (*servers.Server, error), load func(ctx context.Context, port int, d data, password string) (string, error)) func(context.Context, data) (string, func() error, error) {
	return func(ctx context.Context, d data) (string, func() error, error) {
		s, err := start()
		if err != nil {
			return "", nil, err
		}
		dsn, err := load(ctx, s.Port, d, rand.Text())
		if err != nil {
			return "", nil, errors.Join(err, s.Close())
		}
		return dsn, s.Close, nil
	}
}

// loadPostgres leaves out the lines by which Chinook's script makes its database, which only psql can run.
func loadPostgres(ctx context.Context, port int, d data, password string) (string, error) {
	place := fmt.Sprintf("127.0.0.1:%d/postgres?sslmode=disable", port)
	if at := strings.Index(d.script, "\n\\c "); at >= 0 {
		_, d.script, _ = strings.Cut(d.script[at+1:], "\n")
	}
	err := fill(ctx, "pgx", "postgres://postgres@"+place, d.script, strings.ReplaceAll(rolePostgres, "choose one", password))
	return fmt.Sprintf("postgres://texttosql:%s@%s", password, place), err
}

// loadMySQL makes the database first. Chinook's script drops it and makes it again.
func loadMySQL(ctx context.Context, port int, d data, password string) (string, error) {
	role := strings.NewReplacer("choose one", password, "shop.", d.database+".").Replace(roleMySQL)
	err := fill(ctx, "mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/?multiStatements=true", port),
		fmt.Sprintf("CREATE DATABASE %s CHARACTER SET utf8mb4; USE %[1]s; %s", d.database, d.script), role)
	return fmt.Sprintf("texttosql:%s@tcp(127.0.0.1:%d)/%s", password, port, d.database), err
}

func fill(ctx context.Context, driver, dsn string, scripts ...string) error {
	pool, err := sql.Open(driver, dsn)
	if err != nil {
		return err
	}
	defer pool.Close()
	for _, script := range scripts {
		if _, err := pool.ExecContext(ctx, script); err != nil {
			return fmt.Errorf("filling the database: %w", err)
		}
	}
	return nil
}
