// Package meaning says in words what a statement computes, and what tells several statements about one question apart. It
// asks no model: it reads the plain shapes of one SELECT (columns, functions of many rows, joins over equal columns,
// conditions with constants, groups, an order and a limit) and is silent about every other, because half a sentence misleads.
package meaning

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/sqltext"
)

// Sentence says what a statement computes, in one sentence; "" for a statement whose shape is not known. Names and constants
// are those of the statement: show them as text.
func Sentence(d sqltext.Dialect, sql string) string {
	f, ok := read(d, sql)
	if !ok {
		return ""
	}
	what := f.shows
	if f.distinct {
		what = []string{"each different " + listed(f.shows, "and")}
	}
	counts := false // a count of rows names the tables
	for _, m := range f.measures {
		what = append(what, m.noun)
		counts = counts || m.rows
	}
	if len(what) == 0 {
		what, f.groups = []string{"each " + listed(f.groups, "with")}, nil
	}
	text := listed(what, "and")
	add := func(lead string, words []string, join string) {
		if len(words) > 0 {
			text += lead + listed(words, join)
		}
	}
	add(" for each ", f.groups, "and")
	switch from := strings.Join(f.from, " with "); {
	case len(f.measures) == 0 && len(f.from) == 1:
		text += " of " + from
	case !counts || len(f.measures) > 1 && len(f.from) == 1:
		text += ", from " + from
	}
	add(", also where there are no ", f.also, "or")
	add(", only where ", f.where, "and")
	add(", only groups where ", f.having, "and")
	switch order := strings.Join(f.order, ", then "); {
	case order != "" && f.limit == "1":
		text += "; only the first: " + order
	case order != "":
		text += "; " + order + " first"
	}
	if f.limit != "" && (f.limit != "1" || len(f.order) == 0) {
		text += "; " + f.limit + " at most"
	}
	return capital(text) + "."
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

// whereAspect is the place of the conditions.
const whereAspect = 3

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
	from := slices.Clone(f.from)
	for _, table := range f.also {
		from = append(from, "also what has no "+table)
	}
	return [][]string{does, f.groups, from, f.where, f.having, first, limit}
}
