package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/background"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

const (
	actionQuery  = "query"  // of RunSQL, and of a bare statement
	actionFinish = "finish" // of the published form; else another word for query
)

// The reasons for which a walk ends.
const (
	stopAnswer     = "answer"      // a statement ran; in the published form a second one
	stopFinish     = "finish"      // the model said so, in the published form
	stopSteps      = "steps"       // there were as many replies as may be
	stopNoProgress = "no-progress" // the same action for the third time
	stopModel      = "model"       // the model could not be asked: its budget is spent, or the call failed
	stopDatabase   = "database"    // the database could not be asked
)

// mostRepeats is how often the same action may be taken. Of 13 recorded walks that repeated a statement which failed, 5
// found one that ran, none after the second repeat.
const mostRepeats = 2

// walk is one trajectory.
type walk struct {
	model string
	steps []strategy.Step
	sql   string // the answer so far: a statement that ran, or else the last one written
	ran   bool   // it ran
	stop  string // why it ended; "" while it goes on
	err   error  // beside "model" and "database"
	cut   bool   // the context of the sample ended it
}

// walk takes one step after the other.
func (r *run) walk(ctx context.Context, model llm.Model, req llm.Request) (w walk) {
	w.model = llm.NameOf(model)
	taken, ran := map[string]int{}, 0
	var written []string
	for try := 0; w.stop == "" && try < r.Steps; try++ {
		reply, err := model.Complete(ctx, req)
		if err != nil {
			w.stop, w.err = stopModel, err
			break
		}
		s, seen := r.step(ctx, req.Sample, w.model, try, reply)
		w.steps = append(w.steps, s.Step)
		if s.err != nil {
			w.stop, w.err = stopDatabase, s.err
			break
		}
		if s.SQL != "" {
			written = append(written, s.SQL)
		}
		if s.ok {
			w.sql, w.ran = s.SQL, true
			ran++
		}
		taken[s.key]++
		switch {
		case s.ok && (!r.published || ran == 2):
			w.stop = stopAnswer
		case r.published && s.Action == actionFinish:
			w.stop = stopFinish
		case !r.published && taken[s.key] > mostRepeats:
			w.stop, w.steps[try].Status = stopNoProgress, stopNoProgress
		case !r.published && taken[s.key] > 1:
			seen += " This is the same action as before."
		}
		req.Messages = append(slices.Clip(req.Messages), llm.Message{Role: llm.Assistant, Text: s.said()},
			llm.Message{Role: llm.User, Text: observed(seen)})
	}
	w.stop, w.cut = cmp.Or(w.stop, stopSteps), ctx.Err() != nil
	for _, sql := range slices.Backward(written) {
		if w.ran || w.cut {
			break
		}
		w.sql = cmp.Or(w.sql, sql)
		// not examined again
		if c, err := r.examiner.ExamineSQL(ctx, req.Sample, w.model, sql); err == nil && c.Rejected == "" {
			w.sql, w.ran = sql, true
		}
	}
	return w
}

// reply is what the walk gives to the vote.
func (w *walk) reply(ctx context.Context) (llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return llm.Response{}, err
	}
	if w.err != nil && !w.ran {
		return llm.Response{}, w.err
	}
	return llm.Response{Text: cmp.Or(w.sql, "no statement"), StopReason: llm.StopEnd}, nil
}

// taken is a step that was taken.
type taken struct {
	strategy.Step
	action
	ok  bool   // a statement ran
	key string // what two steps have in common that are the same one
	err error  // the database could not be asked
}

// step reads a reply and does what it says.
func (r *run) step(ctx context.Context, sample int, model string, try int, reply llm.Response) (taken, string) {
	ctx, span := trace.FromContext(ctx).StartAt(ctx, try, "step", trace.Attr{Key: "step", Value: try})
	defer span.End()
	a := r.read(reply.Text)
	t := taken{action: a, key: a.name + " " + strings.Join(strings.Fields(strings.TrimRight(a.argument, "; \n")), " ")}
	if a.name == "" {
		t.key = strings.TrimSpace(reply.Text)
	}
	seen, err := r.observe(ctx, a, reply.StopReason == llm.StopLength, Input{
		Task: r.task, Examiner: r.examiner, Sample: sample, Model: model, Argument: a.argument,
	})
	text := clean(seen.Text)
	t.ok, t.err = seen.OK && seen.SQL != "", err
	t.Step = strategy.Step{
		Sample: sample, Try: try, Action: cmp.Or(a.name, "none"), SQL: seen.SQL, Rows: seen.Rows, Status: "ok",
		Thought: a.thought, Observation: text,
	}
	switch {
	case err != nil:
		span.Fail(err)
		t.Status, t.Problem = "failed", prompttext.ErrorLine(err.Error(), true)
	case !seen.OK && a.name == "":
		t.Status, t.Problem = "no-action", "the reply could not be read"
	case !seen.OK:
		t.Status, t.Problem = "rejected", cmp.Or(seen.problem, prompttext.ErrorLine(text, true))
	}
	span.Set("action", t.Action)
	span.Set("argument", trace.PrivateSQL.Secret(words.Short(a.argument, maxEcho)))
	span.Set("thought", trace.PrivateReplies.Secret(a.thought))
	span.Set("observation", trace.PrivateRows.Secret(text))
	span.Set("status", t.Status)
	return t, text
}

// observe calls the tool that an action names. The error says that the database could not be asked, or is ctx.Err().
func (r *run) observe(ctx context.Context, a action, truncated bool, in Input) (Observation, error) {
	tool := r.tool(a.name)
	switch {
	case a.name == actionFinish && r.published:
		return Observation{Text: "finished", OK: true}, nil
	case truncated && a.open:
		return Observation{Text: "Error: the reply was cut at its limit on tokens. Be shorter."}, nil
	case a.name == "":
		return Observation{Text: "Error: no action could be read. Reply with one thought and one action, such as " +
			callOf(r.tools[0])}, nil
	case tool == nil:
		return Observation{Text: fmt.Sprintf("Error: there is no action %s; the actions are %s", words.Short(a.name, 40),
			strings.Join(r.names(), ", "))}, nil
	}
	bounded, cancel := context.WithTimeout(ctx, r.ToolTime)
	defer cancel()
	work := background.NewWork[Observation](nil)
	go func() {
		defer work.End()
		work.Value, work.Err = tool.Call(bounded, r.env, in)
	}()
	grace := min(r.ToolTime/10, time.Second) // for a tool that does not look at its context
	seen, err, left := work.Wait(bounded, grace)
	var database *strategy.DatabaseError
	switch {
	case ctx.Err() != nil:
		return Observation{}, ctx.Err()
	case left || bounded.Err() != nil:
		return Observation{SQL: seen.SQL, Text: fmt.Sprintf("Error: %s took longer than %v", a.name, r.ToolTime)}, nil
	case errors.As(err, &database):
		return seen, err
	case err != nil:
		return Observation{SQL: seen.SQL, Text: "Error: " + r.env.ErrorLine(err.Error())}, nil
	}
	if r.published && !seen.OK {
		seen.Text = r.publishedError(seen)
	}
	return seen, nil
}

func (r *run) tool(name string) Tool {
	for _, t := range r.tools {
		if nameOf(t) == name {
			return t
		}
	}
	return nil
}

// names are those of the actions.
func (r *run) names() (names []string) {
	for _, t := range r.tools {
		names = append(names, nameOf(t))
	}
	if r.published {
		names = append(names, actionFinish)
	}
	return names
}
