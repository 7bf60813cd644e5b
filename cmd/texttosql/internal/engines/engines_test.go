package engines

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/trino"
)

// TestErrors: no error of Connect has a password, whatever the driver says.
func TestErrors(t *testing.T) {
	told := func(err error) Engine {
		return Engine{Name: "own", Form: "FORM", Open: func(dsn string) (*sql.DB, string, string, error) {
			pool, _, _, openErr := openPostgres("postgres://u@127.0.0.1:1/d")
			return pool, "HOST/DATABASE", "p4ss", openErr
		}, Dialect: func(context.Context, *sql.DB) (exec.Dialect, error) { return nil, nil },
			Reason: func(error) string { return err.Error() }}
	}
	for _, tt := range []struct {
		why, dsn, want string
		engine         Engine
	}{
		{"no DSN of PostgreSQL", "postgres://u:p4ss@[::1", "the DSN cannot be read, or names no database: want postgres://",
			Postgres},
		{"no DSN of MySQL", "u:p4ss@tcp(h:1", "the DSN cannot be read, or names no database: want USER:PASSWORD@tcp", MySQL},
		{"a DSN without a database", "u:p4ss@tcp(h:1)/", "names no database", MySQL},
		{"no server of PostgreSQL", "postgres://u:p4ss@127.0.0.1:1/d",
			"database 127.0.0.1:1/d: no server: connect: connection refused", Postgres},
		{"no server of MySQL", "u:p4ss@tcp(127.0.0.1:1)/d", "database 127.0.0.1:1/d: no server: connect: connection refused",
			MySQL},
		{"a driver that tells the password", "", "database HOST/DATABASE: u:…@h", told(errors.New("u:p4ss@h"))},
	} {
		_, _, _, err := tt.engine.Connect(t.Context(), tt.dsn)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "p4ss") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := Postgres.Connect(ended, "postgres://u@127.0.0.1:1/d"); err != context.Canceled {
		t.Errorf("interrupted: %v", err)
	}
}

// TestTrino: what the dialect is told in the DSN, its driver is not.
func TestTrino(t *testing.T) {
	e, dsn, err := Trino("http://u@h:1?catalog=c&catalogs=a,%20b&schema=s&as_user=true")
	if err != nil || dsn != "http://u@h:1?catalog=c&schema=s" {
		t.Fatal(dsn, err)
	}
	if d, err := e.Dialect(t.Context(), nil); err != nil ||
		!reflect.DeepEqual(d, trino.Dialect{Catalogs: []string{"a", "b"}, AsUser: true}) {
		t.Errorf("%+v, %v", d, err)
	}
}
