package session

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// CorrectionKind says what a Correction corrects.
type CorrectionKind string

// The kinds of corrections.
const (
	CorrectTable  CorrectionKind = "table"            // Tables must be read, Rejected must not
	CorrectJoin   CorrectionKind = "join"             // Join must be used
	CorrectColumn CorrectionKind = "column"           // Term means Column
	CorrectFilter CorrectionKind = "filter"           // Text is a filter that must be applied
	CorrectLogic  CorrectionKind = "logic"            // Text is a rule of the business
	CorrectText   CorrectionKind = "natural_language" // Text is a clarification in prose
)

// Correction is what the user says about an answer or a question of a strategy. It holds for the whole question: every
// prompt states it, and a statement that goes against what it says about tables or joins has no vote.
type Correction struct {
	Kind     CorrectionKind     `json:"type"`
	Tables   []schema.TableName `json:"selected_tables,omitempty"`
	Rejected []schema.TableName `json:"rejected_tables,omitempty"`
	Join     *schema.Join       `json:"join,omitempty"`
	Term     string             `json:"user_term,omitempty"`     // the user's word
	Column   *schema.ColumnName `json:"actual_column,omitempty"` // what the user's word means
	Text     string             `json:"correction,omitempty"`    // the text, at most 500 characters; beside tables, a join or a column: what else was said
}

// inForce leaves out what later corrections take back. A statement could not obey both. Prose that names a table takes back
// what was said against it, and prose with a negation what was said for it.
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
		if c.Kind == CorrectTable && len(c.Tables)+len(c.Rejected) == 0 || slices.ContainsFunc(c.compared(), refused) ||
			c.Kind == CorrectColumn && later(func(l Correction) bool { return l.Kind == c.Kind && words.Fold(l.Term) == words.Fold(c.Term) }) {
			continue
		}
		left = append(left, c)
	}
	return left
}

// speaks reports whether c is prose that names a table, with a negation or without one.
func (c Correction) speaks(t schema.TableName, against bool) bool {
	said := " " + strings.Join(words.Stems(c.Text), " ") + " "
	if c.Kind != CorrectFilter && c.Kind != CorrectLogic && c.Kind != CorrectText || !strings.Contains(said, " "+strings.Join(words.Stems(t.Name), " ")+" ") {
		return false
	}
	return against == slices.ContainsFunc(lex(c.Text), func(w token) bool {
		word := strings.ToLower(strings.Join(w.parts, "."))
		return refusing[word] || leaving[word] || turning[word] || strings.HasSuffix(word, "n't") || strings.HasSuffix(word, "n’t")
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

// String is the correction in words for a person: "read orders; do not read customers"; "" where it says no more than Text.
func (c Correction) String() string {
	list := func(before string, names []schema.TableName) string {
		var texts []string
		for _, n := range names {
			texts = append(texts, n.String())
		}
		if texts == nil {
			return ""
		}
		return before + strings.Join(texts, ", ")
	}
	switch {
	case c.Kind == CorrectTable:
		parts := []string{list("read ", c.Tables), list("do not read ", c.Rejected), c.Text}
		return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
	case c.Kind == CorrectJoin && c.Join != nil:
		return "join by " + c.Join.String()
	case c.Kind == CorrectColumn && c.Column != nil:
		return "“" + c.Term + "” means " + c.Column.String()
	case c.Kind == CorrectFilter:
		return "filter: " + c.Text
	case c.Kind == CorrectLogic:
		return "rule: " + c.Text
	}
	return ""
}

// Constraint is the correction as a prompt states it, one line. Text of the user is not made harmless here; a prompt
// shows it as a line of data.
func (c Correction) Constraint() string {
	more := ""
	if c.Text != "" {
		more = " (the user adds: " + c.Text + ")"
	}
	switch {
	case c.Kind == CorrectTable:
		var parts []string
		if len(c.Tables) > 0 {
			parts = append(parts, "Use table "+quotedNames(c.Tables)+".")
		}
		if len(c.Rejected) > 0 {
			names := make([]string, len(c.Rejected))
			for i, t := range c.Rejected {
				names[i] = t.String()
			}
			parts = append(parts, "DO NOT use: "+strings.Join(names, ", "))
		}
		return "MANDATORY TABLE: " + strings.Join(parts, " ") + more
	case c.Kind == CorrectJoin && c.Join != nil:
		return "MANDATORY JOIN: " + c.Join.String() + " between [" + c.Join.Left.Table.String() + ", " + c.Join.Right.Table.String() + "]" + more
	case c.Kind == CorrectColumn && c.Column != nil:
		return "COLUMN MAPPING: '" + c.Term + "' maps to '" + c.Column.String() + "'" + more
	case c.Kind == CorrectFilter:
		return "FILTER REQUIREMENT: " + c.Text
	case c.Kind == CorrectLogic:
		return "BUSINESS LOGIC: " + c.Text
	}
	return "USER CLARIFICATION: " + c.Text
}

// Constraints states the corrections of some kinds, without kinds those of every kind, in order: each is its Constraint as
// one line without control characters and without the marks by which chat templates part turns, fit for a prompt.
func Constraints(corrections []Correction, kinds ...CorrectionKind) (lines []string) {
	for _, c := range corrections {
		if len(kinds) == 0 || slices.Contains(kinds, c.Kind) {
			lines = append(lines, words.Inert(words.Line(c.Constraint())))
		}
	}
	return lines
}

func quotedNames(tables []schema.TableName) string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = "'" + t.String() + "'"
	}
	return strings.Join(names, ", ")
}
