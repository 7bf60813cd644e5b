// Package ported copies evaluation databases from SQLite files to a server, one database each, and opens them there.
package ported

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/texttosql/texttosql/exec"
	mysqldialect "github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/exec/postgres"
)

// Server is a database server. Its methods are safe for concurrent use.
type Server struct {
	Dialect exec.Dialect

	engine
	open func(database string, loading bool) (*sql.DB, error) // "": the database that the DSN names
}

// Connect returns the server behind a data source name, of pgx or of go-sql-driver/mysql. It opens no connection.
func Connect(name, dsn string) (*Server, error) {
	// The errors of both parsers may quote a password.
	malformed := fmt.Errorf("--dsn cannot be read: for postgres postgres://USER:PASSWORD@HOST:PORT/DATABASE, " +
		"for mysql USER:PASSWORD@tcp(HOST:PORT)/")
	switch name {
	case "postgres":
		config, err := pgx.ParseConfig(dsn)
		if err != nil || dsn == "" {
			return nil, malformed
		}
		return &Server{Dialect: postgres.Dialect{}, engine: postgresEngine{}, open: func(database string, _ bool) (*sql.DB,
			error) {
			c := config.Copy()
			if database != "" {
				c.Database = database
			}
			return stdlib.OpenDB(*c), nil
		}}, nil
	case "mysql":
		config, err := mysql.ParseDSN(dsn)
		if err != nil {
			return nil, malformed
		}
		return &Server{Dialect: mysqldialect.Dialect{}, engine: mysqlEngine{},
			open: func(database string, loading bool) (*sql.DB, error) {
				c := config.Clone()
				if c.DBName = database; loading {
					c.MultiStatements, c.InterpolateParams, c.MaxAllowedPacket = true, true, 0
				}
				connector, err := mysql.NewConnector(c)
				if err != nil {
					return nil, err
				}
				return sql.OpenDB(connector), nil
			}}, nil
	}
	return nil, fmt.Errorf("--engine %q: there are postgres and mysql", name)
}

// Name is the name that the copy of a database has on a server: that of its file, in lower case and without an ending.
func Name(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return strings.ToLower(name)
}

// Open opens the copy of a SQLite file for reading.
func (s *Server) Open(path string) (*sql.DB, error) { return s.open(Name(path), false) }

// ForeignError says that a database of that name is there which Load did not make.
type ForeignError struct{ Database string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("the server has a database %s with tables that load did not make: nothing was changed; "+
		"rename or drop it, or take another server", e.Database)
}

// engine is what differs between servers when databases are copied.
type engine interface {
	// mark returns whether a database is there, and the text that Load left about it; "": none.
	mark(ctx context.Context, root *sql.DB, database string) (there bool, text string, err error)
	setMark(ctx context.Context, root *sql.DB, database, text string) error
	// create makes an empty database whose texts compare byte by byte, as they do in SQLite.
	create(ctx context.Context, root *sql.DB, database string) error
	// name is what a name becomes, so that statements need not quote it.
	name(string) string
	quote(string) string
	// columnType is the type for the values of a column.
	columnType(column) string
	// analyze counts the values of a table, whose name comes behind.
	analyze() string
	// insert copies rows of a table.
	insert(ctx context.Context, conn *sql.Conn, t *table, next func() ([]any, error)) (rows int, err error)
}

const relations = `SELECT COUNT(*) FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'pg_catalog', 'mysql', 'performance_schema', 'sys')`

type postgresEngine struct{}

func (postgresEngine) mark(ctx context.Context, root *sql.DB, database string) (there bool, text string, err error) {
	err = root.QueryRowContext(ctx, "SELECT coalesce(shobj_description(oid, 'pg_database'), '') FROM pg_database "+
		"WHERE datname = $1", database).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return false, "", nil
	}
	return err == nil, text, err
}

func (e postgresEngine) setMark(ctx context.Context, root *sql.DB, database, text string) error {
	_, err := root.ExecContext(ctx, "COMMENT ON DATABASE "+e.quote(database)+" IS '"+text+"'")
	return err
}

func (e postgresEngine) create(ctx context.Context, root *sql.DB, database string) error {
	_, err := root.ExecContext(ctx, "CREATE DATABASE "+e.quote(database)+" TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
	return err
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (postgresEngine) name(name string) string {
	if plainName.MatchString(name) {
		return strings.ToLower(name)
	}
	return name
}

func (postgresEngine) quote(name string) string { return postgres.Dialect{}.Language().Quote(name) }

func (postgresEngine) analyze() string { return "ANALYZE " }

func (postgresEngine) columnType(c column) string {
	switch c.kind {
	case integers:
		return "bigint"
	case reals:
		return "double precision"
	case blobs:
		return "bytea"
	case dates:
		return "date"
	case times:
		return "timestamp"
	}
	if c.length > 0 {
		return fmt.Sprintf("varchar(%d)", c.length)
	}
	return "text"
}

func (e postgresEngine) insert(ctx context.Context, conn *sql.Conn, t *table, next func() ([]any, error)) (rows int,
	err error) {
	var names []string
	for _, c := range t.columns {
		names = append(names, e.name(c.name))
	}
	err = conn.Raw(func(driverConn any) error {
		n, err := driverConn.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{e.name(t.name)}, names,
			pgx.CopyFromFunc(next))
		rows = int(n)
		return err
	})
	return rows, err
}

type mysqlEngine struct{}

// marks is where load remembers what it made.
const marks = "texttosql_evaluate"

func (mysqlEngine) mark(ctx context.Context, root *sql.DB, database string) (there bool, text string, err error) {
	if err := root.QueryRowContext(ctx, "SELECT COUNT(*) > 0 FROM information_schema.schemata WHERE schema_name = ?",
		database).Scan(&there); err != nil || !there {
		return false, "", err
	}
	known := false
	if err := root.QueryRowContext(ctx, "SELECT COUNT(*) > 0 FROM information_schema.tables WHERE table_schema = ? "+
		"AND table_name = 'copies'", marks).Scan(&known); err != nil || !known {
		return true, "", err
	}
	err = root.QueryRowContext(ctx, "SELECT mark FROM "+marks+".copies WHERE name = ?", database).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return true, text, err
}

func (mysqlEngine) setMark(ctx context.Context, root *sql.DB, database, text string) error {
	_, err := root.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+marks+"; CREATE TABLE IF NOT EXISTS "+marks+
		".copies (name VARCHAR(64) PRIMARY KEY, mark VARCHAR(200))")
	if err == nil {
		_, err = root.ExecContext(ctx, "REPLACE INTO "+marks+".copies VALUES (?, ?)", database, text)
	}
	return err
}

func (e mysqlEngine) create(ctx context.Context, root *sql.DB, database string) error {
	var version string
	if err := root.QueryRowContext(ctx, "SELECT @@version").Scan(&version); err != nil {
		return err
	}
	collation := "utf8mb4_0900_bin"
	if strings.Contains(version, "MariaDB") {
		collation = "utf8mb4_nopad_bin"
	}
	_, err := root.ExecContext(ctx, "CREATE DATABASE "+e.quote(database)+" CHARACTER SET utf8mb4 COLLATE "+collation)
	return err
}

func (mysqlEngine) name(name string) string { return name }

func (mysqlEngine) quote(name string) string { return mysqldialect.Dialect{}.Language().Quote(name) }

func (mysqlEngine) analyze() string { return "ANALYZE TABLE " }

func (mysqlEngine) columnType(c column) string {
	switch c.kind {
	case integers:
		return "BIGINT"
	case reals:
		return "DOUBLE"
	case blobs:
		return "LONGBLOB"
	case dates:
		return "DATE"
	case times:
		return "DATETIME"
	}
	// Only VARCHAR can be a key.
	if n := max(c.length, c.longest, 1); n <= 255 {
		return fmt.Sprintf("VARCHAR(%d)", n)
	}
	return "LONGTEXT"
}

func (e mysqlEngine) insert(ctx context.Context, conn *sql.Conn, t *table, next func() ([]any, error)) (rows int,
	err error) {
	const most = 500
	row := "(?" + strings.Repeat(", ?", len(t.columns)-1) + ")"
	head := "INSERT INTO " + e.quote(t.name) + " VALUES " + row
	var values []any
	n := 0
	flush := func() error {
		if n == 0 {
			return nil
		}
		_, err := conn.ExecContext(ctx, head+strings.Repeat(", "+row, n-1), values...)
		values, n = values[:0], 0
		return err
	}
	for {
		v, err := next()
		if err != nil {
			return rows, err
		}
		if v == nil {
			return rows, flush()
		}
		values, n, rows = append(values, v...), n+1, rows+1
		if n == most || n*len(t.columns) > 10_000 {
			if err := flush(); err != nil {
				return rows, err
			}
		}
	}
}
