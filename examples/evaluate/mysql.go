package main

import (
	"database/sql"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
)

// mysqlFunctions are functions of MySQL that SQLite lacks, in the meaning they have for the data of ClassicModels: dates
// are texts. Today is a day after all of them.
func mysqlFunctions() map[string]any {
	date := func(v any) (time.Time, bool) {
		s, _ := v.(string)
		t, err := time.Parse(time.DateOnly, s[:min(len(s), 10)])
		return t, err == nil
	}
	part := func(of func(time.Time) int) any {
		return func(v any) any {
			if t, ok := date(v); ok {
				return int64(of(t))
			}
			return nil
		}
	}
	number := func(v any) float64 {
		switch v := v.(type) {
		case int64:
			return float64(v)
		case float64:
			return v
		}
		return math.NaN()
	}
	today := func() string { return "2026-01-01" }
	return map[string]any{
		"ceil":    func(x any) any { return math.Ceil(number(x)) },
		"mod":     func(x, y any) any { return math.Mod(number(x), number(y)) },
		"year":    part(time.Time.Year),
		"month":   part(func(t time.Time) int { return int(t.Month()) }),
		"day":     part(time.Time.Day),
		"quarter": part(func(t time.Time) int { return (int(t.Month()) + 2) / 3 }),
		"curdate": today,
		"now":     today,
		"datediff": func(a, b any) any {
			x, okX := date(a)
			y, okY := date(b)
			if !okX || !okY {
				return nil
			}
			return int64(x.Sub(y) / (24 * time.Hour))
		},
		"date_format": func(v any, format string) any {
			if t, ok := date(v); ok {
				return t.Format(strings.NewReplacer("%Y", "2006", "%m", "01", "%d", "02").Replace(format))
			}
			return nil
		},
		"substring_index": func(s, by string, n int64) string {
			parts := strings.Split(s, by)
			if n >= 0 {
				return strings.Join(parts[:min(int(n), len(parts))], by)
			}
			return strings.Join(parts[max(0, len(parts)+int(n)):], by)
		},
	}
}

// mysqlPolicy lets statements call the functions.
func mysqlPolicy() exec.Policy {
	names := []string{"concat", "concat_ws", "if"} // newer SQLites have these
	for name := range mysqlFunctions() {
		names = append(names, name)
	}
	slices.Sort(names)
	return exec.Policy{AllowFunctions: names}
}

var registerMySQL = sync.OnceFunc(func() {
	sql.Register("sqlite3_mysql", &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		for name, f := range mysqlFunctions() {
			if err := c.RegisterFunc(name, f, true); err != nil {
				return err
			}
		}
		return nil
	}})
})

// openMySQL opens a SQLite file, whose statements may call the functions.
func openMySQL(path string) (*sql.DB, error) {
	registerMySQL()
	return sql.Open("sqlite3_mysql", (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}).String())
}
