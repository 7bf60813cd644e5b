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
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// Dialect is what exec has to know of one database engine: facts. What happens to a statement is the same on every
// engine, and [DB] does it. exec/sqlite has a Dialect, and examples/dialect one that was written with exported parts only.
//
// A Dialect is a plain value without state. It may also be a [Sampler]. Implementations are safe for concurrent use.
type Dialect interface {
	// Language is how the engine is named and how its SQL is written.
	Language() Language
	// Guard makes what guards the connections of one DB, and keeps what it learns of them. It reads nothing: an error is a
	// fault in the configuration.
	Guard(c GuardConfig) (Open, error)
	// Classify gives an error of the driver its type: a *RefusedError, an *InvalidError or a *LimitError for one that is
	// the statement's, ErrBusy for one about a lock. What is typed already, and what it does not know, it returns as it is.
	Classify(err error) error
}

// Sampler is a Dialect that reads samples of tables in a way of its own. Without it guard.SampleRows reads them by a
// primary key of one column, if it has integers, else it reads the first rows.
type Sampler interface {
	// SampleRows reads some rows of t, the columns of o and no others. What it reads is bounded by o, whatever the
	// size of t, unless t is a view. The same o on the same data gives the same rows. run runs one statement under
	// guard and limits; it returns at most so many rows, as stored, and fewer with TooLarge set if they reach a limit
	// on bytes. guard.SampleRows does it for tables with a key that is a number.
	SampleRows(ctx context.Context, run guard.Runner, t schema.Table, o SampleOptions) (RowSample, error)
}

// What samples are told and give.
type (
	// SampleOptions says which rows [Sampler.SampleRows] and [DB.Sample] read.
	//
	//	Columns []string // the columns to read, as the table writes them; none: only count. DB.Sample chooses them itself
	//	Rows    int      // most rows to read, 1 or more
	//	Count   int64    // most rows to count; 0: no count
	//	Spread  bool     // read rows from all over a long table instead of its first ones
	//	Seed    uint64   // where Spread begins in each part of the table
	//	Cut     int      // texts and blobs are cut to this many characters or bytes; 0: as stored
	SampleOptions = guard.SampleOptions

	// RowSample is some rows of a table.
	//
	//	Rows         [][]any // one value for each of SampleOptions.Columns, in their order
	//	Count        int64   // number of rows of the table; 0 if they were not counted
	//	CountAtLeast bool    // the table has more rows than Count
	//	Complete     bool    // Rows are all rows of the table
	RowSample = guard.RowSample
)

// GuardConfig is what a guard enforces.
type GuardConfig struct {
	Policy Policy // what statements may read. exec applies it to names; an engine may have walls of its own for it
	// CellBytes is the largest value, in bytes, that a result may hold; 0 or more.
	CellBytes int
	// Unwrap returns the engine's own driver connection for what database/sql hands out; nil where the driver is not
	// wrapped.
	Unwrap func(driverConn any) any
}

// Open puts the guard on one connection: it looks at it, refuses one that cannot be guarded with an error that matches
// [ErrUnguarded], and changes its settings. After an error the connection is as it was, or database/sql drops it; an
// error that matches [ErrBroken] says that neither could be done. The caller closes conn, after the Conn.
//
// timeout is how long a statement may take. Where the engine waits for locks without looking at a context, it waits a
// little less than this, and a lock that is there when Open is called is waited for no longer than ctx lasts.
//
// Safe for concurrent use.
type Open func(ctx context.Context, conn *sql.Conn, timeout time.Duration) (Opened, error)

// Opened is a connection under guard, and what is known of it.
type Opened struct {
	Conn
	// Place says what the connection sees: connections with the same Place find the same tables by the same names.
	Place string
	// Engine is what the server is, for telemetry, where the Dialect serves several; "": Language.Name.
	Engine string
	// Version is that of the schema now; "": Conn.Version has to be asked, which exec does once a second at most.
	Version string
	// Private says that the connection has a database of its own, in memory, so that another one would not see the data.
	Private bool
	// File is that of the database, where a driver would make an empty one in place of a file that is gone: no connection is
	// opened without it. "": there is none.
	File string
}

// Conn is one connection under guard. exec makes, uses and closes it; it is not safe for concurrent use. A Conn may also
// be a [Finisher].
//
// A statement goes through Read and Confirm once, and then to Explain and Run, of which none or several are called. An
// error about the statement has its type, or [Dialect.Classify] gives it; with any other error exec closes the connection.
type Conn interface {
	// Version returns a text that changes when the schema does, as Catalog.Version; "" where it cannot be told whether the
	// schema changed. It is cheap.
	Version(ctx context.Context) (string, error)
	// Catalog reads the system tables: the schema for prompts and the facts for the guard. Nothing is left out for a
	// policy.
	Catalog(ctx context.Context) (*Catalog, error)
	// Read has the engine's parser read a statement that passed the text check, refuses what may not be done by its form,
	// its functions or its size, and says what it names, by s.Catalog. It runs nothing. guard.ErrStale says that the
	// catalog is old.
	Read(ctx context.Context, s *Statement) (*guard.Names, error)
	// Confirm asks the engine itself what a statement reads, whose names may be read. Names that the catalog does not have
	// are among s.Names: the engine says in its own words what is absent. It runs nothing.
	Confirm(ctx context.Context, s *Statement) (guard.Seen, error)
	// Explain returns the engine's plan of a statement that was confirmed.
	Explain(ctx context.Context, s *Statement) (Plan, error)
	// Run runs a statement that was confirmed. Of the rows, b.Rows and one more are read, so an engine may be told to stop
	// there. They hold values as the engine stores them, whatever the driver likes to make of declared types, under the
	// statement's own column names and in its own order. An error means that no row was read. exec closes the rows before
	// the next call.
	//
	// guard.Query runs a text. Do not use sql.Conn.QueryContext: where a driver panics in it, database/sql never gives the
	// connection back. What Run or Confirm prepared is closed before the connection is given up.
	Run(ctx context.Context, s *Statement, b Bounds) (*Rows, error)
	// Close takes the guard off, on a context of its own. With drop, or when the connection cannot be put back as it was,
	// it makes database/sql close it, except where that would lose a database that lives in memory. There it puts the
	// connection back; if that fails, an error that matches [ErrBroken] comes back. Close is called once.
	Close(drop bool) error
}

// Finisher is a Conn that ends what one use of the connection began, a transaction say, and looks at what the statement
// left behind. It is called when the rows of the last statement are closed and before another one is read. Without fit
// the connection is dropped, and a runner takes another one. The error becomes that of the call, unless it has one.
type Finisher interface {
	Finish(ctx context.Context) (fit bool, err error)
}

// Catalog is what an engine has read of its system tables. It does not change.
type Catalog struct {
	// Version is that of the schema before the catalog was read.
	Version string
	// Schema is the whole schema. exec fills in its Version.
	Schema *schema.Schema
	// Catalog is what decides on names. Its relations are those of Schema, and those that nobody may read.
	guard.Catalog
	Warnings []trace.Warning // settings of the database that weaken its guard
	Own      any             // what the engine keeps
}

// Statement is one statement on its way through the guard.
type Statement struct {
	*sqltext.Statement
	Args    []any             // the arguments of a statement of exec's own; one from outside has none, and parameters in it are refused
	Ours    bool              // the statement is exec's own, as those of samples
	Catalog *Catalog          // the catalog by which the statement is judged
	Size    sqltext.Expansion // what it grows to where it is written out
	Names   *guard.Names      // what Conn.Read returned
	Seen    guard.Seen        // what Conn.Confirm returned
	In      string            // the schema of the view whose query it is; "" for a statement
	// Splice says where the rules stand in a statement into which they were written; nil in any other one.
	Splice *guard.Splice
	reads  []guard.Read
	ruled  *Statement // the statement with the rules in it, which runs in place of this one
	quiet  bool       // its warnings are not told: a text is looked for in a column of dates
}

// Rows are the rows of a statement, and how to treat them. The functions are nil where there is nothing to do.
type Rows struct {
	*sql.Rows
	// Statement is what the rows are of. exec closes it behind them; nil: the engine closes it.
	Statement *sql.Stmt
	// Convert makes the values of column i what a [result.Table] holds; nil for a column whose values need no change. The
	// function gets what the driver gave, which it must not keep, and returns nil, a bool, an int64, a float64, a
	// result.Decimal, a string or a []byte.
	Convert func(i int, column *sql.ColumnType) func(value any) (any, error)
	// Type is the type of column i as the database says it.
	Type func(i int, column *sql.ColumnType) result.Type
	// Warnings tells what the engine warned of while it ran the statement, whose rows are closed: a text that it read as a
	// number, a value that it cut. Each is one line for the person who asked.
	Warnings func(ctx context.Context) ([]string, error)
	// Stop ends the statement, of which no more is wanted, where closing its rows would read all the others. tooLarge: they
	// are over a limit on bytes; else they are over Bounds.Rows. It reports whether it ended the statement. The connection
	// is lost with it then.
	Stop func(tooLarge bool) bool
	// Classify is [Dialect.Classify] for an error met while the rows are read, where the connection knows more.
	Classify func(err error) error
}

// Language is how an engine is named and how its SQL is written. Name, Title and Text are required.
type Language struct {
	Name  string          // the engine's short lower-case name: "sqlite"
	Title string          // its name for people and prompts: "SQLite"
	Text  sqltext.Dialect // how its SQL is cut into tokens

	// QuoteName writes a name so that the engine takes it for a name, whatever stands in it; nil: in double quotes, which
	// are doubled inside. QuoteSchemaName writes the name of a schema, which may have a catalog in front; nil: QuoteName.
	QuoteName, QuoteSchemaName func(name string) string
	// Parameter writes parameter n of a statement, 1 is the first; nil: "?".
	Parameter func(n int) string
	// Backticks says that `x` is always a name, where "x" may be taken for a string: by SQLite if no column is called so,
	// by MySQL wherever Text has DoubleQuotedStrings.
	Backticks bool
	// Dates says in one line for prompts how the engine writes the present day and all moments of a day; "": nothing.
	Dates string
	// Drivers are the import paths of the types of known drivers, or of the packages above them. They decide only which
	// dialect an error message names.
	Drivers []string
}

// Quote writes a name so that the engine takes it for a name.
func (l Language) Quote(name string) string {
	if l.QuoteName != nil {
		return l.QuoteName(name)
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// QuoteSchema writes the name of a schema as Quote does, with its catalog if it has one.
func (l Language) QuoteSchema(name string) string {
	if l.QuoteSchemaName != nil {
		return l.QuoteSchemaName(name)
	}
	return l.Quote(name)
}

// Placeholder writes parameter n of a statement, 1 is the first.
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
