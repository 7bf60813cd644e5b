package strategy_test

import (
	"context"
	"testing"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
)

// scaled embeds texts as their place, times a factor.
type scaled struct{ factor float32 }

func (s scaled) EmbedQuery(context.Context, string) ([]float32, error) {
	return []float32{s.factor * 2}, nil
}

func (s scaled) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range texts {
		out[i] = []float32{float32(i)}
	}
	return out, nil
}

// uncomparable is an embedder that == panics on.
type uncomparable struct {
	scaled
	_ []int
}

// counting counts how often the pool is embedded.
type counting struct {
	scaled
	calls *int
}

func (c counting) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	*c.calls++
	return c.scaled.EmbedDocuments(ctx, texts)
}

// flipped embeds the pool in the other direction.
type flipped struct{ scaled }

func (f flipped) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	out, err := f.scaled.EmbedDocuments(ctx, texts)
	for _, v := range out {
		v[0] = 2 - v[0]
	}
	return out, err
}

// TestIndexKeepsRetrieversApart: several Exemplars that share the index of an
// engine pick what each would pick alone.
func TestIndexKeepsRetrieversApart(t *testing.T) {
	pool := []strategy.Pair{
		{Question: "alpha one", SQL: "SELECT 1"}, {Question: "beta two", SQL: "SELECT 2"}, {Question: "gamma in USA three", SQL: "SELECT 3"},
	}
	words := map[string]string{"alpha one": "beta", "beta two": "x", "gamma in USA three": "y"}
	masked := func(p strategy.Pair) string { return words[p.Question] }
	base := shopEnv(t, nil)
	base.Exemplars = pool
	pick := func(e strategy.Exemplars, index *strategy.ExemplarIndex, skipValues bool) string {
		t.Helper()
		env := *base
		env.Index, env.SkipValues = index, skipValues
		pairs, err := e.Pick(t.Context(), &env, env.Schema, "beta?")
		if err != nil {
			t.Fatal(err)
		}
		return pairs[0].Question
	}
	ways := map[string]strategy.Exemplars{
		"plain":        {K: 1},
		"masked":       {K: 1, Mask: masked},
		"embedder":     {K: 1, Embedder: scaled{1}},
		"other":        {K: 1, Embedder: flipped{scaled{1}}},
		"uncomparable": {K: 1, Embedder: uncomparable{scaled: scaled{0}}},
	}
	alone := map[string]string{}
	for name, e := range ways {
		alone[name] = pick(e, nil, false)
	}
	if alone["plain"] == alone["masked"] || alone["embedder"] == alone["other"] || alone["uncomparable"] == alone["embedder"] {
		t.Fatalf("the ways are too much alike for this test: %v", alone)
	}
	shared := &strategy.ExemplarIndex{}
	for a, first := range ways {
		for b, second := range ways {
			for _, skip := range []bool{false, true} {
				pick(first, shared, skip)
				if got := pick(second, shared, false); got != alone[b] {
					t.Errorf("%s after %s: %q, want %q", b, a, got, alone[b])
				}
			}
		}
	}

	calls := 0
	e := strategy.Exemplars{K: 1, Embedder: counting{scaled{1}, &calls}}
	for range 3 {
		pick(e, shared, false)
	}
	if calls != 1 {
		t.Errorf("the pool was embedded %d times", calls)
	}
}

// TestIndexKnowsWhetherValuesAreMasked: where no stored value may be used, an
// index made with them does not serve.
func TestIndexKnowsWhetherValuesAreMasked(t *testing.T) {
	env := shopEnv(t, nil)
	env.Index = &strategy.ExemplarIndex{}
	env.Exemplars = []strategy.Pair{{Question: "Who is from France?", SQL: "SELECT 1"}}
	s := &schema.Schema{Tables: []schema.Table{{Name: "people", Columns: []schema.Column{
		{Name: "country", Profile: &schema.Profile{Examples: []any{"France", "Norway"}}},
	}}}}
	for _, skip := range []bool{false, true, false} {
		env.SkipValues = skip
		got, err := strategy.Exemplars{WithoutTemplate: true}.Pick(t.Context(), env, s, "Who is from Norway?")
		if err != nil || len(got) > 0 != skip {
			t.Errorf("SkipValues %v: %v, %v: two stored countries have one mask", skip, got, err)
		}
	}
}
