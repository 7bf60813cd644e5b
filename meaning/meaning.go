package meaning

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/sqltext"
)

// maxWords is how many words a sentence has at most. A longer one helps no reader more than the statement does.
const maxWords = 25

// Sentence says what a statement computes, in one sentence of at most 25 words: "Total amount of sales by region; highest
// first." It is "" for a statement whose shape is not known, and for one that takes more words. Names and constants are those
// of the statement: show them as text. Safe for concurrent use.
func Sentence(d sqltext.Dialect, sql string) string {
	f, ok := read(d, sql)
	if !ok {
		return ""
	}
	return short(capital(f.sentence()) + ".")
}

// short is a text of at most maxWords words, "" for a longer one.
func short(text string) string {
	if len(strings.Fields(text)) > maxWords {
		return ""
	}
	return text
}

// sentence is what the statement computes, in words.
func (f facts) sentence() string {
	text := f.subject()
	add := func(lead string, words []string, join string) {
		if len(words) > 0 {
			text += lead + listed(words, join)
		}
	}
	add(" without ", f.without, "or")
	if len(f.measures)+len(f.shows) > 0 {
		add(" by ", f.groups, "and")
	}
	add(", also where there are no ", f.also(), "or")
	add(", where ", f.where, "and")
	add(", only where the ", f.having, "and the ")

	switch order := strings.Join(f.order, ", then "); {
	case f.limit == "" && len(f.order) == 1 && slices.Contains(f.groups, strings.TrimPrefix(order, "earliest ")): // as everybody expects
	case order != "" && f.limit == "1":
		text += "; only the first: " + order
	case order != "":
		text += "; " + order + " first"
	}
	if f.limit != "" && (f.limit != "1" || len(f.order) == 0) {
		text += "; " + f.limit + " at most"
	}
	return text
}

// subject is what the statement lists or computes, of which table.
func (f facts) subject() string {
	what := f.shows
	if f.distinct {
		what = []string{"each different " + listed(f.shows, "and")}
	}
	counts := false // a count of rows names the table
	for _, m := range f.measures {
		what = append(slices.Clip(what), m.noun)
		counts = counts || m.rows != ""
	}
	if len(what) == 0 {
		what = []string{"each " + listed(f.groups, "with")}
	}

	text := listed(what, "and")
	if single := len(f.from) == len(f.without)+1; single && !counts {
		text += " of " + f.from[0]
	}
	return text
}

// also are the tables of which there may be no row.
func (f facts) also() []string {
	return slices.DeleteFunc(slices.Clone(f.joined), func(t string) bool { return slices.Contains(f.without, t) })
}

func capital(text string) string {
	_, size := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:size]) + text[size:]
}

// Differences says of each statement what it does and not all others do, as short phrases; "" for those whose shape is not
// known. If fewer than two are known, or they differ in nothing that has words, a known one gets its sentence.
func Differences(d sqltext.Dialect, statements []string) []string {
	told, known := make([]string, len(statements)), [][][]string{}
	for _, sql := range statements {
		if f, ok := read(d, sql); ok {
			known = append(known, f.aspects())
		}
	}
	for i, sql := range statements {
		f, ok := read(d, sql)
		if !ok {
			continue
		}
		var parts []string
		for n, list := range f.aspects() {
			var extra []string
			for _, phrase := range list {
				if n == fromAspect && slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(part, phrase) }) {
					continue // what is counted names it
				}
				if slices.ContainsFunc(known, func(other [][]string) bool { return !slices.Contains(other[n], phrase) }) {
					extra = append(extra, phrase)
				}
			}
			if len(extra) > 0 {
				parts = append(parts, lead[n]+listed(extra, "and"))
			} else if n == whereAspect && len(list) == 0 && slices.ContainsFunc(known, func(other [][]string) bool { return len(other[n]) > 0 }) {
				parts = append(parts, "without a condition")
			}
		}
		if told[i] = capital(strings.Join(parts, "; ")); len(known) < 2 || told[i] == "" {
			told[i] = strings.TrimSuffix(Sentence(d, sql), ".")
		}
	}
	return told
}

// The places of the tables and of the conditions.
const (
	fromAspect  = 2
	whereAspect = 3
)

// lead stands before what is different in an aspect.
var lead = []string{"", "for each ", "reads ", "only where ", "only groups where ", "", ""}

// aspects are the phrases that tell statements apart.
func (f facts) aspects() [][]string {
	var does, first []string
	for _, m := range f.measures {
		does = append(does, m.verb)
	}
	if len(f.shows) > 0 {
		verb := "shows "
		if f.distinct {
			verb = "shows each different "
		}
		does = append(does, verb+listed(f.shows, "and"))
	}
	if len(f.order) > 0 {
		first = []string{strings.Join(f.order, ", then ") + " first"}
	}
	limit := []string{}
	if f.limit != "" {
		limit = []string{f.limit + " at most"}
	}
	from := slices.DeleteFunc(slices.Clone(f.from), func(t string) bool { return slices.Contains(f.without, t) })
	for _, table := range f.also() {
		from = append(from, "also what has no "+table)
	}
	for _, table := range f.without {
		from = append(from, "only what has no "+table)
	}
	return [][]string{does, f.groups, from, f.where, f.having, first, limit}
}
