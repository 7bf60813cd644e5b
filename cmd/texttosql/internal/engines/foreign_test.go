package engines_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestForeignDrivers: a driver for another engine is known before anything is connected, and New says what to import.
func TestForeignDrivers(t *testing.T) {
	const postgres = "import github.com/texttosql/texttosql/exec/postgres and give New " +
		"texttosql.WithDialect(postgres.Dialect{})"
	const mariadb = "import github.com/texttosql/texttosql/exec/mysql and give New texttosql.WithDialect(mysql.Dialect{})"
	config := testutil.Value(pgx.ParseConfig("postgres://u:p4ss@127.0.0.1:1/d"))(t)
	other := testutil.Value(mysql.NewConnector(&mysql.Config{User: "u", Passwd: "p4ss", Net: "tcp",
		Addr: "127.0.0.1:1"}))(t)
	named := func(name, dsn string) *sql.DB {
		db := testutil.Value(sql.Open(name, dsn))(t)
		return db
	}
	inside := texttosql.WithDialect(nil, func(any) any { return new(stdlib.Conn) })
	for _, tt := range []struct {
		why  string
		db   *sql.DB
		opts []texttosql.Option
		want string
	}{
		{"pgx by name", named("pgx", "postgres://u:p4ss@127.0.0.1:1/d"), nil, postgres},
		{"pgx by its configuration", stdlib.OpenDB(*config), nil, postgres},
		{"go-sql-driver by name", named("mysql", "u:p4ss@tcp(127.0.0.1:1)/d"), nil, mariadb},
		{"go-sql-driver by a connector", sql.OpenDB(other), nil, mariadb},
		{"pgx inside of a wrapped driver", sql.OpenDB(wrapping{exectest.ConnectorOf(t, "sqlite3", ":memory:")}),
			[]texttosql.Option{inside}, postgres},
	} {
		e, err := texttosql.New(tt.db, always("SELECT 1"), tt.opts...)
		if err == nil {
			_, err = e.Ask(t.Context(), "Who?") // as Ready would
		}
		if !errors.As(err, new(*exec.UnguardedError)) || !strings.Contains(err.Error(), tt.want) ||
			strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "p4ss") {
			t.Errorf("%s: %v, want one line with %q", tt.why, err, tt.want)
		}
		tt.db.Close()
	}
}

// wrapping is a connector as tracing libraries make them: nothing tells what its connections are.
type wrapping struct{ driver.Connector }

func (w wrapping) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := w.Connector.Connect(ctx)
	return struct{ driver.Conn }{conn}, err
}

func (w wrapping) Driver() driver.Driver { return struct{ driver.Driver }{w.Connector.Driver()} }
