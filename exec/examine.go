package exec

import (
	"context"
	"runtime"
	"weak"

	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

// Check checks one statement and writes its findings to c. It may use the database only through s, because all checks
// of a statement share the connection that s holds. A request for a second connection with ctx is an error.
//
// An error that [IsRejection] accepts means that the statement fails. Return a *RefusedError with your own Reason and a
// Detail. Any other error means that the check could not be made.
//
// Implementations are safe for concurrent use and keep no state, because a statement is examined once for all users.
type Check interface {
	Check(ctx context.Context, s *Runner, c *Checked) error
}

// CheckFunc adapts a function to a Check.
type CheckFunc func(ctx context.Context, s *Runner, c *Checked) error

// Check calls f.
func (f CheckFunc) Check(ctx context.Context, s *Runner, c *Checked) error { return f(ctx, s, c) }

// Checked holds the results of the checks of one statement. A field is nil until a check fills it in.
type Checked struct {
	SQL       string             // the statement, trimmed; the whole text if the text check refused it: do not run that
	Statement *sqltext.Statement `json:"-"` // the parsed SQL; nil if the text check refused it
	Analysis  *Analysis          // the analysis, filled in by ReadOnly
	Plan      *Plan              // the plan, filled in by ExplainCheck
	Table     *result.Table      // the result, filled in by RunCheck, unless the DB is without execution
	// Findings are facts about the statement that are worth knowing but do not reject it, in the order of the checks. The
	// rules of the package's own checks are stable names:
	//
	//   - "no-table": the statement reads no table
	//   - "name-as-string": the engine reads a name as a string
	//   - "names-quoted": names were quoted because they need it; SQL and Statement of the Checked have the quotes
	//   - "odd-bare-function": a word calls a function, and the column of that name needs quotes
	//   - "empty", "all-null": the result has no rows, or every value in it is NULL
	//   - "value-absent": the result has no value, and a column does not contain any text it is compared with
	//   - "odd-…": a mistake that looks right, see [SuspiciousResultCheck]
	Findings []vote.Finding
}

// passed are statements that compiled under guard.
var passed = &snapshot.Derived[weak.Pointer[sqltext.Statement], bool]{Reach: snapshot.OfPolicy}

// pass remembers for as long as somebody holds statement that it compiled under guard.
func (h *held) pass(statement *sqltext.Statement) {
	at, key := h.at, weak.Make(statement)
	if known, _ := passed.Known(at, key); !known {
		passed.Keep(at, key, true)
		runtime.AddCleanup(statement, func(key weak.Pointer[sqltext.Statement]) { passed.Forget(at, key) }, key)
	}
}

// Passed reports whether [ReadOnly] accepted a statement in the database state that a snapshot of db describes. Such a
// statement need not be examined again.
func (db *DB) Passed(of *snapshot.Snapshot, statement *sqltext.Statement) bool {
	if of == nil || statement == nil {
		return false
	}
	known, _ := passed.Known(db.mine(of).Named("", nil), weak.Make(statement))
	return known
}

// Analysis lists what a statement reads, as the engine reports it when it compiles the statement.
type Analysis struct {
	// Kind is the kind of the statement: "select".
	Kind string `json:"kind"`
	// Tables are the relations read, including views and the tables under them, in the order of schema and name. Common
	// table expressions and table-valued functions are not listed.
	Tables []TableRead `json:"tables"`
	// Functions are the functions called, in lower case and sorted. They include operators that the engine implements
	// as functions.
	Functions []string `json:"functions"`
	// Inexact means that the engine does not report columns, so Columns may list more than the statement reads.
	Inexact bool `json:"inexact,omitempty"`
}

// TableRead is one relation and the columns read from it, sorted by name. Columns is empty if only the rows count, as
// in count(*). For a join by USING or NATURAL the compared columns may be missing: SQLite does not report them.
type TableRead struct {
	Schema  string   `json:"schema"`  // the schema of the table: "main"
	Table   string   `json:"table"`   // table or view, as the schema spells it
	Columns []string `json:"columns"` // the columns read, sorted
}

// analysis returns what an admitted statement reads.
func (a *Statement) analysis() Analysis {
	reads, functions := a.reads, a.Seen.Functions
	inexact := true
	if a.Seen.Reads != nil {
		reads, inexact = a.Seen.Reads, a.Seen.Inexact
	}
	if functions == nil {
		functions = a.Catalog.Functions(a.Names)
	}
	out := Analysis{Kind: "select", Tables: []TableRead{}, Functions: functions, Inexact: inexact}
	for _, r := range reads {
		out.Tables = append(out.Tables, TableRead{Schema: r.Relation.Schema, Table: r.Relation.Name, Columns: r.Columns})
	}
	return out
}

// Examine runs checks on one untrusted statement, in order, until one returns an error. The results so far are returned
// with the error. The text check runs first. Without checks, Examine runs [DefaultChecks].
//
// The error rejects the statement if [IsRejection] accepts it.
func (db *DB) Examine(ctx context.Context, sql string, checks ...Check) (c Checked, err error) {
	statement, err := db.check(sql)
	if err != nil {
		return Checked{SQL: sql}, err
	}
	return db.ExamineStatement(ctx, statement, checks...)
}

// ExamineStatement is [DB.Examine] for a statement that passed the text check of this database's dialect. For any other
// statement it runs that check first.
func (db *DB) ExamineStatement(ctx context.Context, statement *sqltext.Statement, checks ...Check) (Checked, error) {
	return with(db.looking(), func(s *Runner) (Checked, error) { return s.Examine(ctx, statement, checks...) })
}

// Examine runs [DB.ExamineStatement] on the Runner's connection.
func (s *Runner) Examine(ctx context.Context, statement *sqltext.Statement, checks ...Check) (Checked, error) {
	c := Checked{SQL: statement.SQL()}
	if err := s.take(statement); err != nil {
		return c, s.cut(ctx, err)
	}
	c.SQL, c.Statement = s.last.SQL(), s.last
	if len(checks) == 0 {
		checks = DefaultChecks()
	}
	_, err := oneUse(ctx, s, func() (none struct{}, err error) {
		within := context.WithValue(ctx, examining{}, s)
		for _, check := range checks {
			if err := check.Check(within, s, &c); err != nil {
				return none, err
			}
		}
		return none, nil
	})
	return c, err
}

// DefaultChecks returns the standard checks of a candidate: one read-only statement, unknown names, its plan, its rows
// within Limits.Candidate, and suspicious results. append(DefaultChecks(), mine) adds a check. On a DB without
// execution the checks run nothing.
func DefaultChecks() []Check {
	return append(PlanChecks(), RunCheck{}, SuspiciousResultCheck{})
}

// PlanChecks returns the [DefaultChecks] that do not run the statement. The check of unknown names has a method
// Strict() Check; the check that it returns rejects a statement with such a name.
func PlanChecks() []Check {
	return []Check{ReadOnly{}, unknownNames{}, ExplainCheck{}}
}
