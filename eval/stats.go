package eval

// Outcome is the score of one run or pool on one question: the input of every statistic.
//
// Score is 0 for wrong and 1 for right; a metric with partial credit may lie
// between. A question without an answer scores 0 and stays in the list, because a rate counts all questions.
type Outcome struct {
	Pool       string  `json:"pool,omitempty"`       // the pool or run that was scored, if there are several
	Question   string  `json:"question"`             // identity of the question, unique over all databases
	Template   string  `json:"template,omitempty"`   // sqltext.Statement.Template of the gold: its literals masked
	Database   string  `json:"database,omitempty"`   // its id
	Difficulty string  `json:"difficulty,omitempty"` // the difficulty in the dataset's own word
	Score      float64 `json:"score"`                // 0..1
	Confidence float64 `json:"confidence,omitempty"` // 0..1, of the answer that was scored
}

// Right reports whether the score is full. Statistics of confidence use this instead of partial credit.
func (o Outcome) Right() bool { return o.Score >= 1 }

// Estimate is a figure with its interval.
type Estimate struct {
	Value float64 `json:"value"` // the figure
	Low   float64 `json:"low"`   // ends of the interval, both included
	High  float64 `json:"high"`
	N     int     `json:"n"`     // number of outcomes or pairs
	Units int     `json:"units"` // number of groups that were drawn as a unit
}
