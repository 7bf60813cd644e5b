// Package engines opens databases of several kinds by a DSN, for programs. It links the drivers of PostgreSQL and
// MySQL, so no library may import it. An engine with another driver is a value that the program makes.
package engines

import (
	"context"
	"database/sql"
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

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/exec/postgres"
)

// Engine is one kind of database.
type Engine struct {
	Name  string // how a flag names it
	Title string // how a person calls it
	Form  string // of a DSN, for messages
	// Open makes a pool without a connection. place says where the database is, as HOST:PORT/DATABASE; password is what
	// no message may hold. No message has the text of its error, which may hold the DSN.
	Open func(dsn string) (pool *sql.DB, place, password string, err error)
	// Dialect returns the dialect of the database, and may ask the server which one it is.
	Dialect func(ctx context.Context, pool *sql.DB) (exec.Dialect, error)
	// Reason returns the text of a server's error that says why it cannot be asked, or "" for the text of any error. Nil
	// does that. Of an error of Open it returns "" where that may hold the DSN.
	Reason func(error) string
}

// The engines whose drivers are linked.
var (
	Postgres = Engine{
		Name: "postgres", Title: "PostgreSQL", Form: "postgres://USER:PASSWORD@HOST:PORT/DATABASE", Open: openPostgres,
		Dialect: func(context.Context, *sql.DB) (exec.Dialect, error) { return postgres.Dialect{}, nil },
		Reason: func(err error) string {
			if server, ok := errors.AsType[*pgconn.PgError](err); ok {
				return server.Message
			}
			return ""
		},
	}
	MySQL = Engine{
		Name: "mysql", Title: "MySQL", Form: "USER:PASSWORD@tcp(HOST:PORT)/DATABASE", Open: openMySQL, Dialect: mysqlDialect,
		Reason: func(err error) string {
			if server, ok := errors.AsType[*mariadb.MySQLError](err); ok {
				return server.Message
			}
			return ""
		},
	}
)

func openPostgres(dsn string) (*sql.DB, string, string, error) {
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, "", "", err
	}
	return stdlib.OpenDB(*c), fmt.Sprintf("%s/%s", net.JoinHostPort(c.Host, fmt.Sprint(c.Port)), c.Database),
		c.Password, nil
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
		MariaDB: strings.Contains(version, "MariaDB"), ANSIQuotes: has("ANSI_QUOTES"),
		NoBackslashEscapes: has("NO_BACKSLASH_ESCAPES"),
	}, nil
}

// connectTimeout ends the attempt to reach a server that does not answer.
const connectTimeout = 10 * time.Second

// Connect opens the database of a DSN and asks the server once, for at most 10 seconds. The caller closes the pool.
// Errors are one line that names the place, never the DSN or its password. It returns the error of ctx if that ended.
func (e Engine) Connect(ctx context.Context, dsn string) (pool *sql.DB, d exec.Dialect, place string, err error) {
	pool, place, password, err := e.Open(dsn)
	if err != nil && e.Reason != nil && e.Reason(err) != "" {
		return nil, nil, "", fmt.Errorf("database %s: %s", place, e.Reason(err))
	}
	if err != nil {
		advice := ""
		if strings.Contains(dsn, "://") {
			advice = "; in a user name and a password each sign beside letters and digits is percent-encoded: # is %23, @ is %40"
		}
		return nil, nil, "", fmt.Errorf("the DSN cannot be read, or names no database: want %s%s", e.Form, advice)
	}
	within, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if err = pool.PingContext(within); err == nil {
		d, err = e.Dialect(within, pool)
	}
	if err == nil {
		return pool, d, place, nil
	}
	pool.Close()
	if ctx.Err() != nil {
		return nil, nil, "", ctx.Err()
	}
	return nil, nil, "", fmt.Errorf("database %s: %s", place, e.reason(err, password))
}

// reason says in one line why a server cannot be asked.
func (e Engine) reason(err error, password string) (text string) {
	if e.Reason != nil {
		text = e.Reason(err)
	}
	dial, dials := errors.AsType[*net.OpError](err)
	switch {
	case text != "":
	case dials && dial.Op == "dial":
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
