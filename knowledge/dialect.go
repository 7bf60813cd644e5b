package knowledge

import (
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

// dialect is how an engine writes what Compile writes.
type dialect struct {
	text  sqltext.Dialect
	quote string // around names
	// circular says that WITH t AS (SELECT … FROM t) reads itself, and not the table t.
	circular bool
	// grains write a date as a text, in the order of the list grains. $x is the date.
	grains []string
}

var grains = []string{"year", "quarter", "month", "week", "day", "hour"}

// dialects are the engines for which Compile writes statements, by exec.Language.Name.
var dialects = map[string]dialect{
	// `x` is a name to SQLite, "x" a text where no column is called so.
	"sqlite": {sqltext.SQLite(), "`", true, []string{
		"strftime('%Y', $x)",
		"strftime('%Y', $x) || '-Q' || ((strftime('%m', $x) + 2) / 3)",
		"strftime('%Y-%m', $x)",
		"date($x, '-6 days', 'weekday 1')", // the next Monday, from six days before
		"strftime('%Y-%m-%d', $x)",
		"strftime('%Y-%m-%d %H:00', $x)",
	}},
	"postgres": {sqltext.PostgreSQL(), `"`, false, []string{
		"to_char(CAST($x AS timestamp), 'YYYY')",
		`to_char(CAST($x AS timestamp), 'YYYY-"Q"Q')`,
		"to_char(CAST($x AS timestamp), 'YYYY-MM')",
		"to_char(date_trunc('week', CAST($x AS timestamp)), 'YYYY-MM-DD')",
		"to_char(CAST($x AS timestamp), 'YYYY-MM-DD')",
		"to_char(CAST($x AS timestamp), 'YYYY-MM-DD HH24:00')",
	}},
	"mysql": {sqltext.MySQL(), "`", false, []string{
		"DATE_FORMAT($x, '%Y')",
		"CONCAT(YEAR($x), '-Q', QUARTER($x))",
		"DATE_FORMAT($x, '%Y-%m')",
		"DATE_FORMAT(DATE_SUB($x, INTERVAL WEEKDAY($x) DAY), '%Y-%m-%d')",
		"DATE_FORMAT($x, '%Y-%m-%d')",
		"DATE_FORMAT($x, '%Y-%m-%d %H:00')",
	}},
	"duckdb": {sqltext.DuckDB(), `"`, false, []string{
		"strftime(CAST($x AS TIMESTAMP), '%Y')",
		"year(CAST($x AS TIMESTAMP)) || '-Q' || quarter(CAST($x AS TIMESTAMP))",
		"strftime(CAST($x AS TIMESTAMP), '%Y-%m')",
		"strftime(date_trunc('week', CAST($x AS TIMESTAMP)), '%Y-%m-%d')",
		"strftime(CAST($x AS TIMESTAMP), '%Y-%m-%d')",
		"strftime(CAST($x AS TIMESTAMP), '%Y-%m-%d %H:00')",
	}},
	"trino": {sqltext.Trino(), `"`, false, []string{
		"date_format(CAST($x AS timestamp), '%Y')",
		"concat(date_format(CAST($x AS timestamp), '%Y'), '-Q', CAST(quarter(CAST($x AS timestamp)) AS varchar))",
		"date_format(CAST($x AS timestamp), '%Y-%m')",
		"date_format(date_trunc('week', CAST($x AS timestamp)), '%Y-%m-%d')",
		"date_format(CAST($x AS timestamp), '%Y-%m-%d')",
		"date_format(CAST($x AS timestamp), '%Y-%m-%d %H:00')",
	}},
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
