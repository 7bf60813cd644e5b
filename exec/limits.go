package exec

import (
	"errors"
	"fmt"
	"time"
)

// Limits bounds what statements may cost. The zero value of each field is its default; a negative one is an error of
// [New].
type Limits struct {
	// Candidate bounds a statement that is run to be compared with others: 10,000 rows, 4 MiB, 3 s.
	Candidate Bounds
	// Answer bounds a statement whose rows are shown: 1,000 rows, 4 MiB, 30 s.
	Answer Bounds
	// Connections is how many connections are held at once, one a running statement: 4, or fewer where the pool has a
	// smaller maximum.
	Connections int
}

// Bounds bounds one statement. The zero value of a field is a default, which depends on where the Bounds are used; see
// [Limits].
type Bounds struct {
	Rows      int           // rows kept; one more is looked for, so Truncated is exact
	Bytes     int64         // bytes of all text and blobs kept and of the columns' names beyond 64 each, 16 for any other value
	CellBytes int           // bytes of one value, in SQLite of each that is read on the way too: 1,000,000
	Columns   int           // columns of the result: 500, which is also the most
	Timeout   time.Duration // from the moment the guard is on
}

// or returns b with zero fields taken from d.
func (b Bounds) or(d Bounds) Bounds {
	if b.Rows == 0 {
		b.Rows = d.Rows
	}
	if b.Bytes == 0 {
		b.Bytes = d.Bytes
	}
	if b.CellBytes == 0 {
		b.CellBytes = d.CellBytes
	}
	if b.Columns == 0 {
		b.Columns = d.Columns
	}
	if b.Timeout == 0 {
		b.Timeout = d.Timeout
	}
	return b
}

func (b Bounds) validate(name string) error {
	if b.Rows < 0 || b.Bytes < 0 || b.CellBytes < 0 || b.Columns < 0 || b.Timeout < 0 {
		return fmt.Errorf("exec: Limits.%s: a bound is negative", name)
	}
	return nil
}

// filled returns l with every default written out.
func (l Limits) filled() Limits {
	l.Candidate = l.Candidate.or(Bounds{
		Rows: 10_000, Bytes: 4 << 20, CellBytes: 1_000_000, Columns: 500, Timeout: 3 * time.Second,
	})
	l.Answer = l.Answer.or(Bounds{
		Rows: 1_000, Bytes: 4 << 20, CellBytes: 1_000_000, Columns: 500, Timeout: 30 * time.Second,
	})
	if l.Connections == 0 {
		l.Connections = 4
	}
	return l
}

func (l Limits) validate() error {
	var errs []error
	errs = append(errs, l.Candidate.validate("Candidate"), l.Answer.validate("Answer"))
	if l.Connections < 0 {
		errs = append(errs, errors.New("exec: Limits.Connections is negative"))
	}
	return errors.Join(errs...)
}
