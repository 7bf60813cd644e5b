package trino

import (
	"regexp"
	"strconv"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

const (
	// mostLength is the greatest length that a statement may ask of a function that makes values of a length of its
	// choice; also the most entries that Trino gives an array there.
	mostLength = 10_000
	// mostGrown is the most that such functions of one statement may ask for together, their lengths multiplied: each
	// may stand in the arguments of another one, and the server looks at the memory of no call.
	mostGrown = 1_000_000
	// short is the longest padding that counts for nothing: it does not grow with what it pads.
	short = 100
)

// wide is a format whose result is wide by its own words.
var wide = regexp.MustCompile(`[0-9]{5}`)

// bounded refuses a statement whose functions make values of any length.
func (w *speller) bounded() error {
	grown := 1
	for i := range w.tokens {
		if !w.is(i, "(") || w.is(i-2, "as") {
			continue
		}
		name, weight := w.name(i-1), 1
		switch name {
		case "repeat", "lpad", "rpad":
			n, ok := w.number(w.argument(i, 1))
			if !ok || n > mostLength {
				return guard.Refuse(exec.ReasonFunction, "the length of %s must be a number of at most %d", name, mostLength)
			}
			if weight = n; name != "repeat" && n <= short {
				weight = 1
			}
		case "sequence":
			if weight = mostLength; w.is(i-2, "(") && w.is(i-3, "unnest") { // rows, which are no value
				weight = 1
			}
		case "format":
			if a := w.argument(i, 0); len(a) != 1 || a[0].Kind != sqltext.String || wide.MatchString(a[0].Text) {
				return guard.Refuse(exec.ReasonFunction, "the first argument of format must be a text without widths of five digits")
			}
		case "reduce":
			if a := w.argument(i, 1); len(a) != 1 || a[0].Kind != sqltext.Number {
				return guard.Refuse(exec.ReasonFunction, "the state of reduce must begin with a number: another one may double with each step")
			}
		}
		if grown *= max(1, weight); grown > mostGrown {
			return guard.Refuse(exec.ReasonTooComplex, "the lengths that its functions ask for are over %d, multiplied", mostGrown)
		}
	}
	return nil
}

// argument returns the tokens of argument n of the call whose bracket opens at token i, 0 is the first.
func (w *speller) argument(i, n int) []sqltext.Token {
	depth, from := 0, i+1
	for at := i; at < len(w.tokens); at++ {
		switch {
		case w.is(at, "(", "["):
			depth++
		case w.is(at, ")", "]"):
			depth--
		}
		if depth == 0 || depth == 1 && w.is(at, ",") {
			if n == 0 {
				return w.tokens[from:at]
			}
			if depth == 0 {
				return nil
			}
			from, n = at+1, n-1
		}
	}
	return nil
}

// number reads an argument that is one whole number.
func (w *speller) number(argument []sqltext.Token) (int, bool) {
	if len(argument) != 1 || argument[0].Kind != sqltext.Number {
		return 0, false
	}
	n, err := strconv.Atoi(argument[0].Text)
	return n, err == nil
}
