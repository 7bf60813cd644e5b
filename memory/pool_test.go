package memory_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
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

// TestPoolKeepsRetrieversApart: several Similar that share a Pool pick what each would pick alone.
func TestPoolKeepsRetrieversApart(t *testing.T) {
	pairs := []memory.Exemplar{
		{Question: "alpha one", SQL: "SELECT 1"}, {Question: "beta two", SQL: "SELECT 2"},
		{Question: "gamma in USA three", SQL: "SELECT 3"},
	}
	pick := func(x memory.Similar, pool *memory.Pool, withoutValues bool) string {
		t.Helper()
		x.Pool, x.WithoutValues = pool, withoutValues
		picked := testutil.Value(x.Pick(t.Context(), shop, "beta?"))(t)
		return picked[0].Question
	}
	ways := map[string]memory.Similar{
		"plain":        {K: 1},
		"embedder":     {K: 1, Embedder: scaled{1}},
		"other":        {K: 1, Embedder: flipped{scaled{1}}},
		"uncomparable": {K: 1, Embedder: uncomparable{scaled: scaled{0}}},
	}
	alone := map[string]string{}
	for name, x := range ways {
		alone[name] = pick(x, &memory.Pool{Pairs: pairs}, false)
	}
	if alone["embedder"] == alone["other"] || alone["uncomparable"] == alone["embedder"] {
		t.Fatalf("the ways are too much alike for this test: %v", alone)
	}
	shared := &memory.Pool{Pairs: pairs}
	for a, first := range ways {
		for b, second := range ways {
			for _, without := range []bool{false, true} {
				pick(first, shared, without)
				if got := pick(second, shared, false); got != alone[b] {
					t.Errorf("%s after %s: %q, want %q", b, a, got, alone[b])
				}
			}
		}
	}
	masks := map[string]string{"alpha one": "beta", "beta two": "x", "gamma in USA three": "y"}
	masked := &memory.Pool{Pairs: pairs, Mask: func(p memory.Exemplar) string { return masks[p.Question] }}
	if got := pick(ways["plain"], masked, false); got != "alpha one" || got == alone["plain"] {
		t.Errorf("with a mask of the pool: %q, without %q", got, alone["plain"])
	}

	calls := 0
	for range 3 {
		pick(memory.Similar{K: 1, Embedder: counting{scaled{1}, &calls}}, shared, false)
	}
	if calls != 1 {
		t.Errorf("the pool was embedded %d times", calls)
	}
}

// TestPoolKnowsWhetherValuesAreMasked: where no stored value may be used, what was computed with them does not serve.
func TestPoolKnowsWhetherValuesAreMasked(t *testing.T) {
	pool := &memory.Pool{Pairs: []memory.Exemplar{{Question: "Who is from France?", SQL: "SELECT 1"}}}
	s := &schema.Schema{Tables: []schema.Table{{Name: "people", Columns: []schema.Column{
		{Name: "country", Profile: &schema.Profile{Examples: []any{"France", "Norway"}}},
	}}}}
	for _, without := range []bool{false, true, false} {
		x := memory.Similar{Pool: pool, WithoutTemplate: true, WithoutValues: without}
		got, err := x.Pick(t.Context(), s, "Who is from Norway?")
		if err != nil || len(got) > 0 != without {
			t.Errorf("WithoutValues %v: %v, %v: two stored countries have one mask", without, got, err)
		}
	}
}

// TestPoolForOtherSchemas: a Pool serves questions about several schemas in turn.
func TestPoolForOtherSchemas(t *testing.T) {
	pool := &memory.Pool{Pairs: []memory.Exemplar{{Question: "List zebras", SQL: "SELECT 1"},
		{Question: "List orders", SQL: "SELECT 2"}}}
	zoo := &schema.Schema{Tables: []schema.Table{{Name: "zebras"}}}
	for _, tt := range []struct {
		s         *schema.Schema
		want, why string
	}{
		{zoo, "SELECT 1", "customers and orders are words, so the order of the pool decides"},
		{shop, "SELECT 2", "customers and orders are masked"},
		{nil, "SELECT 1", "nothing is masked"},
		{shop, "SELECT 2", "as before"},
	} {
		got, err := memory.Similar{Pool: pool, K: 1}.Pick(t.Context(), tt.s, "List customers")
		if err != nil || len(got) != 1 || got[0].SQL != tt.want {
			t.Errorf("got %v, %v, want %s: %s", got, err, tt.want, tt.why)
		}
	}
	if got, err := (memory.Similar{}).Pick(t.Context(), shop, "q"); got != nil || err != nil {
		t.Errorf("no pool: %v, %v", got, err)
	}
}

// TestPastStatements: what nobody said is right is read from files, and shown by none.
func TestPastStatements(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log.jsonl")
	lines := `{"sql": "SELECT 1", "past": true}
{"question": "singers of France", "sql": "SELECT 2", "past": true}
{"question": "singers of Norway", "sql": "SELECT 3"}
`
	testutil.OK(t, os.WriteFile(file, []byte(lines), 0o600))
	pairs, err := memory.ReadExemplars(file)
	if err != nil || len(pairs) != 3 || !pairs[0].Past || pairs[2].Past {
		t.Fatalf("read %+v, %v", pairs, err)
	}
	pool := &memory.Pool{Pairs: pairs}
	similar := testutil.Value(memory.Similar{Pool: pool}.Pick(t.Context(), nil, "singers of Chile"))(t)
	confirmed := testutil.Value(memory.OpenVerifiedAnswers(file))(t)
	defer confirmed.Close()
	kept := testutil.Value(confirmed.Pairs())(t)
	for by, got := range map[string][]memory.Exemplar{"by likeness": similar, "by chance": pool.Random(3, "how many songs",
		1), "confirmed": kept} {
		golden.Equal(t, pairs[2:], got, by)
	}
}
