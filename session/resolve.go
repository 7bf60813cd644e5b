package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// Limits of a correction, in characters.
const (
	maxText = 500
	maxTerm = 100
)

// CorrectionError reports why a correction cannot be used. It matches ErrInvalidCorrection.
type CorrectionError struct {
	Name   string   // the name that the schema does not have; "": another reason
	Like   []string // similar names of the schema, at most three
	Reason string
	// Held is the part of the text that still applies if another part names an unknown table: "not customers" of "use
	// clients, not customers". nil: no part applies. A conversation stores it for the corrected question.
	Held *Correction
}

// Error returns the reason, similar names and the part that still applies, in one line.
func (e *CorrectionError) Error() string {
	text := ErrInvalidCorrection.Error() + ": " + e.Reason
	if len(e.Like) > 0 {
		text += "; did you mean " + strings.Join(e.Like, ", ") + "?"
	}
	if e.Held != nil {
		text += " (the rest applies: " + e.Held.String() + ")"
	}
	return text
}

// Is reports whether target is ErrInvalidCorrection.
func (e *CorrectionError) Is(target error) bool { return target == ErrInvalidCorrection }

func invalid(format string, args ...any) error {
	return &CorrectionError{Reason: fmt.Sprintf(format, args...)}
}

// Resolve returns c with names as the schema writes them and with clean text. The case of ASCII letters in names does
// not matter. A column without a table is found if only one table has it. An error is a *CorrectionError: a name is
// unknown, a part is missing, a table is both selected and rejected, or a text is too long.
func (c Correction) Resolve(s *schema.Schema) (Correction, error) {
	out := Correction{Kind: c.Kind}
	var err error
	if out.Text, err = clean("text", c.Text, maxText); err != nil {
		return Correction{}, err
	}
	switch c.Kind {
	case dialogue.CorrectTable:
		err = c.resolveTables(s, &out)
	case dialogue.CorrectJoin:
		err = c.resolveJoin(s, &out)
	case dialogue.CorrectColumn:
		if out.Term, err = clean("word of the user", c.Term, maxTerm); err == nil && (out.Term == "" || c.Column == nil) {
			err = invalid("it needs a word of the user and the column that it means")
		}
		if err == nil {
			out.Column, err = column(s, *c.Column)
		}
	case dialogue.CorrectFilter, dialogue.CorrectLogic, dialogue.CorrectText:
		if out.Text == "" {
			err = invalid("it is empty: write the correction after no:")
		}
	default:
		err = invalid("its kind %.40q is not table, join, column, filter, logic or natural_language", c.Kind)
	}
	if err != nil {
		return Correction{}, err
	}
	return out, nil
}

func clean(what, text string, most int) (string, error) {
	text = words.Line(strings.ToValidUTF8(text, "\uFFFD"))
	if n := utf8.RuneCountInString(text); n > most {
		return "", invalid("its %s has %d characters; the limit is %d", what, n, most)
	}
	return text, nil
}

func (c Correction) resolveTables(s *schema.Schema, out *Correction) (err error) {
	if len(c.Tables)+len(c.Rejected) == 0 {
		return invalid("it names no table")
	}
	if out.Tables, err = tables(s, c.Tables); err != nil {
		return err
	}
	if out.Rejected, err = tables(s, c.Rejected); err != nil {
		return err
	}
	for _, t := range out.Tables {
		if slices.Contains(out.Rejected, t) {
			return invalid("it both selects and rejects the table %s", t)
		}
	}
	return nil
}

func (c Correction) resolveJoin(s *schema.Schema, out *Correction) error {
	if c.Join == nil {
		return invalid("it needs a comparison of two columns, such as A.x = B.y")
	}
	left, err := column(s, c.Join.Left)
	if err != nil {
		return err
	}
	right, err := column(s, c.Join.Right)
	if err != nil {
		return err
	}
	if left.Table == right.Table {
		return invalid("%s = %s compares two columns of one table", left, right)
	}
	out.Join = &schema.Join{Left: *left, Right: *right}
	return nil
}

// tables resolves names and drops repeated ones.
func tables(s *schema.Schema, names []schema.TableName) (found []schema.TableName, err error) {
	for _, n := range names {
		t, err := table(s, n)
		if err != nil {
			return nil, err
		}
		if name := t.TableName(); !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found, nil
}

func table(s *schema.Schema, name schema.TableName) (*schema.Table, error) {
	if t, found := s.Lookup(name.Schema, name.Name); found && name.Name != "" {
		return t, nil
	}
	var all []string
	for i := range count(s) {
		all = append(all, s.Tables[i].TableName().String())
	}
	return nil, unknown("table", name.String(), all)
}

func count(s *schema.Schema) int {
	if s == nil {
		return 0
	}
	return len(s.Tables)
}

func column(s *schema.Schema, name schema.ColumnName) (*schema.ColumnName, error) {
	if name.Table.Name != "" {
		t, err := table(s, name.Table)
		if err != nil {
			return nil, err
		}
		if c, found := t.Column(name.Column); found {
			return &schema.ColumnName{Table: t.TableName(), Column: c.Name}, nil
		}
		var all []string
		for _, c := range t.Columns {
			all = append(all, c.Name)
		}
		return nil, unknown("column", name.String(), all)
	}
	var found []schema.ColumnName
	var all []string
	for i := range count(s) {
		t := &s.Tables[i]
		if c, has := t.Column(name.Column); has {
			found = append(found, schema.ColumnName{Table: t.TableName(), Column: c.Name})
		}
		for _, c := range t.Columns {
			all = append(all, t.TableName().String()+"."+c.Name)
		}
	}
	switch len(found) {
	case 0:
		return nil, unknown("column", name.Column, all)
	case 1:
		return &found[0], nil
	}
	return nil, invalid("%d tables have a column %s; write %s or %s", len(found), found[0].Column, found[0], found[1])
}

// unknown is the error of a name that the schema does not have, with the names of it that are most like it, in the
// order of likeness and then of the schema.
func unknown(what, name string, all []string) error {
	type like struct {
		name string
		by   float64
	}
	last := func(n string) string { return n[strings.LastIndexByte(n, '.')+1:] }
	var near []like
	for _, n := range all {
		if by := words.Similarity(words.Cut(last(name), 200), last(n)); by >= .7 && prompttext.NameFault(n) == "" {
			near = append(near, like{n, by})
		}
	}
	slices.SortStableFunc(near, func(a, b like) int { return cmp.Compare(b.by, a.by) })
	e := &CorrectionError{Name: name, Reason: fmt.Sprintf("the database has no %s %s", what,
		words.Short(words.Line(name), maxTerm))}
	for _, l := range near[:min(3, len(near))] {
		e.Like = append(e.Like, l.name)
	}
	return e
}

// Correction returns the correction that choosing an option makes. For a table it selects this table and rejects the
// tables of the other options. For a join it is the join. For a result nothing is corrected: the Kind is "". An id
// that the question does not have is a *CorrectionError.
func (q *QuestionError) Correction(id string) (Correction, error) {
	o, found := q.Option(id)
	if !found {
		ids := make([]string, len(q.Options))
		for i, o := range q.Options {
			ids[i] = o.ID
		}
		return Correction{}, invalid("the question has no option %.40q; choose one of %s", id, strings.Join(ids, ", "))
	}
	switch {
	case q.Kind == dialogue.KindTable && o.Table != nil:
		c := Correction{Kind: dialogue.CorrectTable, Tables: []schema.TableName{*o.Table}}
		for _, other := range q.Options {
			if other.Table != nil && *other.Table != *o.Table {
				c.Rejected = append(c.Rejected, *other.Table)
			}
		}
		return c, nil
	case q.Kind == dialogue.KindJoin && o.Join != nil:
		return Correction{Kind: dialogue.CorrectJoin, Join: new(*o.Join)}, nil
	case q.Kind == dialogue.KindMeaning && o.Column != nil:
		return Correction{Kind: dialogue.CorrectColumn, Term: q.Context["term"], Column: new(*o.Column)}, nil
	case q.Kind == dialogue.KindMeaning && o.SQL == "":
		return Correction{Kind: dialogue.CorrectLogic, Text: q.Context["term"] + " means " + o.Label}, nil
	}
	return Correction{}, nil
}

// UnmarshalJSON reads the form that json.Marshal writes, and forms that people write. These are the types
// "join_clarification", "table_selection" and "column_mapping"; "tables" with a "join_condition" such as "A.x = B.y";
// and "selected_table". It also reads texts in place of the objects that name tables and columns. Names in a text may
// be quoted as in SQL. Resolve checks whether a database has them.
func (c *Correction) UnmarshalJSON(text []byte) error {
	var w struct {
		Kind      string         `json:"type"`
		Tables    []writtenTable `json:"tables"`
		Condition string         `json:"join_condition"`
		Selected  *writtenTable  `json:"selected_table"`
		All       []writtenTable `json:"selected_tables"`
		Rejected  []writtenTable `json:"rejected_tables"`
		Join      *schema.Join   `json:"join"`
		Term      string         `json:"user_term"`
		Column    *writtenColumn `json:"actual_column"`
		Text      string         `json:"correction"`
	}
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	switch w.Kind {
	case "join_clarification":
		w.Kind = dialogue.CorrectJoin
	case "table_selection":
		w.Kind = dialogue.CorrectTable
	case "column_mapping":
		w.Kind = dialogue.CorrectColumn
	}
	if w.Selected != nil {
		w.All = append([]writtenTable{*w.Selected}, w.All...)
	}
	*c = Correction{
		Kind: w.Kind, Tables: unwritten(w.All), Rejected: unwritten(w.Rejected), Join: w.Join,
		Term: w.Term, Column: (*schema.ColumnName)(w.Column), Text: w.Text,
	}
	if w.Condition != "" {
		var err error
		c.Join, err = condition(w.Condition, unwritten(w.Tables))
		return err
	}
	return nil
}

// writtenTable and writtenColumn read an object or a text.
type (
	writtenTable  schema.TableName
	writtenColumn schema.ColumnName
)

func unwritten(all []writtenTable) (names []schema.TableName) {
	for _, t := range all {
		names = append(names, schema.TableName(t))
	}
	return names
}

func (t *writtenTable) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		var name string
		err := json.Unmarshal(text, &name)
		*t = writtenTable(tableOf(path(name)))
		return err
	}
	return json.Unmarshal(text, (*schema.TableName)(t))
}

func (c *writtenColumn) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		var name string
		err := json.Unmarshal(text, &name)
		*c = writtenColumn(columnOf(path(name)))
		return err
	}
	return json.Unmarshal(text, (*schema.ColumnName)(c))
}

// path returns the parts of a dotted name. Other text, such as a name with blanks, is one part.
func path(name string) []string {
	if tokens := lex(name); len(tokens) == 1 && tokens[0].parts != nil {
		return tokens[0].parts
	}
	return []string{name}
}

func tableOf(parts []string) schema.TableName {
	last := len(parts) - 1
	return schema.TableName{Schema: strings.Join(parts[:last], "."), Name: parts[last]}
}

func columnOf(parts []string) schema.ColumnName {
	last := len(parts) - 1
	if last == 0 {
		return schema.ColumnName{Column: parts[0]}
	}
	return schema.ColumnName{Table: tableOf(parts[:last]), Column: parts[last]}
}

// condition reads "A.x = B.y". A column without a table is one of the table that stands in its place of tables.
func condition(text string, tables []schema.TableName) (*schema.Join, error) {
	var sides [2]schema.ColumnName
	tokens := lex(text)
	if len(tokens) != 3 || tokens[0].parts == nil || tokens[1].mark != "=" || tokens[2].parts == nil {
		return nil, invalid("the join condition %.80q is no comparison of two columns, such as A.x = B.y", text)
	}
	for i := range sides {
		sides[i] = columnOf(tokens[2*i].parts)
		if sides[i].Table.Name == "" && i < len(tables) {
			sides[i].Table = tables[i]
		}
	}
	return &schema.Join{Left: sides[0], Right: sides[1]}, nil
}
