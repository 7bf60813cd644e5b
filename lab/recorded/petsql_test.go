package recorded_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/trace"
)

// TestPETSQLRecorded replays two rounds that were recorded as such: round 1 is
// the first step of RSL-SQL, round 2 its last one, by two models, and two other
// systems. Whatever the order in which models answer, the outcome and its trace
// are the same bytes, and the votes are right as often as they were.
func TestPETSQLRecorded(t *testing.T) {
	f := folder(t)
	d := testutil.Value(f.Dataset("bird_dev"))(t)
	d = d.Select(func(q eval.Question) bool { return q.DB == "superhero" })
	const first = "rsl_sql/gpt-4o/step1/preliminary_sql"
	runs := []string{
		"rsl_sql/gpt-4o/step4/final_sql", "rsl_sql/deepseek/step4/final_sql",
		"artessay/Base/Qwen/Qwen2.5-72B-Instruct/VanillaLinker", "artessay/Base/openai/gpt-4o/VanillaLinker",
	}
	answers := map[string]map[string]string{first: {}} // run -> question -> SQL
	for _, run := range runs {
		answers[run] = map[string]string{}
	}
	for a, err := range eval.Answers(f.Path("predictions", "preds_bird_dev.jsonl.gz")) {
		if err != nil {
			t.Fatal(err)
		}
		if of := answers[a.Run]; of != nil {
			of[a.Question] = a.SQL
		}
	}
	env := envOf(t, database(t, "superhero"))
	replay := func(q eval.Question, late func(model int) time.Duration) (*strategy.Outcome, []byte) {
		e := *env
		for i, run := range runs {
			m := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
				if req.Purpose == "link" {
					return llm.Response{Text: answers[first][q.ID], StopReason: llm.StopEnd}, nil
				}
				return llm.Response{Text: answers[run][q.ID], StopReason: llm.StopEnd}, nil
			})
			e.Models = append(e.Models, llm.Chain(llm.Named(run, m), llm.Trace(), llmtest.Latency{Fixed: late(i)}.Middleware()))
		}
		root := trace.Tracer{}.New("test")
		out, err := petsql.Strategy{}.Generate(trace.NewContext(t.Context(), root), &e,
			strategy.Task{Question: q.Text, Evidence: q.Evidence})
		root.End()
		if err != nil {
			t.Fatalf("question %s: %v", q.ID, err)
		}
		told := testutil.Value(json.Marshal(out))(t)
		steps := testutil.Value(root.Comparable())(t)
		return out, append(told, steps...)
	}
	const (
		replays = 100
		chosen  = 10 // questions that are replayed
	)
	right, scored := 0, 0
	outcomes := map[string][]byte{}
	for i, q := range d.Questions {
		out, told := replay(q, func(int) time.Duration { return 0 })
		if i < chosen {
			outcomes[q.ID] = told
		}
		report, err := strategy.ReadReport[petsql.Report](out.Report)
		if err != nil || report.PreSQL == "" || report.Shown > report.Tables || out.Ballot.Sampled != len(runs) {
			t.Errorf("question %s: %+v, %d samples, %v", q.ID, report, out.Ballot.Sampled, err)
		}
		want, err := env.DB.Query(t.Context(), q.Gold)
		if err != nil {
			continue
		}
		got, err := env.DB.Query(t.Context(), out.SQL)
		scored++
		if err == nil && (result.Equality{Set: true}).Equal(want, got) {
			right++
		}
	}
	t.Logf("%d of %d right", right, scored)
	if len(d.Questions) != 70 || right < 60 {
		t.Errorf("%d of %d answers are right, %d questions; want 60 of 70", right, scored, len(d.Questions))
	}
	for round := range replays {
		q := d.Questions[round%chosen]
		_, told := replay(q, func(model int) time.Duration {
			return time.Duration((round*7+model*5)%4) * 50 * time.Microsecond
		})
		if diff := cmp.Diff(string(outcomes[q.ID]), string(told)); diff != "" {
			t.Fatalf("question %s, replay %d (-first +this):\n%s", q.ID, round, diff)
		}
	}
}
