package eval_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/trace"
)

// readAnswers reads a file of answers until its end or its first error.
func readAnswers(path string) (list []eval.Answer, err error) {
	for a, err := range eval.Answers(path) {
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

func TestReadAnswers(t *testing.T) {
	for _, test := range []struct {
		why, file, content string
		want               []eval.Answer
	}{
		{
			"recorded runs, with the verdicts of an oracle",
			"preds.jsonl.gz",
			`{"run": "r/a", "qid": 3, "db_id": "d", "sql": "SELECT 'é'", "label": 1, "valid": true, "ts": null}` + "\n" +
				`{"run": "r/a", "qid": 4, "db_id": "d", "sql": "", "label": 0, ` +
				`"exec": {"status": "toomany", "set_match": false, "bag_match": true, "nrows": 7, "sec": 1.5, "err": null, "gold_rows": null}}`,
			[]eval.Answer{
				{Run: "r/a", Question: "3", DB: "d", SQL: "SELECT 'é'", Line: 1},
				{Run: "r/a", Question: "4", DB: "d", Line: 2, Recorded: &eval.Recorded{Status: "toomany", BagMatch: true, Rows: 7}},
			},
		},
		{
			"samples, numbered and named, and their cost",
			"s.jsonl",
			`{"run": "s", "qid": 1, "sql": "A", "label": null, "model": "m", "sample": 0, "logp": -0.5, ` +
				`"prompt_tokens": 10, "response_tokens": 3, "latency_s": 0.25}` + "\n" +
				`{"run": "s", "qid": 1, "sql": "B", "sample": "|x|2", "calls": 4.0}`,
			[]eval.Answer{
				{
					Run: "s", Question: "1", SQL: "A", Model: "m", Sample: "0", Line: 1, Wall: 250 * time.Millisecond,
					Usage: trace.Usage{Calls: 1, PromptTokens: 10, CompletionTokens: 3, Known: true},
				},
				{Run: "s", Question: "1", SQL: "B", Sample: "|x|2", Line: 2, Usage: trace.Usage{Calls: 4}},
			},
		},
		{
			"BIRD's prediction file, with a question that has no answer",
			"predict_dev.json",
			"{\n  \"0\": \"SELECT 1\\t----- bird -----\\tshop\",\n  \"12\": 0\n}",
			[]eval.Answer{
				{Run: "predict_dev", Place: 0, SQL: "SELECT 1", DB: "shop", Line: 2},
				{Run: "predict_dev", Place: 12, Line: 3},
			},
		},
		{
			"lines of objects in a file with another ending",
			"out.json",
			`{"qid": "a", "sql": "SELECT 1"}` + "\n" + `{"qid": "b", "sql": "SELECT 2"}`,
			[]eval.Answer{{Run: "out", Question: "a", SQL: "SELECT 1", Line: 1}, {Run: "out", Question: "b", SQL: "SELECT 2",
				Line: 2}},
		},
		{
			"such lines that call the statement otherwise",
			"out.txt",
			`{"qid": "a", "pred_sql": "SELECT 1"}` + "\n" + `{"qid": "b", "pred_sql": "SELECT 2"}`,
			[]eval.Answer{{Run: "out", Question: "a", SQL: "SELECT 1", Line: 1}, {Run: "out", Question: "b", SQL: "SELECT 2",
				Line: 2}},
		},
		{
			"a list of objects",
			"out.json",
			`[{"question_id": 2, "db_id": "d", "predicted_sql": "SELECT 1"}]`,
			[]eval.Answer{{Run: "out", Question: "2", DB: "d", SQL: "SELECT 1", Line: 1}},
		},
		{
			"CSV, with a label as programs write a column with gaps",
			"out.csv",
			"qid,sql,label\n5,\"SELECT 1,\n2\",1.0\n6,SELECT 3,\n",
			[]eval.Answer{{Run: "out", Question: "5", SQL: "SELECT 1,\n2", Line: 2}, {Run: "out", Question: "6", SQL: "SELECT 3",
				Line: 4}},
		},
		{
			"Spider's prediction file: an empty line is a question without an answer",
			"pred.txt",
			"SELECT 1\n\nSELECT\ta FROM t\tshop_1\nSELECT\t'x y'\n",
			[]eval.Answer{
				{Run: "pred", Place: 0, SQL: "SELECT 1", Line: 1},
				{Run: "pred", Place: 1, Line: 2},
				{Run: "pred", Place: 2, SQL: "SELECT\ta FROM t\tshop_1", Line: 3},
				{Run: "pred", Place: 3, SQL: "SELECT\t'x y'", Line: 4},
			},
		},
	} {
		t.Run(test.why, func(t *testing.T) {
			got := testutil.Value(readAnswers(write(t, test.file, test.content)))(t)
			golden.Equal(t, test.want, got)
		})
	}
}

func TestReadAnswersFaults(t *testing.T) {
	for _, test := range []struct{ why, file, content, want string }{
		{"nothing in it", "a.jsonl", "", "a.jsonl: the file is empty"},
		{"nothing but blank lines", "a.txt", "\n \n", "a.txt: the file is empty"},
		{"something packed otherwise", "a.jsonl", "\x00\x01SELECT", "a.jsonl: this is no text"},
		{"questions instead of answers", "a.jsonl", `{"qid": 1, "question": "A", "gold": "B"}`,
			"a.jsonl:1: field sql: missing: this is no file of answers"},
		{"answers to nothing", "a.jsonl", `{"sql": "SELECT 1"}`,
			"a.jsonl:1: field qid: missing: nothing says which question is answered"},
		{"an empty id", "a.jsonl", `{"qid": "", "sql": "SELECT 1"}`, "a.jsonl:1: field qid: empty"},
		{"half a token", "a.jsonl", `{"qid": 1, "sql": "A", "prompt_tokens": 1.5}`,
			`a.jsonl:1: field prompt_tokens: "1.5" is no whole number`},
		{"a broken oracle", "a.jsonl", `{"qid": 1, "sql": "A", "exec": [1]}`,
			"a.jsonl:1: field exec: a JSON array where an object belongs"},
		{"a statement that is an object", "a.jsonl", `{"qid": 1, "sql": {}}`,
			"a.jsonl:1: field sql: a JSON object where text belongs"},
		{"a program", "p.txt", "\x7fELF\x02\x00\x01", "p.txt:1: no text: this is no file of answers"},
		{"no UTF-8", "p.txt", "SELECT '\xff'\n", "p.txt:1: no text: this is no file of answers"},
		{"BIRD's form without the mark", "p.json", "{\n\"0\": \"SELECT 1\"}",
			`p.json:2: field 0: no "\t----- bird -----\t" between statement and database`},
		{"an object of something else", "p.json", "{\"name\": \"x\"}",
			"p.json:1: field name: neither a field sql, nor the number of a question"},
		{"BIRD's form, cut", "p.json", "{\"0\": \"SELECT 1\\t----- bird -----\\td\",\n", "p.json:2: the JSON is cut off"},
	} {
		t.Run(test.why, func(t *testing.T) {
			path := write(t, test.file, test.content)
			_, err := readAnswers(path)
			fault(t, err, filepath.Dir(path), test.want)
		})
	}
}
