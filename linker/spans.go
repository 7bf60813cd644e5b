package linker

import (
	"regexp"
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
	numeric := numericType.MatchString(c.Type)
	if !s.number {
		return s.text, !numeric && !opaqueType.MatchString(c.Type)
	}
	if n, err := strconv.ParseInt(s.text, 10, 64); err == nil {
		return n, numeric
	}
	f, err := strconv.ParseFloat(s.text, 64)
	return f, numeric && err == nil
}

// Declared types that hold numbers, and those that hold no text either.
var (
	numericType = regexp.MustCompile(`(?i)INT|REAL|FLOA|DOUB|NUM|DEC`)
	opaqueType  = regexp.MustCompile(`(?i)BLOB|BOOL`)
)

// maxSpanWords is the longest run of words that is taken for one value.
const maxSpanWords = 4

// spans lists the pieces of a question about some tables that look like values: quoted pieces first, then longer before
// shorter, each once.
func spans(question string, s *schema.Schema, tables []int) []span {
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
	names := schemaWords(s, tables)
	asked := questionWords(rest)
	for n := maxSpanWords; n > 0; n-- {
		for i := 0; i+n <= len(asked); i++ {
			run := asked[i : i+n]
			if !slices.ContainsFunc(run, func(w word) bool { return !w.capital }) && !broken(run) {
				// The first word of a sentence is capital anyway, and a word of the schema names a column.
				if n == 1 && (run[0].opens || names[words.Stem(strings.ToLower(run[0].text))]) && !run[0].allCaps {
					continue
				}
				texts := make([]string, n)
				for j, w := range run {
					texts[j] = w.text
				}
				add(strings.Join(texts, " "), false)
			}
		}
	}
	for _, w := range asked {
		if digits := strings.ReplaceAll(w.text, ",", ""); len(digits) >= 3 && digits[0] >= '0' && digits[0] <= '9' {
			if _, err := strconv.ParseFloat(digits, 64); err == nil {
				add(digits, true)
			}
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
	for _, field := range strings.Fields(question) {
		text := strings.TrimFunc(field, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		})
		text = strings.TrimSuffix(strings.TrimSuffix(text, "'s"), "’s")
		if text == "" {
			continue
		}
		runes, last := []rune(text), field[len(field)-1:]
		words = append(words, word{
			text: text, capital: unicode.IsUpper(runes[0]), opens: opens, ends: strings.Contains(",;:.?!", last),
			allCaps: len(runes) > 1 && strings.ToUpper(text) == text && strings.ToLower(text) != text,
		})
		opens = strings.Contains(".?!", last)
	}
	return words
}

// broken reports whether punctuation stands inside run.
func broken(run []word) bool {
	return slices.ContainsFunc(run[:len(run)-1], func(w word) bool { return w.ends })
}

// schemaWords returns the stemmed words of all names of some tables.
func schemaWords(s *schema.Schema, tables []int) map[string]bool {
	stems := map[string]bool{}
	for _, i := range tables {
		t := &s.Tables[i]
		names := words.Stems(t.Name)
		for _, c := range t.Columns {
			names = append(names, words.Stems(c.Name)...)
		}
		for _, w := range names {
			stems[w] = true
		}
	}
	return stems
}
