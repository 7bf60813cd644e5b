package agent

// StagedReport is Staged's report on an answer, in Outcome.Report. Outcome.Steps has the attempts.
type StagedReport struct {
	Stage    int      `json:"stage"`              // Staged.Stage
	Steps    int      `json:"steps"`              // steps taken
	Answer   int      `json:"answer"`             // the step of the answer, from 0; -1: no step has one
	Penalty  float64  `json:"penalty"`            // the penalty of the answer; 0 at stage 0, which has no doubts
	Contract []string `json:"contract,omitempty"` // the columns that the question spells out
	// Forms has the forms of each candidate that ran, from stage 1 on. Each has its Sample, Variant (the clamps that
	// made it, joined by "+"; "": unchanged), SQL, Penalty (of the checks that it breaks), Votes, Rows and Chosen.
	Forms []formReport `json:"forms,omitempty"`

	Clamped  bool `json:"clamped,omitempty"`  // the answer is a variant of the model's statement
	Voted    bool `json:"voted,omitempty"`    // its result differs from the first sample that ran in its step
	Repaired bool `json:"repaired,omitempty"` // a repair made it from a statement that failed
	Fallback bool `json:"fallback,omitempty"` // no step had an answer, and the few-shot baseline gave one
}

// formReport is a statement as a model wrote it, or a variant of it.
type formReport struct {
	Sample  int     `json:"sample"`            // whose statement it is
	Variant string  `json:"variant,omitempty"` // the clamps that made it, joined by "+"; "": as it was written
	SQL     string  `json:"sql"`               // the statement
	Penalty float64 `json:"penalty"`           // the weight of the checks that it breaks
	Votes   int     `json:"votes"`             // votes of its result in its step; 0 for a form that is not chosen
	Rows    int     `json:"rows"`              // rows of its result
	Chosen  bool    `json:"chosen"`            // the vote of the sample is for this form
}

// Method returns "staged".
func (StagedReport) Method() string { return "staged" }
