package session

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// Correction is a user's correction of an answer, or the reply to a strategy's question. It applies to the whole
// question: every prompt has it, and a statement that contradicts its tables or joins does not vote.
type Correction struct {
	// Kind is "table" (Tables must be read, Rejected must not), "join" (Join must be used) or "column" (Term means
	// Column). It may also be "filter" (Text is a filter that must be applied), "logic" (Text is a rule of the
	// business) or "natural_language" (Text is a clarification in prose).
	Kind     string             `json:"type"`
	Tables   []schema.TableName `json:"selected_tables,omitempty"`
	Rejected []schema.TableName `json:"rejected_tables,omitempty"`
	Join     *schema.Join       `json:"join,omitempty"`
	Term     string             `json:"user_term,omitempty"`     // the user's word
	Column   *schema.ColumnName `json:"actual_column,omitempty"` // the meaning of the user's word
	// the text, at most 500 characters; with tables, a join or a column: the rest of the user's text
	Text string `json:"correction,omitempty"`
}

// inForce leaves out what later corrections take back. A statement could not obey both. Prose that names a table takes
// back what was said against it, unless it has a word of contrast, and prose with a negation what was said for it.
func inForce(all []Correction) (left []Correction) {
	for i, c := range all {
		later := func(does func(Correction) bool) bool { return slices.ContainsFunc(all[i+1:], does) }
		refused := func(t schema.TableName) bool {
			return later(func(l Correction) bool { return slices.Contains(l.Rejected, t) || l.speaks(t, true) })
		}
		c.Tables = slices.DeleteFunc(slices.Clone(c.Tables), refused)
		c.Rejected = slices.DeleteFunc(slices.Clone(c.Rejected), func(t schema.TableName) bool {
			return later(func(l Correction) bool {
				return slices.Contains(l.Tables, t) || slices.Contains(l.compared(), t) || l.speaks(t, false)
			})
		})
		if c.Kind == dialogue.CorrectTable && len(c.Tables)+len(c.Rejected) == 0 ||
			slices.ContainsFunc(c.compared(), refused) ||
			c.Kind == dialogue.CorrectColumn && later(func(l Correction) bool {
				return l.Kind == c.Kind && words.Fold(l.Term) == words.Fold(c.Term)
			}) {
			continue
		}
		left = append(left, c)
	}
	return left
}

// negations turn prose about a table around, in several languages.
var negations = words.Set(`not never don't dont cannot avoid stop without exclude excluding except ignore skip no wrong incorrect ` +
	`nicht kein keine falsch pas ne jamais faux não nunca niet geen ikke inte nie не нет 不 不是 没有 ない`)

// contrasts are words of prose that may say again what was said against a table.
var contrasts = words.Set(`instead rather over than old outdated obsolete deprecated stale empty forget omit drop remove replace swap leave unlike`)

// speaks reports whether c is prose that names a table, with a negation, or without one and without a contrast.
func (c Correction) speaks(t schema.TableName, against bool) bool {
	said := " " + strings.Join(words.Stems(c.Text), " ") + " "
	if c.Kind != dialogue.CorrectFilter && c.Kind != dialogue.CorrectLogic && c.Kind != dialogue.CorrectText ||
		!strings.Contains(said, " "+strings.Join(words.Stems(t.Name), " ")+" ") {
		return false
	}
	return against == slices.ContainsFunc(lex(c.Text), func(w token) bool {
		word := strings.ToLower(strings.Join(w.parts, "."))
		return negations[word] || !against && contrasts[word] || strings.HasSuffix(word, "n't") ||
			strings.HasSuffix(word, "n’t")
	})
}

// compared returns the tables of the columns that a correction is about.
func (c Correction) compared() (tables []schema.TableName) {
	if c.Join != nil {
		tables = append(tables, c.Join.Left.Table, c.Join.Right.Table)
	}
	if c.Column != nil {
		tables = append(tables, c.Column.Table)
	}
	return tables
}

// String returns the correction in words for a person: "read orders; do not read customers"; "" if it has only Text.
func (c Correction) String() string {
	list := func(before string, names []schema.TableName) string {
		if len(names) == 0 {
			return ""
		}
		return before + listed(names, "")
	}
	switch {
	case c.Kind == dialogue.CorrectTable:
		parts := []string{list("read ", c.Tables), list("do not read ", c.Rejected), c.Text}
		return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
	case c.Kind == dialogue.CorrectJoin && c.Join != nil:
		return "join by " + c.Join.String()
	case c.Kind == dialogue.CorrectColumn && c.Column != nil:
		return "“" + c.Term + "” means " + c.Column.String()
	case c.Kind == dialogue.CorrectFilter:
		return "filter: " + c.Text
	case c.Kind == dialogue.CorrectLogic:
		return "rule: " + c.Text
	}
	return ""
}

// Constraint returns the correction as one line for a prompt. It does not clean the user's text; a prompt must show
// it as a line of data.
func (c Correction) Constraint() string {
	more := ""
	if c.Text != "" {
		more = " (the user adds: " + c.Text + ")"
	}
	switch {
	case c.Kind == dialogue.CorrectTable:
		var parts []string
		if len(c.Tables) > 0 {
			parts = append(parts, "Use table "+listed(c.Tables, "'")+".")
		}
		if len(c.Rejected) > 0 {
			parts = append(parts, "DO NOT use: "+listed(c.Rejected, ""))
		}
		return "MANDATORY TABLE: " + strings.Join(parts, " ") + more
	case c.Kind == dialogue.CorrectJoin && c.Join != nil:
		return "MANDATORY JOIN: " + c.Join.String() + " between [" + c.Join.Left.Table.String() + ", " +
			c.Join.Right.Table.String() + "]" + more
	case c.Kind == dialogue.CorrectColumn && c.Column != nil:
		return "COLUMN MAPPING: '" + c.Term + "' maps to '" + c.Column.String() + "'" + more
	case c.Kind == dialogue.CorrectFilter:
		return "FILTER REQUIREMENT: " + c.Text
	case c.Kind == dialogue.CorrectLogic:
		return "BUSINESS LOGIC: " + c.Text
	}
	return "USER CLARIFICATION: " + c.Text
}

// listed returns the names of tables, each between two quotes, with commas between them.
func listed(tables []schema.TableName, quote string) string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = quote + t.String() + quote
	}
	return strings.Join(names, ", ")
}
