package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDefinition is the longest CREATE text, in bytes, that is shown as the
// engine has it: eight times the default budget of Augmented, so that only a
// text that nobody wrote by hand is over it.
const maxDefinition = 64 << 10

// cleanDefinition prepares an engine's CREATE text for a prompt: line ends are
// \n, and comments are one line each and cleaned. All else stays byte for byte,
// because it is SQL; fault says why that cannot be shown.
//
// Comments of the CREATE text are hostile text like any other. They are found by
// the quotes and comment marks that all engines share; where an engine reads the
// text otherwise, the rules still hold for every part of it.
func cleanDefinition(text string) (clean, fault string) {
	const hidden = "the CREATE text has characters or names that may not be shown"
	if !utf8.ValidString(text) {
		return "", hidden
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		n, kind := definitionPart(text[i:])
		part := text[i : i+n]
		i += n
		switch kind {
		case partLineComment:
			b.WriteString("--" + cleanRemark(part[2:]))
		case partBlockComment:
			b.WriteString("/*" + cleanRemark(part[2:len(part)-2]) + "*/")
		case partQuoted:
			if NameFault(part[1:len(part)-1]) != "" {
				return "", hidden
			}
			b.WriteString(part)
		case partPlain:
			if strings.ContainsFunc(part, func(r rune) bool { return r != '\n' && r != '\t' && isControl(r) }) {
				return "", hidden
			}
			b.WriteString(part)
		default:
			return "", hidden
		}
	}
	clean = strings.TrimSpace(b.String())
	if strings.Contains(clean, "```") || strings.Contains(clean, "</") {
		return "", hidden
	}
	if len(clean) > maxDefinition {
		return "", "the CREATE text is longer than 64 kB"
	}
	return clean, ""
}

// cleanRemark is Comment for the text between comment marks. A remark that needs
// no cleaning keeps its blanks.
func cleanRemark(text string) string {
	clean := Comment(text)
	oddBlank := func(r rune) bool { return r != ' ' && r != '\t' && unicode.IsSpace(r) }
	if len(text) <= maxCommentRunes*utf8.UTFMax && clean == strings.Join(strings.Fields(text), " ") && !strings.ContainsFunc(text, oddBlank) {
		return text
	}
	if clean == "" {
		return " "
	}
	// What was removed may have stood between the marks that end a comment.
	return " " + strings.ReplaceAll(clean, "*/", "* /") + " "
}

type partKind uint8

const (
	partBroken partKind = iota // a quote or comment without its end
	partPlain
	partQuoted
	partLineComment
	partBlockComment
)

// definitionPart finds the first part of text, which is not empty: its length in
// bytes and what it is.
func definitionPart(text string) (int, partKind) {
	until := func(end string, from int, kind partKind) (int, partKind) {
		at := strings.Index(text[from:], end)
		if at < 0 {
			return len(text), partBroken
		}
		return from + at + len(end), kind
	}
	switch c := text[0]; {
	case c == '\'' || c == '"' || c == '`':
		// A doubled quote ends one part and starts the next, which comes to the
		// same here.
		return until(string(c), 1, partQuoted)
	case c == '[':
		return until("]", 1, partQuoted)
	case strings.HasPrefix(text, "--"):
		if at := strings.IndexByte(text, '\n'); at >= 0 {
			return at, partLineComment
		}
		return len(text), partLineComment
	case strings.HasPrefix(text, "/*"):
		return until("*/", 2, partBlockComment)
	}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'' || c == '"' || c == '`' || c == '[':
			return i, partPlain
		case (c == '-' || c == '/') && (strings.HasPrefix(text[i:], "--") || strings.HasPrefix(text[i:], "/*")):
			return i, partPlain
		}
	}
	return len(text), partPlain
}
