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
	"strings"

	mariadb "github.com/go-sql-driver/mysql"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/internal/engines"
)

// Forms lists what --db takes.
const Forms = "a SQLite file, postgres://USER:PASSWORD@HOST/DATABASE, mysql://USER:PASSWORD@HOST/DATABASE, or USER:PASSWORD@tcp(HOST)/DATABASE"

// ErrNoDatabase says that the command line names no database.
var ErrNoDatabase = &UsageError{errors.New("no database is named: give --db or TEXTTOSQL_DSN, " + Forms)}

// UsageError is an error of the command line or of a file that it names: nothing was asked yet.
type UsageError struct{ Err error }

// Error is the cause.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// kind is how a DSN is recognised, and what its driver is given.
type kind struct {
	engine engines.Engine
	is     *regexp.Regexp
	dsn    func(text string) (string, error) // nil: as it is
}

var kinds = []kind{
	{engines.Postgres, regexp.MustCompile(`^(?i:postgres(ql)?://|(host|hostaddr|user|password|dbname|port|service|sslmode)\s*=)`), nil},
	{engines.MySQL, regexp.MustCompile(`^(?i:(mysql|mariadb)://)`), mysqlDSN},
	{engines.MySQL, regexp.MustCompile(`^([^@/]*@|.*@)?(tcp|tcp6|unix)\(`), nil},
}

// mysqlDSN writes a URL as the driver wants it.
func mysqlDSN(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	c := mariadb.NewConfig()
	c.Net, c.Addr, c.User, c.DBName = "tcp", u.Host, u.User.Username(), strings.TrimPrefix(u.Path, "/")
	c.Passwd, _ = u.User.Password()
	if u.Port() == "" {
		c.Addr = u.Host + ":3306"
	}
	dsn := c.FormatDSN()
	if u.RawQuery != "" {
		dsn, _, _ = strings.Cut(dsn, "?")
		dsn += "?" + u.RawQuery
	}
	return dsn, nil
}

// Opened is a database that answered.
type Opened struct {
	Pool    *sql.DB
	Dialect exec.Dialect
	Engine  string      // its name: "sqlite", "postgres", …
	Place   string      // where it is, without user and password, for messages
	Config  exec.Config // policy and limits, where flags named them
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
		dsn := text
		if k.dsn != nil {
			var err error
			if dsn, err = k.dsn(text); err != nil {
				return nil, &UsageError{fmt.Errorf("the DSN cannot be read: want %s", k.engine.Form)}
			}
		}
		pool, dialect, place, err := k.engine.Connect(ctx, dsn)
		if err != nil {
			return nil, err
		}
		return &Opened{Pool: pool, Dialect: dialect, Engine: k.engine.Name, Place: place}, nil
	}
	path := strings.TrimPrefix(text, "sqlite:")
	if path == "" {
		return nil, ErrNoDatabase
	}
	if _, err := os.Stat(path); err != nil && strings.ContainsAny(path, "@=:") {
		return nil, &UsageError{errors.New("--db is neither a file that is there nor a DSN that is known: want " + Forms)} // it may hold a password
	}
	pool, err := cli.OpenReadOnly(path)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	return &Opened{Pool: pool, Dialect: sqlite.Dialect{}, Engine: "sqlite", Place: path}, nil
}

// IsDSN reports whether a text looks like a DSN, which may hold a password.
func IsDSN(text string) bool {
	for _, k := range kinds {
		if k.is.MatchString(text) {
			return true
		}
	}
	return strings.Contains(text, "://")
}
