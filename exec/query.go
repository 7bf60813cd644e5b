package exec

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/periods"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
)

// Query runs one untrusted statement within Limits.Answer.
//
// The text check runs first. Then the statement runs alone on a guarded connection. The error is a *RefusedError or an
// *InvalidError if the statement did not run, and a *LimitError if it reached a limit that leaves no result. A result
// that was cut at the limit on rows or bytes is a truncated table, without an error. Query never adds a LIMIT to the
// text. An empty result is a table with columns and no rows.
//
// Values are as the database stores them, with their types, neither trimmed nor escaped. Code that shows them in HTML,
// CSV or a terminal must escape them there.
func (db *DB) Query(ctx context.Context, sql string) (*result.Table, error) {
	return db.QueryWithin(ctx, sql, db.limits.Answer)
}

// QueryWithin is [DB.Query] with other bounds. Zero fields of b have the values of Limits.Answer. CellBytes cannot be
// larger than both Limits.Candidate and Limits.Answer allow, because the guard was created for these.
func (db *DB) QueryWithin(ctx context.Context, sql string, b Bounds) (*result.Table, error) {
	s, err := db.Runner(b)
	if err != nil {
		return nil, err
	}
	return with(s, func(s *Runner) (*result.Table, error) { return s.Query(ctx, sql) })
}

// Stream runs one statement as [Runner.Query] does and passes its rows to a sink one by one. It passes any number of
// rows and bytes, within the time of Limits.Stream. A value over its CellBytes is an error, because no row is left out.
// Stream may return an error after the first rows. [result.NewStream] creates the sink.
func (s *Runner) Stream(ctx context.Context, sql string, to *result.RowWriter) error {
	s.sink = to
	defer func() { s.sink = nil }()
	b := s.db.limits.stream()
	t, err := s.query(ctx, sql, b)
	if err == nil && t.Truncated {
		err = &LimitError{Limit: "cell", Max: fmt.Sprint(b.CellBytes)}
	}
	return err
}

// sampled runs a statement for [Sampler.SampleRows], with the bounds of the runner but for their Rows.
func (s *Runner) sampled(ctx context.Context, sql string, rows int) (*result.Table, error) {
	b := s.bounds
	b.Rows = rows
	return s.query(ctx, sql, b)
}

// Analyze compiles one statement under the guard, without running it, and returns what it would read. It returns a
// *RefusedError for a statement that may not run, and an *InvalidError for one that does not compile. It costs one
// compilation. The timeout is the one in Limits.Candidate.
func (db *DB) Analyze(ctx context.Context, sql string) (Analysis, error) {
	return with(db.looking(), func(s *Runner) (Analysis, error) { return s.Analyze(ctx, sql) })
}

// Explain returns the engine's plan of one statement, without running it.
//
// The statement passes the text check and the guard first, as for [DB.Query], because some drivers run every statement
// of a text, also after EXPLAIN. Explain returns an [*InvalidError] for a statement that the engine rejects, and a
// [*RefusedError] for one that may not run. The timeout is the one in Limits.Candidate. A plan proves only that the
// statement compiles.
func (db *DB) Explain(ctx context.Context, sql string) (Plan, error) {
	return with(db.looking(), func(s *Runner) (Plan, error) { return s.Explain(ctx, sql) })
}

// Probe reports whether a column of a table contains value. The value is bound, never written into the text, and the
// engine compares it by its own rules. So 'Norway' is not 'norway' unless the column's collation makes them equal. A
// column of dates, numbers or enums does not contain it. A nil value searches for NULL.
//
// It runs one statement that stops at the first match, within 1 second or Limits.Candidate.Timeout, whichever is less.
// A large column without an index may take longer: then Probe returns a *LimitError. schemaName is "" for the default
// schema. value is nil, an int64, float64, string or []byte. Probe refuses columns that the policy denies. It stores no
// results.
func (db *DB) Probe(ctx context.Context, schemaName, table, column string, value any) (bool, error) {
	return with(&Runner{db: db}, func(s *Runner) (bool, error) { return s.Probe(ctx, schemaName, table, column, value) })
}

// bounds fills in and checks the bounds of one call.
func (db *DB) bounds(b Bounds) (Bounds, error) {
	if err := b.validate("Bounds"); err != nil {
		return b, err
	}
	b = b.or(db.limits.Answer)
	b.CellBytes = min(b.CellBytes, max(db.limits.Candidate.CellBytes, db.limits.Answer.CellBytes))
	return b, nil
}

// freeName is how many bytes of a column's name do not count. A name may be the text of its expression: 500 of 95 kB
// took 184 MB.
const freeName = 64

// keep keeps of the rows of a statement what b allows, and closes them. It reads one row more than b.Rows, so that
// Truncated is exact. Rows of a stream go to its sink.
func (h *held) keep(a *Statement, rows *Rows, b Bounds) (*result.Table, error) {
	if rows.Statement != nil {
		defer rows.Statement.Close()
	}
	defer rows.Close()
	failed := func(err error) (*result.Table, error) {
		if rows.Classify != nil {
			err = rows.Classify(err)
		}
		return nil, h.classify(err)
	}
	names, err := rows.Columns()
	if err != nil {
		return failed(err)
	}
	if len(names) == 0 {
		// A driver that found no statement to run returns a result without columns.
		return nil, &InvalidError{Fault: "compile", Message: "the statement has no result columns"}
	}
	if len(names) > b.Columns {
		return nil, &LimitError{Limit: "columns", Max: fmt.Sprint(b.Columns), Found: len(names)}
	}

	left := b.Bytes
	for _, name := range names {
		left -= int64(max(0, len(name)-freeName))
	}
	if left < 0 {
		return nil, &LimitError{Limit: "bytes", Max: fmt.Sprintf("%d, which the names of the columns alone exceed", b.Bytes)}
	}
	b.Bytes = left
	t := &result.Table{Columns: names, Rows: [][]any{}}
	reader, err := newReader(rows, len(names), b)
	if err != nil {
		return failed(err)
	}
	t.Types, reader.cuts = reader.types, !a.Ours && h.sink == nil
	if a.Splice != nil {
		for i, name := range t.Columns {
			t.Columns[i] = a.Splice.Original(name)
		}
	}
	if h.sink != nil {
		mark(a, t)
		if err := h.sink.Head(t.Columns, t.Types); err != nil {
			return failed(err)
		}
	}
	n := 0
	for rows.Next() {
		if n == b.Rows {
			t.Truncated = true
			break
		}
		row, err := reader.read(rows)
		if err != nil {
			return failed(err)
		}
		if row == nil {
			t.Truncated, t.TooLarge = true, true
			break
		}
		t.Cut = reader.cut
		if n++; h.sink == nil {
			t.Rows = append(t.Rows, row)
		} else if err := h.sink.Row(row); err != nil {
			h.unfit = true // of the other rows nobody wants any
			if rows.Stop != nil {
				rows.Stop(true)
			}
			return failed(err)
		}
	}
	if h.sink == nil { // who reads a stream has its types
		mark(a, t)
	}
	if t.Truncated && rows.Stop != nil && rows.Stop(t.TooLarge) {
		h.unfit = true
		return t, nil
	}
	if err := rows.Err(); err != nil {
		return failed(err)
	}
	if err := rows.Close(); err != nil {
		return failed(err)
	}
	return t, nil
}

// mark sets the grains of the columns of a statement from outside.
func mark(a *Statement, t *result.Table) {
	if !a.Ours {
		periods.Mark(a.Statement, t)
	}
}

// reader copies rows out of a driver while it counts their bytes.
type reader struct {
	left  int64 // bytes that may still be kept
	cell  int
	cells []cell
	dest  []any
	room  []any         // of the next rows
	rows  int           // for how many rows room was made last
	types []result.Type // the types of the columns; nil: the engine does not report them
	cuts  bool          // a value over the limit is cut; else its row is over it
	cut   bool          // one was
}

func newReader(rows *Rows, columns int, b Bounds) (*reader, error) {
	r := &reader{left: b.Bytes, cell: b.CellBytes, cells: make([]cell, columns), dest: make([]any, columns)}
	for i := range r.cells {
		r.cells[i].reader = r
		r.dest[i] = &r.cells[i]
	}
	if rows.Convert == nil && rows.Type == nil {
		return r, nil
	}
	columnTypes, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	for i, t := range columnTypes {
		if rows.Convert != nil {
			r.cells[i].convert = rows.Convert(i, t)
		}
		if rows.Type != nil {
			r.types = append(r.types, rows.Type(i, t))
		}
	}
	return r, nil
}

// mostRows is for how many rows room is made at once. A caller that stores one row of them keeps the others in memory.
const mostRows = 64

// nextRow returns room for a row: rows of a large result are parts of a longer list.
func (r *reader) nextRow() []any {
	n := len(r.cells)
	if len(r.room) < n {
		r.rows = min(max(1, 2*r.rows), mostRows)
		r.room = make([]any, n*r.rows)
	}
	row := r.room[:n:n]
	r.room = r.room[n:]
	return row
}

// read returns the current row, nil where it is over a limit on bytes.
func (r *reader) read(rows *Rows) ([]any, error) {
	if err := rows.Scan(r.dest...); err != nil {
		return nil, err
	}
	if r.left < 0 {
		return nil, nil
	}
	row := r.nextRow()
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

// valueBytes is the size that a value without text counts as: a word and its type.
const valueBytes = 16

func (c *cell) Scan(src any) (err error) {
	c.value = nil
	r := c.reader
	if c.convert != nil && bytesOf(src) <= r.cell {
		if src, err = c.convert(src); err != nil {
			return fmt.Errorf("exec: reading a value: %w", err)
		}
	}
	if r.cuts && bytesOf(src) > r.cell {
		src, r.cut = c.beginning(src), true
		if r.left >= 0 { // the mark counts at most as much as the text that it replaces
			c.value = src
			r.left -= int64(bytesOf(src))
		}
		return nil
	}
	switch v := src.(type) {
	case string:
		if r.take(len(v)) {
			c.value = src
		}
		return nil
	case result.Decimal:
		if r.take(len(v)) {
			c.value = src
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
	case nil, bool, int64, float64:
		c.value = src
	case time.Time:
		c.value = v.Format("2006-01-02 15:04:05.999999999Z07:00")
	default:
		return fmt.Errorf("exec: the driver gave a %T, which is no database/sql value", src)
	}
	return nil
}

// mostCut is how many bytes are left of a value that is cut: 1,000 of them are less than the limit on the bytes of a
// result.
const mostCut = 4_000

// beginning returns the beginning of a text that is over the limit on one value, and its length; of a blob only its
// length.
func (c *cell) beginning(src any) string {
	mark := "… " + words.Thousands(bytesOf(src)) + " bytes"
	text, isText := src.(string)
	if b, ok := src.([]byte); ok && c.convert != nil {
		text, isText = string(b[:min(len(b), mostCut)]), true
	}
	if !isText {
		return mark
	}
	text = text[:min(len(text), mostCut, c.reader.cell)] // perhaps within a letter
	return strings.ToValidUTF8(text, "") + mark
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
