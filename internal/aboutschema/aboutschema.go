// Package aboutschema answers questions about the schema itself: which tables there are and how many, and which columns
// a table has. The answer is a statement over constants, so that it is shown and counted as any other, and no model is
// called.
package aboutschema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// mostRows bounds an answer: engines take only so many parts of a UNION.
const mostRows = 400

// form is a kind of question in the languages that are read. Its only group in a wording is the table that it asks
// about.
type form struct {
	asks  *regexp.Regexp
	nouns []string // words that the question may mean as data: the tables of a restaurant
	write func(s *schema.Schema, t *schema.Table) string
}

// read compiles the wordings of a form. NAME is the name of a table, THE what may stand in front of it.
func read(wordings ...string) *regexp.Regexp {
	text := `(?i)^[\s¿¡]*(?:` + strings.Join(wordings, "|") + `)[\s.?!？。؟]*$`
	text = strings.ReplaceAll(text, "NAME", "[`\"'«“]?([\\pL\\pN_$]+?(?:[ .-][\\pL\\pN_$]+){0,3}?)[`\"'»”]?")
	return regexp.MustCompile(strings.ReplaceAll(text, "THE ",
		`(?:(?:the|our|my|this|die|der|das|la|le|el|les|los|las)\s+)?`))
}

const (
	show    = `(?:please\s+)?(?:(?:can|could)\s+you\s+)?(?:which|what|show|list|give|name|tell)(?:\s+(?:me|us|all|the|of|are|names?|a|list))*\s+`
	inThere = `(?:\s+(?:are\s+there|there\s+are|exist|do\s+(?:you|we|i)\s+have|can\s+i\s+(?:ask|query)(?:\s+about)?|` +
		`does\s+(?:it|this|the)\s*(?:database|schema)?\s*have|(?:are\s+)?(?:there\s+)?(?:in|of)\s+(?:the|this|my|your)\s+(?:database|db|schema)|` +
		`are\s+available))?`
	ofTable = `\s+(?:does|do|has|have|of|in|for|are\s+(?:there\s+)?in|are\s+there\s+in|exist\s+in|belong\s+to)\s+THE (?:tables?\s+)?NAME` +
		`(?:\s+table)?(?:\s+(?:have|has|contain|there))?`
)

var forms = []form{
	{read(show+`tables?(?:\s+names)?`+inThere,
		`welche\s+tabellen\s+(?:gibt\s+es|hast\s+du|sind\s+vorhanden)(?:\s+in\s+der\s+datenbank)?`,
		`(?:qué|que|cuáles)\s+tablas\s+(?:hay|tienes|existen)(?:\s+en\s+la\s+base\s+de\s+datos)?`,
		`quelles\s+(?:sont\s+les\s+)?tables(?:\s+(?:existent|y\s+a-t-il|disponibles))?`,
		`(?:有哪些表|有什么表|数据库(?:里|中)?有哪些表)`, `どんなテーブルがありますか`, `ما\s+هي\s+الجداول(?:\s+الموجودة)?`),
		[]string{"table"}, listTables},
	{read(`how\s+many\s+tables`+inThere, `what\s+is\s+the\s+number\s+of\s+tables`+inThere,
		`wie\s+viele\s+tabellen\s+(?:gibt\s+es|hat\s+die\s+datenbank)`, `cuántas\s+tablas\s+(?:hay|existen|tienes)`,
		`combien\s+(?:de\s+tables\s+(?:y\s+a-t-il|existe-t-il)|y\s+a-t-il\s+de\s+tables)`, `有(?:多少|几)(?:个|张)?表`,
		`テーブルはいくつありますか`,
		`كم\s+(?:عدد\s+الجداول|جدول(?:ا|اً)?\s+(?:هناك|يوجد))`),
		[]string{"table"}, countTables},
	{read(`how\s+many\s+(?:columns|fields)`+ofTable, `wie\s+viele\s+spalten\s+hat\s+THE (?:tabelle\s+)?NAME`,
		`cuántas\s+columnas\s+tiene\s+THE (?:tabla\s+)?NAME`,
		`combien\s+de\s+colonnes\s+(?:a|contient|possède)\s+THE (?:table\s+)?NAME`,
		`NAME\s*表?有(?:多少|几)(?:个)?(?:列|字段)`, `كم\s+عدد\s+(?:ال)?أعمدة\s+(?:في\s+)?(?:جدول\s+)?NAME`),
		[]string{"column", "field"}, countColumns},
	{read(show+`(?:columns?|fields?|attributes)(?:\s+names)?`+ofTable,
		`(?:please\s+)?(?:describe|desc|explain)\s+THE (?:table\s+)?NAME(?:\s+table)?`,
		`(?:what\s+is|show(?:\s+me)?|describe|explain|give(?:\s+me)?)\s+THE (?:schema|structure|layout|definition|ddl|columns)\s+(?:of|for)\s+THE (?:table\s+)?NAME(?:\s+table)?`,
		`welche\s+(?:spalten|felder)\s+(?:hat|gibt\s+es\s+in|sind\s+in)\s+THE (?:tabelle\s+)?NAME`,
		`beschreib(?:e|en\s+sie)?\s+THE (?:tabelle\s+)?NAME`,
		`(?:qué|que|cuáles)\s+(?:son\s+las\s+)?(?:columnas|campos)\s+(?:tiene|hay\s+en|de)\s+THE (?:tabla\s+)?NAME`,
		`describ(?:e|a|ir)\s+THE (?:tabla\s+)NAME`,
		`quelles\s+(?:sont\s+les\s+)?colonnes\s+(?:a|de|dans|contient|possède)\s+THE (?:table\s+)?NAME`,
		`décri(?:s|vez|re)\s+THE (?:table\s+)?NAME`,
		`NAME\s*表?有(?:哪些|什么)(?:列|字段)`, `描述\s*NAME\s*表?`, `NAME\s*テーブルにはどんな(?:列|カラム)がありますか`,
		`ما\s+هي\s+(?:ال)?أعمدة\s+(?:في\s+)?(?:جدول\s+)?NAME`, `صف\s+(?:جدول\s+)?NAME`),
		[]string{"column", "field"}, listColumns},
}

// Answer returns the statement that answers a question about the schema; "": the question asks for something else, may
// ask about data, or has a longer answer than an engine takes.
func Answer(question string, s *schema.Schema) string {
	for _, f := range forms {
		match := f.asks.FindStringSubmatch(question)
		if match == nil || isData(s, f.nouns) {
			continue
		}
		var t *schema.Table
		for _, name := range match[1:] { // one of each wording
			if name == "" {
				continue
			}
			if t = tableCalled(s, name); t == nil {
				return ""
			}
		}
		return f.write(s, t)
	}
	return ""
}

// isData reports whether a table or one of its columns is called by a noun of the question.
func isData(s *schema.Schema, nouns []string) bool {
	called := func(name string) bool {
		return slices.ContainsFunc(words.Stems(name), func(w string) bool { return slices.Contains(nouns, w) })
	}
	return slices.ContainsFunc(s.Tables, func(t schema.Table) bool {
		return called(t.Name) || slices.Contains(nouns, "column") &&
			slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return called(c.Name) })
	})
}

// tableCalled returns the one table that a name means: as it is written, else with blanks for underscores, else in
// another number. nil: there is none, or several are as near.
func tableCalled(s *schema.Schema, name string) *schema.Table {
	stems := func(name string) string { return strings.Join(words.Stems(name), " ") }
	for _, means := range []func(t *schema.Table) bool{
		func(t *schema.Table) bool { return strings.EqualFold(t.TableName().String(), name) },
		func(t *schema.Table) bool { return words.Squeeze(t.Name) == words.Squeeze(name) },
		func(t *schema.Table) bool { return stems(t.Name) == stems(name) },
	} {
		var found []*schema.Table
		for i := range s.Tables {
			if means(&s.Tables[i]) {
				found = append(found, &s.Tables[i])
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0]
		default:
			return nil
		}
	}
	return nil
}

func listTables(s *schema.Schema, _ *schema.Table) string {
	var rows [][]string
	for i := range s.Tables {
		rows = append(rows, []string{s.Tables[i].TableName().String()})
	}
	return constants([]string{"table_name"}, rows)
}

func countTables(s *schema.Schema, _ *schema.Table) string {
	return fmt.Sprintf("SELECT %d AS table_count", len(s.Tables))
}

func countColumns(_ *schema.Schema, t *schema.Table) string {
	return fmt.Sprintf("SELECT %d AS column_count", len(t.Columns))
}

// listColumns writes the columns of a table with their types, keys and descriptions.
func listColumns(_ *schema.Schema, t *schema.Table) string {
	var rows [][]string
	for _, c := range t.Columns {
		var about []string
		if slices.Contains(t.PrimaryKey, c.Name) {
			about = append(about, "primary key")
		}
		for _, k := range t.ForeignKeys {
			if slices.Contains(k.Columns, c.Name) {
				about = append(about, "refers to "+k.RefTable)
			}
		}
		if c.Description != "" {
			about = append(about, words.Line(c.Description))
		}
		rows = append(rows, []string{c.Name, c.Type, strings.Join(about, ", ")})
	}
	return constants([]string{"column_name", "type", "about"}, rows)
}

// constants is a statement with these rows; "" where it would be too long, or a name cannot be written in every
// dialect.
func constants(columns []string, rows [][]string) string {
	if len(rows) == 0 || len(rows) > mostRows {
		return ""
	}
	parts := make([]string, len(rows))
	for i, row := range rows {
		if strings.ContainsAny(row[0], `'\`) {
			return ""
		}
		var cells []string
		for j, text := range row {
			cell := "'" + strings.NewReplacer(`'`, "’", `\`, "/").Replace(text) + "'"
			if i == 0 {
				cell += " AS " + columns[j]
			}
			cells = append(cells, cell)
		}
		parts[i] = "SELECT " + strings.Join(cells, ", ")
	}
	return strings.Join(parts, " UNION ALL ")
}
