package trino

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is the Trino dialect for exec.New and texttosql.WithDialect. The zero Dialect reads all schemas of the
// catalog that the DSN names, through github.com/trinodb/trino-go-client.
//
// A Dialect is safe for concurrent use.
type Dialect struct {
	// Catalogs are further catalogs whose tables may be read. One question may use tables of several catalogs. In these
	// catalogs the schema of a table is "catalog.schema", also in a [exec.Policy].
	Catalogs []string
	// AsUser has each statement run as the user in exec.Scope.Settings, {"user": "alice"}, by X-Trino-User. The
	// server's own rules about tables, columns and rows then decide what it reads. Each user has a separate schema, and
	// without a scope no statement runs. The rules must let the user of the DSN, and nobody else, impersonate these
	// users.
	AsUser bool
	// FlatRate reports that a statement has no price, as on your own cluster. Then further statements run to find
	// contradictions and the state of the rows; docs/confidence.md describes both.
	FlatRate bool

	user string // the user who runs statements; "": the user of the DSN
}

var (
	_ exec.Dialect              = Dialect{}
	_ exec.Sampler              = Dialect{}
	_ exec.ImpersonatingDialect = Dialect{}
)

var language = exec.Language{
	Name: "trino", Title: "Trino", Text: sqltext.Trino(), QuoteSchemaName: quoteSchema,
	Keywords: reserved, BareFunctions: bareFunctions,
	Dates:   "Today is current_date. All moments of a day are c >= DATE '2024-04-30' AND c < DATE '2024-05-01'.",
	Instead: instead,
	Drivers: []string{"github.com/trinodb/trino-go-client/trino"},
}

// reserved are the words that Trino calls reserved.
var reserved = guard.Set(`alter and as auto between by case cast constraint create cross cube current_catalog current_date current_path
current_role current_schema current_time current_timestamp current_user deallocate delete describe distinct drop else
end escape except execute exists extract false for from full group grouping having in inner insert intersect into is
join json_array json_exists json_object json_query json_table json_value left like listagg localtime localtimestamp
natural normalize not null on or order outer prepare recursive right rollup select skip table then trim true uescape
union unnest using values when where with`)

// bareFunctions are described at exec.Language.
var bareFunctions = guard.Set(`current_catalog current_date current_path current_role current_schema current_time current_timestamp current_user localtime
localtimestamp`)

// Language returns Trino's name and its lexing rules. Trino ignores the case of names, even in quotes. In the schema of
// a table, the part before the first dot is a catalog.
func (d Dialect) Language() exec.Language {
	l := language
	l.BillsScans = !d.FlatRate
	return l
}

// quote writes a name in double quotes.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteSchema(name string) string {
	if catalog, schema, ok := strings.Cut(name, "."); ok {
		return quote(catalog) + "." + quote(schema)
	}
	return quote(name)
}

// literal writes a string.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// As implements exec.ImpersonatingDialect. It returns the dialect for one user.
func (d Dialect) As(settings map[string]string) (exec.Dialect, error) {
	switch user := settings["user"]; {
	case !d.AsUser && len(settings) > 0:
		return nil, guard.Refuse("scope", "Trino takes settings of a scope where Dialect.AsUser is set")
	case !d.AsUser:
		return d, nil
	case user == "" || len(settings) > 1 || strings.ContainsFunc(user, unicode.IsControl):
		return nil, guard.Refuse("scope", "the scope has to have one setting, \"user\": the user as whom Trino is asked")
	default:
		d.user = user
		return d, nil
	}
}

// identity are the arguments that say as whom a statement runs.
func (d Dialect) identity() []any {
	if d.user == "" {
		return nil
	}
	return []any{sql.Named(userHeader, d.user)}
}

// Guard returns the guard of a DB. See the package comment for what it does.
func (d Dialect) Guard(c exec.GuardConfig) (exec.Open, error) {
	c.Policy.Reveal = []string{"*"} // what only looks like a secret, exec refuses by its name alone
	g := &pool{dialect: d, config: c}
	return g.open, nil
}

// Classify gives an error of a statement its type.
func (Dialect) Classify(err error) error { return classify(err) }

// catalogs returns the catalog of the connection, and then the others that the dialect reads, each once.
func (d Dialect) catalogs(own string) []string {
	out := []string{own}
	for _, name := range d.Catalogs {
		if !strings.EqualFold(name, own) {
			out = append(out, strings.ToLower(name))
		}
	}
	return out
}

// prefix is how many rows of a table a sample is chosen from.
const prefix = 100_000

// SampleRows reads rows of t from the first 100,000 that the engine returns. They are the first in the order of
// o.Columns, or, with Spread, in the order of a hash of the row and the seed. So for a table with fewer rows the sample
// is always the same. For a longer table, the first rows depend on the nodes that read it, so the sample may change.
// Trino has no keys and no repeatable TABLESAMPLE, and any other way would read the whole table.
func (Dialect) SampleRows(
	ctx context.Context, run func(ctx context.Context, sql string, rows int) (*result.Table, error), t schema.Table,
	o exec.SampleOptions,
) (exec.RowSample, error) {
	name := t.TableName().Quoted(language)
	s := guard.NewSampled(name, t, o, quote, func(kind, column string) string {
		if kind, _, _ = strings.Cut(kind, "("); kind != "varchar" && kind != "char" && kind != "varbinary" {
			return column
		}
		return fmt.Sprintf("substr(%s, 1, %d)", column, o.Cut)
	})
	var inner, order, hashed []string
	for _, column := range o.Columns {
		inner = append(inner, quote(column))
		kind := ""
		if c, ok := t.Column(column); ok {
			kind, _, _ = strings.Cut(c.Type, "(")
		}
		if unordered[kind] || strings.HasPrefix(kind, "interval ") {
			continue
		}
		order = append(order, "t."+quote(column))
		if kind != "varbinary" {
			hashed = append(hashed, "CAST(t."+quote(column)+" AS varchar)")
		}
	}
	s.From = fmt.Sprintf("(SELECT %s FROM %s LIMIT %d) AS t", strings.Join(inner, ", "), name, prefix)
	if len(order) > 0 {
		s.Order = " ORDER BY " + strings.Join(order, ", ")
	}
	if len(hashed) > 0 {
		s.Spread = func(ctx context.Context, _ exec.RowSample) ([][]any, error) {
			hash := fmt.Sprintf("xxhash64(to_utf8(concat_ws('|', '%d', %s)))", o.Seed, strings.Join(hashed, ", "))
			order := strings.Join(append([]string{hash}, order...), ", ")
			rows, err := run(ctx, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s LIMIT %d", s.List, s.From, order, o.Rows), o.Rows)
			if err != nil {
				return nil, err
			}
			return rows.Rows, nil
		}
	}
	return guard.SampleRows(ctx, run, s, o)
}

// unordered are the types whose values may have no order, or no text.
var unordered = guard.Set(`array map row json hyperloglog p4hyperloglog tdigest qdigest setdigest geometry sphericalgeography
	unknown function color`)
