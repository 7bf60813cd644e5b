package mcpserver

import (
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
)

// mistaken are what models write wrong most often in each language of SQL: how it is written there.
var mistaken = map[string]string{
	"sqlite": "strftime('%Y-%m', d) for months (no DATE_TRUNC, EXTRACT); date(d, '-1 month') (no INTERVAL); a || b; " +
		"1.0 * a / b, integers divide to integers; group_concat",
	"postgres": "date_trunc('month', d); d - INTERVAL '1 month'; string_agg(x, ','); a::numeric / b, " +
		"integers divide to integers; " +
		"\"Name\" in double quotes where it has capitals",
	"mysql": "DATE_FORMAT(d, '%Y-%m'); d - INTERVAL 1 MONTH; CONCAT(a, b), || is OR; GROUP_CONCAT; " +
		"`name` in backticks; no FULL JOIN, no ILIKE",
	"duckdb": "strftime(d, '%Y-%m') with the date first; date_trunc('month', d); d - INTERVAL 1 MONTH; string_agg(x, " +
		"','); a // b divides to integers",
	"trino": "date_trunc('month', d); d - INTERVAL '1' MONTH; array_join(array_agg(x), ','); CAST(a AS double) / b; " +
		"OFFSET before LIMIT; no backticks",
	"bigquery": "DATE_TRUNC(d, MONTH); DATE_SUB(d, INTERVAL 1 MONTH); SAFE_DIVIDE(a, b); STRING_AGG(x, ','); " +
		"`dataset.table` in backticks",
}

// dialect says in which language statements are written: "SQLite: strftime(…) …".
func dialect(l exec.Language) string {
	if text := mistaken[l.Name]; text != "" {
		return fmt.Sprintf("%s: %s", l.Title, text)
	}
	return l.Title
}

// dialects says for each database in which language its statements are written, a language once.
func (c *client) dialects() string {
	if len(c.Databases) == 1 {
		return "Write " + dialect(c.Databases[0].DB.Language()) + "."
	}
	var texts []string
	for _, d := range c.Databases {
		text := dialect(d.DB.Language())
		if strings.Contains(strings.Join(texts, "\n"), text) {
			text = d.DB.Language().Title
		}
		texts = append(texts, d.Name+" is "+text+".")
	}
	return strings.Join(texts, " ")
}

// languages names the language of each database.
func (c *client) languages() string {
	var texts []string
	for _, d := range c.Databases {
		if title := d.DB.Language().Title; d.Name == "" || len(c.Databases) == 1 {
			texts = append(texts, "The database is "+title+". ")
		} else {
			texts = append(texts, d.Name+" is "+title+". ")
		}
	}
	return strings.Join(texts, "")
}
