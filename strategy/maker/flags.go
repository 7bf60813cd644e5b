package maker

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/llm"
)

// flagError says why a reply may not vote: a red flag of the MAKER paper (arXiv 2511.09030). Such a reply is discarded,
// not repaired.
type flagError struct {
	Reason string // a word of flag.Reason
	Detail string // one line for a person
}

// Error returns "maker: flagged: REASON: DETAIL".
func (e *flagError) Error() string {
	return "maker: flagged: " + e.Reason + ": " + e.Detail
}

// The words of flag.Reason.
const (
	flagFormat    = "format"
	flagUnknown   = "unknown-name"
	flagTooLong   = "too-long"
	flagTruncated = "truncated"
	flagRefusal   = "refusal"
	flagNotUTF8   = "not-utf8"
)

func flagged(reason, format string, args ...any) error {
	return &flagError{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// flagReply looks at a reply as a whole: maxTokens is the longest that an answer of its kind may be.
func flagReply(reply llm.Response, maxTokens int) error {
	tokens := reply.Usage.CompletionTokens
	if !reply.Usage.Known || tokens == 0 {
		tokens = prompttext.EstimateTokens(reply.Text)
	}
	switch {
	case reply.StopReason == llm.StopLength:
		return flagged(flagTruncated, "the reply was cut at its token limit")
	case reply.StopReason == llm.StopFilter:
		return flagged(flagRefusal, "the provider held the reply back")
	case !utf8.ValidString(reply.Text):
		return flagged(flagNotUTF8, "the reply is not valid UTF-8")
	case tokens > maxTokens:
		return flagged(flagTooLong, "%d tokens, more than %d", tokens, maxTokens)
	}
	return nil
}

// malformed is the flag of a reply that does not read as what was asked for: a refusal in words is told apart.
func malformed(reply string, err error) error {
	var e *replies.Error
	if _, xerr := (replies.Extractor{}).Extract(reply); errors.As(xerr, &e) && e.Reason == replies.ReasonRefusal {
		return flagged(flagRefusal, "%s", e.Detail)
	}
	return err
}

var fence = regexp.MustCompile("(?s)```(?:\\w*[ \\t]*\n)?(.*?)(?:```|$)")

// unfenced is what stands in the first code fence of a text; without one the whole.
func unfenced(text string) string {
	if m := fence.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	return strings.TrimSpace(text)
}
