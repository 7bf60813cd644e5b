package doubt

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// QuestionFeatures is what rules read in a question, once for all its candidates: see [Rules.Read]. Safe for concurrent use.
type QuestionFeatures struct {
	Text     string // the question as it was asked
	Evidence string // what is known besides

	// Language is the name of the language of the question; "" when it is none of the known ones. Then rules that read
	// words are silent, and the fields below are zero.
	Language string

	HowMany    bool // asks for one number of things
	Count      bool // asks for a number of things, perhaps a row
	Each       bool // asks for a row a group
	Percent    bool // asks for a share
	Sum        bool // asks for a total
	Everything bool // asks for all columns
	Negation   bool // denies or excludes something; also by its evidence

	// Asks is what the question asks for: "ranking" (the first of an order), "groups" (a number by group), "value" (one
	// number) or "list"; the first of them that its words say. Sorted says that a LIMIT fits it.
	Asks   string
	Sorted bool

	// Columns is the number of columns that the asking phrase names, at most 6; 0 when it cannot be told.
	Columns int
	// Things are the last words of what the asking phrase names, as stems: order and total in "list orders and totals
	// for …".
	Things []string
	// Phrases are the parts of the asking phrase, in lower case: "product codes" and "names" in "show product codes and
	// names of …"; of a question without an asking word, what it begins with. Theirs are those behind "with their" and
	// "and their". What is compared with something ("credit limits above 500") is a filter and no phrase.
	Phrases, Theirs []string

	tokens   []token
	words    []token // the tokens that are no marks
	language *Language
}

// Has reports whether one of phrases stands in the question: see [Language] for their form. It is for rules of one's
// own.
func (q QuestionFeatures) Has(phrases ...string) bool {
	l := q.language
	if l == nil {
		l = &Language{}
	}
	return l.has(q.words, phrases)
}

// read fills in a question in language l.
func (q *QuestionFeatures) read(l *Language) {
	q.Language, q.language = l.Name, l
	in := func(phrases []string) bool { return l.has(q.words, phrases) }
	q.HowMany = l.starts(q.words, l.HowMany) > 0
	q.Count = in(l.Count)
	q.Each = in(l.Each)
	q.Percent = in(l.Percent)
	q.Sum = l.has(l.without(q.words, l.NotSum), l.Sum)
	q.Everything = in(l.Everything)
	// The evidence says how to compute what the question asks for, so what it excludes is asked for, too, also in SQL's
	// own marks.
	sql := func(mark string) bool { return strings.Contains(strings.ToLower(q.Evidence), mark) }
	q.Negation = in(l.Negation) || l.has(unmarked(tokenize(q.Evidence)), l.Negation) || slices.ContainsFunc([]string{"<>", "!=", "≠", "is null"}, sql)
	q.Columns = q.columns(l)
	q.Phrases, q.Theirs = q.phrases(l)
	rest := l.without(q.words, l.NotFirst)
	switch {
	case l.has(rest, l.First):
		q.Asks, q.Sorted = "ranking", true
	case l.asksGroups(rest):
		q.Asks = "groups"
	case l.has(l.without(rest, l.NotValue), l.OneValue):
		q.Asks = "value"
	default:
		q.Asks = "list"
	}
	q.Sorted = q.Sorted || l.has(rest, l.Sort)
}

// columns counts the columns that the asking phrase names: the parts of the list that follows the asking word, in the
// last sentence that asks.
func (q *QuestionFeatures) columns(l *Language) int {
	const most = 6 // nobody names more things in one sentence
	sum := 0
	for end, more := len(q.tokens), true; more; {
		from, to := l.askingSentence(q.tokens[:end])
		if from == to {
			break
		}
		n := q.sentenceColumns(q.tokens[from:to], l)
		if n == 0 {
			return 0
		}
		sum += n
		end, more = from, l.starts(q.tokens[from:to], l.Furthermore) > 0
	}
	return min(sum, most)
}

// sentenceColumns is columns for one sentence.
func (q *QuestionFeatures) sentenceColumns(sentence []token, l *Language) int {
	rest := sentence
	if comma := slices.IndexFunc(rest, func(t token) bool { return t.text == "," }); comma >= 0 && l.starts(rest, l.EachFirst) > 0 {
		rest = rest[comma+1:] // behind "for each …,"
	}
	at, n := l.find(rest, l.Ask)
	if n == 0 {
		return 0
	}
	measure := func(tokens []token) bool { return l.has(tokens, l.Measures) }
	asked := rest[at : at+n] // "how many" is a measure itself
	rest = rest[at+n:]
	for len(rest) > 0 && l.starts(rest, l.AskFill) > 0 {
		rest = rest[1:]
	}

	// Count the parts up to the cut in which a word stands.
	parts, measures, cut := 0, 0, len(rest)
	part := func(tokens []token) {
		if !slices.ContainsFunc(tokens, func(t token) bool { return !t.mark }) {
			return
		}
		parts++
		if last := tokens[len(tokens)-1]; !last.mark {
			q.Things = append(q.Things, words.Stem(last.text))
		}
		if measure(tokens) || parts == 1 && measure(asked) {
			measures++
		}
	}
	begin := 0
	for i, t := range rest {
		if l.starts(rest[i:], l.Cut) > 0 {
			cut = i
			break
		}
		if t.text == "," || t.text == "&" || slices.Contains(l.And, t.text) {
			part(rest[begin:i])
			begin = i + 1
		}
	}
	part(rest[min(begin, cut):cut])
	if parts == 0 { // "How many are there?"
		parts = 1
		if measure(asked) {
			measures = 1
		}
	}

	also := 0
	for i := cut; i < len(rest); {
		n := l.starts(rest[i:], l.Also)
		if n > 0 || l.starts(rest[i:], l.AsksAgain) > 0 {
			also++
		}
		i += max(n, 1)
	}
	more := min(also, 2)
	if q.Each && parts == measures {
		// Only numbers by group are named: the group itself goes without saying.
		more++
	}
	if l.has(q.words, l.Ranking) {
		more++
	}
	return parts + more
}

func (l *Language) asksGroups(words []token) bool {
	beside, n := l.find(words, l.Beside)
	return l.has(l.without(words, l.NotGroup), l.Groups) || n > 0 && !l.has(words[:beside], l.OneValue) ||
		l.has(words, l.EachOf) && l.has(words, l.OneValue)
}

// phrases are the parts of the lists at the beginning of the question and behind "their".
func (q *QuestionFeatures) phrases(l *Language) (asked, theirs []string) {
	rest := q.tokens
	if from, to := l.askingSentence(rest); to > from {
		rest = rest[from:to]
		// In "customers who have no orders" the word that asks elsewhere asks nothing.
		if at, n := l.find(rest, l.Ask); at == 0 || rest[at-1].mark || l.starts(rest[at:], l.Cut) == 0 {
			rest = rest[at+n:]
		}
	}
	for len(rest) > 0 && l.starts(rest, l.AskFill) > 0 {
		rest = rest[1:]
	}
	asked = l.parts(rest)
	if at, n := l.find(rest, l.Theirs); n > 0 {
		theirs = l.parts(rest[at+n:])
	}
	return asked, theirs
}

// parts cuts the list at the beginning of tokens.
func (l *Language) parts(tokens []token) (parts []string) {
	var part []string
	end := func() {
		if len(part) > 0 {
			parts = append(parts, strings.Join(part, " "))
		}
		part = nil
	}
	for i, t := range tokens {
		switch {
		case l.starts(tokens[i:], l.Compare) > 0:
			return parts
		case l.starts(tokens[i:], l.Theirs) > 0, l.starts(tokens[i:], l.Cut) > 0, t.mark && t.text != "," && t.text != "&":
			end()
			return parts
		case t.mark, slices.Contains(l.And, t.text):
			end()
		default:
			part = append(part, t.text)
		}
	}
	end()
	return parts
}

// askingSentence returns where the last sentence with an asking word begins and ends; both are 0 when there is none.
func (l *Language) askingSentence(tokens []token) (from, to int) {
	end := len(tokens)
	for i := len(tokens); i >= 0; i-- {
		if i > 0 {
			t := tokens[i-1]
			// A full stop ends a sentence only where a blank follows: 3.5, U.S.
			if !t.mark || !strings.Contains(".?!", t.text) || i < len(tokens) && tokens[i].from == t.to {
				continue
			}
		}
		if l.has(tokens[i:end], l.Ask) {
			return i, end
		}
		end = max(i-1, 0)
	}
	return 0, 0
}
