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
		{"attempt to write a readonly database", "-journal", nil}, // immutable=1 would show half of what was written
		{"no such table: t", "no such table: t", nil},
	} {
		err := Dialect{}.Classify(errors.New(tt.message))
		if err == nil || exec.IsRejection(err) || !strings.Contains(err.Error(), tt.want) || tt.is != nil &&
			!errors.Is(err, tt.is) {
			t.Errorf("%s: %v", tt.message, err)
		}
	}
}

// TestDriverWords: the drivers put different words around the same message.
func TestDriverWords(t *testing.T) {
	for _, tt := range []struct{ message, want, why string }{
		{"no such table: t", "no such table: t", "mattn/go-sqlite3"},
		{"no such table: t (1)", "no such table: t (1)", "a name may look like a code"},
		{"sqlite3: SQL logic error: no such table: t", "no such table: t", "ncruces/go-sqlite3"},
		{"sqlite3: database is locked", "database is locked", "the same, where the code says all"},
		{"sqlite3: authorization denied: not authorized", "not authorized", "the same, of the authorizer"},
		{"SQL logic error: no such table: t (1)", "no such table: t", "modernc.org/sqlite"},
		{"database is locked (5) (SQLITE_BUSY)", "database is locked (5) (SQLITE_BUSY)",
			"the same: the beginning tells enough"},
	} {
		if got := ownWords(errors.New(tt.message)); got != tt.want {
			t.Errorf("%q: %q, want %q: %s", tt.message, got, tt.want, tt.why)
		}
	}
}

// TestOutOfMemory: what one driver panics with is an error, and no other panic is.
func TestOutOfMemory(t *testing.T) {
	for _, tt := range []struct {
		value any
		err   bool
		why   string
	}{
		{errors.New("sqlite3: out of memory"), true, "ncruces/go-sqlite3, for a program that is too long"},
		{errors.New("index out of range"), false, "a fault of a driver"},
		{"out of memory", false, "no error"},
	} {
		var err error
		passed := func() (passed any) {
			defer func() { passed = recover() }()
			err = orOutOfMemory(func() error { panic(tt.value) })
			return nil
		}()
		if (err != nil) != tt.err || (passed == nil) != tt.err {
			t.Errorf("%v: error %v, panic %v: %s", tt.value, err, passed, tt.why)
		}
	}
}
