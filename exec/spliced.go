package exec

import (
	"errors"

	"github.com/texttosql/texttosql/exec/guard"
)

// Unspliced returns the error for [Conn.Confirm] if an engine does not compile a statement. If s has rules about rows
// in it, it compiled as it was written, so the error blames the rules.
func (s *Statement) Unspliced(err error, d Dialect) error {
	var invalid *InvalidError
	if err == nil || s.Splice == nil || !errors.As(d.Classify(err), &invalid) {
		return err
	}
	return guard.Refuse("rows", "the engine does not take it with the rules about rows in it: %s", invalid.Message)
}
