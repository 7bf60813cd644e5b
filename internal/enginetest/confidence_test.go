package enginetest_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/trace"
)

// plainQuestion is a question of the folder TEXTTOSQL_CONFIDENCE, with the statement that all samples return.
type plainQuestion struct {
	ID, Question, Clock string
	Schema              string `json:"schema_file"`
	Control             bool
	Replies             []string
	Right               string // for a planted fault: the statement without it
	Turns               []struct {
		Ask     string
		Replies []string
	}
}

// TestConfidence: on plain questions a right answer is agreed, a planted fault is doubted, and the right statement for
// its question is not. README.md of the folder says how a case is judged.
func TestConfidence(t *testing.T) {
	dir := os.Getenv("TEXTTOSQL_CONFIDENCE")
	if dir == "" {
		t.Skip("TEXTTOSQL_CONFIDENCE names no folder")
	}
	var right, agreed, faults, doubted, apart int
	for _, q := range plainQuestions(t, dir) {
		confidence, warned := q.answered(t, dir)
		switch sure := confidence >= 0.85 && !warned; {
		case q.Control:
			right++
			if sure {
				agreed++
			} else {
				t.Logf("%s: right, with confidence %.2f, warned: %v", q.ID, confidence, warned)
			}
			continue
		case confidence > 0.6 && !warned:
			faults++
			t.Logf("%s: wrong, with confidence %.2f and no warning", q.ID, confidence)
			continue
		}
		faults++
		doubted++
		if q.Right == "" {
			continue
		}
		last := []string{"```sql\n" + q.Right + "\n```"}
		if q.Replies = last; len(q.Turns) > 0 {
			q.Turns[len(q.Turns)-1].Replies = last
		}
		if confidence, warned := q.answered(t, dir); confidence >= 0.85 && !warned {
			apart++
		} else {
			t.Logf("%s: the right statement has confidence %.2f, warned: %v", q.ID, confidence, warned)
		}
	}
	t.Logf("of right agreed %d of %d, of planted doubted %d of %d, told apart %d", agreed, right, doubted, faults, apart)
	if 100*agreed < 95*right || 100*doubted < 80*faults || 100*apart < 75*faults {
		t.Error("fewer than 95 of 100 right answers agreed, 80 of 100 faults doubted, or 75 of 100 told apart")
	}
}

// plainQuestions reads all files of the folder.
func plainQuestions(t *testing.T, dir string) (list []plainQuestion) {
	t.Helper()
	for _, path := range testutil.Value(filepath.Glob(filepath.Join(dir, "*.jsonl")))(t) {
		file := testutil.Value(os.Open(path))(t)
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			var q plainQuestion
			testutil.OK(t, json.Unmarshal(lines.Bytes(), &q), path)
			list = append(list, q)
		}
	}
	if len(list) == 0 {
		t.Fatalf("%s has no case", dir)
	}
	return list
}

// answered asks the question, and says how sure the answer is and whether it has a warning. A question back counts as
// one; a remark on the state of rows does not.
func (q plainQuestion) answered(t *testing.T, dir string) (confidence float64, warned bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "case.db")
	pool := testutil.Value(sql.Open("sqlite3", path))(t)
	defer pool.Close()
	testutil.Value(pool.Exec(string(testutil.Value(os.ReadFile(filepath.Join(dir, q.Schema)))(t))))(t)
	replies := q.Replies
	model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{Text: replies[0], StopReason: llm.StopEnd, Usage: llm.Usage{Calls: 1, Known: true}}, nil
	})
	day := testutil.Value(time.Parse(time.DateOnly, q.Clock))(t)
	engine := testutil.Value(texttosql.New(pool, model, texttosql.WithClock(func() time.Time {
		return day.Add(10 * time.Hour)
	})))(t)
	var res *texttosql.Result
	var err error
	if len(q.Turns) == 0 {
		res, err = engine.Ask(t.Context(), q.Question)
	} else {
		talk := engine.NewConversation(&session.MemoryStore{})
		for _, turn := range q.Turns {
			replies = turn.Replies
			res, err = talk.Ask(t.Context(), turn.Ask)
		}
	}
	if err != nil {
		return 0, true
	}
	return res.Confidence, slices.ContainsFunc(res.Warnings, func(w trace.Warning) bool {
		return w.Code != "state-of-rows"
	})
}
