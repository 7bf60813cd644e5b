package dialecttest

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
)

// OddNames need quotes on every engine.
var OddNames = []string{"a b", "1a", "größe", `say "it"`, "a-b", "a.b", "a$"}

// Names makes a table with a column for each keyword, which query lists, and for each name of more. A table and its
// column have one name. It reads the column as a prompt shows it, from the server alone and through the guard.
func Names(t testing.TB, e exectest.Engine, query string, more ...string) {
	t.Helper()
	names := slices.Clone(more)
	if query != "" {
		keywords := sql.OpenDB(e.Open(t, "SELECT 1").User)
		defer keywords.Close()
		names = append(names, testutil.Value(dbtest.Texts(t.Context(), keywords, query))(t)...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	l := e.Dialect.Language()
	var script strings.Builder
	for _, name := range names {
		fmt.Fprintf(&script, "CREATE TABLE %[1]s(%[1]s VARCHAR(9));\nINSERT INTO %[1]s VALUES ('own');\n", l.Quote(name))
	}
	made := e.Open(t, script.String())
	// a guard rejects connections on which others ran something
	alone, pool := sql.OpenDB(made.User), sql.OpenDB(made.User)
	defer alone.Close()
	defer pool.Close()
	db := testutil.Value(exec.New(pool, e.Dialect, exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}}))(t)

	known, left := testutil.Value(db.Schema(t.Context()))(t).Presentable()
	for _, name := range names {
		if !slices.ContainsFunc(known.Tables, func(t schema.Table) bool { return t.Name == name }) {
			t.Errorf("%s is not shown; left out: %v", name, left)
		}
	}
	for i := range known.Tables {
		table := &known.Tables[i]
		if err := readAsShown(t, db, alone, table); err != nil {
			t.Errorf("%s: %v", table.Name, err)
		}
	}
}

// readAsShown reads the only column of a table by the text of a prompt.
func readAsShown(t testing.TB, db *exec.DB, alone *sql.DB, table *schema.Table) error {
	names := db.Language().PromptQuoter()
	text := strings.NewReplacer(
		"{c}", names.Quote(table.Columns[0].Name), "{t}", names.Quote(table.Name), "{from}", table.TableName().Quoted(names),
	).Replace(
		"SELECT {c}, {t}.{c} AS n, max({c}) AS m FROM {from} WHERE {c} IN ('own') AND NOT {c} IS NULL GROUP BY {c}, " +
			"{t}.{c} ORDER BY {c}")
	var cells [3]string
	if err := alone.QueryRowContext(t.Context(), text).Scan(&cells[0], &cells[1], &cells[2]); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	if got := fmt.Sprint(cells); got != "[own own own]" {
		return fmt.Errorf("%s: %s", text, got)
	}
	rows, err := db.Query(t.Context(), text)
	if err != nil {
		return fmt.Errorf("%s, guarded: %w", text, err)
	}
	if got := fmt.Sprint(rows.Rows); got != "[[own own own]]" {
		return fmt.Errorf("%s, guarded: %s", text, got)
	}
	return nil
}

// Quotes examines statements that lack quotes around names. A case is the statement, the one that runs in its place
// ("": it is rejected), the rule of the finding about names ("": there is none), and a reason.
func Quotes(t testing.TB, db *exec.DB, cases [][4]string) {
	t.Helper()
	for _, c := range cases {
		text, want, wantRule, why := c[0], c[1], c[2], c[3]
		checked, err := db.Examine(t.Context(), text)
		rule := ""
		for _, f := range checked.Findings {
			if f.Rule == checks.Quoted || f.Rule == checks.Odd+"bare-function" {
				rule = f.Rule
			}
		}
		if ran := map[bool]string{true: checked.SQL}[err == nil]; ran != want || rule != wantRule {
			t.Errorf("%s: %s\nran  %s (%s), %v\nwant %s (%s)", why, text, ran, rule, err, want, wantRule)
		}
	}
}
