package exec

import (
	"context"
	"runtime"
	"weak"

	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/snapshot"
	"github.com/texttosql/texttosql/sqltext"
)

// Check looks at one statement and writes down in c what it found. It asks the database through s alone: all checks of
// a statement share the connection that s holds, and a second one may have to be waited for.
//
// An error that [IsRejection] accepts means that the statement fails; any other one, that the check could not be made.
// Implementations are safe for concurrent use and keep no state: the same statement is examined once, whoever asks.
type Check interface {
	Check(ctx context.Context, s *Runner, c *Checked) error
}

// CheckFunc makes a Check of a function.
type CheckFunc func(ctx context.Context, s *Runner, c *Checked) error

// Check calls f.
func (f CheckFunc) Check(ctx context.Context, s *Runner, c *Checked) error { return f(ctx, s, c) }

// Checked is what checks found out about one statement. A field is nil as long as no check filled it in.
type Checked struct {
	SQL       string             // the statement, trimmed; the whole text where the text check refused it: do not run that
	Statement *sqltext.Statement `json:"-"` // SQL as it was checked; nil where the text check refused it
	Analysis  *Analysis          // the analysis, filled in by ReadOnly
	Plan      *Plan              // the plan, filled in by Planned
	Table     *result.Table      // the result, filled in by Execute, unless the DB executes nothing
	Findings  []Finding          // the findings in the order of the checks
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

// Passed reports whether [ReadOnly] accepted a statement in the state that a snapshot of db is of. Such a statement need not be
// examined again.
func (db *DB) Passed(of *snapshot.Snapshot, statement *sqltext.Statement) bool {
	if of == nil || statement == nil {
		return false
	}
	known, _ := passed.Known(db.mine(of).Named("", nil), weak.Make(statement))
	return known
}

// Finding is something about a statement that is worth knowing and no reason to reject it.
type Finding struct {
	Rule   string `json:"rule"`   // stable name: "empty"
	Detail string `json:"detail"` // one line for a person, without stored values
}

// Analysis is what a statement reads, as the engine sees it when it compiles.
type Analysis struct {
	// Kind is the kind of the statement: "select".
	Kind string `json:"kind"`
	// Tables are the relations read, views and what lies under them included, in the order of schema and name. Common
	// table expressions and table-valued functions are not among them.
	Tables []TableRead `json:"tables"`
	// Functions are the functions called, operators that are functions to the engine included, in lower case and in
	// order.
	Functions []string `json:"functions"`
	// Inexact says that the engine does not tell columns, and that Columns may therefore hold more than are read.
	Inexact bool `json:"inexact,omitempty"`
}

// TableRead is one relation and the columns read of it, in order of their names. Columns is empty where only the rows
// count, as in count(*). Of a join by USING or NATURAL it may lack the columns compared: SQLite does not tell them.
type TableRead struct {
	Schema  string   `json:"schema"`  // where the table is: "main"
	Table   string   `json:"table"`   // table or view, as the schema spells it
	Columns []string `json:"columns"` // those that are read, sorted
}

// analysis is what a statement reads that was admitted.
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

// Examine runs checks on one statement of untrusted origin, in their order, until one returns an error. What was found
// until then comes with the error. The text check comes first. Without checks it runs those of [DefaultChecks].
//
// The error is a rejection of the statement where [IsRejection] says so.
func (db *DB) Examine(ctx context.Context, sql string, checks ...Check) (c Checked, err error) {
	statement, err := db.check(sql)
	if err != nil {
		return Checked{SQL: sql}, err
	}
	return db.ExamineStatement(ctx, statement, checks...)
}

// ExamineStatement is [DB.Examine] for a statement that passed the text check of this database's dialect. Any other one
// passes it first.
func (db *DB) ExamineStatement(ctx context.Context, statement *sqltext.Statement, checks ...Check) (Checked, error) {
	return with(db.looking(), func(s *Runner) (Checked, error) { return s.Examine(ctx, statement, checks...) })
}

// Examine is [DB.ExamineStatement] on the Runner's connection.
func (s *Runner) Examine(ctx context.Context, statement *sqltext.Statement, checks ...Check) (Checked, error) {
	c := Checked{SQL: statement.SQL()}
	if err := s.take(statement); err != nil {
		return c, err
	}
	c.SQL, c.Statement = s.last.SQL(), s.last
	if len(checks) == 0 {
		checks = DefaultChecks()
	}
	_, err := oneUse(ctx, s, func() (none struct{}, err error) {
		for _, check := range checks {
			if err := check.Check(ctx, s, &c); err != nil {
				return none, err
			}
		}
		return none, nil
	})
	return c, err
}

// DefaultChecks returns the checks that tell most about a candidate: one reading statement, unknown names, its plan,
// its rows within Limits.Candidate, and what is suspect about them. append(DefaultChecks(), mine) adds one, also for a
// DB without execution, where they execute nothing.
func DefaultChecks() []Check {
	return append(PlanChecks(), Execute{}, EmptyResult{}, Odd{})
}

// PlanChecks returns those of [DefaultChecks] that execute nothing.
func PlanChecks() []Check {
	return []Check{ReadOnly{}, UnknownNames{}, Planned{}}
}
