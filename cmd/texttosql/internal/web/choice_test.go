package web

import (
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// TestChoice: where the answers disagree the user chooses, and a page that was restarted shows the rows again.
func TestChoice(t *testing.T) {
	s := open(t, nil)
	c := s.asked(t, "", "Which sale was the largest?")
	q := c.Turns[0].Question
	if c.State != waiting || q == nil || len(q.Options) != 3 || q.Options[1].Rows == nil || q.Options[1].SQL == "" {
		t.Fatalf("%+v", c)
	}
	s.end()
	s.start(t, nil)
	if q := s.view(t, c.ID).Turns[0].Question; q.Options[0].Rows != nil {
		t.Error("the rows are in the record")
	}
	before := s.model.called()
	if q := s.say(t, c.ID, "resume", map[string]any{}).Turns[0].Question; q.Options[0].Rows == nil {
		t.Error("the rows were not read again")
	}
	c = s.say(t, c.ID, "choose", map[string]any{"option": "r1"})
	if a := c.Turns[1].Answer; c.State != answered || a.SQL != "SELECT max(amount) FROM sales" ||
		*a.Rows.Rows[0][0] != "210" || a.Confidence != 1 {
		t.Errorf("%+v", c)
	}
	s.end()
	s.start(t, nil)
	if c = s.say(t, c.ID, "resume", map[string]any{}); *c.Turns[1].Answer.Rows.Rows[0][0] != "210" ||
		s.model.called() != before {
		t.Errorf("%+v after %d calls", c.Turns[1].Answer, s.model.called()-before)
	}
}

// TestTableChoice: a method that asks which table is meant is answered in the same way.
func TestTableChoice(t *testing.T) {
	s := open(t, nil)
	rec := session.New(session.NewID(), time.Now())
	rec.State = session.AwaitingCorrection
	rec.Turns = []session.Turn{{Kind: dialogue.TurnQuestion, Text: "How many in the north?"}}
	rec.Pending = &session.QuestionError{Kind: dialogue.KindTable, Message: "which table is meant?",
		Options: []session.Option{
			{ID: "t1", Label: "sales: <b>what was sold</b>", Table: &schema.TableName{Name: "sales"}},
			{ID: "t2", Label: "clerks\u202e", Table: &schema.TableName{Name: "clerks"}},
		}}
	testutil.OK(t, s.store.Save(t.Context(), rec))
	q := s.view(t, rec.ID).Turns[0].Question
	if q == nil || q.Message != "which table is meant?" || q.Options[1].Label != "clerks⟨U+202E⟩" ||
		q.Options[0].SQL != "" {
		t.Fatalf("%+v", q)
	}
	if status, refused := s.do(t, "/api/conversations/"+rec.ID+"/choose", map[string]any{"option": "t3"},
		nil); status != 422 || refused["code"] != "input" {
		t.Error(status, refused)
	}
	c := s.say(t, rec.ID, "choose", map[string]any{"option": "t1"})
	if c.State != answered || c.Turns[1].Meaning != "read sales; do not read clerks" || c.Left != 3 {
		t.Errorf("%+v", c)
	}
}

// TestStreams: all streams of a server that has no room for more hear of an answer.
func TestStreams(t *testing.T) {
	s := open(t, nil)
	id := s.asked(t, "", "How many in the north?").ID
	var all []*stream
	for range maxWatchers {
		one := s.stream(t, id)
		one.next()
		all = append(all, one)
	}
	s.do(t, "/api/conversations/"+id+"/ask", map[string]any{"question": "And in the south?"}, nil)
	for _, one := range all { // each hears of the end, however many news there were
		one.until(func(n news) bool { return n.Revision > 5 && !n.Running })
		one.close()
	}
	if c := s.view(t, id); c.State != answered || len(c.Turns) != 2 {
		t.Errorf("%+v", c)
	}
}
