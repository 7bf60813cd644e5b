package doubt

import (
	"slices"
	"strings"
)

// calls reports whether the statement calls one of these functions, which are in upper case.
func (in Input) calls(functions ...string) bool {
	return slices.ContainsFunc(in.Outline.Functions, func(f string) bool { return slices.Contains(functions, f) })
}

// numeral is a number of three digits or more, with or without commas.
var numeral = compile(`^(?:\d{1,3}(?:,\d{3})+|\d{3,})$`)

// runs finds words and numbers.
var runs = compile(`[\pL\p{Nd}_.,]+`)

// Numbers are the numbers of three digits or more that the question names, without commas, each once.
func (q QuestionFeatures) Numbers() (numbers []string) {
	for _, run := range runs.FindAllString(q.Text, -1) {
		n := strings.Trim(run, ".,")
		if plain := strings.ReplaceAll(n, ",", ""); numeral.MatchString(n) && !slices.Contains(numbers, plain) {
			numbers = append(numbers, plain)
		}
	}
	return numbers
}
