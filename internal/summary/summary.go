package summary

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/sqltext"
)

// How many words a sentence has at most, behind an answer and about a statement. A longer one helps no reader more than
// the statement does.
const (
	maxWords    = 25
	maxSentence = 40
)

// Sentence says what a statement computes, in one sentence of at most 40 words: "Total amount of sales by region;
// highest first." It is "" for a statement whose shape is not known, and for one that takes more words. Names and
// constants are those of the statement: show them as text. Safe for concurrent use.
func Sentence(d sqltext.Dialect, sql string) string {
	f, ok := read(d, sql)
	if !ok {
		return ""
	}
	return capWords(capital(f.sentence())+".", maxSentence)
}

// short is a text of at most maxWords words, "" for a longer one.
func short(text string) string { return capWords(text, maxWords) }

func capWords(text string, limit int) string {
	if len(strings.Fields(text)) > limit {
		return ""
	}
	return text
}

// sentence is what the statement computes, in words.
func (f facts) sentence() string {
	text := f.what()
	if len(f.measures)+len(f.shows) > 0 && len(f.groups) > 0 {
		text += " by " + listed(f.groups, "and")
	}
	return text + led(", where ", listed(f.where, "and")) + led(f.also(), listed(f.joined, "or")) +
		led(", only where ", listed(f.having, "and")) + led("; ", f.orderText())
}

// led is a text behind its lead; "": there is none.
func led(lead, text string) string {
	if text == "" {
		return ""
	}
	return lead + text
}

// also says that there need not be rows of a table that is joined.
func (f facts) also() string {
	if f.ones {
		return ", counting 1 where "
	}
	return ", also where "
}

// orderText says in which order the rows are, and how many there are at most.
func (f facts) orderText() string {
	switch {
	case f.limit != "" && len(f.order) == 0:
		return f.limit + " at most"
	case len(f.order) == 0 || f.usual && f.limit == "":
		return ""
	}

	var terms []string
	for _, term := range f.order {
		if first, _, _ := strings.Cut(term, " "); slices.Contains(ranks, first) {
			term += " first"
		}
		terms = append(terms, term)
	}
	if f.limit == "" {
		return strings.Join(terms, ", then ")
	}

	text := "the " + f.limit + " " + f.top
	switch by, first := strings.CutPrefix(f.top, "first "); {
	case f.limit == "1" && (slices.Contains(ranks, f.top) || first || strings.HasPrefix(f.top, "last ")):
		text = "only the " + f.top
	case f.limit == "1":
		text = "only the one " + f.top
	case first:
		text = "the first " + f.limit + " " + by
	}
	if len(terms) > 1 {
		text += ", then " + strings.Join(terms[1:], ", then ")
	}
	return text
}

// ranks are the first words of orders that say which rows stand first.
var ranks = strings.Fields("lowest highest earliest latest")

// maxShown is how many columns of a list are named.
const maxShown = 6

// columnTexts is what the statement lists.
func (f facts) columnTexts() []string {
	shows := f.shows
	if more := len(shows) - maxShown; more > 1 {
		shows = append(slices.Clone(shows[:maxShown]), strconv.Itoa(more)+" more columns")
	}
	if f.distinct {
		return []string{"each different " + listed(shows, "and")}
	}
	return slices.Clone(shows)
}

// what is what the statement lists or computes, of which rows.
func (f facts) what() string {
	all := f.columnTexts()
	counted, whole, with := false, false, false // how the measures name the rows
	for _, m := range f.measures {
		all = append(all, m.noun)
		counted = counted || m.rows == f.subject && m.rows != ""
		whole = whole || m.whole
		with = m.with && len(f.measures)+len(f.shows) == 1
	}
	if len(all) == 0 {
		all = []string{"each " + listed(f.groups, "with")}
	}

	narrowing := f.narrowText()
	switch text := listed(all, "and"); {
	case f.subject == "":
		return text
	case whole && narrowing != "":
		return text + ", of " + f.subject + narrowing
	case whole, counted && narrowing == "":
		return text
	case counted && len(all) == 1:
		return text + narrowing
	case counted:
		return strings.Replace(text, "number of "+f.subject, "number", 1) + " of " + f.subject + narrowing
	case with:
		return text + " with " + f.subject + narrowing
	default:
		return text + f.of + narrowing
	}
}

func capital(text string) string {
	_, size := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:size]) + text[size:]
}

// DescribeDifferences labels each statement with what it computes and not all others do: "Customers by number of
// orders", "Orders that are not paid"; "" for those whose shape is not known. If they differ in nothing that has words,
// or fewer than two are known, a known one gets its sentence.
func DescribeDifferences(d sqltext.Dialect, statements []string) []string {
	told, known := make([]string, len(statements)), []facts{}
	all := make([]*facts, len(statements))
	for i, sql := range statements {
		if f, ok := read(d, sql); ok {
			all[i], known = &f, append(known, f)
		}
	}
	for i, f := range all {
		if f != nil && len(known) > 1 {
			told[i] = capital(f.label(known))
		}
	}
	labels := slices.Clone(told)
	for i, sql := range statements {
		twice := slices.Index(labels, labels[i]) != i || slices.Contains(labels[i+1:], labels[i])
		if all[i] != nil && (labels[i] == "" || twice) {
			told[i] = strings.TrimSuffix(Sentence(d, sql), ".")
		}
	}
	return told
}

// aspects are what may tell statements apart: what they compute, by what, of which rows, of which groups, in which
// order.
func (f facts) aspects() [5]string {
	nouns := f.columnTexts()
	for _, m := range f.measures {
		nouns = append(nouns, m.noun)
	}
	return [5]string{listed(nouns, "and"), listed(f.groups, "and"), f.rows(), listed(f.having, "and"), f.orderText()}
}

// label is what f computes and not all of known do.
func (f facts) label(known []facts) string {
	is := f.aspects()
	var differs [5]bool
	for _, o := range known {
		for i, other := range o.aspects() {
			differs[i] = differs[i] || other != is[i]
		}
	}

	text := ""
	switch {
	case differs[0]:
		if text = f.what(); !differs[1] {
			text = f.thing() + text
		}
		if differs[2] {
			text += led(" where ", listed(f.where, "and"))
		}
	case differs[2]:
		text = f.all(known) + is[2]
	}

	for _, add := range []struct {
		aspect int
		lead   string
	}{{1, " by "}, {3, ", only where "}, {4, "; "}} {
		silent := is[add.aspect] == "" || add.aspect == 1 && len(f.measures)+len(f.shows) == 0
		if differs[add.aspect] && !silent {
			text += add.lead + is[add.aspect]
		}
	}
	return strings.TrimLeft(text, " ,;")
}

// thing is what the groups are, before the only measure of them: "customers by "; "" for times, and for several groups.
func (f facts) thing() string {
	if len(f.measures) != 1 || len(f.groups) != 1 || f.cut {
		return ""
	}
	by := f.groups[0]
	one, named := strings.CutSuffix(by, " name")
	if many, sure := Plural(one); named && sure && slices.Contains(f.from, many) {
		by = one
	}
	many, sure := Plural(by)
	if !sure {
		return ""
	}
	return many + " by "
}

// all is "all " of rows that another statement narrows.
func (f facts) all(known []facts) string {
	narrower := func(o facts) bool { return o.subject == f.subject && o.subject != "" && o.conditions() != "" }
	if f.conditions() == "" && slices.ContainsFunc(known, narrower) {
		return "all "
	}
	return ""
}
