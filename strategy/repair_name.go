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
// Professionals for professional, StuID for stu_id, and in PostgreSQL "Orders" for orders. It is "" where several can
// be meant.
func respelled(env *Env, s *schema.Schema, sql, name string) string {
	if s == nil || name == "" {
		return ""
	}
	s, _ = s.Presentable()
	statement := env.DB.Language().Text.Parse(sql)
	qualifier, last, _ := cutLast(name, ".")
	names, tables := sameWords(s, statement, qualifier, last)
	if len(names) != 1 || names[0] == last {
		return ""
	}

	tokens := slices.Collect(statement.Tokens())
	text := func(i int) string {
		if i < 0 || i >= len(tokens) {
			return ""
		}
		return tokens[i].Text
	}
	means := func(i int) bool {
		switch isQualifier := text(i+1) == "."; {
		case len(tables) > 0:
			return slices.Contains(tables, tokens[i].Pos) || isQualifier && text(i-1) != "."
		case isQualifier || text(i+1) == "(" || strings.EqualFold(text(i-1), "AS"):
			return false
		default:
			return qualifier == "" || text(i-1) != "." || isName(tokens[i-2], qualifier)
		}
	}
	var b strings.Builder
	end := 0
	for i, t := range tokens {
		if t.Kind == sqltext.Unterminated {
			return ""
		}
		if isName(t, last) && means(i) {
			b.WriteString(statement.SQL()[end:t.Pos] + env.Quote(names[0]))
			end = t.Pos + len(t.Text)
		}
	}
	if end == 0 {
		return ""
	}
	return b.String() + statement.SQL()[end:]
}

// sameWords are the tables with the words of a name, if the statement reads unknown tables of this name, and where it
// does. Otherwise they are columns of the tables that it reads, or of the one that a qualifier names.
func sameWords(s *schema.Schema, statement *sqltext.Statement, qualifier, name string) (names []string, tables []int) {
	wanted := strings.Join(words.Stems(name), "")
	add := func(other string) {
		if wanted != "" && wanted == strings.Join(words.Stems(other), "") && !slices.Contains(names, other) {
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
	return names, nil
}
