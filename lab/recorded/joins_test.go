package recorded_test

import (
	"errors"
	"testing"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// TestJoinsRecorded joins the tables that the golds read, by keys and names alone, and counts how it ends. A tree of
// two keys and more needs no model on these databases, whose keys are declared.
func TestJoinsRecorded(t *testing.T) {
	count := map[string]int{}
	for _, q := range questions(t, "bird_dev", "spider_dev") {
		var tables []schema.TableName
		for _, read := range q.reads {
			tables = append(tables, schema.TableName{Name: read.Table})
		}
		plan, err := linker.Joins{}.Connect(t.Context(), q.input(), tables)
		how := "one table"
		if len(plan.Joins) > 0 {
			how = "keys"
		}
		for _, j := range plan.Joins {
			if j.Origin == "names" {
				how = "names"
			}
		}
		var ask *session.QuestionError
		switch {
		case errors.Is(err, linker.ErrNoJoin):
			how = "no join"
			t.Logf("question %s, %q: %v", q.ID, tables, err)
		case errors.As(err, &ask):
			how = "asks"
		case err != nil:
			t.Errorf("question %s: %v", q.ID, err)
		}
		count[how]++
	}
	t.Log(count)
	if several := count["keys"] + count["names"] + count["asks"] +
		count["no join"]; float64(count["keys"]) < .9*float64(several) {
		t.Errorf("%v: want keys alone for 9 of 10 questions on several tables", count)
	}
}
