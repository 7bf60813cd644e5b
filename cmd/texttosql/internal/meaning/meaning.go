// Package meaning says in words what a statement computes, and what tells several statements about one question apart. It
// asks no model: it reads the plain shapes of one SELECT (columns, functions of many rows, joins over equal columns,
// conditions with constants, groups, an order and a limit) and is silent about every other, because half a sentence misleads.
package meaning

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
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
	var b strings.Builder
	var what []string
	if f.distinct {
		what = append(what, "each different "+listed(f.shows, "and"))
	} else {
		what = append(what, f.shows...)
	}
	own := len(f.from) == 1 && len(f.measures) > 0 // a measure names the table that it counts
	for _, m := range f.measures {
		what = append(what, m.noun)
		own = own && m.rows
	}
	switch {
	case len(what) == 0:
		what, f.groups = append(what, "each "+listed(f.groups, "with")), nil
	case len(f.measures) == 0 && !f.distinct && len(f.order) > 0 && f.limit == "1":
		f.order, f.limit = []string{"only the first: " + strings.Join(f.order, ", then ")}, ""
	}
	b.WriteString(listed(what, "and"))
	if len(f.groups) > 0 {
		b.WriteString(" for each " + listed(f.groups, "and"))
	}
	if !own && !(len(f.from) > 1 && slices.ContainsFunc(f.measures, func(m measure) bool { return m.rows })) {
		if len(f.measures) > 0 || len(f.from) > 1 {
			b.WriteString(", from " + sources(f))
		} else {
			b.WriteString(" of " + sources(f))
		}
	}
	for _, table := range f.also {
		b.WriteString(", also where there are no " + table)
	}
	if len(f.where) > 0 {
		b.WriteString(", only where " + listed(f.where, "and"))
	}
	if len(f.having) > 0 {
		b.WriteString(", only groups where " + listed(f.having, "and"))
	}
	if len(f.order) > 0 {
		text := strings.Join(f.order, ", then ")
		if !strings.HasPrefix(text, "only ") {
			text += " first"
		}
		b.WriteString("; " + text)
	}
	if f.limit != "" {
		fmt.Fprintf(&b, "; %s at most", f.limit)
	}
	return capital(b.String()) + "."
}

func sources(f facts) string { return strings.Join(f.from, " with ") }

func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// Differences says of each statement what it does and not all others do, as short phrases; "" for those whose shape is not
// known. If fewer than two are known, or they differ in nothing that has words, a known one gets its sentence.
func Differences(d sqltext.Dialect, statements []string) []string {
	told := make([]string, len(statements))
	aspects := map[int][][]string{}
	for i, sql := range statements {
		if f, ok := read(d, sql); ok {
			aspects[i] = f.aspects()
		}
	}
	for i, own := range aspects {
		var parts []string
		for n, list := range own {
			var extra []string
			for _, phrase := range list {
				if slices.ContainsFunc(keysOf(aspects), func(other int) bool { return !slices.Contains(aspects[other][n], phrase) }) {
					extra = append(extra, phrase)
				}
			}
			switch {
			case len(extra) == 0 && n == whereAspect && len(list) == 0 && slices.ContainsFunc(keysOf(aspects), func(other int) bool { return len(aspects[other][n]) > 0 }):
				parts = append(parts, "without a condition")
			case len(extra) > 0:
				parts = append(parts, lead[n]+listed(extra, "and"))
			}
		}
		if told[i] = capital(strings.Join(parts, "; ")); len(aspects) < 2 || told[i] == "" {
			told[i] = strings.TrimSuffix(Sentence(d, statements[i]), ".")
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

func keysOf(m map[int][][]string) []int {
	all := make([]int, 0, len(m))
	for k := range m {
		all = append(all, k)
	}
	return all
}
