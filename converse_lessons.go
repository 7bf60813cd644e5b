package texttosql

import (
	"context"
	"encoding/json"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// recalled is what the question of a record may be shown: that which it was shown first. nil: it did not begin.
func recalled(r *session.Record) *memory.Recall {
	if r.Schema == "" {
		return nil
	}
	kept := &memory.Recall{}
	if json.Unmarshal(r.Lessons, kept) != nil {
		return &memory.Recall{}
	}
	return kept
}

// taught is what the question of a record taught so far.
func taught(r *session.Record) (kept memory.LearnResult) {
	json.Unmarshal(r.Learned, &kept) // "" is none
	return kept
}

// learn learns from a question that came to its end, and returns what was learned for the record. What could not be kept is a
// warning: the answer is there.
func (s *running) learn(ctx context.Context, r *session.Record, res *Result, completed bool) json.RawMessage {
	asked, ended := r.Turns[r.Turn()], r.Turns[r.Last()]
	if s.engine().lessons == nil || asked.WithoutMemory || res == nil {
		return r.Learned
	}
	ep := memory.FinishedQuestion{
		Session: r.ID, Question: asked.Text, FollowUp: asked.Kind == session.TurnFollowUp, Recall: s.shown,
		Completed: completed, SQL: res.SQL, Corrections: r.Corrections(), Before: taught(r), At: now(),
	}
	if ended.Kind == session.TurnChoice && ended.Correction == nil {
		ep.Chosen = &session.Option{ID: ended.Option, Label: ended.Text, SQL: res.SQL}
	}
	learned, err := s.engine().learnFrom(ctx, ep, &res.Outcome)
	if err != nil {
		res.Warnings = append(res.Warnings, trace.Warning{Code: "lessons-not-kept", Message: strategy.ErrorLine(llm.Scrub(err.Error()), false)})
	}
	text, _ := json.Marshal(learned) // lists of texts
	return text
}

// takeBack takes back what an answer said for the lessons, since it is corrected. It follows the save of the correction:
// one that was not saved takes nothing back. What cannot be taken back is a warning.
func (s *Conversation) takeBack(ctx context.Context, r *session.Record, c session.Correction) error {
	if s.engine().lessons == nil || s.engine().withoutMemory {
		return nil
	}
	taken, err := s.engine().lessons.Undo(taught(r), c)
	if err != nil {
		trace.From(ctx).Warn("lessons-not-kept", strategy.ErrorLine(llm.Scrub(err.Error()), false))
		return nil
	}
	return s.commit(ctx, func(r *session.Record) (err error) {
		r.Learned, err = json.Marshal(taken)
		return err
	})
}
