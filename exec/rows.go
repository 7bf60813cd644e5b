package exec

import (
	"fmt"
	"math"
	"time"

	"github.com/texttosql/texttosql/result"
)

// reader copies rows out of a driver while it counts their bytes.
type reader struct {
	left  int64 // bytes that may still be kept
	cell  int
	cells []cell
	dest  []any
}

func newReader(rows *Rows, columns int, b Bounds) (*reader, error) {
	r := &reader{left: b.Bytes, cell: b.CellBytes, cells: make([]cell, columns), dest: make([]any, columns)}
	for i := range r.cells {
		r.cells[i].reader = r
		r.dest[i] = &r.cells[i]
	}
	if rows.Convert != nil {
		types, err := rows.ColumnTypes()
		if err != nil {
			return nil, err
		}
		for i, t := range types {
			r.cells[i].convert = rows.Convert(t)
		}
	}
	return r, nil
}

// read returns the current row, nil where it is over a limit on bytes.
func (r *reader) read(rows *Rows) ([]any, error) {
	if err := rows.Scan(r.dest...); err != nil {
		return nil, err
	}
	if r.left < 0 {
		return nil, nil
	}
	row := make([]any, len(r.cells))
	for i := range r.cells {
		row[i] = r.cells[i].value
		r.cells[i].value = nil
	}
	return row, nil
}

// cell takes one value from the driver. It is a sql.Scanner because that is the one way to see a value before
// database/sql copies or converts it: what is over a limit is never copied.
type cell struct {
	reader  *reader
	convert func(any) (any, error) // by the column's type; nil: not at all
	value   any
}

// valueBytes is what a value without text counts: a word and its type.
const valueBytes = 16

// Scan implements sql.Scanner.
func (c *cell) Scan(src any) error {
	c.value = nil
	r := c.reader
	if c.convert != nil && bytesOf(src) <= r.cell {
		var err error
		if src, err = c.convert(src); err != nil {
			return fmt.Errorf("exec: reading a value: %w", err)
		}
	}
	switch v := src.(type) {
	case string:
		if r.take(len(v)) {
			c.value = v
		}
		return nil
	case result.Decimal:
		if r.take(len(v)) {
			c.value = v
		}
		return nil
	case []byte:
		if r.take(len(v)) {
			c.value = append(make([]byte, 0, len(v)), v...) // the driver's buffer lives until the next row
		}
		return nil
	}
	r.left -= valueBytes
	switch v := src.(type) {
	case nil, int64, float64:
		c.value = v
	case bool:
		c.value = int64(0)
		if v {
			c.value = int64(1)
		}
	case time.Time:
		c.value = v.Format("2006-01-02 15:04:05.999999999Z07:00")
	default:
		return fmt.Errorf("exec: the driver gave a %T, which is no database/sql value", src)
	}
	return nil
}

// take counts n bytes of text and reports whether they may be kept.
func (r *reader) take(n int) bool {
	if n > r.cell {
		r.left = math.MinInt64 // this row is over, whatever else it holds
	}
	if r.left < 0 {
		return false
	}
	r.left -= int64(n)
	return r.left >= 0
}

// bytesOf is the length of a text or a blob.
func bytesOf(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	}
	return 0
}
