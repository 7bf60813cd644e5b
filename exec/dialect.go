package exec

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"

	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// Queryer reads rows. A *sql.Conn is one, and so is a held connection.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Dialect is what one database engine needs: its words, its guard, its catalog, its plans. exec/sqlite has one.
//
// A Dialect is a plain value without state; the [Guard] that it makes has state. Implementations are safe for
// concurrent use. A Dialect may also be a [DatabaseWarner], an [ErrorClassifier], a [Misreader] and, for an engine with
// catalogs, a [schema.SchemaQuoter].
type Dialect interface {
	Language
	Guarder
	Catalog
	Planner
}

// Language is how an engine is named and how its SQL is written.
type Language interface {
	// Name is the engine's short lower-case name: "sqlite".
	Name() string
	// Title is the engine's name for people and prompts: "SQLite".
	Title() string
	// Text is how the engine's SQL is cut into tokens.
	Text() sqltext.Dialect
	// Quote writes a name so that the engine takes it for a name, whatever stands in it.
	Quote(name string) string
	// Placeholder writes parameter n of a statement, 1 is the first: "?", "$1".
	Placeholder(n int) string
	// Recognises reports whether d is a driver for this engine. It is a guess by the driver's type and decides only
	// which dialect an error message names.
	Recognises(d driver.Driver) bool
}

// Guarder makes guards.
type Guarder interface {
	// Guard makes the guard of one DB. It reads nothing: an error is a fault in the configuration. A policy that names
	// something the database does not have is an error of the guard's first Hold.
	Guard(c GuardConfig) (Guard, error)
}

// Catalog reads what a database has. Each q is a connection that is held by Guard.Catalog.
type Catalog interface {
	// DefaultSchema returns the name of the schema in which the engine looks for a table without one: "main".
	DefaultSchema(ctx context.Context, q Queryer) (string, error)
	// Version returns a text that changes when the schema of the database behind q changes. It is cheap: it is asked
	// before each use of a cached schema.
	Version(ctx context.Context, q Queryer) (string, error)
	// Inspect reads the whole schema. Nothing is left out for a policy: the DB does that, and fills in Version and
	// Default.
	Inspect(ctx context.Context, q Queryer) (*schema.Schema, error)
	// SampleRows reads some rows of t, the columns it has and no others. What it reads is bounded by o, whatever the
	// size of t, unless t is a view. The same o on the same data gives the same rows. run runs one statement under
	// guard and limits; it returns at most so many rows, as stored, and fewer with TooLarge set if they reach a limit
	// on bytes.
	SampleRows(ctx context.Context, run func(ctx context.Context, sql string, rows int) (*result.Table, error), t schema.Table, o SampleOptions) (RowSample, error)
}

// Planner tells plans.
type Planner interface {
	// Explain returns the engine's plan of one statement that has passed the text check and the guard of q.
	Explain(ctx context.Context, q Queryer, s *sqltext.Statement) (Plan, error)
}

// What a Dialect may be beside that.
type (
	// DatabaseWarner looks for settings of a database that weaken its guard.
	DatabaseWarner interface {
		Warnings(ctx context.Context, q Queryer) ([]trace.Warning, error)
	}
	// ErrorClassifier gives an error met outside of any statement its type: an error about a lock matches [ErrBusy]. It
	// returns other errors as they are.
	ErrorClassifier interface{ Classify(err error) error }
	// Misreader serves [UnknownNames] for an engine that takes unknown names in double quotes for strings, or all. It
	// returns the names that h takes for strings in s, which compiles; where all are strings, those that a column is named
	// after. names are unqualified, in double quotes and in text order. Of many names it may leave out the last ones.
	Misreader interface {
		Misread(ctx context.Context, h Held, s *sqltext.Statement, names []sqltext.ColumnRef) ([]sqltext.ColumnRef, error)
	}
)

// GuardConfig is what a guard enforces.
type GuardConfig struct {
	Policy Policy // what the guard lets through
	// CellBytes is the largest value, in bytes, that a result may hold.
	CellBytes int
	// Unwrap returns the engine's own driver connection for what database/sql hands out; nil where the driver is not
	// wrapped.
	Unwrap func(driverConn any) any
}

// Guard makes connections of one database fit for text that a model wrote, and gives them back as they were. Safe for
// concurrent use.
//
// After any error of its methods conn is as it was, or database/sql drops it; an error that matches [ErrBroken] says
// that neither could be done. The caller closes conn after Release.
type Guard interface {
	// Hold puts the guard on conn. An error that matches [ErrUnguarded] says that this connection cannot have one.
	//
	// timeout is how long a statement may take. Where the engine waits for locks without looking at a context, it waits
	// a little less than this, and a lock that is there when Hold is called is waited for no longer than ctx lasts.
	Hold(ctx context.Context, conn *sql.Conn, timeout time.Duration) (Held, error)
	// Catalog holds conn for the texts by which the [Dialect] reads the catalog, which a guard forbids. So there is
	// none: it bounds waits for locks as Hold does.
	Catalog(ctx context.Context, conn *sql.Conn, timeout time.Duration) (Held, error)
}

// Held is a connection under guard. Not safe for concurrent use: it runs one statement at a time. A Held may also be
// [Private], a [Converter], a [StatementWarner], a [Stopper] and a [Finisher].
type Held interface {
	// QueryContext runs a text of ours, which only reads. Without arguments a text with a parameter is refused. Errors
	// are those of Query.
	Queryer

	// Query runs one statement that has passed the text check. Of the rows, b.Rows and one more are read, so an engine
	// may be told to stop there. The rows hold values as the engine stores them, whatever the driver likes to make of
	// declared types, under the statement's own column names and in its own order. Errors are typed, see Classify; an
	// error means that nothing of the statement ran. Close the rows before the next call.
	Query(ctx context.Context, s *sqltext.Statement, b Bounds) (*sql.Rows, error)

	// Analyze compiles one statement without running it and says what it reads.
	Analyze(ctx context.Context, s *sqltext.Statement) (Analysis, error)

	// Classify turns an error met while reading rows into one of this package's typed errors. What it does not know it
	// returns wrapped.
	Classify(err error) error

	// Release takes the guard off, on a context of its own. With drop, or when the connection cannot be put back as it
	// was, it makes database/sql close it, except where that would lose a database that lives in memory. There it puts
	// the connection back; if that fails, an error that matches [ErrBroken] comes back. Release may be called once.
	Release(drop bool) error
}

// What a Held may be beside that.
type (
	// Private says that the connection has a database of its own, in memory, so that another connection would not see
	// the data.
	Private interface{ Private() bool }
	// Converter makes the values of a column what a [result.Table] holds. Converter returns nil for a column whose values
	// need no change. A function gets what the driver gave, which it must not keep, and returns nil, an int64, a float64,
	// a result.Decimal, a string or a []byte.
	Converter interface {
		Converter(column *sql.ColumnType) func(value any) (any, error)
	}
	// StatementWarner tells what the engine warned of while it ran the last statement of Query, whose rows are closed:
	// a text that it read as a number, a value that it cut. Each is one line for the person who asked.
	StatementWarner interface {
		StatementWarnings(ctx context.Context) ([]string, error)
	}
	// Stopper ends the statement whose rows are open, of which no more is wanted, where closing them would read all the
	// others. tooLarge: they are over a limit on bytes; else they are over Bounds.Rows. Stop reports whether it ended
	// the statement. The connection is lost with it then: Finish, or Release, makes database/sql drop it.
	Stopper interface{ Stop(tooLarge bool) bool }
	// Finisher ends what one use of the connection began, a transaction say, and looks at what the statement left behind.
	// It is called after each, with all rows closed. Without fit the connection is dropped, and a session takes another
	// one. The error becomes that of the call, unless it has one.
	Finisher interface {
		Finish(ctx context.Context) (fit bool, err error)
	}
)
