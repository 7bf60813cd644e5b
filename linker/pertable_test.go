package linker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/trace"
)

// identify studies a question about a schema with the oracle.
func identify(t *testing.T, p linker.PerTable, o *oracle, in linker.Input) linker.PerTableResult {
	t.Helper()
	p.Model = o
	got := testutil.Value(p.Run(t.Context(), in))(t)
	return got
}

func tableNames(list ...string) (tables []schema.TableName) {
	for _, name := range list {
		tables = append(tables, schema.TableName{Name: name})
	}
	return tables
}

// TestPerTableLatencies: the outcome is that of the replies, whatever their order and the number of workers. Sequential
// tells each request what was selected before.
func TestPerTableLatencies(t *testing.T) {
	in := linker.Input{Question: "amounts of part 3 and part 17", Schema: numbered("part_%02d", 20)}
	var first steady
	for round := range 20 {
		for _, workers := range []int{1, 4, 16} {
			synctest.Test(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(round), uint64(workers)))
				delays := map[string]time.Duration{}
				for _, table := range in.Schema.Tables {
					delays[table.Name] = time.Duration(1+rng.IntN(1000)) * time.Millisecond
				}
				o := &oracle{tables: []string{"part_03", "part_17", "part_04"}, columns: []string{"part_03.amount"}}
				model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
					if req.Purpose == "table" {
						time.Sleep(delays[shown(req)[0]])
						if shown(req)[0] == "part_05" {
							return llm.Response{}, errors.New("overloaded")
						}
					}
					return o.Complete(ctx, req)
				})
				root := trace.Tracer{}.New("test")
				got := testutil.Value(linker.PerTable{Model: llm.Chain(model, llm.Trace()),
					Workers: workers}.Run(trace.NewContext(t.Context(), root), in))(t)
				first.same(t, root, got, fmt.Sprintf("round %d, %d workers", round, workers))
			})
		}
	}
	for _, sequential := range []bool{true, false} {
		o := &oracle{tables: []string{"part_03", "part_17"}}
		identify(t, linker.PerTable{Sequential: sequential, Workers: 7}, o, in)
		for i, req := range o.of("table") {
			text := req.Messages[1].Text
			if strings.Contains(text, "- part_00\n") {
				t.Errorf("a table that was not selected is listed:\n%s", text)
			}
			before3, before17 := strings.Contains(text, "- part_03\n"), strings.Contains(text, "- part_17\n")
			if sequential && (shown(req)[0] != fmt.Sprintf("part_%02d", i) || before3 != (i > 3) || before17 != (i > 17)) ||
				!sequential && (before3 ||
					before17) {
				t.Errorf("sequential %v, request %d shows\n%s", sequential, i, text)
			}
		}
	}
}

// TestPerTableOneTable: no second step for one candidate.
func TestPerTableOneTable(t *testing.T) {
	for _, tt := range []struct {
		relevant []string
		calls    int
		err      error
	}{{[]string{"t_0"}, 6, nil}, {[]string{"t_0", "t_4"}, 7, nil}, {nil, 5, linker.ErrNoTables}} {
		o := &oracle{tables: tt.relevant}
		got, err := linker.PerTable{Model: o}.Run(t.Context(), linker.Input{Question: "?", Schema: numbered("t_%d", 5)})
		if !errors.Is(err, tt.err) || len(o.requests) != tt.calls || len(got.Tables) != 5 ||
			!slices.Equal(names(got.Final), tt.relevant) {
			t.Errorf("%q: %d calls, %v, %+v", tt.relevant, len(o.requests), err, got)
		}
	}
}

func promptTokens(req llm.Request) (n int) {
	for _, m := range req.Messages {
		n += prompttext.EstimateTokens(m.Text)
	}
	return n
}

// TestPerTableWide: a table of 400 columns fits, with its keys and the columns of which the question has words; the
// prompt says how many it leaves out. A prompt that shows nearly nothing still shows a column.
func TestPerTableWide(t *testing.T) {
	names := []string{"wide"}
	for i := range 400 {
		names = append(names, fmt.Sprintf("a_column_with_a_long_name_that_nobody_asks_for_%03d", i))
	}
	names[300], names[390], names[399] = "the_key", "ref", "harbour"
	s := tables(names, []string{"small", "id"})
	s.Tables[0].PrimaryKey = []string{"the_key"}
	key := schema.ForeignKey{Columns: []string{"ref"}, RefTable: "small", RefColumns: []string{"id"}}
	for i := range s.Tables[0].Columns {
		s.Tables[0].Columns[i].Description = strings.Repeat("said of it ", 8)
	}
	for _, tt := range []struct {
		tokens, shown int
		want          []string
		keys          int
	}{
		{0, 262, []string{"the_key", "ref", "harbour", names[1], names[2]}, 1},
		{800, 45, []string{"the_key", "ref", "harbour", names[1]}, 1},
		{800, 45, []string{"the_key", "ref", "harbour", names[1]}, 100}, // they do not fit
		{196, 4, []string{"the_key"}, 1},
	} {
		s.Tables[0].ForeignKeys = slices.Repeat([]schema.ForeignKey{key}, tt.keys)
		o := &oracle{tables: []string{"wide"}}
		got := identify(t, linker.PerTable{TableTokens: tt.tokens, CallTokens: tt.tokens}, o,
			linker.Input{Question: "Which harbour?", Schema: s})
		req := o.requests[slices.IndexFunc(o.requests, func(r llm.Request) bool { return shown(r)[0] == "wide" })]
		text := req.Messages[1].Text
		count := strings.Count(text, " TEXT")
		if notice := fmt.Sprintf("  -- %d more columns\n);\n", 400-count); count != tt.shown ||
			!strings.Contains(text, notice) {
			t.Errorf("%d tokens: %d columns, want %d, and a notice behind them:\n%.300s", tt.tokens, count, tt.shown, text)
		}
		if known := strings.Contains(text, ");\nFOREIGN KEY (ref) REFERENCES small(id)\n"); known != (tt.keys == 1) {
			t.Errorf("%d tokens, %d foreign keys: shown %v", tt.tokens, tt.keys, known)
		}
		if got.Tables[0].Omitted != 400-count {
			t.Errorf("%d tokens: %d omitted", tt.tokens, got.Tables[0].Omitted)
		}
		for _, name := range tt.want {
			if !strings.Contains(text, "\n    "+name+" ") && !strings.Contains(text, " "+name+" ") {
				t.Errorf("%d tokens: %s is not shown", tt.tokens, name)
			}
		}
		for _, req := range o.requests {
			if most := max(tt.tokens, 4000*(1-min(tt.tokens, 1))); promptTokens(req) > most {
				t.Errorf("%s takes %d of %d tokens", req.Purpose, promptTokens(req), most)
			}
		}
	}
}

// TestPerTableMany: a schema of 500 tables needs memory for the requests in flight, and candidates that do not fit one
// call are judged in groups.
func TestPerTableMany(t *testing.T) {
	s := &schema.Schema{}
	for i := range 500 {
		names := []string{"table_" + string(rune('a'+i/26)) + string(rune('a'+i%26))}
		for j := range 40 {
			names = append(names, fmt.Sprintf("some_column_%02d", j))
		}
		s.Tables = append(s.Tables, tables(names).Tables...)
	}
	var gold []string
	for i := 480; i < 500; i++ { // the last wave
		gold = append(gold, s.Tables[i].Name)
	}
	var mu sync.Mutex
	var most uint64
	o := &oracle{tables: gold}
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		var m runtime.MemStats
		mu.Lock()
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
		mu.Unlock()
		if n := promptTokens(req); n > 1000 {
			t.Errorf("%s takes %d of 1000 tokens", req.Purpose, n)
		}
		return o.Complete(ctx, req)
	})
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := linker.PerTable{Model: model, TableTokens: 1000, CallTokens: 1000}.Run(t.Context(),
		linker.Input{Question: "?", Schema: s})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(names(got.Final), gold) {
		t.Errorf("%v, want %v", got.Final, gold)
	}
	groups := map[string]int{}
	for _, req := range o.of("tables") {
		for _, name := range shown(req) {
			groups[name]++
		}
		if n := len(shown(req)); n < 2 || n > 4 {
			t.Errorf("a group of %d tables", n)
		}
	}
	for _, name := range gold {
		if groups[name] != 1 {
			t.Errorf("%s was judged %d times together with others", name, groups[name])
		}
	}
	if last := o.of("synthesis"); len(last) != 1 || strings.Count(last[0].Messages[1].Text, "CREATE TABLE table_") != 20 {
		t.Errorf("the synthesis does not show all 20 tables once: %v", last)
	}
	t.Logf("%d calls, %d of them together, heap %d MB above %d", len(o.requests), len(o.of("tables")),
		(most-before.HeapAlloc)>>20, before.HeapAlloc>>20)
	if most > before.HeapAlloc+100<<20 {
		t.Errorf("the heap grew by %d MB", (most-before.HeapAlloc)>>20)
	}
}

// TestPerTableAmbiguity is the truth table.
func TestPerTableAmbiguity(t *testing.T) {
	s := tables([]string{"a", "x"}, []string{"b", "x"}, []string{"c", "x"})
	ofTable := session.Correction{Kind: dialogue.CorrectTable, Tables: tableNames("b")}
	for _, tt := range []struct {
		gold      []string
		synthesis string
		corrected []session.Correction
		asks      bool
		why       string
	}{
		{[]string{"a"}, `{"joins_needed": false}`, nil, false, "one table is trusted"},
		{[]string{"a"}, `{"joins_needed": true}`, nil, false, "one table"},
		{[]string{"b"}, `{"joins_needed": false}`, []session.Correction{ofTable}, false, "one table"},
		{[]string{"b"}, `{"joins_needed": true}`, []session.Correction{ofTable}, false, "one table"},
		{[]string{"a", "b"}, `{"joins_needed": true}`, nil, false, "joined"},
		{[]string{"a", "b"}, `{"joins_needed": true}`, []session.Correction{ofTable}, false, "joined"},
		{[]string{"a", "b"}, `{"joins_needed": false}`, []session.Correction{ofTable}, false, "the user decided"},
		{[]string{"a", "b"}, `{"joins_needed": false}`, nil, true, "several, not joined, and nobody decided"},
		{[]string{"a", "b"}, `{"joins_needed": false, "combine": "none"}`, nil, true, "not combined"},
		{[]string{"a", "b"}, `{"joins_needed": false, "combine": "union"}`, nil, false, "a union"},
		{[]string{"a", "b"}, `{"joins_needed": false, "combine": "subquery"}`, nil, false, "a subquery"},
		{[]string{"a", "b"}, `{}`, nil, false, "unknown: joined"},
		{[]string{"a", "b"}, `{"joins_needed": false}`, []session.Correction{{Kind: dialogue.CorrectText, Text: "all of it"}},
			true,
			"a clarification decides nothing here"},
		{[]string{"a", "b"}, `{"joins_needed": false}`, []session.Correction{{Kind: dialogue.CorrectColumn, Term: "it",
			Column: &schema.ColumnName{Table: schema.TableName{Name: "a"}, Column: "x"}}}, false, "the user named one of them"},
	} {
		o := &oracle{tables: tt.gold, say: func(req llm.Request) (string, error) {
			switch {
			case req.Purpose == "synthesis":
				return tt.synthesis, nil
			case req.Purpose == "table" && shown(req)[0] == "b" && len(tt.gold) > 1:
				return `{"is_relevant": true, "confidence": 0.95, "reasoning": "has it"}`, nil
			}
			return "", nil
		}}
		in := linker.Input{Question: "the x?", Schema: s, Corrections: tt.corrected}
		q := identify(t, linker.PerTable{}, o, in).Ambiguity(in)
		if (q != nil) != tt.asks {
			t.Errorf("%s: %v", tt.why, q)
		}
		if q == nil {
			continue
		}
		want := &session.QuestionError{
			Kind: dialogue.KindTable, Message: "Which table is meant?",
			Options: []session.Option{
				{ID: "t1", Label: "b: has it", Table: &schema.TableName{Name: "b"}, Confidence: .95},
				{ID: "t2", Label: "a: as the gold", Table: &schema.TableName{Name: "a"}, Confidence: .9},
			},
			Context: map[string]string{"type": "table_selection", "user_query": "the x?", "selected_table": "b",
				"similar_tables": "a"},
		}
		golden.Equal(t, want, q, tt.why)
	}
}

// TestPerTableCorrections: what corrections change, and which requests state them.
func TestPerTableCorrections(t *testing.T) {
	s := tables([]string{"a", "x", "y"}, []string{"b", "x", "y"}, []string{"c", "x", "y"}, []string{"d", "x", "y"})
	column := func(table, name string) schema.ColumnName {
		return schema.ColumnName{Table: schema.TableName{Name: table}, Column: name}
	}
	d := column("d", "y")
	join := session.Correction{Kind: dialogue.CorrectJoin, Join: &schema.Join{Left: column("a", "x"),
		Right: column("d", "y")}}
	base := &oracle{tables: []string{"a", "b"}, columns: []string{"a.x", "b.x"}}
	identify(t, linker.PerTable{Workers: 1}, base, linker.Input{Question: "?", Schema: s})
	for _, tt := range []struct {
		corrections []session.Correction
		final       string
		joins       bool
		states      []string // purposes of the requests that state them
		why         string
	}{
		{[]session.Correction{{Kind: dialogue.CorrectTable, Tables: tableNames("c"), Rejected: tableNames("b")}}, "[a c]",
			true,
			[]string{"tables", "synthesis"}, "forced in, and out"},
		{[]session.Correction{{Kind: dialogue.CorrectTable, Rejected: tableNames("b")}}, "[a]", false, []string{"synthesis"},
			"out alone"},
		{[]session.Correction{{Kind: dialogue.CorrectTable, Rejected: tableNames("B")},
			{Kind: dialogue.CorrectTable, Tables: tableNames("b")}}, "[a b]", true,
			[]string{"tables", "synthesis"}, "the later one counts"},
		{[]session.Correction{{Kind: dialogue.CorrectColumn, Term: "it", Column: &d}}, "[a b d]", true, nil,
			"the table of a mapped column"},
		{[]session.Correction{join}, "[a b d]", true, nil, "the tables of a mandatory join"},
		{[]session.Correction{{Kind: dialogue.CorrectText, Text: "I mean it"}, {Kind: dialogue.CorrectFilter, Text: "x > 1"},
			{Kind: dialogue.CorrectLogic, Text: "y is x"}},
			"[a b]", true, []string{"table", "tables", "synthesis"}, "everywhere"},
	} {
		o := &oracle{tables: base.tables, columns: base.columns}
		got := identify(t, linker.PerTable{Workers: 1}, o,
			linker.Input{Question: "?", Schema: s, Corrections: tt.corrections})
		if fmt.Sprint(names(got.Final)) != tt.final || got.JoinsNeeded != tt.joins {
			t.Errorf("%s: %v, joins %v; want %s", tt.why, got.Final, got.JoinsNeeded, tt.final)
		}
		for i, req := range o.requests {
			stated := true
			for _, c := range tt.corrections {
				stated = stated && strings.Contains(req.Messages[1].Text, "\nThe user says: "+c.Constraint()+"\n")
			}
			if stated != slices.Contains(tt.states, req.Purpose) {
				t.Errorf("%s: %s states it: %v\n%s", tt.why, req.Purpose, stated, req.Messages[1].Text)
			}
			if !slices.Contains(tt.states, "table") && i < 4 && !cmp.Equal(req, base.requests[i]) {
				t.Errorf("%s: the request about a table changed: %s", tt.why, cmp.Diff(base.requests[i], req))
			}
			if tt.states == nil && !cmp.Equal(req, base.requests[i]) {
				t.Errorf("%s: a request changed: %s", tt.why, cmp.Diff(base.requests[i], req))
			}
		}
		for _, l := range got.Links.Tables {
			if isForced := l.Table == "c" || l.Table == "d"; isForced != (l.Columns == nil) {
				t.Errorf("%s: columns of %s: %q; want all of a table that the model did not find, and of the others those needed",
					tt.why, l.Table, l.Columns)
			}
			if l.Table == "a" && !slices.Equal(l.Columns, []string{"x"}) {
				t.Errorf("%s: columns of a: %q", tt.why, l.Columns)
			}
		}
	}
	between := session.Correction{Kind: dialogue.CorrectJoin, Join: &schema.Join{Left: column("a", "x"),
		Right: column("b", "y")}}
	apart := &oracle{tables: base.tables, say: func(req llm.Request) (string, error) {
		return map[string]string{"synthesis": `{"joins_needed": false}`}[req.Purpose], nil
	}}
	if got := identify(t, linker.PerTable{}, apart,
		linker.Input{Question: "?", Schema: s, Corrections: []session.Correction{between}}); !got.JoinsNeeded {
		t.Error("a mandatory join, and no joins are needed")
	}
	mapped := column("a", "y")
	o := &oracle{tables: base.tables, columns: base.columns}
	got := identify(t, linker.PerTable{}, o,
		linker.Input{Question: "?", Schema: s, Corrections: []session.Correction{{Kind: dialogue.CorrectColumn,
			Term: "it", Column: &mapped}}})
	if l := got.Links.Tables[0]; !slices.Equal(l.Columns, []string{"x", "y"}) {
		t.Errorf("a mapped column is not linked: %+v", l)
	}
	o = &oracle{tables: base.tables}
	_, err := linker.PerTable{Model: o}.Run(t.Context(), linker.Input{Question: "?", Schema: s,
		Corrections: []session.Correction{{Kind: dialogue.CorrectTable, Rejected: tableNames("a", "b")}}})
	if !errors.Is(err, linker.ErrNoTables) {
		t.Errorf("all tables rejected: %v", err)
	}
	in := linker.Input{Question: "and of those?", Schema: s,
		Earlier: []session.PreviousTurn{{Question: "who\n### Question", SQL: "SELECT x\nFROM a"}}}
	o = &oracle{tables: base.tables}
	identify(t, linker.PerTable{}, o, in)
	for _, req := range o.requests {
		const want = "Earlier question: who ### Question\nIt was answered by: SELECT x FROM a\n" +
			"The question may refer to these. If it is complete without them, it keeps none of their conditions.\nQuestion: " +
			"and of those?\n"
		if !strings.HasPrefix(req.Messages[1].Text, want) {
			t.Errorf("%s does not begin with what was asked before:\n%s", req.Purpose, req.Messages[1].Text)
		}
	}
	alone := &oracle{tables: []string{"a"}, columns: []string{"a.x"}}
	in = linker.Input{Question: "?", Schema: s,
		Corrections: []session.Correction{{Kind: dialogue.CorrectColumn, Term: "it", Column: &d}}}
	if got := identify(t, linker.PerTable{}, alone, in); fmt.Sprint(names(got.Final)) != "[a d]" || !got.JoinsNeeded {
		t.Errorf("a table alone and one that is forced in: %v, joins %v", got.Final, got.JoinsNeeded)
	}
}

func names(tables []schema.TableName) (names []string) {
	for _, t := range tables {
		names = append(names, t.Name)
	}
	return names
}
