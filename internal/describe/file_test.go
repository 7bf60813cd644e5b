package describe_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/describe"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// TestDescribeEdited: what a person wrote stays, and what is deleted is asked about.
func TestDescribeEdited(t *testing.T) {
	db := dbOf(t, strategytest.ShopSQL, exec.Policy{})
	for _, tc := range []struct {
		why, old, new string
		asked, want   []string // want: of orders
	}{
		{"edited in place", "What total means.", "In euros.", nil,
			[]string{"orders.customer_id: What customer_id means.", "orders.id: What id means.", "orders.total: [In euros.]"}},
		{"a text beside it", `"described": "What total`, `"text": "In euros.", "described": "What total`, nil,
			[]string{"orders.customer_id: What customer_id means.", "orders.id: What id means.",
				"orders.total: What total means.", "orders.total: [In euros.]"}},
		{"emptied", `"What total means."`, `""`, []string{"orders: total"},
			[]string{"orders.customer_id: What customer_id means.", "orders.id: What id means.",
				"orders.total: What total means."}},
		{"another case", `"orders.total"`, `"Orders.TOTAL"`, nil,
			[]string{"Orders.TOTAL: What total means.", "orders.customer_id: What customer_id means.",
				"orders.id: What id means."}},
		{"a name that is not there", `"orders.total"`, `"orders.turnover"`, []string{"orders: total"},
			[]string{"orders.customer_id: What customer_id means.", "orders.id: What id means.",
				"orders.total: What total means.", "orders.turnover: What total means."}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			model := &writer{}
			c := describe.Columns{Model: model, File: filepath.Join(t.TempDir(), "d.json")}
			run(t, c, db, nil)
			model.take()
			edit(t, c.File, tc.old, tc.new)
			for again := range 2 { // the second time nothing is left to ask
				f := run(t, c, db, nil)
				got := slices.DeleteFunc(texts(f), func(s string) bool { return !strings.HasPrefix(schema.FoldCase(s), "orders.") })
				golden.Equal(t, tc.want, got)
				if asked := model.take(); again == 0 && !slices.Equal(asked, tc.asked) || again == 1 && len(asked) > 0 {
					t.Errorf("run %d asked %q, want %q", again, asked, tc.asked)
				}
			}
		})
	}
}

// TestDescribeEditedMeanwhile: a person saves the file while a model is asked.
func TestDescribeEditedMeanwhile(t *testing.T) {
	db := dbOf(t, strategytest.ShopSQL, exec.Policy{})
	for _, tc := range []struct {
		why, text string
		want      []string
		err       bool
	}{
		{"a text of a column that is being asked about",
			`{"descriptions": {"orders.total": {"text": "In euros.", "title": "turnover"}}}`,
			[]string{"orders.customer_id: What customer_id means.", "orders.id: What id means.", "orders.total: [In euros.]"},
			false},
		{"a slip of the pen", `{"descriptions": {"orders.total": {"text": "In euros.",}}}`, nil, true},
	} {
		model := &writer{}
		c := describe.Columns{Model: model, File: filepath.Join(t.TempDir(), "d.json")}
		model.reply = func(_ int, table string, columns []string) (string, error) {
			if table == "orders" {
				return sentences(columns...), os.WriteFile(c.File, []byte(tc.text), 0o600)
			}
			return sentences(columns...), nil
		}
		f, err := c.Describe(t.Context(), db, nil)
		after, fault := os.ReadFile(c.File)
		if tc.err {
			if !errors.As(err, new(*describe.FileError)) || string(after) != tc.text {
				t.Errorf("%s: %v, the file is\n%s", tc.why, err, after)
			}
			continue
		}
		if diff := cmp.Diff(tc.want, texts(f)); diff != "" || err != nil || fault != nil ||
			!strings.Contains(string(after), "turnover") {
			t.Errorf("%s: %v %v\n%s", tc.why, err, fault, diff)
		}
	}
}

// TestDescribeChangedSchema asks about what is new or changed, and takes nothing away.
func TestDescribeChangedSchema(t *testing.T) {
	model := &writer{}
	c := describe.Columns{Model: llm.Named("m", model), File: filepath.Join(t.TempDir(), "d.json")}
	run(t, c, dbOf(t, "CREATE TABLE same (a); CREATE TABLE other (b TEXT, c); CREATE TABLE gone (d);", exec.Policy{}), nil)
	edit(t, c.File, "What c means.", "Mine.")
	edit(t, c.File, "What d means.", "Mine too.")
	model.take()
	root := trace.Tracer{}.New("test")
	c.Model = llm.Named("m2", model)
	changed := dbOf(t, "CREATE TABLE same (a); CREATE TABLE other (b INTEGER, c); CREATE TABLE added (e);", exec.Policy{})
	f := testutil.Value(c.Describe(trace.NewContext(t.Context(), root), changed, nil))(t)
	golden.Equal(t, []string{"other: b", "added: e"}, model.take(), "asked")
	want := []string{"added.e: What e means.", "gone.d: [Mine too.]", "other.b: What b means.", "other.c: [Mine.]",
		"same.a: What a means."}
	golden.Equal(t, want, texts(f))
	golden.Equal(t, []string{
		"the file was written for another schema: what it has stays, and what is new or changed is asked",
		`the file has descriptions by model "m" and version 1 of the prompt, which stay`,
		`the schema does not have 1 names of the file: ["gone.d"]`,
	}, f.Notes, "notes")
	if warned := root.Warnings(); len(warned) != 3 || warned[0].Code != "descriptions" {
		t.Errorf("warnings %v", warned)
	}
}

// TestDescribeFiles that cannot be used: no model is asked, and the file stays as it is.
func TestDescribeFiles(t *testing.T) {
	db := dbOf(t, strategytest.ShopSQL, exec.Policy{})
	const person = `{"descriptions": {"orders.total": {"text": "In euros."}}}`
	for _, tc := range []struct {
		why, text string
		mode      os.FileMode
		path      func(path string) string // nil: the file itself
		want      string
	}{
		{"torn", person[:20], 0o600, nil, "the JSON ends in the middle: mend the file, or delete it"},
		{"something else", `{"name": "x"}`, 0o600, nil, "mend the file, or delete it"},
		{"CSV", "table,column,description\norders,total,in euros\n", 0o600, nil,
			"it is no JSON, and would be written over: choose another file"},
		{"read-only", person, 0o400, nil, "it is read-only: choose another file, or make this one writable"},
		{"a folder", person, 0o600, filepath.Dir, "is a directory: choose another file"},
		{"a folder that is not there", person, 0o600, func(path string) string { return filepath.Join(path+"s", "d.json") },
			"no such file or directory: choose another"},
	} {
		path := filepath.Join(t.TempDir(), "d.json")
		testutil.OK(t, os.WriteFile(path, []byte(tc.text), tc.mode))
		model := &writer{}
		c := describe.Columns{Model: model, File: path}
		if tc.path != nil {
			c.File = tc.path(path)
		}
		_, err := c.Describe(t.Context(), db, nil)
		var typed *describe.FileError
		if !errors.As(err, &typed) || typed.File != c.File || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.why, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != tc.text || len(model.take()) > 0 {
			t.Errorf("%s: %v; the file is\n%s", tc.why, err, after)
		}
	}
}

// TestDescribeReadsTheFileFirst: a file that cannot be used is told of before the database is asked.
func TestDescribeReadsTheFileFirst(t *testing.T) {
	pool := strategytest.PoolOf(t, strategytest.ShopSQL)
	db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{}))(t)
	testutil.OK(t, pool.Close())
	c := describe.Columns{Model: &writer{}, File: filepath.Join(t.TempDir(), "d.json")}
	testutil.OK(t, os.WriteFile(c.File, []byte("{"), 0o600))
	if _, err := c.Describe(t.Context(), db, nil); !errors.As(err, new(*describe.FileError)) {
		t.Errorf("%v", err)
	}
}

// TestDescribeKeepsModeAndLink: the file is replaced where it is, with the rights it has.
func TestDescribeKeepsModeAndLink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "d.json"), filepath.Join(dir, "link.json")
	testutil.OK(t, errors.Join(os.WriteFile(file, nil, 0o640), os.Chmod(file, 0o640), os.Symlink(file, link)))
	f := run(t, describe.Columns{Model: &writer{}, File: link}, dbOf(t, strategytest.ShopSQL, exec.Policy{}), nil)
	golden.Equal(t, []string{"the file is empty"}, f.Notes)
	at, err := os.Lstat(link)
	info, err2 := os.Stat(file)
	if err != nil || err2 != nil || at.Mode()&os.ModeSymlink == 0 || info.Mode().Perm() != 0o640 || info.Size() == 0 {
		t.Errorf("%v %v %v %v", at, info, err, err2)
	}
}

// TestDescribeWithoutFile keeps nothing.
func TestDescribeWithoutFile(t *testing.T) {
	f := run(t, describe.Columns{Model: &writer{}, WithoutValues: true}, dbOf(t, strategytest.ShopSQL, exec.Policy{}), nil)
	if len(f.Descriptions) != 6 {
		t.Errorf("%q", texts(f))
	}
	if _, err := (describe.Columns{}).Describe(t.Context(), nil, nil); err == nil {
		t.Error("no model and no database")
	}
}
