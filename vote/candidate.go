package vote

import (
	"math"

	"github.com/texttosql/texttosql/result"
)

// Digits is how many significant digits of a float count where results are equal
// votes: the same sum in another order differs in the last bits.
const Digits = 9

// Candidate is one generated statement with what checks found out about it.
//
// A candidate never holds a result, only its fingerprint. Draw orders every
// list of candidates.
type Candidate struct {
	SQL   string `json:"sql"`             // after extraction; "" when the reply held none
	Draw  int    `json:"draw"`            // index of the draw that made it
	Model string `json:"model,omitempty"` // name of the model, where several answer

	// Position is the place of the candidate in a reply that lists several
	// different queries, from 0; 0 for a reply with one.
	Position int `json:"position,omitempty"`

	// Rejected says why the candidate may not vote; "" when it may.
	Rejected string `json:"rejected,omitempty"`

	Fingerprint string  `json:"fingerprint,omitempty"` // of its result, bag mode, floats to Digits; "" when it was not executed
	Sequence    string  `json:"sequence,omitempty"`    // of its result, ordered mode, floats to Digits; "" when unknown
	Plan        string  `json:"plan,omitempty"`        // strict plan signature; "" when it was not explained
	Cost        float64 `json:"cost,omitempty"`        // of its plan; lower is better, 0 when unknown
	Rows        int     `json:"rows"`                  // rows of its result, at most the limit
	Columns     int     `json:"columns"`               // columns of its result
	Empty       bool    `json:"empty,omitempty"`       // executed, no rows
	AllNull     bool    `json:"all_null,omitempty"`    // executed, every value NULL
	Truncated   bool    `json:"truncated,omitempty"`   // executed, cut at a limit

	Preview  string        `json:"-"`                  // a few rows as text, for a judge; never logged
	Sketch   result.Sketch `json:"-"`                  // sample of its rows, for RowOverlap; zero when nobody asks for it
	Findings []Finding     `json:"findings,omitempty"` // what is odd about it; see Doubts
}

// Finding is something a check or a doubt rule noticed about a candidate. It
// never is a veto.
type Finding struct {
	Rule   string  `json:"rule"`             // stable name: "empty", "more_columns", …
	Detail string  `json:"detail,omitempty"` // one line for a person
	Doubt  float64 `json:"doubt,omitempty"`  // weight of the broken rule in a vote with Penalty; 0: information only
}

// weighs reports whether the finding is a doubt, not information alone.
func (f Finding) weighs() bool { return f.Doubt > 0 && !math.IsInf(f.Doubt, 1) }
