package vote

import (
	"math"

	"github.com/texttosql/texttosql/sqltext"
)

// Candidate is one generated statement with the findings of the checks. It holds the fingerprint of its result, but
// never the result. Every list of candidates is ordered by Sample.
type Candidate struct {
	SQL    string `json:"sql"`             // the statement from the reply, also if refused; "": the reply has none
	Sample int    `json:"sample"`          // index of the sample that made it
	Model  string `json:"model,omitempty"` // name of the model, if several answer

	Rejected string `json:"rejected,omitempty"` // why the candidate may not vote; "" when it may
	Reason   string `json:"reason,omitempty"`   // of an exec error or a reply, or "limit"; "": your own check
	Writes   bool   `json:"writes,omitempty"`   // rejected because the statement writes or changes state
	Invalid  bool   `json:"invalid,omitempty"`  // rejected because of a mistake, such as a wrong name

	// Metrics are the metrics from whose definitions SQL was compiled; nil: a model wrote SQL. In a tie such a
	// candidate represents its cluster, and its cluster wins.
	Metrics []string `json:"metrics,omitempty"`

	// ReplyGroup is above 0 if several candidates come from one reply, such as a repair that fixed every copy of a
	// statement. Candidates of one ReplyGroup all vote, but the confidence counts them as one.
	ReplyGroup int `json:"voice,omitempty"`

	// fingerprint of its result, bag mode, floats to Digits; "" when it was not executed
	Fingerprint string `json:"fingerprint,omitempty"`
	// fingerprint of its result, ordered mode, floats to Digits; "" when unknown
	Sequence  string  `json:"sequence,omitempty"`
	Plan      string  `json:"plan,omitempty"`      // strict signature of its plan; "" when it was not explained
	Cost      float64 `json:"cost,omitempty"`      // cost of its plan; lower is better, 0 when unknown
	Rows      int     `json:"rows"`                // rows of its result, at most the limit
	Columns   int     `json:"columns"`             // columns of its result
	Empty     bool    `json:"empty,omitempty"`     // executed, no rows
	AllNull   bool    `json:"all_null,omitempty"`  // executed, every value NULL
	Zero      bool    `json:"zero,omitempty"`      // executed, one row with only zeros, or zeros and NULLs
	Truncated bool    `json:"truncated,omitempty"` // executed, cut at a limit

	Statement *sqltext.Statement `json:"-"` // SQL as it was checked and parsed; nil: Parsed parses it
	Preview   string             `json:"-"` // a few rows as text, for a judge; never logged

	Findings []Finding `json:"findings,omitempty"` // what checks and doubt rules noticed
}

// Parsed returns Statement. If Statement is nil, it parses SQL with d.
func (c Candidate) Parsed(d sqltext.Dialect) *sqltext.Statement {
	if c.Statement != nil {
		return c.Statement
	}
	return d.Parse(c.SQL)
}

// Finding is a fact that a check or a doubt rule noticed about a candidate. It never rejects the candidate.
type Finding struct {
	Rule   string  `json:"rule"`             // stable name: "empty", "more_columns", …
	Detail string  `json:"detail,omitempty"` // one line for a person
	Doubt  float64 `json:"doubt,omitempty"`  // weight of the broken rule in a vote with a Penalty; 0: information only

	// Form reports that the rule is about the form of the statement, not about its meaning. Such a doubt helps to
	// choose between answers. It has no effect if all votes are for one answer.
	Form bool `json:"form,omitempty"`
}

// valueless reports whether the result of c is known to hold no value.
func (c *Candidate) valueless() bool { return c.Empty || c.AllNull }

// weighs reports whether the finding is a doubt, not information alone.
func (f Finding) weighs() bool { return f.Doubt > 0 && !math.IsInf(f.Doubt, 1) }
