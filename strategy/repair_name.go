package strategy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// respelled is the statement with the only name of the schema that has the words of a name that does not exist:
// Professionals for professional, StuID for stu_id. It is "" where several can be meant.
func respelled(env *Env, s *schema.Schema, sql, name string) string {
	if s == nil || name == "" {
		return ""
	}
	s, _ = s.Presentable()
	statement := env.DB.Language().Text.Parse(sql)
	qualifier, last, _ := words.CutLast(name, ".")
	names, places := tablesLike(s, statement, last)
	if len(places) == 0 {
		names, places = columnsLike(env, s, statement, qualifier, last)
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) != 1 || names[0] == last {
		return ""
	}
	return edited(statement, renamed(statement, places, last, env.Quote(names[0])))
}

// edit puts a text into the place of some bytes of a statement.
type edit struct {
	at, length int
	by         string
}

// renamed writes a name anew at those of the places where it stands.
func renamed(s *sqltext.Statement, places []int, name, by string) (edits []edit) {
	for t := range s.Tokens() {
		if slices.Contains(places, t.Pos) && isName(t, name) {
			edits = append(edits, edit{t.Pos, len(t.Text), by})
		}
	}
	return edits
}

// lastPart is where the last part of the name at a place begins: t."id" has two.
func lastPart(s *sqltext.Statement, pos int) int {
	begun := false
	for t := range s.Tokens() {
		switch {
		case t.Pos < pos:
		case t.Text == ".":
			begun = false
		case begun:
			return pos
		default:
			pos, begun = t.Pos, true
		}
	}
	return pos
}

// edited is a statement with its edits; "" without one, and for a text that is cut in a string.
func edited(s *sqltext.Statement, edits []edit) string {
	for t := range s.Tokens() {
		if t.Kind == sqltext.Unterminated {
			return ""
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at - b.at })
	var b strings.Builder
	end := 0
	for _, e := range edits {
		if e.at < end {
			return ""
		}
		b.WriteString(s.SQL()[end:e.at] + e.by)
		end = e.at + e.length
	}
	if b.Len() == 0 {
		return ""
	}
	return b.String() + s.SQL()[end:]
}

// tablesLike are the tables with the words of a name, in the singular or not, if the statement reads an unknown table
// of this name, and where it names this one.
func tablesLike(s *schema.Schema, statement *sqltext.Statement, name string) (names []string, places []int) {
	refs := statement.Tables()
	for _, ref := range refs {
		if _, known := s.Lookup(ref.Schema, ref.Name); !known && ref.Base() && strings.EqualFold(ref.Name, name) {
			places = append(places, lastPart(statement, ref.Pos))
		}
	}
	if len(places) == 0 {
		return nil, nil
	}
	for _, c := range statement.Columns() {
		if strings.EqualFold(c.Qualifier, name) {
			places = append(places, c.Pos)
		}
	}
	wanted := cmp.Or(joined(words.Stems(name)), name)
	for _, t := range s.Tables {
		if joined(words.Stems(t.Name)) == wanted {
			names = append(names, t.Name)
		}
	}
	for _, ref := range refs {
		if ref.CTE && joined(words.Stems(ref.Name)) == wanted {
			names = append(names, ref.Name)
		}
	}
	return names, places
}

// columnsLike are the columns with the words of a name, of the tables in which the statement looks for it, and where it
// does. A plural has other words: hours may be how long something takes.
func columnsLike(env *Env, s *schema.Schema, statement *sqltext.Statement, qualifier, name string) (names []string,
	places []int) {
	refs := statement.Tables()
	if hasAlias(statement, name) || slices.ContainsFunc(refs, func(ref sqlshape.TableRef) bool { return !ref.Base() }) {
		return nil, nil
	}
	for _, c := range statement.Columns() {
		switch {
		case !strings.EqualFold(c.Column, name), qualifier != "" && !strings.EqualFold(c.Qualifier, qualifier):
			continue
		case c.Quote == '"' && c.Qualifier == "" && env.DB.Language().Backticks: // perhaps a string
			continue
		}
		tables, place := c.Scope, c.Pos
		if c.Qualifier != "" {
			tables, place = []sqlshape.TableRef{{Schema: c.Schema, Name: c.Table}}, lastPart(statement, c.Pos)
		}
		like, exact := columnsOf(s, tables, name)
		switch {
		case exact:
			continue
		case len(like) == 0:
			return nil, nil
		}
		names, places = append(names, like...), append(places, place)
	}
	return names, places
}

// columnsOf are the columns of tables that have the words of a name; exact: one has the name.
func columnsOf(s *schema.Schema, tables []sqlshape.TableRef, name string) (like []string, exact bool) {
	for _, ref := range tables {
		t, known := s.Lookup(ref.Schema, ref.Name)
		if !known {
			continue
		}
		for _, c := range t.Columns {
			exact = exact || strings.EqualFold(c.Name, name)
			if wordsOf(c.Name) == wordsOf(name) {
				like = append(like, c.Name)
			}
		}
	}
	return like, exact
}

// wordsOf are the words of a name without what is between them.
func wordsOf(name string) string { return cmp.Or(joined(words.OfName(name)), name) }

// joined writes words one behind the other, and two numbers apart: q_1_1 is not q11.
func joined(list []string) string {
	var b strings.Builder
	for i, w := range list {
		if i > 0 && isNumber(w) && isNumber(list[i-1]) {
			b.WriteString("_")
		}
		b.WriteString(w)
	}
	return b.String()
}

func isNumber(word string) bool { return '0' <= word[0] && word[0] <= '9' }
