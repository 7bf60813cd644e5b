// Package words reads and writes the words of people, models and databases: it cleans and shortens texts from outside,
// cuts questions and names into words, and compares words. All functions are linear in their input, [Distance] aside,
// and safe for concurrent use.
package words

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Of returns the words of a question or a text in lower case, in text order: runs of letters, marks and digits. An
// apostrophe inside a word stays in it ("don't"; the typographic one becomes '). Every other character separates. The
// words share the memory of the text.
func Of(text string) []string {
	var words []string
	text = strings.ReplaceAll(strings.ToLower(text), "’", "'")
	start, letter := -1, false // of the word at hand; whether a letter stands before
	for i, r := range text {
		in := isWordRune(r)
		if r == '\'' && letter {
			next, _ := utf8.DecodeRuneInString(text[i+1:])
			in = unicode.IsLetter(next)
		}
		switch letter = unicode.IsLetter(r); {
		case in && start < 0:
			start = i
		case !in && start >= 0:
			words = append(words, text[start:i])
			start = -1
		}
	}
	if start >= 0 {
		words = append(words, text[start:])
	}
	return words
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// OfName returns the words of a name in lower case: "customerName", "customer_name", "CUSTOMER NAME" and "CustomerName"
// give customer, name. Letters and digits are cut apart ("line2": line, 2). A run of capitals is one word up to the
// last capital before a small letter ("HTTPServer": http, server).
func OfName(name string) []string {
	var words []string
	var before rune
	start := 0
	for i, n := 0, 0; i < len(name); i += n {
		var r rune
		r, n = utf8.DecodeRuneInString(name[i:])
		switch {
		case !isWordRune(r):
			words = appendWord(words, name[start:i])
			start = i + n
		case i > start && splits(before, r, name[i+n:]):
			words = appendWord(words, name[start:i])
			start = i
		}
		before = r
	}
	return appendWord(words, name[start:])
}

func appendWord(words []string, word string) []string {
	switch {
	case word == "":
		return words
	case words == nil:
		words = make([]string, 0, 2)
	}
	return append(words, strings.ToLower(word))
}

// splits reports whether a word begins at r, which is between before and rest.
func splits(before, r rune, rest string) bool {
	if unicode.IsDigit(r) != unicode.IsDigit(before) {
		return true
	}
	after, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsUpper(r) && (!unicode.IsUpper(before) || unicode.IsLower(after) && !isPlural(rest))
}

// isPlural reports whether rest begins with the small s of MSRPs and IDs, and not with the second letter of a word.
func isPlural(rest string) bool {
	after, _ := utf8.DecodeRuneInString(strings.TrimPrefix(rest, "s"))
	return strings.HasPrefix(rest, "s") && !unicode.IsLower(after)
}

// Stems returns the words of a name, each in the singular.
func Stems(name string) []string {
	words := OfName(name)
	for i, w := range words {
		words[i] = Stem(w)
	}
	return words
}

// shortPlurals are plurals of three letters. Most words of three letters in -s are none: bus, gas, yes, was, his, GPS.
var shortPlurals = Set("ids nos pks fks uks tvs pcs cds ips vms dbs qas ads hrs yrs wks kgs lbs pts kms")

// Stem returns an English word in lower case without the ending of its plural: countries → country, boxes → box,
// singers → singer. Words of up to three letters stay, but for plurals such as ids and PKs, and so do those in -ss, -us
// and -is. A final -ie becomes -y, so that movie and movies agree. No other ending is changed, because singer and
// singing are rarely the same column. A number loses its leading zeros, so that 042 and 42 agree.
func Stem(word string) string {
	w := strings.ToLower(word)
	w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "'")
	if number := strings.TrimLeft(w, "0"); len(number) < len(w) && strings.Trim(number, "0123456789") == "" {
		return cmp.Or(number, "0")
	}
	switch {
	case shortPlurals[w]:
		return w[:2]
	case len(w) <= 3:
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
		strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"),
		strings.HasSuffix(w, "zzes"):
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

// Set returns the words of a list as a set. Commas part them if there are any, else white space does.
func Set(list string) map[string]bool {
	set := map[string]bool{}
	commas := strings.Contains(list, ",")
	for word := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || !commas && unicode.IsSpace(r) }) {
		set[word] = true
	}
	return set
}

// Pairs makes a map of words that stand in pairs. A _ of the second one is a blank.
func Pairs(list string) map[string]string {
	all, m := strings.Fields(list), map[string]string{}
	for i := 0; i+1 < len(all); i += 2 {
		m[all[i]] = strings.ReplaceAll(all[i+1], "_", " ")
	}
	return m
}

// plain are English words that name nothing in a database.
var plain = Set(`a an the of for to in on at by with from and or not no is are was were be been do does did has have had
		what which who whom whose when where how many much that this these those there their its it as all any each every
		list show give find get tell return display please me us i you we can could would should`)

// IsPlain reports whether an English word in lower case has no meaning of its own: the, of, how, list.
func IsPlain(word string) bool { return plain[word] }

// Plural returns word for n == 1, and word with an s for every other n.
func Plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// Thousands returns n with a comma between its thousands.
func Thousands(n int) string {
	text := strconv.Itoa(n)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(text) - 3; i > first; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Squeeze returns a name in lower case without blanks, underscores and hyphens.
func Squeeze(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '_', '-':
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// Like says which of names may be meant by a name that is none, as ", did you mean "orders"?"; "": none is near.
func Like(name string, names []string) string {
	if best := Nearest(name, names); best != "" {
		return fmt.Sprintf(", did you mean %q?", best)
	}
	return ""
}

// Nearest returns which of names may be meant by a name that is none; "": none is near. Case does not count. Of equally
// near ones that with the same first letter is meant, else the first in the order of names.
func Nearest(name string, names []string) (best string) {
	name, least := strings.ToLower(name), 6
	for _, other := range slices.Sorted(slices.Values(names)) {
		lower := strings.ToLower(other)
		d := 2 * Distance(name, lower, 2)
		if first, _ := utf8.DecodeRuneInString(name); !strings.HasPrefix(lower, string(first)) {
			d++
		}
		if d < least {
			best, least = other, d
		}
	}
	return best
}

// LooksAlike reports whether other has a letter of another script where name is Latin: it may be made to be taken for
// name.
func LooksAlike(name, other string) bool {
	foreign := func(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) }
	return !strings.ContainsFunc(name, foreign) && strings.ContainsFunc(other, foreign)
}

// Spelled reports whether a text stands in a question as one word, letter by letter.
func Spelled(question, text string) bool {
	return slices.Contains(strings.FieldsFunc(question, func(r rune) bool {
		return strings.ContainsRune(" ,;:.?!()\"'’", r)
	}), text)
}

// Distance returns the Levenshtein distance of two words in characters. If it is over most, the result is some number
// over most. The time is the product of both lengths, unless the lengths differ by more than most.
func Distance(a, b string, most int) int {
	from, to := []rune(a), []rune(b)
	if max(len(from)-len(to), len(to)-len(from)) > most {
		return most + 1
	}
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range to {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}

// Similarity is twice the number of characters that two names have in common, in their order, divided by the sum of
// their lengths: 0..1, and 1 for equal names. Names are compared as [Squeeze] writes them. What they have in common is
// their longest common run, and in turn what stands in common before it and behind it (Ratcliff and Obershelp); of runs
// of one length, the first in a counts, and then the first in b.
func Similarity(a, b string) float64 {
	from, to := []rune(Squeeze(a)), []rune(Squeeze(b))
	if len(from)+len(to) == 0 {
		return 1
	}
	return 2 * float64(common(from, to)) / float64(len(from)+len(to))
}

func common(a, b []rune) int {
	length, i, j := 0, 0, 0
	runs := make([]int, len(b)+1) // at k+1: the length of the common run that ends in this rune of a and in b[k]
	for x := range a {
		for k := len(b) - 1; k >= 0; k-- {
			if a[x] != b[k] {
				runs[k+1] = 0
				continue
			}
			runs[k+1] = runs[k] + 1
			if n := runs[k+1]; n > length || n == length && x-n+1 == i && k-n+1 < j {
				length, i, j = n, x-n+1, k-n+1
			}
		}
	}
	if length == 0 {
		return 0
	}
	return length + common(a[:i], b[:j]) + common(a[i+length:], b[j+length:])
}
