package strategy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/rawreport"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/vote"
)

// TestReadReport: a report is the same before and after it was JSON, and never taken for
// that of another method.
func TestReadReport(t *testing.T) {
	own := maker.Report{Phases: []maker.Phase{{Phase: "scope", Samples: 3,
		Clusters: []vote.Cluster{{Key: "orders", Members: []int{0, 2}}}}}, Fallback: "quorum"}
	text := testutil.Value(json.Marshal(own))(t)
	written := testutil.Value(json.Marshal(rawreport.Report{Name: "maker", JSON: text}))(t)
	var raw rawreport.Report
	if err := json.Unmarshal(written, &raw); err != nil || raw.Method() != "maker" {
		t.Fatalf("got %+v, %v of %s", raw, err, written)
	}
	for name, r := range map[string]strategy.Report{"own": own, "raw": raw} {
		got, err := strategy.ReadReport[maker.Report](r)
		if diff := cmp.Diff(own, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	for _, tt := range []struct {
		name   string
		report strategy.Report
		want   string
	}{
		{"none", nil, "there is no report; want one of maker"},
		{"of another method", petsql.Report{}, "the report is of petsql; want one of maker"},
		{"raw, of another method", rawreport.Report{Name: "petsql"}, "the report is of petsql; want one of maker"},
		{"of another shape", rawreport.Report{Name: "maker", JSON: json.RawMessage("[1]")},
			"reading the report of maker: json: "},
	} {
		if _, err := strategy.ReadReport[maker.Report](tt.report); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
	for _, bad := range []string{"[]", "{}", `{"a":1,"b":2}`} {
		if err := json.Unmarshal([]byte(bad), &raw); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

// TestDecidingTries: Executions and Statements bound what Decisive asks for; each statement has a conversation of its
// own.
func TestDecidingTries(t *testing.T) {
	const other = "SELECT nam FROM customers"
	for _, tt := range []struct {
		refine strategy.Refine
		calls  int
		why    string
	}{
		{strategy.Refine{}, 2, "two statements, a call each"},
		{strategy.Refine{Statements: 1}, 1, "the statement that most samples have"},
		{strategy.Refine{Executions: 3}, 4, "two statements, two calls each"},
	} {
		p := plain(5)
		p.Refine = &tt.refine
		p.Refine.Decisive = true
		n := 0
		model := llm.Func(func(_ context.Context, r llm.Request) (llm.Response, error) {
			reply := usa
			switch {
			case r.Purpose == "repair":
				n++
				reply = fmt.Sprintf("SELECT x%d FROM customers", n)
			case r.Sample == 1 || r.Sample == 2:
				reply = broken
			case r.Sample > 2:
				reply = other
			}
			return llm.Response{Text: reply, StopReason: llm.StopEnd}, nil
		})
		out := testutil.Value(p.Generate(t.Context(), shopEnv(t, model), strategy.Task{Question: "q"}))(t)
		if n != tt.calls || out.SQL != usa {
			t.Errorf("%s: %d calls, %q", tt.why, n, out.SQL)
		}
	}
}

// TestSteps: a repair is told with what it replaced, and how it ended.
func TestSteps(t *testing.T) {
	p := plain(4)
	p.Refine = &strategy.Refine{Decisive: true}
	for name, tt := range map[string]struct {
		rules []llmtest.Rule
		want  []string // "try action status" of each step
	}{
		"repaired": {[]llmtest.Rule{generate(everyone, broken, usa, broken), repairs(usa)},
			[]string{"0 generate rejected", "1 repair ok"}},
		"in vain": {[]llmtest.Rule{generate(usa, broken, broken, everyone), repairs("SELECT x FROM y")},
			[]string{"0 generate rejected", "1 repair rejected"}},
		"no SQL": {[]llmtest.Rule{generate(usa, broken, broken, everyone), repairs("Sorry.")},
			[]string{"0 generate rejected", "1 repair no-sql"}},
		"no model": {[]llmtest.Rule{generate(usa, broken, broken, everyone)},
			[]string{"0 generate rejected", "1 repair failed"}},
		"none": {[]llmtest.Rule{generate(usa, usa, usa, usa)}, nil},
		"again": {[]llmtest.Rule{generate(usa, broken, broken, everyone), repairs(broken)},
			[]string{"0 generate rejected", "1 repair no-progress"}},
	} {
		out := testutil.Value(p.Generate(t.Context(), shopEnv(t, &llmtest.Script{Rules: tt.rules}),
			strategy.Task{Question: "q"}))(t)
		var got []string
		for _, s := range out.Steps {
			got = append(got, string(rune('0'+s.Try))+" "+s.Action+" "+s.Status)
			if (s.Problem == "") != (s.Status == "ok") {
				t.Errorf("%s: %+v", name, s)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
