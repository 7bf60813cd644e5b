// Package dialogue has the words of a session's record that only our own code compares: states in which a question
// runs, kinds of turns, of questions to the user and of corrections. Package session documents them at the fields that
// hold them.
package dialogue

// The states of a session whose question runs.
const (
	Initializing       = "initializing"
	SchemaLoading      = "schema_loading"
	QueryUnderstanding = "query_understanding" // tables are chosen
	InferringJoins     = "inferring_joins"
	GeneratingSQL      = "generating_sql"
	ExecutingQuery     = "executing_query"
)

// The kinds of turns.
const (
	TurnQuestion     = "question"
	TurnFollowUp     = "follow_up"
	TurnChoice       = "choice"
	TurnCorrection   = "correction"
	TurnPartial      = "held"
	TurnConfirmation = "confirmation"
	TurnStatement    = "statement"
)

// The kinds of questions to the user.
const (
	KindTable   = "table"
	KindJoin    = "join"
	KindResult  = "result"
	KindMeaning = "meaning"
)

// The kinds of corrections.
const (
	CorrectTable  = "table"
	CorrectJoin   = "join"
	CorrectColumn = "column"
	CorrectFilter = "filter"
	CorrectLogic  = "logic"
	CorrectText   = "natural_language"
)

// MaxCorrections is the number of corrections of a question, where a conversation does not set another one.
const MaxCorrections = 3
