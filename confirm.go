package texttosql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/strategy"
)

// WithConfirmed keeps confirmed answers in c, a file for example
// (strategy.OpenConfirmed), instead of in the memory of the Engine. Closing c is
// the caller's.
func WithConfirmed(c *strategy.Confirmed) Option {
	return func(cfg *config) {
		if c == nil {
			cfg.fail("WithConfirmed: the store is nil")
		}
		cfg.confirmed = c
	}
}

// Confirm keeps a question with SQL that a person found to be the right answer,
// as an exemplar for later questions to strategies that show some: PETSQL does,
// others where their Shots says how many. See WithExemplars. Confirmed ones come before the configured.
//
// The SQL passes the checks of Check first: what the guard refuses or the engine
// rejects is not kept, and the error is theirs. A question that is confirmed
// again replaces its answer.
//
// The stored text goes into prompts of later questions. Who may call Confirm
// decides what models are shown.
func (e *Engine) Confirm(ctx context.Context, question, sql string) error {
	q := Question{Text: question}
	if err := q.validate(); err != nil {
		return err
	}
	verdict, err := e.Check(ctx, sql)
	if err != nil {
		return fmt.Errorf("texttosql: confirming an answer: %w", err)
	}
	return e.confirmed.Add(strategy.Pair{Question: strings.TrimSpace(question), SQL: verdict.SQL})
}

// pool is the solved questions that strategies may show: the same slice as long
// as nothing was confirmed, so that it is indexed once.
func (e *Engine) pool() ([]strategy.Pair, error) {
	confirmed, err := e.confirmed.Pairs()
	if err != nil || len(confirmed) == 0 {
		return slices.Clip(e.exemplars), err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.pooled.confirmed) != len(confirmed) || &e.pooled.confirmed[0] != &confirmed[0] {
		e.pooled.confirmed = confirmed
		e.pooled.pairs = slices.Concat(confirmed, e.exemplars)
	}
	return slices.Clip(e.pooled.pairs), nil
}

// pooled is the pool made of one state of the confirmed answers.
type pooled struct {
	confirmed, pairs []strategy.Pair
}
