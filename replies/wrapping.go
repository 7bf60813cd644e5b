package replies

import (
	"slices"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/internal/words"
)

// This file takes off what models and their chat templates put around an answer.

// trimReply removes outer blanks, invisible characters, a byte order mark among them, and end-of-text marks that
// servers with a wrong template leave.
func trimReply(s string) string {
	for {
		trimmed := strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || words.IsInvisible(r) })
		for _, mark := range []string{"</s>", "<s>", "<|im_end|>", "<|eot_id|>", "<|end_of_text|>", "<|endoftext|>", "<|end|>", "<end_of_turn>", "<eos>",
			"<|call|>", "<|return|>", "<|eom_id|>"} {
			trimmed = strings.TrimSuffix(trimmed, mark)
		}
		if trimmed == s {
			return s
		}
		s = trimmed
	}
}

// answerTag returns the content of the last <answer> or <sql> element. The closing tag may be missing.
func answerTag(s string) (string, bool) {
	for _, tag := range []string{"answer", "sql"} {
		i := words.LastFold(s, "<"+tag+">")
		if i < 0 {
			continue
		}
		inner := s[i+len(tag)+2:]
		if end := words.LastFold(inner, "</"+tag+">"); end >= 0 {
			inner = inner[:end]
		}
		if strings.TrimSpace(inner) != "" {
			return inner, true
		}
	}
	return "", false
}

// isRefusal reports whether a reply without a statement declines, in English. A reply it does not know is no fault: it
// counts as one without SQL, and so does one that answers in prose ("There are no such orders").
func isRefusal(text string) bool {
	if strings.Contains(text, "SELECT ") {
		return false // an answer that could not be read
	}
	text = strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	has := func(phrases ...string) bool {
		return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, p) })
	}
	if has("sorry, but", "i apologize, but", "i apologise, but", "i cannot", "i can't", "i can not", "i'm unable", "i am unable", "unable to",
		"i'm not able", "i am not able", "cannot answer", "cannot be answered", "can't be answered", "not possible to", "impossible to",
		"as an ai", "as a language model", "not enough information", "insufficient information", "not in the schema") {
		return true
	}
	return has("schema", "database", "table", "column", "field", "information", "question", " query", " sql", "access") &&
		has("cannot be", "can't be", "can not be", "not possible", "impossible", "there is no", "there are no", "no such", "has no", "have no",
			"no query", "no sql", "do not have", "don't have", "does not have", "doesn't have", "does not contain", "doesn't contain",
			"insufficient", "not available", "not exist")
}
