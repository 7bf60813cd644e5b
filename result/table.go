package result

// Table is the rows of one statement as the engine stores them.
//
// Every row has one value a column, in column order. A value is nil (NULL),
// int64, float64, string or []byte; no driver conversion (dates, booleans) is
// applied. Names may be empty or equal; nothing here looks at them but the
// writers. The order of the rows is the order in which the engine gave them.
//
// A Table is plain data: safe for concurrent reading, not for writing.
type Table struct {
	Columns []string `json:"columns"` // names, in column order
	Rows    [][]any  `json:"rows"`    // each with one value a column

	// Truncated is exact: true when and only when the statement had more rows
	// than are held here, because of a limit on rows or bytes.
	Truncated bool `json:"truncated,omitempty"`
	// TooLarge says that the limit on bytes, not the one on rows, cut it.
	TooLarge bool `json:"too_large,omitempty"`
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
