package sqlite

import (
	"errors"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
)

func TestRunMessagesHoldNoValues(t *testing.T) {
	tests := []struct{ message, want, why string }{
		{"integer overflow", "integer overflow", "nothing to leave out"},
		{"bad JSON path: 's3cret-1'", "bad JSON path: '…'", "a stored value"},
		{"bad JSON path: 'it's s3cret'", "bad JSON path: '…'", "a quote in the value opens nothing new"},
		{"malformed: 's3cret", "malformed: '…", "an open quote"},
		{"malformed MATCH expression: [s3cret]", "malformed MATCH expression: […]", "a value that was taken for a search"},
		{"no such column: s3cret", "no such column: …", "a value that FTS5 took for a search"},
	}
	for _, tt := range tests {
		var invalid *exec.InvalidError
		if err := classify(errors.New(tt.message), false, nil); !errors.As(err, &invalid) || invalid.Message != tt.want {
			t.Errorf("%s: got %v, want %q: %s", tt.message, err, tt.want, tt.why)
		}
	}
}

// TestOpeningErrors are those of a connection that cannot be opened: no statement
// is to blame, and what can be done is said.
func TestOpeningErrors(t *testing.T) {
	for _, tt := range []struct {
		message, want string
		is            error
	}{
		{"database is locked", "database is locked", exec.ErrBusy},
		{"attempt to write a readonly database", "immutable=1", nil},
		{"no such table: t", "no such table: t", nil},
	} {
		err := Dialect{}.Classify(errors.New(tt.message))
		if err == nil || exec.IsRejection(err) || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v", tt.message, err)
		}
	}
}
