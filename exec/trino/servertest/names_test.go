package servertest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
)

// keywords are those of the grammar of Trino 435, which has no table of them.
const keywords = `absent add admin after all alter analyze and any array as asc at authorization begin bernoulli between both by call
called cascade case cast catalog catalogs column columns comment commit committed conditional constraint copartition
count create cross cube current current_catalog current_date current_path current_role current_schema current_time
current_timestamp current_user data date day deallocate declare default define definer delete deny desc describe
descriptor deterministic distinct distributed do double drop else elseif empty encoding end error escape except
excluding execute exists explain extract false fetch filter final first following for format from full function
functions grace grant granted grants graphviz group grouping groups having hour if ignore immediate in including
initial inner input insert intersect interval into invoker io is isolation iterate join json json_array json_exists
json_object json_query json_table json_value keep key keys language last lateral leading leave left level like limit
listagg local localtime localtimestamp logical loop map match match_recognize matched matches materialized measures
merge minute month natural nested next nfc nfd nfkc nfkd no none normalize not null nullif nulls object of offset omit
on one only option or order ordinality outer output over overflow partition partitions passing past path pattern per
period permute plan position preceding precision prepare privileges properties prune quotes range read recursive
refresh rename repeat repeatable replace reset respect restrict return returning returns revoke right role roles
rollback rollup row rows running scalar schema schemas second security seek select serializable session set sets show
skip some start stats string subset substring system table tables tablesample text then ties time timestamp to
trailing transaction trim true truncate try_cast type uescape unbounded uncommitted unconditional union unique unknown
unmatched unnest until update use user using utf16 utf32 utf8 validate value values verbose version view when where
while window with within without work wrapper write year zone`

// TestNames: see dialecttest.Names. It makes a table of each word that Trino reserves, which takes minutes. The
// connector memory has no name in capital letters, and one with a dollar is a table of its own to Trino.
func TestNames(t *testing.T) {
	if os.Getenv("TEXTTOSQL_EVERY_WAY") == "" {
		t.Skip("TEXTTOSQL_EVERY_WAY is not set: TestAllNames reads the same words as columns")
	}
	names := append([]string{"_a", "id", "localtime", "current_user", "date", "user"}, dialecttest.OddNames...)
	for word := range strings.FieldsSeq(keywords) {
		if (trino.Dialect{}).Language().Keywords[word] {
			names = append(names, word)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "$") })
	dialecttest.Names(t, engine(t, "admin"), "", names...)
}

// TestAllNames reads a column of each keyword as a prompt shows it, by one statement.
func TestAllNames(t *testing.T) {
	names := strings.Fields(keywords)
	quoter := trino.Dialect{}.Language().PromptQuoter()
	var shown, quoted, values []string
	for i, name := range names {
		shown, quoted, values = append(shown, quoter.Quote(name)), append(quoted, `"`+name+`"`), append(values, fmt.Sprint(i))
	}
	text := fmt.Sprintf("SELECT %s FROM (VALUES (%s)) AS t(%s)", strings.Join(shown, ", "), strings.Join(values, ", "),
		strings.Join(quoted, ", "))
	got := testutil.Value(dbtest.Texts(t.Context(), pool(t, "admin", open(t, "")), text))(t)
	golden.Equal(t, []string{strings.Join(values, " ")}, got)
}
