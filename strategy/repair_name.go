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
	names, tables := sameWords(s, statement, qualifier, last)
	if len(names) != 1 || names[0] == last || len(tables) == 0 && hasAlias(statement, last) {
		return ""
	}

	return replaced(statement, func(tokens []sqltext.Token, i int) string {
		text := func(at int) string {
			if at < 0 || at >= len(tokens) {
				return ""
			}
			return tokens[at].Text
		}
		is := isName(tokens[i], last)
		switch isQualifier := text(i+1) == "."; {
		case len(tables) > 0:
			is = is && (slices.Contains(tables, tokens[i].Pos) || isQualifier && text(i-1) != ".")
		case isQualifier || text(i+1) == "(" || strings.EqualFold(text(i-1), "AS"):
			return ""
		case qualifier != "" && text(i-1) == ".":
			is = is && i > 1 && isName(tokens[i-2], qualifier)
		}
		if !is {
			return ""
		}
		return env.Quote(names[0])
	})
}

// replaced is a statement with other tokens where by gives one. It is "" where it gives none, and for a text that is
// cut in a string.
func replaced(s *sqltext.Statement, by func(tokens []sqltext.Token, i int) string) string {
	tokens := slices.Collect(s.Tokens())
	var b strings.Builder
	end := 0
	for i, t := range tokens {
		if t.Kind == sqltext.Unterminated {
			return ""
		}
		if text := by(tokens, i); text != "" {
			b.WriteString(s.SQL()[end:t.Pos] + text)
			end = t.Pos + len(t.Text)
		}
	}
	if end == 0 {
		return ""
	}
	return b.String() + s.SQL()[end:]
}

// sameWords are the tables with the words of a name, if the statement reads unknown tables of this name, and where it
// does. Otherwise they are columns of the tables that it reads, or of the one that a qualifier names.
func sameWords(s *schema.Schema, statement *sqltext.Statement, qualifier, name string) (names []string, tables []int) {
	wanted := strings.Join(words.Stems(name), "")
	add := func(other string) {
		if wanted != "" && wanted == strings.Join(words.Stems(other), "") {
			names = append(names, other)
		}
	}
	refs := statement.Tables()
	for _, ref := range refs {
		if _, known := s.Lookup(ref.Schema, ref.Name); !known && ref.Base() && strings.EqualFold(ref.Name, name) {
			tables = append(tables, ref.Pos)
		}
	}
	if len(tables) > 0 {
		for _, t := range s.Tables {
			add(t.Name)
		}
		return names, tables
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
	slices.Sort(names)
	return slices.Compact(names), nil
}
