package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy/qasql"
)

// wide is data with a table that no question is about, so that no two contexts are the same.
func wide(t *testing.T) string {
	dir := data(t)
	makeDatabase(t, filepath.Join(dir, "db", "spider", "shop.sqlite"),
		"CREATE TABLE prices (x REAL); INSERT INTO prices VALUES (1), (2), (3), (4)")
	return dir
}

// TestRunQASQL: pool i answers the i-th context that needs no description, and the judge of the gold finds what the
// vote misses.
func TestRunQASQL(t *testing.T) {
	dir := wide(t)
	const pools = "pool:spider_dev/first,spider_dev/second,spider_dev/third"
	tests := []struct {
		args  []string
		want  map[string]any
		notes string
		why   string
	}{
		{[]string{"--model", pools, "--judge", "none"},
			map[string]any{"ex": 2.0 / 3, "judged": 0.0, "overruled": 0.0, "clusters": 5.0, "rejected": 1.0,
				"refined_right": 0.0},
			"contexts without a pool, about database shop: sme_metadata, minimal_profile\n", "the vote alone"},
		{[]string{"--model", pools, "--judge", "gold"},
			map[string]any{"ex": 1.0, "judged": 2.0, "judge_calls": 2.0, "overruled": 1.0, "clusters": 5.0}, "",
			"a judge that knows"},
		{[]string{"--model", pools, "--judge", "gold", "--min-share", "0.6"}, map[string]any{"ex": 2.0 / 3, "judged": 1.0,
			"overruled": 0.0}, "",
			"is not asked where two of three agree, and are wrong"},
		{[]string{"--model", pools}, map[string]any{"ex": 2.0 / 3, "judged": 2.0, "overruled": 0.0}, pools + " cannot judge",
			"the judge of a pool"},
		{[]string{"--model", "pool:spider_dev/third,spider_dev/first", "--judge", "none"}, map[string]any{"ex": 2.0 / 3},
			"sme_metadata, minimal_profile, full_profile", "the earliest wins a tie"},
	}
	command := []string{"run", "--data", dir, "--dataset", "spider_dev", "--rounds", "50"}
	for _, tt := range tests {
		out, notes := measured(t, nil, slices.Concat(command, []string{"--strategy", "qasql", "--json"}, tt.args)...)
		lines := objects(t, out)
		last, got := lines[len(lines)-1], map[string]any{}
		for key := range tt.want {
			got[key] = last[key]
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || !strings.Contains(notes, tt.notes) {
			t.Errorf("%s (-want +got):\n%s%s", tt.why, diff, notes)
		}
		for _, key := range []string{"contexts", "p50_s", "p95_s"} {
			if _, ok := last[key]; !ok {
				t.Errorf("%s: no key %s", tt.why, key)
			}
		}
	}
	for _, tt := range []struct {
		args []string
		want string
		why  string
	}{
		{[]string{"--strategy", "direct", "--model", "pool:spider_dev/first", "--judge", "gold"},
			"--judge and --min-share are for qasql",
			"a judge of another strategy"},
		{[]string{"--strategy", "qasql", "--model", pools + ",spider_dev/first"}, "4 pools are too many",
			"two of the five need descriptions"},
		{[]string{"--strategy", "qasql", "--model", pools, "--min-share", "2"}, "MinShare is 2", "no share"},
		{[]string{"--strategy", "qasql", "--model", pools, "--data", data(t)},
			"the context full_profile is left out (duplicate_of:focused_schema)", "no pool may answer for another context"},
	} {
		if _, _, err := evaluate(t, nil, slices.Concat(command, tt.args)...); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.why, err)
		}
	}
}

// TestRunQASQLGoesOn: the figures of finished questions are those of the file.
func TestRunQASQLGoesOn(t *testing.T) {
	dir := wide(t)
	command := []string{"run", "--data", dir, "--dataset", "spider_dev", "--strategy", "qasql", "--judge", "gold",
		"--model", "pool:spider_dev/first,spider_dev/third", "--json", "--rounds", "50", "--out",
		filepath.Join(t.TempDir(), "run.jsonl")}
	var sums []map[string]any
	for range 2 {
		out, _ := measured(t, nil, command...)
		lines := objects(t, out)
		sums = append(sums, lines[len(lines)-1])
	}
	if diff := cmp.Diff(sums[0], sums[1]); diff != "" || sums[0]["judged"] != 1.0 {
		t.Errorf("(-first +resumed):\n%s", diff)
	}
	if _, _, err := evaluate(t, nil, append(command, "--min-share", "0.6")...); err == nil {
		t.Error("another share goes on with the file")
	}
}

// TestQASQLFigures: with a model, who also repairs.
func TestQASQLFigures(t *testing.T) {
	dir := wide(t)
	write(t, filepath.Join(dir, "db", "spider", "shop_description", "customers.csv"),
		"original_column_name,column_description\ncountry,where the customer lives\n")
	folder, dataset, err := openDataset(&program{}, dir, "spider_dev")
	if err != nil {
		t.Fatal(err)
	}
	const right, wrong = "SELECT name FROM customers WHERE country = 'USA'", "SELECT name FROM customers"
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		reply := map[string]string{"decompose": `{"entity": "customers"}`, "score": `{"score": 1}`,
			"repair": right, "judge": `{"selected_option": "A"}`, "generate": "SELECT nme FROM customers"}[req.Purpose]
		switch {
		case req.Purpose == "generate" && (req.Sample == 1 || req.Sample == 2):
			reply = wrong
		case req.Purpose == "repair" && req.Sample == 3:
			reply = "none"
		}
		return llm.Response{Text: reply, StopReason: llm.StopEnd}, nil
	})
	store := access{}.store(folder, 1)
	defer store.Close()
	a := &asker{folder: folder, source: &source{kind: "live", live: model}, strategy: preset{Strategy: qasql.Strategy{}},
		scorer:  &eval.Scorer{Store: store, Metrics: []eval.Metric{eval.EX{}}},
		program: &program{ctx: t.Context(), out: t.Output(), err: t.Output()}}
	defer a.close()
	f := testutil.Value(a.ask(t.Context(), dataset.Questions[1]))(t)
	for i := range f.Contexts {
		f.Contexts[i].Tokens = 0
	}
	want := &Figures{Judged: 1, JudgeCalls: 2, RefinedRight: 1, Rejected: 1, Clusters: 2,
		BallotConfidence: f.BallotConfidence}
	want.Contexts = []contextFigures{
		{Name: "full_schema", Candidates: 1, Right: 1}, {Name: "sme_metadata", Candidates: 1, Wins: 1},
		{Name: "minimal_profile", LeftOut: 1}, {Name: "focused_schema", Candidates: 1}, {Name: "full_profile"},
	}
	if diff := cmp.Diff(want, f.Figures); diff != "" || f.SQL != wrong {
		t.Errorf("%q (-want +got):\n%s", f.SQL, diff)
	}
}
