package words

import "strings"

// AfterReasoning returns what follows the last end of reasoning in s. cut says that reasoning starts behind that and
// has no end.
func AfterReasoning(s string) (rest string, cut bool) {
	for _, tag := range []string{"think", "thinking", "reasoning"} {
		if i := LastFold(s, "</"+tag+">"); i >= 0 {
			s = s[i+len(tag)+3:]
		}
	}
	if i := LastFold(s, "<|channel|>"); i >= 0 { // gpt-oss: <|channel|>final<|message|>…
		channel, message, _ := strings.Cut(s[i:], "<|message|>")
		if s = message; LastFold(channel, "<|channel|>analysis") >= 0 {
			return s, true
		}
	}
	for _, tag := range []string{"<think>", "<thinking>", "<reasoning>"} {
		// Only where a line starts: a string may hold the tag.
		if i := LastFold(s, tag); i >= 0 && StartsLine(s, i) {
			return s, true
		}
	}
	return s, false
}

// LastFold is strings.LastIndex for an ASCII text in lower case, case aside.
func LastFold(s, lower string) int {
	for i := len(s) - len(lower); i >= 0; i-- {
		if s[i] == lower[0] && strings.EqualFold(s[i:i+len(lower)], lower) {
			return i
		}
	}
	return -1
}

// StartsLine reports whether only blanks stand before s[i] on its line.
func StartsLine(s string, i int) bool {
	line := s[strings.LastIndexByte(s[:i], '\n')+1 : i]
	return strings.TrimLeft(line, " \t>") == ""
}
