package eval_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
)

func fiveQuestions(t *testing.T) *eval.Dataset {
	t.Helper()
	d := testutil.Value(eval.NewDataset("five", []eval.Question{
		{ID: "10", DB: "n", Text: "A", Gold: "SELECT id FROM p", Difficulty: "simple", Place: 0},
		{ID: "11", DB: "n", Text: "B", Gold: "SELECT name FROM p WHERE id = 1", Difficulty: "simple", Place: 1},
		{ID: "12", DB: "n", Text: "C", Gold: "SELECT nix FROM p", Place: 2},
		{ID: "13", DB: "gone", Text: "D", Gold: "SELECT 1", Place: 3},
		{ID: "14", DB: "n", Text: "E", Gold: "SELECT name FROM p WHERE id = 2", Place: 4},
	}))(t)
	return d
}

// TestReports: everything that may go wrong beside a right answer, in one file.
func TestReports(t *testing.T) {
	path := write(t, "answers.jsonl", strings.Join([]string{
		`{"run": "first", "qid": 10, "db_id": "n", "sql": "SELECT id FROM p ORDER BY id DESC", ` +
			`"calls": 2, "prompt_tokens": 100, "response_tokens": 20, "latency_s": 1.5}`,
		`{"run": "second", "qid": 10, "sql": "SELECT id FROM p ORDER BY id DESC"}`,
		`{"run": "first", "qid": 11, "sql": "Sure! Here it is."}`,
		`{"run": "first", "qid": 12, "sql": "SELECT 1"}`,
		`{"run": "first", "qid": 13, "sql": "SELECT 1"}`,
		`{"run": "first", "qid": 99, "sql": "SELECT 1"}`,
		`{"run": "first", "qid": 98, "sql": "SELECT 1"}`,
		`{"run": "second", "qid": 14, "db_id": "m", "sql": "SELECT 1"}`,
		`{"run": "second", "qid": 11, "sql": "SELECT 'a'"}`,
		`{"run": "second", "qid": 11, "sql": "SELECT 'b'"}`,
	}, "\n"))
	s := eval.Scorer{Store: newStore(t, numbers(t))}
	d := fiveQuestions(t)
	reports := testutil.Value(s.ScoreRuns(t.Context(), d, "answers.jsonl", eval.Answers(path)))(t)
	var text strings.Builder
	for _, r := range reports {
		text.WriteString(r.String())
	}
	got := strings.ReplaceAll(text.String(), filepath.Dir(databasePath(t, s.Store)), "DIR")
	golden.Check(t, "reports.golden", got)

	first := reports[0]
	if first.N() != 5 || len(first.Faults()) != 2 || first.Unanswered() != 1 {
		t.Errorf("%d questions, %d faults, %d unanswered", first.N(), len(first.Faults()), first.Unanswered())
	}
	if _, ok := first.Estimate("ts"); ok {
		t.Error("a metric that was not asked for has a value")
	}
	outcomes := testutil.Value(reports[1].Outcomes(eval.EX{}))(t)
	want := eval.Outcome{Pool: "second", Question: "five/11", Template: "select name from p where id = ?", Database: "n",
		Difficulty: "simple", Score: 1}
	golden.Equal(t, want, outcomes[1], "outcome")
	if _, err := first.Outcomes(eval.EX{Rule: "strict"}); err == nil {
		t.Error("outcomes by a metric that was not asked for")
	}
}

// databasePath finds where the test's database is, by the error about one that is
// not there.
func databasePath(t *testing.T, s *eval.Store) string {
	t.Helper()
	_, err := s.Execute(t.Context(), "gone", "SELECT 1")
	var missing *eval.DatabaseError
	if !errors.As(err, &missing) {
		t.Fatal(err)
	}
	return filepath.Join(missing.Path, "x")
}

// TestPlacedAnswers: files that number their answers mean lines where there are
// as many as questions, and published places else.
func TestPlacedAnswers(t *testing.T) {
	d := testutil.Value(eval.NewDataset("half", []eval.Question{
		{ID: "4", DB: "n", Gold: "SELECT 4", Place: 4}, {ID: "6", DB: "n", Gold: "SELECT 6", Place: 6},
	}))(t)
	for _, test := range []struct{ why, file, content, left string }{
		{"as many lines as questions", "pred.txt", "SELECT 4\nSELECT 6\n", ""},
		{
			"the whole published set", "pred.txt", "0\n1\n2\n3\nSELECT 4\n5\nSELECT 6\n7\n",
			"answers to unknown questions: 6 (pred.txt:1, question 0; pred.txt:2, question 1; pred.txt:3, question 2; …)",
		},
		{"BIRD's object names places", "predict_dev.json",
			`{"6": "SELECT 6\t----- bird -----\tn", "4": "SELECT 4\t----- bird -----\tn"}`, ""},
	} {
		t.Run(test.why, func(t *testing.T) {
			s := eval.Scorer{Store: newStore(t, numbers(t))}
			path := write(t, test.file, test.content)
			r := testutil.Value(s.ScoreRun(t.Context(), d, filepath.Base(path), eval.Answers(path)))(t)
			if ex, _ := r.Estimate("ex_bag"); ex.Value != 1 || r.LeftOut.String() != test.left {
				t.Errorf("ex %v, left out %q, want 1 and %q", ex, r.LeftOut, test.left)
			}
		})
	}
}

// TestSpiderLines: a line ends with the name of its database, whatever that is made of.
func TestSpiderLines(t *testing.T) {
	for _, name := range []string{"n", "größe-1", "zweite db", "a.b"} {
		dir := t.TempDir()
		makeDatabase(t, dir, name, "CREATE TABLE t (a)")
		store := newStore(t, in(dir))
		d := testutil.Value(eval.NewDataset("d", []eval.Question{{ID: "0", DB: name, Gold: "SELECT 1", Place: 0}}))(t)
		path := write(t, "pred.txt", "SELECT\t1\t"+name+"\n")
		r := testutil.Value((&eval.Scorer{Store: store}).ScoreRun(t.Context(), d, "pred.txt", eval.Answers(path)))(t)
		if ex, _ := r.Estimate("ex_set"); ex.Value != 1 {
			t.Errorf("database %q: %v", name, r)
		}
	}
}

// TestScoreAgain: the same answers give the same report, in whatever order the
// statements ran.
func TestScoreAgain(t *testing.T) {
	path := write(t, "a.jsonl",
		`{"qid": 10, "sql": "SELECT id FROM p"}`+"\n"+`{"qid": 11, "sql": "SELECT 'a'"}`+"\n"+
			`{"qid": 14, "sql": "SELECT max(id) FROM p"}`)
	d := fiveQuestions(t).Select(func(q eval.Question) bool { return q.DB == "n" })
	var texts []string
	for range 10 {
		s := eval.Scorer{Store: newStore(t, numbers(t)), Metrics: []eval.Metric{eval.VA{}, eval.EX{}, eval.EX{Rule: "bag"}}}
		r := testutil.Value(s.ScoreRun(t.Context(), d, "a.jsonl", eval.Answers(path)))(t)
		texts = append(texts, r.String())
	}
	for _, text := range texts {
		if text != texts[0] {
			t.Fatalf("two reports of the same answers:\n%s\n%s", texts[0], text)
		}
	}
}

func TestScoreEnds(t *testing.T) {
	s := eval.Scorer{Store: newStore(t, numbers(t))}
	d := fiveQuestions(t)
	path := write(t, "a.jsonl", `{"qid": 10, "sql": "SELECT id FROM p"}`)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.ScoreRun(ended, d, path, eval.Answers(path)); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that ended: %v", err)
	}
	broken := write(t, "b.jsonl", `{"qid": 10, "sql": "SELECT id FROM p"}`+"\n{")
	var file *fileerr.Questions
	if _, err := s.ScoreRun(t.Context(), d, broken, eval.Answers(broken)); !errors.As(err, &file) || file.Line != 2 {
		t.Errorf("a broken file: %v", err)
	}
	none := func(func(eval.Answer, error) bool) {}
	r, err := s.ScoreRun(t.Context(), d, "none.jsonl", none)
	if err != nil || r.Run != "none" || r.N() != 5 || r.Unanswered() != 5 {
		t.Errorf("no answers: %+v, %v", r, err)
	}
}

// TestDamagedDatabases: a file that is no database, and one that was cut off, cost
// their own questions and nothing else.
func TestDamagedDatabases(t *testing.T) {
	dir := t.TempDir()
	makeDatabase(t, dir, "whole", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1)")
	makeDatabase(t, dir, "cut", "CREATE TABLE t (a)", "CREATE TABLE u (a)", "INSERT INTO t VALUES (1)",
		"INSERT INTO u VALUES (1)")
	cut := filepath.Join(dir, "cut.sqlite")
	info := testutil.Value(os.Stat(cut))(t)
	if err := os.Truncate(cut, info.Size()-4096); err != nil { // the page of u
		t.Fatal(err)
	}
	testutil.OK(t, os.WriteFile(filepath.Join(dir, "text.sqlite"), []byte(strings.Repeat("no database ", 100)), 0o600))
	d := testutil.Value(eval.NewDataset("damage", []eval.Question{
		{ID: "1", DB: "whole", Gold: "SELECT a FROM t"},
		{ID: "2", DB: "text", Gold: "SELECT a FROM t"},
		{ID: "3", DB: "cut", Gold: "SELECT a FROM u"},
		{ID: "4", DB: "cut", Gold: "SELECT 1"},
	}))(t)
	path := write(t, "a.jsonl", `{"qid": 1, "sql": "SELECT 1"}
{"qid": 2, "sql": "SELECT 1"}
{"qid": 3, "sql": "SELECT 1"}
{"qid": 4, "sql": "SELECT a FROM u"}`)
	s := eval.Scorer{Store: newStore(t, in(dir))}
	r := testutil.Value(s.ScoreRun(t.Context(), d, "a.jsonl", eval.Answers(path)))(t)
	if ex, _ := r.Estimate("ex_set"); ex.Value != 0.25 {
		t.Errorf("ex_set %v, want 0.25", ex.Value)
	}
	for i, want := range []string{"", "text.sqlite: ", "cut.sqlite: ", "cut.sqlite: "} {
		if got := r.Verdicts[i].Fault; !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("question %d: fault %q, want one that names %q", i+1, got, want)
		}
	}
	var damaged *eval.DatabaseError
	if _, err := s.Store.Execute(t.Context(), "text", "SELECT 1"); !errors.As(err, &damaged) ||
		errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is no database: %v", err)
	}
}
