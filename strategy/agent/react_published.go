package agent

import (
	"errors"
	"strings"

	"github.com/texttosql/texttosql/exec"
)

// publishedError writes what failed as the source does: the class of the error where it knows one, else its text.
func (r *run) publishedError(seen Observation) string {
	var invalid *exec.InvalidError
	if !errors.As(r.examiner.Invalid(seen.SQL), &invalid) {
		return seen.Text
	}
	message := strings.ToLower(invalid.Message)
	for _, class := range []struct{ word, of string }{
		{"ambiguous", "ambiguous_column"},
		{"no such column", "unknown_column:" + invalid.Name},
		{"no such table", "unknown_table:" + invalid.Name},
		{"misuse of aggregate", "invalid_group_function"},
		{"sub-select returns", "bad_subquery_shape"},
		{"syntax error", "syntax_error"},
		// The words of PostgreSQL.
		{"column " + strings.ToLower(invalid.Name) + " does not exist", "unknown_column:" + invalid.Name},
		{"relation " + strings.ToLower(invalid.Name) + " does not exist", "unknown_table:" + invalid.Name},
		{"missing from-clause entry", "unknown_table:" + invalid.Name},
		{"must appear in the group by clause", "invalid_group_function"},
		{"aggregate functions are not allowed", "invalid_group_function"},
		{"returned by a subquery", "bad_subquery_shape"},
	} {
		if strings.Contains(message, class.word) {
			return "Error: " + class.of
		}
	}
	return seen.Text
}
