package strategy

import (
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// What Masker writes in place of words.
const (
	maskName  = "<mask>" // of a name of the schema
	maskValue = "<unk>"  // of a value
)

// Masker takes out of a question what belongs to its database, so that questions
// can be compared that ask for the same thing in different words.
//
// Words that make up the name of a table or a column, or the beginning of one,
// become <mask>; numbers and words of values that the schema's profile knows
// become <unk>. Names go first, the longest run of words before shorter ones, up
// to five; both sides are lower case and in the singular, and names are cut at
// _, blanks and capitals. A word of no meaning of its own (the, of, how) never
// is a name. The method is the question masking of PET-SQL (arXiv 2403.09732).
type Masker struct {
	names  map[string]bool // runs of words, joined by blanks, that are or begin a name
	values map[string]bool // words of values
}

// valueWords is the number of words of the longest value that is known by its
// words: prose has every word in it. On ClassicModels with 3 the SQL of exemplars
// is like the gold by .68, with no limit by .52 (TestExemplarsRetrieve).
const valueWords = 3

// maxNameWords is the longest run of words that is looked for as a name.
const maxNameWords = 5

// NewMasker reads the names of s, and with values what its profiles say.
func NewMasker(s *schema.Schema, values bool) *Masker {
	m := &Masker{names: map[string]bool{}, values: map[string]bool{}}
	if s == nil {
		return m
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		m.addName(sqltext.SplitName(t.Name))
		for _, c := range t.Columns {
			m.addName(sqltext.SplitName(c.Name))
			m.addName(sqltext.Words(c.Title))
			if c.Profile == nil || !values || c.Sensitive {
				continue
			}
			for _, v := range c.Profile.Examples {
				m.addValue(v)
			}
			for _, v := range c.Profile.Top {
				m.addValue(v.Value)
			}
		}
	}
	return m
}

func (m *Masker) addName(words []string) {
	for n := 1; n <= min(len(words), maxNameWords); n++ {
		run := make([]string, n)
		for i := range run {
			run[i] = sqltext.Stem(words[i])
		}
		m.names[strings.Join(run, " ")] = true
	}
}

func (m *Masker) addValue(v any) {
	text, ok := v.(string)
	if !ok {
		return
	}
	words := sqltext.Words(text)
	if len(words) > valueWords {
		return // prose has every word
	}
	for _, w := range words {
		m.values[w] = true
	}
}

// Mask returns the words of question, in lower case, with a blank between them.
// Masking what is masked changes nothing.
func (m *Masker) Mask(question string) string {
	words := maskWords(question)
	stems := make([]string, len(words))
	for i, w := range words {
		stems[i] = sqltext.Stem(w)
	}
	out := make([]string, 0, len(words))
words:
	for i := 0; i < len(words); {
		for n := min(maxNameWords, len(words)-i); n > 0; n-- {
			if m.isName(words[i:i+n], stems[i:i+n]) {
				for range n {
					out = append(out, maskName)
				}
				i += n
				continue words
			}
		}
		if w := words[i]; isFigure(w) || m.values[w] && !plainWords[w] {
			out = append(out, maskValue)
		} else {
			out = append(out, w)
		}
		i++
	}
	return strings.Join(out, " ")
}

// isName reports whether a run of words is a name, or the beginning of one.
func (m *Masker) isName(words, stems []string) bool {
	meaning := false
	for _, w := range words {
		if w == maskName || w == maskValue {
			return false
		}
		meaning = meaning || !plainWords[w]
	}
	return meaning && m.names[strings.Join(stems, " ")]
}

// maskWords are the words of a text, masks kept as they are.
func maskWords(text string) []string {
	var words []string
	for text != "" {
		at, mask := len(text), ""
		for _, m := range []string{maskName, maskValue} {
			if i := strings.Index(text, m); i >= 0 && i < at {
				at, mask = i, m
			}
		}
		words = append(words, sqltext.Words(text[:at])...)
		if mask != "" {
			words = append(words, mask)
		}
		text = text[at+len(mask):]
	}
	return words
}

func isFigure(w string) bool {
	return w != "" && strings.IndexFunc(w, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
}

// plainWords are the words that name nothing.
var plainWords = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`a an the of for to in on at by with from and or not no is are was were be been do does did has have had
		what which who whom whose when where how many much that this these those there their its it as all any each every
		list show give find get tell return display please me us i you we can could would should than more less most least
		between before after over under both either also only same other different`) {
		set[w] = true
	}
	return set
}()
