package session

import (
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/internal/dialogue"
)

// State is the progress of a session. The states in which a question runs are "initializing", "schema_loading",
// "query_understanding" (tables are chosen), "inferring_joins", "generating_sql" and "executing_query"; see
// [State.Active].
type State string

// The states in which a session ended or waits for its user. A session that waits for a choice is in
// AwaitingCorrection.
const (
	AwaitingCorrection State = "awaiting_correction" // a question is pending
	Completed          State = "completed"
	Failed             State = "failed"
	Interrupted        State = "interrupted" // resumable; Record.ResumeState has the state to resume in
)

// edges lists the states that may follow each state. An interrupted session goes back to the state that it left, which
// Record.Move checks.
var edges = map[State][]State{
	dialogue.Initializing:  {dialogue.SchemaLoading, Failed, Interrupted},
	dialogue.SchemaLoading: {dialogue.QueryUnderstanding, Failed, Interrupted},
	dialogue.QueryUnderstanding: {dialogue.InferringJoins, dialogue.GeneratingSQL, AwaitingCorrection, Failed,
		Interrupted},
	dialogue.InferringJoins: {dialogue.GeneratingSQL, AwaitingCorrection, Failed, Interrupted},
	dialogue.GeneratingSQL: {dialogue.ExecutingQuery, dialogue.GeneratingSQL, AwaitingCorrection, Failed,
		Interrupted},
	dialogue.ExecutingQuery: {Completed, dialogue.GeneratingSQL, AwaitingCorrection, Failed, Interrupted},
	AwaitingCorrection:      {dialogue.QueryUnderstanding, dialogue.InferringJoins, Failed, Interrupted},
	Completed:               {dialogue.QueryUnderstanding, dialogue.InferringJoins},
	Failed:                  {dialogue.QueryUnderstanding, dialogue.InferringJoins},
	Interrupted: {
		dialogue.Initializing, dialogue.SchemaLoading, dialogue.QueryUnderstanding, dialogue.InferringJoins,
		dialogue.GeneratingSQL, dialogue.ExecutingQuery, AwaitingCorrection,
	},
}

// May reports whether a session in state s may enter to. An unknown state has no way in and none out.
func (s State) May(to State) bool { return slices.Contains(edges[s], to) }

// Active reports whether a session in state s runs, or its process died: it neither ended nor waits for its user.
func (s State) Active() bool {
	return !slices.Contains([]State{AwaitingCorrection, Completed, Failed, Interrupted}, s)
}

// transitionError says that a session may not go from one state to another.
type transitionError struct {
	From, To State
	Resume   State // the only state that an interrupted session may enter
}

// Error names the states.
func (e *transitionError) Error() string {
	text := fmt.Sprintf("session: %s may not follow %s", e.To, e.From)
	if e.Resume != "" {
		text += fmt.Sprintf("; resume the session in %s", e.Resume)
	}
	return text
}
