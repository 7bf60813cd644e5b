package postgres_test

import (
	"database/sql"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
)

func newDB(t testing.TB, pool *sql.DB, c exec.Config) *exec.DB {
	t.Helper()
	c.Unwrap = unwrap
	db, err := exec.New(pool, postgres.Dialect{}, c)
	if err != nil {
		t.Fatal(err)
	}
	return db
}
