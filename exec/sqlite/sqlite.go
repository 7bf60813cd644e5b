package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is SQLite for exec.New. The zero Dialect works with every driver whose connections have the two methods of
// [Hooks], as those of github.com/mattn/go-sqlite3 do.
//
// Safe for concurrent use.
type Dialect struct {
	// Hooks returns the hooks of a driver connection that has them under other names or types: a few lines that adapt
	// the driver. It is called with what exec.Config.Unwrap returned. nil, and a nil result, mean that the connection
	// itself has to be a Hooks.
	Hooks func(driverConn any) Hooks

	// Authorizer is the application's own authorizer, for an application that registers one on its connections. SQLite
	// holds one a connection and cannot say which, so the guard asks this one too while it holds the connection and
	// registers it again afterwards. nil: afterwards there is none.
	Authorizer func(op int, arg1, arg2, database string) int

	// QuickCheck has SQLite look through the whole file (PRAGMA quick_check) before a catalog is read, by exec.DB.Ready or by
	// the first statement. A file with damaged pages is an error then; without it counts of such a file are wrong and say
	// nothing of it. It reads every page, and so takes as long as reading the file: a second for some 500 MB.
	QuickCheck bool

	// Math says that the program registered the functions of [Math] on every connection, so that a statement may call them.
	// false: a statement may call those that SQLite was built with.
	Math bool
}

// Hooks is what the guard needs of a driver connection. Both methods are called from inside sql.Conn.Raw, one at a
// time.
type Hooks interface {
	// RegisterAuthorizer sets the callback that sqlite3_set_authorizer takes; nil removes it. The arguments are the
	// action code, its two arguments and the name of the database, "" for NULL. The result is SQLite's: 0 allows, 1
	// denies.
	RegisterAuthorizer(callback func(op int, arg1, arg2, database string) int)
	// SetLimit calls sqlite3_limit and returns the old value.
	SetLimit(id, value int) (old int)
}

// Language implements [exec.Dialect]. SQLite takes a name in double quotes for a string where no such name exists; a
// column with its table in front is safe from it.
func (Dialect) Language() exec.Language {
	return exec.Language{
		Name: "sqlite", Title: "SQLite", Text: sqltext.SQLite(), Backticks: true,
		Dates:   "Today is date('now') in UTC. All moments of a day in a text column are c >= '2024-04-30' AND c < '2024-05-01'.",
		Drivers: []string{"github.com/mattn/go-sqlite3", "modernc.org/sqlite", "github.com/ncruces/go-sqlite3"},
	}
}

// Rules implements [exec.Ruler]. A LIMIT keeps SQLite from flattening the subquery.
//
// Without that fence a value may be of any length that the file has, since a longer one than the limit would fail on a
// hidden row. So the list of results has no function that makes a long value. It has none that reads the clock either,
// which moves between two rows.
func (Dialect) Rules() guard.Splicing {
	return guard.Splicing{
		Fence: "LIMIT -1", Quote: quoted, QuoteSchema: quoted, Placeholder: func(int) string { return "?" },
		Results: func(function string) bool { return shortening[function] },
	}
}

// shortening are functions whose value is not longer than their arguments, whatever these are.
var shortening = guard.Set("abs avg ceil ceiling coalesce count cume_dist dense_rank first_value floor ifnull iif lag last_value lead length " +
	"lower ltrim max min nth_value ntile nullif percent_rank rank round row_number rtrim sign substr substring sum total trim typeof upper")

// mainSchema is the database that a connection was opened with.
const mainSchema = "main"

// quoted writes a name so that SQLite takes it for a name.
func quoted(name string) string { return exec.Language{}.Quote(name) }

// literal writes a string.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Classify implements [exec.Dialect]. The errors of a statement have their type before; any other error blames none.
func (Dialect) Classify(err error) error {
	switch {
	case err == nil || exec.IsTyped(err):
		return err
	case strings.HasPrefix(ownWords(err), "unable to open database file"):
		return fmt.Errorf("%w (if the file is there, SQLite cannot open its WAL on a read-only disk: add immutable=1)", classify(err, false, nil))
	case strings.HasPrefix(ownWords(err), "attempt to write a readonly database"):
		return fmt.Errorf("%w (in WAL mode its folder must be writable: copy it, or give immutable=1 for one that nobody writes to)", err)
	}
	if typed := classify(err, false, nil); !exec.IsRejection(typed) {
		return typed
	}
	return err
}

// SampleRows implements [exec.Sampler] by [guard.SampleRows]. The key is the rowid, which WITHOUT ROWID tables, virtual
// tables and views have not, nor a table whose columns hide its names.
func (Dialect) SampleRows(ctx context.Context, run guard.Runner, t schema.Table, o exec.SampleOptions) (exec.RowSample, error) {
	// With a table in front no name can be taken for a string.
	s := guard.NewSampled(quoted(cmp.Or(t.Schema, mainSchema))+"."+quoted(t.Name), t, o, quoted, func(_, column string) string {
		return fmt.Sprintf("CASE WHEN length(%[1]s) < %[2]d THEN %[1]s ELSE substr(%[1]s, 1, %[2]d) END", column, o.Cut)
	})
	if t.Kind == schema.BaseTable {
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
