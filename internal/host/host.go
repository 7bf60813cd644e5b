// Package host has what an engine gives to a strategy for one question.
package host

import (
	"context"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
)

// Hooks are functions and records of an engine for one question. A field that is nil does nothing.
type Hooks struct {
	// CallsLeft says how many model calls the question's budget has left; false: no limit. nil: no limit.
	CallsLeft func() (calls int, bounded bool)
	// Learners know of strategy.Env.Models, by index, whether they have replied before; until then the first call of one
	// goes alone. nil: all have.
	Learners []*llm.TokenLimitTuner
	// Stage hears how far the question is: dialogue.QueryUnderstanding, InferringJoins, GeneratingSQL and ExecutingQuery,
	// as session.State.May allows. A strategy need not tell. nil: nobody listens.
	Stage func(ctx context.Context, s session.State)
	// Omissions collects what the prompts of the question leave out of the schema. The engine makes one a question and
	// tells it. nil: it is not collected.
	Omissions *PromptCuts
}
