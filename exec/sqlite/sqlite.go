package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is the SQLite dialect for exec.New. The zero Dialect works with every driver whose connections have the two
// methods of [Hooks], for example github.com/mattn/go-sqlite3.
//
// A Dialect is safe for concurrent use.
type Dialect struct {
	// Hooks adapts a driver connection that has the hooks under other names or types. Its argument is the result of
	// exec.Config.Unwrap. If Hooks is nil or returns nil, the connection itself must implement Hooks.
	Hooks func(driverConn any) Hooks

	// Authorizer is the application's own authorizer, if it registers one on its connections. SQLite holds one
	// authorizer for each connection and cannot return it. So the guard also calls this one while it holds the
	// connection, and registers it again afterwards. nil: afterwards the connection has no authorizer.
	Authorizer func(op int, arg1, arg2, database string) int

	// QuickCheck has SQLite check the whole file (PRAGMA quick_check) before exec.DB.Ready or the first statement reads
	// a catalog. A file with damaged pages is then an error; without QuickCheck, counts in such a file are wrong
	// without an error. The check reads every page: about one second for 500 MB.
	QuickCheck bool

	// Math reports that the program registered the functions of [Math] on every connection, so that a statement may
	// call them. false: a statement may call the mathematical functions that SQLite was built with.
	Math bool
}

// Hooks has the methods of a driver connection that the guard needs. Both methods are called inside sql.Conn.Raw, one
// at a time.
type Hooks interface {
	// RegisterAuthorizer sets the callback that sqlite3_set_authorizer takes; nil removes it. The arguments are the
	// action code, its two arguments and the name of the database, "" for NULL. The result is SQLite's: 0 allows, 1
	// denies.
	RegisterAuthorizer(callback func(op int, arg1, arg2, database string) int)
	// SetLimit calls sqlite3_limit and returns the old value.
	SetLimit(id, value int) (old int)
}

// Language implements [exec.Dialect]. SQLite reads a name in double quotes as a string if no such name exists; a column
// qualified by its table is never read as a string.
func (Dialect) Language() exec.Language {
	return exec.Language{
		Name: "sqlite", Title: "SQLite", Text: sqltext.SQLite(), Backticks: true,
		BareFunctions: bareFunctions,
		Dates: "Today is date('now') in UTC. All moments of a day in a text column are c >= '2024-04-30' " +
			"AND c < '2024-05-01'.",
		Drivers: []string{"github.com/mattn/go-sqlite3", "modernc.org/sqlite", "github.com/ncruces/go-sqlite3"},
		Instead: instead,
	}
}

// bareFunctions are described at exec.Language.
var bareFunctions = guard.Set("current_date current_time current_timestamp")

// fence keeps SQLite from flattening the subquery by a LIMIT. The planner takes the subquery for 2^32 rows, whatever
// sqlite_stat1 counts in the table: it estimates no query higher, and the last part, which has no row, as high. So the
// order of joins and the indexes that SQLite makes for them do not depend on hidden rows.
const fence = "SELECT * FROM (%s LIMIT -1) UNION ALL %s" + noRow

// noRow is the part of a fence that has no row.
const noRow = ", (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n WHERE 0) " +
	"SELECT 1 FROM n AS a, n AS b) WHERE 0 LIMIT -1"

// noRowStores is how many places the parts of a fence around its query take in a count of those that may hold rows.
// They hold one row at most.
const noRowStores = 6

// Rules implements [exec.RowFilterDialect].
//
// Without the fence a value may be of any length in the file, because a value over the limit would fail on a hidden
// row. So the list of results may not have a function that makes a long value.
func (Dialect) Rules() guard.RewriteRules {
	return guard.RewriteRules{
		Fence: fence, FenceView: " LIMIT -1", Quote: quoted, QuoteSchema: quoted, Placeholder: func(int) string {
			return "?"
		},
		Results: func(function string) bool { return shortening[function] },
		Ordered: func(function string) bool { return function == "sum" || function == "avg" || function == "total" },
		Exactly: func(column string) string { return "typeof(" + column + "), " + column + " COLLATE BINARY" },
	}
}

// shortening are functions whose value is not longer than their arguments, whatever these are.
var shortening = guard.Set("abs avg ceil ceiling coalesce count cume_dist dense_rank first_value floor ifnull iif " +
	"lag last_value lead length " +
	"lower ltrim max min nth_value ntile nullif percent_rank rank round row_number rtrim sign substr substring sum " +
	"total trim typeof upper")

// mainSchema is the database that a connection was opened with.
const mainSchema = "main"

// quoted writes a name so that SQLite takes it for a name.
func quoted(name string) string { return exec.Language{}.Quote(name) }

// literal writes a string.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Classify implements [exec.Dialect]. The errors of a statement already have their type; any other error is not about a
// statement.
func (Dialect) Classify(err error) error {
	switch {
	case err == nil || exec.IsClassified(err):
		return err
	case strings.HasPrefix(ownWords(err), "unable to open database file"):
		return fmt.Errorf("%w (if the file is there, SQLite cannot open its WAL on a read-only disk: add immutable=1)",
			classify(err, false, nil))
	case strings.HasPrefix(ownWords(err), "attempt to write a readonly database"):
		return fmt.Errorf("%w (in WAL mode its folder must be writable: copy it, or give immutable=1 for one that nobody "+
			"writes to; with a file -journal beside it a writer stopped in the middle: open it once with a program that may "+
			"write, which undoes the half)", err)
	}
	if typed := classify(err, false, nil); !exec.IsRejection(typed) {
		return typed
	}
	return err
}

// SampleRows implements [exec.Sampler] with [guard.SampleRows]. The key is the rowid. WITHOUT ROWID tables, virtual
// tables and views do not have it, nor does a table whose columns hide its names.
func (Dialect) SampleRows(
	ctx context.Context, run func(ctx context.Context, sql string, rows int) (*result.Table, error), t schema.Table,
	o exec.SampleOptions,
) (exec.RowSample, error) {
	// With a table in front no name can be taken for a string.
	s := guard.NewSampled(quoted(cmp.Or(t.Schema, mainSchema))+"."+quoted(t.Name), t, o, quoted,
		func(_, column string) string {
			return fmt.Sprintf("CASE WHEN length(%[1]s) < %[2]d THEN %[1]s ELSE substr(%[1]s, 1, %[2]d) END", column, o.Cut)
		})
	if t.Kind == "table" {
		// SQLite may else read a covering index instead of the table, and give the rows in its order.
		s.From += " NOT INDEXED"
		// A key is not quoted: in a WITHOUT ROWID table a quoted one would be a string.
		for _, key := range []string{"oid", "_rowid_", "rowid"} {
			if !slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return schema.EqualFold(c.Name, key) }) {
				s.Key = key
			}
		}
	}
	return guard.SampleRows(ctx, run, s, o)
}
