package exec

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// Queryer reads rows. A *sql.Conn is one, and so is a held connection.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Dialect is what one database engine needs: its words, its guard, its catalog.
//
// A Dialect is a plain value without state; what has state is the [Guard] that
// it makes. Implementations are safe for concurrent use. exec/sqlite has one.
type Dialect interface {
	// Name is the engine's short lower-case name: "sqlite".
	Name() string
	// Title is the engine's name for people and prompts: "SQLite".
	Title() string
	// Text is how the engine's SQL is cut into tokens.
	Text() sqltext.Dialect
	// DefaultSchema is the name of the schema that "" stands for: "main".
	DefaultSchema() string
	// Quote writes a name so that the engine takes it for a name, whatever
	// stands in it.
	Quote(name string) string
	// Recognises reports whether d is a driver for this engine. It is a guess by
	// the driver's type and decides only which dialect an error message names.
	Recognises(d driver.Driver) bool

	// Guard makes the guard of one DB. It reads nothing: an error is a fault in
	// the configuration. A policy that names something the database does not
	// have is an error of the guard's first Hold.
	Guard(c GuardConfig) (Guard, error)

	// Version returns a text that changes when the schema of the database behind
	// q changes. It is cheap: it is asked before each use of a cached schema.
	Version(ctx context.Context, q Queryer) (string, error)
	// Inspect reads the whole schema from a connection that is held for [Catalog].
	// Nothing is left out for a policy: the DB does that.
	Inspect(ctx context.Context, q Queryer) (*schema.Schema, error)
	// Explain returns the engine's plan of one statement that has passed the
	// text check and the guard of q.
	Explain(ctx context.Context, q Queryer, sql string) (Plan, error)
	// SampleRows reads some rows of t, the columns it has and no others, with
	// statements given to run. What it reads is bounded by o, whatever the size
	// of t, unless t is a view. The same o on the same data gives the same rows.
	SampleRows(ctx context.Context, run Runner, t schema.Table, o SampleOptions) (RowSample, error)
}

// Warner is a [Dialect] that looks for settings of the database that make its
// guard weaker than the caller may think.
type Warner interface {
	Warnings(ctx context.Context, q Queryer) ([]trace.Warning, error)
}

// Classifier is a [Dialect] that knows the errors of its driver.
type Classifier interface {
	// Classify gives an error met outside of any statement its type: one about a
	// lock matches [ErrBusy]. What it does not know it returns as it is.
	Classify(err error) error
}

// GuardConfig is what a guard enforces.
type GuardConfig struct {
	Policy Policy // what the guard lets through
	// CellBytes is the largest value, in bytes, that a result may hold.
	CellBytes int
	// Unwrap returns the engine's own driver connection for what database/sql
	// hands out; nil where the driver is not wrapped.
	Unwrap func(driverConn any) any
}

// Guard makes connections of one database fit for text that a model wrote, and
// gives them back as they were. Safe for concurrent use.
type Guard interface {
	// Hold puts the guard on conn. An error that matches [ErrUnguarded] says
	// that this connection cannot have one. After any error conn is as it was, or
	// database/sql drops it; an error that matches [ErrBroken] says that neither
	// could be done. The caller closes conn after Release.
	Hold(ctx context.Context, conn *sql.Conn, o HoldOptions) (Held, error)
}

// HoldOptions says what a connection is held for.
type HoldOptions struct {
	Use Use // whose text will run
	// Timeout is how long the statements may take. Where the engine waits for
	// locks without looking at a context, it waits a little less than this, and a
	// lock that is there when Hold is called is waited for no longer than ctx lasts.
	Timeout time.Duration
}

// Use says whose text a held connection runs.
type Use uint8

// The uses.
const (
	// Generated text comes from a model or a person: placeholders are refused.
	Generated Use = iota
	// Own text is written by this SDK: it may bind up to two parameters.
	Own
	// Catalog text is written by the [Dialect] to read the catalog, which a guard
	// forbids. So there is none: all that a hold does is to bound waits for locks.
	Catalog
)

// Held is a connection under guard. Not safe for concurrent use: it runs one
// statement at a time.
type Held interface {
	// QueryContext runs one statement that has passed the text check, or a text
	// of ours. The rows hold values as the engine stores them, whatever the
	// driver likes to make of declared types, under the statement's own column
	// names and in its own order. Errors are typed, see Classify; an error means
	// that nothing of the statement ran. Close the rows before the next call.
	Queryer

	// Analyze compiles one statement without running it and says what it reads.
	Analyze(ctx context.Context, sql string) (Analysis, error)

	// Classify turns an error met while reading rows into one of this package's
	// typed errors. What it does not know it returns wrapped.
	Classify(err error) error

	// Release takes the guard off, on a context of its own. With drop, or when
	// the connection cannot be put back as it was, it makes database/sql close
	// it, except where that would lose a database that lives in memory. There it
	// puts the connection back; if that fails, an error that matches [ErrBroken]
	// comes back. Release may be called once.
	Release(drop bool) error
}
