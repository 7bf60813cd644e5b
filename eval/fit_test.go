package eval_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

// labelled makes n questions that models answer rightly with chances of their
// own; wrong answers agree with each other one time in three.
func labelled(n int, chances map[string]float64, seed uint64) []eval.Labelled {
	rng := rand.New(rand.NewPCG(seed, 1))
	var names []string
	for name := range chances {
		names = append(names, name)
	}
	slices.Sort(names)
	var list []eval.Labelled
	for i := range n {
		q := eval.Labelled{ID: fmt.Sprint(i), Grade: []string{"easy", "hard"}[i%2]}
		for j, name := range names {
			right := rng.Float64() < chances[name]
			fp := "right"
			if !right {
				fp = fmt.Sprint("wrong", rng.IntN(3))
			}
			q.Candidates = append(q.Candidates, vote.Candidate{SQL: "SELECT 1", Draw: j, Model: name, Fingerprint: fp, Rows: 1})
			q.Right = append(q.Right, right)
		}
		list = append(list, q)
	}
	return list
}

func TestPanelFit(t *testing.T) {
	alike := map[string]float64{}
	for i := range 12 {
		alike[fmt.Sprintf("m%02d", i)] = .7
	}
	unequal := map[string]float64{"a": .2, "b": .2, "c": .2, "d": .25, "x": .9, "y": .85}
	for _, tt := range []struct {
		name  string
		of    map[string]float64
		equal bool
	}{{"alike", alike, true}, {"unequal", unequal, false}} {
		c, err := eval.PanelFit{}.Fit(labelled(200, tt.of, 7))
		if err != nil {
			t.Fatal(err)
		}
		t.Log(c)
		if (c.Best == eval.WayEqual) != tt.equal || tt.equal && (c.Voter != nil || c.Panel != nil) {
			t.Errorf("%s: %s", tt.name, c)
		}
		if c.N != 200 || c.Folds != 5 || len(c.Ways) < 4 {
			t.Errorf("%s: %+v", tt.name, c)
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back eval.PanelChoice
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, back); diff != "" {
			t.Errorf("JSON (-want +got)\n%s", diff)
		}
	}
}

// TestPanelFitSeesNoScored: labels of questions that are scored later change
// nothing in the choice.
func TestPanelFitSeesNoScored(t *testing.T) {
	all := labelled(120, map[string]float64{"a": .3, "b": .5, "c": .6, "d": .9}, 3)
	first, err := eval.PanelFit{}.Fit(all[:60])
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range all[60:] {
		for i := range q.Right {
			q.Right[i] = !q.Right[i]
		}
	}
	again, err := eval.PanelFit{}.Fit(all[:60])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("(-first +again)\n%s", diff)
	}
}

func TestPanelFitErrors(t *testing.T) {
	one := labelled(10, map[string]float64{"a": 1}, 1)
	short := labelled(10, map[string]float64{"a": 1, "b": 0}, 1)
	short[3].Right = nil
	for want, questions := range map[string][]eval.Labelled{"too few": one[:2], "two models": one, "labels": short} {
		if _, err := (eval.PanelFit{}).Fit(questions); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestPanelFitPools: over random halves, what PanelFit chooses on one half against
// equal votes on the other.
func TestPanelFitPools(t *testing.T) {
	const rounds = 25
	f := folder(t)
	nineMixed := []string{"dail_sql/DAIL-SQL+GPT-4", "c3sql/", "graphix", "GPT4_results/DIN-SQL", "codes-7b", "ta_sql", "thu_chatgpt", "chang_codex", "deepseek-v3"}
	nineWeak := []string{"thu_chatgpt", "chang_chatgpt", "gpt-3.5", "CoT/Qwen/Qwen2-72B", "CodeX_few-shot", "DeepSeek-R1-70B", "codes-15b", "dail_sql/DAIL-SQL+GPT-4", "ta_sql"}
	six := []string{"llama_base_k3_seed7", "qwen_base_k3_seed7", "llama_qlora_k3_seed7", "qwen_qlora_k3_seed7", "llama_react_k3_seed7", "qwen_react_k3_seed7"}
	classic := func(prefixes ...string) (pools []string) {
		for _, p := range prefixes {
			pools = append(pools, "classicmodels/"+p+"_k3")
		}
		return pools
	}
	for _, tt := range []struct {
		name, dataset string
		pools         []string
		runs          []string // parts of names; nil: all
		grade         string   // run whose SQL is the PreSQL
		least         float64  // points against equal votes
	}{
		{"Spider, all", "spider_dev", []string{"spider_dev/all"}, nil, "dail_sql/DAIL-SQL+GPT-4", -1.5},
		{"Spider, nine mixed", "spider_dev", []string{"spider_dev/all"}, nineMixed, "dail_sql/DAIL-SQL+GPT-4", -1.5},
		{"Spider, nine weaker", "spider_dev", []string{"spider_dev/all"}, nineWeak, "dail_sql/DAIL-SQL+GPT-4", .5},
		{"superhero, all", "bird_dev", []string{"bird_dev/all"}, nil, "rsl_sql", -1.5},
		{"superhero, plain prompts", "bird_dev", []string{"bird_dev/all"}, []string{"artessay/Base/", "artessay/CoT/"}, "artessay/Base/", -1.5},
		{"ClassicModels, six", "classicmodels", classic("llama_base", "qwen_base", "llama_qlora", "qwen_qlora", "llama_react", "qwen_react"), six, "qwen_base_k3_seed7", 1.5},
		{"ClassicModels, all k=3", "classicmodels", classic("llama_base", "qwen_base", "llama_qlora", "qwen_qlora", "llama_react", "qwen_react"), nil, "qwen_base_k3_seed7", -1.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			questions := labelPool(t, f, tt.pools, tt.runs, tt.grade)
			gain, naive := 0.0, 0.0
			ways := map[string]int{}
			for seed := range uint64(rounds) {
				order := rand.New(rand.NewPCG(seed, 5)).Perm(len(questions))
				var fit, score []eval.Labelled
				for i, at := range order {
					if i < len(order)/2 {
						fit = append(fit, questions[at])
					} else {
						score = append(score, questions[at])
					}
				}
				c, err := eval.PanelFit{}.Fit(fit)
				if err != nil {
					t.Fatal(err)
				}
				ways[c.Best]++
				for _, q := range score {
					n := float64(len(score)) * rounds
					if (eval.PanelChoice{}).Right(q) {
						naive += 1 / n
						gain -= 100 / n
					}
					if c.Right(q) {
						gain += 100 / n
					}
				}
			}
			t.Logf("%d models, %d questions: equal votes %.3f, the choice %+.2f points; chosen %v", len(questions[0].Candidates), len(questions), naive, gain, ways)
			if gain < tt.least {
				t.Errorf("%+.2f points against equal votes, want at least %+.1f", gain, tt.least)
			}
		})
	}
}

// labelPool executes the answers of pools and says which are right.
func labelPool(t *testing.T, f *eval.Folder, names, runs []string, grade string) []eval.Labelled {
	t.Helper()
	store := newStore(t, f.Database)
	var list []eval.Labelled
	at := map[string]int{}
	set := result.Equality{Mode: result.Set}
	for _, name := range names {
		pool, err := f.Pool(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range pool.Questions {
			want, ok, err := store.Fingerprint(t.Context(), q.DB, q.Gold, set)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				continue
			}
			if _, seen := at[q.ID]; !seen {
				at[q.ID] = len(list)
				list = append(list, eval.Labelled{ID: q.ID, Database: q.DB, Template: eval.GoldTemplate(sqltext.SQLite(), q.Gold), Grade: string(sqltext.Extra)})
			}
			x := &list[at[q.ID]]
			answers := slices.Clone(pool.Answers[i])
			slices.SortStableFunc(answers, func(a, b eval.Answer) int { return strings.Compare(a.Run, b.Run) })
			candidates, err := store.Candidates(t.Context(), q, answers, eval.CandidateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for j, c := range candidates {
				run := answers[j].Run
				if x.Grade == string(sqltext.Extra) && strings.Contains(run, grade) {
					x.Grade = string(sqltext.SQLite().Hardness(c.SQL))
				}
				if runs != nil && !slices.ContainsFunc(runs, func(part string) bool {
					return strings.Contains(run, part) && (!strings.Contains(part, "_seed") || run == part)
				}) || strings.Contains(run, "self-consistency") && runs != nil {
					continue
				}
				c.Model, c.Draw = run, len(x.Candidates)
				right := false
				if c.Rejected == "" {
					got, ok, err := store.Fingerprint(t.Context(), q.DB, c.SQL, set)
					if err != nil {
						t.Fatal(err)
					}
					right = ok && got == want
				}
				x.Candidates, x.Right = append(x.Candidates, c), append(x.Right, right)
			}
		}
	}
	return list
}

func ExamplePanelFit() {
	// What models answered to questions with known answers, of which none is asked
	// later. One is right most of the time, four guess.
	questions := labelled(100, map[string]float64{"good": .9, "g1": .2, "g2": .2, "g3": .2, "g4": .2}, 1)
	choice, err := eval.PanelFit{Sizes: []int{3}}.Fit(questions)
	fmt.Println(choice.Best != eval.WayEqual, err)
	// Output: true <nil>
}
