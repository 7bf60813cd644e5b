package duckdb

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is the DuckDB dialect for exec.New and texttosql.WithDialect, on a handle of [Open] or [OpenFolder]. Any
// other handle is refused, with an *exec.UnguardedError.
//
// Safe for concurrent use.
type Dialect struct{}

var (
	_ exec.Dialect = Dialect{}
	_ exec.Sampler = Dialect{}
)

// language is how DuckDB is named and written.
var language = exec.Language{
	Name: "duckdb", Title: "DuckDB", Text: sqltext.DuckDB(), Keywords: keywords,
	Dates:   "Today is current_date. All moments of a day are c >= DATE '2024-04-30' AND c < DATE '2024-05-01'.",
	Drivers: []string{"github.com/duckdb/duckdb-go", "github.com/texttosql/texttosql/exec/duckdb"},
	Instead: instead,
}

// keywords are the words of duckdb_keywords() that version 1.5.4 rejects as a name without quotes.
var keywords = guard.Set(`all analyse analyze and anti any array as asc asof asymmetric at authorization binary both by case cast check collate
collation column concurrently constraint create cross default deferrable desc describe distinct do else end except
false fetch for foreign freeze from full glob group having ilike in initially inner intersect into is isnull join
lambda lateral leading left like limit natural not notnull null offset on only or order outer overlaps pivot
pivot_longer pivot_wider placing positional primary qualify references returning right select semi show similar some
summarize symmetric table tablesample then to trailing true union unique unpack unpivot using variadic verbose when
where window with`)

// Language returns the names and the lexical rules of DuckDB.
func (Dialect) Language() exec.Language { return language }

// SampleRows reads the first rows of t as they are stored.
//
// With Spread, it reads a table longer than Rows in 20 places, evenly between the first and the last row. Each place
// gives a twentieth of Rows. It uses the row numbers of DuckDB and skips the blocks between the places. USING SAMPLE
// would read the whole table. A view has no row numbers, so its first rows are read, in the order of the view if it
// has one.
func (Dialect) SampleRows(
	ctx context.Context, run func(ctx context.Context, sql string, rows int) (*result.Table, error), t schema.Table,
	o exec.SampleOptions,
) (exec.RowSample, error) {
	s := guard.NewSampled(t.TableName().Quoted(language), t, o, language.Quote, func(kind, column string) string {
		if kind != "VARCHAR" {
			return column
		}
		return fmt.Sprintf("left(%s, %d)", column, o.Cut)
	})
	if _, own := t.Column("rowid"); t.Kind == "table" && !own {
		s.Key = "t.rowid"
	}
	return guard.SampleRows(ctx, run, s, o)
}
