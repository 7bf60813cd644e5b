package texttosql_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/vote"
)

// TestFailedPage: the page of a question that failed says why no draw had a vote.
func TestFailedPage(t *testing.T) {
	r := &texttosql.Result{
		Question:   "q",
		Candidates: []vote.Candidate{{Draw: 4, Rejected: "no-sql: the reply holds no query"}},
		Ballot:     vote.Ballot{Drawn: 1, Abstained: []vote.Abstention{{Candidate: 0, Why: "no-sql: the reply holds no query"}}},
	}
	var page bytes.Buffer
	if err := r.WritePage(&page, texttosql.ErrNoCandidate, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Had no vote because", "the reply holds no query"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestPageOfNumbers: amounts are read without exponents, as in a text table.
func TestPageOfNumbers(t *testing.T) {
	r := &texttosql.Result{Rows: &result.Table{Columns: []string{"x"}, Rows: [][]any{{12345678.9}, {1e6}, {0.0}, {1e300}, {math.Inf(-1)}}}}
	var page bytes.Buffer
	if err := r.WritePage(&page, nil, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">12345678.9<", ">1000000<", ">0<", ">1e&#43;300<", ">-Inf<"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not show %q", want)
		}
	}
}

// TestResultAsJSON leaves rows out unless asked, and comes back.
func TestResultAsJSON(t *testing.T) {
	r, err := engine(t, always(usa)).Ask(t.Context(), "Which customers live in the USA?")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	full, err := r.MarshalWithRows()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(plain, []byte("Cyd")) || !bytes.Contains(full, []byte("Cyd")) {
		t.Errorf("rows in the plain form, or none in the full one:\n%s\n%s", plain, full)
	}
	var back texttosql.Result
	if err := json.Unmarshal(plain, &back); err != nil || back.SQL != r.SQL || back.Ballot.Clusters[0].Share != 1 || back.Trace.Name() != "question" {
		t.Errorf("read back: %+v, %v", back, err)
	}
}
