package exec

import (
	"context"

	"github.com/texttosql/texttosql/result"
)

// Check looks at one statement and writes down in c what it found. An error that
// [IsRejection] accepts means that the statement fails; any other one, that the
// check could not be made. Implementations are safe for concurrent use and keep
// no state: the same statement is examined once, whoever asks.
type Check interface {
	Check(ctx context.Context, db *DB, c *Checked) error
}

// CheckFunc makes a Check of a function.
type CheckFunc func(ctx context.Context, db *DB, c *Checked) error

// Check calls f.
func (f CheckFunc) Check(ctx context.Context, db *DB, c *Checked) error { return f(ctx, db, c) }

// Checked is what checks found out about one statement. A field is nil as long
// as no check filled it in.
type Checked struct {
	SQL      string        // the text, trimmed to its one statement by SingleRead
	Analysis *Analysis     // by SingleRead
	Plan     *Plan         // by Planned
	Table    *result.Table // by Execute, unless the DB executes nothing
	Findings []Finding     // in the order of the checks
}

// Finding is something about a statement that is worth knowing and no reason to
// reject it.
type Finding struct {
	Rule   string // stable name: "empty"
	Detail string // one line for a person, without stored values
}

// Examine runs checks on one statement of untrusted origin, in their order, until
// one returns an error. What was found until then comes with the error. Without
// checks it runs those of [DefaultChecks].
//
// The error is a rejection of the statement where [IsRejection] says so.
func (db *DB) Examine(ctx context.Context, sql string, checks ...Check) (Checked, error) {
	if len(checks) == 0 {
		checks = DefaultChecks()
	}
	c := Checked{SQL: sql}
	for _, check := range checks {
		if err := check.Check(ctx, db, &c); err != nil {
			return c, err
		}
	}
	return c, nil
}

// DefaultChecks returns the checks that tell most about a candidate: one reading
// statement, unknown names, its plan, its rows within Limits.Candidate, and what
// is suspect about them. append(DefaultChecks(), mine) adds one, also for a DB without
// execution, where they execute nothing.
func DefaultChecks() []Check {
	return append(PlanChecks(), Execute{}, Suspect{})
}

// PlanChecks returns those of [DefaultChecks] that execute nothing.
func PlanChecks() []Check {
	return []Check{SingleRead{}, UnknownNames{}, Planned{}}
}
