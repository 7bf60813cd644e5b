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
	inner, outer := make([]string, len(names)), make([]string, len(names))
	for i, name := range names {
		inner[i] = fmt.Sprintf("c%d", i)
		outer[i] = fmt.Sprintf("+c%d AS %s", i, quoted(name))
	}
	// No statement and no view under it can have a table of this name. The text may end in a comment.
	return fmt.Sprintf("WITH stored_%[1]x(%s) AS (%s\n) SELECT %s FROM stored_%[1]x",
		sha256.Sum256([]byte(text)), strings.Join(inner, ","), text, strings.Join(outer, ","))
}
