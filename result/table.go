package result

// Table holds the rows of one statement as the database has them.
//
// Every row has one value for each column, in column order. A value is nil (NULL), bool, int64, float64, [Decimal], string
// or []byte; [Kind] says which one a kind has. A decimal keeps its digits, and dates and times are text, since engines have
// some that no time.Time holds. [Table.Plain] gives the values by which tables are compared. Names may be empty or equal; only
// the writers look at them. The rows are in the order in which the engine returned them.
//
// A Table is plain data: safe for concurrent reading, not for writing.
type Table struct {
	Columns []string `json:"columns"` // names, in column order
	// Types are those of the columns, in column order; nil where a table was made by hand or read from an older file.
	Types []Type  `json:"types,omitempty"`
	Rows  [][]any `json:"rows"` // each with one value for each column

	// Truncated is true if, and only if, the statement had more rows than Rows, because of a limit on rows or bytes.
	Truncated bool `json:"truncated,omitempty"`
	TooLarge  bool `json:"too_large,omitempty"` // the limit on bytes, not the limit on rows, truncated the table
}

// Empty reports whether t holds no row. A nil table is empty.
func (t *Table) Empty() bool { return t == nil || len(t.Rows) == 0 }

// AllNull reports whether t has rows and every value in them is NULL.
func (t *Table) AllNull() bool {
	if t.Empty() {
		return false
	}
	for _, row := range t.Rows {
		for _, v := range row {
			if v != nil {
				return false
			}
		}
	}
	return true
}

// Zero reports whether t is one row of nothing but the number 0, with or without NULLs beside it: what COUNT and other
// aggregates answer where there is nothing.
func (t *Table) Zero() bool {
	if t == nil || len(t.Rows) != 1 || t.AllNull() {
		return false
	}
	for _, v := range t.Rows[0] {
		if v = (Type{}).Plain(v); v != nil && v != int64(0) && v != 0.0 {
			return false
		}
	}
	return true
}
