package linker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// judging is a model for MapReduce: what it says to decompose, and about each table. "" about a table is no.
type judging struct {
	decompose string
	score     func(ctx context.Context, table string) (string, error)
	calls     atomic.Int64
}

var asksAbout = regexp.MustCompile(`(?m)^CREATE TABLE (.*) \($`)

func (m *judging) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	m.calls.Add(1)
	if err := ctx.Err(); err != nil {
		return llm.Response{}, err
	}
	if req.Purpose == "decompose" {
		text := m.decompose
		if text == "" {
			text = `{"entity": "it"}`
		}
		return llm.Response{Text: text}, nil
	}
	table := "?"
	for _, message := range req.Messages { // of a second request, the table stands in the first
		if found := asksAbout.FindStringSubmatch(message.Text); found != nil {
			table = found[1]
		}
	}
	text, err := m.score(ctx, table)
	if text == "" {
		text = `{"relevant": false}`
	}
	return llm.Response{Text: text}, err
}

// verdicts is what a judging model says, by table.
func verdicts(of map[string]string) *judging {
	return &judging{score: func(_ context.Context, table string) (string, error) { return of[table], nil }}
}

func reduced(t *testing.T, m linker.MapReduce, in linker.Input) linker.MapReduceResult {
	t.Helper()
	got := testutil.Value(m.Run(t.Context(), in))(t)
	return got
}

// TestMapReduceLatencies: the calls are as many as tables and one, at most Workers of them at once, and the outcome is
// that of the replies, whatever their order.
func TestMapReduceLatencies(t *testing.T) {
	s := numbered("part_%02d", 20)
	in := linker.Input{Question: "amounts of part 3 and part 17", Schema: s}
	var first steady
	for round := range 20 {
		for _, workers := range []int{1, 4, 16} {
			synctest.Test(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(round), 7))
				delays := map[string]time.Duration{}
				for _, table := range s.Tables {
					delays[table.Name] = time.Duration(1+rng.IntN(1000)) * time.Millisecond
				}
				var now, most atomic.Int64
				model := &judging{score: func(_ context.Context, table string) (string, error) {
					n := now.Add(1)
					defer now.Add(-1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					time.Sleep(delays[table])
					if table == "part_05" {
						return "", errors.New("overloaded")
					}
					return fmt.Sprintf(`{"score": 0.%s, "matched_components": ["it"]}`, table[5:]), nil
				}}
				root := trace.Tracer{}.New("test")
				got := testutil.Value(linker.MapReduce{Model: llm.Chain(model, llm.Trace()),
					Workers: workers}.Run(trace.NewContext(t.Context(), root), in))(t)
				if model.calls.Load() != 21 || int(most.Load()) != workers {
					t.Errorf("%d calls, %d at once; want 21, and %d", model.calls.Load(), most.Load(), workers)
				}
				first.same(t, root, got, fmt.Sprintf("round %d, %d workers", round, workers))
			})
		}
	}
}

func TestMapReduceFailingTables(t *testing.T) {
	s := numbered("part_%d", 10)
	in := linker.Input{Question: "the amount of part 3", Schema: s}
	down := &llm.Error{Class: llm.ClassOverloaded, Message: "down"}
	for _, tt := range []struct {
		fails    int // so many of ten tables, the first ones
		how      error
		reply    string // of a failing table, without how
		isFailed bool
		why      string
	}{
		{1, down, "", false, "one degrades"},
		{1, nil, "no JSON", false, "and one with an unreadable reply"},
		{5, down, "", false, "half of them is not more than half"},
		{6, down, "", true, "more than half"},
		{7, down, "", true, "seven of ten"},
		{7, nil, "no JSON", true, "also unreadable ones"},
		{1, &llm.BudgetError{}, "", true, "without a budget no other call would be answered"},
	} {
		model := &judging{score: func(_ context.Context, table string) (string, error) {
			if table < fmt.Sprintf("part_%d", tt.fails) {
				return tt.reply, tt.how
			}
			return `{"score": 0.1}`, nil
		}}
		root := trace.Tracer{}.New("test")
		got, err := linker.MapReduce{Model: model}.Run(trace.NewContext(t.Context(), root), in)
		if failed := err != nil; failed != tt.isFailed || tt.how != nil && failed && !errors.Is(err, tt.how) {
			t.Errorf("%s: %v", tt.why, err)
		}
		if tt.isFailed {
			continue
		}
		var warned []string
		for _, w := range root.Warnings() {
			warned = append(warned, w.Code+" "+w.Message)
		}
		var failures []string // the events of the trace: a failed span a table
		for span := range root.All() {
			name, isTable := span.Attr("table")
			if isTable && span.Failure() != "" {
				failures = append(failures, fmt.Sprint(name))
			} else if score, _ := span.Attr("score"); isTable && score != .1 {
				t.Errorf("%s: the trace has score %v for %s", tt.why, score, name)
			}
		}
		for i, table := range got.Tables {
			name, isDown := table.Table.Name, i < tt.fails
			if isDown != (table.Model == nil) || isDown != (table.Problem != "") || isDown != slices.Contains(failures, name) ||
				isDown && table.Score != table.Lexical || !isDown && table.Model != nil && *table.Model != .1 {
				t.Errorf("%s: %+v, %v", tt.why, table, failures)
			}
			if want := "the table " + name + ","; isDown && (!strings.Contains(warned[i], "no-verdict") ||
				!strings.Contains(warned[i], want) ||
				!strings.Contains(got.Links.Notes[i], want)) {
				t.Errorf("%s: warnings %q, notes %q do not name %s", tt.why, warned, got.Links.Notes, name)
			}
		}
		if len(warned) != tt.fails || len(got.Links.Notes) != tt.fails {
			t.Errorf("%s: warnings %q, notes %q", tt.why, warned, got.Links.Notes)
		}
	}
}

// TestMapReduceCancelled: the end of the context ends Run at once, at either step. The bubble fails if a goroutine is
// left.
func TestMapReduceCancelled(t *testing.T) {
	for _, purpose := range []string{"decompose", "score"} {
		synctest.Test(t, func(t *testing.T) {
			model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				if req.Purpose == purpose {
					<-ctx.Done()
				}
				return llm.Response{Text: `{"entity": "x"}`}, ctx.Err()
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			_, err := linker.MapReduce{Model: model}.Run(ctx, linker.Input{Question: "?", Schema: numbered("t%d", 50)})
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
				t.Errorf("%s: %v after %v", purpose, err, time.Since(began))
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	model := verdicts(nil)
	if _, err := (linker.MapReduce{Model: model}).Run(ctx,
		linker.Input{Schema: tables([]string{"t", "x"})}); err != context.Canceled || model.calls.Load() > 0 {
		t.Errorf("%v after %d calls", err, model.calls.Load())
	}
}

// TestMapReduceScores is the truth table of the model's score and that of the words.
func TestMapReduceScores(t *testing.T) {
	db, s := open(t,
		`CREATE TABLE misc (q); CREATE TABLE "in" (y); CREATE TABLE a (b); CREATE TABLE named (name TEXT); CREATE TABLE codes (z);
		CREATE TABLE boats (colour TEXT); CREATE TABLE towns (place TEXT); CREATE TABLE invoicelines (z); CREATE TABLE deliver (z); CREATE TABLE "value" (z);
		INSERT INTO towns VALUES ('Oslo');`, exec.Config{})
	in := linker.Input{Question: "Name, code and colour in a delivery of an invoice to Oslo that was delivere, valued",
		Schema: s, DB: db}
	lexical := map[string]float64{
		// words of no meaning match nothing, and the inflection of a word that names much
		"misc": 0, "in": 0, "a": 0, "value": 0,
		"named": .4, "codes": .4, // a column called name, a table called code
		"boats": .6, "towns": .7, "invoicelines": 1, "deliver": 1,
	}
	down := errors.New("down")
	for verdict, want := range map[string]map[float64]float64{ // model -> lexical -> score
		"absent": {0: 0, .4: .4, .6: .6, .7: .7, 1: 1},
		"0":      {0: 0, .4: 0, .6: 0, .7: .7, 1: 1},
		"0.5":    {0: .5, .4: .5, .6: .5, .7: .7, 1: 1},
		"1":      {0: 1, .4: 1, .6: 1, .7: 1, 1: 1},
	} {
		for one := range lexical { // the model is asked about all, and fails on at most one
			model := &judging{decompose: `{"entity": "x"}`, score: func(_ context.Context, table string) (string, error) {
				if verdict == "absent" {
					if strings.Trim(table, `"`) == one {
						return "", down
					}
					return `{"score": 0}`, nil
				}
				return `{"score": ` + verdict + `}`, nil
			}}
			for _, got := range reduced(t, linker.MapReduce{Model: model}, in).Tables {
				if got.Table.Name == one && (got.Lexical != lexical[one] || got.Score != want[lexical[one]]) {
					t.Errorf("%s, model %s: lexical %v, score %v; want %v, %v", one, verdict, got.Lexical, got.Score, lexical[one],
						want[lexical[one]])
				}
			}
		}
	}
	in.WithoutValues = true
	for _, got := range reduced(t, linker.MapReduce{LexicalOnly: true}, in).Tables {
		if want := lexical[got.Table.Name]; got.Table.Name != "towns" && got.Score != want || got.Table.Name == "towns" &&
			got.Score != 0 {
			t.Errorf("without values: %+v, want %v", got, want)
		}
	}
}

// TestMapReduceAtSize: on 300 tables words do not overrule a model that says which two of them a question needs, unless
// hardly another table has them.
func TestMapReduceAtSize(t *testing.T) {
	erp := &schema.Schema{}
	for _, area := range strings.Fields("sales purchase stock service project rental finance payroll asset tax") {
		for _, thing := range strings.Fields("order order_line order_history invoice invoice_line invoice_tax customer " +
			"customer_address supplier contract " +
			"contract_line delivery delivery_line payment payment_term product product_price product_group warehouse " +
			"warehouse_slot " +
			"employee department budget budget_line account account_entry rate region status note") {
			erp.Tables = append(erp.Tables, tables([]string{area + "_" + thing, "id", "name", "amount", "status"}).Tables...)
		}
	}
	alike := numbered("part_%03d", 300)
	for _, tt := range []struct {
		s        *schema.Schema
		question string
		gold     []string
		most     int
		asked    int
		why      string
	}{
		{erp, "Which customers have open orders, and what did they pay on the invoices of their contracts?",
			[]string{"sales_order", "sales_customer"}, 2, 301,
			"words that name the tables of every area"},
		{erp, "The tax on rental deliveries by region and status", []string{"rental_delivery", "rental_region"}, 2, 0,
			"and that name an area"},
		{alike, "The amount of part 117", []string{"part_117"}, 1, 0, "tables alike"},
		{&schema.Schema{Tables: append(slices.Clone(erp.Tables), tables([]string{"freight", "id"}).Tables...)},
			"The freight of all orders",
			[]string{"sales_order"}, 2, 0, "one table alone is called so"},
	} {
		of := map[string]string{}
		for _, name := range tt.gold {
			of[name] = `{"relevant": true, "score": 1}`
		}
		got := reduced(t, linker.MapReduce{Model: verdicts(of), Tables: tt.asked},
			linker.Input{Question: tt.question, Schema: tt.s}).Links
		if len(got.Tables) != tt.most || got.Whole || slices.ContainsFunc(tt.gold, func(name string) bool {
			return !strings.Contains(keptTables(got), name+" 1")
		}) {
			t.Errorf("%s: %d of %d tables are linked, want %d: %.200s", tt.why, len(got.Tables), len(tt.s.Tables), tt.most,
				keptTables(got))
		}
	}
}

// kept writes the tables of links with their scores, or "whole".
func keptTables(l schema.Links) string {
	var parts []string
	if l.Whole {
		parts = append(parts, "whole")
	}
	for _, t := range l.Tables {
		parts = append(parts, fmt.Sprintf("%s %v", t.Table, t.Score))
	}
	return strings.Join(parts, ", ")
}

func TestMapReduceReduce(t *testing.T) {
	many := numbered("t_%02d", 21)
	for _, tt := range []struct {
		m      linker.MapReduce
		s      *schema.Schema
		scores map[string]string
		want   string
		why    string
	}{
		{linker.MapReduce{}, tables([]string{"d"}, []string{"c", "x"}, []string{"b", "x"}, []string{"a", "x"},
			[]string{"e", "x"}),
			map[string]string{"e": "0.499", "a": "0.5", "b": "0.6", "c": "0.5"}, "b 0.6, a 0.5, c 0.5",
			"0.5 stays, 0.499 goes; the best first, then by name"},
		{linker.MapReduce{Threshold: .6}, numbered("t%d", 3), map[string]string{"t0": "0.599", "t1": "0.6"}, "t1 0.6",
			"another threshold"},
		{linker.MapReduce{}, numbered("t%d", 20), map[string]string{"t3": "0.4", "t1": "0.4"}, "whole, t1 0.4, t3 0.4",
			"up to 20 tables the whole schema"},
		{linker.MapReduce{}, many, map[string]string{"t_20": "0.4", "t_07": "0.2"},
			"t_20 0.4, t_07 0.2, t_00 0, t_01 0, t_02 0",
			"of 21 the best five, ties by name"},
		{linker.MapReduce{}, tables(), nil, "whole", "a schema without tables"},
	} {
		of := map[string]string{}
		for table, score := range tt.scores {
			of[table] = `{"score": ` + score + `}`
		}
		tt.m.Model = verdicts(of)
		got := reduced(t, tt.m, linker.Input{Question: "?", Schema: tt.s})
		if keptTables(got.Links) != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, keptTables(got.Links), tt.want)
		}
		for _, table := range got.Tables {
			inLinks := slices.ContainsFunc(got.Links.Tables, func(l schema.TableLink) bool {
				return l.Table == table.Table.Name
			})
			if table.Relevant != (inLinks || got.Links.Whole) {
				t.Errorf("%s: %+v", tt.why, table)
			}
		}
		links, err := tt.m.Link(t.Context(), linker.Input{Question: "?", Schema: tt.s})
		if diff := cmp.Diff(got.Links, links); diff != "" || err != nil {
			t.Errorf("%s: Link says something else: %v\n%s", tt.why, err, diff)
		}
	}
}

// TestMapReduceKeys: a prompt about one table shows the keys that lead from it, and none to a table that no prompt may
// show.
func TestMapReduceKeys(t *testing.T) {
	long := strings.Repeat("bad", 100)
	_, s := open(t, `CREATE TABLE towns (id INTEGER PRIMARY KEY); CREATE TABLE `+long+` (id INTEGER PRIMARY KEY);
		CREATE TABLE people (town INTEGER REFERENCES towns(id), boss INTEGER REFERENCES people(town),
		"home town" INTEGER REFERENCES towns(id), odd INTEGER REFERENCES `+long+`(id))`, exec.Config{})
	prompts := map[string]string{}
	model := verdicts(nil)
	m := linker.MapReduce{Model: llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if found := asksAbout.FindStringSubmatch(req.Messages[1].Text); found != nil {
			_, prompts[found[1]], _ = strings.Cut(req.Messages[1].Text, ");\n")
		}
		return model.Complete(ctx, req)
	}), Workers: 1}
	reduced(t, m, linker.Input{Question: "Which people?", Schema: s})
	keys := "FOREIGN KEY (town) REFERENCES towns(id)\nFOREIGN KEY (\"home town\") REFERENCES towns(id)\n"
	golden.Equal(t, map[string]string{"towns": "", "people": keys}, prompts, "behind the table")
}

// TestMapReduceColumns: beside the relevant columns those stay that the question names, and all keys.
func TestMapReduceColumns(t *testing.T) {
	db, s := open(t,
		`CREATE TABLE people (id INTEGER PRIMARY KEY, full_name TEXT, age INTEGER, town INTEGER REFERENCES towns(id), home TEXT);
		CREATE TABLE towns (id INTEGER PRIMARY KEY, label TEXT, area REAL); INSERT INTO people VALUES (1, 'Ann', 3, 1, 'Oslo');`, exec.Config{})
	in := linker.Input{Question: "The age of all from Oslo", Schema: s, DB: db}
	got := reduced(t, linker.MapReduce{Model: verdicts(map[string]string{
		"people": `{"score": 1, "relevant_columns": ["full_name"]}`, "towns": `{"score": 1, "relevant_columns": ["salary"]}`,
	})}, in)
	want := []schema.TableLink{
		{
			Table: "people", Score: 1, Columns: []string{"id", "full_name", "age", "town", "home"},
			Values: []schema.ValueMatch{{Column: "home", Value: "Oslo", Span: "Oslo"}},
		},
		{Table: "towns", Score: 1}, // none that exists was named: all
	}
	golden.Equal(t, want, got.Links.Tables, "links")
	s.Tables = append(s.Tables, tables([]string{"gone", "x"}).Tables...)
	if got = reduced(t, linker.MapReduce{LexicalOnly: true}, in); !strings.Contains(strings.Join(got.Links.Notes, ""),
		"look-ups failed") {
		t.Errorf("notes %q do not say that a table could not be looked into", got.Links.Notes)
	}
	in.Question = "?"
	got = reduced(t,
		linker.MapReduce{Model: verdicts(map[string]string{"people": `{"score": 1, "relevant_columns": ["full_name"]}`})}, in)
	if diff := cmp.Diff([]schema.TableLink{{Table: "people", Score: 1, Columns: []string{"id", "full_name", "town"}}},
		got.Links.Tables); diff != "" {
		t.Errorf("keys and relevant columns alone (-want +got):\n%s", diff)
	}
}

// TestMapReduceConnected: of random schemas and verdicts, tables that keys join in the schema are joined in its part,
// and every key column of a kept table is in it.
func TestMapReduceConnected(t *testing.T) {
	for seed := range 300 {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		s := tables()
		n := 2 + rng.IntN(12)
		of := map[string]string{}
		for i := range n {
			table := tables([]string{fmt.Sprintf("t%d", i), "c0", "c1", "c2", "c3", "c4"}).Tables[0]
			table.PrimaryKey = []string{"c0", "c1"}[:rng.IntN(3)]
			for range rng.IntN(3) {
				ref := fmt.Sprintf("t%d", rng.IntN(n))
				table.ForeignKeys = append(table.ForeignKeys,
					schema.ForeignKey{Columns: []string{fmt.Sprintf("c%d", 1+rng.IntN(4))}, RefTable: ref,
						RefColumns: []string{fmt.Sprintf("c%d", rng.IntN(5))}})
			}
			s.Tables = append(s.Tables, table)
			if rng.IntN(3) == 0 {
				of[table.Name] = fmt.Sprintf(`{"score": 0.%d, "relevant_columns": ["c%d"]}`, 3+rng.IntN(6), rng.IntN(5))
			}
		}
		got := reduced(t, linker.MapReduce{Model: verdicts(of)}, linker.Input{Question: "?", Schema: s})
		small, unknown := s.Restrict(got.Links)
		if len(unknown) > 0 {
			t.Fatalf("seed %d: unknown %q", seed, unknown)
		}
		checkClosure(t, s, small, got.Links)
		for _, l := range got.Links.Tables {
			whole, _ := s.Lookup("", l.Table)
			kept, _ := small.Lookup("", l.Table)
			keys := slices.Clone(whole.PrimaryKey)
			for _, k := range whole.ForeignKeys {
				keys = append(keys, k.Columns...)
			}
			if !has(kept, keys) {
				t.Errorf("seed %d: %s lost one of its keys %q", seed, l.Table, keys)
			}
		}
	}
}

func TestMapReduceValidate(t *testing.T) {
	nan := 0.0
	nan /= nan
	for _, tt := range []struct {
		m    linker.MapReduce
		want string
	}{
		{linker.MapReduce{}, ""},
		{linker.MapReduce{Threshold: 1, SkipLLMAt: 1, Workers: 1000}, ""},
		{linker.MapReduce{Threshold: 1.1}, "linker: MapReduce.Threshold is 1.1; want 0 (the default) to 1"},
		{linker.MapReduce{Threshold: nan}, "linker: MapReduce.Threshold is NaN; want 0 (the default) to 1"},
		{linker.MapReduce{SkipLLMAt: -.1}, "linker: MapReduce.SkipLLMAt is -0.1; want 0 (the default) to 1"},
		{linker.MapReduce{Workers: -1}, "linker: MapReduce.Workers is -1; want 0 (the default) or more"},
	} {
		model := verdicts(nil)
		tt.m.Model = model
		err := tt.m.Validate()
		if got := fmt.Sprint(err); got != tt.want && !(err == nil && tt.want == "") {
			t.Errorf("%+v: %v, want %s", tt.m, err, tt.want)
		}
		if tt.want != "" {
			if _, err := tt.m.Link(t.Context(), linker.Input{Schema: tables([]string{"t", "x"})}); err == nil ||
				model.calls.Load() > 0 {
				t.Errorf("%+v: %v after %d calls", tt.m, err, model.calls.Load())
			}
		}
	}
	if _, err := (linker.MapReduce{}).Link(t.Context(), linker.Input{Schema: tables()}); err == nil {
		t.Error("no model, and no error")
	}
}

// BenchmarkMapReduce links a question to 500 tables of 20 columns without a model.
func BenchmarkMapReduce(b *testing.B) {
	var script strings.Builder
	for i := range 500 {
		fmt.Fprintf(&script, "CREATE TABLE warehouse_%d (id INTEGER PRIMARY KEY", i)
		for j := range 19 {
			fmt.Fprintf(&script, ", some_column_%d TEXT", j)
		}
		fmt.Fprintf(&script, ", FOREIGN KEY (some_column_1) REFERENCES warehouse_%d(id));\n", max(i-1, 0))
	}
	db, s := open(b, script.String(), exec.Config{})
	in := linker.Input{Question: "Which warehouse 7 has the largest column 7 in 'Oslo' or New York?", Schema: s, DB: db}
	for b.Loop() {
		links, err := linker.MapReduce{LexicalOnly: true}.Link(b.Context(), in)
		if err != nil {
			b.Fatal(err)
		}
		s.Restrict(links)
	}
}

// TestWordsOverrule: the name of a table overrules a model that scores it 0, where at most three tables have it.
func TestWordsOverrule(t *testing.T) {
	for n, kept := range map[int]bool{2: true, 3: true, 4: false, 5: false} {
		s := tables([]string{"city", "x"})
		for i := range n {
			s.Tables = append(s.Tables, tables([]string{"invoice_" + string(rune('a'+i)), "x" + string(rune('a'+i))}).Tables...)
		}
		model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			if req.Purpose == "decompose" {
				return llm.Response{Text: `{"components": [{"text": "invoices", "type": "entity"}]}`}, nil
			}
			return llm.Response{Text: `{"relevant": false, "score": 0}`}, nil
		})
		reduced, err := linker.MapReduce{Model: model}.Run(t.Context(), linker.Input{Question: "How many invoices are there?",
			Schema: s})
		if err != nil {
			t.Fatal(err)
		}
		for _, score := range reduced.Tables {
			if strings.HasPrefix(score.Table.Name, "invoice") && (score.Score == 1) != kept {
				t.Errorf("%d tables: %s scores %v", n, score.Table, score.Score)
			}
		}
	}
}
