package recorded_test

import (
	"math/rand/v2"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/masking"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// TestSimilarRetrieves measures how much the SQL of exemplars is like the gold: the mean Jaccard index of their
// skeletons.
func TestSimilarRetrieves(t *testing.T) {
	f := folder(t)
	d := sqltext.SQLite()
	schemas := map[string]*schema.Schema{}
	overlap := func(gold string, pairs []memory.Exemplar) float64 {
		sum := 0.0
		for _, p := range pairs {
			sum += d.Parse(gold).Alike(d.Parse(p.SQL))
		}
		return sum / float64(len(pairs))
	}
	maskers := map[string]func(string) string{}
	measure := func(questions []eval.Question, k int, pool func(db string) []memory.Exemplar) (random, raw,
		masked float64) {
		plain, masking := map[string]*memory.Pool{}, map[string]*memory.Pool{}
		rng := rand.New(rand.NewPCG(1, 2))
		for _, q := range questions {
			pairs := pool(q.DB)
			if plain[q.DB] == nil {
				plain[q.DB] = &memory.Pool{Pairs: pairs}
				// The schema of the question's database masks the question; each pair
				// is masked by its own.
				masking[q.DB] = &memory.Pool{Pairs: pairs, Mask: func(p memory.Exemplar) string {
					return maskers[p.Evidence](p.Question)
				}}
			}
			pick := func(pool *memory.Pool, s *schema.Schema) []memory.Exemplar {
				got := testutil.Value(memory.Similar{Pool: pool, K: k}.Pick(t.Context(), s, q.Text))(t)
				return got
			}
			raw += overlap(q.Gold, pick(plain[q.DB], nil))
			masked += overlap(q.Gold, pick(masking[q.DB], schemas[q.DB]))
			var some []memory.Exemplar
			for _, i := range rng.Perm(len(pairs))[:k] {
				some = append(some, pairs[i])
			}
			random += overlap(q.Gold, some)
		}
		n := float64(len(questions))
		return random / n, raw / n, masked / n
	}

	spider := testutil.Value(f.Dataset("spider_dev"))(t)
	spider = spider.Select(func(q eval.Question) bool { _, err := f.Database(q.DB); return err == nil })
	pools := map[string][]memory.Exemplar{}
	for _, id := range spider.Databases() {
		path := testutil.Value(f.Database(id))(t)
		schemas[id] = profiled(t, path, exec.ProfileOptions{Rows: 500, Top: 100, Examples: 100})
		maskers[id] = masking.Masker(schemas[id], true)
		for _, q := range spider.Questions {
			if q.DB != id {
				pools[id] = append(pools[id], memory.Exemplar{Question: q.Text, SQL: q.Gold, Evidence: q.DB})
			}
		}
	}
	random, raw, masked := measure(spider.Questions, 9, func(db string) []memory.Exemplar { return pools[db] })
	t.Logf("Spider, k 9: random %.3f, raw %.3f, masked %.3f", random, raw, masked)
	if masked < raw+.015 || masked < random+.10 {
		t.Errorf("masked %.3f; want raw %.3f + .015 and random %.3f + .10", masked, raw, random)
	}

	classic := testutil.Value(f.Dataset("classicmodels"))(t)
	train := testutil.Value(eval.ReadDataset(f.Path("questions", "classicmodels_train.jsonl")))(t)
	s := profiled(t, f.Path("db", "classicmodels", "classicmodels.sqlite"), exec.ProfileOptions{Top: 100, Examples: 100})
	schemas["classicmodels"], maskers["classicmodels"] = s, masking.Masker(s, true)
	var pool []memory.Exemplar
	for _, q := range train.Questions {
		pool = append(pool, memory.Exemplar{Question: q.Text, SQL: q.Gold, Evidence: "classicmodels"})
	}
	random, raw, masked = measure(classic.Questions, 3, func(string) []memory.Exemplar { return pool })
	t.Logf("ClassicModels, k 3: random %.3f, raw %.3f, masked %.3f", random, raw, masked)
	if masked < raw+.04 {
		t.Errorf("masked %.3f; want raw %.3f + .04", masked, raw)
	}
}

// profiled returns the schema of a database file with profiles.
func profiled(t *testing.T, path string, opts exec.ProfileOptions) *schema.Schema {
	t.Helper()
	db := openAt(t, path, exec.Config{})
	plain := testutil.Value(db.Schema(t.Context()))(t)
	s, err := db.Profile(t.Context(), plain, opts)
	if s == nil {
		t.Fatal(err)
	}
	return s
}
