package exec

import (
	"cmp"
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
	// EngineCost refuses a statement that the engine estimates to cost more, in its own unit (Plan.EngineCost); 0: none.
	// Each statement is then planned before it runs.
	EngineCost float64
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
	Timeout   time.Duration // the limit on time, from the moment the guard is on
}

// or returns b with zero fields taken from d.
func (b Bounds) or(d Bounds) Bounds {
	return Bounds{
		cmp.Or(b.Rows, d.Rows), cmp.Or(b.Bytes, d.Bytes), cmp.Or(b.CellBytes, d.CellBytes), cmp.Or(b.Columns, d.Columns),
		cmp.Or(b.Timeout, d.Timeout),
	}
}

func (b Bounds) validate(name string) error {
	if b.Rows < 0 || b.Bytes < 0 || b.CellBytes < 0 || b.Columns < 0 || b.Timeout < 0 {
		return fmt.Errorf("exec: Limits.%s: a bound is negative", name)
	}
	return nil
}

// filled returns l with every default written out.
func (l Limits) filled() Limits {
	l.Candidate = l.Candidate.or(Bounds{10_000, 4 << 20, 1_000_000, 500, 3 * time.Second})
	l.Answer = l.Answer.or(Bounds{1_000, 4 << 20, 1_000_000, 500, 30 * time.Second})
	l.Connections = cmp.Or(l.Connections, 4)
	return l
}

func (l Limits) validate() error {
	var err error
	if l.Connections < 0 {
		err = errors.New("exec: Limits.Connections is negative")
	}
	if !(l.EngineCost >= 0) { // NaN too
		err = errors.Join(err, errors.New("exec: Limits.EngineCost is negative or no number"))
	}
	return errors.Join(l.Candidate.validate("Candidate"), l.Answer.validate("Answer"), err)
}
