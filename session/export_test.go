package session

import (
	"github.com/texttosql/texttosql/internal/dialogue"

	"github.com/texttosql/texttosql/schema"
)

// For the tests.
const Version = version

type (
	Transition      = transition
	TransitionError = transitionError
)

// Whole returns the next revision of r as a whole.
func Whole(r Record) ([]byte, error) { return r.encode() }

// States returns all states in the order of a run.
func States() []State {
	return []State{
		dialogue.Initializing, dialogue.SchemaLoading, dialogue.QueryUnderstanding, dialogue.InferringJoins,
		dialogue.GeneratingSQL,
		dialogue.ExecutingQuery, AwaitingCorrection, Completed, Failed, Interrupted,
	}
}

// Parse is [Correction.Parse] as a function.
func Parse(text string, s *schema.Schema) (c Correction, err error) {
	err = c.Parse(text, s)
	return c, err
}
