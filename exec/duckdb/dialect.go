package duckdb

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is DuckDB for exec.New and texttosql.WithDialect, on a handle of [Open] or [OpenFolder]. Any other handle is
// refused, with exec.ErrUnguarded.
//
// Safe for concurrent use.
type Dialect struct{}

var (
	_ exec.Dialect = Dialect{}
	_ exec.Sampler = Dialect{}
)

// language is how DuckDB is named and written.
var language = exec.Language{
	Name: "duckdb", Title: "DuckDB", Text: sqltext.DuckDB(),
	Dates:   "Today is current_date. All moments of a day are c >= DATE '2024-04-30' AND c < DATE '2024-05-01'.",
	Drivers: []string{"github.com/duckdb/duckdb-go", "github.com/texttosql/texttosql/exec/duckdb"},
}

// Language returns the names and the lexing rules of DuckDB.
func (Dialect) Language() exec.Language { return language }

// SampleRows reads the first rows of t as they are stored.
//
// With Spread, a table longer than Rows is read in 20 places, evenly between its first and its last row, a twentieth of
// Rows in each, by the numbers that DuckDB gives its rows: it skips the blocks between. USING SAMPLE would read the
// whole table. A view has no such numbers: its first rows are read, in an order of its own where it has one.
func (Dialect) SampleRows(ctx context.Context, run guard.Runner, t schema.Table, o exec.SampleOptions) (exec.RowSample, error) {
	s := guard.NewSampled(t.TableName().Quoted(language), t, o, language.Quote, func(kind, column string) string {
		if kind != "VARCHAR" {
			return column
		}
		return fmt.Sprintf("left(%s, %d)", column, o.Cut)
	})
	if _, own := t.Column("rowid"); t.Kind == schema.BaseTable && !own {
		s.Key = "t.rowid"
	}
	return guard.SampleRows(ctx, run, s, o)
}
