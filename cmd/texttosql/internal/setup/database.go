// Package setup makes an engine of what a command line says: a database, models, and what bounds both.
package setup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	mariadb "github.com/go-sql-driver/mysql"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/engines"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
)

// Forms lists what --db takes.
const Forms = "a SQLite file, postgres://USER:PASSWORD@HOST/DATABASE, mysql://USER:PASSWORD@HOST/DATABASE, " +
	"https://USER@HOST:PORT?catalog=CATALOG of Trino, duckdb:FILE, or the driver's own form"

// ErrNoDatabase says that the command line names no database.
var ErrNoDatabase = &UsageError{errors.New("no database is named: give --db or TEXTTOSQL_DSN, " + Forms)}

// UsageError is an error of the command line or of a file that it names: nothing was asked yet.
type UsageError struct{ Err error }

// Error is the cause.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// kind is how a DSN is recognised, and its engine with the DSN for the driver.
type kind struct {
	is     *regexp.Regexp
	engine func(text string) (engines.Engine, string, error)
}

func as(e engines.Engine) func(string) (engines.Engine, string, error) {
	return func(text string) (engines.Engine, string, error) { return e, text, nil }
}

var kinds = []kind{
	{regexp.MustCompile(`^(?i:postgres(ql)?://|(host|hostaddr|user|password|dbname|port|service|sslmode)\s*=)`),
		as(engines.Postgres)},
	{regexp.MustCompile(`^(?i:(mysql|mariadb)://)`), mysqlURL},
	{regexp.MustCompile(`^(.*@)?(tcp|tcp6|unix)\(`), as(engines.MySQL)},
	{regexp.MustCompile(`^(?i:https?://)`), engines.Trino},
	{regexp.MustCompile(`^duckdb:`), engines.DuckDB},
}

// mysqlURL writes a URL as the driver wants it.
func mysqlURL(text string) (engines.Engine, string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return engines.Engine{}, "", err
	}
	c := mariadb.NewConfig()
	c.Net, c.Addr, c.User, c.DBName = "tcp", u.Host, u.User.Username(), strings.TrimPrefix(u.Path, "/")
	c.Passwd, _ = u.User.Password()
	if u.Port() == "" {
		c.Addr = u.Host + ":3306"
	}
	query := u.Query()
	if socket := query.Get("socket"); socket != "" {
		c.Net, c.Addr = "unix", socket
		query.Del("socket")
		u.RawQuery = query.Encode()
	}
	dsn := c.FormatDSN()
	if u.RawQuery != "" {
		dsn, _, _ = strings.Cut(dsn, "?")
		dsn += "?" + u.RawQuery
	}
	return engines.MySQL, dsn, nil
}

// Opened is a database that answered.
type Opened struct {
	Pool    *sql.DB
	Dialect exec.Dialect
	Engine  string      // its name: "sqlite", "postgres", …
	Place   string      // where it is, without user and password, for messages
	Config  exec.Config // policy and limits, where flags named them
	Scope   *exec.Scope // whose rows are read; nil: no flag says it
}

// Guarded returns the database under the policy, as the scope sees it.
func (o *Opened) Guarded() (*exec.DB, error) {
	db, err := exec.New(o.Pool, o.Dialect, o.Config)
	if err != nil || o.Scope == nil {
		return db, err
	}
	return db.For(o.Scope, nil)
}

// Close closes the pool.
func (o *Opened) Close() error { return o.Pool.Close() }

// Open opens the database of a DSN, or a SQLite file for reading. No error repeats a DSN.
func Open(ctx context.Context, text string) (*Opened, error) {
	text = strings.TrimSpace(text)
	for _, k := range kinds {
		if !k.is.MatchString(text) {
			continue
		}
		engine, dsn, err := k.engine(text)
		if err != nil {
			if errors.Is(err, engines.ErrForm) { // any other error may repeat the DSN
				return nil, &UsageError{err}
			}
			return nil, &UsageError{errors.New("the DSN cannot be read: want " + Forms)}
		}
		pool, dialect, place, err := engine.Connect(ctx, dsn)
		if err != nil {
			return nil, err
		}
		return &Opened{Pool: pool, Dialect: dialect, Engine: engine.Name, Place: place}, nil
	}
	path := strings.TrimPrefix(text, "sqlite:")
	if path == "" {
		return nil, ErrNoDatabase
	}
	if _, err := os.Stat(strings.TrimSuffix(path, "?immutable=1")); err != nil && strings.ContainsAny(path, "@=:") {
		// it may hold a password
		return nil, &UsageError{errors.New("--db is neither a file that is there nor a DSN that is known: want " + Forms)}
	}
	pool, err := cli.OpenReadOnly(path)
	if err != nil {
		return nil, &UsageError{fmt.Errorf("database %s cannot be opened: %w", path, err)} // "passwd: …" would be scrubbed
	}
	return &Opened{Pool: pool, Dialect: sqlite.Dialect{Math: true}, Engine: "sqlite", Place: path}, nil
}

// secrets is what a DSN may look like, also one with a slip of the pen.
var secrets = regexp.MustCompile(`(?i)://|@|\b(password|passwd|pwd)\s*=`)

// IsDSN reports whether a text looks like a DSN, which may hold a password.
func IsDSN(text string) bool {
	return secrets.MatchString(text) || slices.ContainsFunc(kinds, func(k kind) bool { return k.is.MatchString(text) })
}
