package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/qasql"
)

// The recorded runs about superheroes that the lab page replays.
const (
	threeRuns = "pool:bird_dev/qa_sql/claude,bird_dev/qa_sql/gpt4o,bird_dev/qa_sql/groq"
	fiveRuns  = threeRuns + ",bird_dev/rsl_sql/gpt-4o/step1/preliminary_sql,bird_dev/rsl_sql/gpt-4o/step2/step_2_information_augmentation"
)

// TestQASQLReplay holds the figures of docs/lab/qasql.md: 70 questions, sets of rows.
func TestQASQLReplay(t *testing.T) {
	dir := evaldata.Path(t)
	tests := []struct {
		model, judge, share string
		right, judged       int
		byContext           []int
	}{
		{threeRuns, "none", "0", 52, 0, []int{48, 55, 47, 0, 0}},
		{threeRuns, "gold", "0", 63, 32, []int{48, 55, 47, 0, 0}}, // 32 as bags; see TestQASQLClusters
		{threeRuns, "gold", "0.6", 59, 9, []int{48, 55, 47, 0, 0}},
		{fiveRuns, "none", "0", 58, 0, []int{48, 55, 47, 60, 62}},
		{fiveRuns, "gold", "0", 66, 36, []int{48, 55, 47, 60, 62}},
		{fiveRuns, "gold", "0.6", 61, 6, []int{48, 55, 47, 60, 62}},
		{fiveRuns, "model", "0", 58, 36, []int{48, 55, 47, 60, 62}}, // nobody answers
	}
	for _, tt := range tests {
		out, _, err := evaluate(t, nil, "run", "--data", dir, "--dataset", "bird_dev", "--strategy", "qasql", "--json",
			"--concurrency", "1", // on a busy machine a sample may be late otherwise
			"--model", tt.model, "--judge", tt.judge, "--min-share", tt.share)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		var s summary
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &s); err != nil {
			t.Fatal(err)
		}
		var byContext []int
		for _, c := range s.Contexts {
			byContext = append(byContext, c.Right)
		}
		right := int(math.Round(s.EX * float64(s.N)))
		t.Logf("%d runs, judge %s below %s: %d right of %d, judged %d, overruled %d, clusters %d, AUROC %.3f, of the ballot %.3f, %+v",
			strings.Count(tt.model, ",")+1, tt.judge, tt.share, right, s.N, s.Judged, s.Overruled, s.Clusters, *s.AUROC, *s.Ballot.AUROC, s.Contexts)
		if right != tt.right || s.N != 70 || s.Failed > 0 || s.Judged != tt.judged || !gocmp.Equal(byContext, tt.byContext) {
			t.Errorf("%s, judge %s below %s: %d right of %d, %d failed, %d judged, by context %v; want %d, %d and %v",
				tt.model, tt.judge, tt.share, right, s.N, s.Failed, s.Judged, byContext, tt.right, tt.judged, tt.byContext)
		}
	}
}

// TestQASQLClusters: as sets of rows, answers differ on 31 questions of three runs; as bags, which the engine compares,
// on 32.
func TestQASQLClusters(t *testing.T) {
	r := newRehearsal(t, threeRuns)
	differ := map[result.Mode]int{}
	for _, q := range r.questions {
		for _, mode := range []result.Mode{result.Set, result.Bag} {
			prints := map[string]bool{}
			for _, p := range r.source.pools {
				for i := range p.Questions {
					if p.Questions[i].ID != q.ID {
						continue
					}
					print, _, err := r.scorer.Store.Fingerprint(t.Context(), q.DB, p.Answers[i][0].SQL, result.Equality{Mode: mode, Digits: 9})
					if err != nil {
						t.Fatal(err)
					}
					prints[print] = true
				}
			}
			if len(prints) > 1 {
				differ[mode]++
			}
		}
	}
	if want := (map[result.Mode]int{result.Set: 31, result.Bag: 32}); !gocmp.Equal(differ, want) {
		t.Errorf("answers differ on %v, want %v", differ, want)
	}
}

// rehearsal is a replay about superheroes below the command line.
type rehearsal struct {
	*asker
	questions []eval.Question
}

func newRehearsal(t *testing.T, spec string) *rehearsal {
	p := &program{ctx: t.Context(), out: io.Discard, err: io.Discard}
	folder, dataset, err := openDataset(p, evaldata.Path(t), "bird_dev")
	if err != nil {
		t.Fatal(err)
	}
	source, err := newSource(folder, spec, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	store := access{}.store(folder, 2)
	t.Cleanup(func() { store.Close() })
	r := &rehearsal{asker: &asker{folder: folder, source: source, program: p, scorer: &eval.Scorer{Store: store, Metrics: []eval.Metric{eval.EX{}}}}}
	for _, q := range dataset.Questions {
		if q.DB == "superhero" && source.knows(q) {
			r.questions = append(r.questions, q)
		}
	}
	return r
}

// engine asks the recorded models, of which each call goes through wrap.
func (r *rehearsal) engine(t *testing.T, s qasql.Strategy, wrap func(llm.Model) llm.Model, options ...texttosql.Option) *texttosql.Engine {
	path, err := r.folder.Database("superhero")
	if err != nil {
		t.Fatal(err)
	}
	handle, err := files.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { handle.Close() })
	list, err := r.source.models(t.Context(), "superhero", handle, sqlite.Dialect{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		list[i] = llm.Named(llm.NameOf(list[i]), wrap(list[i]))
	}
	lexical := s.Linker.LexicalOnly
	chosen, descriptions, err := r.described(s, "superhero", path)
	if err != nil {
		t.Fatal(err)
	}
	s = chosen.(qasql.Strategy)
	s.Linker.LexicalOnly = lexical
	options = append(options, texttosql.WithModels(list[1:]...), texttosql.WithStrategy(s), texttosql.WithDescriptions(descriptions))
	e, err := texttosql.New(handle, list[0], options...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestQASQLFirstOption: with two calls or more, a judge that always says A leaves every winner of five runs as the vote
// has it; with one it does not.
func TestQASQLFirstOption(t *testing.T) {
	r := newRehearsal(t, fiveRuns)
	always := func(m llm.Model) llm.Model {
		return llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			if req.Purpose == strategy.PurposeJudge {
				return llm.Response{Text: `{"selected_option": "A", "confidence": 1, "reasoning": "the first"}`, StopReason: llm.StopEnd}, nil
			}
			return m.Complete(ctx, req)
		})
	}
	var winners [6][]string // by calls of the judge; 0: none
	for calls := range winners {
		s := qasql.Strategy{Linker: linker.MapReduce{LexicalOnly: true}, WithoutJudge: calls == 0, Judge: strategy.Rubric{Votes: calls}}
		e := r.engine(t, s, always)
		overruled, verdicts, right := 0, 0, 0.0
		for _, q := range r.questions {
			got, err := e.Generate(t.Context(), q.Text, texttosql.WithEvidence(q.Evidence))
			if err != nil {
				t.Fatal(err)
			}
			report, err := strategy.ReadReport[qasql.Report](got.Report)
			if err != nil {
				t.Fatal(err)
			}
			v, err := r.scorer.Score(t.Context(), q, got.SQL)
			if err != nil {
				t.Fatal(err)
			}
			right += v.Scores[0]
			winners[calls], verdicts = append(winners[calls], got.SQL), verdicts+report.JudgeCalls
			if got.Ballot.Overruled {
				overruled++
			}
		}
		t.Logf("%d calls: %d verdicts, %d overruled, %v right", calls, verdicts, overruled, right)
		if calls > 1 {
			if diff := gocmp.Diff(winners[0], winners[calls]); diff != "" || overruled > 0 {
				t.Errorf("%d calls (-vote +judge):\n%s", calls, diff)
			}
		}
	}
	if gocmp.Equal(winners[0], winners[1]) {
		t.Error("one call changes nothing either: nothing is shown")
	}
}

// TestQASQLSameBytes: equal replies give equal results and traces, whatever the latencies and however many calls are made
// at once.
func TestQASQLSameBytes(t *testing.T) {
	r := newRehearsal(t, fiveRuns)
	for _, q := range r.questions {
		if q.ID != "717" && q.ID != "743" && q.ID != "791" { // two answers, four, and one that fails and is refined
			continue
		}
		var first string
		for _, workers := range []int{1, 4, 16} {
			var seed uint64 // changes between questions only
			model := func(recorded llm.Model) llm.Model {
				return llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
					sum := fnv.New64a()
					fmt.Fprintf(sum, "%v", req)
					time.Sleep(time.Duration(rand.New(rand.NewPCG(seed, sum.Sum64())).IntN(180)) * time.Millisecond) // no five in a row take a second: none is late
					scripted := map[string]string{"decompose": `{"entity": "hero"}`, "score": `{"score": 0.5}`,
						strategy.PurposeRepair: q.Gold, strategy.PurposeJudge: `{"selected_option": "B"}`}
					if reply := scripted[req.Purpose]; reply != "" {
						return llm.Response{Text: reply, StopReason: llm.StopEnd}, nil
					}
					return recorded.Complete(ctx, req)
				})
			}
			e := r.engine(t, qasql.Strategy{Linker: linker.MapReduce{Workers: workers}}, model, texttosql.WithConcurrency(workers))
			for ; seed < 21; seed++ {
				var got string
				ask := func(t *testing.T) {
					res, err := e.Ask(t.Context(), q.Text, texttosql.WithEvidence(q.Evidence))
					if err != nil {
						t.Fatal(err)
					}
					span, serr := res.Trace.Comparable()
					res.Trace = nil
					text, err := res.MarshalWithRows()
					if err = cmp.Or(serr, err); err != nil {
						t.Fatal(err)
					}
					got = fmt.Sprintf("%s\n%s", span, text)
				}
				if seed == 0 { // opens connections, which synctest must not see, and takes the profile
					ask(t)
					continue
				}
				synctest.Test(t, ask)
				if first == "" {
					first = got
				}
				if diff := gocmp.Diff(first, got); diff != "" {
					t.Fatalf("question %s, workers %d, latencies %d (-first +now):\n%s", q.ID, workers, seed, diff)
				}
			}
		}
	}
}
