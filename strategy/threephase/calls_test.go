package threephase_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/host"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// TestSame: replies that come in any order, by any number of workers, make the same outcome and the same trace.
func TestSame(t *testing.T) {
	for _, workers := range []int{1, 4, 16} {
		s := threephase.Strategy{Tables: linker.PerTable{Workers: workers}}
		strategytest.SameWhateverTheLatency(t, s, strategytest.ShopEnv(t, nil), orderedTask, func() []llm.Model {
			return []llm.Model{&scripted{tables: both, sql: []string{strategytest.Broken, strategytest.Ordered}}}
		})
	}
}

// TestCallTokens: no call takes more than its limit, whatever the schema and the attempts.
func TestCallTokens(t *testing.T) {
	var script strings.Builder
	var names []string
	for i := range 25 {
		names = append(names, fmt.Sprintf("sales_region_%02d", i))
		fmt.Fprintf(&script, "CREATE TABLE %s (id INTEGER PRIMARY KEY", names[i])
		for c := range 40 {
			fmt.Fprintf(&script, ", quantity_delivered_%02d REAL", c)
		}
		script.WriteString(");\n")
	}
	var sql []string
	for i := range 2 {
		sql = append(sql, fmt.Sprintf("SELECT nobody%d%s FROM sales_region_00", i, strings.Repeat(" + quantity_delivered_07",
			160)))
	}
	sql = append(sql, "SELECT id FROM sales_region_00")
	for _, limit := range []int{0, 2500} {
		m := &scripted{tables: names, sql: sql, synthesis: map[string]any{"joins_needed": false, "combine": "union"}}
		env := strategytest.EnvOf(t, script.String(), m)
		env.Host.Omissions = &host.PromptCuts{}
		if limit == 0 {
			env.Lessons = advice()
		}
		out, err := threephase.Strategy{CallTokens: limit}.Generate(t.Context(), env,
			strategy.Task{Question: "How much was delivered in all regions?"})
		if err != nil {
			t.Fatal(err)
		}
		env.Host.Omissions.Report(t.Context(), &out.Notes)
		if !slices.ContainsFunc(out.Notes, func(n string) bool {
			return strings.Contains(n, "does not show all of the schema")
		}) {
			t.Errorf("nobody says that the schema was shortened: %q", out.Notes)
		}
		most := limit
		if limit == 0 {
			most = 4000
		}
		for _, r := range m.requests {
			tokens := 0
			for _, message := range r.Messages {
				tokens += prompttext.EstimateTokens(message.Text)
			}
			if tokens > most || tokens < most/3 && (r.Purpose == "generate" || r.Purpose == "repair") {
				t.Errorf("a call to %q takes %d tokens of %d", r.Purpose, tokens, most)
			}
		}
		if len(m.of("repair")) != 2 {
			t.Errorf("%d corrections", len(m.of("repair")))
		}
	}
}

// TestNeededColumns: where the tables do not fit, the columns that the question needs stay.
func TestNeededColumns(t *testing.T) {
	var script strings.Builder
	script.WriteString("CREATE TABLE measures (id INTEGER PRIMARY KEY")
	for i := range 400 {
		fmt.Fprintf(&script, ", reading_of_sensor_%03d REAL", i)
	}
	m := &scripted{tables: []string{"measures"}, columns: []string{"reading_of_sensor_377"},
		sql: []string{"SELECT id FROM measures"}}
	env := strategytest.EnvOf(t, script.String()+")", m)
	for limit, all := range map[int]bool{2000: false, 20_000: true} {
		m.requests = nil
		testutil.Value((threephase.Strategy{CallTokens: limit}).Generate(t.Context(), env,
			strategy.Task{Question: "What did the last one measure?"}))(t)
		text := said(m.of("generate")[0])
		if !strings.Contains(text, "_377 ") || strings.Contains(text, "_001 ") != all ||
			!strings.Contains(text, "id INTEGER PRIMARY KEY") {
			t.Errorf("%d tokens:\n%s", limit, text)
		}
	}
}

// advice is as much as lessons may say.
func advice() *memory.RetrievedLessons {
	var r memory.RetrievedLessons
	for i := range 5 {
		long := fmt.Sprintf("%d %s", i, strings.Repeat("never ", 48))
		r.Lessons = append(r.Lessons, memory.Lesson{ID: fmt.Sprint("guide", i), Kind: "llm_guided", Text: long,
			Confidence: 0.95}, memory.Lesson{ID: fmt.Sprint("query", i), Kind: "query_pattern", Text: long, SQL: "SELECT " +
			strings.Repeat("id, ", 60) + "id FROM sales_region_01",
			Tables: []string{"sales_region_01"}, Confidence: 0.95},
			memory.Lesson{ID: fmt.Sprint("error", i), Kind: "error_pattern", Pattern: "nobody", Text: long, Confidence: 0.95})
	}
	return &r
}
