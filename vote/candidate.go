package vote

import (
	"math"

	"github.com/texttosql/texttosql/sqltext"
)

// Digits is how many significant digits of a float count where results are compared for a vote: the same sum in another
// order differs in the last bits.
const Digits = 9

// Candidate is one generated statement with what checks found out about it. It holds the fingerprint of its result and
// never the result. Every list of candidates is ordered by Sample.
type Candidate struct {
	SQL    string `json:"sql"`             // the statement as extracted from the reply, refused or not; "" when the reply held none
	Sample int    `json:"sample"`          // index of the sample that made it
	Model  string `json:"model,omitempty"` // name of the model, where several answer

	Rejected string `json:"rejected,omitempty"` // why the candidate may not vote; "" when it may
	Reason   string `json:"reason,omitempty"`   // why, in a stable word: of sqltext.Reason, exec.Fault, "limit"; "" when a check of the caller's own rejects it
	Writes   bool   `json:"writes,omitempty"`   // rejected because the statement writes or changes state
	Invalid  bool   `json:"invalid,omitempty"`  // rejected because of how it is written, as with a wrong name: another statement may do

	// Metrics are the metrics from whose definitions SQL was compiled; nil: a model wrote SQL. Where nothing else decides,
	// such a candidate represents its cluster, and its cluster wins.
	Metrics []string `json:"metrics,omitempty"`

	// ReplyGroup is above 0 where one reply stands behind several candidates, as a repair that mended every copy of a
	// statement. Candidates of one ReplyGroup all vote, but the confidence counts them as one.
	ReplyGroup int `json:"voice,omitempty"`

	Fingerprint string  `json:"fingerprint,omitempty"` // fingerprint of its result, bag mode, floats to Digits; "" when it was not executed
	Sequence    string  `json:"sequence,omitempty"`    // fingerprint of its result, ordered mode, floats to Digits; "" when unknown
	Plan        string  `json:"plan,omitempty"`        // strict signature of its plan; "" when it was not explained
	Cost        float64 `json:"cost,omitempty"`        // cost of its plan; lower is better, 0 when unknown
	Rows        int     `json:"rows"`                  // rows of its result, at most the limit
	Columns     int     `json:"columns"`               // columns of its result
	Empty       bool    `json:"empty,omitempty"`       // executed, no rows
	AllNull     bool    `json:"all_null,omitempty"`    // executed, every value NULL
	Zero        bool    `json:"zero,omitempty"`        // executed, one row with nothing but 0, and perhaps NULL
	Truncated   bool    `json:"truncated,omitempty"`   // executed, cut at a limit

	Statement *sqltext.Statement `json:"-"` // SQL as it was checked and parsed; nil: Parsed parses it
	Preview   string             `json:"-"` // a few rows as text, for a judge; never logged

	Findings []Finding `json:"findings,omitempty"` // what checks and doubt rules noticed
}

// Parsed returns Statement, or SQL parsed under d where Statement is nil.
func (c Candidate) Parsed(d sqltext.Dialect) *sqltext.Statement {
	if c.Statement != nil {
		return c.Statement
	}
	return d.Parse(c.SQL)
}

// Finding is what a check or a doubt rule noticed about a candidate. It is never a veto.
type Finding struct {
	Rule   string  `json:"rule"`             // stable name: "empty", "more_columns", …
	Detail string  `json:"detail,omitempty"` // one line for a person
	Doubt  float64 `json:"doubt,omitempty"`  // weight of the broken rule in a vote with a Penalty; 0: information only
}

// valueless reports whether the result of c is known to hold no value.
func (c *Candidate) valueless() bool { return c.Empty || c.AllNull }

// weighs reports whether the finding is a doubt, not information alone.
func (f Finding) weighs() bool { return f.Doubt > 0 && !math.IsInf(f.Doubt, 1) }
