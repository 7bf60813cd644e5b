package sqlite

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"strings"
)

// resultColumns returns the names of the columns of rows. changed says that drivers convert values of some declared
// type: go-sqlite3 makes the zero time of a text that is no date, and true of every positive integer.
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

// asStored wraps a statement so that its columns are expressions, which have no declared type.
//
// The order of rows stays. SQLite drops the ORDER BY of a subquery only if the outer query has an ORDER BY or a join
// (select.c, tag-select-0230, in 3.53.4), and a flattened subquery takes its order along. SQLite does not promise that,
// so TestStoredOrder checks it with real statements.
func asStored(text string, names []string) string {
	// No statement and no view under it can have a table of this name.
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
