package petsql_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/trace"
)

const (
	petUSA      = "SELECT count(*) FROM customers WHERE country = 'USA'"
	petUSAToo   = "SELECT count(id) FROM customers WHERE 'USA' = country"
	petAll      = "SELECT count(*) FROM customers"
	petNothing  = "I would rather not."
	petQuestion = "How many live in the USA?"
)

// petModel answers round 1 and round 2, "" by an error.
func petModel(name, link, final string) (llm.Model, *llmtest.Script) {
	rule := func(purpose, text string) llmtest.Rule {
		replies := llmtest.Texts(text)
		if text == "" {
			replies = llmtest.Errors(&llm.Error{Class: llm.ClassPermanent, Message: name + " is down"})
		}
		return llmtest.Rule{Purpose: purpose, Replies: replies, Repeat: true}
	}
	s := &llmtest.Script{Rules: []llmtest.Rule{rule("link", link), rule("generate", final)}}
	return llm.Named(name, s), s
}

// petEnv has several models over the shop.
func petEnv(t *testing.T, models ...llm.Model) *strategy.Env {
	env := strategytest.ShopEnv(t, models[0])
	env.Models = models
	return env
}

func TestPETSQL(t *testing.T) {
	panel := &petsql.Panel{Grades: map[string]petsql.Weights{
		"easy":   {Of: map[string]float64{"b": 1, "c": 1}},
		"medium": {Of: map[string]float64{"a": 1}},
	}}
	tests := []struct {
		name     string
		link     string    // the first model's PreSQL
		finals   [3]string // of a, b, c; "" fails
		preset   petsql.Strategy
		samples  int
		want     string
		calls    [3]int // rounds together
		fallback bool   // the answer is the PreSQL
		shown    int
		warnings string
		err      string // parts, one a line
		why      string
	}{
		{
			"majority", petUSA, [3]string{petUSA, petAll, petUSAToo}, petsql.Strategy{}, 0, petUSA, [3]int{2, 1, 1}, false, 1,
			"", "",
			"equal results are equal votes; 1 + models calls",
		},
		{
			"tie goes to the first model", petUSA, [3]string{petAll, petUSA, petNothing}, petsql.Strategy{}, 0, petAll,
			[3]int{2, 1, 1}, false, 1, "", "",
			"order of the models",
		},
		{
			"weights", petUSA, [3]string{petAll, petAll, petUSA},
			petsql.Strategy{Weights: &petsql.Weights{Of: map[string]float64{"a": .3, "b": .3, "c": .9}}},
			0, petUSA, [3]int{2, 1, 1}, false, 1, "", "", "the sum of weights decides",
		},
		{
			"one fails", petUSA, [3]string{petUSA, "", petUSA}, petsql.Strategy{}, 0, petUSA, [3]int{2, 1, 1}, false, 1,
			"provider-failed", "",
			"only its own vote is lost",
		},
		{
			"first fails in round 2", petUSA, [3]string{"", petUSAToo, petUSAToo}, petsql.Strategy{}, 0, petUSAToo,
			[3]int{2, 1, 1}, false, 1,
			"provider-failed", "", "the same for the first",
		},
		{
			"two fail", petUSA, [3]string{petUSA, "", ""}, petsql.Strategy{}, 0, petUSA, [3]int{2, 1, 1}, false, 1,
			"provider-failed one-voter", "",
			"an answer, with warnings",
		},
		{"all fail", petUSA, [3]string{"", "", ""}, petsql.Strategy{}, 0, petUSA, [3]int{2, 1, 1}, true, 1, "presql-only", "",
			"the PreSQL is the answer"},
		{
			"all rejected", petUSA, [3]string{petNothing, "SELECT x FROM y", petNothing}, petsql.Strategy{}, 0, petUSA,
			[3]int{2, 1, 1}, true, 1,
			"presql-only", "", "the same for rejected statements",
		},
		{
			"all fail, PreSQL too", "SELECT x FROM customers", [3]string{"", petNothing, ""}, petsql.Strategy{}, 0, "",
			[3]int{2, 1, 1}, false, 1, "provider-failed",
			"no candidate\nmodel a: \na is down\nmodel c: ", "every cause",
		},
		{"round 1 fails", "", [3]string{petUSA, petUSA, petUSA}, petsql.Strategy{}, 0, petUSA, [3]int{2, 1, 1}, false, 2,
			"no-links", "", "the whole schema"},
		{
			"prose in round 1", petNothing, [3]string{petUSA, petUSA, petUSAToo}, petsql.Strategy{}, 0, petUSA, [3]int{1, 1, 1},
			false, 2, "no-links", "",
			"the whole schema; its prompt is equal, so the first model is not asked again",
		},
		{
			"whole schema read", "SELECT 1 FROM customers, orders", [3]string{petAll, petUSA, petUSA}, petsql.Strategy{}, 0,
			petUSA, [3]int{1, 1, 1}, false, 2,
			"", "", "equal prompts: one call less",
		},
		{
			"statement outside of the links", "SELECT total FROM orders", [3]string{petUSA, petUSA, petUSA}, petsql.Strategy{},
			0, petUSA, [3]int{2, 1, 1},
			false, 1, "", "", "the engine decides what may be read",
		},
		{
			"panel", petUSA, [3]string{petAll, petUSA, petUSAToo}, petsql.Strategy{Panel: panel}, 0, petUSA, [3]int{1, 1, 1},
			false, 1, "", "",
			"only the panel of the grade is called",
		},
		{
			"panel fails", petUSA, [3]string{petUSAToo, "", petNothing}, petsql.Strategy{Panel: panel}, 0, petUSAToo,
			[3]int{2, 1, 1}, false, 1,
			"one-voter provider-failed", "", "then the others are",
		},
		{
			"panel and others fail", "SELECT count(*) FROM customers WHERE x", [3]string{"", "", petNothing},
			petsql.Strategy{Panel: panel}, 0, "",
			[3]int{2, 1, 1}, false, 1, "provider-failed", "model b: \nmodel a: ", "every cause of both",
		},
		{
			"grade without a panel", "SELECT count(*) FROM customers WHERE id IN (SELECT customer_id FROM orders " +
				"WHERE total > 1 AND id > 2)",
			[3]string{petUSA, petUSA, petUSA}, petsql.Strategy{Panel: panel}, 0, petUSA, [3]int{1, 1, 1}, false, 2, "", "",
			"everyone votes",
		},
		{
			"panel names a missing model", petUSA, [3]string{petUSA, petUSA, petUSA},
			petsql.Strategy{Panel: &petsql.Panel{Grades: map[string]petsql.Weights{"easy": {Of: map[string]float64{"z": 1}}}}},
			0, "", [3]int{1, 0, 0}, false, 0,
			"", `model "z"`, "a wrong file is an error",
		},
		{
			"panel fails, two samples each", petUSA, [3]string{petUSAToo, "", petNothing}, petsql.Strategy{Panel: panel}, 2,
			petUSAToo, [3]int{3, 2, 2}, false, 1,
			"provider-failed", "", "each of the others is asked as often as the panel",
		},
		{
			"panel of one fails, two samples each", petUSA, [3]string{"", petUSAToo, petAll},
			petsql.Strategy{Panel: &petsql.Panel{Grades: map[string]petsql.Weights{"easy": {Of: map[string]float64{"a": 1}}}}},
			2, petUSAToo, [3]int{3, 2, 2}, false, 1,
			"", "", "two others, two samples: the tie goes to the first of them",
		},
		{"samples", petUSA, [3]string{petUSA, petAll, petUSA}, petsql.Strategy{}, 2, petUSA, [3]int{3, 2, 2}, false, 1, "",
			"", "n samples of each model"},
	}
	var told strings.Builder
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var models []llm.Model
			var scripts []*llmtest.Script
			for i, name := range []string{"a", "b", "c"} {
				m, s := petModel(name, tt.link, tt.finals[i])
				models, scripts = append(models, m), append(scripts, s)
			}
			env := petEnv(t, models...)
			root := trace.Tracer{}.New("test")
			out, err := tt.preset.Generate(trace.NewContext(t.Context(), root), env,
				strategy.Task{Question: petQuestion, Samples: tt.samples})
			root.End()
			told.WriteString("== " + tt.name + "\n" + strategytest.Told(out, err))
			if tt.err != "" {
				for _, part := range strings.Split(tt.err, "\n") {
					if err == nil || !strings.Contains(err.Error(), part) {
						t.Errorf("got %v, want %q: %s", err, part, tt.why)
					}
				}
			} else if err != nil || out.SQL != tt.want {
				t.Fatalf("got %v, %v, want %s: %s", out, err, tt.want, tt.why)
			}
			var calls [3]int
			for i, s := range scripts {
				calls[i] = len(s.Requests())
			}
			if calls != tt.calls {
				t.Errorf("calls %v, want %v: %s", calls, tt.calls, tt.why)
			}
			if out == nil {
				return
			}
			if reportOf(out).FellBack != tt.fallback || tt.shown > 0 && reportOf(out).Shown != tt.shown {
				t.Errorf("fallback %v, %d tables shown; want %v, %d: %s", reportOf(out).FellBack, reportOf(out).Shown, tt.fallback,
					tt.shown, tt.why)
			}
			var codes []string
			for _, w := range root.Warnings() {
				codes = append(codes, w.Code)
			}
			if got := strings.Join(codes, " "); got != tt.warnings {
				t.Errorf("warnings %q, want %q: %s", got, tt.warnings, tt.why)
			}
			for _, s := range scripts {
				for i, req := range s.RequestsFor("generate") {
					if first := scripts[1].RequestsFor("generate"); len(first) > 0 && cmp.Diff(first[0].Messages, req.Messages) != "" {
						t.Errorf("request %d has another prompt: round 1 is shared", i)
					}
					if hot := tt.samples > 1; hot != (*req.Temperature == 0.7) {
						t.Errorf("temperature %v", *req.Temperature)
					}
				}
			}
		})
	}
	golden.Check(t, "outcomes.golden", told.String())
}

// TestPETSQLLinker: a model of its own links, and its statement is nobody's vote, even where both prompts are equal.
func TestPETSQLLinker(t *testing.T) {
	for _, tt := range []struct {
		reason, link string
		linker       linker.PreSQL
		own, first   int // calls of the linker's model and of the first
	}{
		{"the first model links, and its statement is its vote", "SELECT 1 FROM customers, orders", linker.PreSQL{}, 0, 1},
		{"the first model links a part", petUSA, linker.PreSQL{}, 0, 2},
		{"another model links", "SELECT 1 FROM customers, orders", linker.PreSQL{Model: llm.Func(nil)}, 1, 1},
	} {
		a, first := petModel("a", tt.link, petUSA)
		b, _ := petModel("b", tt.link, petUSA)
		own, script := petModel("own", tt.link, petAll)
		if tt.linker.Model != nil {
			tt.linker.Model = own
		}
		out, err := petsql.Strategy{Linker: tt.linker}.Generate(t.Context(), petEnv(t, a, b),
			strategy.Task{Question: petQuestion})
		if err != nil || len(script.Requests()) != tt.own || len(first.Requests()) != tt.first {
			t.Errorf("%s: %d and %d calls, %+v, %v", tt.reason, len(script.Requests()), len(first.Requests()), out, err)
		}
	}
}

// TestPETSQLWhole: round 1 sees up to 40 tables whole, and of more the part that words link.
func TestPETSQLWhole(t *testing.T) {
	for _, tt := range []struct{ tables, of, shown int }{{39, 39, 1}, {40, 40, 1}, {41, 1, 1}} {
		script := ""
		for i := range tt.tables {
			script += fmt.Sprintf("CREATE TABLE visit%c%c (a);\n", 'a'+i/10, 'a'+i%10)
		}
		a, _ := petModel("a", "SELECT a FROM visitaa", "SELECT a FROM visitaa")
		env := strategytest.EnvOf(t, script, a)
		env.SchemaBudget = 20
		out := testutil.Value((petsql.Strategy{}).Generate(t.Context(), env, strategy.Task{Question: "visitaa"}))(t)
		if r := reportOf(out); r.Tables != tt.of || r.Shown != tt.shown {
			t.Errorf("%d tables: %+v", tt.tables, r)
		}
	}
}

func TestPETSQLOneModel(t *testing.T) {
	a, script := petModel("a", petUSA, petUSAToo)
	out, err := petsql.Strategy{}.Generate(t.Context(), petEnv(t, a), strategy.Task{Question: petQuestion, Samples: 3})
	if err != nil || out.SQL != petUSAToo || len(script.Requests()) != 4 || out.Ballot.Voted != 3 {
		t.Errorf("got %v, %v, %d calls", out, err, len(script.Requests()))
	}
	if !slices.Contains(out.Notes, "one model: its samples vote, and no other model confirms them") {
		t.Errorf("the notes are %q", out.Notes)
	}
}

// TestPETSQLSchemas: schemas that are odd are linked all the same.
func TestPETSQLSchemas(t *testing.T) {
	tests := []struct {
		name, script, sql string
		shown             int
	}{
		{"one table", "CREATE TABLE t (a)", "SELECT a FROM t", 1},
		{
			"self reference", "CREATE TABLE t (id INTEGER PRIMARY KEY, up INTEGER REFERENCES t(id)); CREATE TABLE u (x)",
			"SELECT a.id FROM t a JOIN t b ON a.up = b.id", 1,
		},
		{"without rows", "CREATE TABLE t (a); CREATE TABLE u (x)", "SELECT a FROM t", 1},
		{"that differ by case", "CREATE TABLE Ä (a); CREATE TABLE ä (b)", "SELECT b FROM ä", 1},
	}
	for _, tt := range tests {
		a, script := petModel("a", tt.sql, tt.sql)
		b, _ := petModel("b", tt.sql, tt.sql)
		env := strategytest.EnvOf(t, tt.script, a)
		env.Models = []llm.Model{a, b}
		out, err := petsql.Strategy{}.Generate(t.Context(), env, strategy.Task{Question: "?!x"})
		if err != nil || out.SQL != tt.sql || reportOf(out).Shown != tt.shown {
			t.Errorf("%s: got %v, %v", tt.name, out, err)
		}
		if text := strategytest.Written(script.Requests()[0].Messages); tt.name == "self reference" &&
			!strings.Contains(text, "# t(up) REFERENCES t(id)") {
			t.Errorf("%s: no key in\n%s", tt.name, text)
		}
	}
}

// TestPETSQLKeepsRows: the rows of a table are read once, also where each question sees another part of the schema.
func TestPETSQLKeepsRows(t *testing.T) {
	script := ""
	for i := range 50 {
		script += fmt.Sprintf("CREATE TABLE visit%c%c (a); INSERT INTO visit%[1]c%[2]c VALUES ('first');\n", 'a'+i/10,
			'a'+i%10)
	}
	pool := strategytest.PoolOf(t, script)
	a, model := petModel("a", "SELECT a FROM visitaa", "SELECT a FROM visitaa")
	env := strategytest.EnvAt(t, pool, a)
	env.SchemaBudget = 20
	for i, question := range []string{"visitaa", "visitaa or visitbb"} {
		testutil.Value((petsql.Strategy{}).Generate(t.Context(), env, strategy.Task{Question: question}))(t)
		requests := model.Requests()
		text := strategytest.Written(requests[len(requests)-1].Messages)
		if !strings.Contains(text, `visitaa(a["first"])`) || strings.Contains(text, "later") {
			t.Errorf("question %d: the rows were read anew:\n%s", i, text)
		}
		testutil.Value(pool.ExecContext(t.Context(), "UPDATE visitaa SET a = 'later'"))(t)
	}
}

// TestPETSQLDeterministic: the order in which models answer changes nothing.
func TestPETSQLDeterministic(t *testing.T) {
	strategytest.SameWhateverTheLatency(t, petsql.Strategy{}, strategytest.ShopEnv(t, nil),
		strategy.Task{Question: petQuestion}, func() (models []llm.Model) {
			for i, name := range []string{"a", "b", "c"} {
				m, _ := petModel(name, petUSA, []string{petAll, petUSA, petUSAToo}[i])
				models = append(models, m)
			}
			return models
		})
}

func ExampleStrategy() {
	model := func(name, sql string) llm.Model {
		return llm.Named(name, llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{Text: sql, StopReason: llm.StopEnd}, nil
		}))
	}
	env := strategytest.ExampleEnv(nil)
	env.Models = []llm.Model{
		model("one", "SELECT count(*) FROM customers WHERE country = 'USA'"),
		model("two", "SELECT count(*) FROM customers"),
		model("three", "SELECT count(id) FROM customers WHERE country = 'USA'"),
	}
	out, err := petsql.Strategy{}.Generate(context.Background(), env, strategy.Task{Question: "How many live in the USA?"})
	fmt.Println(out.SQL)
	fmt.Println(len(out.Ballot.Clusters[0].Members), "of", out.Ballot.Sampled, err)
	fmt.Println(reportOf(out).Grade, reportOf(out).Asked)
	// Output:
	// SELECT count(*) FROM customers WHERE country = 'USA'
	// 2 of 3 <nil>
	// easy [one two three]
}

func ExampleREp() {
	env := strategytest.ExampleEnv(nil)
	messages, err := petsql.REp{Without: petsql.Parts{Values: true}}.Prompt(context.Background(), env,
		strategy.PromptInput{
			Task: strategy.Task{Question: "How many live in the USA?"}, Schema: env.Schema,
		})
	fmt.Println(messages[1].Text)
	fmt.Println(err)
	// Output:
	// ### Answer with one SQLite query and nothing else.
	// ### SQLite tables, with their properties:
	// #
	// # customers(id INTEGER, name TEXT, country TEXT, PRIMARY KEY (id));
	// # orders(id INTEGER, customer_id INTEGER, total REAL, PRIMARY KEY (id)).
	// #
	// ### Foreign keys:
	// #
	// # orders(customer_id) REFERENCES customers(id)
	// #
	// ### Question: How many live in the USA?
	// ### SQL:
	// <nil>
}

// TestPETSQLUnnamed: the error of a model without a name names none.
func TestPETSQLUnnamed(t *testing.T) {
	down := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "no key"}
	})
	_, err := petsql.Strategy{}.Generate(t.Context(), strategytest.ShopEnv(t, down), strategy.Task{Question: petQuestion})
	if want := "strategy: every sample failed: llm: permanent: no key"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestPETSQLNotes: what the source has and this question had not is told.
func TestPETSQLNotes(t *testing.T) {
	pool := &memory.Pool{Pairs: []memory.Exemplar{{Question: "How many are there?", SQL: "SELECT 1"}}}
	for _, tt := range []struct {
		why    string
		models []string
		pool   *memory.Pool
		preset petsql.Strategy
		want   []string
	}{
		{"one model without exemplars", []string{"a"}, nil, petsql.Strategy{}, []string{"asked once: there was no vote",
			"zero-shot"}},
		{"one model", []string{"a"}, pool, petsql.Strategy{}, []string{"asked once: there was no vote"}},
		{"an empty pool", []string{"a", "b"}, &memory.Pool{}, petsql.Strategy{}, []string{"zero-shot"}},
		{"a pool of the prompter's own", []string{"a", "b"}, nil,
			petsql.Strategy{Prompter: petsql.REp{Exemplars: memory.Similar{Pool: pool}}}, nil},
		{"no exemplars wanted", []string{"a", "b"}, nil,
			petsql.Strategy{Prompter: petsql.REp{Exemplars: memory.Similar{K: -1}}}, nil},
	} {
		var models []llm.Model
		for _, name := range tt.models {
			m, _ := petModel(name, petUSA, petUSA)
			models = append(models, m)
		}
		env := petEnv(t, models...)
		env.Exemplars = tt.pool
		out, err := tt.preset.Generate(t.Context(), env, strategy.Task{Question: petQuestion})
		if err != nil || len(out.Notes) != len(tt.want) {
			t.Fatalf("%s: %v, %v", tt.why, out, err)
		}
		for i, note := range out.Notes {
			if !strings.Contains(note, tt.want[i]) {
				t.Errorf("%s: note %q, want %q", tt.why, note, tt.want[i])
			}
		}
	}
}

// TestPETSQLDraftPicks: with Skeleton, round 2 shows the pairs whose SQL is built like the PreSQL; round 1 has none
// yet.
func TestPETSQLDraftPicks(t *testing.T) {
	pairs := []memory.Exemplar{
		{Question: "How many live in the UK?", SQL: "SELECT name FROM people ORDER BY age DESC LIMIT 1"},
		{Question: "Which is best?", SQL: "SELECT count(*) FROM people WHERE home = 'Oslo'"},
	}
	for _, tt := range []struct {
		why         string
		pick        memory.Similar
		link, final int // the pair that each round shows
	}{
		{"by the PreSQL", memory.Similar{K: 1, Skeleton: true}, 0, 1},
		{"by the question", memory.Similar{K: 1}, 0, 0},
		{"a draft of one's own is not round 2's",
			memory.Similar{K: 1, Skeleton: true, Draft: "SELECT count(*) FROM t WHERE a = 1"}, 1, 1},
	} {
		a, script := petModel("a", petUSA, petUSA)
		env := petEnv(t, a)
		env.Exemplars = &memory.Pool{Pairs: pairs}
		testutil.Value((petsql.Strategy{Prompter: petsql.REp{Exemplars: tt.pick}}).Generate(t.Context(), env,
			strategy.Task{Question: petQuestion}))(t)
		for purpose, want := range map[string]int{"link": tt.link, "generate": tt.final} {
			shown := strategytest.Written(script.RequestsFor(purpose)[0].Messages)
			if !strings.Contains(shown, pairs[want].SQL) || strings.Contains(shown, pairs[1-want].SQL) {
				t.Errorf("%s: %s shows\n%s", tt.why, purpose, shown)
			}
		}
	}
}

// TestPETSQLSends: the limits of replies, the published ones and a caller's, and top_p in round 2.
func TestPETSQLSends(t *testing.T) {
	for _, tt := range []struct {
		why         string
		preset      petsql.Strategy
		link, final int
		topP        float64
	}{
		{"ours", petsql.Strategy{}, 512, 512, 0},
		{"the source's", petsql.Strategy{}.Published(), 200, 256, 0},
		{"a caller's", petsql.Strategy{MaxTokens: 99, TopP: 0.9}.Published(), 99, 99, 0.9},
		{"another for the PreSQL", petsql.Strategy{MaxTokens: 99, Linker: linker.PreSQL{MaxTokens: 50}}.Published(), 50,
			99, 0},
	} {
		a, script := petModel("a", petUSA, petUSA)
		testutil.Value(tt.preset.Generate(t.Context(), petEnv(t, a), strategy.Task{Question: petQuestion}))(t)
		link, final := script.RequestsFor("link")[0], script.RequestsFor("generate")[0]
		if published := strings.Contains(tt.why, "ours") == link.Plain; published || link.Plain != final.Plain {
			t.Errorf("%s: plain %v and %v; the published form alone leaves as it is", tt.why, link.Plain, final.Plain)
		}
		if *link.MaxTokens != tt.link || *final.MaxTokens != tt.final || link.TopP != nil || topP(final) != tt.topP {
			t.Errorf("%s: %d and %d tokens, top_p %g and %g", tt.why, *link.MaxTokens, *final.MaxTokens, topP(link), topP(final))
		}
	}
}

// reportOf is the report of an outcome; the zero one where there is none.
func reportOf(out *strategy.Outcome) petsql.Report {
	if out == nil {
		return petsql.Report{}
	}
	report, _ := strategy.ReadReport[petsql.Report](out.Report)
	return report
}

// topP is that of a request, 0 where it has none.
func topP(r llm.Request) float64 {
	if r.TopP == nil {
		return 0
	}
	return *r.TopP
}
