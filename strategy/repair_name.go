package strategy

import (
	"cmp"
	"slices"
	"strings"

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
	qualifier, last, _ := cutLast(name, ".")
	names, places := sameWords(s, statement, qualifier, last)
	if len(names) != 1 || names[0] == last {
		return ""
	}
	return replaced(statement, places, last, env.Quote(names[0]))
}

// replaced is a statement with another text where a name begins at one of these places. It is "" where none does, and
// for a text that is cut in a string.
func replaced(s *sqltext.Statement, places []int, name, by string) string {
	var b strings.Builder
	end := 0
	for t := range s.Tokens() {
		if t.Kind == sqltext.Unterminated {
			return ""
		}
		if slices.Contains(places, t.Pos) && isName(t, name) {
			b.WriteString(s.SQL()[end:t.Pos] + by)
			end = t.Pos + len(t.Text)
		}
	}
	if end == 0 {
		return ""
	}
	return b.String() + s.SQL()[end:]
}

// sameWords are the tables with the words of a name, if the statement reads an unknown table of this name, and where it
// names this one. Otherwise they are columns of the tables that it reads, or of the one that a qualifier names.
func sameWords(s *schema.Schema, statement *sqltext.Statement, qualifier, name string) (names []string, places []int) {
	wanted := strings.Join(words.Stems(name), "")
	add := func(other string) {
		if wanted != "" && wanted == strings.Join(words.Stems(other), "") {
			names = append(names, other)
		}
	}
	refs, columns := statement.Tables(), statement.Columns()
	for _, ref := range refs {
		if _, known := s.Lookup(ref.Schema, ref.Name); !known && ref.Base() && strings.EqualFold(ref.Name, name) {
			places = append(places, ref.Pos)
		}
	}
	if len(places) > 0 {
		for _, c := range columns {
			if strings.EqualFold(c.Qualifier, name) {
				places = append(places, c.Pos)
			}
		}
		for _, t := range s.Tables {
			add(t.Name)
		}
		return names, places
	}

	if hasAlias(statement, name) {
		return nil, nil
	}
	for _, ref := range refs {
		t, known := s.Lookup(ref.Schema, ref.Name)
		if !known || qualifier != "" && !strings.EqualFold(cmp.Or(ref.Alias, ref.Name), qualifier) {
			continue
		}
		for _, c := range t.Columns {
			add(c.Name)
		}
	}
	for _, c := range columns {
		switch {
		case c.Qualifier == "":
			places = append(places, c.Pos)
		case qualifier == "" || strings.EqualFold(c.Qualifier, qualifier):
			places = append(places, c.Pos+len(c.Qualifier)+len("."))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), places
}
