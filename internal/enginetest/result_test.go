package enginetest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/vote"
)

// TestFailedPage: the page of a question that failed says why no sample had a vote.
func TestFailedPage(t *testing.T) {
	r := &texttosql.Result{
		Question:   "q",
		Candidates: []vote.Candidate{{Sample: 4, Rejected: "no-sql: the reply holds no query"}},
		Ballot: vote.Ballot{Sampled: 1,
			Abstained: []vote.Abstention{{Candidate: 0, Why: "no-sql: the reply holds no query"}}},
	}
	var page bytes.Buffer
	testutil.OK(t, r.WritePage(&page, strategy.ErrNoCandidate, false))
	for _, want := range []string{"Had no vote because", "the reply holds no query"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestPageOfNumbers: amounts are read without exponents, as in a text table.
func TestPageOfNumbers(t *testing.T) {
	r := &texttosql.Result{Rows: &result.Table{Columns: []string{"x"}, Rows: [][]any{{12345678.9}, {1e6}, {0.0}, {1e300},
		{math.Inf(-1)}}}}
	var page bytes.Buffer
	testutil.OK(t, r.WritePage(&page, nil, true))
	for _, want := range []string{">12345678.9<", ">1000000<", ">0<", ">1e&#43;300<", ">-Inf<"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not show %q", want)
		}
	}
}

// TestPageOfManyRows: a page says how many of the rows it shows, and that there are more than the engine read.
func TestPageOfManyRows(t *testing.T) {
	for _, tt := range []struct {
		why  string
		rows int
		cut  bool
		want string // "": nothing
	}{
		{"all", 50, false, ""},
		{"a part", 51, false, "the first 50 of 51 rows"},
		{"a part of what was cut", 1000, true, "the first 50 of more than 1000 rows"},
		{"all of what was cut", 3, true, "the first 3 of more than 3 rows"},
	} {
		table := &result.Table{Columns: []string{"x"}, Rows: make([][]any, tt.rows), Truncated: tt.cut}
		for i := range table.Rows {
			table.Rows[i] = []any{int64(i)}
		}
		var page bytes.Buffer
		testutil.OK(t, (&texttosql.Result{Rows: table}).WritePage(&page, nil, true))
		says := strings.Contains(page.String(), "the first ")
		if says != (tt.want != "") || !strings.Contains(page.String(), tt.want) {
			t.Errorf("%s: the page says how many rows: %v, want %q", tt.why, says, tt.want)
		}
	}
}

// TestResultAsJSON leaves rows out unless asked, and comes back.
func TestResultAsJSON(t *testing.T) {
	r := testutil.Value(engine(t, always(usa)).Ask(t.Context(), "Which customers live in the USA?"))(t)
	plain := testutil.Value(json.Marshal(r))(t)
	full := testutil.Value(r.MarshalWithRows())(t)
	if bytes.Contains(plain, []byte("Cyd")) || !bytes.Contains(full, []byte("Cyd")) {
		t.Errorf("rows in the plain form, or none in the full one:\n%s\n%s", plain, full)
	}
	var back texttosql.Result
	if err := json.Unmarshal(plain, &back); err != nil || back.SQL != r.SQL || back.Ballot.Clusters[0].Share != 1 ||
		back.Trace.Name() != "question" {
		t.Errorf("read back: %+v, %v", back, err)
	}
}

// TestResultKeepsItsReport: what a method told is there after JSON, under its name, with
// and without rows; a result of a later version is refused, one of the first is read.
func TestResultKeepsItsReport(t *testing.T) {
	want := petsql.Report{PreSQL: "SELECT 1", Tables: 2, FellBack: true}
	r := &texttosql.Result{Question: "q", SQL: "SELECT 1", Report: want, Steps: []strategy.Step{
		{Sample: 3, Name: "scope", Action: "repair", Status: "ok", SQL: "SELECT 1", Rows: 1},
	}, Rows: &result.Table{Columns: []string{"1"}, Rows: [][]any{{int64(1)}}}}
	for _, write := range []func() ([]byte, error){r.MarshalJSON, r.MarshalWithRows} {
		text := testutil.Value(write())(t)
		for range 2 { // and once more
			var back texttosql.Result
			testutil.OK(t, json.Unmarshal(text, &back))
			got, err := strategy.ReadReport[petsql.Report](back.Report)
			if err != nil || got.PreSQL != want.PreSQL || !got.FellBack || len(back.Steps) != 1 || back.Steps[0] != r.Steps[0] {
				t.Fatalf("read back: %+v with %+v, %v", back, got, err)
			}
			text = testutil.Value(json.Marshal(back))(t)
		}
	}
	var back texttosql.Result
	if err := json.Unmarshal([]byte(`{"version":3,"sql":"SELECT 1"}`), &back); err == nil ||
		!strings.Contains(err.Error(), "version 3") {
		t.Errorf("a later version: %v", err)
	}
	old := `{"question":"q","sql":"SELECT 1","confidence":1,"phases":[{"phase":"scope"}],"fallback":"quorum"}`
	if err := json.Unmarshal([]byte(old), &back); err != nil || back.SQL != "SELECT 1" || back.Report != nil {
		t.Errorf("the first version: %+v, %v", back, err)
	}
	var page bytes.Buffer
	if err := r.WritePage(&page, nil, false); err != nil || !strings.Contains(page.String(), "3 (scope)") {
		t.Errorf("the page does not show whose step it is: %v", err)
	}
}

// TestResultKeepsRefinements: what a Refine tried stands in the Result, in its JSON and on the page.
func TestResultKeepsRefinements(t *testing.T) {
	const typo, hidden, nobody = "SELECT nme FROM customers", "SELECT load_extension('x')", usa + " AND 1 = 0"
	script := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "generate", Replies: llmtest.Texts(usa, typo, hidden, nobody, "I cannot.")},
		{Purpose: "repair", Replies: []llmtest.Reply{{Text: usa}, {Text: typo}, {Err: llm.ErrBudget}, {Text: nobody},
			{Text: usa}}},
	}}
	pipeline := strategy.Pipeline{Sampler: strategy.Sampler{Samples: 5, Temperature: 0.7},
		Refine: &strategy.Refine{EmptyResult: true}}
	e := engine(t, script, texttosql.WithStrategy(pipeline))
	first := testutil.Value(e.Ask(t.Context(), "Who lives in the USA?"))(t)
	var said []string
	for _, s := range first.Steps {
		said = append(said, fmt.Sprintf("%d.%d %s %s: %s", s.Sample, s.Try, s.Action, s.Status, s.Problem))
	}
	want := []string{
		"0.0 generate ok: ",
		"1.0 generate rejected: exec: invalid statement (schema): no such column: nme",
		"1.1 repair no-progress: exec: invalid statement (schema): no such column: nme",
		"2.0 generate refused: exec: refused (function): load_extension is not allowed here",
		"2.1 repair failed: llm: budget spent",
		"3.0 generate suspect: it returned no rows",
		"3.1 repair no-progress: the same statement again",
		"4.0 generate no-sql: refusal: the model declined to answer: I cannot.",
		"4.1 repair ok: ",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	text, err := json.Marshal(first)
	var back texttosql.Result
	if err := errors.Join(err, json.Unmarshal(text, &back)); err != nil || !slices.Equal(first.Steps, back.Steps) {
		t.Errorf("read back: %+v, %v", back.Steps, err)
	}
	var page bytes.Buffer
	testutil.OK(t, back.WritePage(&page, nil, false))
	shown := html.UnescapeString(page.String())
	for _, s := range back.Steps {
		if !strings.Contains(shown, strings.TrimSuffix(s.Status+": "+s.Problem, ": ")) || !strings.Contains(shown, s.SQL) {
			t.Errorf("the page does not show %+v", s)
		}
	}
}
