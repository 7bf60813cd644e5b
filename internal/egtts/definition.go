package egtts

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/words"
)

// maxDefinition is the longest CREATE text, in bytes, that is shown as the engine has it. Nobody writes a longer one by
// hand.
const maxDefinition = 64 << 10

// cleanDefinition prepares an engine's CREATE text for a prompt. Line ends become \n, and each comment is cleaned and
// becomes one line. The rest is SQL and stays byte for byte, but for white space with isShort; fault says why it cannot
// be shown.
//
// Comments are found by the quotes and comment marks that all engines share. If an engine reads the text in another
// way, the rules still hold for every part of it.
func cleanDefinition(text string, isShort bool) (clean, fault string) {
	const hidden = "the CREATE text has characters or names that may not be shown"
	if !utf8.ValidString(text) {
		return "", hidden
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(text))
	for text != "" {
		n := definitionPart(text)
		if n < 0 {
			return "", hidden
		}
		part := text[:n]
		text = text[n:]
		switch {
		case strings.HasPrefix(part, "--"):
			part = "--" + cleanRemark(part[2:])
		case strings.HasPrefix(part, "/*"):
			part = "/*" + cleanRemark(part[2:n-2]) + "*/"
		case isQuote(part[0]):
			if prompttext.NameFault(part[1:n-1]) != "" {
				return "", hidden
			}
		case strings.ContainsFunc(part, func(r rune) bool { return r != '\n' && r != '\t' && words.Hidden(r) }):
			return "", hidden
		case isShort:
			part = blanks.ReplaceAllStringFunc(part, shorter)
		}
		b.WriteString(part)
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

var blanks = regexp.MustCompile(`[ \t\n]+`)

// shorter is a line end for white space that has one, else a blank.
func shorter(space string) string {
	if strings.Contains(space, "\n") {
		return "\n"
	}
	return " "
}

// cleanRemark is Comment for the text between comment marks. A text that needs no cleaning keeps its blanks.
func cleanRemark(text string) string {
	clean := prompttext.Comment(text)
	oddBlank := func(r rune) bool { return r != ' ' && r != '\t' && unicode.IsSpace(r) }
	if len(text) <= 800 && clean == strings.Join(strings.Fields(text), " ") && !strings.ContainsFunc(text, oddBlank) {
		return text
	}
	if clean == "" {
		return " "
	}
	// Without what was removed, the marks that end a comment may have met.
	return " " + strings.ReplaceAll(clean, "*/", "* /") + " "
}

func isQuote(c byte) bool { return c == '\'' || c == '"' || c == '`' || c == '[' }

// definitionPart returns the length in bytes of the first part of text, which is not empty: a quoted name or text, a
// comment, or what stands between them. It is -1 if a quote or comment has no end.
func definitionPart(text string) int {
	end, from := "", 0
	switch {
	case text[0] == '[':
		end, from = "]", 1
	case isQuote(text[0]):
		// A doubled quote ends one part and starts the next. Both are quoted.
		end, from = text[:1], 1
	case strings.HasPrefix(text, "/*"):
		end, from = "*/", 2
	case strings.HasPrefix(text, "--"):
		if n := strings.IndexByte(text, '\n'); n >= 0 {
			return n
		}
		return len(text)
	default:
		n := 1
		for n < len(text) && !isQuote(text[n]) && !strings.HasPrefix(text[n:], "--") && !strings.HasPrefix(text[n:], "/*") {
			n++
		}
		return n
	}
	if at := strings.Index(text[from:], end); at >= 0 {
		return from + at + len(end)
	}
	return -1
}
