// Package mysqlite opens SQLite files with functions of MySQL, so that statements that were written for MySQL run on a
// copy of their data. It is for tests and measurements.
package mysqlite

import (
	"database/sql"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
)

const driver = "sqlite3_mysql"

var register = sync.OnceFunc(func() {
	sql.Register(driver, &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		for _, name := range names() {
			if err := c.RegisterFunc(name, functions[name], true); err != nil {
				return err
			}
		}
		return nil
	}})
})

// Open opens what a data source name of go-sqlite3 says.
func Open(name string) (*sql.DB, error) {
	register()
	return sql.Open(driver, name)
}

// OpenReadOnly opens a file that nobody changes.
func OpenReadOnly(path string) (*sql.DB, error) {
	return Open("file:" + path + "?mode=ro&immutable=1")
}

// Policy lets statements call the functions, and read what looks like a secret.
func Policy() exec.Policy { return exec.Policy{AllowFunctions: names(), Reveal: []string{"*"}} }

func names() []string { return slices.Sorted(maps.Keys(functions)) }

const today = "2026-01-01"

// functions are those that the golds and the recorded answers of ClassicModels call, in the meaning that they have for
// its data, and two of mathematics that go-sqlite3 leaves out.
var functions = map[string]any{
	"ceil":    func(x any) any { return math.Ceil(number(x)) },
	"mod":     func(x, y any) any { return math.Mod(number(x), number(y)) },
	"year":    part(time.Time.Year),
	"month":   part(func(t time.Time) int { return int(t.Month()) }),
	"day":     part(time.Time.Day),
	"quarter": part(func(t time.Time) int { return (int(t.Month()) + 2) / 3 }),
	"curdate": func() string { return today },
	"now":     func() string { return today },
	"datediff": func(a, b any) any {
		x, okX := date(a)
		y, okY := date(b)
		if !okX || !okY {
			return nil
		}
		return int64(x.Sub(y) / (24 * time.Hour))
	},
	"date_format": func(v any, format string) any {
		t, ok := date(v)
		if !ok {
			return nil
		}
		return strings.NewReplacer("%Y", t.Format("2006"), "%y", t.Format("06"), "%m", t.Format("01"), "%d", t.Format("02"),
			"%M", t.Format("January"), "%b", t.Format("Jan"), "%c", t.Format("1"), "%e", t.Format("2"), "%%",
			"%").Replace(format)
	},
	"if": func(condition, yes, no any) any {
		if x := number(condition); x != 0 && !math.IsNaN(x) {
			return yes
		}
		return no
	},
	"left": func(s string, n int64) string {
		r := []rune(s)
		return string(r[:max(0, min(int(n), len(r)))])
	},
	"substring_index": func(s, by string, n int64) string {
		parts := strings.Split(s, by)
		if n >= 0 {
			return strings.Join(parts[:min(int(n), len(parts))], by)
		}
		return strings.Join(parts[max(0, len(parts)+int(n)):], by)
	},
}

func date(v any) (time.Time, bool) {
	s, _ := v.(string)
	t, err := time.Parse(time.DateOnly, s[:min(len(s), 10)])
	return t, err == nil
}

func part(of func(time.Time) int) any {
	return func(v any) any {
		if t, ok := date(v); ok {
			return int64(of(t))
		}
		return nil
	}
}

func number(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}
