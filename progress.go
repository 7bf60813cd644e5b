package texttosql

import (
	"context"
	"log/slog"
	"time"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
)

// Progress is one step of a question, as WithProgress tells it.
type Progress struct {
	Question string           // the question's text
	ID       string           // its Question.ID, in a batch
	Step     string           // name of the span: "link", "sample", "check", "repair", "vote", "judge", "rows", …
	Kind     trace.NoticeKind // Started, Ended, Happened or Warned
	Message  string           // the name of the event, the warning in words; the reason of a failed step that ended
	Span     *trace.Span      // what it is about; to be read only, during the call
}

// observer is what the trace of one question tells about its steps; nil when nobody listens.
func (e *Engine) observer(ctx context.Context, q Question) func(trace.Notice) {
	if e.config.progress == nil && e.logger == nil {
		return nil
	}
	logStep := func(trace.Notice) {}
	if e.logger != nil {
		logStep = trace.LogTo(ctx, e.logger, e.keep)
	}
	return func(n trace.Notice) {
		logStep(n)
		if e.config.progress == nil {
			return
		}
		p := Progress{Question: q.Text, ID: q.ID, Step: n.Span.Name(), Kind: n.Kind, Span: n.Span}
		switch n.Kind {
		case trace.Happened:
			p.Message = n.Event.Name
		case trace.Warned:
			p.Message = n.Warning.Message
		case trace.Ended:
			p.Message = n.Span.Failure()
		}
		e.progress.Lock()
		defer e.progress.Unlock()
		e.config.progress(p)
	}
}

// log writes the record of one question.
func (e *Engine) log(ctx context.Context, id string, r *Result, err error) {
	if e.logger == nil {
		return
	}
	attrs := []slog.Attr{
		slog.Duration("took", r.Trace.Duration().Round(time.Microsecond)),
		slog.Int("calls", r.Usage.Calls),
		slog.Int("prompt_tokens", r.Usage.PromptTokens), slog.Int("completion_tokens", r.Usage.CompletionTokens),
		slog.Float64("confidence", r.Confidence), slog.Int("candidates", len(r.Candidates)),
		slog.String("outcome", outcomeOf(err)),
	}
	if id != "" {
		attrs = append(attrs, slog.String("id", id))
	}
	if r.Rows != nil {
		attrs = append(attrs, slog.Int("rows", len(r.Rows.Rows)))
	}
	e.logger.LogAttrs(ctx, slog.LevelInfo, "texttosql: question", attrs...)
}

// outcomeOf is the class of an error, for logs and journals.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "answered"
	case is(err, context.Canceled, context.DeadlineExceeded):
		return "cancelled"
	case is(err, ErrAbstained):
		return "abstained"
	case is(err, ErrBudget):
		return "budget"
	case is(err, ErrNoCandidate):
		return "no-candidate"
	case llm.ClassOf(err) != llm.ClassUnknown:
		return "model-" + llm.ClassOf(err).String()
	}
	return "failed"
}
