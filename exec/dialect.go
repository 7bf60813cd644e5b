package exec

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/sampling"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// Dialect describes one database engine to exec. It holds facts only: [DB] handles statements in the same way on every
// engine. exec/sqlite has a Dialect, and examples/dialect has one that uses exported names only.
//
// A Dialect is a plain value without state. It may also be a [Sampler]. Implementations are safe for concurrent use.
type Dialect interface {
	// Language returns the name of the engine and the rules for writing its SQL.
	Language() Language
	// Guard returns the function that guards the connections of one DB, and stores what that guard learns about them.
	// It does not contact the database. An error means that the configuration is wrong.
	Guard(c GuardConfig) (Open, error)
	// Classify gives a driver error its type. An error that the statement caused becomes a *RefusedError, an
	// *InvalidError or a *LimitError. An error about a lock becomes ErrBusy. Classify returns typed errors and errors
	// that it does not know unchanged.
	Classify(err error) error
}

// Sampler is a Dialect with its own way to read samples of tables. Without it, guard.SampleRows reads rows by an
// integer primary key of one column. If a table has no such key, it reads the first rows.
type Sampler interface {
	// SampleRows reads some rows of t, with the columns of o only. o bounds what it reads, whatever the size of t,
	// unless t is a view. The same o on the same data returns the same rows. run runs one statement under guard and
	// limits. It returns at most the given number of rows, with values as stored; if a limit on bytes is reached, it
	// returns fewer rows and sets TooLarge. guard.SampleRows implements this for tables with a numeric key.
	SampleRows(
		ctx context.Context, run func(ctx context.Context, sql string, rows int) (*result.Table, error), t schema.Table,
		o SampleOptions,
	) (RowSample, error)
}

// Options and results of samples.
type (
	// SampleOptions selects the rows that [Sampler.SampleRows] and [DB.Sample] read.
	//
	//	Columns []string // the columns to read, as the table writes them; none: only count. DB.Sample chooses them itself
	//	Rows    int      // most rows to read, 1 or more
	//	Count   int64    // most rows to count; 0: no count
	//	Spread  bool     // read rows from all parts of a long table instead of its first rows
	//	Seed    uint64   // where Spread begins in each part of the table
	//	Cut     int      // texts and blobs are cut to this many characters or bytes; 0: as stored
	SampleOptions = sampling.Options

	// RowSample holds some rows of a table.
	//
	//	Rows         [][]any // one value for each of SampleOptions.Columns, in their order
	//	Count        int64   // number of rows of the table; 0 if they were not counted
	//	CountAtLeast bool    // the table has more rows than Count
	//	Complete     bool    // Rows are all rows of the table
	RowSample = sampling.Rows
)

// GuardConfig is the policy and the limits that a guard enforces.
type GuardConfig struct {
	Policy Policy // what statements may read. exec checks names against it; an engine may add its own checks
	// CellBytes is the largest size of a value in a result, in bytes; 0 or more.
	CellBytes int
	// Unwrap returns the engine's own driver connection for the one that database/sql passes. nil: the driver is not
	// wrapped.
	Unwrap func(driverConn any) any
}

// Open guards one connection: it checks the connection and changes its settings. It refuses a connection that cannot be
// guarded with an [*UnguardedError]. After an error the connection is unchanged, or database/sql closes
// it. An error that matches [ErrBroken] means that neither was possible. The caller closes conn after the Conn.
//
// timeout is the time limit of a statement. An engine whose lock waits ignore the context waits a little less than
// timeout. If a lock is already held when Open is called, Open waits no longer than ctx allows.
//
// An Open function is safe for concurrent use.
type Open func(ctx context.Context, conn *sql.Conn, timeout time.Duration) (GuardedConn, error)

// GuardedConn is a guarded connection with facts about it.
type GuardedConn struct {
	Conn
	// Place identifies what the connection sees: connections with the same Place find the same tables under the same
	// names.
	Place string
	// Engine names the server for telemetry if the Dialect supports several servers; "": Language.Name.
	Engine string
	// Version is the current version of the schema. "": exec calls Conn.Version, at most once a second.
	Version string
	// Private reports that the connection has its own database in memory, whose data another connection cannot see.
	Private bool
	// File is the database file, for drivers that would create an empty file if it is missing. exec opens no connection
	// without the file. "": not needed.
	File string
	// EndUse cleans up after one use of the connection, for example by ending a transaction. It also checks the state
	// that the statement left. It is called after the rows of the last statement are closed and before the next statement
	// is read. Without fit, the connection is dropped and a runner takes another one. The call returns this error unless
	// it already has one. nil: nothing to do.
	EndUse func(ctx context.Context) (fit bool, err error)
	// Compared is for a [RowFilterConn] whose engine compares a text with a number as numbers, so that 0 would equal
	// every text. It returns one function for each parameter of a rule of r. The function converts the value of the
	// parameter to the value that is bound, by the column that it is compared with. The bound value is nil, a bool, an
	// int64, a float64, a string or a []byte. It is not called for NULL. Its error is the predicate of a sentence about
	// the parameter and starts with "is".
	//
	// text is the rule with "?" for each parameter; params are their names in that order. Compared refuses ("rows") a
	// rule that compares a parameter with anything else. It does not contact the engine. nil: values are bound as given.
	Compared func(r *guard.Relation, text string, params []string) ([]func(value any) (any, error), error)
}

// Conn is one guarded connection. exec creates, uses and closes it. It is not safe for concurrent use.
//
// Each statement goes through Read and Confirm once. Then exec calls Explain and Run, any number of times or not at
// all. An error about the statement has its type already, or [Dialect.Classify] assigns it. After any other error exec
// closes the connection.
type Conn interface {
	// Version returns a text that changes when the schema changes, as in Catalog.Version. It returns "" if schema
	// changes cannot be detected. It is cheap.
	Version(ctx context.Context) (string, error)
	// Catalog reads the system tables. It returns the schema for prompts and the facts for the guard. The policy leaves
	// nothing out.
	Catalog(ctx context.Context) (*Catalog, error)
	// Read parses a statement with the engine's parser, after the text check. It refuses forbidden forms, functions and
	// sizes. It returns the names in the statement, resolved with s.Catalog. It runs nothing. guard.ErrStale means that
	// the catalog is old.
	Read(ctx context.Context, s *Statement) (*guard.Names, error)
	// Confirm returns the engine's own report of what a statement reads, after its names were allowed. s.Names includes
	// names that the catalog does not have: the engine reports them as missing in its own words. It runs nothing.
	Confirm(ctx context.Context, s *Statement) (guard.EngineReport, error)
	// Explain returns the engine's plan of a confirmed statement.
	Explain(ctx context.Context, s *Statement) (Plan, error)
	// Run runs a confirmed statement. At most b.Rows and one more row are read, so an engine may stop there. Values are
	// as the engine stores them, without the driver's conversions for declared types. Column names and order are the
	// statement's own. An error means that no row was read. exec closes the rows before the next call.
	//
	// guard.Query runs a text. Do not use sql.Conn.QueryContext: if a driver panics in it, database/sql never returns
	// the connection. Close everything that Run or Confirm prepared before the connection is closed.
	Run(ctx context.Context, s *Statement, b Bounds) (*Rows, error)
	// Close removes the guard, with its own context. If drop is set, or if the connection cannot be restored, Close
	// makes database/sql close it. The exception is a connection whose database in memory would be lost: Close restores
	// it, and returns an error that matches [ErrBroken] if that fails. Close is called once.
	Close(drop bool) error
}

// Catalog is the content of an engine's system tables. It does not change.
type Catalog struct {
	// Version is the version of the schema before the catalog was read.
	Version string
	// Schema is the whole schema. exec fills in its Version.
	Schema *schema.Schema
	// Catalog decides which names may be read. Its relations are the tables of Schema and the relations that nobody may
	// read.
	guard.Catalog
	Warnings []trace.Warning // settings of the database that weaken its guard
	Own      any             // the engine's own data
}

// Statement is one statement while the guard checks it.
type Statement struct {
	*sqltext.Statement
	Args    []any              // of a statement by exec; an outside one has none: its parameters are refused
	Ours    bool               // exec wrote the statement, for example to read samples
	Catalog *Catalog           // the catalog that the statement is checked against
	Size    sqlshape.Expansion // the size of the statement when its views are written out
	Names   *guard.Names       // the result of Conn.Read
	Seen    guard.EngineReport // the result of Conn.Confirm
	In      string             // the schema of the view whose query this is; "" for a statement
	// Splice locates the row rules in a statement into which they were written; otherwise nil.
	Splice *guard.RowFilterRewrite
	reads  []guard.Read
	ruled  *Statement            // the statement with the row rules, which runs in place of this one
	order  []guard.TablePosition // makes the order of the rows unique, if the rules are written into the statement
	quiet  bool                  // warnings are not reported: a text is searched in a column of dates

	settled bool // order leaves nothing open
}

// Rows are the rows of a statement and the functions that process them. A function is nil if there is nothing to do.
type Rows struct {
	*sql.Rows
	// Statement is the prepared statement of the rows. exec closes it after them. nil: the engine closes it.
	Statement *sql.Stmt
	// Convert converts the values of column i to those that a [result.Table] holds; nil if the values need no change.
	// The function receives the driver's value and must not retain it. It returns nil, a bool, an int64, a float64, a
	// result.Decimal, a string or a []byte.
	Convert func(i int, column *sql.ColumnType) func(value any) (any, error)
	// Type returns the type of column i as the database reports it.
	Type func(i int, column *sql.ColumnType) result.Type
	// Warnings returns the engine's warnings about the statement, after its rows are closed: for example a text that it
	// read as a number, or a value that it cut. Each is one line for the user who asked.
	Warnings func(ctx context.Context) ([]string, error)
	// Stop ends the statement early, for engines where closing the rows would read all the others. tooLarge: the rows
	// exceed a limit on bytes; otherwise they exceed Bounds.Rows. It reports whether it ended the statement. If it did,
	// the connection is lost.
	Stop func(tooLarge bool) bool
	// Classify is [Dialect.Classify] for an error while rows are read, if the connection knows more about it.
	Classify func(err error) error
}

// Language holds the name of an engine and the rules for writing its SQL. Name, Title and Text are required.
type Language struct {
	Name  string          // the engine's short lower-case name: "sqlite"
	Title string          // its name for people and prompts: "SQLite"
	Text  sqltext.Dialect // how its SQL is split into tokens

	// QuoteName quotes any text so that the engine reads it as a name. nil: double quotes, doubled inside the name.
	// QuoteSchemaName quotes the name of a schema, which may start with a catalog. nil: QuoteName.
	QuoteName, QuoteSchemaName func(name string) string
	// Keywords are the words, in lower case, that must be quoted when used as names; nil: the keywords of SQLite.
	// BareFunctions are the words that call a function without parentheses: SELECT current_user returns the user, even
	// if a column has that name.
	Keywords, BareFunctions map[string]bool
	// Parameter returns the placeholder of parameter n, counted from 1; nil: "?".
	Parameter func(n int) string
	// Backticks reports that `x` is always a name, while "x" may be read as a string. SQLite does that if no column has
	// the name; MySQL does it if Text has DoubleQuotedStrings.
	Backticks bool
	// BillsScans reports that each statement is billed by what it reads, so no statement runs only for a warning.
	BillsScans bool
	// Dates is one line for prompts: how the engine writes the current day and all moments of a day; "": nothing.
	Dates string
	// Instead lists replacements for names that statements may not use or that other engines have. A line has patterns
	// of such names (as in path.Match, lower case, separated by spaces), a colon, and the advice. Errors about a
	// statement include the advice.
	Instead string
	// Drivers are the import paths of the types of known drivers, or of their parent packages. They only decide which
	// dialect an error message names.
	Drivers []string
}

// Quote quotes a name so that the engine reads it as a name.
func (l Language) Quote(name string) string {
	if l.QuoteName != nil {
		return l.QuoteName(name)
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// QuoteSchema quotes the name of a schema as Quote does, with its catalog if it has one.
func (l Language) QuoteSchema(name string) string {
	if l.QuoteSchemaName != nil {
		return l.QuoteSchemaName(name)
	}
	return l.Quote(name)
}

// Placeholder returns the placeholder of parameter n, counted from 1.
func (l Language) Placeholder(n int) string {
	if l.Parameter != nil {
		return l.Parameter(n)
	}
	return "?"
}

// Recognises reports whether d is a known driver of the engine, by the import path of its type.
func (l Language) Recognises(d driver.Driver) bool {
	t := reflect.TypeOf(d)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && slices.ContainsFunc(l.Drivers, func(path string) bool {
		return t.PkgPath() == path || strings.HasPrefix(t.PkgPath(), path+"/")
	})
}
