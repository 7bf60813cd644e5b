package eval_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/schema"
)

func TestReadBIRD(t *testing.T) {
	const head = "original_column_name,column_name,column_description,data_format,value_description\n"
	for _, tc := range []struct {
		why, name, text string
		want            schema.Descriptions
		err             string
	}{
		{"plain", "t.csv", head + "id,,the id,integer,\nseg,segment,,text,S: small\n",
			schema.Descriptions{"t.id": {Text: "the id"}, "t.seg": {Title: "segment", Values: "S: small"}}, ""},
		{"byte order mark", "t.csv", "\ufeff" + head + "id,,the id,,\n", schema.Descriptions{"t.id": {Text: "the id"}}, ""},
		{"Windows-1252 bytes among UTF-8", "t.csv", head + "a,,caf\xe9 \x96 caf\u00e9 \x81,,\n",
			schema.Descriptions{"t.a": {Text: "café – café"}}, ""},
		{"headers in another order, case and spelling", "t.csv",
			"Value Description , column description,,Original_Column_Name\nv, d ,x,a\n",
			schema.Descriptions{"t.a": {Text: "d", Values: "v"}}, ""},
		{"readable names only", "t.csv", "column_name,column_description\na,d\n",
			schema.Descriptions{"t.a": {Title: "a", Text: "d"}}, ""},
		{"several lines in one field", "t.csv", head + "a,,\"one\ntwo\",,\r\nb,,x,,\r\n",
			schema.Descriptions{"t.a": {Text: "one\ntwo"}, "t.b": {Text: "x"}}, ""},
		{
			"quotes where none should be", "t.csv", head + "a,,the \"real\" one,,\nb,,x,,\n",
			schema.Descriptions{"t.a": {Text: `the "real" one`}, "t.b": {Text: "x"}}, "",
		},
		{
			"short and long lines, blank lines, blank names", "t.csv", head + "a,,x\n\n,,lost,,\n b ,,y,,,,,\nc\n",
			schema.Descriptions{"t.a": {Text: "x"}, "t.b": {Text: "y"}}, "",
		},
		{"NUL bytes", "t.csv", head + "a,,x\x00y,,\n", schema.Descriptions{"t.a": {Text: "xy"}}, ""},
		{"names of tables keep blanks, case and dots", "Order Details.v2.CSV", head + "a,,x,,\n",
			schema.Descriptions{"Order Details.v2.a": {Text: "x"}}, ""},
		{"no header", "t.csv", "id,the id\n", schema.Descriptions{}, "t.csv: no header original_column_name"},
		{"empty file", "t.csv", "", schema.Descriptions{}, "t.csv: empty file"},
		{"other files", "README.md", "# hello", schema.Descriptions{}, ""},
		{"what macOS leaves behind", "._t.csv", "\x00\x05\x16\x07", schema.Descriptions{}, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got, err := eval.ReadBIRD(fstest.MapFS{tc.name: {Data: []byte(tc.text)}, "folder.csv/x.txt": {}})
			golden.Equal(t, tc.want, got)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
		})
	}
}

func TestReadBIRDErrors(t *testing.T) {
	got, err := eval.ReadBIRD(fstest.MapFS{
		"a.csv": {Data: []byte("nothing")},
		"b.csv": {Data: []byte("original_column_name,column_description\nid,the id\n")},
		"c.csv": {Data: []byte(strings.Repeat("x", 9<<20))},
	})
	if err == nil || !strings.Contains(err.Error(), "a.csv") || !strings.Contains(err.Error(), "c.csv: larger") {
		t.Errorf("every bad file is named: %v", err)
	}
	golden.Equal(t, schema.Descriptions{"b.id": {Text: "the id"}}, got, "good files count all the same")
	if _, err := eval.ReadBIRD(os.DirFS(filepath.Join(t.TempDir(), "gone"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// FuzzReadBIRD: any bytes give valid UTF-8 or an error, and never a panic.
func FuzzReadBIRD(f *testing.F) {
	f.Add([]byte("original_column_name,column_name,column_description,data_format,value_description\n" +
		"id,,\"the\nid\",integer,\n"))
	f.Add([]byte("\ufefforiginal_column_name\n\"a\n"))
	f.Add([]byte("column_name,\xe9\n\x00,\"\"\"\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := eval.ReadBIRD(fstest.MapFS{"t.csv": {Data: raw}})
		if d == nil {
			t.Fatalf("no map, error %v", err)
		}
		for name, text := range d {
			if !strings.HasPrefix(name, "t.") || len(name) == 2 || text == (schema.Description{}) {
				t.Errorf("%q: %+v", name, text)
			}
			for _, s := range []string{name, text.Title, text.Text, text.Values} {
				if !utf8.ValidString(s) || strings.Contains(s, "\x00") || s != strings.TrimSpace(s) {
					t.Errorf("%q", s)
				}
			}
		}
	})
}

func ExampleReadBIRD() {
	fsys := fstest.MapFS{"books.csv": {Data: []byte(
		"original_column_name,column_name,column_description,data_format,value_description\n" +
			"st,state,whether the book is here,text,\"L: lent\nH: here\"\n")}}
	d, err := eval.ReadBIRD(fsys) // os.DirFS("dev_databases/library/database_description")
	st := d["books.st"]
	fmt.Printf("%s: %s\n%s\n%v\n", st.Title, st.Text, st.Values, err)
	// Output:
	// state: whether the book is here
	// L: lent
	// H: here
	// <nil>
}
