package doubt

import (
	"slices"
	"strings"
	"unicode"
)

// calls reports whether the statement calls one of these functions, which are in upper case.
func (in Input) calls(functions ...string) bool {
	return slices.ContainsFunc(in.Outline.Functions, func(f string) bool { return slices.Contains(functions, f) })
}

// numeral is a number of three digits or more, with or without commas.
var numeral = compile(`^(?:\d{1,3}(?:,\d{3})+|\d{3,})$`)

// Numbers are the numbers of three digits or more that the question names, without commas, each once.
func (q QuestionFeatures) Numbers() (numbers []string) {
	for run := range strings.FieldsFuncSeq(q.Text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.Nd) && !strings.ContainsRune("_.,", r) }) {
		n := strings.Trim(run, ".,")
		if plain := strings.ReplaceAll(n, ",", ""); numeral.MatchString(n) && !slices.Contains(numbers, plain) {
			numbers = append(numbers, plain)
		}
	}
	return numbers
}
