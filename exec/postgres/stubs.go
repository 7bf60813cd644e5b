package postgres

import (
	"context"
	"errors"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

var errUnfinished = errors.New("postgres: not written yet")

func (Dialect) SampleRows(context.Context, func(ctx context.Context, sql string, rows int) (*result.Table, error), schema.Table, exec.SampleOptions) (exec.RowSample, error) {
	return exec.RowSample{}, errUnfinished
}
