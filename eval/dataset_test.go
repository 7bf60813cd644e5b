package eval_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
)

func TestReadDataset(t *testing.T) {
	for _, test := range []struct {
		why, file, content string
		want               []eval.Question
	}{
		{
			"lines of this project's data, with BIRD's second gold",
			"questions_mini.jsonl.gz",
			`{"qid": 3, "db_id": "shop", "question": "How many?", "evidence": "e", "difficulty": "simple", ` +
				`"gold": "SELECT 1", "gold_2023": "SELECT 2", "gold_changed": true}` + "\n\n" +
				`{"qid": 9, "db_id": "shop", "question": "Who?", "gold": "SELECT 3"}` + "\n",
			[]eval.Question{
				{Dataset: "mini", ID: "3", DB: "shop", Text: "How many?", Evidence: "e", Difficulty: "simple", Gold: "SELECT 1",
					Gold2023: "SELECT 2", Place: 3, Line: 1},
				{Dataset: "mini", ID: "9", DB: "shop", Text: "Who?", Gold: "SELECT 3", Place: 9, Line: 3},
			},
		},
		{
			"BIRD's dev.json",
			"dev.json",
			"[\n  {\n    \"question_id\": 0,\n    \"db_id\": \"shop\",\n    \"question\": \"A \\u00e9\",\n" +
				"    \"evidence\": \"\",\n    \"SQL\": \"SELECT 1\",\n    \"difficulty\": \"moderate\"\n  },\n" +
				"  {\"question_id\": 1, \"db_id\": \"shop\", \"question\": \"B\", \"SQL\": \"SELECT 2\"}\n]",
			[]eval.Question{
				{Dataset: "dev", ID: "0", DB: "shop", Text: "A é", Difficulty: "moderate", Gold: "SELECT 1", Place: 0, Line: 2},
				{Dataset: "dev", ID: "1", DB: "shop", Text: "B", Gold: "SELECT 2", Place: 1, Line: 10},
			},
		},
		{
			"Spider's dev.json has no ids, and a parse under the name sql",
			"dev.json",
			`[{"db_id": "a", "query": "SELECT 1", "query_toks": ["SELECT", "1"], "question": "A", "sql": {"select": [false, []]}},
{"db_id": "b", "query": "SELECT 2", "question": "B", "sql": {}}]`,
			[]eval.Question{
				{Dataset: "dev", ID: "0", DB: "a", Text: "A", Gold: "SELECT 1", Place: 0, Line: 1, Numbered: true},
				{Dataset: "dev", ID: "1", DB: "b", Text: "B", Gold: "SELECT 2", Place: 1, Line: 2, Numbered: true},
			},
		},
		{
			"pairs of nlq and sql, behind a byte order mark",
			"train.jsonl",
			"\xef\xbb\xbf" + `{"nlq": "A", "sql": "SELECT 1"}`,
			[]eval.Question{{Dataset: "train", ID: "0", Text: "A", Gold: "SELECT 1", Line: 1, Numbered: true}},
		},
		{
			"CSV with a line break in a field",
			"own.csv",
			"id,question,db,gold\r\nx7,\"How\nmany?\",shop,SELECT 1\r\nx8,Who?,shop,\"SELECT \"\"a\"\"\"\r\n",
			[]eval.Question{
				{Dataset: "own", ID: "x7", DB: "shop", Text: "How\nmany?", Gold: "SELECT 1", Place: 0, Line: 2},
				{Dataset: "own", ID: "x8", DB: "shop", Text: "Who?", Gold: `SELECT "a"`, Place: 1, Line: 4},
			},
		},
		{
			"the field idx says the place in published files",
			"minidev.jsonl",
			`{"idx": 4, "qid": 1471, "db_id": "d", "question": "A", "gold": "SELECT 1"}`,
			[]eval.Question{{Dataset: "minidev", ID: "1471", DB: "d", Text: "A", Gold: "SELECT 1", Place: 4, Line: 1}},
		},
		{
			"evidence and difficulty that the first question does not have",
			"own.jsonl",
			`{"qid": 1, "question": "A", "gold": "B"}` + "\n" +
				`{"qid": 2, "question": "C", "gold": "D", "evidence": "E", "hardness": "F"}`,
			[]eval.Question{
				{Dataset: "own", ID: "1", Text: "A", Gold: "B", Place: 1, Line: 1},
				{Dataset: "own", ID: "2", Text: "C", Gold: "D", Evidence: "E", Difficulty: "F", Place: 2, Line: 2},
			},
		},
		{
			"questions without golds",
			"test.jsonl",
			`{"qid": "a", "question": "A", "db_id": "d"}`,
			[]eval.Question{{Dataset: "test", ID: "a", DB: "d", Text: "A", Line: 1}},
		},
		{
			"BIRD's gold file; statements hold tabs too",
			"dev_gold.sql",
			"SELECT\t1\tshop\nSELECT 2\tshop\n",
			[]eval.Question{
				{Dataset: "dev_gold", ID: "0", DB: "shop", Gold: "SELECT\t1", Place: 0, Line: 1, Numbered: true},
				{Dataset: "dev_gold", ID: "1", DB: "shop", Gold: "SELECT 2", Place: 1, Line: 2, Numbered: true},
			},
		},
	} {
		t.Run(test.why, func(t *testing.T) {
			d := testutil.Value(eval.ReadDataset(write(t, test.file, test.content)))(t)
			golden.Equal(t, test.want, d.Questions)
		})
	}
}

// TestReadDatasetRepeated: BIRD's mini-dev has two questions twice.
func TestReadDatasetRepeated(t *testing.T) {
	const first = `{"idx": 4, "qid": 1, "db_id": "d", "question": "A", "gold": "SELECT 1"}` + "\n"
	const second = `{"idx": 5, "qid": 2, "db_id": "d", "question": "B", "gold": "SELECT 2"}` + "\n"
	d := testutil.Value(eval.ReadDataset(write(t, "q.jsonl", first+second+strings.Replace(first, "4", "6", 1))))(t)
	if len(d.Questions) != 2 || d.Questions[0].Place != 4 || d.Repeated != 1 {
		t.Errorf("%+v, repeated %d", d.Questions, d.Repeated)
	}
}

func TestReadDatasetFaults(t *testing.T) {
	const good = `{"qid": 1, "db_id": "d", "question": "A", "gold": "SELECT 1"}` + "\n"
	for _, test := range []struct{ why, file, content, want string }{
		{"nothing in it", "q.jsonl", "", "q.jsonl: the file is empty"},
		{"answers instead of questions", "q.jsonl", `{"run": "r", "qid": 1, "sql": "SELECT 1"}`,
			"q.jsonl:1: field question: missing: this is no file of questions"},
		{
			"mixed: another name for the gold", "q.jsonl",
			good + `{"qid": 2, "db_id": "d", "question": "B", "query": "SELECT 1"}`,
			"q.jsonl:2: field gold: missing, though the first question has it",
		},
		{
			"mixed: no database", "q.jsonl", good + good[:1] + `"qid": 2, "question": "B", "gold": "SELECT 1"}`,
			"q.jsonl:2: field db_id: missing, though the first question has it",
		},
		{
			"mixed: a gold from the second on", "q.jsonl", `{"qid": 1, "question": "A", "gold": null}` + "\n" + good,
			"q.jsonl:2: field gold: is here, though the first question has none",
		},
		{
			"mixed: an id from the second on", "q.json", `[{"nlq": "A", "sql": "B"}, {"id": 1, "nlq": "C", "sql": "D"}]`,
			"q.json:1: field id: is here, though the first question has none",
		},
		{
			"a gold that is a list", "q.jsonl", good + `{"qid": 2, "db_id": "d", "question": "B", "gold": ["SELECT 1"]}`,
			"q.jsonl:2: field gold: a JSON list where text belongs",
		},
		{"an empty question", "q.jsonl", good + `{"qid": 2, "db_id": "d", "question": " ", "gold": "SELECT 1"}`,
			"q.jsonl:2: field question: empty"},
		{"one id for two questions", "q.jsonl", good + "\n" + strings.Replace(good, "SELECT 1", "SELECT 2", 1),
			"q.jsonl:3: field id: 1 is the id of line 1 too"},
		{"a line that is cut", "q.jsonl", good + `{"qid": 2, "db_`, "q.jsonl:2: the JSON is cut off"},
		{"a line of something else", "q.jsonl", good + `SELECT 1`,
			"q.jsonl:2: broken JSON: invalid character 'S' looking for beginning of value"},
		{"a number for an object", "q.json", "[\n1]", "q.json:2: a JSON number where an object belongs"},
		{"a list that is cut", "q.json", `[{"nlq": "A", "sql": "B"},` + "\n", "q.json:2: the JSON is cut off"},
		{"a place that is no number", "q.jsonl", `{"idx": "x", "question": "A"}`,
			`q.jsonl:1: field idx: "x" is no whole number`},
		{"CSV with a row too short", "q.csv", "question,gold\nA,B\nC\n", "q.csv:3: broken CSV: wrong number of fields"},
		{"gold lines without a database", "g.sql", "SELECT 1\td\nSELECT 2\n",
			`g.sql:2: field db_id: missing: a gold line is "SQL<tab>database"`},
	} {
		t.Run(test.why, func(t *testing.T) {
			path := write(t, test.file, test.content)
			_, err := eval.ReadDataset(path)
			fault(t, err, filepath.Dir(path), test.want)
		})
	}
}

// fault checks the text of an error about a file, without the folder.
func fault(t *testing.T, err error, dir, want string) {
	t.Helper()
	var file *fileerr.Questions
	if !errors.As(err, &file) {
		t.Fatalf("error is %v, of another type", err)
	}
	if got := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""); got != "eval: "+want {
		t.Errorf("error is %q\nwant %q", got, "eval: "+want)
	}
}

func TestTruncatedGzip(t *testing.T) {
	var lines strings.Builder
	for range 2000 {
		lines.WriteString(`{"qid": "` + strings.Repeat("x", 10) + `", "question": "A", "sql": "SELECT 1"}` + "\n")
	}
	whole := write(t, "q.jsonl.gz", lines.String())
	data := testutil.Value(os.ReadFile(whole))(t)
	for _, test := range []struct {
		why  string
		keep int
	}{
		{"in the middle", len(data) / 2},
		{"before the checksum", len(data) - 3},
		{"in the header", 5},
	} {
		t.Run(test.why, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "q.jsonl.gz")
			testutil.OK(t, os.WriteFile(path, data[:test.keep], 0o600))
			_, answers := readAnswers(path)
			_, questions := eval.ReadDataset(path)
			for _, err := range []error{answers, questions} {
				var file *fileerr.Questions
				if !errors.As(err, &file) || !errors.Is(err, io.ErrUnexpectedEOF) || file.File != path ||
					!strings.Contains(err.Error(), "the gzip file is cut off") {
					t.Errorf("error is %v", err)
				}
			}
		})
	}
	if _, err := eval.ReadDataset(filepath.Join(t.TempDir(), "none.jsonl")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestDataset(t *testing.T) {
	if _, err := eval.NewDataset("d", []eval.Question{{ID: "1"}, {ID: "1"}}); err == nil {
		t.Error("two questions of one id are a dataset")
	}
	d, err := eval.NewDataset("d", []eval.Question{{ID: "1", DB: "b"}, {ID: "2", DB: "a"},
		{ID: "3", DB: "b", Gold: "new", Gold2023: "old"}})
	if err != nil {
		t.Fatal(err)
	}
	if q, ok := d.Question("3"); !ok || q.Key() != "d/3" || q.With2023().Gold != "old" {
		t.Errorf("question 3 is %+v, %v", q, ok)
	}
	if q, _ := d.Question("1"); q.With2023().Gold != "" {
		t.Error("a question without a gold of 2023 lost its own")
	}
	if _, ok := d.Question("4"); ok {
		t.Error("there is a question 4")
	}
	golden.Equal(t, []string{"a", "b"}, d.Databases(), "databases")
	b := d.Select(func(q eval.Question) bool { return q.DB == "b" })
	if _, ok := b.Question("2"); ok || len(b.Questions) != 2 || len(d.Questions) != 3 {
		t.Errorf("selected %v of %v", b.Questions, d.Questions)
	}
}
