package eval

// Outcome is what one run or pool scored on one question: the input of every
// statistic.
//
// Score is 0 for wrong and 1 for right; a metric with partial credit may lie
// between. A question without an answer scores 0 and stays in the list: a rate
// is over all questions.
type Outcome struct {
	Pool       string  `json:"pool,omitempty"`       // the pool or run that was scored, where several are looked at together
	Question   string  `json:"question"`             // identity of the question, unique over all databases
	Template   string  `json:"template,omitempty"`   // sqltext.Statement.Template of the gold: its literals masked
	Database   string  `json:"database,omitempty"`   // its id
	Difficulty string  `json:"difficulty,omitempty"` // the difficulty in the dataset's own word
	Score      float64 `json:"score"`                // 0..1
	Confidence float64 `json:"confidence,omitempty"` // 0..1, of the answer that was scored
}

// Right reports whether the score is full. Statistics of confidence look at
// this and not at partial credit.
func (o Outcome) Right() bool { return o.Score >= 1 }

// Grouping names the group of an outcome. It says what a bootstrap draws as
// one, and by what a breakdown is broken down.
type Grouping func(Outcome) string

// ByQuestion groups the outcomes of one question in all pools.
func ByQuestion(o Outcome) string { return o.Question }

// ByTemplate groups the questions of a database that have the same template. An
// outcome without a template is a group of its question.
func ByTemplate(o Outcome) string {
	if o.Template == "" {
		return "question\x00" + o.Question
	}
	return o.Database + "\x00" + o.Template
}

// groups numbers the groups of n outcomes by first appearance.
func groups(by Grouping, n int, at func(int) Outcome) (of []int, names []string) {
	if by == nil {
		by = ByQuestion
	}
	numbers := make(map[string]int, n)
	of = make([]int, n)
	for i := range n {
		name := by(at(i))
		g, ok := numbers[name]
		if !ok {
			g = len(names)
			numbers[name] = g
			names = append(names, name)
		}
		of[i] = g
	}
	return of, names
}
