package postgres_test

import (
	"os"
	"testing"

	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/evaldata"
)

func TestOwn(t *testing.T) {
	script, _ := os.ReadFile(evaldata.Path(t, "security", "fixture_postgres.sql"))
	e := engine("pgx", "", "postgres")
	e.Fixture = fixtureOf(string(script)) + traps
	e.Payloads = hostile()
	exectest.Payloads(t, e)
}
