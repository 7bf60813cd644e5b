package engines_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// quotedNames are a table and its columns, as each engine needs them in quotes.
var quotedNames = map[string][]string{
	"postgres": {`"Invoices"`, `"dueDate"`, `"fetch"`, `"localtime"`},
	"mariadb":  {"`outfile`", "`interval`", "`usage`", "`zerofill`"},
}

// TestBareNamesOnServers: a reply without the quotes that names need is repaired without a call, and a hint quotes the
// name.
func TestBareNamesOnServers(t *testing.T) {
	for _, c := range []struct{ engine, script, bare, want, typo, hint string }{
		{
			"postgres", `CREATE TABLE "Invoices"("Id" int, "dueDate" date); INSERT INTO "Invoices" VALUES (7, '2024-05-01')`,
			"SELECT i.Id FROM Invoices i WHERE i.dueDate > DATE '2024-01-01'",
			`SELECT i."Id" FROM "Invoices" i WHERE i."dueDate" > DATE '2024-01-01'`,
			`SELECT dueDat FROM "Invoices"`, `Did you mean "dueDate"?`,
		},
		{
			"mariadb", "CREATE TABLE `condition`(`interval` int, `lines` int); INSERT INTO `condition` VALUES (7, 2)",
			"SELECT interval FROM condition WHERE lines > 1", "SELECT `interval` FROM `condition` WHERE `lines` > 1",
			"SELECT intervl FROM `condition`", "Did you mean `interval`?",
		},
	} {
		t.Run(c.engine, func(t *testing.T) {
			r := remotes[c.engine]
			model := &strategytest.Pupil{Statements: []string{c.bare}}
			e := testutil.Value(texttosql.New(r.open(t, c.script), model, texttosql.WithDialect(r.dialect),
				texttosql.WithStrategy(strategy.Direct{})))(t)
			res := testutil.Value(e.Ask(t.Context(), "Which one?"))(t)
			if diff := cmp.Diff([][]any{{int64(7)}}, res.Rows.Rows); diff != "" || res.SQL != c.want ||
				len(model.Requests) != 1 {
				t.Errorf("after %d calls: %s\n%s", len(model.Requests), res.SQL, diff)
			}
			told := false
			for s := range res.Trace.All() {
				told = told || slices.ContainsFunc(s.Events(), func(e trace.Event) bool { return e.Name == checks.Quoted })
			}
			if !told {
				t.Error("the trace has no event about the quotes")
			}
			if _, err := e.Query(t.Context(), c.typo); err == nil || !strings.Contains(err.Error(), c.hint) {
				t.Errorf("%s: %v, want %s", c.typo, err, c.hint)
			}
		})
	}
}

// TestPromptsQuoteNamesOnServers: no prompt of any preset shows a name without the quotes that it needs.
func TestPromptsQuoteNamesOnServers(t *testing.T) {
	onServers(t, func(t *testing.T, r remote) {
		names := quotedNames[map[string]string{"pgx": "postgres", "mysql": "mariadb"}[r.driver]]
		pool := r.open(t, strings.NewReplacer("T", names[0], "A", names[1], "B", names[2], "C", names[3]).Replace(
			`create table T (A varchar(20), B varchar(20), C integer); insert into T values ('one', 'two', 3), ('four', 'five', 6);`))
		answer := "SELECT " + names[1] + " FROM " + names[0] + " WHERE " + names[3] + " > 4"
		var bare []*regexp.Regexp
		for _, name := range names {
			bare = append(bare, regexp.MustCompile("(?m)(?:^|[^`\"\\w])"+name[1:len(name)-1]+"(?:$|[^`\"\\w])"))
		}
		for _, name := range slices.Sorted(maps.Keys(presets)) {
			scope := "Tables: " + names[0] + "\nJoins: none"
			model := &strategytest.Pupil{Statements: []string{"SELECT nosuch FROM " + names[0], answer}, Scopes: []string{scope}}
			e := testutil.Value(texttosql.New(pool, model, texttosql.WithDialect(r.dialect),
				texttosql.WithStrategy(presets[name])))(t)
			_, _ = e.Ask(t.Context(), "Which one has more than 4?") // a preset that repairs nothing has no answer
			for _, req := range model.Requests {
				said := strategytest.Written(req.Messages)
				for i, re := range bare {
					if at := re.FindStringIndex(said); at != nil {
						t.Errorf("%s, %s: a prompt shows %s as …%s…", name, req.Purpose, names[i],
							said[max(0, at[0]-60):min(len(said), at[1]+60)])
					}
				}
			}
		}
	})
}
