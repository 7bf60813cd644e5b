package exec

import (
	"errors"

	"github.com/texttosql/texttosql/exec/guard"
)

// Unspliced gives the error of an engine that does not compile a statement its type for [Conn.Confirm]: where s has rules
// about rows in it, it compiled as it was written, so the rules are to blame.
func (s *Statement) Unspliced(err error, d Dialect) error {
	var invalid *InvalidError
	if err == nil || s.Splice == nil || !errors.As(d.Classify(err), &invalid) {
		return err
	}
	return guard.Refuse(ReasonRows, "the engine does not take it with the rules about rows in it: %s", invalid.Message)
}
