package dialecttest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
)

// Packaged returns the text of a file that a package ships, by a path without the first slash, in a folder that the
// variable TEXTTOSQL_SCHEMAS names or in the root of the machine. The file may be compressed. Without it the test is
// skipped.
func Packaged(t testing.TB, path, pkg string) string {
	t.Helper()
	for _, root := range []string{os.Getenv("TEXTTOSQL_SCHEMAS"), "/"} {
		data, err := os.ReadFile(filepath.Join(root, path))
		if root == "" || err != nil {
			continue
		}
		if strings.HasSuffix(path, ".gz") {
			data = testutil.Value(io.ReadAll(testutil.Value(gzip.NewReader(bytes.NewReader(data)))(t)))(t)
		}
		return string(data)
	}
	t.Skipf("%s is in neither the folder that TEXTTOSQL_SCHEMAS names nor /: the package %s has it", path, pkg)
	return ""
}

// Shipped looks at a database as people have them, with at least so many tables, as the verbs doctor and schema do: its
// user and rights, and all of its tables in each form. It reads each table and each column as a prompt spells them.
func Shipped(t *testing.T, db *exec.DB, least int) {
	t.Helper()
	testutil.OK(t, db.Ready(t.Context()))
	all := testutil.Value(db.Schema(t.Context()))(t)
	known, left := all.Presentable()
	if left = append(left, all.LeftOut...); len(left) > 0 || len(known.Tables) < least {
		t.Errorf("%d tables, left out: %v, warnings: %v", len(known.Tables), left, db.Warnings())
	}
	columns := 0
	renderShipped(t, db, known)
	for i := range known.Tables {
		columns += len(known.Tables[i].Columns)
		readShipped(t, db, &known.Tables[i])
	}
	profiled, err := db.Profile(t.Context(), known, exec.ProfileOptions{})
	if err != nil {
		t.Errorf("the profile: %v", err)
	}
	renderShipped(t, db, profiled)
	t.Logf("%d tables with %d columns", len(known.Tables), columns)
}

// renderShipped writes a schema in each form, with the names as the verb schema and as prompts write them.
func renderShipped(t *testing.T, db *exec.DB, known *schema.Schema) {
	t.Helper()
	for _, names := range []schema.Quoter{db.Language(), db.Language().PromptQuoter()} {
		for _, form := range []schema.Form{schema.DDL, schema.Code, schema.MSchema} {
			text := testutil.Value(schema.Renderer{Form: form, Names: names}.Render(t.Context(), known))(t).Text
			for i := range known.Tables {
				if name := known.Tables[i].TableName().Quoted(names); !strings.Contains(text, name) {
					t.Errorf("%v does not have %s", form, name)
				}
			}
		}
	}
}

// readShipped reads a table as a prompt shows it: all of it, and each column.
func readShipped(t *testing.T, db *exec.DB, table *schema.Table) {
	t.Helper()
	names := db.Language().PromptQuoter()
	from := table.TableName().Quoted(names)
	var list []string
	for _, c := range table.Columns {
		name := names.Quote(c.Name)
		list = append(list, name)
		text := fmt.Sprintf("SELECT t.%[1]s FROM %[2]s t WHERE %[1]s IS NOT NULL AND t.%[1]s IS NOT NULL", name, from)
		if _, err := db.Query(t.Context(), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	star, err := db.Query(t.Context(), "SELECT * FROM "+from)
	if err != nil {
		t.Errorf("SELECT * FROM %s: %v", from, err)
		return
	}
	listed, err := db.Query(t.Context(), "SELECT "+strings.Join(list, ", ")+" FROM "+from)
	if err != nil {
		t.Errorf("the list of %s: %v", from, err)
		return
	}
	if fmt.Sprint(star.Columns) != fmt.Sprint(listed.Columns) || len(star.Rows) != len(listed.Rows) {
		t.Errorf("%s has the columns %v, and those of its schema are %v", from, star.Columns, listed.Columns)
	}
}
