package bigquery

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is BigQuery for exec.New and texttosql.WithDialect, on a pool of [Open]. It has no settings: those are in
// [Config]. Safe for concurrent use.
//
// Schemas and policies call a table of the client's project by "dataset.table" and one of another project by
// "project.dataset.table". A field of a record is a column "record.field", which a policy writes in double quotes:
// `users."address.city"`.
type Dialect struct {
	// FlatRate reports that a further statement costs nothing, as with a reservation. Then further statements run to
	// find contradictions and the state of the rows; docs/confidence.md describes both.
	FlatRate bool
}

var (
	_ exec.Dialect = Dialect{}
	_ exec.Sampler = Dialect{}
)

// Language implements exec.Dialect.
func (d Dialect) Language() exec.Language {
	return exec.Language{
		Name: "bigquery", Title: "BigQuery", Text: sqltext.BigQuery(), BillsScans: !d.FlatRate,
		QuoteName: quote, QuoteSchemaName: quoteSchema,
		Keywords: keywords, BareFunctions: bareFunctions,
		Dates: "Today is CURRENT_DATE('UTC'). All moments of a day are c >= TIMESTAMP '2024-04-30' " +
			"AND c < TIMESTAMP '2024-05-01'.",
		Instead: instead,
		Drivers: []string{"github.com/texttosql/texttosql/exec/bigquery"},
	}
}

// keywords are the reserved words of GoogleSQL.
var keywords = guard.Set(`all and any array as asc assert_rows_modified at between by case cast collate contains create cross cube current
default define desc distinct else end enum escape except exclude exists extract false fetch following for from full
group grouping groups hash having if ignore in inner intersect interval into is join lateral left like limit lookup
merge natural new no not null nulls of on or order outer over partition preceding proto qualify range recursive
respect right rollup rows select set some struct tablesample then to treat true unbounded union unnest using when
where window with within`)

// bareFunctions are described at exec.Language.
var bareFunctions = guard.Set("current_date current_datetime current_time current_timestamp session_user")

// escapes are those of a name in backquotes.
var escapes = strings.NewReplacer(`\`, `\\`, "`", "\\`", "\n", `\n`, "\r", `\r`)

// quote writes a name in backquotes. A dot parts the fields of a record, since no name of a table or column holds one:
// address.city becomes `address`.`city`.
func quote(name string) string {
	return "`" + strings.ReplaceAll(escapes.Replace(name), ".", "`.`") + "`"
}

// quoteSchema writes a dataset with its project, if name has one.
func quoteSchema(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return "`" + escapes.Replace(name[:i]) + "`." + quote(name[i+1:])
	}
	return quote(name)
}

// Classify implements exec.Dialect.
func (Dialect) Classify(err error) error { return classify(err, "run") }

// Guard implements exec.Dialect. See the package comment for what the guard does.
func (Dialect) Guard(c exec.GuardConfig) (exec.Open, error) {
	s := &store{known: map[ref]seen{}, added: map[string]bool{}, strict: len(c.Policy.DenyColumns) > 0}
	for _, name := range c.Policy.AllowFunctions {
		s.added[strings.ToLower(strings.ReplaceAll(name, `"`, ""))] = true
	}
	return func(ctx context.Context, sc *sql.Conn, timeout time.Duration) (exec.GuardedConn, error) {
		g := &guarded{store: s, conn: sc, timeout: timeout, restricts: c.Policy.Restricts()}
		err := sc.Raw(func(dc any) error {
			if c.Unwrap != nil {
				dc = c.Unwrap(dc)
			}
			own, ok := dc.(*conn)
			if !ok {
				return &exec.UnguardedError{
					Reason: fmt.Sprintf("the driver connection %T is not that of this package", dc),
					Remedy: "open the pool with bigquery.Open",
				}
			}
			g.service = own.connector
			return nil
		})
		if err != nil {
			return exec.GuardedConn{}, err
		}
		version, err := g.Version(ctx)
		if err != nil {
			return exec.GuardedConn{}, err
		}
		return exec.GuardedConn{Conn: g, Place: "the datasets of the Config", Version: version}, nil
	}, nil
}

// SampleRows reads rows of a table by tabledata.list, which costs no money. Without Spread it reads the first rows.
// With Spread it reads a table with more than Rows rows in 20 places, one at random in each twentieth. For a view or
// an external table it reads the first rows with a query, which costs as much as reading all of it.
func (d Dialect) SampleRows(
	ctx context.Context, run func(ctx context.Context, sql string, rows int) (*result.Table, error), t schema.Table,
	o exec.SampleOptions,
) (exec.RowSample, error) {
	s := guard.NewSampled(t.TableName().Quoted(d.Language()), t, o, quote, func(kind, column string) string {
		if !strings.HasPrefix(kind, "STRING") && !strings.HasPrefix(kind, "BYTES") {
			return column
		}
		return fmt.Sprintf("LEFT(%s, %d)", column, o.Cut)
	})
	if t.Kind == "table" {
		s.Numbered = true
		s.Hint = func(start, rows int64) string {
			l := listing{Count: rows == 0, Start: int(start), Rows: int(rows)}
			if !l.Count {
				l.Columns, l.Cut = o.Columns, o.Cut
			}
			text, _ := json.Marshal(l) // nothing in it has no JSON
			return listingMark + string(text) + listingEnd
		}
	}
	return guard.SampleRows(ctx, run, s, o)
}
