package words

import (
	"regexp"
	"strings"
)

// reasoningMarks are what models put around their reasoning, in lower case.
var reasoningMarks = func() (pairs [][2]string) {
	for _, tag := range []string{"think", "thinking", "reasoning", "thought", "thoughts", "analysis", "scratchpad",
		"reflection", "seed:think", "longcat_think"} {
		pairs = append(pairs, [2]string{"<" + tag + ">", "</" + tag + ">"})
	}
	return append(pairs, [][2]string{
		{"[think]", "[/think]"}, {"[thinking]", "[/thinking]"}, {"[reasoning]", "[/reasoning]"}, {"[thought]", "[/thought]"},
		{"◁think▷", "◁/think▷"},
		{"<|channel>thought", "<channel|>"},            // Gemma
		{"<|start_thinking|>", "<|end_thinking|>"},     // Cohere
		{"<|begin_of_thought|>", "<|end_of_thought|>"}, // Sky-T1
		{"<unused94>thought", "<unused95>"},            // MedGemma
		{"<|think|>", "<|/think|>"}, {"<|thinking|>", "<|/thinking|>"},
		{"<|inner_prefix|>", "<|inner_suffix|>"}, // Apertus
		{"<｜begin▁of▁thinking｜>", "<｜end▁of▁thinking｜>"},
	}...)
}()

// answerMarks are what some models put around the answer behind their reasoning.
var answerMarks = regexp.MustCompile(`(?i)^\s*(?:<\|(?:start_response|begin_of_solution|response)\|>|<\|channel>final\s)|<\|(?:end_response|` +
	`end_of_solution|/response)\|>\s*$`)

// AfterReasoning returns what follows the last end of reasoning in s. cut says that reasoning starts behind that and
// has no end. A mark inside of a string is none.
func AfterReasoning(s string) (rest string, cut bool) {
	for again := true; again; { // one pair may stand behind another
		again = false
		for _, pair := range reasoningMarks {
			if i := LastFold(s, pair[1]); i >= 0 && (pair[1] == "</think>" || begins(s[:i], pair[0]) || !quotedAt(s, i)) {
				s, again = s[i+len(pair[1]):], true
			}
		}
	}
	if i := LastFold(s, "<|channel|>"); i >= 0 { // gpt-oss: <|channel|>final<|message|>…
		channel, message, _ := strings.Cut(s[i:], "<|message|>")
		if s = message; LastFold(channel, "<|channel|>analysis") >= 0 {
			return s, true
		}
	}
	if s, cut = withoutChannels(s); cut {
		return s, true
	}
	s = answerMarks.ReplaceAllString(s, "")
	for _, pair := range reasoningMarks {
		// Only where a line starts: a string may hold the tag.
		if i := LastFold(s, pair[0]); i >= 0 && StartsLine(s, i) {
			return s, true
		}
	}
	return s, false
}

// channelWord is the start of gpt-oss's channels where a server took their marks out: analysis…assistantfinal…
var channelWord = regexp.MustCompile(`^\s*(?:analysis|commentary)[\p{Lu}"'\x60(]`)

// withoutChannels returns what follows the last channel of such a text.
func withoutChannels(s string) (rest string, cut bool) {
	for _, word := range []string{"assistantfinal", "assistantcommentary"} {
		if i := strings.LastIndex(s, word); i >= 0 && !quotedAt(s, i) {
			return s[i+len(word):], false
		}
	}
	return s, channelWord.MatchString(s)
}

// begins reports whether a line of s begins with a mark.
func begins(s, mark string) bool {
	i := LastFold(s, mark)
	return i >= 0 && StartsLine(s, i)
}

// quotedAt reports whether s[i] stands in a string on its line.
func quotedAt(s string, i int) bool {
	return strings.Count(s[strings.LastIndexByte(s[:i], '\n')+1:i], "'")%2 == 1
}

// LastFold is strings.LastIndex for a text whose ASCII letters are in lower case, case aside.
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
