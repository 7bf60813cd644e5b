package eval_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/vote"
)

// The pools of docs/lab/petsql.md, by parts of the names of their runs.
var (
	nineMixed = []string{
		"dail_sql/DAIL-SQL+GPT-4", "c3sql/", "graphix", "GPT4_results/DIN-SQL", "codes-7b", "ta_sql", "thu_chatgpt", "chang_codex", "deepseek-v3",
	}
	nineWeaker = []string{
		"thu_chatgpt", "chang_chatgpt", "gpt-3.5", "CoT/Qwen/Qwen2-72B", "CodeX_few-shot", "DeepSeek-R1-70B", "codes-15b", "dail_sql/DAIL-SQL+GPT-4",
		"ta_sql",
	}
	fourClose = []string{"dail_sql/", "c3sql/"}
	six       = []string{
		"llama_base_k3_seed7", "qwen_base_k3_seed7", "llama_qlora_k3_seed7", "qwen_qlora_k3_seed7", "llama_react_k3_seed7", "qwen_react_k3_seed7",
	}
)

// The ways of voting that are compared, in the order of the columns.
const (
	bestSingle = iota // the model that is right most often in the first half
	naive             // equal votes, ties by name, as the reference has it
	equal             // equal votes, as PETSQL and PanelFit count them: a tie goes to a result with rows
	byAccuracy        // weights
	panel5
	panel7
	chosen // by PanelFit
	anyRight
	ways
)

var names = [ways]string{"best single", "naive", "equal votes", "weights", "panel 5", "panel 7", "the choice", "any"}

// halvings is how often the questions of a pool are halved at random.
func halvings() int {
	if evaldata.Race {
		return 1
	}
	return 50
}

// TestPanelPools: over random halves of the questions of a pool, ways of voting
// that are fitted on one half, on the other.
func TestPanelPools(t *testing.T) {
	var store recorded
	floors := func(of map[int]float64) (f [ways]float64) {
		for i := range f {
			f[i] = -100
		}
		f[chosen] = -1.5
		for way, points := range of {
			f[way] = points
		}
		return f
	}
	for _, tt := range []struct {
		name, file string
		runs       []string           // nil: all
		grade      string             // the run whose SQL is the PreSQL
		least      [ways]float64      // points against naive
		single     bool               // fitted ways are no worse than the best single model
		right      func(n, equal int) // of all questions
	}{
		{name: "Spider, all", file: "spider_dev", grade: "dail_sql/DAIL-SQL+GPT-4", least: floors(map[int]float64{byAccuracy: -.8}),
			right: func(n, equal int) {
				if n != 496 || equal < 433-2 {
					t.Errorf("equal votes of 34 systems are right on %d of %d questions, want 431 of 496", equal, n)
				}
			}},
		{name: "Spider, nine mixed (a)", file: "spider_dev", runs: nineMixed, grade: "dail_sql/DAIL-SQL+GPT-4", least: floors(nil), single: true},
		{
			name: "Spider, nine weaker (b)", file: "spider_dev", runs: nineWeaker, grade: "dail_sql/DAIL-SQL+GPT-4",
			least: floors(map[int]float64{panel5: 1.5, chosen: .5}), single: true,
		},
		{name: "Spider, four close (c)", file: "spider_dev", runs: fourClose, grade: "dail_sql/DAIL-SQL+GPT-4", least: floors(nil)},
		{name: "superhero, all", file: "bird_dev", grade: "rsl_sql", least: floors(nil)},
		{
			name: "superhero, plain prompts (d)", file: "bird_dev", runs: []string{"artessay/Base/", "artessay/CoT/"}, grade: "artessay/Base/",
			least: floors(map[int]float64{byAccuracy: 0}), single: true,
		},
		{
			name: "mini-dev, official", file: "bird_minidev", runs: []string{"official/sql_output_kg/", "official/TA_output/"}, grade: "gpt-4-turbo_sqlite",
			least: floors(nil),
		},
		{
			name: "ClassicModels, six (e)", file: "classicmodels", runs: six, grade: "qwen_base_k3_seed7",
			least: floors(map[int]float64{byAccuracy: 3, panel5: 4, chosen: 1.5}), single: true,
		},
		{name: "ClassicModels, all k=3", file: "classicmodels", runs: []string{"_k3_"}, grade: "qwen_base_k3_seed7", least: floors(nil)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			questions := store.labelled(t, tt.file, tt.runs, tt.grade)
			if len(questions) < 20 {
				t.Fatalf("%d questions", len(questions))
			}
			fold, err := eval.PanelFit{Sizes: []int{5, 7}}.Fit(questions)
			if err != nil {
				t.Fatal(err)
			}
			mean, low, high := halves(t, questions, false)
			shares := ""
			for way, name := range names {
				shares += fmt.Sprintf(", %s %.3f", name, mean[way])
			}
			t.Logf("%d models, %d questions%s", len(questions[0].Candidates), len(questions), shares)
			text := ""
			for way := equal; way <= chosen; way++ {
				text += fmt.Sprintf("; %s %+.1f (%+.1f to %+.1f)", names[way], 100*(mean[way]-mean[naive]), 100*low[way], 100*high[way])
			}
			t.Logf("points to naive, 95 %% of the halves%s", text)
			if testing.Verbose() { // it costs as much again, and is for a reader
				whole, _, _ := halves(t, questions, true)
				t.Logf("templates in one half: weights %+.1f; panel 5 %+.1f; the choice %+.1f",
					100*(whole[byAccuracy]-whole[naive]), 100*(whole[panel5]-whole[naive]), 100*(whole[chosen]-whole[naive]))
			}
			t.Logf("all questions: best single %d, any %d; in folds: %s", best(questions), count(questions, isAny), fold)
			if evaldata.Race {
				return
			}
			for way, least := range tt.least {
				if got := 100 * (mean[way] - mean[naive]); got < least {
					t.Errorf("%s: %+.2f points against naive, want at least %+.1f", names[way], got, least)
				}
				if fitted := way >= byAccuracy && way <= panel7; tt.single && fitted && mean[way] < mean[bestSingle] {
					t.Errorf("%s: %.3f, the best single model %.3f", names[way], mean[way], mean[bestSingle])
				}
			}
			if tt.right != nil {
				tt.right(fold.N, fold.Ways[0].Right)
			}
		})
	}
}

// halves returns the share of questions on which each way is right, over random
// halves; low and high bound 95 % of the differences to equal votes. With templates
// all questions of one are in one half, so that no way is scored on questions that
// differ only in values from those it was fitted on.
func halves(t *testing.T, questions []eval.Labelled, templates bool) (mean, low, high [ways]float64) {
	t.Helper()
	var differences [ways][]float64
	for seed := range uint64(halvings()) {
		order := rand.New(rand.NewPCG(seed, 5)).Perm(len(questions))
		var fit, score []eval.Labelled
		fits := map[string]bool{} // by template
		for i, at := range order {
			q := questions[at]
			first := i < len(order)/2
			if templates {
				seen := false
				if first, seen = fits[q.Database+q.Template]; !seen {
					first = len(fit) <= len(score)
					fits[q.Database+q.Template] = first
				}
			}
			if first {
				fit = append(fit, q)
			} else {
				score = append(score, q)
			}
		}
		c, err := eval.PanelFit{}.Fit(fit)
		if err != nil {
			t.Fatal(err)
		}
		all := records(fit)
		model := bestModel(all)
		weights := petsql.WeightsFromLabels(all)
		graded := map[string][]eval.Labelled{}
		for _, q := range fit {
			graded[q.Grade] = append(graded[q.Grade], q)
		}
		byGrade := map[string]map[string]petsql.Record{}
		for grade, list := range graded {
			byGrade[grade] = records(list)
		}
		five, seven := petsql.PanelFromLabels(5, byGrade), petsql.PanelFromLabels(7, byGrade)
		var right [ways]int
		right[bestSingle] = count(score, func(q eval.Labelled) bool { return rightOf(q, model) })
		right[naive] = count(score, byName)
		right[anyRight] = count(score, isAny)
		for way, c := range map[int]eval.PanelChoice{
			equal: {}, byAccuracy: {Weights: &weights}, panel5: {Panel: &five}, panel7: {Panel: &seven}, chosen: c,
		} {
			right[way] = count(score, c.Right)
		}
		for way, n := range right {
			mean[way] += float64(n) / float64(len(score)) / float64(halvings())
			differences[way] = append(differences[way], float64(n-right[naive])/float64(len(score)))
		}
	}
	for way, d := range differences {
		slices.Sort(d)
		low[way], high[way] = d[len(d)*25/1000], d[min(len(d)*975/1000, len(d)-1)]
	}
	return mean, low, high
}

func count(questions []eval.Labelled, right func(eval.Labelled) bool) (n int) {
	for _, q := range questions {
		if right(q) {
			n++
		}
	}
	return n
}

// byName votes with ties by the name of the run, in whose order candidates are.
func byName(q eval.Labelled) bool {
	b, err := vote.Majority{Tie: vote.Earliest}.Count(q.Candidates)
	return err == nil && q.Right[b.Clusters[0].Best]
}

func isAny(q eval.Labelled) bool { return slices.Contains(q.Right, true) }

func rightOf(q eval.Labelled, model string) bool {
	for i, c := range q.Candidates {
		if c.Model == model {
			return q.Right[i]
		}
	}
	return false
}

// best is how often the best single model is right.
func best(questions []eval.Labelled) int {
	all := records(questions)
	return all[bestModel(all)].Right
}

func bestModel(all map[string]petsql.Record) (model string) {
	for name, r := range all {
		if model == "" || r.Right > all[model].Right || r.Right == all[model].Right && name < model {
			model = name
		}
	}
	return model
}

func records(questions []eval.Labelled) map[string]petsql.Record {
	all := map[string]petsql.Record{}
	for _, q := range questions {
		for i, c := range q.Candidates {
			r := all[c.Model]
			r.Asked++
			if q.Right[i] {
				r.Right++
			}
			all[c.Model] = r
		}
	}
	return all
}

// recorded executes the answers of a file once.
type recorded struct {
	once  sync.Once
	store *eval.Store
	files map[string][]answered
}

// answered is a question with all its answers, by run.
type answered struct {
	question   eval.Question
	template   string
	candidates []vote.Candidate // Model is the run
	right      []bool
}

// labelled makes the calibration questions of the runs of a file whose names have
// one of parts, nil for all of them.
func (r *recorded) labelled(t *testing.T, file string, parts []string, grade string) []eval.Labelled {
	t.Helper()
	var list []eval.Labelled
	for _, a := range r.read(t, file) {
		q := eval.Labelled{ID: a.question.ID, Database: a.question.DB, Template: a.template, Grade: "extra"}
		graded := false
		for i, c := range a.candidates {
			if !graded && strings.Contains(c.Model, grade) {
				q.Grade, graded = sqltext.SQLite().Parse(c.SQL).Hardness(), true
			}
			if parts != nil && !slices.ContainsFunc(parts, func(part string) bool {
				// seed7 is not seed70.
				return strings.Contains(c.Model, part) && (!strings.Contains(part, "_seed") || c.Model == part)
			}) || strings.Contains(c.Model, "self-consistency") && parts != nil && len(parts) > 2 {
				continue
			}
			c.Sample = len(q.Candidates)
			q.Candidates, q.Right = append(q.Candidates, c), append(q.Right, a.right[i])
		}
		list = append(list, q)
	}
	return list
}

func (r *recorded) read(t *testing.T, file string) []answered {
	t.Helper()
	f := folder(t)
	r.once.Do(func() { r.store, r.files = newStore(t, f.Database), map[string][]answered{} })
	if list, ok := r.files[file]; ok {
		return list
	}
	d := dataset(t, f, file)
	set := result.Equality{Mode: result.Set}
	of := map[string][]eval.Answer{}
	for a, err := range eval.Answers(f.Path("predictions", "preds_"+file+".jsonl.gz")) {
		if err != nil {
			t.Fatal(err)
		}
		// Of the mini-dev, one list of questions and one engine.
		if file != "bird_minidev" || strings.HasSuffix(strings.ToLower(a.Run), "sqlite") {
			of[a.Question] = append(of[a.Question], a)
		}
	}
	var list []answered
	for _, q := range d.Questions {
		if _, err := f.Database(q.DB); err != nil {
			continue
		}
		want, ok, err := r.store.Fingerprint(t.Context(), q.DB, q.Gold, set)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			continue // a gold of another engine
		}
		answers := of[q.ID]
		slices.SortStableFunc(answers, func(a, b eval.Answer) int { return strings.Compare(a.Run, b.Run) })
		a := answered{question: q, template: eval.GoldTemplate(sqltext.SQLite(), q.Gold)}
		if a.candidates, err = r.store.Candidates(t.Context(), q, answers, eval.CandidateOptions{}); err != nil {
			t.Fatal(err)
		}
		a.right = make([]bool, len(answers))
		for i := range a.candidates {
			c := &a.candidates[i]
			c.Model = answers[i].Run
			if c.Statement == nil { // parsed once and not in each count
				c.Statement = sqltext.SQLite().Parse(c.SQL)
			}
			if c.Rejected == "" {
				got, ok, err := r.store.Fingerprint(t.Context(), q.DB, c.SQL, set)
				if err != nil {
					t.Fatal(err)
				}
				a.right[i] = ok && got == want
			}
		}
		list = append(list, a)
	}
	r.files[file] = list
	return list
}

// dataset reads the questions of a file of answers, of those of mini-dev the ones
// whose database is there.
func dataset(t *testing.T, f *eval.Folder, name string) *eval.Dataset {
	t.Helper()
	d, err := f.Dataset(name)
	if err != nil {
		t.Fatal(err)
	}
	if name == "bird_minidev" {
		return d.Select(func(q eval.Question) bool { return q.DB == "superhero" })
	}
	return d
}
