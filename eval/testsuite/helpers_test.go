package testsuite_test

import (
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/eval/testsuite"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/evaldata"
)

// open opens a database file with go-sqlite3.
func open(path string) (*sql.DB, error) { return sql.Open("sqlite3", path) }

// mysqlFunctions are functions of MySQL that golds of ClassicModels call, in the
// meaning they have for its data.
var mysqlFunctions = map[string]any{
	"YEAR":  func(date string) (int64, error) { at, err := parse(date); return int64(at.Year()), err },
	"MONTH": func(date string) (int64, error) { at, err := parse(date); return int64(at.Month()), err },
	"DAY":   func(date string) (int64, error) { at, err := parse(date); return int64(at.Day()), err },
	"DATEDIFF": func(a, b string) (int64, error) {
		x, err := parse(a)
		if err != nil {
			return 0, err
		}
		y, err := parse(b)
		return int64(x.Sub(y).Hours() / 24), err
	},
}

func parse(date string) (time.Time, error) {
	return time.Parse("2006-01-02", date[:min(10, len(date))])
}

var registerMySQL = sync.OnceFunc(func() {
	sql.Register("sqlite3_testsuite_mysql", &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		for name, f := range mysqlFunctions {
			if err := c.RegisterFunc(name, f, true); err != nil {
				return err
			}
		}
		return nil
	}})
})

// openMySQL opens a database file whose connections have mysqlFunctions.
func openMySQL(path string) (*sql.DB, error) {
	registerMySQL()
	return sql.Open("sqlite3_testsuite_mysql", path)
}

// openReadOnly is openMySQL for a file that nobody changes.
func openReadOnly(path string) (*sql.DB, error) {
	return openMySQL("file:" + path + "?mode=ro&immutable=1")
}

// mysqlPolicy lets statements call mysqlFunctions.
func mysqlPolicy() exec.Policy {
	var p exec.Policy
	for name := range mysqlFunctions {
		p.AllowFunctions = append(p.AllowFunctions, strings.ToLower(name))
	}
	return p
}

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
