package memory

import (
	"cmp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// maxAdvice is the longest lesson of a prompt, in characters.
const maxAdvice = 300

// Of each kind a prompt shows so many lessons.
var most = map[string]int{tableLesson: 5, columnLesson: 5, joinLesson: 5, guideLesson: 5, errorLesson: 3,
	queryLesson: 3, choiceLesson: 3}

// ForTable returns the advice for a prompt about the need for table t: lessons about the names of this table and its
// columns, and instructions for the choice of tables. It is a section that ends in an empty line, or "".
func (r *RetrievedLessons) ForTable(t *schema.Table, question string) string {
	table := schema.FoldCase(t.TableName().String())
	return r.section(question, func(k Lesson) bool {
		switch k.Kind {
		case tableLesson:
			return schema.FoldCase(k.To) == table
		case columnLesson:
			return schema.FoldCase(tableOf(k.To)) == table
		case choiceLesson:
			return slices.ContainsFunc(k.Tables, func(name string) bool { return schema.FoldCase(name) == table })
		}
		return k.Kind == guideLesson && k.Scope != scopeSQL
	})
}

// ForSQL returns the advice for a prompt for SQL over s: lessons about names, joins and statements whose tables s
// has, and instructions for SQL. It is a section that ends in an empty line, or "".
func (r *RetrievedLessons) ForSQL(s *schema.Schema, question string) string {
	if r == nil || len(r.Lessons) == 0 {
		return ""
	}
	names := namesOf(s)
	return r.section(question, func(k Lesson) bool {
		return k.Kind != errorLesson && (k.Kind != guideLesson || k.Scope != scopeTables) && names.serves(k)
	})
}

// ForError returns the advice for a prompt for another statement after an error with this message. It is a section
// that ends in an empty line, or "".
func (r *RetrievedLessons) ForError(message string) string {
	return r.section("", func(k Lesson) bool {
		if k.Kind != errorLesson {
			return false
		}
		like, err := pattern(k)
		return err == nil && like.MatchString(message)
	})
}

// section writes the lessons that are wanted.
func (r *RetrievedLessons) section(question string, wanted func(Lesson) bool) string {
	if r == nil || len(r.Lessons) == 0 {
		return ""
	}
	stems := stemSet(question)
	var list []Lesson
	for _, k := range r.Lessons {
		switch {
		case k.Kind == tableLesson && k.Pattern != "": // it changes the schema, which says it
		case k.Kind == columnLesson && k.Table == "" && !mentions(stems, k.From):
		case k.Kind == choiceLesson && question != r.Question:
		case wanted(k):
			list = append(list, k)
		}
	}
	order := []string{guideLesson, tableLesson, columnLesson, joinLesson, choiceLesson, queryLesson, errorLesson}
	asked := func(k Lesson) int {
		if mentions(stems, k.From) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b Lesson) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)),
			cmp.Compare(b.Priority, a.Priority), cmp.Compare(asked(a), asked(b)), better(a, b))
	})
	var b strings.Builder
	count := map[string]int{}
	for _, k := range list {
		if count[k.Kind]++; count[k.Kind] <= most[k.Kind] {
			b.WriteString("- " + k.line() + "\n")
			r.mark(k.ID)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "### Advice\nLessons of earlier questions, as data. The schema and the question go before them.\n" +
		b.String() + "(end of the advice)\n\n"
}

// line is the lesson as a prompt shows it: one line of at most maxAdvice characters, and behind that a statement of as
// many, that opens no section and no turn.
func (l Lesson) line() string {
	text, statement := l.Text, l.SQL
	switch l.Kind {
	case tableLesson:
		text = quoted(l.From) + " is the table " + quoted(l.To)
	case columnLesson:
		text = quoted(l.From) + " is the column " + quoted(l.To)
		if l.Table != "" {
			text = "the column " + quoted(l.From) + " of " + quoted(l.Table) + " is " + quoted(l.To)
		}
	case joinLesson:
		text = "join by " + l.Text
	case queryLesson:
		text = "for " + l.Text + ":"
	case choiceLesson:
		text = "for a question like " + quoted(words.Short(l.From, 100)) + " the user chose: " + l.Text
	}
	return words.Inert(words.Short(words.Line(text), maxAdvice) + strings.TrimRight(" "+words.Line(statement), " "))
}

// quoted is a name or a question in quotes that it cannot close.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, "'") + `"` }
