package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
)

// Trajectory is one stored walk of an agent that thinks and acts step by step.
type Trajectory struct {
	Run      string           `json:"run"`   // the model, the settings and the seed
	Question json.Number      `json:"qid"`   // of the dataset
	Steps    []TrajectoryStep `json:"steps"` // in order
	SQL      string           `json:"sql"`   // the answer
	Label    int              `json:"label"` // 1: the source took it for right
}

// TrajectoryStep is one reply, and what came of it.
type TrajectoryStep struct {
	Thought string `json:"thought"`
	Action  string `json:"action"` // "query" or "finish"
	SQL     string `json:"sql"`
	OK      bool   `json:"ok"` // of a query: the statement ran
}

// Reply writes the step back as a model would have written it.
func (s TrajectoryStep) Reply() string {
	return fmt.Sprintf("Thought: %s\nAction: %s[%s]", s.Thought, s.Action, s.SQL)
}

// Diverged is the place of the first statement whose success differs from the stored one, among those that ran is
// about: the successes of the first statements, in order. -1: they are as stored.
func (t Trajectory) Diverged(ran []bool) int {
	at := 0
	for _, s := range t.Steps {
		switch {
		case s.Action != "query":
		case at == len(ran):
			return -1
		case ran[at] != s.OK:
			return at
		default:
			at++
		}
	}
	if at < len(ran) { // more than are stored
		return at
	}
	return -1
}

// ReadTrajectories reads a file of trajectories, JSON lines that may be compressed by gzip. What is wrong with it is an
// *fileerr.Questions.
func ReadTrajectories(path string) ([]Trajectory, error) {
	list, err := files.Lines[Trajectory](path)
	for i, t := range list {
		if t.Run == "" || t.Question == "" || len(t.Steps) == 0 {
			return nil, &fileerr.Questions{File: path, Line: i + 1, Err: errors.New("want run, qid and steps")}
		}
	}
	return list, err
}

// Trajectories is an [llm.Model] that replays stored walks: sample i of a question goes the i-th trajectory of it, and
// a request gets the step that follows those in its conversation.
//
// It answers calls for "agent.step" only. The replies are those that a model gave to the observations which it saw
// then. Where an observation of the request says otherwise than the stored one whether the statement ran, the walk has
// diverged: the span of the call has the warning "diverged", and what follows answers something else.
//
// Safe for concurrent use.
type Trajectories struct {
	recorded *Recorded
	of       map[string][]Trajectory // by question
}

// NewTrajectories returns a model of trajectories over questions, whose texts requests are recognised by.
func NewTrajectories(name string, list []Trajectory, questions []Question) (*Trajectories, error) {
	recorded, err := NewRecorded(name, questions)
	if err != nil {
		return nil, err
	}
	t := &Trajectories{recorded: recorded, of: map[string][]Trajectory{}}
	for _, one := range list {
		id := one.Question.String()
		t.of[id] = append(t.of[id], one)
	}
	return t, nil
}

// Name returns the name it was given, for llm.NameOf.
func (t *Trajectories) Name() string { return t.recorded.Name() }

// Complete replies the next step. Its errors are those of [Recorded.Complete]: a step beyond the last one matches
// ErrNotRecorded.
func (t *Trajectories) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return llm.Response{}, err
	}
	if req.Purpose != "agent.step" {
		return llm.Response{}, t.recorded.missing(": no stored step answers a call for %q", req.Purpose)
	}
	q, steps, seen := t.walked(req)
	if q == nil {
		return llm.Response{}, t.recorded.missing(": no known question stands in the request %q", firstLine(req))
	}
	walks := t.of[q.ID]
	if req.Sample < 0 || req.Sample >= len(walks) {
		return llm.Response{}, t.recorded.missing(" has %d trajectories of question %s", len(walks), q.ID)
	}
	walk := walks[req.Sample]
	var ran []bool
	for i, s := range walk.Steps[:min(len(walk.Steps), len(seen))] {
		if s.Action == "query" {
			ran = append(ran, seen[i])
		}
	}
	if at := walk.Diverged(ran); at >= 0 && at == len(ran)-1 {
		trace.FromContext(ctx).Warn("diverged",
			fmt.Sprintf("statement %d of question %s ran: %t, stored: %t; the reply answers the stored observation", at+1, q.ID,
				ran[at], !ran[at]))
	}
	if steps >= len(walk.Steps) {
		return llm.Response{}, t.recorded.missing(": the trajectory of question %s has %d steps", q.ID, len(walk.Steps))
	}
	return t.recorded.deliver(ctx, req, q, steps, Reply{Text: walk.Steps[steps].Reply()})
}

// walked finds the question of a request, how many steps were taken since, and which were a success. A question has a
// line to itself; observations stand behind the word "Observation:".
func (t *Trajectories) walked(req llm.Request) (q *Question, steps int, seen []bool) {
	for _, m := range slices.Backward(req.Messages) {
		if m.Role == llm.Assistant {
			steps++
			continue
		}
		if q = t.recorded.onLine(m.Text); q != nil {
			break
		}
		if text, ok := strings.CutPrefix(m.Text, "Observation: "); ok {
			seen = append(seen, strings.HasPrefix(text, "Success"))
		}
	}
	slices.Reverse(seen)
	return q, steps, seen
}
