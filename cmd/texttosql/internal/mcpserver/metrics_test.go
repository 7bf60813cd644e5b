package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/mcpserver"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
)

var singers = knowledge.Model{
	Tables: []knowledge.Table{{Name: "singer"}, {Name: "payroll"}},
	Metrics: []knowledge.Metric{
		{Name: "fans", Expr: "SUM(singer.fans)", Subject: knowledge.Subject{Description: "people who like them"}},
		{Name: "wages", Expr: "SUM(payroll.salary)"},
	},
}

// TestMetrics: metrics are listed, computed and refused with a reason; one over a denied table is not there at all. No
// model is asked.
func TestMetrics(t *testing.T) {
	m := newModel()
	change := func(c *mcpserver.Config) { c.Databases[0].Metrics = true }
	cs := connect(t, serverOf(t, m, change, texttosql.WithKnowledge(singers)), nil, "")

	_, _, list := call(t, cs, "list_metrics", nil)
	if !strings.Contains(list, "metric fans = SUM(singer.fans): people who like them") ||
		!strings.Contains(list, "country") || strings.Contains(list, "wages") {
		t.Errorf("the list:\n%s", list)
	}
	model := testutil.Value(cs.ReadResource(t.Context(),
		&mcp.ReadResourceParams{URI: "knowledge://model"}))(t).Contents[0].Text
	if !strings.Contains(model, `"fans"`) || strings.Contains(model, "payroll") || strings.Contains(model, "wages") {
		t.Errorf("the resource: %s", model)
	}
	for _, test := range []struct {
		why     string
		request map[string]any
		rows    string // "": refused
		says    string
	}{
		{"one number", map[string]any{"metrics": []string{"fans"}, "where": []string{"singer.country = 'France'"}}, "[[",
			"singer"},
		{"grouped and ordered", map[string]any{"metrics": []string{"fans"}, "group_by": []string{"singer.country"},
			"order_by": []string{"-fans"},
			"limit":    1}, "[[", ""},
		{"a denied one is unknown", map[string]any{"metrics": []string{"wages"}}, "",
			"unknown: metric wages: the model has no metric wages"},
		{"a condition on a denied table", map[string]any{"metrics": []string{"fans"},
			"where": []string{"payroll.salary > 1"}}, "", "unknown"},
		{"a query in a condition", map[string]any{"metrics": []string{"fans"}, "where": []string{"singer.id IN (SELECT 1)"}},
			"", "invalid"},
	} {
		res, out, text := call(t, cs, "query_metrics", test.request)
		if res.IsError != (test.rows == "") || !res.IsError && !strings.HasPrefix(asJSON(t, out["rows"]), test.rows) {
			t.Errorf("%s: %s", test.why, text)
		}
		if test.rows == "" && !strings.Contains(text, test.says) {
			t.Errorf("%s: %s, want %s", test.why, text, test.says)
		}
		closing := "By the metric fans."
		if test.rows != "" && (out["closing"] != closing || !strings.Contains(text, closing)) {
			t.Errorf("%s: closing %v in\n%s", test.why, out["closing"], text)
		}
	}
	if m.calls != 0 {
		t.Errorf("%d calls of a model", m.calls)
	}
}
