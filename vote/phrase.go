package vote

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word or a mark of a question.
type token struct {
	text  string // in lower case, with ' for every apostrophe
	mark  bool   // punctuation, text is one character
	upper bool   // begins with a capital letter
	caps  bool   // two letters or more, all capitals
	from  int    // byte offsets in the question
	to    int
}

// tokenize splits a question into words and marks. A word is a run of letters,
// digits and inner apostrophes; % counts as a word, blanks are dropped.
func tokenize(s string) []token {
	var out []token
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(r) {
			i += n
			continue
		}
		if !wordRune(r) {
			out = append(out, token{text: s[i : i+n], mark: r != '%', from: i, to: i + n})
			i += n
			continue
		}
		from, letters, capitals := i, 0, 0
		upper := unicode.IsUpper(r)
		for i < len(s) {
			r, n = utf8.DecodeRuneInString(s[i:])
			if r == '\'' || r == '’' {
				// Inside of a word only: don't, country's.
				next, _ := utf8.DecodeRuneInString(s[i+n:])
				if !unicode.IsLetter(next) {
					break
				}
			} else if !wordRune(r) {
				break
			}
			if unicode.IsLetter(r) {
				letters++
			}
			if unicode.IsUpper(r) {
				capitals++
			}
			i += n
		}
		text := strings.ReplaceAll(strings.ToLower(s[from:i]), "’", "'")
		out = append(out, token{text: text, upper: upper, caps: letters >= 2 && capitals == letters, from: from, to: i})
	}
	return out
}

func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || r == '_'
}

// words returns the tokens that are no marks.
func words(tokens []token) []token {
	out := make([]token, 0, len(tokens))
	for _, t := range tokens {
		if !t.mark {
			out = append(out, t)
		}
	}
	return out
}

// matchAt reports whether phrase stands at the beginning of tokens, and how many
// of them it takes. No phrase reaches across a mark. See Language for its form.
func matchAt(tokens []token, phrase string, numbers []string) (n int, ok bool) {
	for form, rest := cutForm(phrase); form != ""; form, rest = cutForm(rest) {
		if form == "..." {
			if next, _ := cutForm(rest); next == "" {
				break // none of any number of words
			}
			for ; ; n++ {
				if m, ok := matchAt(tokens[n:], rest, numbers); ok {
					return n + m, true
				}
				if n == len(tokens) || tokens[n].mark {
					return 0, false
				}
			}
		}
		if n == len(tokens) || tokens[n].mark || !matchWord(tokens[n].text, form, numbers) {
			return 0, false
		}
		n++
	}
	return n, n > 0
}

// cutForm returns the first word of a phrase, "" at its end, and what follows it.
func cutForm(phrase string) (form, rest string) {
	from := 0
	for from < len(phrase) && phrase[from] <= ' ' {
		from++
	}
	to := from
	for to < len(phrase) && phrase[to] > ' ' {
		to++
	}
	return phrase[from:to], phrase[to:]
}

// matchWord reports whether a word has a form: one of several by "/", each a
// word, a beginning (word*), an end (*word), any word (*) or a number (#).
func matchWord(word, forms string, numbers []string) bool {
	for forms != "" {
		var form string
		form, forms, _ = strings.Cut(forms, "/")
		switch {
		case form == "": // of two strokes in a row, or one at an end
		case form == word, form == "*":
			return true
		case form == "#":
			if isNumber(word, numbers) {
				return true
			}
		case form[len(form)-1] == '*':
			if strings.HasPrefix(word, form[:len(form)-1]) {
				return true
			}
		case form[0] == '*':
			if strings.HasSuffix(word, form[1:]) {
				return true
			}
		}
	}
	return false
}

func isNumber(word string, numbers []string) bool {
	if slices.Contains(numbers, word) {
		return true
	}
	for i := range len(word) {
		if word[i] < '0' || word[i] > '9' {
			return false
		}
	}
	return word != ""
}

// matchAny is matchAt for the first of several phrases that matches.
func matchAny(tokens []token, phrases, numbers []string) (n int, ok bool) {
	for _, p := range phrases {
		if n, ok := matchAt(tokens, p, numbers); ok {
			return n, true
		}
	}
	return 0, false
}

// find returns where the first of phrases stands in tokens, and how many of them
// it takes; n is 0 where none does. Earlier places win, then earlier phrases.
func find(tokens []token, phrases, numbers []string) (at, n int) {
	for at := range tokens {
		if n, ok := matchAny(tokens[at:], phrases, numbers); ok {
			return at, n
		}
	}
	return 0, 0
}

// has reports whether one of phrases stands in tokens.
func has(tokens []token, phrases, numbers []string) bool {
	_, n := find(tokens, phrases, numbers)
	return n > 0
}

// without returns tokens with all phrases taken out.
func without(tokens []token, phrases, numbers []string) []token {
	out := make([]token, 0, len(tokens))
	for i := 0; i < len(tokens); {
		n := 0
		for _, p := range phrases {
			if m, ok := matchAt(tokens[i:], p, numbers); ok {
				n = max(n, m)
			}
		}
		if n == 0 {
			out = append(out, tokens[i])
			n = 1
		}
		i += n
	}
	return out
}
