package trino

import (
	"context"
	"database/sql"
	"errors"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// What is not written yet.

func classify(err error) error                         { return err }
func converter(*sql.ColumnType) func(any) (any, error) { return nil }

func (Dialect) DefaultSchema(context.Context, exec.Queryer) (string, error) {
	return "", errors.ErrUnsupported
}
func (Dialect) Version(context.Context, exec.Queryer) (string, error) {
	return "", errors.ErrUnsupported
}
func (Dialect) Inspect(context.Context, exec.Queryer) (*schema.Schema, error) {
	return nil, errors.ErrUnsupported
}
func (Dialect) SampleRows(context.Context, func(ctx context.Context, sql string, rows int) (*result.Table, error), schema.Table, exec.SampleOptions) (exec.RowSample, error) {
	return exec.RowSample{}, errors.ErrUnsupported
}
func (Dialect) Explain(context.Context, exec.Queryer, *sqltext.Statement) (exec.Plan, error) {
	return exec.Plan{}, errors.ErrUnsupported
}
