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
	"path/filepath"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/internal/ask"
	"github.com/texttosql/texttosql/examples/internal/cli"
	"github.com/texttosql/texttosql/examples/internal/shop"
	"github.com/texttosql/texttosql/internal/servers"
	"github.com/texttosql/texttosql/llm"
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
	start   func() (*servers.Server, error)
	script  string // the name of Chinook's script
	replies []byte
	// load runs a script and makes the role on a new server, and returns the DSN of the role.
	load func(ctx context.Context, port int, script, password string) (dsn string, err error)
}

var demos = map[string]demo{
	"postgres": {servers.Postgres, "Chinook_PostgreSql.sql", repliesPostgres, loadPostgres},
	"mysql":    {servers.MariaDB, "Chinook_MySql.sql", repliesMySQL, loadMySQL},
}

func runDemo(ctx context.Context, flags *flag.FlagSet, args []string, stdout io.Writer, getenv func(string) string) error {
	asked := ask.Define(flags)
	script := flags.String("script", "", "Chinook's script for the engine, a `file`; default: the one below TEXTTOSQL_DATA")
	name := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	if err := cli.Parse(flags, args); err != nil {
		return err
	}
	if name == "" {
		return fmt.Errorf("demo needs an engine behind it: %s", names)
	}
	e, err := engineOf(name)
	if err != nil {
		return err
	}
	d := demos[name]
	question, err := cli.Question(flags, "")
	if err != nil {
		return err
	}
	text, err := d.read(*script, getenv)
	if err != nil {
		return err
	}
	listed := shop.ReadScript(d.replies)
	return asked.Run(ctx, ask.Program{
		Scripted: cli.Scripted{Questions: listed.Questions(), Models: []llm.Model{listed.Model()}, File: "examples/engines/replies_" + name + ".json"},
		Question: question,
		Open: func(ctx context.Context) (*sql.DB, []texttosql.Option, func(), error) {
			s, err := d.start()
			if err != nil {
				return nil, nil, nil, err
			}
			dsn, err := d.load(ctx, s.Port, text, rand.Text())
			var (
				pool     *sql.DB
				options  []texttosql.Option
				closeAll func()
			)
			if err == nil {
				pool, options, closeAll, err = e.ask(ctx, dsn)
			}
			if err != nil {
				return nil, nil, nil, errors.Join(err, s.Close())
			}
			return pool, options, func() { closeAll(); s.Close() }, nil
		},
	}, stdout, getenv)
}

// read returns the script of Chinook.
func (d demo) read(path string, getenv func(string) string) (string, error) {
	if path == "" {
		dir := getenv("TEXTTOSQL_DATA")
		if dir == "" {
			return "", fmt.Errorf("no script of Chinook: get %s from https://github.com/lerocha/chinook-database and give it with -script", d.script)
		}
		path = filepath.Join(dir, "db", "chinook", d.script)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("script %s: %w", path, cli.PathlessError(err))
	}
	return strings.TrimPrefix(string(text), "\ufeff"), nil
}

// loadPostgres leaves out the lines by which the script makes its database, which only psql can run.
func loadPostgres(ctx context.Context, port int, script, password string) (string, error) {
	place := fmt.Sprintf("127.0.0.1:%d/postgres?sslmode=disable", port)
	pool, err := sql.Open("pgx", "postgres://postgres@"+place)
	if err != nil {
		return "", err
	}
	defer pool.Close()
	if at := strings.Index(script, "\n\\c "); at >= 0 {
		_, script, _ = strings.Cut(script[at+1:], "\n")
	}
	for _, text := range []string{script, strings.ReplaceAll(rolePostgres, "choose one", password)} {
		if _, err := pool.ExecContext(ctx, text); err != nil {
			return "", fmt.Errorf("loading Chinook: %w", err)
		}
	}
	return fmt.Sprintf("postgres://texttosql:%s@%s", password, place), nil
}

func loadMySQL(ctx context.Context, port int, script, password string) (string, error) {
	pool, err := sql.Open("mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/?multiStatements=true", port))
	if err != nil {
		return "", err
	}
	defer pool.Close()
	role := strings.NewReplacer("choose one", password, "shop.", "Chinook.").Replace(roleMySQL)
	for _, text := range []string{script, role} {
		if _, err := pool.ExecContext(ctx, text); err != nil {
			return "", fmt.Errorf("loading Chinook: %w", err)
		}
	}
	return fmt.Sprintf("texttosql:%s@tcp(127.0.0.1:%d)/Chinook", password, port), nil
}
