package doubt

import (
	"slices"
	"strings"
)

// token is a word or a mark of a question.
type token struct {
	text string // in lower case, with ' for every apostrophe
	mark bool   // punctuation; text is one character then

	from, to int // byte offsets in the question
}

// tokenized finds words (group 1) and marks.
var tokenized = compile(`([\pL\p{Nd}\pM_](?:[\pL\p{Nd}\pM_]|['’]\pL)*|%)|[^\s\v\x{85}\pZ]`)

// tokenize cuts a question into words and marks, without blanks. A word is a run of letters, digits and inner
// apostrophes; % is a word, too.
func tokenize(s string) []token {
	found := tokenized.FindAllStringSubmatchIndex(s, -1)
	out := make([]token, len(found))
	for i, at := range found {
		out[i] = token{text: s[at[0]:at[1]], mark: at[2] < 0, from: at[0], to: at[1]}
		if !out[i].mark {
			out[i].text = strings.ReplaceAll(strings.ToLower(out[i].text), "’", "'")
		}
	}
	return out
}

// unmarked returns the tokens that are no marks.
func unmarked(tokens []token) []token {
	return except(tokens, func(t token) bool { return t.mark })
}

// match reports whether phrase stands at the beginning of tokens, and how many of them it takes. No phrase reaches
// across a mark. See Language for its form.
func (l *Language) match(tokens []token, phrase string) (n int, ok bool) {
	for form, rest := cutForm(phrase); form != ""; form, rest = cutForm(rest) {
		if form == "..." {
			if next, _ := cutForm(rest); next == "" {
				break // none of any number of words
			}
			for ; ; n++ {
				if m, ok := l.match(tokens[n:], rest); ok {
					return n + m, true
				}
				if n == len(tokens) || tokens[n].mark {
					return 0, false
				}
			}
		}
		if n == len(tokens) || tokens[n].mark || !l.matchWord(tokens[n].text, form) {
			return 0, false
		}
		n++
	}
	return n, n > 0
}

// cutForm returns the first word of a phrase, "" at its end, and what follows it.
func cutForm(phrase string) (form, rest string) {
	form, rest, _ = strings.Cut(strings.TrimLeft(phrase, " "), " ")
	return form, rest
}

// matchWord reports whether a word has a form: one of several by "/", each a word, a beginning (word*), an end (*word),
// any word (*) or a number (#).
func (l *Language) matchWord(word, forms string) bool {
	for forms != "" {
		var form string
		form, forms, _ = strings.Cut(forms, "/")
		switch {
		case form == "": // of two strokes in a row, or one at an end
		case form == word, form == "*":
			return true
		case form == "#":
			if slices.Contains(l.Numbers, word) || strings.Trim(word, "0123456789") == "" {
				return true
			}
		case form[len(form)-1] == '*' && strings.HasPrefix(word, form[:len(form)-1]),
			form[0] == '*' && strings.HasSuffix(word, form[1:]):
			return true
		}
	}
	return false
}

// starts returns how many tokens the first of phrases takes that stands at the beginning of tokens; 0 if none does.
func (l *Language) starts(tokens []token, phrases []string) int {
	for _, p := range phrases {
		if n, ok := l.match(tokens, p); ok {
			return n
		}
	}
	return 0
}

// find returns where the first of phrases stands in tokens, and how many tokens it takes; n is 0 if none does. Earlier
// places win, then earlier phrases.
func (l *Language) find(tokens []token, phrases []string) (at, n int) {
	for at := range tokens {
		if n := l.starts(tokens[at:], phrases); n > 0 {
			return at, n
		}
	}
	return 0, 0
}

// has reports whether one of phrases stands in tokens.
func (l *Language) has(tokens []token, phrases []string) bool {
	_, n := l.find(tokens, phrases)
	return n > 0
}

// without returns tokens with all phrases taken out, the longest of several that begin at one place.
func (l *Language) without(tokens []token, phrases []string) []token {
	out := make([]token, 0, len(tokens))
	for i := 0; i < len(tokens); {
		n := 0
		for _, p := range phrases {
			m, _ := l.match(tokens[i:], p)
			n = max(n, m)
		}
		if n == 0 {
			out = append(out, tokens[i])
			n = 1
		}
		i += n
	}
	return out
}
