package session

import (
	"fmt"
	"slices"
)

// State says how far a session is.
type State string

// The states. A session that waits for a choice is in AwaitingCorrection.
const (
	Initializing       State = "initializing"
	SchemaLoading      State = "schema_loading"
	QueryUnderstanding State = "query_understanding" // tables are chosen
	InferringJoins     State = "inferring_joins"
	GeneratingSQL      State = "generating_sql"
	ExecutingQuery     State = "executing_query"
	AwaitingCorrection State = "awaiting_correction" // a Question is pending
	Completed          State = "completed"
	Failed             State = "failed"
	Interrupted        State = "interrupted" // resumable; Record.ResumeState says where
)

// States returns all states in the order of a run.
func States() []State {
	return []State{
		Initializing, SchemaLoading, QueryUnderstanding, InferringJoins, GeneratingSQL,
		ExecutingQuery, AwaitingCorrection, Completed, Failed, Interrupted,
	}
}

// edges lists the states that may follow each state. An interrupted session goes back to the state that it left, which
// Record.Move checks.
var edges = map[State][]State{
	Initializing:       {SchemaLoading, Failed, Interrupted},
	SchemaLoading:      {QueryUnderstanding, Failed, Interrupted},
	QueryUnderstanding: {InferringJoins, GeneratingSQL, AwaitingCorrection, Failed, Interrupted},
	InferringJoins:     {GeneratingSQL, AwaitingCorrection, Failed, Interrupted},
	GeneratingSQL:      {ExecutingQuery, GeneratingSQL, AwaitingCorrection, Failed, Interrupted},
	ExecutingQuery:     {Completed, GeneratingSQL, AwaitingCorrection, Failed, Interrupted},
	AwaitingCorrection: {QueryUnderstanding, InferringJoins, Failed, Interrupted},
	Completed:          {QueryUnderstanding, InferringJoins},
	Failed:             {QueryUnderstanding, InferringJoins},
	Interrupted: {
		Initializing, SchemaLoading, QueryUnderstanding, InferringJoins, GeneratingSQL, ExecutingQuery, AwaitingCorrection,
	},
}

// May reports whether a session in state s may enter to. An unknown state has no way in and none out.
func (s State) May(to State) bool { return slices.Contains(edges[s], to) }

// Active reports whether a session in state s runs, or its process died: it neither ended nor waits for its user.
func (s State) Active() bool {
	return !slices.Contains([]State{AwaitingCorrection, Completed, Failed, Interrupted}, s)
}

// TransitionError says that a session may not go from one state to another.
type TransitionError struct {
	From, To State
	Resume   State // the only state that an interrupted session may enter
}

// Error names the states.
func (e *TransitionError) Error() string {
	text := fmt.Sprintf("session: %s may not follow %s", e.To, e.From)
	if e.Resume != "" {
		text += fmt.Sprintf("; resume the session in %s", e.Resume)
	}
	return text
}
