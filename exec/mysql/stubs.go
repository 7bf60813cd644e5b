package mysql

import (
	"errors"

	"github.com/texttosql/texttosql/exec"
)

var errUnfinished = errors.New("mysql: not written yet")

func (Dialect) Guard(exec.GuardConfig) (exec.Guard, error) { return nil, errUnfinished }
