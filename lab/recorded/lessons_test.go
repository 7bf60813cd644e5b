package recorded_test

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
)

// heeding is a model for one question: it writes a recorded statement, with the names that the advice of its prompt
// gives, and corrects with the gold.
type heeding struct {
	sql, gold string
	calls     int
}

var (
	columnAdvice = regexp.MustCompile(`(?m)^- the column "(.+)" of "(.+)" is "(.+)"$`)
	tableAdvice  = regexp.MustCompile(`(?m)^- "(.+)" is the table "(.+)"$`)
)

func (h *heeding) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	h.calls++
	sql := h.gold
	if req.Purpose == "generate" {
		sql = h.sql
		text := req.Messages[len(req.Messages)-1].Text
		for _, a := range tableAdvice.FindAllStringSubmatch(text, -1) {
			for _, t := range slices.Backward(sqltext.SQLite().Parse(sql).Tables()) {
				if t.Base() && strings.EqualFold(t.Name, a[1]) {
					sql = sql[:t.Pos] + strings.Replace(sql[t.Pos:], t.Name, a[2], 1)
				}
			}
		}
		for _, a := range columnAdvice.FindAllStringSubmatch(text, -1) {
			for _, c := range slices.Backward(sqltext.SQLite().Parse(sql).Columns()) {
				if strings.EqualFold(c.Column, a[1]) && strings.EqualFold(c.Table, a[2]) {
					sql = sql[:c.Pos] + strings.Replace(sql[c.Pos:], "."+c.Column, "."+strings.TrimPrefix(a[3], a[2]+"."), 1)
				}
			}
		}
	}
	return llm.Response{Text: "```sql\n" + sql + "\n```", StopReason: llm.StopEnd}, nil
}

// TestLessons asks each question about superheroes on which a system named a table or a column that does not exist, in
// three sessions that share their lessons, and counts calls, failed statements and right answers, with lessons and
// without.
func TestLessons(t *testing.T) {
	folder := folder(t)
	dataset := testutil.Value(folder.Dataset("bird_dev"))(t)
	store := eval.NewStore(eval.StoreConfig{Find: folder.Database, Open: files.OpenReadOnly})
	t.Cleanup(func() { _ = store.Close() })
	scorer := eval.Scorer{Store: store, Metrics: []eval.Metric{eval.EX{}}}
	pool := testutil.Value(files.OpenReadOnly(evaldata.Path(t, "db", "bird", "superhero.sqlite")))(t)
	t.Cleanup(func() { pool.Close() })
	type ran struct {
		QID  int
		DB   string `json:"db_id"`
		SQL  string
		Exec struct{ Err string }
	}
	failures := map[string][]string{} // by question
	for a := range evaldata.Lines[ran](t, folder.Path("predictions", "preds_bird_dev.exec.jsonl.gz")) {
		id := strconv.Itoa(a.QID)
		if strings.HasPrefix(a.Exec.Err, "no such ") && a.DB == "superhero" && !slices.Contains(failures[id], a.SQL) {
			failures[id] = append(failures[id], a.SQL)
		}
	}
	for _, how := range []struct {
		name string
		of   func(list []string, session int) string
		most int // failed statements in session 2 and in session 3, with lessons
	}{
		{"the same statement in each session", func(list []string, _ int) string { return list[0] }, 52},
		{"that of another system in each session", func(list []string, session int) string { return list[session%len(list)] },
			56},
	} {
		for _, with := range []bool{false, true} {
			m, lessons := &heeding{}, &memory.Lessons{}
			opts := []texttosql.Option{texttosql.WithStrategy(strategy.Pipeline{
				// no statement is mended without a call: lessons are measured
				Refine: &strategy.Refine{Repairer: strategy.TypedRepair{}},
			})}
			if with {
				opts = append(opts, texttosql.WithMemory(memory.Options{Lessons: lessons}))
			}
			engine := testutil.Value(texttosql.New(pool, m, opts...))(t)
			for session := range 3 {
				questions, failed, right := 0, 0, 0
				m.calls = 0
				for _, q := range dataset.Questions {
					if len(failures[q.ID]) == 0 {
						continue
					}
					m.sql, m.gold = how.of(failures[q.ID], session), q.Gold
					res := testutil.Value(engine.NewConversation(nil).Ask(t.Context(), q.Text, texttosql.WithEvidence(q.Evidence)))(t,
						q.ID)
					v := testutil.Value(scorer.Score(t.Context(), q, res.SQL))(t)
					if res.SQL == v.Question.Gold {
						failed += len(res.Steps) - 1
					} else if v.Scores[0] == 1 {
						right++
					}
					questions++
				}
				all := testutil.Value(lessons.All())(t)
				t.Logf("%s, lessons %-5v, session %d: %d questions, %d calls, %d failed statements, "+
					"%d run at once and are right, %d lessons kept",
					how.name, with, session+1, questions, m.calls, failed, right, len(all))
				most := map[bool]int{false: 60, true: how.most}[with]
				if questions != 60 || m.calls != 60+failed || session > 0 && failed > most || !with && failed != most {
					t.Errorf("%d questions, %d calls, %d failed statements; want %d at most", questions, m.calls, failed, most)
				}
			}
		}
	}
}
