package replies

import (
	"github.com/texttosql/texttosql/sqltext"
)

// maxBytes is the longest answer that Extract reads, in bytes, and maxReply the longest reply, reasoning included. A
// longer one is a model that does not stop.
const (
	maxBytes = 32 << 10
	maxReply = 1 << 20
)

// The reasons that only an Error has. "too-long", "not-utf8", "empty", "several-statements" and
// "not-read-only" are reasons of a reply too.
const (
	// cut off in its reasoning or in its statement; also for a reply that the provider cut
	ReasonTruncated  = "truncated"
	ReasonRefusal    = "refusal"     // no statement, but words of refusing
	ReasonNoSQL      = "no-sql"      // no statement, and no words of refusing that we know
	ReasonBrokenJSON = "broken-json" // starts like a JSON object and is none
	reasonRefused    = "refused"     // its statement fails the text check in another way
)

// Error says why Extract found no candidate in a reply. The first two abstentions, ReasonRefusal and ReasonNoSQL,
// are answers of the model; the others are faults.
type Error struct {
	Reason string // why there is no candidate
	Detail string // one line for a person; quotes nothing of the reply
	SQL    string // the refused text for "refused" and "not-read-only"; else ""
	Err    error  // a *sqltext.RefusedError for "refused" and "not-read-only"; else nil
}

// Error returns "replies: no candidate in the reply: REASON: DETAIL".
func (e *Error) Error() string {
	s := "replies: no candidate in the reply: " + e.Reason
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Extraction is the candidate that Extract found in a reply.
type Extraction struct {
	*sqltext.Statement // as Dialect.Check returns it; nil with an error

	// Step tells where it stood: "bare" (the reply is the statement), "fence", "json", "quotes" or "prose". Several of
	// them around each other give the innermost one, and a statement behind prose within them is of their step.
	Step string
	// Notes are stable words on what was passed over, each once, in the order in which it was met:
	//   - "reasoning": before the statement.
	//   - "answer-tag": an element of a markup around it.
	//   - "other-blocks": fenced blocks with other queries.
	//   - "unclosed-fence": its block has no end.
	//   - "invisible": characters that nobody sees, see Extractor.
	//   - "unwrapped": marks of quotations, shells, HTML or keyboards.
	//   - "text-behind": after the statement.
	//   - "not-valid": Valid accepted nothing. This is the likeliest statement, for the engine to tell what is wrong with
	//     it.
	Notes []string
}
