package knowledge

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Match reports whether a question equals the verified question, except for the values of its parameters. It returns
// these values by the names of the parameters. Letter case, blanks and the last punctuation mark do not matter. A
// parameter whose Default is not in the verified question has no entry.
func (v VerifiedQuery) Match(question string) (values map[string]string, ok bool) {
	asked, known := bare(question), bare(v.Question)
	var places []place
	for i, p := range v.Params {
		for _, at := range occurrences(known, p.Default) {
			places = append(places, place{at, at + len(p.Default), i})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return a.from - b.from })
	pattern, end := "(?is)^", 0
	for _, p := range places {
		if p.from < end {
			return nil, false // one parameter stands in another
		}
		pattern += regexp.QuoteMeta(known[end:p.from]) + "(.+?)"
		end = p.to
	}
	found := regexp.MustCompile(pattern + regexp.QuoteMeta(known[end:]) + "$").FindStringSubmatch(asked)
	if found == nil {
		return nil, false
	}
	values = map[string]string{}
	for i, p := range places {
		param, text := v.Params[p.param], found[i+1]
		if strings.EqualFold(text, param.Default) {
			text = param.Default
		}
		if before, given := values[param.Name]; given && before != text {
			return nil, false
		}
		values[param.Name] = text
	}
	return values, true
}

// place is where a parameter stands in a question.
type place struct{ from, to, param int }

// bare is a question without what does not count, letter case aside.
func bare(question string) string {
	return strings.TrimRight(words.Line(strings.ToValidUTF8(question, "\uFFFD")), "?!. ")
}

// occurrences are the places of a text in a question, as whole words.
func occurrences(question, text string) (places []int) {
	if text == "" || !utf8.ValidString(text) {
		return nil
	}
	lower, text := words.LowerASCII(question), words.LowerASCII(text)
	for from := 0; ; {
		at := strings.Index(lower[from:], text)
		if at < 0 {
			return places
		}
		at += from
		from = at + len(text)
		if !joined(lower[:at], text) && !joined(text, lower[from:]) {
			places = append(places, at)
		}
	}
}

// joined reports whether a word goes on from one text to the next.
func joined(before, after string) bool {
	b, a := words.Of(before), words.Of(after)
	if len(b) == 0 || len(a) == 0 {
		return false
	}
	return strings.HasSuffix(strings.ToLower(before), b[len(b)-1]) && strings.HasPrefix(strings.ToLower(after), a[0])
}

// Parameterized returns a verified query with a parameter for each constant that its statement compares with a stored
// column, if it has no parameters yet. Constants may depend on each other. So it adds parameters only if every
// constant is once in the question and once in the statement. The constants 0 and 1 may be only in the statement.
func (v VerifiedQuery) Parameterized(s *schema.Schema, d sqltext.Dialect) VerifiedQuery {
	if len(v.Params) > 0 || v.Logical {
		return v
	}
	statement := d.Parse(v.SQL)
	question, seen := bare(v.Question), map[string]bool{}
	for _, l := range statement.Literals() {
		switch {
		case l.Value == "0" || l.Value == "1":
		case seen[l.Value] || len(occurrences(question, l.Value)) != 1:
			return v
		}
		seen[l.Value] = true
	}
	sql := statement.SQL()
	compared := statement.Comparisons()
	slices.SortStableFunc(compared, func(a, b sqlshape.Comparison) int { return b.Literals[0].Pos - a.Literals[0].Pos })
	for _, c := range compared {
		l := c.Literals[0]
		column, ok := columnOf(s, c.ColumnRef)
		if c.Op != "=" || !ok || l.Kind == sqlshape.QuotedName || len(occurrences(question, l.Value)) != 1 {
			continue
		}
		p := Param{Name: "p" + strconv.Itoa(len(v.Params)+1), Column: column, Default: l.Value}
		v.Params = append(v.Params, p)
		sql = sql[:l.Pos] + ":" + p.Name + sql[l.Pos+len(l.Text):]
	}
	v.SQL = sql
	return v
}

// columnOf writes a column of a statement as table.column; false: it is not known of which table it is.
func columnOf(s *schema.Schema, c sqlshape.ColumnRef) (string, bool) {
	var found []string
	for _, t := range c.Scope {
		if c.Table != "" && !strings.EqualFold(c.Table, t.Name) {
			continue
		}
		if stored, ok := s.Lookup(t.Schema, t.Name); ok {
			if column, has := stored.Column(c.Column); has {
				found = append(found, Table{Name: stored.Name}.ColumnName(column.Name))
			}
		}
	}
	if len(slices.Compact(found)) != 1 {
		return "", false
	}
	return found[0], true
}

// Stored returns the database column for a column of the model (table.column); false if the model or the database
// does not have it.
func (m Model) Stored(s *schema.Schema, column string) (schema.ColumnName, bool) {
	e, err := parse(sqltext.SQLite(), column)
	it, ok := e.alone()
	if err != nil || !ok || it.qualifier == "" {
		return schema.ColumnName{}, false
	}
	t := Table{Name: it.qualifier}
	if i := m.table(it.qualifier); i >= 0 {
		t = m.Tables[i]
	}
	stored := (&within{s: s, m: &m}).stored(&t)
	if stored == nil {
		return schema.ColumnName{}, false
	}
	found, has := stored.Column(m.storedName(it))
	if !has {
		return schema.ColumnName{}, false
	}
	return schema.ColumnName{Table: stored.TableName(), Column: found.Name}, true
}
