package agent

// StagedReport is what Staged tells about an answer, in Outcome.Report. What was tried is in Outcome.Steps.
type StagedReport struct {
	Stage    int          `json:"stage"`              // Staged.Stage
	Steps    int          `json:"steps"`              // steps taken
	Answer   int          `json:"answer"`             // the step whose answer it is, from 0; -1: no step has one
	Penalty  float64      `json:"penalty"`            // the penalty of the answer; 0 at stage 0, which doubts nothing
	Contract []string     `json:"contract,omitempty"` // the columns that the question spells out
	Forms    []FormReport `json:"forms,omitempty"`    // the forms of each candidate that ran, from stage 1 on

	Clamped  bool `json:"clamped,omitempty"`  // the answer is a variant of what a model wrote
	Voted    bool `json:"voted,omitempty"`    // its result is not that of the first sample of the step that ran
	Repaired bool `json:"repaired,omitempty"` // it is what a repair made of a statement that failed
	Fallback bool `json:"fallback,omitempty"` // no step had an answer, and the few-shot baseline gave one
}

// FormReport is a statement as a model wrote it, or a variant of it.
type FormReport struct {
	Sample  int     `json:"sample"`            // whose statement it is
	Variant string  `json:"variant,omitempty"` // the clamps that made it, joined by "+"; "": as it was written
	SQL     string  `json:"sql"`               // the statement
	Penalty float64 `json:"penalty"`           // what the checks that it breaks weigh
	Votes   int     `json:"votes"`             // votes of its result in its step; 0 for a form that is not chosen
	Rows    int     `json:"rows"`              // rows of its result
	Chosen  bool    `json:"chosen"`            // the vote of the sample is for this form
}

// Method is "staged".
func (StagedReport) Method() string { return "staged" }
