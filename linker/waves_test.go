package linker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/trace"
)

// erpOf are n tables without a word of the question, of which kna1 is the last, where it is one.
func erpOf(n int, last string) *schema.Schema {
	s := &schema.Schema{}
	for i := range n - 1 {
		s.Tables = append(s.Tables, tables([]string{fmt.Sprintf("z%c%c%c", 'a'+i/676, 'a'+i/26%26, 'a'+i%26), fmt.Sprintf("f%c%c", 'a'+i/26%26, 'a'+i%26)}).Tables...)
	}
	s.Tables = append(s.Tables, tables([]string{last, "kunnr"}).Tables...)
	return s
}

// relevant is a model that knows one table; scores are the same for MapReduce.
func relevant(name string, calls *int) llm.Model {
	o := &oracle{tables: []string{name}}
	o.say = func(req llm.Request) (string, error) {
		*calls++
		switch req.Purpose {
		case "decompose":
			return `{"components": [{"text": "clients", "type": "entity"}]}`, nil
		case "score":
			return fmt.Sprintf(`{"score": %d}`, map[bool]int{true: 1}[slices.Contains(shown(req), name)]), nil
		}
		return "", nil
	}
	return o
}

// TestWaves: however many tables there are, the one that the index puts last is asked about, and no more waves than it
// takes.
func TestWaves(t *testing.T) {
	for _, tt := range []struct {
		tables, right int // the place of the right one
		most          int // Tables
		asked         int
		warned        string
		found         bool
		why           string
	}{
		{40, 39, 0, 40, "", true, "one wave"},
		{41, 40, 0, 41, "", true, "a wave more for one table"},
		{60, 59, 0, 60, "", true, "the last of the second wave"},
		{120, 119, 0, 120, "", true, "the last of the third"},
		{300, 299, 0, 300, "", true, "the last of the eighth"},
		{300, 50, 0, 80, "80 of 300 tables were asked about; 220 were not", true, "the second wave has it"},
		{60, 3, 0, 40, "40 of 60 tables were asked about; 20 were not", true, "the first wave has it"},
		{60, 59, 40, 40, "40 of 60 tables were asked about; 20 were not", false, "Tables bounds all waves together"},
		{120, 119, 100, 100, "100 of 120 tables were asked about; 20 were not", false, "the last wave is cut"},
	} {
		s := erpOf(tt.tables, "kna1")
		name := s.Tables[tt.right].Name
		in := linker.Input{Question: "How many clients do we have?", Schema: s}
		calls := 0
		root := trace.New("question")
		id, err := linker.PerTable{Model: relevant(name, &calls), Tables: tt.most}.Run(trace.Into(t.Context(), root), in)
		if (err == nil) != tt.found || len(id.Tables) != tt.asked || id.NotAsked != tt.tables-tt.asked || warned(root) != tt.warned {
			t.Errorf("PerTable, %s: %d verdicts, %d not asked, %q, %v", tt.why, len(id.Tables), id.NotAsked, warned(root), err)
		}
		if tt.found && (!slices.Equal(names(id.Final), []string{name}) || calls != tt.asked+1) {
			t.Errorf("PerTable, %s: %v by %d calls", tt.why, id.Final, calls)
		}
		var none *linker.NoTablesError
		if !tt.found && (!errors.Is(err, linker.ErrNoTables) || !errors.As(err, &none) || none.Asked != tt.asked || none.Total != tt.tables ||
			!strings.Contains(err.Error(), fmt.Sprintf("none of the %d tables asked about is relevant; 20 of %d were not asked", tt.asked, tt.tables))) {
			t.Errorf("PerTable, %s: %v", tt.why, err)
		}
		calls = 0
		root = trace.New("question")
		reduced, err := linker.MapReduce{Model: relevant(name, &calls), Tables: tt.most}.Run(trace.Into(t.Context(), root), in)
		if err != nil || len(reduced.Tables) != tt.asked || reduced.NotAsked != tt.tables-tt.asked || calls != 1+tt.asked || warned(root) != tt.warned {
			t.Errorf("MapReduce, %s: %d scores, %d not asked, %d calls, %q, %v", tt.why, len(reduced.Tables), reduced.NotAsked, calls, warned(root), err)
		}
		if kept := len(reduced.Links.Tables); tt.found && (kept != 1 || reduced.Links.Tables[0].Table != name) || !tt.found && kept != 5 {
			t.Errorf("MapReduce, %s: links %v", tt.why, reduced.Links)
		}
	}
}

// warned is what the warning tables-not-asked says.
func warned(root *trace.Span) (text string) {
	for _, w := range root.Warnings() {
		if w.Code == "tables-not-asked" {
			text += w.Message
		}
	}
	return text
}

// TestWavesOfAFamily: tables alike share one entry, which is asked about once.
func TestWavesOfAFamily(t *testing.T) {
	s := tables([]string{"kna1", "kunnr"})
	for i := range 59 {
		s.Tables = append(s.Tables, tables([]string{fmt.Sprintf("log_%02d", i), "line", "at"}).Tables...)
	}
	calls := 0
	root := trace.New("question")
	id, err := linker.PerTable{Model: relevant("kna1", &calls)}.Run(trace.Into(t.Context(), root), linker.Input{Question: "How many clients?", Schema: s})
	want := "2 of 60 tables were asked about; 58 are alike and share one entry"
	if err != nil || len(id.Tables) != 2 || warned(root) != want || !slices.Contains(id.Links.Notes, want) {
		t.Errorf("%d verdicts, %q, %v", len(id.Tables), warned(root), err)
	}
}

// TestWavesWithinABudget: a budget that ends after one wave is told with what was asked about, and the question can be
// asked again under a larger one.
func TestWavesWithinABudget(t *testing.T) {
	in := linker.Input{Question: "How many clients?", Schema: erpOf(60, "kna1")}
	calls := 0
	account := llm.Budget{Calls: 45}.Start()
	_, err := linker.PerTable{Model: llm.Chain(relevant("kna1", &calls), account.Middleware())}.Run(t.Context(), in)
	if !errors.Is(err, linker.ErrNoTables) || !errors.Is(err, llm.ErrBudget) ||
		!strings.Contains(err.Error(), "none of the 40 tables asked about is relevant; 20 of 60 were not asked") {
		t.Errorf("PerTable: %v", err)
	}
	account = llm.Budget{Calls: 45}.Start()
	root := trace.New("question")
	reduced, err := linker.MapReduce{Model: llm.Chain(relevant("kna1", &calls), account.Middleware())}.Run(trace.Into(t.Context(), root), in)
	if err != nil || len(reduced.Tables) != 40 || len(reduced.Links.Tables) != 5 ||
		!strings.Contains(warned(root), "40 of 60 tables were asked about; 20 were not") {
		t.Errorf("MapReduce: %d scores, %v, %v, %q", len(reduced.Tables), reduced.Links, err, warned(root))
	}
	account = llm.Budget{Calls: 30}.Start()
	_, err = linker.PerTable{Model: llm.Chain(relevant("kna1", &calls), account.Middleware())}.Run(t.Context(), in)
	if errors.Is(err, linker.ErrNoTables) || !errors.Is(err, llm.ErrBudget) {
		t.Errorf("a budget that ends in the first wave: %v", err)
	}
}

// TestWavesKeepCorrections: a table that the user names stays, though the index puts it behind all others, and no wave is
// asked for its sake.
func TestWavesKeepCorrections(t *testing.T) {
	calls := 0
	in := linker.Input{Question: "How many clients?", Schema: erpOf(300, "kna1"), Corrections: []session.Correction{
		{Kind: session.CorrectTable, Tables: []schema.TableName{{Name: "kna1"}}},
	}}
	id, err := linker.PerTable{Model: relevant("nothing", &calls)}.Run(t.Context(), in)
	if err != nil || !slices.Equal(names(id.Final), []string{"kna1"}) || calls != 41 || len(id.Tables) != 41 {
		t.Errorf("%v by %d calls, %d verdicts, %v", id.Final, calls, len(id.Tables), err)
	}
}

// TestWavesCancelled: no wave begins after the context has ended.
func TestWavesCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	model := relevant("nothing", &calls)
	stopping := llm.Func(func(c context.Context, req llm.Request) (llm.Response, error) {
		if calls == 39 {
			defer cancel()
		}
		return model.Complete(c, req)
	})
	_, err := linker.PerTable{Model: stopping, Workers: 1}.Run(ctx, linker.Input{Question: "How many clients?", Schema: erpOf(300, "kna1")})
	if !errors.Is(err, context.Canceled) || calls > 41 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
