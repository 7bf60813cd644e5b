package postgres_test

import (
	"database/sql"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
)

func newDB(t testing.TB, pool *sql.DB, c exec.Config) *exec.DB {
	t.Helper()
	c.Unwrap, c.Policy = unwrap, revealed(c.Policy)
	db, err := exec.New(pool, postgres.Dialect{}, c)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// revealed is p, which reads the columns password and secret of the tests as any other, unless it says what to reveal.
func revealed(p exec.Policy) exec.Policy {
	if p.Reveal == nil {
		p.Reveal = []string{"*"}
	}
	return p
}
