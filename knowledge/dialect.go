package knowledge

import (
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

// dialect is how an engine writes what Compile writes.
type dialect struct {
	text  sqltext.Dialect
	quote string                    // around names
	grain func(x, to string) string // a date as the text of one of the grains
	// circular says that WITH t AS (SELECT … FROM t) reads itself, and not the table t.
	circular bool
}

var grains = []string{"year", "quarter", "month", "week", "day", "hour"}

// strf are the grains in the notation of strftime.
var strf = map[string]string{"year": "%Y", "month": "%Y-%m", "week": "%Y-%m-%d", "day": "%Y-%m-%d",
	"hour": "%Y-%m-%d %H:00"}

// dialects are the engines for which Compile writes statements, by exec.Language.Name.
var dialects = map[string]dialect{
	// `x` is a name to SQLite, "x" a text where no column is called so.
	"sqlite":   {sqltext.SQLite(), "`", sqliteGrain, true},
	"postgres": {sqltext.PostgreSQL(), `"`, postgresGrain, false},
	"mysql":    {sqltext.MySQL(), "`", mysqlGrain, false},
	"duckdb":   {sqltext.DuckDB(), `"`, duckdbGrain, false},
	"trino":    {sqltext.Trino(), `"`, trinoGrain, false},
}

func (d dialect) name(s string) string {
	return d.quote + strings.ReplaceAll(s, d.quote, d.quote+d.quote) + d.quote
}

// path writes a name with dots.
func (d dialect) path(s string) string {
	parts := strings.Split(s, ".")
	for i, p := range parts {
		parts[i] = d.name(strings.Trim(p, "\"`[]"))
	}
	return strings.Join(parts, ".")
}

// literal writes a text.
func (d dialect) literal(s string) string {
	if d.text.Backslash {
		s = strings.ReplaceAll(s, `\`, `\\`)
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

func sqliteGrain(x, to string) string {
	switch to {
	case "quarter":
		return fmt.Sprintf("strftime('%%Y', %s) || '-Q' || ((strftime('%%m', %s) + 2) / 3)", x, x)
	case "week": // the next Monday, from six days before
		return fmt.Sprintf("date(%s, '-6 days', 'weekday 1')", x)
	}
	return fmt.Sprintf("strftime('%s', %s)", strf[to], x)
}

func postgresGrain(x, to string) string {
	x = "CAST(" + x + " AS timestamp)"
	if to == "week" {
		x = "date_trunc('week', " + x + ")"
	}
	form := map[string]string{
		"year": "YYYY", "quarter": `YYYY-"Q"Q`, "month": "YYYY-MM", "week": "YYYY-MM-DD", "day": "YYYY-MM-DD",
		"hour": "YYYY-MM-DD HH24:00",
	}
	return fmt.Sprintf("to_char(%s, '%s')", x, form[to])
}

func mysqlGrain(x, to string) string {
	switch to {
	case "quarter":
		return fmt.Sprintf("CONCAT(YEAR(%s), '-Q', QUARTER(%s))", x, x)
	case "week":
		x = fmt.Sprintf("DATE_SUB(%s, INTERVAL WEEKDAY(%s) DAY)", x, x)
	}
	return fmt.Sprintf("DATE_FORMAT(%s, '%s')", x, strf[to])
}

func duckdbGrain(x, to string) string {
	x = "CAST(" + x + " AS TIMESTAMP)"
	switch to {
	case "quarter":
		return fmt.Sprintf("year(%s) || '-Q' || quarter(%s)", x, x)
	case "week":
		x = "date_trunc('week', " + x + ")"
	}
	return fmt.Sprintf("strftime(%s, '%s')", x, strf[to])
}

func trinoGrain(x, to string) string {
	x = "CAST(" + x + " AS timestamp)"
	switch to {
	case "quarter":
		return fmt.Sprintf("concat(date_format(%s, '%%Y'), '-Q', CAST(quarter(%s) AS varchar))", x, x)
	case "week":
		x = "date_trunc('week', " + x + ")"
	}
	return fmt.Sprintf("date_format(%s, '%s')", x, strf[to])
}
