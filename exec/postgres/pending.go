package postgres

import (
	"context"

	"github.com/texttosql/texttosql/exec"
)

// Until the tree is here, everything is refused.
type (
	catalog struct {
		unknown     []string
		rowSecurity bool
	}
	named struct{}
)

func readCatalog(context.Context, exec.Queryer, []string, exec.Policy) (*catalog, error) {
	return &catalog{}, nil
}

var errPending = &exec.RefusedError{Reason: exec.ReasonGuard, Detail: "the guard of PostgreSQL is not finished"}

func (*catalog) check(string, bool) (*named, error) { return nil, errPending }

func (*catalog) permit(*named, []lock) (exec.Analysis, error) { return exec.Analysis{}, errPending }
