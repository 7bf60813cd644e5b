package sqlite_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
)

// settings are what the guard changes on a connection.
type settings struct {
	limits      [10]int
	queryOnly   int
	busyTimeout int
	cacheSize   int
	authorizer  bool // one denies writing
}

// settingsOf reads the settings of one connection of the pool.
func settingsOf(t testing.TB, pool *sql.DB) settings {
	t.Helper()
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s, err := settingsOn(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func settingsOn(ctx context.Context, conn *sql.Conn) (s settings, err error) {
	err = conn.Raw(func(dc any) error {
		hooks := exectest.Unwrap(dc).(sqlite.Hooks)
		for id := range s.limits {
			s.limits[id] = hooks.SetLimit(id, -1) // negative: leave it as it is
		}
		return nil
	})
	for pragma, value := range map[string]*int{"query_only": &s.queryOnly, "cache_size": &s.cacheSize, "busy_timeout": &s.busyTimeout} {
		if err == nil {
			err = conn.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(value)
		}
	}
	_, denied := conn.ExecContext(ctx, "EXPLAIN CREATE TABLE authorized(a)")
	s.authorizer = denied != nil
	return s, err
}
