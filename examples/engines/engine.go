package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	mariadb "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/internal/trial"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/schema"
)

// names lists the engines, for messages.
const names = "postgres or mysql"

// engine is one kind of server.
type engine struct {
	name, title string
	form        string // of a DSN
	// open makes a pool, without a connection. place is "HOST:PORT/DATABASE" and password what no message may hold. Of
	// an error only the type is told: its text may hold the DSN.
	open func(dsn string) (pool *sql.DB, place, password string, err error)
	// dialect looks at the server where it must.
	dialect func(ctx context.Context, pool *sql.DB) (exec.Dialect, error)
}

var engines = []engine{
	{"postgres", "PostgreSQL", "postgres://USER:PASSWORD@HOST:PORT/DATABASE", openPostgres,
		func(context.Context, *sql.DB) (exec.Dialect, error) { return postgres.Dialect{}, nil }},
	{"mysql", "MySQL", "USER:PASSWORD@tcp(HOST:PORT)/DATABASE", openMySQL, mysqlDialect},
}

func engineOf(name string) (engine, error) {
	for _, e := range engines {
		if e.name == name {
			return e, nil
		}
	}
	if name == "" {
		return engine{}, fmt.Errorf("-engine is needed: %s", names)
	}
	return engine{}, fmt.Errorf("unknown engine %q: want %s", name, names)
}

func openPostgres(dsn string) (*sql.DB, string, string, error) {
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, "", "", err
	}
	return stdlib.OpenDB(*c), fmt.Sprintf("%s/%s", net.JoinHostPort(c.Host, fmt.Sprint(c.Port)), c.Database), c.Password, nil
}

func openMySQL(dsn string) (*sql.DB, string, string, error) {
	c, err := mariadb.ParseDSN(dsn)
	if err == nil && c.DBName == "" {
		err = errors.New("no database")
	}
	if err != nil {
		return nil, "", "", err
	}
	c.Logger = &mariadb.NopLogger{} // it would write to standard error beside our one line
	connector, err := mariadb.NewConnector(c)
	if err != nil {
		return nil, "", "", err
	}
	return sql.OpenDB(connector), c.Addr + "/" + c.DBName, c.Passwd, nil
}

// mysqlDialect tells MariaDB from MySQL, and how the server reads quotation marks.
func mysqlDialect(ctx context.Context, pool *sql.DB) (exec.Dialect, error) {
	var version, mode string
	if err := pool.QueryRowContext(ctx, "SELECT VERSION(), @@sql_mode").Scan(&version, &mode); err != nil {
		return nil, err
	}
	has := func(name string) bool { return slices.Contains(strings.Split(mode, ","), name) }
	return mysql.Dialect{
		MariaDB: strings.Contains(version, "MariaDB"), ANSIQuotes: has("ANSI_QUOTES"), NoBackslashEscapes: has("NO_BACKSLASH_ESCAPES"),
	}, nil
}

// connectTimeout ends the attempt to reach a server that does not answer.
const connectTimeout = 10 * time.Second

// connect opens the database and sees that the server answers. Its errors name the place, never the DSN.
func (e engine) connect(ctx context.Context, dsn string) (pool *sql.DB, d exec.Dialect, place string, err error) {
	pool, place, password, err := e.open(dsn)
	if err != nil {
		return nil, nil, "", fmt.Errorf("the DSN cannot be read, or names no database: want %s", e.form)
	}
	within, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if err = pool.PingContext(within); err == nil {
		d, err = e.dialect(within, pool)
	}
	if err == nil {
		return pool, d, place, nil
	}
	pool.Close()
	if ctx.Err() != nil {
		return nil, nil, "", ctx.Err()
	}
	return nil, nil, "", fmt.Errorf("database %s: %s", place, reason(err, password))
}

// reason says in one line why a server cannot be asked.
func reason(err error, password string) string {
	var (
		dial   *net.OpError
		pg     *pgconn.PgError
		server *mariadb.MySQLError
		text   string
	)
	switch {
	case errors.As(err, &pg):
		text = pg.Message
	case errors.As(err, &server):
		text = server.Message
	case errors.As(err, &dial) && dial.Op == "dial":
		text = "no server: " + dial.Err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		text = fmt.Sprintf("no answer within %v", connectTimeout)
	default:
		text = err.Error()
	}
	if password != "" {
		text = strings.ReplaceAll(text, password, "…")
	}
	return text
}

// ask opens the database for questions.
func (e engine) ask(ctx context.Context, dsn string) (*sql.DB, []texttosql.Option, func(), error) {
	pool, d, _, err := e.connect(ctx, dsn)
	if err != nil {
		return nil, nil, nil, err
	}
	return pool, []texttosql.Option{texttosql.WithDialect(d)}, func() { pool.Close() }, nil
}

// mostRows is how many rows of a table are counted before and after a trial.
const mostRows = 100_000

// target opens the database for a trial.
func (e engine) target(ctx context.Context, dsn string) (trial.Target, error) {
	pool, d, place, err := e.connect(ctx, dsn)
	if err != nil {
		return trial.Target{}, err
	}
	return trial.Target{
		Name: place, Pool: pool, Dialect: d, What: fmt.Sprintf("the schema and the number of rows of each table, up to %d,", mostRows),
		Look: func(ctx context.Context) (string, error) {
			db, err := exec.New(pool, d, exec.Config{})
			if err != nil {
				return "", err
			}
			return look(ctx, db)
		},
	}, nil
}

// look returns a text that changes with the schema and the number of rows.
func look(ctx context.Context, db *exec.DB) (string, error) {
	s, err := db.Schema(ctx)
	if err != nil {
		return "", err
	}
	tables, err := json.Marshal(s.Tables)
	if err != nil {
		return "", err
	}
	seen := string(tables)
	for _, t := range s.Tables {
		if t.Kind != schema.BaseTable {
			continue
		}
		quote := db.Dialect().Quote
		n, err := db.Query(ctx, fmt.Sprintf("SELECT count(*) FROM (SELECT 1 FROM %s.%s LIMIT %d) AS n", quote(s.SchemaOf(&t)), quote(t.Name), mostRows+1))
		if err != nil {
			return "", fmt.Errorf("counting the rows of %s: %w", t.Name, err)
		}
		seen += fmt.Sprint(n.Rows)
	}
	return seen, nil
}
