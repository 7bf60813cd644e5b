package sqlite

import (
	"errors"
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
