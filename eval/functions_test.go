package eval_test

import (
	"database/sql"
	"math"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
)

// The SQLite with which the recorded verdicts were made had its mathematical
// functions compiled in, and MySQL has functions on dates that SQLite lacks. Both
// are given to the driver of these tests, so that what is left to differ is the
// scorer.
func init() {
	sql.Register("sqlite3_eval", &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		for name, f := range extraFunctions() {
			if err := c.RegisterFunc(name, f, true); err != nil {
				return err
			}
		}
		return nil
	}})
}

func extraFunctions() map[string]any {
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
		"substring_index": func(s, by string, n int64) string {
			parts := strings.Split(s, by)
			if n >= 0 {
				return strings.Join(parts[:min(int(n), len(parts))], by)
			}
			return strings.Join(parts[max(0, len(parts)+int(n)):], by)
		},
	}
}

// withFunctions is a configuration with the functions above.
func withFunctions(find func(string) (string, error)) eval.StoreConfig {
	var names []string
	for name := range extraFunctions() {
		names = append(names, name)
	}
	return eval.StoreConfig{
		Find: find, Policy: exec.Policy{AllowFunctions: names},
		Open: func(path string) (*sql.DB, error) {
			return sql.Open("sqlite3_eval", "file:"+path+"?mode=ro&immutable=1")
		},
	}
}
