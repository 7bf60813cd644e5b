package linker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/dialogue"
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
		s.Tables = append(s.Tables,
			tables([]string{fmt.Sprintf("z%c%c%c", 'a'+i/676, 'a'+i/26%26, 'a'+i%26),
				fmt.Sprintf("f%c%c", 'a'+i/26%26, 'a'+i%26)}).Tables...)
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
			if at := slices.Index(shown(req), name); len(shown(req)) > 1 {
				return map[bool]string{true: fmt.Sprintf(`{"tables": [{"table": %d, "score": 1}]}`, at+1),
					false: `{"tables": []}`}[at >= 0], nil
			}
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
		most, perCall int // Tables, PerCall
		asked, calls  int
		warned        string
		found         bool
		why           string
	}{
		{40, 39, 0, 0, 40, 40, "", true, "one call a table"},
		{41, 40, 0, 0, 41, 21, "", true, "two tables a call, since 40 calls have no room for all"},
		{120, 119, 0, 0, 120, 40, "", true, "three a call"},
		{309, 308, 0, 0, 309, 39, "", true, "eight a call"},
		{320, 50, 0, 0, 320, 40, "", true, "all tables of a wave are asked about, though the first calls find one"},
		{321, 320, 0, 0, 321, 41, "", true, "the second wave"},
		{700, 699, 0, 0, 700, 88, "", true, "the last of the third"},
		{700, 3, 0, 0, 320, 40, "320 of 700 tables were asked about; 380 were not", true, "the first wave has it"},
		{60, 59, 40, 0, 40, 40, "40 of 60 tables were asked about; 20 were not", false, "Tables bounds all waves together"},
		{120, 119, 100, 0, 100, 34, "100 of 120 tables were asked about; 20 were not", false, "and how many a call is about"},
		{61, 60, 300, 1, 61, 61, "", true, "the loop as published"},
		{61, 3, 300, 1, 61, 61, "", true, "which asks about all, though one of the first is relevant"},
		{61, 3, 0, 5, 61, 13, "", true, "five a call"},
	} {
		s := erpOf(tt.tables, "kna1")
		name := s.Tables[tt.right].Name
		in := linker.Input{Question: "How many clients do we have?", Schema: s}
		calls := 0
		root := trace.Tracer{}.New("question")
		id, err := linker.PerTable{Model: relevant(name, &calls), Tables: tt.most,
			PerCall: tt.perCall}.Run(trace.NewContext(t.Context(), root), in)
		if (err == nil) != tt.found || len(id.Tables) != tt.asked || id.NotAsked != tt.tables-tt.asked ||
			warned(root) != tt.warned {
			t.Errorf("PerTable, %s: %d verdicts, %d not asked, %q, %v", tt.why, len(id.Tables), id.NotAsked, warned(root), err)
		}
		if tt.found && (!slices.Equal(names(id.Final), []string{name}) || calls != tt.calls+1) {
			t.Errorf("PerTable, %s: %v by %d calls", tt.why, id.Final, calls)
		}
		if !tt.found && (!errors.Is(err, linker.ErrNoTables) ||
			!strings.Contains(err.Error(), fmt.Sprintf("none of the %d tables asked about is relevant; 20 of %d were not asked",
				tt.asked, tt.tables))) {
			t.Errorf("PerTable, %s: %v", tt.why, err)
		}
		calls = 0
		root = trace.Tracer{}.New("question")
		reduced, err := linker.MapReduce{Model: relevant(name, &calls), Tables: tt.most,
			PerCall: tt.perCall}.Run(trace.NewContext(t.Context(), root), in)
		if err != nil || len(reduced.Tables) != tt.asked || reduced.NotAsked != tt.tables-tt.asked || calls != 1+tt.calls ||
			warned(root) != tt.warned {
			t.Errorf("MapReduce, %s: %d scores, %d not asked, %d calls, %q, %v", tt.why, len(reduced.Tables), reduced.NotAsked,
				calls, warned(root), err)
		}
		if kept := len(reduced.Links.Tables); tt.found && (kept != 1 || reduced.Links.Tables[0].Table != name) || !tt.found &&
			kept != 5 {
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
	root := trace.Tracer{}.New("question")
	id, err := linker.PerTable{Model: relevant("kna1", &calls)}.Run(trace.NewContext(t.Context(), root),
		linker.Input{Question: "How many clients?", Schema: s})
	want := "2 of 60 tables were asked about; 58 are alike and share one entry"
	if err != nil || len(id.Tables) != 2 || warned(root) != want || !slices.Contains(id.Links.Notes, want) {
		t.Errorf("%d verdicts, %q, %v", len(id.Tables), warned(root), err)
	}
}

// TestWavesWithinABudget: a budget that ends after one wave is told with what was asked about, and the question can be
// asked again under a larger one.
func TestWavesWithinABudget(t *testing.T) {
	in := linker.Input{Question: "How many clients?", Schema: erpOf(340, "kna1")}
	calls := 0
	account := llm.Budget{Calls: 41}.Start()
	_, err := linker.PerTable{Model: llm.Chain(relevant("kna1", &calls), account.Middleware())}.Run(t.Context(), in)
	if !errors.Is(err, linker.ErrNoTables) || !errors.Is(err, llm.ErrBudget) ||
		!strings.Contains(err.Error(), "none of the 320 tables asked about is relevant; 20 of 340 were not asked") {
		t.Errorf("PerTable: %v", err)
	}
	account = llm.Budget{Calls: 41}.Start()
	root := trace.Tracer{}.New("question")
	reduced, err := linker.MapReduce{Model: llm.Chain(relevant("kna1", &calls),
		account.Middleware())}.Run(trace.NewContext(t.Context(), root), in)
	if err != nil || len(reduced.Tables) != 320 || len(reduced.Links.Tables) != 5 ||
		!strings.Contains(warned(root), "320 of 340 tables were asked about; 20 were not") {
		t.Errorf("MapReduce: %d scores, %v, %v, %q", len(reduced.Tables), reduced.Links, err, warned(root))
	}
	account = llm.Budget{Calls: 30}.Start()
	_, err = linker.PerTable{Model: llm.Chain(relevant("kna1", &calls), account.Middleware())}.Run(t.Context(), in)
	if errors.Is(err, linker.ErrNoTables) || !errors.Is(err, llm.ErrBudget) {
		t.Errorf("a budget that ends in the first wave: %v", err)
	}
}

// TestWavesKeepCorrections: a table that the user names stays, though the index puts it behind all others, and no wave
// is asked for its sake.
func TestWavesKeepCorrections(t *testing.T) {
	calls := 0
	in := linker.Input{Question: "How many clients?", Schema: erpOf(700, "kna1"), Corrections: []session.Correction{
		{Kind: dialogue.CorrectTable, Tables: []schema.TableName{{Name: "kna1"}}},
	}}
	id, err := linker.PerTable{Model: relevant("nothing", &calls)}.Run(t.Context(), in)
	if err != nil || !slices.Equal(names(id.Final), []string{"kna1"}) || calls != 41 || len(id.Tables) != 321 {
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
	_, err := linker.PerTable{Model: stopping, Workers: 1}.Run(ctx, linker.Input{Question: "How many clients?",
		Schema: erpOf(700, "kna1")})
	if !errors.Is(err, context.Canceled) || calls > 41 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// TestLacking: where the synthesis says that something is missing, other tables follow, those first that words of it
// find, until another table is relevant. Where no table is left, the synthesis has no question about missing ones.
func TestLacking(t *testing.T) {
	for _, tt := range []struct {
		lacks  string
		tables int
		asked  int
		final  []string
		why    string
	}{
		{`"the names of the clients: table kna1"`, 1500, 321, []string{"clients", "kna1"}, "what its words name comes first"},
		{`"something else"`, 1500, 1500, []string{"clients", "kna1"}, "nothing names it: one wave after the other"},
		{`null`, 1500, 320, []string{"clients"}, "nothing is missing"},
		{`"None."`, 1500, 320, []string{"clients"}, "a text says so"},
		{`"null"`, 1500, 320, []string{"clients"}, "null as a text"},
		{`"nothing"`, 1500, 320, []string{"clients"}, "nothing as a text"},
		{`"Nothing is missing"`, 1500, 320, []string{"clients"}, "a sentence"},
		{`"N/A"`, 1500, 320, []string{"clients"}, "not applicable"},
		{`"the names of the clients: table kna1"`, 300, 300, []string{"clients", "kna1"}, "all tables were asked about"},
	} {
		s := erpOf(tt.tables, "kna1")
		s.Tables[0].Name = "clients"
		synthesized := 0
		o := &oracle{tables: []string{"clients", "kna1"}}
		o.say = func(req llm.Request) (string, error) {
			if req.Purpose != "synthesis" {
				return "", nil
			}
			if asked := strings.Contains(req.Messages[0].Text, "lacks"); asked != (tt.tables > 320 &&
				(synthesized == 0 || tt.asked < tt.tables)) {
				t.Errorf("%s: the synthesis is asked what is missing: %v", tt.why, asked)
			}
			synthesized++
			lacks := "null"
			if !slices.Contains(shown(req), "kna1") {
				lacks = tt.lacks
			}
			return `{"joins_needed": true, "lacks": ` + lacks + `}`, nil
		}
		id := identify(t, linker.PerTable{}, o, linker.Input{Question: "How many clients do we have?", Schema: s})
		if !slices.Equal(names(id.Final), tt.final) || tt.tables-id.NotAsked != tt.asked {
			t.Errorf("%s: %v, %d asked", tt.why, id.Final, tt.tables-id.NotAsked)
		}
	}
}

// TestFurtherWaves: where further tables cannot be asked about, or are not relevant, the earlier result stays.
func TestFurtherWaves(t *testing.T) {
	down := errors.New("down")
	for _, tt := range []struct {
		fails func(req llm.Request, synthesized int) bool
		how   error
		warns bool
		why   string
	}{
		{func(req llm.Request, n int) bool { return req.Purpose == "table" && n > 0 }, &llm.BudgetError{}, true,
			"a budget ends in the wave"},
		{func(req llm.Request, n int) bool {
			return req.Purpose == "table" && n > 0
		}, down, true, "the provider fails in the wave"},
		{func(req llm.Request, n int) bool { return req.Purpose == "synthesis" && n > 1 }, &llm.BudgetError{}, true,
			"a budget ends behind it"},
		{func(llm.Request, int) bool { return false }, nil, false, "nothing new"},
	} {
		s := erpOf(700, "kna1")
		s.Tables[0].Name = "clients"
		s.Tables[1].Name = "customers"
		relevant := []string{"clients", "customers"}
		if tt.how != nil {
			relevant = append(relevant, "kna1")
		}
		synthesized := 0
		o := &oracle{tables: relevant}
		o.say = func(req llm.Request) (string, error) {
			if req.Purpose == "synthesis" {
				synthesized++
			}
			switch {
			case tt.fails(req, synthesized):
				return "", tt.how
			case req.Purpose == "tables" && synthesized == 0:
				return `{"final_tables": ["clients"]}`, nil
			case req.Purpose == "synthesis":
				return `{"columns": ["clients.name"], "filters": "x = 1", "lacks": "table kna1"}`, nil
			}
			return "", nil
		}
		root := trace.Tracer{}.New("question")
		p := linker.PerTable{Model: o, Workers: 1}
		id, err := p.Run(trace.NewContext(t.Context(), root), linker.Input{Question: "How many clients do we have?",
			Schema: s})
		if err != nil || !slices.Equal(names(id.Final), []string{"clients"}) || id.Filters != "x = 1" ||
			len(id.Links.Tables) != 1 {
			t.Errorf("%s: %v, %v, %q", tt.why, err, names(id.Final), id.Filters)
		}
		told := slices.ContainsFunc(root.Warnings(), func(w trace.Warning) bool {
			return strings.Contains(w.Message, "those found before stay")
		})
		if told != tt.warns || tt.how == nil && synthesized != 1 {
			t.Errorf("%s: %v, %d syntheses", tt.why, root.Warnings(), synthesized)
		}
	}
}

// TestLackingOfAFamily: what is missing may mean another table of a family than the one to be asked about, which is
// asked about all the same.
func TestLackingOfAFamily(t *testing.T) {
	s := erpOf(340, "kna1")
	s.Tables[0].Name = "clients"
	for i := range 59 {
		s.Tables = append(s.Tables, tables([]string{fmt.Sprintf("zzzz_log_%02d", i), "line", "at"}).Tables...)
	}
	o := &oracle{tables: []string{"clients"}, say: func(req llm.Request) (string, error) {
		if req.Purpose == "synthesis" {
			return `{"lacks": "the table zzzz_log_17"}`, nil
		}
		return "", nil
	}}
	id := identify(t, linker.PerTable{}, o, linker.Input{Question: "How many clients do we have?", Schema: s})
	family := 0
	for _, v := range id.Tables {
		if strings.HasPrefix(v.Table.Name, "zzzz_log_") {
			family++
		}
	}
	if family != 1 || len(id.Tables) != 341 {
		t.Errorf("%d tables of the family, %d of all: %q", family, len(id.Tables), id.Links.Notes)
	}
}

// TestTogetherReplies: what a reply about several tables may be. Where one cannot be used, each table gets a call of
// its own.
func TestTogetherReplies(t *testing.T) {
	const alone = `{"is_relevant": false}`
	for reply, want := range map[string]struct {
		calls int
		final []string
	}{
		`{"tables": [{"table": 2, "is_relevant": true, "confidence": 3, "relevant_columns": ["name", "nothing"]}]}`: {2,
			[]string{"b"}},
		`{"tables": [{"table": "2"}, {"table": "\"C\"", "is_relevant": true}]}`: {3,
			[]string{"b", "c"}},
		`{"tables": [{"table": 2, "is_relevant": false}]}`: {1, nil},
		`{"tables": []}`:        {1, nil},
		`{"tables": ["b"]}`:     {2, []string{"b"}},      // a list of names
		`[2, 3]`:                {3, []string{"b", "c"}}, // numbers alone
		"```json\n[\"b\"]\n```": {2, []string{"b"}},
		`[{"table": 2}]`:        {2, []string{"b"}},
		`{"tables": [{"table": "Table 2"}, {"table": "TABLE c"}]}`: {3, []string{"b", "c"}},
		`[]`:                              {1, nil},
		`{"tables": [true]}`:              {4, nil},
		`see [2]`:                         {4, nil}, // no list alone
		`{"tables": null}`:                {4, nil},
		`{"tables": [{"table": 4}]}`:      {4, nil},
		`{"tables": [{"confidence": 1}]}`: {4, nil},
		`{"tables": [7]}`:                 {4, nil},
		alone:                             {4, nil},
		"no JSON":                         {3, nil}, // nor is the first one alone
	} {
		calls := 0
		model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			calls++
			switch {
			case req.Purpose == "tables":
				return llm.Response{Text: `{"final_tables": ["b", "c"]}`}, nil
			case req.Purpose == "table" && (len(shown(req)) > 1 || reply == "no JSON"):
				return llm.Response{Text: reply}, nil
			}
			return llm.Response{Text: alone}, nil
		})
		s := tables([]string{"a", "name"}, []string{"b", "name"}, []string{"c", "name"})
		id, err := linker.PerTable{Model: model, PerCall: 3}.Run(t.Context(), linker.Input{Question: "?", Schema: s})
		if calls != want.calls || !slices.Equal(names(id.Final), want.final) || (err == nil) != (want.final != nil) {
			t.Errorf("%s: %d calls, %v, %v", reply, calls, names(id.Final), err)
		}
	}
}
