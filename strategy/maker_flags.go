package strategy

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Reasons of a FlagError.
const (
	FlagFormat    = "format"        // not what was asked for
	FlagUnknown   = "unknown-name"  // a table or column that does not exist
	FlagOutside   = "outside-scope" // a table or column outside of the agreed tables
	FlagTooLong   = "too-long"      // more tokens than an answer of its kind needs
	FlagTruncated = "truncated"     // cut at the token limit
	FlagRefusal   = "refusal"       // the model declined, or its provider held the reply back
	FlagNotUTF8   = "not-utf8"      // bytes that are no text
	FlagFailed    = "failed"        // the call failed
)

// FlagError says why a reply may not vote: a red flag of the MAKER paper (arXiv
// 2511.09030). Such a reply is discarded, not repaired.
type FlagError struct {
	Reason string // a Flag… word
	Detail string // one line for a person
}

// Error returns "strategy: flagged: REASON: DETAIL".
func (e *FlagError) Error() string {
	if e.Detail == "" {
		return "strategy: flagged: " + e.Reason
	}
	return "strategy: flagged: " + e.Reason + ": " + e.Detail
}

func flagged(reason, format string, args ...any) error {
	return &FlagError{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// flagReply looks at a reply as a whole: maxTokens is the longest that an answer
// of its kind may be.
func flagReply(reply llm.Response, maxTokens int) error {
	tokens := reply.Usage.CompletionTokens
	if !reply.Usage.Known || tokens == 0 {
		tokens = schema.EstimateTokens(reply.Text)
	}
	switch {
	case reply.StopReason == llm.StopLength:
		return flagged(FlagTruncated, "the reply was cut at its token limit")
	case reply.StopReason == llm.StopFilter:
		return flagged(FlagRefusal, "the provider held the reply back")
	case !utf8.ValidString(reply.Text):
		return flagged(FlagNotUTF8, "the reply is not valid UTF-8")
	case tokens > maxTokens:
		return flagged(FlagTooLong, "%d tokens, more than %d", tokens, maxTokens)
	}
	return nil
}

// answerText is a reply without its reasoning.
func answerText(reply string) string {
	if i := strings.LastIndex(reply, "</think>"); i >= 0 {
		reply = reply[i+len("</think>"):]
	}
	return strings.TrimSpace(strings.ReplaceAll(reply, "\r\n", "\n"))
}

// malformed is the flag of a reply that does not read as what was asked for: a
// refusal in words is told apart.
func malformed(reply string, err error) error {
	var e *sqltext.ReplyError
	if _, xerr := (sqltext.Extractor{}).Extract(reply); errors.As(xerr, &e) && e.Reason == sqltext.ReasonRefusal {
		return flagged(FlagRefusal, "%s", e.Detail)
	}
	return err
}
