package linker

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// span is a piece of the question that may be a stored value.
type span struct {
	text   string
	number bool
}

// valueFor returns the value to look for in c: the text in a column that can hold text, the number in a column of
// numbers.
func (s span) valueFor(c *schema.Column) (any, bool) {
	kind := strings.ToUpper(c.Type)
	numeric := containsAny(kind, "INT", "REAL", "FLOA", "DOUB", "NUM", "DEC")
	if !s.number {
		return s.text, !numeric && !containsAny(kind, "BLOB", "BOOL")
	}
	if !numeric {
		return nil, false
	}
	if n, err := strconv.ParseInt(s.text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s.text, 64)
	return f, err == nil
}

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// maxSpanWords is the longest run of words that is taken for one value.
const maxSpanWords = 4

// spans lists the pieces of a question that look like values: quoted pieces first, then longer before shorter, each
// once.
func spans(question string, s *schema.Schema) []span {
	var found []span
	add := func(text string, number bool) {
		if text != "" && !slices.ContainsFunc(found, func(f span) bool { return f.text == text }) {
			found = append(found, span{text, number})
		}
	}
	rest, end := "", 0
	for _, at := range words.Quotations(question) {
		add(strings.TrimSpace(question[at.From:at.To]), false)
		rest += question[end:at.From] + "\n" // a quoted part is one value, not a run of words
		end = at.To
	}
	rest += question[end:]
	names := schemaWords(s)
	asked := questionWords(rest)
	for n := maxSpanWords; n > 0; n-- {
		for i := 0; i+n <= len(asked); i++ {
			run := asked[i : i+n]
			if !slices.ContainsFunc(run, func(w word) bool { return !w.capital }) && !broken(run) {
				// The first word of a sentence is capital anyway, and a word of the schema names a column.
				if n == 1 && (run[0].opens || names[words.Stem(strings.ToLower(run[0].text))]) && !run[0].allCaps {
					continue
				}
				add(join(run), false)
			}
		}
	}
	for _, w := range asked {
		if digits := strings.ReplaceAll(w.text, ",", ""); len(digits) >= 3 && isNumber(digits) {
			add(digits, true)
		}
	}
	return found
}

// word is one word of a question.
type word struct {
	text    string
	capital bool // starts with a capital letter
	allCaps bool // two letters or more, all capital
	opens   bool // first word of a sentence
	ends    bool // punctuation follows, so a value ends here
}

func questionWords(question string) []word {
	var words []word
	opens := true
	for _, field := range strings.FieldsFunc(question, func(r rune) bool { return unicode.IsSpace(r) }) {
		text := strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
		text = strings.TrimSuffix(strings.TrimSuffix(text, "'s"), "’s")
		if text == "" {
			continue
		}
		runes := []rune(text)
		w := word{
			text: text, capital: unicode.IsUpper(runes[0]), opens: opens,
			ends: strings.HasSuffix(field, ",") || strings.HasSuffix(field, ";") || strings.HasSuffix(field, ":"),
		}
		w.allCaps = len(runes) > 1 && strings.ToUpper(text) == text && strings.ToLower(text) != text
		opens = strings.HasSuffix(field, ".") || strings.HasSuffix(field, "?") || strings.HasSuffix(field, "!")
		w.ends = w.ends || opens
		words = append(words, w)
	}
	return words
}

// broken reports whether punctuation stands inside run.
func broken(run []word) bool {
	return slices.ContainsFunc(run[:len(run)-1], func(w word) bool { return w.ends })
}

func join(run []word) string {
	texts := make([]string, len(run))
	for i, w := range run {
		texts[i] = w.text
	}
	return strings.Join(texts, " ")
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && s[0] >= '0' && s[0] <= '9'
}

// schemaWords returns the stemmed words of all names of the schema.
func schemaWords(s *schema.Schema) map[string]bool {
	stems := map[string]bool{}
	add := func(name string) {
		for _, w := range words.Stems(name) {
			stems[w] = true
		}
	}
	for i := range s.Tables {
		add(s.Tables[i].Name)
		for j := range s.Tables[i].Columns {
			add(s.Tables[i].Columns[j].Name)
		}
	}
	return stems
}
