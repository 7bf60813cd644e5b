package trino

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// guard is the exec.Guard of one DB.
type guard struct {
	dialect Dialect
	config  exec.GuardConfig
}

// Guard makes the guard of a DB. See the package comment for what it does.
func (d Dialect) Guard(c exec.GuardConfig) (exec.Guard, error) {
	if c.CellBytes < 0 {
		return nil, errors.New("trino: GuardConfig.CellBytes is negative")
	}
	return &guard{dialect: d, config: c}, nil
}

// held is a connection under guard.
type held struct {
	guard   *guard
	conn    *sql.Conn
	timeout time.Duration // of a statement
	reads   bool          // it reads the catalog, so no statement from outside comes
}

// Hold implements exec.Guard.
func (g *guard) Hold(ctx context.Context, conn *sql.Conn, timeout time.Duration) (exec.Held, error) {
	return nil, &exec.UnguardedError{Reason: "the guard is not written yet", Remedy: "wait"}
}

// Catalog implements exec.Guard.
func (g *guard) Catalog(ctx context.Context, conn *sql.Conn, timeout time.Duration) (exec.Held, error) {
	return &held{guard: g, conn: conn, timeout: timeout, reads: true}, nil
}

// QueryContext implements exec.Held.
func (h *held) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return h.conn.QueryContext(ctx, text, args...)
}

// Query implements exec.Held.
func (h *held) Query(ctx context.Context, s *sqltext.Statement, b exec.Bounds) (*sql.Rows, error) {
	return nil, errors.ErrUnsupported
}

// Analyze implements exec.Held.
func (h *held) Analyze(ctx context.Context, s *sqltext.Statement) (exec.Analysis, error) {
	return exec.Analysis{}, errors.ErrUnsupported
}

// Classify implements exec.Held.
func (h *held) Classify(err error) error { return classify(err) }

// Converter implements exec.Converter.
func (h *held) Converter(column *sql.ColumnType) func(any) (any, error) { return converter(column) }

// Release implements exec.Held.
func (h *held) Release(drop bool) error { return nil }
