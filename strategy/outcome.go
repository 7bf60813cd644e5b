package strategy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// Outcome is what a Strategy found.
type Outcome struct {
	SQL        string           `json:"sql"`                  // the winner; "" when there is none
	Confidence float64          `json:"confidence"`           // 0..1: the formula of vote.Ballot, or the strategy's own
	Ballot     vote.Ballot      `json:"ballot"`               // how the votes fell
	Candidates []vote.Candidate `json:"candidates,omitempty"` // every candidate in the order of samples, rejected ones included
	Links      schema.Links     `json:"links,omitzero"`       // what the linker chose; zero: the whole schema
	Saved      int              `json:"saved,omitempty"`      // samples that an early stop made unnecessary
	Notes      []string         `json:"notes,omitempty"`      // decisions in words, in the order they were taken
	Steps      []Step           `json:"steps,omitempty"`      // repairs and corrections that were tried, in order
	Report     Report           `json:"-"`                    // what the method tells beyond that; nil: nothing
}

// Note adds a decision in words, as one line of at most 300 runes.
func (o *Outcome) Note(format string, args ...any) {
	o.Notes = append(o.Notes, brief(fmt.Sprintf(format, args...)))
}

// Warn adds a note, and a warning of the same words to the trace. code is a stable word for programs.
func (o *Outcome) Warn(ctx context.Context, code, format string, args ...any) {
	o.Note(format, args...)
	trace.From(ctx).Warn(code, o.Notes[len(o.Notes)-1])
}

// NoteError notes what failed and why. A spent budget is a warning, "budget-spent".
func (o *Outcome) NoteError(ctx context.Context, err error, format string, args ...any) (spent bool) {
	o.Note("%s: %v", fmt.Sprintf(format, args...), err)
	if spent = errors.Is(err, llm.ErrBudget); spent {
		trace.From(ctx).Warn("budget-spent", o.Notes[len(o.Notes)-1])
	}
	return spent
}

// WithoutVote lists the candidates that have no vote, each with the reason in Rejected.
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

// Step is one statement that was tried on the way to an answer. Outcome.Steps lists steps in the order in which they
// were taken.
//
// Status is "ok", "suspect" (no row, or only NULL), "rejected" (by the engine or a check), "refused" (it writes), "no-sql"
// (a reply without a statement) or "failed" (no reply). Those of a Refine may also be "timeout", "refused" (by the guard,
// for any reason) or "no-progress"
// (tried before, not executed again). A reply that names no action has "no-action".
type Step struct {
	Sample  int    `json:"sample"`            // index of the sample that the step belongs to
	Try     int    `json:"try"`               // 0 is the first attempt, 1 the first repair or correction
	Name    string `json:"name,omitempty"`    // a part of the method; "" where it has none
	Action  string `json:"action"`            // the purpose of the request ("generate", "repair", …), or the action of an agent
	SQL     string `json:"sql,omitempty"`     // the statement
	Status  string `json:"status"`            // what became of it: a word of the list above
	Problem string `json:"problem,omitempty"` // why the statement did not do, in one line
	Rows    int    `json:"rows,omitempty"`    // rows of the result

	// Of a method that thinks aloud and calls tools: what the model thought, and what it was shown. Both may repeat
	// stored values, so they are not written as JSON.
	Thought     string `json:"-"`
	Observation string `json:"-"`
}

// NewStep is the step of a candidate that was checked.
func NewStep(c vote.Candidate, try int, action string) Step {
	s := Step{Sample: c.Sample, Try: try, Action: action, SQL: c.SQL, Status: "ok", Problem: ErrorLine(c.Rejected, false), Rows: c.Rows}
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

// Report is what a method tells about an answer beyond the fields of Outcome. Each method that has something to tell
// defines a type of its own, which json.Marshal can write.
type Report interface {
	// Method is the name of the method, which is that of its package.
	Method() string
}

// RawReport is a Report as JSON, an object with the method's name as its only key. A result that was read back holds
// one; ReadReport of the method's package makes the method's own type of it.
type RawReport struct {
	Name string          // name of the method
	JSON json.RawMessage // what the method told
}

// Method returns Name.
func (r RawReport) Method() string { return r.Name }

// MarshalJSON writes {"name": …}.
func (r RawReport) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]json.RawMessage{r.Name: r.JSON})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *RawReport) UnmarshalJSON(b []byte) error {
	var named map[string]json.RawMessage
	if err := json.Unmarshal(b, &named); err != nil {
		return fmt.Errorf("strategy: reading a report: %w", err)
	}
	if len(named) != 1 {
		return fmt.Errorf("strategy: reading a report: it has %d methods, want 1", len(named))
	}
	for name, text := range named {
		*r = RawReport{name, text}
	}
	return nil
}

// ReadReport returns r as the type of its method, which it is already or was before it was written as JSON. A nil r,
// one of another method and JSON that does not fit are errors.
func ReadReport[T Report](r Report) (T, error) {
	var report T
	switch r := r.(type) {
	case nil:
		return report, fmt.Errorf("strategy: there is no report; want one of %s", report.Method())
	case T:
		return r, nil
	case RawReport:
		if r.Name == report.Method() {
			if err := json.Unmarshal(r.JSON, &report); err != nil {
				return report, fmt.Errorf("strategy: reading the report of %s: %w", r.Name, err)
			}
			return report, nil
		}
	}
	return report, fmt.Errorf("strategy: the report is of %s; want one of %s", r.Method(), report.Method())
}
