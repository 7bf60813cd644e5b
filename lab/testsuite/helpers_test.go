package testsuite_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/lab/testsuite"
)

// open opens a database file with go-sqlite3.
func open(path string) (*sql.DB, error) { return sql.Open("sqlite3", path) }

type question struct {
	ID   int    `json:"qid"`
	DB   string `json:"db_id"`
	Text string `json:"question"`
	Gold string `json:"gold"`
}

func goldsOf(t testing.TB, file, db string) []testsuite.Gold {
	t.Helper()
	var list []testsuite.Gold
	for q := range evaldata.Lines[question](t, evaldata.Path(t, file)) {
		if q.DB == db {
			list = append(list, testsuite.Gold{ID: fmt.Sprint(q.ID), SQL: q.Gold})
		}
	}
	return list
}
