package vote

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

// Question is what doubt rules read in a question, once for all its candidates:
// see [Doubts.Read]. Safe for concurrent use.
type Question struct {
	Text     string // as it was asked
	Evidence string // what is known besides

	// Language is the name of the language it is in; "" when no known language
	// is recognised. Rules that read words are silent then, and the fields below
	// are zero.
	Language string

	HowMany     bool // asks for one number of things
	Count       bool // asks for a number of things, perhaps a row
	Each        bool // asks for a row a group
	Percent     bool // asks for a share
	Sum         bool // asks for a total
	Superlative bool // asks for the extreme
	Single      bool // asks for one thing
	TopN        bool // asks for the first few
	Everything  bool // asks for all columns
	Negation    bool // denies or excludes something; also by its evidence

	// Columns is how many columns the asking phrase names, at most 6; 0 when it
	// cannot be told.
	Columns int
	// Things are the last words of what the asking phrase names, without plural
	// endings: order and total in "list orders and totals for …".
	Things []string

	tokens  []token
	words   []token // the tokens that are no marks
	numbers []string
}

// Has reports whether one of phrases stands in the question: see [Language] for
// their form. It is for rules of one's own.
func (q Question) Has(phrases ...string) bool { return has(q.words, phrases, q.numbers) }

// read fills in a question in language l.
func (q *Question) read(l *Language) {
	q.Language = l.Name
	q.numbers = l.Numbers
	w := q.words
	in := func(phrases []string) bool { return has(w, phrases, l.Numbers) }

	_, q.HowMany = matchAny(w, l.HowMany, l.Numbers)
	q.Count = in(l.Count)
	q.Each = in(l.Each)
	q.Percent = in(l.Percent)
	q.Sum = has(without(w, l.NotSum, l.Numbers), l.Sum, l.Numbers)
	q.Superlative = has(without(w, l.NotSuperlative, l.Numbers), l.Superlative, l.Numbers)
	q.Single = !q.Each && in(l.Single)
	q.TopN = in(l.TopN)
	q.Everything = in(l.Everything)
	// The evidence says how to compute what the question asks for, so what it
	// excludes is asked for too.
	q.Negation = in(l.Negation) || negates(q.Evidence) || has(words(tokenize(q.Evidence)), l.Negation, l.Numbers)
	q.Columns = q.columns(l)
}

// negates reports whether evidence holds a negation in SQL's own marks.
func negates(evidence string) bool {
	return strings.Contains(evidence, "<>") || strings.Contains(evidence, "!=") || strings.Contains(evidence, "≠") ||
		strings.Contains(strings.ToLower(evidence), "is null")
}

// columns counts the columns that the asking phrase names: the parts of the list
// that follows the asking word, in the last sentence that asks.
func (q *Question) columns(l *Language) int {
	end := len(q.tokens)
	sum := 0
	for {
		from, to := askingSentence(q.tokens[:end], l)
		if from == to {
			return min(sum, maxColumns)
		}
		n := q.sentenceColumns(q.tokens[from:to], l)
		if n == 0 {
			return 0
		}
		sum += n
		if _, more := matchAny(q.tokens[from:to], l.Furthermore, l.Numbers); !more {
			return min(sum, maxColumns)
		}
		end = from
	}
}

// maxColumns is where counting ends: nobody names more things in one sentence.
const maxColumns = 6

// sentenceColumns is columns for one sentence.
func (q *Question) sentenceColumns(sentence []token, l *Language) int {
	rest := dropEachFirst(sentence, l)
	at, n := find(rest, l.Ask, l.Numbers)
	if n == 0 {
		return 0
	}
	measure := func(tokens []token) bool { return has(tokens, l.Measures, l.Numbers) }
	asked := rest[at : at+n] // "how many" is a measure itself
	rest = rest[at+n:]
	for len(rest) > 0 {
		if _, ok := matchAny(rest, l.AskFill, l.Numbers); !ok {
			break
		}
		rest = rest[1:]
	}

	// The parts up to the cut: a part is counted when a word stands in it.
	parts, measures, cut := 0, 0, len(rest)
	part := func(tokens []token) {
		if !slices.ContainsFunc(tokens, func(t token) bool { return !t.mark }) {
			return
		}
		parts++
		if last := tokens[len(tokens)-1]; !last.mark {
			q.Things = append(q.Things, sqltext.Stem(last.text))
		}
		if measure(tokens) || parts == 1 && measure(asked) {
			measures++
		}
	}
	begin := 0
	for i, t := range rest {
		if _, ok := matchAny(rest[i:], l.Cut, l.Numbers); ok {
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
		if n, ok := matchAny(rest[i:], l.Also, l.Numbers); ok {
			also++
			i += n
			continue
		}
		if _, ok := matchAny(rest[i:], l.AsksAgain, l.Numbers); ok {
			also++
		}
		i++
	}
	more := min(also, 2)
	if q.Each && parts == measures {
		// Numbers by group, and nothing named that they are of: the group itself
		// goes without saying.
		more++
	}
	if has(q.words, l.Ranking, l.Numbers) {
		more++
	}
	return parts + more
}

// askingSentence returns where the last sentence with an asking word begins and
// ends; both are 0 when there is none.
func askingSentence(tokens []token, l *Language) (from, to int) {
	end := len(tokens)
	for i := len(tokens); i >= 0; i-- {
		if i > 0 {
			t := tokens[i-1]
			// A full stop ends a sentence only where a blank follows: 3.5, U.S.
			if !t.mark || !strings.Contains(".?!", t.text) || i < len(tokens) && tokens[i].from == t.to {
				continue
			}
		}
		if has(tokens[i:end], l.Ask, l.Numbers) {
			return i, end
		}
		end = max(i-1, 0)
	}
	return 0, 0
}

// dropEachFirst drops a "for each …," in front.
func dropEachFirst(tokens []token, l *Language) []token {
	if _, ok := matchAny(tokens, l.EachFirst, l.Numbers); !ok {
		return tokens
	}
	for i, t := range tokens {
		if t.text == "," {
			return tokens[i+1:]
		}
	}
	return tokens
}
