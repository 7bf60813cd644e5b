package bigquery_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sqlc-dev/zetajones/parser"

	bq "github.com/texttosql/texttosql/exec/bigquery"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// reserved are the words that the page "Lexical structure and syntax in GoogleSQL" reserves, as of November 2026.
const reserved = `all and any array as asc assert_rows_modified at between by case cast collate contains create cross cube current default
define desc distinct else end enum escape except exclude exists extract false fetch following for from full group grouping
groups hash having if ignore in inner intersect interval into is join lateral left like limit lookup merge natural new no
not null nulls of on or order outer over partition preceding proto qualify range recursive respect right rollup rows select
set some struct tablesample then to treat true unbounded union unnest using when where window with within`

// others are keywords that GoogleSQL does not reserve, and types.
const others = `access add aggregate alter anonymize begin bool bytes char clone cluster column columns comment commit constraint data date
database datetime day delete drop export external first float64 format function generated geography go grant hidden hour
identity index insert int64 json key kind language last leaves leave load loop materialized minute model month name next
numeric offset only option options ordinal ordinality output pivot policies precision primary procedure proto_default quarter
raise range_bucket rank read rename repeat replace returns rollback row safe safe_cast schema second security share show
snapshot sql start status stored string system_time table target temp time timestamp transaction truncate type unique
unpivot until update user value values version view views week while work write year zone`

// TestNames: each word is read as a name where a prompt shows it, and the words that need quotes for that are those of
// the page.
func TestNames(t *testing.T) {
	l := bq.Dialect{}.Language()
	listed := strings.Fields(reserved)
	for word := range l.Keywords {
		if !slices.Contains(listed, word) {
			t.Errorf("%s is not reserved", word)
		}
	}
	names := append(strings.Fields(others), "Ab", "_a")
	for _, name := range names {
		if shown := l.PromptQuoter().Quote(name); shown != name {
			t.Errorf("%s is shown as %s", name, shown)
		}
	}
	names = append(append(names, listed...), "current_date", "session_user")
	for _, name := range append(names, dialecttest.OddNames...) {
		if strings.Contains(name, ".") { // a dot parts the fields of a record
			continue
		}
		const text = "SELECT {c}, t.{c}, max({c}) AS m FROM {c} AS t WHERE {c} IN ('own') AND NOT {c} IS NULL " +
			"GROUP BY {c}, t.{c} ORDER BY {c}"
		if _, err := parser.ParseStatement(strings.ReplaceAll(text, "{c}", l.PromptQuoter().Quote(name))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
