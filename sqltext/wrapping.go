package sqltext

import (
	"strings"
	"unicode"
)

// This file takes off what models and their chat templates put around an answer.

// trimReply removes outer blanks, invisible characters, a byte order mark among them, and end-of-text marks that
// servers with a wrong template leave.
func trimReply(s string) string {
	for {
		trimmed := strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || isInvisible(r) })
		for _, mark := range []string{"</s>", "<s>", "<|im_end|>", "<|eot_id|>", "<|end_of_text|>", "<|endoftext|>", "<|end|>", "<end_of_turn>", "<eos>"} {
			trimmed = strings.TrimSuffix(trimmed, mark)
		}
		if trimmed == s {
			return s
		}
		s = trimmed
	}
}

// afterReasoning returns what follows the last end of reasoning in s. cut says that reasoning starts behind that and
// has no end.
func afterReasoning(s string) (rest string, cut bool) {
	for _, tag := range []string{"think", "thinking", "reasoning"} {
		if i := lastFold(s, "</"+tag+">"); i >= 0 {
			s = s[i+len(tag)+3:]
		}
	}
	for _, tag := range []string{"<think>", "<thinking>", "<reasoning>"} {
		// Only where a line starts: a string may hold the tag.
		if i := lastFold(s, tag); i >= 0 && startsLine(s, i) {
			return s, true
		}
	}
	return s, false
}

// answerTag returns the content of the last <answer> or <sql> element. The closing tag may be missing.
func answerTag(s string) (string, bool) {
	for _, tag := range []string{"answer", "sql"} {
		i := lastFold(s, "<"+tag+">")
		if i < 0 {
			continue
		}
		inner := s[i+len(tag)+2:]
		if end := lastFold(inner, "</"+tag+">"); end >= 0 {
			inner = inner[:end]
		}
		if strings.TrimSpace(inner) != "" {
			return inner, true
		}
	}
	return "", false
}

// lastFold is strings.LastIndex for an ASCII text in lower case, case aside.
func lastFold(s, lower string) int {
	for i := len(s) - len(lower); i >= 0; i-- {
		if s[i] == lower[0] && strings.EqualFold(s[i:i+len(lower)], lower) {
			return i
		}
	}
	return -1
}

// isRefusal reports whether a reply without a query declines, in English. A reply it does not know is no fault: it
// counts as one without SQL.
func isRefusal(text string) bool {
	text = strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	for _, phrase := range []string{
		"i'm sorry", "i am sorry", "sorry, ", "apologize", "apologise", "i cannot", "i can't", "i can not", "i'm unable", "i am unable", "unable to",
		"cannot be", "can't be", "can not be", "cannot answer", "not possible", "impossible", "i'm not able", "i am not able", "as an ai", "as a language model",
		"do not have", "don't have", "does not have", "doesn't have", "does not contain", "doesn't contain", "no query", "no sql", "not enough information",
		"insufficient", "there is no", "there are no", "no table", "no column", "no such", "not in the schema", "not available", "not exist",
	} {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}
