package replies

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// This file takes off what models and their chat templates put around an answer.

// trimReply removes outer blanks, invisible characters, a byte order mark among them, and end-of-text marks that
// servers with a wrong template leave.
func trimReply(s string) string {
	for {
		trimmed := strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || words.IsInvisible(r) })
		for _, mark := range []string{"</s>", "<s>", "<|im_end|>", "<|eot_id|>", "<|end_of_text|>", "<|endoftext|>",
			"<|end|>", "<end_of_turn>", "<eos>",
			"<|call|>", "<|return|>", "<|eom_id|>", "[/SQL]", "[/sql]", "[/INST]", "]]>"} {
			trimmed = strings.TrimSuffix(trimmed, mark)
		}
		trimmed = strings.TrimPrefix(strings.TrimPrefix(trimmed, "[SQL]"), "[sql]")
		if trimmed == s {
			return s
		}
		s = trimmed
	}
}

// beforeReasoning is what a model wrote before it thought about it; "": nothing, or the reasoning has no tag at its
// start.
func beforeReasoning(text string) string {
	at := strings.Index(text, "<think")
	return text[:max(at, 0)]
}

var escapedFence = regexp.MustCompile("```[a-zA-Z]*" + `\\n`)

// unescapedFence writes line ends in place of the \n of a block whose gateway has escaped the whole reply.
func unescapedFence(text string) string {
	if strings.Contains(text, "\n") || !escapedFence.MatchString(text) || strings.ContainsAny(text[:1], "{[\"") {
		return text // JSON says itself what its escapes are
	}
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`).Replace(text)
}

// applied is the new side of a diff: its lines without the signs, and without those that it removes.
func applied(diff string) string {
	var lines []string
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "@@"),
			strings.HasPrefix(line, "-"):
		default:
			lines = append(lines, strings.TrimPrefix(line, "+"))
		}
	}
	return strings.Join(lines, "")
}

// element is the opening of an element that holds an answer, and of one that may hold a statement.
var element = regexp.MustCompile(`(?i)<(answer|sql|sql[_-]?query|query|final[_-]?(?:answer|sql|query)|statement|result|output|response|` +
	`code|pre|parameter|arg[_-]?value)(?:[\s=][^<>]*)?>`)

// answerTag returns the content of the last <answer> or <sql> element, or of another element that holds a statement.
// The closing tag may be missing.
func answerTag(d sqltext.Dialect, s string) (string, bool) {
	all := element.FindAllStringSubmatchIndex(s, maxPlaces)
	for _, sure := range []bool{true, false} {
		for _, at := range slices.Backward(all) {
			name, inner := strings.ToLower(s[at[2]:at[3]]), s[at[1]:]
			if end := words.LastFold(inner, "</"+name+">"); end >= 0 {
				inner = inner[:end]
			}
			inner = strings.TrimSpace(inner)
			if data, ok := strings.CutPrefix(inner, "<![CDATA["); ok {
				inner, _, _ = strings.Cut(data, "]]>")
			}
			answers := name == "answer" || name == "sql"
			if inner != "" && answers == sure && (answers || d.Head(inner) == "query") {
				return inner, true
			}
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
	if has("sorry, but", "i apologize, but", "i apologise, but", "i cannot", "i can't", "i can not", "i'm unable",
		"i am unable", "unable to",
		"i'm not able", "i am not able", "cannot answer", "cannot be answered", "can't be answered", "not possible to",
		"impossible to",
		"as an ai", "as a language model", "not enough information", "insufficient information", "not in the schema") {
		return true
	}
	return has("schema", "database", "table", "column", "field", "information", "question", " query", " sql", "access") &&
		has("cannot be", "can't be", "can not be", "not possible", "impossible", "there is no", "there are no", "no such",
			"has no", "have no",
			"no query", "no sql", "do not have", "don't have", "does not have", "doesn't have", "does not contain",
			"doesn't contain",
			"insufficient", "not available", "not exist")
}
