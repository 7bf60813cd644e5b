package sqltext

import (
	"strings"
	"unicode"
)

// Words returns the words of a question or a text in lower case, in text order:
// runs of letters, marks and digits. An apostrophe inside a word stays in it
// ("don't"; the typographic one becomes '), every other character separates.
func Words(s string) []string {
	var words []string
	runes := []rune(strings.ToLower(s))
	start := -1
	for i := 0; i <= len(runes); i++ {
		if i < len(runes) && isWordRune(runes, i) {
			if runes[i] == '’' {
				runes[i] = '\''
			}
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			words = append(words, string(runes[start:i]))
			start = -1
		}
	}
	return words
}

func isWordRune(runes []rune, i int) bool {
	r := runes[i]
	if r == '\'' || r == '’' {
		return i > 0 && i+1 < len(runes) && unicode.IsLetter(runes[i-1]) && unicode.IsLetter(runes[i+1])
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// SplitName returns the words of a name in lower case: "customerName",
// "customer_name", "CUSTOMER NAME" and "CustomerName" give customer, name.
// Letters and digits are cut apart ("line2": line, 2), and a run of capitals is
// one word up to the last of them before a small letter ("HTTPServer": http,
// server).
func SplitName(name string) []string {
	var words []string
	runes := []rune(name)
	start := 0
	flush := func(end int) {
		if start < end {
			words = append(words, strings.ToLower(string(runes[start:end])))
		}
	}
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			flush(i)
			start = i + 1
			continue
		}
		if i == start {
			continue
		}
		prev := runes[i-1]
		switch {
		case unicode.IsDigit(r) != unicode.IsDigit(prev):
		case unicode.IsUpper(r) && !unicode.IsUpper(prev):
		case unicode.IsUpper(r) && i+1 < len(runes) && unicode.IsLower(runes[i+1]) && !isPlural(runes, i):
		default:
			continue
		}
		flush(i)
		start = i
	}
	flush(len(runes))
	return words
}

// isPlural tells the small s of MSRPs and IDs from the start of a word.
func isPlural(runes []rune, i int) bool {
	return runes[i+1] == 's' && (i+2 == len(runes) || !unicode.IsLower(runes[i+2]))
}

// Stem returns an English word in lower case without the ending of its plural:
// countries → country, boxes → box, singers → singer; words of up to three
// letters and those in -ss, -us and -is stay. A final -ie becomes -y, so that
// movie and movies agree. It is for matching names with words of a question,
// and changes no other ending, because singer and singing are rarely the same
// column.
func Stem(word string) string {
	w := strings.ToLower(word)
	w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "'")
	if len(w) <= 3 {
		return w
	}
	switch {
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"):
		return w
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "ie") && len(w) > 4:
		return w[:len(w)-2] + "y"
	case strings.HasSuffix(w, "uses") && !strings.HasSuffix(w, "ouses") && !strings.HasSuffix(w, "auses"),
		strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"), strings.HasSuffix(w, "zzes"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "s"):
		return w[:len(w)-1]
	}
	switch w {
	case "people":
		return "person"
	case "children":
		return "child"
	case "men", "women":
		return w[:len(w)-2] + "an"
	}
	return w
}

// QuestionTemplate masks what differs between two instances of one question:
// lower case, the literals and every number become ?, punctuation becomes a
// blank, runs of blanks one. Give the values of the literals of the gold SQL
// (Dialect.Literals); the longest are masked first, as whole words, case aside.
//
// With Dialect.Template it is the leakage guard of 2.METHODOLOGY.md of
// MacKenzieOBrian/NLtoSQL.
func QuestionTemplate(question string, literals []string) string {
	words := Words(question)
	masks := make([][]string, 0, len(literals))
	for _, lit := range literals {
		if w := Words(lit); len(w) > 0 {
			masks = append(masks, w)
		}
	}
	var out []string
	for i := 0; i < len(words); {
		n := 0
		for _, mask := range masks {
			if len(mask) > n && hasPrefix(words[i:], mask) {
				n = len(mask)
			}
		}
		if n == 0 && isNumber(words[i]) {
			n = 1
		}
		if n == 0 {
			out = append(out, words[i])
			i++
			continue
		}
		// 1,234.5 is cut into three numbers: one mask for all of them.
		if len(out) == 0 || out[len(out)-1] != "?" || !isNumber(words[i]) || !isNumber(words[i-1]) {
			out = append(out, "?")
		}
		i += n
	}
	return strings.Join(out, " ")
}

func hasPrefix(words, prefix []string) bool {
	if len(words) < len(prefix) {
		return false
	}
	for i, p := range prefix {
		if words[i] != p {
			return false
		}
	}
	return true
}

func isNumber(word string) bool {
	for _, r := range word {
		if !unicode.IsDigit(r) {
			return false
		}
	}
	return word != ""
}

// CleanText returns s without the characters that have no place in a prompt:
// control and format characters (Unicode classes Cc and Cf: zero-width,
// bidirectional and invisible tag characters among them) and the separators
// U+2028 and U+2029. Newline and tab stay, and so do U+200C and U+200D, which
// some scripts need. Bytes that are not UTF-8 become U+FFFD.
//
// It is for questions, comments and error texts. Stored values are not cleaned
// but left out of prompts, since a changed value would match nothing.
func CleanText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\u200c', r == '\u200d':
			return r
		case r == '\u2028', r == '\u2029', unicode.In(r, unicode.Cc, unicode.Cf):
			return -1
		}
		return r
	}, s)
}
