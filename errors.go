package texttosql

import (
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// The errors that callers test for, with errors.Is. Each package owns the types behind them, for errors.As:
// *strategy.NoCandidateError, *strategy.AbstainedError, *llm.BudgetError, *exec.RefusedError, …
var (
	// ErrNoCandidate says that no statement passed the checks.
	ErrNoCandidate = strategy.ErrNoCandidate
	// ErrAbstained says that the best answer is below the confidence asked for.
	ErrAbstained = strategy.ErrAbstained
	// ErrNotReadOnly says that a statement writes, or would change state.
	ErrNotReadOnly = exec.ErrNotReadOnly
	// ErrNoScope says that the policy has rules about rows, and that the question has no scope, or one without its Key or a
	// parameter of the rules.
	ErrNoScope = exec.ErrNoScope
	// ErrUnguarded says that the database cannot be guarded as it was opened.
	ErrUnguarded = exec.ErrUnguarded
	// ErrBusy says that somebody else holds a lock, or all connections of the pool. The same question may be answered
	// later.
	ErrBusy = exec.ErrBusy
	// ErrBudget says that a budget is spent: of model calls (WithBudget), or of the time, memory, columns or length of
	// a value that a statement may take (WithLimits). Too many rows are no error: result.Table.Truncated tells them.
	ErrBudget = errors.New("texttosql: budget spent")
	// ErrNoTables says that nothing of the database may be read: it is empty, as SQLite makes a file that was not
	// there when it was first opened, or the policy leaves no table.
	ErrNoTables = errors.New("texttosql: the database has no table that may be read; look at its path and at the policy")
	// ErrNoModel says that a question was asked of an engine that was made with NoModel, and that no person verified its answer.
	ErrNoModel = errors.New("texttosql: the question needs a model, and the engine has none (NoModel): " +
		"it runs statements, and answers what people verified")
	// ErrEmptyQuestion says that the question has no word.
	ErrEmptyQuestion = strategy.ErrEmptyQuestion
)

// Limits of what a person may send, in bytes.
const (
	maxQuestion = 8 << 10
	maxEvidence = 16 << 10
)

// InputError is a question or its evidence that is too long. It is never cut in silence.
type InputError struct {
	Field string // "question" or "evidence"
	Bytes int    // how long it is
	Limit int    // how long it may be
}

// Error names the field, its length and the limit.
func (e *InputError) Error() string {
	return fmt.Sprintf("texttosql: the %s has %d bytes; the limit is %d", e.Field, e.Bytes, e.Limit)
}

// budgetError makes the errors of all budgets match ErrBudget.
type budgetError struct{ error }

func (e budgetError) Unwrap() error        { return e.error }
func (e budgetError) Is(target error) bool { return target == ErrBudget }

func classify(err error) error {
	var limit *exec.LimitError
	if errors.Is(err, llm.ErrBudget) || errors.As(err, &limit) {
		return budgetError{err}
	}
	return err
}
