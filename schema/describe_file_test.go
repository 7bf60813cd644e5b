package schema_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
)

// written is f as DescriptionFile.Write writes it.
func written(tb testing.TB, f schema.DescriptionFile) string {
	tb.Helper()
	var b bytes.Buffer
	testutil.OK(tb, f.Write(&b))
	return b.String()
}

// described is a file that a model wrote two entries of.
func described() schema.DescriptionFile {
	return schema.DescriptionFile{
		Schema: "0123abcd", Model: "m", Prompt: 1,
		Descriptions: schema.Descriptions{
			"orders":        {Text: "one order a row"},
			"orders.total":  {Title: "turnover", Text: "in euros", Values: "0: free"},
			"orders.status": {Described: "How far the order <has> come."},
		},
		Failed: map[string]string{"orders.x1": "the reply has no sentence for it"},
		Tables: map[string]string{"orders": "4567"},
	}
}

func TestDescriptionsComeBack(t *testing.T) {
	want := described()
	first := written(t, want)
	got := testutil.Value(schema.ReadDescriptions(strings.NewReader(first)))(t)
	golden.Equal(t, want, got)
	if again := written(t, got); again != first {
		t.Errorf("other bytes:\n%s\n%s", first, again)
	}
	if strings.Index(first, `"orders.status"`) > strings.Index(first, `"orders.total"`) ||
		!strings.Contains(first, "<has>") {
		t.Errorf("entries are sorted, and nothing is escaped that a person would read:\n%s", first)
	}
}

// TestDescriptionsEdited: a text that a person touched is theirs.
func TestDescriptionsEdited(t *testing.T) {
	const status = "orders.status"
	for _, tc := range []struct {
		why, old, new string
		want          schema.Description
		failed        string // of orders.x1
	}{
		{"as it was", "", "", schema.Description{Described: "How far the order <has> come."},
			"the reply has no sentence for it"},
		{"edited in place", "How far", "How  far", schema.Description{Text: "How  far the order <has> come."},
			"the reply has no sentence for it"},
		{"a mark that is gone", `"by_model": `, `"values": `,
			schema.Description{Text: "How far the order <has> come.", Values: "4c3485dd"}, "the reply has no sentence for it"},
		{"emptied", `"How far the order <has> come."`, `""`, schema.Description{}, "the reply has no sentence for it"},
		{"white space around it", `"How far the order <has> come."`, `" How far the order <has> come. "`,
			schema.Description{Described: "How far the order <has> come."}, "the reply has no sentence for it"},
		{"edited beside a person's", `"described": "How`, `"text": "mine", "described": "Oh, how`,
			schema.Description{Text: "mine\nOh, how far the order <has> come."}, "the reply has no sentence for it"},
		{"a text for what failed", `"failed": `, `"text": "a flag", "failed": `,
			schema.Description{Described: "How far the order <has> come."}, ""},
	} {
		text := written(t, described())
		if tc.old != "" && !strings.Contains(text, tc.old) {
			t.Fatalf("%s: no %s in\n%s", tc.why, tc.old, text)
		}
		f := testutil.Value(schema.ReadDescriptions(strings.NewReader(strings.Replace(text, tc.old, tc.new, 1))))(t, tc.why)
		if diff := cmp.Diff(tc.want, f.Descriptions[status]); diff != "" || f.Failed["orders.x1"] != tc.failed {
			t.Errorf("%s, failed %q (-want +got):\n%s", tc.why, f.Failed["orders.x1"], diff)
		}
	}
}

// TestDescriptionsOfAnyEditor: an editor that writes another encoding makes no text a person's.
func TestDescriptionsOfAnyEditor(t *testing.T) {
	want := schema.Descriptions{"t.a": {Described: "Preis in €, brutto für Käufer."}}
	text := written(t, schema.DescriptionFile{Descriptions: want})
	for why, edited := range map[string]string{
		"a byte order mark": "\uFEFF" + text,
		"CR LF":             strings.ReplaceAll(text, "\n", "\r\n"),
		"Windows-1252":      strings.NewReplacer("€", "\x80", "ü", "\xfc", "ä", "\xe4").Replace(text),
		"no indentation":    strings.Join(strings.Fields(text), " "),
	} {
		f, err := schema.ReadDescriptions(strings.NewReader(edited))
		if diff := cmp.Diff(want, f.Descriptions); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", why, err, diff)
		}
	}
}

func TestDescriptionsThatAreNone(t *testing.T) {
	whole := written(t, described())
	for _, tc := range []struct{ why, text, want string }{
		{"torn", whole[:len(whole)/2], "the JSON ends in the middle"},
		{"torn before its last bracket", strings.TrimSuffix(whole, "}\n"), "the JSON ends in the middle"},
		{"a comma that is missing", strings.Replace(whole, `one order a row"`, `one order a row" "values": "x"`, 1),
			"line 9: invalid character '\"'"},
		{"a key with a slip of the pen", strings.Replace(whole, `"title"`, `"titel"`, 1), `unknown field "titel"`},
		{"a list where a text belongs", strings.Replace(whole, `"in euros"`, `["in euros"]`, 1), "cannot unmarshal array"},
		{"two files in one", whole + whole, "something stands behind the JSON"},
		{"other JSON", `{}`, `without "descriptions"`},
		{"other JSON with keys", `{"name": "shop"}`, `unknown field "name"`},
		{"of a later version", strings.NewReplacer(`"version": 1`, `"version": 2`, `"title"`, `"later"`).Replace(whole),
			"version 2, and this texttosql reads version 1"},
		{"too large", "{" + strings.Repeat(" ", 64<<20), "larger than"},
	} {
		_, err := schema.ReadDescriptions(strings.NewReader(tc.text))
		var typed *fileerr.Descriptions
		if !errors.As(err, &typed) || !strings.Contains(err.Error(), tc.want) ||
			!strings.Contains(err.Error(), "mend the file, or delete it") {
			t.Errorf("%s: %v", tc.why, err)
		}
	}
}

func TestDescriptionsFromCSV(t *testing.T) {
	const head = "table,column,readable_name,description,values\n"
	for _, tc := range []struct {
		why, text string
		want      schema.Descriptions
		notes     []string
	}{
		{"plain", head + "orders,total,turnover,in euros,0: free\norders,,,one order a row,\n",
			schema.Descriptions{"orders.total": {Title: "turnover", Text: "in euros", Values: "0: free"},
				"orders": {Text: "one order a row"}}, nil},
		{"a byte order mark", "\uFEFF" + head + "t,a,,x,\n", schema.Descriptions{"t.a": {Text: "x"}},
			[]string{"a byte order mark was dropped"}},
		{"CR LF", strings.ReplaceAll(head+"t,a,,x,\n", "\n", "\r\n"), schema.Descriptions{"t.a": {Text: "x"}},
			[]string{"its lines end in CR LF"}},
		{"Latin-1", head + "t,a,,caf\xe9 \x80,\n", schema.Descriptions{"t.a": {Text: "café €"}},
			[]string{"2 bytes are not UTF-8 and were read as Windows-1252"}},
		{"a column that is missing", "table,column,description\nt,a,x\n", schema.Descriptions{"t.a": {Text: "x"}},
			[]string{"the first line names no column readable_name", "the first line names no column values"}},
		{"too many fields, and too few", head + "t,a,,x,,,\nt,b\nt,c,C\n",
			schema.Descriptions{"t.a": {Text: "x"}, "t.c": {Title: "C"}},
			[]string{"line 2 has 7 fields and not 5", "line 3 has 2 fields and not 5", "line 4 has 3 fields and not 5"}},
		{"no table", head + ",a,,x,\n", schema.Descriptions{}, []string{"line 2 names no table"}},
		{"twice", head + "t,a,,x,\nt,a,,y,\n", schema.Descriptions{"t.a": {Text: "y"}},
			[]string{"line 3 describes something again, and the last line counts"}},
		{"other names and order", "Values,Description,READABLE NAME,Column,Table\nv,x,A,a,my table\n",
			schema.Descriptions{"my table.a": {Title: "A", Text: "x", Values: "v"}}, nil},
		{"stray quotes", head + "t,a,,the \"real\" one,\nt,b,,\"two\nlines\",\n",
			schema.Descriptions{"t.a": {Text: `the "real" one`}, "t.b": {Text: "two\nlines"}}, nil},
		{"something else", "hello\nworld\n", schema.Descriptions{}, []string{
			"the first line names no column table", "the first line names no column column",
			"the first line names no column readable_name",
			"the first line names no column description", "the first line names no column values", "line 2 names no table",
		}},
		{"nothing", " \n", schema.Descriptions{}, []string{"the file is empty"}},
	} {
		f, err := schema.ReadDescriptions(strings.NewReader(tc.text))
		if err != nil {
			t.Errorf("%s: %v", tc.why, err)
		}
		golden.Equal(t, tc.want, f.Descriptions, tc.why)
		if diff := cmp.Diff(tc.notes, f.Notes); diff != "" || f.CSV != (tc.why != "nothing") {
			t.Errorf("%s, CSV %v: notes (-want +got):\n%s", tc.why, f.CSV, diff)
		}
	}
}

// FuzzReadDescriptions: what can be read can be written, and comes back the same.
func FuzzReadDescriptions(f *testing.F) {
	f.Add([]byte(written(f, described())))
	f.Add([]byte("\uFEFF{\"descriptions\": {\"a\": {\"described\": \" x\", \"by_model\": \"00\"}}}"))
	f.Add([]byte("{\"descriptions\":{\"\":{\"failed\":\"\\u0000\"}}}{"))
	f.Add([]byte("table,column,description\r\nt,\"a\xe9,,\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := schema.ReadDescriptions(bytes.NewReader(raw))
		if err != nil {
			if !errors.As(err, new(*fileerr.Descriptions)) {
				t.Fatal(err)
			}
			return
		}
		first := written(t, got)
		again, err := schema.ReadDescriptions(strings.NewReader(first))
		if err != nil {
			t.Fatalf("%v:\n%s", err, first)
		}
		if second := written(t, again); second != first {
			t.Errorf("%s\nbecame\n%s", first, second)
		}
		if len(again.Descriptions) != len(got.Descriptions) {
			t.Errorf("%d descriptions became %d", len(got.Descriptions), len(again.Descriptions))
		}
	})
}

func ExampleReadDescriptions() {
	f, err := schema.ReadDescriptions(strings.NewReader("table,column,description\nbooks,st,whether the book is lent\n"))
	if err != nil {
		panic(err) // of JSON only
	}
	s, unknown := library().Describe(f.Descriptions)
	fmt.Println(s.Tables[0].Columns[2].Description, len(unknown))
	fmt.Println(f.Notes)
	// Output:
	// whether the book is lent 0
	// [the first line names no column readable_name the first line names no column values]
}

func ExampleDescriptionFile_Write() {
	err := schema.DescriptionFile{
		Model: "gpt-x",
		Descriptions: schema.Descriptions{"books.st": {Described: "Whether the book is lent or here.",
			Values: "L: lent, H: here"}},
	}.Write(os.Stdout)
	if err != nil {
		panic(err)
	}
	// Output:
	// {
	//  "about": "Edit any text: what you change or write counts as yours and is never replaced. To have a column described anew, delete its entry.",
	//  "version": 1,
	//  "model": "gpt-x",
	//  "descriptions": {
	//   "books.st": {
	//    "values": "L: lent, H: here",
	//    "described": "Whether the book is lent or here.",
	//    "by_model": "54edee1a"
	//   }
	//  }
	// }
}
