package result

// Table holds the rows of one statement, with values as the database stores them.
//
// Every row has one value for each column, in column order. A value is nil (NULL), bool, int64, float64, [Decimal],
// string or []byte; [Kind] lists the Go type for each kind. A decimal keeps its digits. Dates and times are text,
// because engines have some that time.Time cannot hold. [Table.Plain] returns the values by which tables are compared.
// Names may be empty or equal; only the writers read them. The rows are in the order in which the engine returned them.
//
// A Table is plain data: safe for concurrent reading, not for writing.
type Table struct {
	Columns []string `json:"columns"` // names, in column order
	// Types are the types of the columns, in column order; nil if the program created the table or read it from an
	// older file.
	Types []Type  `json:"types,omitempty"`
	Rows  [][]any `json:"rows"` // each with one value for each column

	// Truncated is true if, and only if, the statement had more rows than Rows, because of a limit on rows or bytes.
	Truncated bool `json:"truncated,omitempty"`
	TooLarge  bool `json:"too_large,omitempty"` // the limit on bytes, not the limit on rows, truncated the table
	// Cut reports that a value exceeded the limit on the bytes of one value. Its cell holds its start, followed by its
	// length.
	Cut bool `json:"cut,omitempty"`
}

// Empty reports whether t has no rows. A nil table is empty.
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

// Zero reports whether t is one row that holds only the number 0, and possibly NULLs: the result of COUNT and other
// aggregates without matching rows.
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
