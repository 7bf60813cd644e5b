// Package masking takes names and values out of questions, so that questions can be compared.
package masking

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Name and Value are the words that a masked question has in place of others.
const (
	Name  = "<mask>" // of a name of the schema
	Value = "<unk>"  // of a value
)

const (
	// maxNameWords is the longest run of words that is looked for as a name.
	maxNameWords = 5
	// maxMaskedValue is the number of words of the longest value that is known by its words, because prose has every
	// word in it. On ClassicModels the SQL of exemplars is like the right SQL by .68 with 3, by .52 with no limit.
	maxMaskedValue = 3
)

// Masker returns a function that takes out of a question what belongs to its database, so that questions can be
// compared that ask for the same thing about other tables. It is the question masking of PET-SQL (arXiv 2403.09732).
//
// The function returns the words of a question in lower case, with one blank between them. Words that make up the name
// of a table or a column of s, or the beginning of a name, become <mask>. Numbers become <unk>, and with values also
// the words of stored values that the profiles of s know. Names go before values, longer runs of words before shorter
// ones, up to five. A word without a meaning of its own (the, of, how) is never a name. A nil s has no names. Masking
// twice changes nothing. The function is safe for concurrent use.
func Masker(s *schema.Schema, values bool) func(question string) string {
	m := masker{names: map[string]bool{}, values: map[string]bool{}}
	name := func(parts []string) {
		run := ""
		for _, w := range parts[:min(len(parts), maxNameWords)] {
			run = strings.TrimPrefix(run+" "+words.Stem(w), " ")
			m.names[run] = true
		}
	}
	value := func(v any) {
		text, _ := v.(string)
		if parts := words.Of(text); len(parts) <= maxMaskedValue {
			for _, w := range parts {
				m.values[w] = true
			}
		}
	}
	if s == nil {
		s = &schema.Schema{}
	}
	for i := range s.Tables {
		name(words.OfName(s.Tables[i].Name))
		for _, c := range s.Tables[i].Columns {
			name(words.OfName(c.Name))
			name(words.Of(c.Title))
			if c.Profile == nil || !values || c.Sensitive {
				continue
			}
			for _, v := range c.Profile.Examples {
				value(v)
			}
			for _, v := range c.Profile.Top {
				value(v.Value)
			}
		}
	}
	return m.mask
}

type masker struct {
	names  map[string]bool // names and beginnings of names: stems joined by blanks
	values map[string]bool // words of values
}

func (m masker) mask(question string) string {
	asked := Words(question)
	stems := make([]string, len(asked))
	for i, w := range asked {
		stems[i] = words.Stem(w)
	}
	out := make([]string, 0, len(asked))
	for i := 0; i < len(asked); {
		if n := m.nameAt(asked[i:], stems[i:]); n > 0 {
			for range n {
				out = append(out, Name)
			}
			i += n
			continue
		}
		if w := asked[i]; isFigure(w) || m.values[w] && !IsPlain(w) {
			out = append(out, Value)
		} else {
			out = append(out, w)
		}
		i++
	}
	return strings.Join(out, " ")
}

// nameAt returns how many of the first words are a name, or the beginning of one.
func (m masker) nameAt(asked, stems []string) int {
	longest, meaning := 0, false
	run := ""
	for i, w := range asked[:min(len(asked), maxNameWords)] {
		if w == Name || w == Value {
			break
		}
		run = strings.TrimPrefix(run+" "+stems[i], " ")
		meaning = meaning || !IsPlain(w)
		if meaning && m.names[run] {
			longest = i + 1
		}
	}
	return longest
}

var masks = regexp.MustCompile(Name + "|" + Value)

// Words returns the words of a text. Masks in it stay as they are.
func Words(text string) (found []string) {
	end := 0
	for _, at := range masks.FindAllStringIndex(text, -1) {
		found = append(append(found, words.Of(text[end:at[0]])...), text[at[0]:at[1]])
		end = at[1]
	}
	return append(found, words.Of(text[end:])...)
}

func isFigure(w string) bool {
	return w != "" && strings.IndexFunc(w, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
}

// comparing are words that compare. They are no names and no values either.
var comparing = strings.Fields(`than more less most least between before after over under both either also only same other different`)

func IsPlain(w string) bool { return words.IsPlain(w) || slices.Contains(comparing, w) }

// Values returns the words of each literal of a statement.
func Values(s *sqltext.Statement) (values [][]string) {
	for _, l := range s.Literals() {
		if w := words.Of(l.Value); len(w) > 0 {
			values = append(values, w)
		}
	}
	return values
}

// Template returns the words of a question with "?" in place of each value and of each number. The longest value at a
// place goes first.
func Template(question string, values [][]string) (out []string) {
	asked := words.Of(question)
	for i := 0; i < len(asked); {
		n := 0
		for _, v := range values {
			if len(v) > n && len(v) <= len(asked)-i && slices.Equal(v, asked[i:i+len(v)]) {
				n = len(v)
			}
		}
		switch {
		case n == 0 && !isFigure(asked[i]):
			out = append(out, asked[i])
		// 1,234.5 is cut into three numbers: one mask for all of them.
		case i == 0 || out[len(out)-1] != "?" || !isFigure(asked[i]) || !isFigure(asked[i-1]):
			out = append(out, "?")
		}
		i += max(n, 1)
	}
	return out
}
