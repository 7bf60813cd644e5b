package sqlite

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"strings"
)

// resultColumns returns the names of the columns of rows. changed says that one of them has a declared type of which
// drivers make something else than what is stored: go-sqlite3 makes the zero time of a text that is no date, and true of
// every positive integer.
func resultColumns(rows *sql.Rows) (names []string, changed bool, err error) {
	types, err := rows.ColumnTypes()
	for _, t := range types {
		names = append(names, t.Name())
		switch strings.ToUpper(t.DatabaseTypeName()) {
		case "DATE", "DATETIME", "TIMESTAMP", "TIME", "BOOLEAN", "BOOL":
			changed = true
		}
	}
	return names, changed, err
}

// asStored wraps a statement so that its columns are expressions, which have no declared type for a driver to act on.
//
// The rows keep their order: SQLite drops the ORDER BY of a subquery only where the outer query has an order of its own
// or joins something (select.c, tag-select-0230, in 3.53.4), and what it flattens takes the order along. That is no
// promise of its documentation, so TestStoredOrder holds it against real statements.
func asStored(text string, names []string) string {
	quote := Dialect{}.Quote
	// A name that neither the statement nor a view under it can have for a table.
	cte := fmt.Sprintf("stored_%x", sha256.Sum256([]byte(text)))
	var b strings.Builder
	b.WriteString("WITH " + cte + "(")
	for i := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "c%d", i)
	}
	b.WriteString(") AS (")
	b.WriteString(text)
	b.WriteString("\n) SELECT ") // the text may end in a comment
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "+c%d AS %s", i, quote(name))
	}
	b.WriteString(" FROM " + cte)
	return b.String()
}
