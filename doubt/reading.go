package doubt

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// QuestionFeatures holds the features that rules use. [Rules.Read] reads a question once for all its
// candidates. Safe for concurrent use.
type QuestionFeatures struct {
	Text     string // the question as it was asked
	Evidence string // knowledge given with the question

	// Language is the name of the language of the question. It is "" if the language is unknown. Then rules
	// that read words find nothing, and the fields below are zero.
	Language string

	HowMany    bool // asks for one number of things
	Count      bool // asks for a number of things, perhaps one per row, or for a share
	Each       bool // asks for a row a group
	Sum        bool // asks for a total
	Everything bool // asks for all columns
	Open       bool // asks who something is, or whether something is so; it names no columns
	Negation   bool // denies or excludes something, in the question or its evidence

	// Asks is the kind of answer: "ranking" (the first of an order), "groups" (one number per group), "value"
	// (one number) or "list". If the words fit several kinds, the first in this list counts. Sorted reports
	// that a LIMIT fits the question.
	Asks   string
	Sorted bool

	// Columns is the number of columns that the asking phrase names, at most 6; 0 if it is unknown.
	Columns int
	// Things lists, as stems, what the asking phrase names: order and total in "list open orders and totals for
	// …". Each thing is one word: the first plural of several words, otherwise the last word.
	Things []string
	// Phrases holds the parts of the asking phrase, in lower case: "product codes" and "names" in "show product
	// codes and names of …". Without an asking word it holds the beginning of the question. Theirs holds the
	// parts after "with their" and "and their". A phrase with a comparison ("credit limits above 500") is a
	// filter and is in neither list.
	Phrases, Theirs []string

	tokens   []token
	words    []token // the tokens that are no marks
	language *Language
}

// Has reports whether the question contains one of the phrases. See [Language] for their form.
// Custom rules may call it.
func (q QuestionFeatures) Has(phrases ...string) bool {
	l := q.language
	if l == nil {
		l = &Language{}
	}
	return l.has(q.words, phrases)
}

// Unlimited reports whether the question asks for everything: its language is known, and no word names a number
// or a first, last, greatest or least thing.
func (q QuestionFeatures) Unlimited() bool {
	return q.Language != "" && !q.Sorted && q.Asks != "ranking" &&
		!q.Has("#", "*est", "most", "least", "few", "example*", "sample*", "some", "any", "a/one *", "first", "last")
}

var excludesInSQL = compile(`(?i)<>|!=|≠|is null`)

// read fills in a question in language l.
func (q *QuestionFeatures) read(l *Language) {
	q.Language, q.language = l.Name, l
	in := func(phrases []string) bool { return l.has(q.words, phrases) }
	q.HowMany = l.starts(q.words, l.HowMany) > 0
	q.Count = in(l.Count)
	q.Each = in(l.Each) || l.has(l.without(q.words, l.NotGroup), l.By)
	q.Sum = l.has(l.without(q.words, l.NotSum), l.Sum)
	q.Everything = in(l.Everything)
	q.Open = l.starts(q.words, l.Open) > 0
	// The evidence defines how to compute the answer. An exclusion in it, also as an SQL
	// operator, counts as asked for.
	q.Negation = in(l.Negation) || l.has(unmarked(tokenize(q.Evidence)), l.Negation) ||
		excludesInSQL.MatchString(q.Evidence)
	q.Columns = q.columns(l)
	q.Phrases, q.Theirs = q.phrases(l)
	rest := l.without(q.words, l.NotFirst)
	at, beside := l.find(rest, l.Beside)
	switch {
	case l.has(rest, l.First):
		q.Asks, q.Sorted = "ranking", true
	case l.has(l.without(rest, l.NotGroup), l.Groups), beside > 0 && !l.has(rest[:at], l.OneValue),
		l.has(rest, l.EachOf) && l.has(rest, l.OneValue):
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
	sum := 0
	for end, more := len(q.tokens), true; more; {
		from, to := l.askingSentence(q.tokens[:end])
		sum += q.sentenceColumns(q.tokens[from:to], l)
		end, more = from, l.starts(q.tokens[from:to], l.Furthermore) > 0
	}
	return min(sum, 6) // nobody names more things in one sentence
}

// sentenceColumns is columns for one sentence.
func (q *QuestionFeatures) sentenceColumns(sentence []token, l *Language) int {
	rest := sentence
	if comma := slices.IndexFunc(rest, func(t token) bool { return t.text == "," }); comma >= 0 &&
		l.starts(rest, l.EachFirst) > 0 {
		rest = rest[comma+1:] // behind "for each …,"
	}
	at, n := l.find(rest, l.Ask)
	if n == 0 {
		return 0
	}
	measure := func(tokens []token) bool { return l.has(tokens, l.Measures) }
	counted := measure(rest[at : at+n]) // "how many" is a measure itself
	// A count is not a record. The same holds for "who" in "customers who …", which stands for the customers.
	records, measures := !counted && !l.relative(rest, at), 0
	rest = l.filled(rest[at+n:])
	named, cut := l.parts(rest, nil)
	if len(named) == 0 {
		named = [][]token{nil} // "How many are there?"
	}
	for i, part := range named {
		if stem := thing(part); records && stem != "" {
			q.Things = append(q.Things, stem)
		}
		if measure(part) || i == 0 && counted {
			measures++
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
	grouped := l.without(sentence, l.NotGroup)
	if at, n := l.find(grouped, l.By); n > 0 {
		groups, _ := l.parts(grouped[at+n:], nil)
		more += max(1, len(groups))
	} else if q.Each && len(named) == measures {
		more++ // only numbers by group are named: the group itself goes without saying
	}
	return len(named) + more
}

// thing returns the stem of the noun in a phrase: the first plural that owns nothing, else the last word.
func thing(phrase []token) (stem string) {
	for i, t := range phrase {
		if t.mark {
			continue
		}
		owns := strings.HasSuffix(t.text, "'s") || i+1 < len(phrase) && strings.Contains("'’", phrase[i+1].text)
		if stem = words.Stem(t.text); stem != t.text && !owns {
			break
		}
	}
	return stem
}

// relative reports whether the asking word at this place asks nothing, as in "customers who have no orders".
func (l *Language) relative(tokens []token, at int) bool {
	return at > 0 && !tokens[at-1].mark && l.starts(tokens[at:], l.Cut) > 0
}

// filled returns tokens without what may stand between an asking word and the first thing asked for.
func (l *Language) filled(tokens []token) []token {
	for len(tokens) > 0 && l.starts(tokens, l.AskFill) > 0 {
		tokens = tokens[1:]
	}
	return tokens
}

// phrases are the parts of the lists at the beginning of the question and behind "their".
func (q *QuestionFeatures) phrases(l *Language) (asked, theirs []string) {
	rest := q.tokens
	if from, to := l.askingSentence(rest); to > from {
		rest = rest[from:to]
		if at, n := l.find(rest, l.Ask); !l.relative(rest, at) {
			rest = rest[at+n:]
		}
	}
	texts := func(tokens []token) (list []string) {
		parts, end := l.parts(tokens, l.Theirs)
		if len(parts) > 0 && l.starts(tokens[end:], l.Compare) > 0 {
			parts = parts[:len(parts)-1]
		}
		for _, part := range parts {
			list = append(list, strings.ToLower(q.Text[part[0].from:part[len(part)-1].to]))
		}
		return list
	}
	rest = l.filled(rest)
	if at, n := l.find(rest, l.Theirs); n > 0 {
		theirs = texts(rest[at+n:])
	}
	return texts(rest), theirs
}

// parts returns the parts, each with a word in it, of the list at the beginning of tokens, and where the list ends: at
// Cut, at Compare or at one of the phrases ends.
func (l *Language) parts(tokens []token, ends []string) (parts [][]token, end int) {
	begin := 0
	part := func(end int) {
		if len(unmarked(tokens[begin:end])) > 0 {
			parts = append(parts, tokens[begin:end])
		}
		begin = end + 1
	}
	for i, t := range tokens {
		rest := tokens[i:]
		switch {
		case l.starts(rest, l.Cut)+l.starts(rest, ends)+l.starts(rest, l.Compare) > 0,
			t.mark && strings.Contains(".?!;:(", t.text):
			part(i)
			return parts, i
		case t.text == ",", t.text == "&", slices.Contains(l.And, t.text):
			part(i)
		}
	}
	part(len(tokens))
	return parts, len(tokens)
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
