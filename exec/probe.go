package exec

import (
	"context"
	"fmt"
	"time"
)

// Probe reports whether column of table holds value. The value is bound, never
// written into the text, and compared as the engine compares: 'Norway' is not
// 'norway' unless the column's collation says so. A nil value asks for NULL.
//
// It is one statement that stops at the first match, within 1 second or
// Limits.Candidate.Timeout, whichever is less; on a large column without an
// index that can be too short: then it is a *LimitError. schemaName is "" for
// the default schema. value is nil, an int64, float64, string or []byte. What the
// policy denies is refused. Callers that ask the same again memoise.
func (db *DB) Probe(ctx context.Context, schemaName, table, column string, value any) (bool, error) {
	quote := db.dialect.Quote
	// A name with its table in front can only be a column: "x" alone is a string
	// to SQLite where no such column exists.
	from := quote(table)
	if schemaName != "" {
		from = quote(schemaName) + "." + from
	}
	text := "SELECT 1 FROM " + from + " WHERE " + quote(table) + "." + quote(column)
	var args []any
	switch value.(type) {
	case nil:
		text += " IS NULL"
	case int64, float64, string, []byte:
		text += " = ?"
		args = []any{value}
	default:
		return false, fmt.Errorf("exec: Probe: value of type %T", value)
	}
	found := false
	timeout := min(time.Second, db.limits.Candidate.Timeout)
	err := db.own(ctx, timeout, func(ctx context.Context, h Held) error {
		t, err := read(ctx, h, text+" LIMIT 1", Bounds{Rows: 1, Bytes: valueBytes, CellBytes: 1, Columns: 1}, args...)
		found = err == nil && len(t.Rows) > 0
		return err
	})
	return found, err
}
