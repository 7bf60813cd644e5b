package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestLink holds the figures of the verb link on recorded first statements: with
// the union of links, tables and then columns pruned.
func TestLink(t *testing.T) {
	dir := evaldata.Path(t)
	for _, tt := range []struct {
		args         string
		recall, full float64
		kept         float64 // of tokens, on databases of five tables or more
	}{
		{"--dataset spider_dev --presql spider_dev/all", .998, .997, .5},
		{"--dataset spider_dev --presql spider_dev/all --columns", .99, .975, .333},
		{"--dataset classicmodels --presql classicmodels/base_k3", .99, .985, .55},
		{"--dataset classicmodels --presql classicmodels/base_k3 --columns", .975, .92, .30},
		{"--dataset bird_dev --presql bird_dev/all", 1, 1, .52},
		{"--dataset bird_dev --presql bird_dev/all --columns", 1, 1, .38},
	} {
		var out bytes.Buffer
		args := append(strings.Fields("link --json --data "+dir), strings.Fields(tt.args)...)
		testutil.OK(t, run(t.Context(), args, &out, &bytes.Buffer{}, os.Getenv))
		var last linkLine
		for line := range strings.Lines(out.String()) {
			testutil.OK(t, json.Unmarshal([]byte(line), &last))
		}
		recall, full := last.TableRecall, last.TableFull
		if strings.Contains(tt.args, "--columns") {
			recall, full = last.ColumnRecall, last.ColumnFull
		}
		if last.DB != "all" || last.Linker != "union" || recall < tt.recall || full < tt.full || *last.TokensLarge > tt.kept {
			t.Errorf("%s: recall %.4f, full %.4f, kept %.3f; want %v, %v, %v", tt.args, recall, full, *last.TokensLarge,
				tt.recall, tt.full, tt.kept)
		}
	}
}

// TestLinkVerdicts holds the figures of linker.MapReduce with simulated verdicts, and of its words alone.
func TestLinkVerdicts(t *testing.T) {
	dir := evaldata.Path(t)
	for _, tt := range []struct {
		dataset, pool string
		full, kept    float64 // all gold tables kept at least, tables kept at most
		lexicalOnly   float64 // all gold tables kept, without a model
	}{
		{"spider_dev", "spider_dev/all", .9935, .6, .95},
		{"bird_dev", "bird_dev/all", 1, .6, .95},
		{"classicmodels", "classicmodels/base_k3", .9895, .6, .95},
	} {
		out, _ := measured(t, nil, "link", "--data", dir, "--dataset", tt.dataset, "--verdicts", tt.pool, "--json")
		l, words := last(t, out, "linker", "mapreduce"), last(t, out, "linker", "mapreduce-lexical")
		if l["db"] != "all" || l["table_full"].(float64) < tt.full || l["tables_kept"].(float64) > tt.kept {
			t.Errorf("%s: %v, want %v, keeping %v", tt.dataset, l, tt.full, tt.kept)
		}
		if words["db"] != "all" || words["table_full"].(float64) < tt.lexicalOnly || words["tables_kept"].(float64) > .65 {
			t.Errorf("%s: %v, want %v", tt.dataset, words, tt.lexicalOnly)
		}
	}
}

// TestLinkRuns: figures are the median over runs, the mean of the middle two for
// an even number, and no run is credited with statements that it does not have.
func TestLinkRuns(t *testing.T) {
	dir := t.TempDir()
	makeDatabase(t, filepath.Join(dir, "db", "any", "two.sqlite"), `CREATE TABLE apples (x); CREATE TABLE birds (y)`)
	questions := pack(
		`{"qid": 1, "db_id": "two", "question": "Which x?", "gold": "SELECT x FROM apples"}`,
		`{"qid": 2, "db_id": "two", "question": "Which y?", "gold": "SELECT y FROM birds"}`)
	write(t, filepath.Join(dir, "questions", "questions_spider_dev.jsonl.gz"), questions)
	write(t, filepath.Join(dir, "questions", "questions_bird_dev.jsonl.gz"), questions)
	write(t, filepath.Join(dir, "predictions", "preds_spider_dev.jsonl.gz"), pack(
		`{"run": "half", "qid": 1, "sql": "SELECT x FROM apples"}`,
		`{"run": "half", "qid": 2, "sql": "SELECT x FROM apples"}`,
		`{"run": "all", "qid": 1, "sql": "SELECT x FROM apples"}`, `{"run": "all", "qid": 2, "sql": "SELECT y FROM birds"}`))
	write(t, filepath.Join(dir, "predictions", "preds_bird_dev.jsonl.gz"), pack(
		`{"run": "half", "qid": 1, "sql": "SELECT x FROM apples"}`,
		`{"run": "half", "qid": 2, "sql": "SELECT x FROM apples"}`,
		`{"run": "part", "qid": 1, "sql": "SELECT x FROM apples"}`))
	if _, _, err := evaluate(t, nil, "link", "--data", dir, "--dataset", "spider_dev", "--presql", "spider_dev/all",
		"--verdicts", "spider_dev/all"); err == nil {
		t.Error("two pools are accepted")
	}
	for dataset, want := range map[string]float64{"spider_dev": .75, "bird_dev": .5} {
		// The second question names a column of the other table, which counts for less than a verdict.
		out, _ := measured(t, nil, "link", "--data", dir, "--dataset", dataset, "--verdicts", dataset+"/all", "--json")
		if l := last(t, out, "linker", "mapreduce"); l["table_full"] != want || l["tables_kept"] != .5 || l["runs"] != 2.0 {
			t.Errorf("%s: %v, want %v of half the tables", dataset, l, want)
		}
		if l := last(t, out, "linker", "mapreduce-lexical"); l["table_full"] != 1.0 || l["tables_kept"] != .5 ||
			l["runs"] != 1.0 {
			t.Errorf("%s: %v, want all, by their words", dataset, l)
		}
		out, _ = measured(t, nil, "link", "--data", dir, "--dataset", dataset, "--presql", dataset+"/all", "--json")
		if l := last(t, out, "linker", "presql"); l["table_recall"] != want || l["table_full"] != want || l["runs"] != 2.0 {
			t.Errorf("%s: %v, want a recall of %v", dataset, l, want)
		}
	}
	_, _, err := evaluate(t, nil, "link", "--data", dir, "--dataset", "spider_dev", "--presql", "bird_dev/all")
	if want := "pool bird_dev/all answers the questions of bird_dev, not of spider_dev"; err == nil ||
		err.Error() != want {
		t.Errorf("a pool of other questions: %v, want %s", err, want)
	}
}
