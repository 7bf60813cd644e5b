package texttosql_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/need"
)

// TestForeignDrivers: a driver for another engine is known before anything is connected, and New says what to import.
func TestForeignDrivers(t *testing.T) {
	const postgres = "import github.com/texttosql/texttosql/exec/postgres and give New texttosql.WithDialect(postgres.Dialect{})"
	const mariadb = "import github.com/texttosql/texttosql/exec/mysql and give New texttosql.WithDialect(mysql.Dialect{})"
	config := need.Value(pgx.ParseConfig("postgres://u:p4ss@127.0.0.1:1/d"))(t)
	other := need.Value(mysql.NewConnector(&mysql.Config{User: "u", Passwd: "p4ss", Net: "tcp", Addr: "127.0.0.1:1"}))(t)
	named := func(driver, dsn string) *sql.DB {
		db := need.Value(sql.Open(driver, dsn))(t)
		return db
	}
	inside := texttosql.WithDriverHook(func(any) any { return new(stdlib.Conn) })
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
		{"pgx inside of a wrapped driver", sql.OpenDB(opener{wrapping{&sqlite3.SQLiteDriver{}}, ":memory:"}), []texttosql.Option{inside}, postgres},
	} {
		e, err := texttosql.New(tt.db, always(usa), tt.opts...)
		if err == nil {
			_, err = e.Ask(t.Context(), whoInUSA) // as Ready would
		}
		if !errors.Is(err, texttosql.ErrUnguarded) || !strings.Contains(err.Error(), tt.want) ||
			strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "p4ss") {
			t.Errorf("%s: %v, want one line with %q", tt.why, err, tt.want)
		}
		tt.db.Close()
	}
}
