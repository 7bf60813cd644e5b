package doubt

import (
	"math"
	"slices"
)

// resultRules are the rules on results.
func resultRules() []Rule {
	return []Rule{
		{
			Name: "empty", OnResult: true,
			Source: "people rarely ask for what is not there; how rarely is Rules.EmptyAnswerRate",
			Broken: func(in Input) (string, bool) {
				if in.Table.AllNull() {
					return "nothing but NULL", true
				}
				return "no rows", in.Table.Empty() && !in.Table.Truncated
			},
		},
		{
			Name: "any_null", OnResult: true, Form: true,
			Source: "a NULL that begins a row, or stands in the only one, is mostly of an outer join that was not asked for",
			Broken: func(in Input) (string, bool) {
				null := slices.ContainsFunc(in.Table.Rows, func(row []any) bool { return len(row) > 0 && row[0] == nil }) ||
					len(in.Table.Rows) == 1 && slices.Contains(in.Table.Rows[0], nil)
				return "a value is NULL", null && !in.Table.AllNull()
			},
		},
		{
			Name: "how_many", OnResult: true, ReadsWords: true, Form: true,
			Source: "a question for one number has an answer of one row",
			Broken: func(in Input) (string, bool) {
				return "the question asks for one number, and the answer is not one row", in.Question.HowMany &&
					!in.Question.Each && len(in.Table.Rows) != 1
			},
		},
	}
}

// usualEmptyAnswerRate is how often the right answer has no value where nobody knows it: about the mean of four
// benchmarks, which have 0 to 10 %.
const usualEmptyAnswerRate = 0.05

// LearnEmptyRate estimates EmptyAnswerRate from right answers: all is their number, and empty the number without a
// value. The default rate counts as much as twenty answers.
func (Rules) LearnEmptyRate(empty, all int) float64 {
	const prior = 20
	return (float64(empty) + prior*usualEmptyAnswerRate) / (float64(all) + prior)
}

// emptyWeight is what the rule empty weighs: 1 at the usual share, more where right answers are rarely empty. Half a
// logarithm keeps most of what the whole one gains on data without empty answers, and loses less on data with a few.
func (r Rules) emptyWeight() float64 {
	if !(r.EmptyAnswerRate > 0) {
		return 1
	}
	return min(max(1-math.Log(r.EmptyAnswerRate/usualEmptyAnswerRate)/2, 0), 3)
}
