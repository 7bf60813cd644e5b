package memory_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"
	"github.com/tmc/langchaingo/embeddings"

	"github.com/texttosql/texttosql/internal/masking"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// maskSchema has names of all kinds and a profile.
func maskSchema() *schema.Schema {
	column := func(name string, examples ...any) schema.Column {
		return schema.Column{Name: name, Profile: &schema.Profile{Examples: examples}}
	}
	return &schema.Schema{Tables: []schema.Table{
		{Name: "singers", Columns: []schema.Column{
			column("singer_id"), column("fullName", "Joe Sharp", "Rose White"), column("Country", "France", "United States"),
			column("song release year"),
		}},
		{Name: "order_details", Columns: []schema.Column{column("unitPrice"), column("status", "On Hold", "country")}},
		{Name: "secret",
			Columns: []schema.Column{{Name: "key", Sensitive: true, Profile: &schema.Profile{Examples: []any{"hush"}}}}},
	}}
}

func TestMasker(t *testing.T) {
	m := masking.Masker(maskSchema(), true)
	tests := []struct{ question, want, why string }{
		{"How many singers are there?", "how many <mask> are there", "a table"},
		{"How many singer are there?", "how many <mask> are there", "in the singular"},
		{"the SINGERS", "the <mask>", "case"},
		{"full name", "<mask> <mask>", "camelCase, two words"},
		{"fullname", "fullname", "a name is not guessed"},
		{"full names of singers", "<mask> <mask> of <mask>", "plural of the last word"},
		{"full", "<mask>", "the beginning of a name"},
		{"name", "name", "the end of a name is none"},
		{"order details", "<mask> <mask>", "underscore"},
		{"order detail", "<mask> <mask>", "underscore, singular"},
		{"details of orders", "details of <mask>", "only in its order"},
		{"song release year", "<mask> <mask> <mask>", "three words"},
		{"song release", "<mask> <mask>", "two of three"},
		{"release year", "release year", "not the beginning"},
		{"unit price over 100", "<mask> <mask> over <unk>", "a number"},
		{"unit price over 1,000.50", "<mask> <mask> over <unk> <unk> <unk>", "a number in parts"},
		{"in 2014", "in <unk>", "a year"},
		{"on 2014-01-05", "on <unk> <unk> <unk>", "a date"},
		{"from France", "from <unk>", "a value"},
		{"from france", "from <unk>", "a value, case aside"},
		{"United States", "<unk> <unk>", "a value of two words"},
		{"States", "<unk>", "a word of a value"},
		{"Joe", "<unk>", "a word of a name of a person"},
		{"on hold", "on <unk>", "a plain word is no value"},
		{"country", "<mask>", "a name goes before a value"},
		{"hush", "hush", "a sensitive value is not looked at"},
		{"of the", "of the", "plain words are no names"},
		{"", "", "nothing"},
		{"?!", "", "punctuation"},
		{"什么", "什么", "other scripts"},
		{"singer's country", "<mask> <mask>", "possessive"},
		{"x1 v2", "x1 v2", "figures in words"},
		{"<mask> of <unk>", "<mask> of <unk>", "masked already"},
	}
	for _, tt := range tests {
		got := m(tt.question)
		if got != tt.want {
			t.Errorf("%q: got %q, want %q: %s", tt.question, got, tt.want, tt.why)
		}
		if again := m(got); again != got {
			t.Errorf("%q: masked again %q", got, again)
		}
	}
	if got := masking.Masker(maskSchema(), false)("from France"); got != "from france" {
		t.Errorf("without values: %q", got)
	}
}

func FuzzMasker(f *testing.F) {
	f.Add("How many <mask> singers' <unk>?")
	m := masking.Masker(maskSchema(), true)
	f.Fuzz(func(t *testing.T, question string) {
		got := m(question)
		if again := m(got); again != got {
			t.Errorf("%q masked twice: %q", got, again)
		}
	})
}

// The embedders of langchaingo fit as they are.
var _ memory.Embedder = embeddings.Embedder(nil)

// vectors embeds texts by their length, and fails on demand.
type vectors struct{ err error }

func (v vectors) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	return []float32{float32(len(text))}, v.err
}

func (v vectors) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i], _ = v.EmbedQuery(ctx, t)
	}
	return out, v.err
}

// shop is a schema of two tables.
var shop = &schema.Schema{Tables: []schema.Table{
	{Name: "customers", Columns: []schema.Column{{Name: "id"}, {Name: "name"}, {Name: "country"}}},
	{Name: "orders", Columns: []schema.Column{{Name: "id"}, {Name: "customer_id"}, {Name: "total"}}},
}}

func TestSimilar(t *testing.T) {
	pool := []memory.Exemplar{
		{ID: "top", Question: "Which customer has the highest total?",
			SQL: "SELECT name FROM customers ORDER BY total DESC LIMIT 1"},
		{ID: "same", Question: "how many customers  live in Norway?",
			SQL: "SELECT count(*) FROM customers WHERE country = 'Norway'"},
		{ID: "count", Question: "How many orders are there in 2014?", SQL: "SELECT count(*) FROM orders WHERE year = 2014"},
		{ID: "twin", Question: "How many customers live in 17?", SQL: "SELECT count(*) FROM customers WHERE x = 17"},
		{ID: "list", Question: "List the names.", SQL: "SELECT name FROM customers"},
	}
	const ask = "How many customers live in Norway?"
	tests := []struct {
		name string
		e    memory.Similar
		want string
		why  string
	}{
		{"default", memory.Similar{}, "twin count top list", "the most similar first, never the question itself"},
		{"k", memory.Similar{K: 1}, "twin", "at most k"},
		{"none", memory.Similar{K: -1}, "", "none"},
		{"own pool", memory.Similar{Pool: &memory.Pool{Pairs: pool[:1]}}, "top", "a pool of its own"},
		{"draft", memory.Similar{Skeleton: true, Draft: "SELECT country FROM customers", K: 2}, "list twin",
			"pairs of its skeleton first"},
		{"draft of another skeleton", memory.Similar{Skeleton: true, Draft: "SELECT 1 UNION SELECT 2 EXCEPT SELECT 3", K: 2},
			"twin count", "none fits: plain order"},
		{"no draft", memory.Similar{Skeleton: true, K: 2}, "twin count", "plain order"},
		{"a draft, and skeletons are not asked for", memory.Similar{Draft: "SELECT country FROM customers", K: 2},
			"twin count", "plain order"},
		{"embedder", memory.Similar{Embedder: vectors{}, K: 2}, "twin count", "by distance"},
		{"embedder fails", memory.Similar{Embedder: vectors{errors.New("down")}, K: 1}, "twin", "by words, with a warning"},
	}
	all := &memory.Pool{Pairs: pool}
	for _, tt := range tests {
		root := trace.Tracer{}.New("test")
		tt.e.Dialect, tt.e.Pool = sqltext.SQLite(), cmp.Or(tt.e.Pool, all)
		got, err := tt.e.Pick(trace.NewContext(t.Context(), root), shop, ask)
		root.End()
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, p := range got {
			ids = append(ids, p.ID)
		}
		if strings.Join(ids, " ") != tt.want {
			t.Errorf("%s: got %v, want %s: %s", tt.name, ids, tt.want, tt.why)
		}
		if warned := len(root.Warnings()) > 0; warned != (tt.name == "embedder fails") {
			t.Errorf("%s: warnings %v", tt.name, root.Warnings())
		}
	}
	leak := []memory.Exemplar{{ID: "template", Question: "How many orders live in 3?", SQL: "SELECT 1"},
		{ID: "other", Question: "Who?", SQL: "SELECT 2"}}
	got, err := memory.Similar{Pool: &memory.Pool{Pairs: leak}, WithoutTemplate: true}.Pick(t.Context(), shop,
		"How many customers live in 9?")
	if err != nil || len(got) != 1 || got[0].ID != "other" {
		t.Errorf("WithoutTemplate: %v, %v", got, err)
	}
}

func BenchmarkSimilar(b *testing.B) {
	pool := &memory.Pool{}
	words := strings.Fields(
		`how many customers orders total name country which list highest average live in the of with more than by each year first
		last not never sold paid`)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 10_000 {
		var q []string
		for range 12 {
			q = append(q, words[rng.IntN(len(words))])
		}
		pool.Pairs = append(pool.Pairs, memory.Exemplar{Question: fmt.Sprint(strings.Join(q, " "), i),
			SQL: "SELECT count(*) FROM customers"})
	}
	for b.Loop() {
		got, err := memory.Similar{Pool: pool}.Pick(b.Context(), shop, "How many customers live in each country?")
		if err != nil || len(got) != 9 {
			b.Fatal(len(got), err)
		}
	}
}

// TestEmbeddingsCount: the calls of an embedder are in the budget of the question, its trace and its price.
func TestEmbeddingsCount(t *testing.T) {
	pool := &memory.Pool{Pairs: []memory.Exemplar{{Question: "How many orders?", SQL: "SELECT 1"},
		{Question: "Who?", SQL: "SELECT 2"}}}
	pick := func(e memory.Embedder, b llm.Budget) (used llm.Usage, traced llm.Usage, warned int) {
		account, root := b.Start(), trace.Tracer{}.New("question")
		pool := &memory.Pool{Pairs: pool.Pairs}
		for range 2 {
			x := memory.Similar{Embedder: e, Dialect: sqltext.SQLite(), Pool: pool}
			testutil.Value(x.Pick(account.Into(trace.NewContext(t.Context(), root)), shop, "How many customers?"))(t)
		}
		return account.Usage(), root.Usage(), len(root.Warnings())
	}
	prices := map[string]llm.Price{"embedding": {Prompt: 1e6}}
	for _, tt := range []struct {
		why    string
		e      memory.Embedder
		budget llm.Budget
		calls  int
		warned int
	}{
		{"the pool once, and each question", vectors{}, llm.Budget{Prices: prices}, 3, 0},
		{"a budget of two: the second question is compared by words", vectors{}, llm.Budget{Calls: 2, Prices: prices}, 2, 1},
		{"a failure counts too", vectors{errors.New("down")}, llm.Budget{Prices: prices}, 2, 1},
	} {
		used, traced, warned := pick(tt.e, tt.budget)
		if used != traced || used.Calls != tt.calls || warned != tt.warned || used.Money != float64(used.PromptTokens) ||
			(used.PromptTokens > 0) == used.Partial {
			t.Errorf("%s: %+v, traced %+v, %d warnings", tt.why, used, traced, warned)
		}
	}
}

// TestSkeletonsAlike: a pair whose skeleton is like that of the draft by 0.85 goes first, and one that is like it by
// less does not.
func TestSkeletonsAlike(t *testing.T) {
	d := sqltext.SQLite()
	const draft = "SELECT name FROM city JOIN land ON city.l = land.l WHERE a = 1 GROUP BY name HAVING count(*) > 1 " +
		"ORDER BY name"
	const near = draft + " DESC"
	const further = "SELECT DISTINCT name FROM city JOIN land ON city.l = land.l WHERE a = 1 GROUP BY name " +
		"HAVING count(*) > 1 ORDER BY name DESC LIMIT 5"
	if a, b := d.Parse(draft).Alike(d.Parse(near)), d.Parse(draft).Alike(d.Parse(further)); a < .85 || b < .80 ||
		b >= .85 {
		t.Fatalf("the statements are alike by %v and %v", a, b)
	}
	pool := &memory.Pool{Pairs: []memory.Exemplar{
		{Question: "quite another thing", SQL: further}, {Question: "which cities are large now", SQL: "SELECT 1"},
		{Question: "something else", SQL: near},
	}}
	got, err := memory.Similar{Pool: pool, K: 2, Skeleton: true, Draft: draft, Dialect: d}.Pick(t.Context(), nil,
		"which cities are large")
	if err != nil || len(got) != 2 || got[0].SQL != near || got[1].SQL != "SELECT 1" {
		t.Errorf("%v, %v", got, err)
	}
}
