package strategy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/rawreport"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// Outcome is the result of a Strategy.
type Outcome struct {
	SQL        string           `json:"sql"`                  // the winner; "" when there is none
	Confidence float64          `json:"confidence"`           // 0..1: the formula of vote.Ballot, or the strategy's own
	Ballot     vote.Ballot      `json:"ballot"`               // the counted votes
	Candidates []vote.Candidate `json:"candidates,omitempty"` // every candidate by sample, including rejected ones
	Links      schema.Links     `json:"links,omitzero"`       // the linker's choice; zero: the whole schema
	Saved      int              `json:"saved,omitempty"`      // samples that an early stop made unnecessary
	Notes      []string         `json:"notes,omitempty"`      // decisions in words, in their order
	Steps      []Step           `json:"steps,omitempty"`      // repairs and corrections that were tried, in order
	Report     Report           `json:"-"`                    // further results of the method; nil: none

	// MinConfidence is the least confidence that the strategy accepts; 0: any. The Engine applies it again after it
	// has looked for contradictions between the question and the statement.
	MinConfidence float64 `json:"-"`
}

// Note adds a decision in words, as one line of at most 300 runes.
func (o *Outcome) Note(format string, args ...any) {
	o.Notes = append(o.Notes, brief(fmt.Sprintf(format, args...)))
}

// Warn adds a note, and a warning with the same words to the trace. code is a stable word for programs.
func (o *Outcome) Warn(ctx context.Context, code, format string, args ...any) {
	o.Note(format, args...)
	trace.FromContext(ctx).Warn(code, o.Notes[len(o.Notes)-1])
}

// NoteError notes a failure and its reason. A spent budget is a warning, "budget-spent".
func (o *Outcome) NoteError(ctx context.Context, err error, format string, args ...any) (spent bool) {
	o.Note("%s: %v", fmt.Sprintf(format, args...), err)
	if spent = errors.Is(err, llm.ErrBudget); spent {
		trace.FromContext(ctx).Warn("budget-spent", o.Notes[len(o.Notes)-1])
	}
	return spent
}

// WithoutVote lists the candidates without a vote, each with the reason in Rejected.
func (o *Outcome) WithoutVote() (list []vote.Candidate) {
	why := make(map[int]string, len(o.Ballot.Abstained))
	for _, a := range o.Ballot.Abstained {
		why[a.Candidate] = cmp.Or(why[a.Candidate], a.Why)
	}
	for i, c := range o.Candidates {
		if c.Rejected = cmp.Or(c.Rejected, why[i]); c.Rejected != "" {
			list = append(list, c)
		}
	}
	return list
}

// Step is one statement that was tried for an answer. Outcome.Steps lists the steps in the order in
// which they were taken.
//
// Status is one of these:
//   - "ok";
//   - "suspect": no row, or only NULL;
//   - "rejected": by the engine or a check;
//   - "refused": it writes; in a step of a Refine, by the guard for any reason;
//   - "no-sql": a reply without a statement;
//   - "failed": no reply;
//   - "timeout": only in a step of a Refine;
//   - "no-progress": only in a step of a Refine; it was tried before and did not run again;
//   - "no-action": a reply that names no action.
type Step struct {
	Sample int    `json:"sample"`         // index of the step's sample
	Try    int    `json:"try"`            // 0 is the first attempt, 1 the first repair or correction
	Name   string `json:"name,omitempty"` // a part of the method; "" if it has none
	// the purpose of the request ("generate", "repair", …), or the action of an agent
	Action  string `json:"action"`
	SQL     string `json:"sql,omitempty"`     // the statement
	Status  string `json:"status"`            // the outcome: a word of the list above
	Problem string `json:"problem,omitempty"` // why the statement did not do, in one line
	Rows    int    `json:"rows,omitempty"`    // rows of the result

	// For a method that thinks aloud and calls tools: the model's thought, and the text that it was shown. Both may
	// repeat stored values, so they are not written as JSON.
	Thought     string `json:"-"`
	Observation string `json:"-"`
}

// Step returns the step of a candidate that it checked.
func (*Checker) Step(c vote.Candidate, try int, action string) Step {
	s := Step{Sample: c.Sample, Try: try, Action: action, SQL: c.SQL, Status: "ok",
		Problem: prompttext.ErrorLine(c.Rejected, false), Rows: c.Rows}
	switch {
	case c.Rejected != "" && c.SQL == "":
		s.Status = "no-sql"
	case c.Writes:
		s.Status = "refused"
	case c.Rejected != "":
		s.Status = "rejected"
	case c.Empty:
		s.Status, s.Problem = "suspect", "it returned no rows"
	case c.AllNull:
		s.Status, s.Problem = "suspect", "it returned nothing but NULL"
	}
	return s
}

// Report has a method's results about an answer beyond the fields of Outcome. Each such method defines its own type,
// which json.Marshal can write.
type Report interface {
	// Method returns the name of the method. JSON has the report under it.
	Method() string
}

// ReadReport returns r as the type T of its method. r either has this type or had it before it was written as JSON. A
// nil r, a report of another method, and JSON that does not fit are errors.
func ReadReport[T Report](r Report) (T, error) {
	var report T
	switch r := r.(type) {
	case nil:
		return report, fmt.Errorf("strategy: there is no report; want one of %s", report.Method())
	case T:
		return r, nil
	case rawreport.Report:
		if r.Name == report.Method() {
			if err := json.Unmarshal(r.JSON, &report); err != nil {
				return report, fmt.Errorf("strategy: reading the report of %s: %w", r.Name, err)
			}
			return report, nil
		}
	}
	return report, fmt.Errorf("strategy: the report is of %s; want one of %s", r.Method(), report.Method())
}
