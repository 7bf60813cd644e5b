package strategy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// Refine corrects one candidate until it runs. It executes the statement; if that fails, it shows the model the
// problems of this statement and of all earlier ones. It is the loop of QA-SQL and of agents that look at results,
// and the repair of a vote (Decisive).
//
// Some faults need no call. A column that a statement looks for in the wrong table is taken from the only table that
// can be meant: another table of the statement, or the one that the table's only foreign key to such a table leads to.
// A name with the words of a single name of the schema is written like it: Professionals for professional. A Repairer
// of your own gets every failure.
//
// It ends early if the model proposes the same statement again, at the second time-out, and when the budget is spent.
// Each statement passes the checks of the Checker, so a statement of another candidate is not executed again. A
// Pipeline's budget of calls may not cover all corrections. Then samples are corrected one after the other, by index,
// with the calls that remain after one call for each sample. The zero Refine is ready for use. Safe for concurrent use.
type Refine struct {
	Repairer Repairer // nil: TypedRepair{}
	// Executions is the most statements that are tried for one sample, the first included, so the repairs take one call
	// fewer. 0 means 3, with Decisive 2. With 1 no model is called: a statement is only changed as described above.
	Executions int
	// EmptyResult also asks once about a result without a row, or with only NULL. The result stays the answer unless
	// the new statement has rows. Not with Decisive.
	EmptyResult bool

	// Decisive refines after all samples. It refines only statements that the engine rejected and whose votes could
	// change the winner, the statement of most samples first. The statement that runs instead gets the votes of all
	// copies. false: each sample is refined before it votes.
	Decisive   bool
	Statements int // with Decisive: maximum distinct statements to refine; 0 means 2
}

// RefineInput has a candidate and its question.
type RefineInput struct {
	Task      Task           // the question
	Schema    *schema.Schema // for prompts: the whole schema, since a missing column is often outside the linked part
	Examiner  *Checker       // the question's checker
	Candidate vote.Candidate // the candidate as the Checker made it
	Prompter  Prompter       // wrote the prompt of the candidate's sample; nil: Prompt{}
	Links     schema.Links   // those that the prompt showed
	Action    string         // the action of the first step; "" means "generate"
	Name      string         // the name in the steps
}

// The reasons for which a Refine stops without a statement that runs.
const (
	stopNoProgress = "no-progress" // the same statement was proposed again
	stopTimeout    = "timeout"     // a second statement ran until its time was over
	stopExecutions = "executions"  // there were as many statements as may be
	stopModel      = "model"       // the model could not be asked: its budget is spent, or the call failed
)

// Refined is the result of Refine.Run.
type Refined struct {
	Candidate vote.Candidate // the statement that runs; if none does, the last one tried, with its problem in Rejected
	Steps     []Step         // the statements tried, including the first one
	Stop      string         // why it ended without a statement that runs; "" if it has one
	Err       error          // the model's error, if Stop is "model"
}

// Validate reports a negative number, and fields that do not go together.
func (r Refine) Validate() error {
	errs := []error{fields.Check("strategy: Refine.Executions", r.Executions, 0),
		fields.Check("strategy: Refine.Statements", r.Statements, 0)}
	switch {
	case r.Decisive && r.EmptyResult:
		errs = append(errs, &ConfigError{Field: "strategy: Refine.EmptyResult",
			Problem: "a statement that runs is asked about without Decisive only"})
	case !r.Decisive && r.Statements > 0:
		errs = append(errs, &ConfigError{Field: "strategy: Refine.Statements",
			Problem: "it bounds what Decisive refines, which is not set"})
	}
	return errors.Join(errs...)
}

// executions is how many statements are executed at most.
func (r Refine) executions() int {
	if r.Decisive {
		return cmp.Or(r.Executions, 2)
	}
	return cmp.Or(r.Executions, 3)
}

// errSuspect tells the model about a result that may be wrong.
type errSuspect struct{ what string }

func (e errSuspect) Error() string { return e.what }

// Run refines one candidate. The error is ctx.Err() or a *DatabaseError.
func (r Refine) Run(ctx context.Context, env *Env, in RefineInput) (Refined, error) {
	most := r.executions()
	current := in.Candidate
	out := Refined{Candidate: current}
	out.add(in, current, 0, cmp.Or(in.Action, "generate"), in.Examiner)
	seen := map[string]bool{normal(env, current.SQL): current.SQL != ""}
	timeouts, asked := 0, false // asked about a result that runs
	for try := 1; ; try++ {
		failure := in.Examiner.failure(current)
		if isTimeout(failure) {
			timeouts++
		}
		runs := current.Rejected == ""
		switch {
		case runs && (!r.EmptyResult || asked || !current.Empty && !current.AllNull):
			return out, nil
		case timeouts > 1:
			out.Stop = stopTimeout
			return out.settled(), nil
		case try >= most:
			return r.last(ctx, env, in, out, try)
		}
		asked = runs
		next, err := r.again(ctx, env, in, current, failure, out.Steps, try, seen)
		if cerr := ctx.Err(); cerr != nil {
			return out, cerr
		}
		var database *DatabaseError
		if errors.As(err, &database) {
			return out, err
		}
		key := normal(env, next.SQL)
		switch {
		case err != nil:
			out.Stop, out.Err = stopModel, err
			out.Steps = append(out.Steps, Step{Sample: current.Sample, Try: try, Name: in.Name, Action: "repair",
				Status: "failed", Problem: brief(err.Error())})
		case next.SQL != "" && seen[key]:
			out.Stop = stopNoProgress
			out.Steps = append(out.Steps, Step{Sample: current.Sample, Try: try, Name: in.Name, Action: "repair", SQL: next.SQL,
				Status: stopNoProgress, Problem: cmp.Or(prompttext.ErrorLine(current.Rejected, false), "the same statement again")})
		default:
			seen[key] = next.SQL != ""
			out.add(in, next, try, "repair", in.Examiner)
		}
		if out.Stop != "" {
			return out.settled(), nil
		}
		if asked && (next.Rejected != "" || next.Empty || next.AllNull) {
			return out.settled(), nil // a statement that runs stays the answer
		}
		current, out.Candidate = next, next
	}
}

// last ends with the last statement, changed as rewrite does.
func (r Refine) last(ctx context.Context, env *Env, in RefineInput, out Refined, try int) (Refined, error) {
	out.Stop = stopExecutions
	next, err := r.rewrite(ctx, env, in, out.Candidate, in.Examiner.failure(out.Candidate))
	if err != nil {
		return out, cmp.Or(ctx.Err(), err)
	}
	if next.SQL != "" {
		out.add(in, next, try, "repair", in.Examiner)
		out.Candidate = next
	}
	return out.settled(), nil
}

// settled drops the reason to stop where there is a statement that runs.
func (o Refined) settled() Refined {
	if o.Candidate.Rejected == "" {
		o.Stop, o.Err = "", nil
	}
	return o
}

// add notes what became of a statement.
func (o *Refined) add(in RefineInput, c vote.Candidate, try int, action string, a *Checker) {
	s := a.Step(c, try, action)
	s.Name = in.Name
	failure := a.failure(c)
	var refused *exec.RefusedError
	switch {
	case isTimeout(failure):
		s.Status = "timeout"
	case errors.As(failure, &refused):
		s.Status = "refused"
	}
	o.Steps = append(o.Steps, s)
}

// again asks for another statement. One that was seen is not examined: its text may be another, its end is not.
func (r Refine) again(
	ctx context.Context, env *Env, in RefineInput, c vote.Candidate, failure error, earlier []Step, try int,
	seen map[string]bool,
) (vote.Candidate, error) {
	ctx, span := trace.Start(ctx, "refine", trace.Attr{Key: "sample", Value: c.Sample}, trace.Attr{Key: "try", Value: try})
	defer span.End()
	repairer := r.Repairer
	if repairer == nil {
		repairer = TypedRepair{}
	}
	switch {
	case failure != nil:
	case c.Rejected != "":
		failure = errors.New(c.Rejected)
	default:
		failure = errSuspect{earlier[len(earlier)-1].Problem}
	}
	if next, err := r.rewrite(ctx, env, in, c, failure); err != nil || next.SQL != "" {
		return next, err
	}
	reply, err := repairer.Repair(ctx, env, RepairInput{
		Task: in.Task, Schema: in.Schema, Links: in.Links, Prompter: in.Prompter,
		Sample: c.Sample, SQL: c.SQL, Err: failure, Earlier: slices.Clip(earlier[:len(earlier)-1]),
	})
	if err != nil {
		span.Fail(err)
		return c, err
	}
	same, err := replies.Extractor{Dialect: env.DB.Language().Text, Ended: true}.Extract(reply.Text)
	if err == nil && seen[same.Normalize()] {
		return vote.Candidate{Sample: c.Sample, Model: c.Model, SQL: same.SQL()}, nil
	}
	next, err := in.Examiner.Examine(ctx, c.Sample, c.Model, reply)
	if err != nil {
		err = &DatabaseError{err}
	}
	return next, err
}

// mostRewrites bounds the columns of one statement that are taken from another table.
const mostRewrites = 3

// rewrite takes the columns that a statement looks for in the wrong table from the only tables that can be meant, and
// spells names as the schema does, without a call of the model. The candidate has no statement where several can be
// meant, and where the new one does not run.
func (r Refine) rewrite(ctx context.Context, env *Env, in RefineInput, c vote.Candidate, failure error) (vote.Candidate,
	error) {
	for range mostRewrites {
		var invalid *exec.InvalidError
		if r.Repairer != nil || !errors.As(failure, &invalid) || invalid.Fault != "schema" {
			break
		}
		text := cmp.Or(newMisplaced(env, in.Schema, c.SQL, invalid.Name).rewritten(),
			respelled(env, in.Schema, c.SQL, invalid.Name))
		if text == "" {
			break
		}
		next, err := in.Examiner.Examine(ctx, c.Sample, c.Model, llm.Response{Text: CodeBlock(text)})
		if err != nil {
			return next, &DatabaseError{err}
		}
		if next.Rejected == "" {
			trace.FromContext(ctx).Event("rewritten", trace.Attr{Key: "sql", Value: trace.PrivateSQL.Secret(next.SQL)})
			return next, nil
		}
		c, failure = next, in.Examiner.failure(next)
	}
	return vote.Candidate{}, nil
}

// normal is what two statements have in common that are the same one; "" for none.
func normal(env *Env, sql string) string {
	if sql == "" {
		return ""
	}
	return env.DB.Language().Text.Parse(sql).Normalize()
}

func isTimeout(err error) bool {
	var limit *exec.LimitError
	return errors.As(err, &limit) && limit.Limit == "time"
}

// turns has samples corrected in the order of their slots, so that time does not say who gets the last calls of a
// budget.
type turns struct {
	left int             // calls for corrections, changed by the sample whose turn it is
	over []chan struct{} // by slot: closed when its sample is made
}

// takeTurns returns the turns of so many samples; nil where the budget of calls covers every correction.
func (r *pipelineRun) takeTurns(samples int) *turns {
	left, bounded := r.env.CallsLeft()
	if left -= samples; !r.refinesEach() || !bounded || left >= samples*(r.Refine.executions()-1) {
		return nil
	}
	t := &turns{left: left}
	for range samples {
		t.over = append(t.over, make(chan struct{}))
	}
	return t
}

// env is env with models that wait until the sample of slot has its turn.
func (t *turns) env(env *Env, slot int) *Env {
	if t == nil {
		return env
	}
	waiting := *env
	waiting.Models = nil
	for _, m := range env.Models {
		waiting.Models = append(waiting.Models, llm.Wrap(m, func(ctx context.Context, req llm.Request) (llm.Response, error) {
			for _, over := range t.over[:slot] {
				select {
				case <-over:
				case <-ctx.Done():
					return llm.Response{}, ctx.Err()
				}
			}
			if t.left < 1 {
				return llm.Response{}, fmt.Errorf("strategy: the calls that are left are for samples: %w", llm.ErrBudget)
			}
			t.left--
			return m.Complete(ctx, req)
		}))
	}
	return &waiting
}
