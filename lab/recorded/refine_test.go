package recorded_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// TestRefineRecordedFailures refines every recorded answer about superheroes that fails: with the gold as correction
// each ends right after two statements, with its own text again each ends where it was.
func TestRefineRecordedFailures(t *testing.T) {
	folder := folder(t)
	dataset := testutil.Value(folder.Dataset("bird_dev"))(t)
	store := eval.NewStore(eval.StoreConfig{Find: folder.Database, Open: files.OpenReadOnly})
	t.Cleanup(func() { _ = store.Close() })
	scorer := eval.Scorer{Store: store, Metrics: []eval.Metric{eval.EX{}}}
	env := envOf(t, database(t, "superhero"))
	type ran struct {
		QID  int
		DB   string `json:"db_id"`
		SQL  string
		Exec struct{ Status, Err string }
	}
	line, counts := 0, map[string]int{}
	for a := range evaldata.Lines[ran](t, folder.Path("predictions", "preds_bird_dev.exec.jsonl.gz")) {
		if line++; a.DB != "superhero" || a.Exec.Status == "ok" {
			continue
		}
		counts[a.Exec.Status]++
		q, ok := dataset.Question(strconv.Itoa(a.QID))
		if !ok {
			t.Fatalf("line %d: no question %d", line, a.QID)
		}
		for _, fix := range []string{"```sql\n" + q.Gold + "\n```", a.SQL} {
			model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
				return llm.Response{Text: fix, StopReason: llm.StopEnd}, nil
			})
			task := strategy.Task{Question: q.Text, Evidence: q.Evidence}
			env := asking(env, model)
			examiner := strategy.NewChecker(t.Context(), env, task, nil, nil)
			c := testutil.Value(examiner.Examine(t.Context(), 0, "m", llm.Response{Text: a.SQL, StopReason: llm.StopEnd}))(t)
			in := strategy.RefineInput{Task: task, Schema: env.Schema, Examiner: examiner, Candidate: c}
			got, err := strategy.Refine{Repairer: strategy.TypedRepair{}}.Run(t.Context(), env, in)
			if err != nil {
				t.Fatal(err)
			}
			if fix == a.SQL && c.Rejected != "" { // the model only repeats it
				if mended := testutil.Value(strategy.Refine{}.Run(t.Context(), env, in))(t); mended.Candidate.Rejected == "" {
					counts["mended without a call"]++
					counts["of these right"] += int(testutil.Value(scorer.Score(t.Context(), q, mended.Candidate.SQL))(t).Scores[0])
				}
			}
			examiner.Close()
			end, last := "", got.Steps[len(got.Steps)-1]
			switch {
			case c.Rejected == "":
				end = "runs after extraction"
				ok = len(got.Steps) == 1
			case fix != a.SQL:
				end = "right after a correction"
				v, err := scorer.Score(t.Context(), q, got.Candidate.SQL)
				ok = err == nil && v.Scores[0] == 1 && got.Stop == "" && len(got.Steps) == 2
			case c.SQL == "":
				end = "no SQL"
				ok = got.Stop == "executions" && last.Status == "no-sql" && len(got.Steps) == 3
			default:
				end = "the same statement again"
				ok = got.Stop == "no-progress" && got.Candidate.Rejected == c.Rejected &&
					strings.HasPrefix(c.Rejected, last.Problem)
				if strings.Contains(last.Problem, a.Exec.Err) { // all but one, whose syntax SQLite learned since the recording
					counts["with the recorded error"]++
				}
			}
			if counts[end]++; !ok {
				t.Errorf("line %d: %s: stop %q, %+v", line, end, got.Stop, got)
			}
		}
	}
	want := map[string]int{"error": 322, "noselect": 6, "runs after extraction": 2 * 6,
		"right after a correction": 316 + 6,
		"the same statement again": 316, "with the recorded error": 315, "no SQL": 6, "mended without a call": 75,
		"of these right": 53}
	golden.Equal(t, want, counts)
}

// TestRefineMendsOfSpider counts the recorded statements of Spider that name what does not exist, and become right
// without a call.
func TestRefineMendsOfSpider(t *testing.T) {
	folder := folder(t)
	dataset := testutil.Value(folder.Dataset("spider_dev"))(t)
	store := eval.NewStore(eval.StoreConfig{Find: folder.Database, Open: files.OpenReadOnly})
	t.Cleanup(func() { _ = store.Close() })
	scorer := eval.Scorer{Store: store, Metrics: []eval.Metric{eval.EX{}}}
	silent := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{}, errors.New("no model")
	})
	envs := map[string]*strategy.Env{}
	counts := map[string]int{}
	for a := range evaldata.Lines[struct {
		QID  int
		DB   string `json:"db_id"`
		SQL  string
		Exec struct{ Status, Err string }
	}](t, folder.Path("predictions", "preds_spider_dev.exec.jsonl.gz")) {
		kind, _, _ := strings.Cut(a.Exec.Err, ":")
		q, known := dataset.Question(strconv.Itoa(a.QID))
		if !known || kind != "no such column" && kind != "no such table" && kind != "ambiguous column name" {
			continue
		}
		if envs[a.DB] == nil {
			envs[a.DB] = asking(envOf(t, database(t, a.DB)), silent)
		}
		task := strategy.Task{Question: q.Text}
		examiner := strategy.NewChecker(t.Context(), envs[a.DB], task, nil, nil)
		c := testutil.Value(examiner.Examine(t.Context(), 0, "m", llm.Response{Text: a.SQL, StopReason: llm.StopEnd}))(t)
		got := testutil.Value(strategy.Refine{Executions: 1}.Run(t.Context(), envs[a.DB], strategy.RefineInput{Task: task,
			Schema: envs[a.DB].Schema, Examiner: examiner, Candidate: c}))(t)
		examiner.Close()
		counts[kind]++
		if got.Candidate.Rejected == "" {
			counts[kind+", mended"]++
			counts[kind+", right"] += int(testutil.Value(scorer.Score(t.Context(), q, got.Candidate.SQL))(t).Scores[0])
		}
	}
	golden.Equal(t, map[string]int{
		"ambiguous column name": 59, "ambiguous column name, mended": 19, "ambiguous column name, right": 11,
		"no such column": 284, "no such column, mended": 41, "no such column, right": 16,
		"no such table": 44, "no such table, mended": 11, "no such table, right": 9,
	}, counts)
}
