package summary

import (
	"math"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
)

// maxLabel is how many characters of a value stand in a sentence.
const maxLabel = 40

// number is a value that can be compared. ok is false for every other one.
func number(v any) (f float64, ok bool) { return result.Type{}.Number(v) }

// label writes a value that names a row; "" for one that names none.
func label(v any) string {
	switch v := v.(type) {
	case nil:
		return "(none)"
	case string:
		if strings.ContainsAny(v, "<>|`{}\n\r") {
			return "" // markup, a prompt: no name that a sentence can carry
		}
		return words.Short(words.Line(words.Clean(v)), maxLabel)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case result.Decimal:
		return string(v)
	case float64:
		return words.Plain(v)
	}
	return ""
}

// share is a part of a whole in percent: "19 %".
func share(part, whole float64) string {
	switch percent := math.Round(100 * part / whole); {
	case percent < 1:
		return "under 1 %"
	case percent > 99 && part < whole:
		return "over 99 %"
	default:
		return strconv.FormatFloat(percent, 'f', 0, 64) + " %"
	}
}

// change says how a value became another one: "up 2.5 %". It is "" where a percentage says nothing, and where both are
// about the same.
func change(from, to float64) string {
	if from <= 0 || to < 0 {
		return ""
	}
	percent := math.Round(1000*math.Abs(to-from)/from) / 10
	amount := strconv.FormatFloat(percent, 'f', -1, 64) + " %"
	switch {
	case percent == 0:
		return ""
	case percent >= 1000:
		return strconv.FormatFloat(math.Round(to/from), 'f', 0, 64) + " times as high"
	case to > from:
		return "up " + amount
	}
	return "down " + amount
}
