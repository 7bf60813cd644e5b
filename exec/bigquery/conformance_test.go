package bigquery_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	bq "github.com/texttosql/texttosql/exec/bigquery"
	"github.com/texttosql/texttosql/exec/exectest"
)

// googleSQL is what GoogleSQL writes otherwise: a quote in a string has a backslash, UNION says what it is, and a WITH
// names its columns in the query.
var googleSQL = []string{
	"'it''s'", `'it\'s'`, " UNION SELECT", " UNION DISTINCT SELECT",
	"n(i) AS (SELECT 1 ", "n AS (SELECT 1 AS i ",
	"c(x, y) AS (SELECT id, name FROM", "c AS (SELECT id AS x, name AS y FROM",
	"g(password) AS (SELECT 's3cret-1')", "g AS (SELECT 's3cret-1' AS password)",
}

// engine is the fake for the suite.
func engine() exectest.Engine {
	return exectest.Engine{
		Dialect: bq.Dialect{},
		State:   func(context.Context, *sql.Conn) (string, error) { return "", nil }, // a connection has none
		Endless: exectest.Endless,
		Open: func(t testing.TB, script string) exectest.Database {
			f := newFake(t)
			f.script(script)
			return exectest.Database{User: f.connector(), Owner: liteConnector{f.dsn()}}
		},
		Write:        strings.NewReplacer(googleSQL...).Replace,
		VersionDelay: 5 * time.Millisecond,
		Skip: map[string]string{
			"inspect": "BigQuery has no unique constraints; TestInspect has what it has",
		},
	}
}

func TestConformance(t *testing.T) { exectest.Conformance(t, engine()) }
