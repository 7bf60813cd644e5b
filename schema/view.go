package schema

import (
	"bytes"
	"context"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/words"
)

// view is a table with all its texts cleaned and quoted, ready to be written. It is made once; a budget may have it
// written several times.
type view struct {
	of          TableName // raw, for reports
	name        string    // quoted, with its schema
	create      string    // "TABLE", "VIEW" or "VIRTUAL TABLE"
	description string
	columns     []columnView
	plain       int    // number of columns that are part of no key
	primaryKey  string // its columns, quoted
	foreignKeys []keyView
	constraints []constraint

	// Augmented only.
	definition string  // the CREATE text, cleaned or written from the columns
	fault      string  // why it is not the engine's own
	sampled    string  // the sampled columns, quoted
	places     []int   // their places in rows
	rows       [][]any // sample rows
}

// columnView is a column of a view.
type columnView struct {
	name       string // quoted
	typ        string // "" where it cannot be shown
	about      string // title and description, "" where they say no more than the name
	values     string // what the values mean
	examples   string // literals, joined
	first      int    // length of the first example
	references string // in Code: " REFERENCES table(column)" for each foreign key of this column alone
	key        bool   // part of a key, of this table or of one that refers to it
	primary    bool   // part of the primary key
	sole       bool   // the only column of the primary key
	notNull    bool
	unique     bool
}

// keyView is a foreign key. Lists of columns are joined.
type keyView struct {
	columns, table, refs string // quoted
	single               bool   // one column
}

// constraint is a clause of a CREATE statement.
type constraint struct {
	text   string
	unique bool // left out together with the first column
	wide   bool // a key of several columns
}

// missing counts the columns that d leaves out.
func (v *view) missing(d detail) int {
	if d.nameOnly {
		return len(v.columns)
	}
	return max(v.plain-d.columns, 0)
}

// shown returns the columns that d shows.
func (v *view) shown(d detail) iter.Seq[*columnView] {
	return func(yield func(*columnView) bool) {
		if d.nameOnly {
			return
		}
		plain := 0
		for i := range v.columns {
			c := &v.columns[i]
			if !c.key {
				plain++
			}
			if (c.key || plain <= d.columns) && !yield(c) {
				return
			}
		}
	}
}

// notes returns what is said about a column under d.
func (c *columnView) notes(d detail) iter.Seq[string] {
	return func(yield func(string) bool) {
		if d.descriptions && c.about != "" && !yield(c.about) {
			return
		}
		if d.valueNotes && c.values != "" {
			yield(c.values)
		}
	}
}

// some returns the examples that d shows, joined.
func (c *columnView) some(d detail) string {
	switch {
	case d.examples <= 0:
		return ""
	case d.examples == 1:
		return c.examples[:c.first]
	}
	return c.examples
}

// preparer makes views.
type preparer struct {
	Renderer
	s        *Schema
	views    []view // of the tables of s
	examples int    // most examples of a column
	literal  []byte // scratch for one literal
	joined   []byte // examples of one column
	ends     []int  // where each of them ends
}

// prepare makes the views of s, which is presentable, in the order of the text.
func (r Renderer) prepare(ctx context.Context, s *Schema, samples []Sample) ([]view, error) {
	if r.Names == nil {
		r.Names = QuoterFunc(QuoteName)
	}
	p := preparer{Renderer: r, s: s, views: make([]view, len(s.Tables)), examples: r.full().examples}
	index := s.index()
	for i := range s.Tables {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, v := &s.Tables[i], &p.views[i]
		v.of = t.TableName()
		v.name = v.of.Quoted(r.Names)
		if r.Form == Augmented && t.Definition != "" {
			if v.definition, v.fault = cleanDefinition(t.Definition); v.fault == "" {
				v.definition += "\n"
				continue
			}
		}
		p.table(v, t)
	}
	for i := range s.Tables {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, k := range s.Tables[i].ForeignKeys {
			if ref := index.target(&s.Tables[i], k); ref >= 0 {
				p.foreignKey(i, ref, k)
			}
		}
	}
	for i := range p.views {
		for j := range p.views[i].columns {
			if !p.views[i].columns[j].key {
				p.views[i].plain++
			}
		}
	}
	if r.Form == REp || r.Form == Augmented {
		if err := p.samples(ctx, index, samples); err != nil {
			return nil, err
		}
	}
	if r.Form == Augmented {
		return p.augmented(ctx)
	}
	return p.views, nil
}

// table fills in what a table says of itself.
func (p *preparer) table(v *view, t *Table) {
	v.create = "TABLE"
	switch t.Kind {
	case View:
		v.create = "VIEW"
	case Virtual:
		v.create = "VIRTUAL TABLE"
	}
	if p.Text == AllText || p.Text == ExpertText {
		v.description = Comment(t.Description)
	}
	v.columns = make([]columnView, len(t.Columns))
	for j := range t.Columns {
		p.column(&v.columns[j], &t.Columns[j])
	}
	for _, name := range t.PrimaryKey {
		if c := v.column(t, name); c != nil {
			c.key, c.primary, c.sole = true, true, len(t.PrimaryKey) == 1
		}
	}
	v.primaryKey = p.names(t.PrimaryKey)
	if len(t.PrimaryKey) > 1 {
		v.constraints = append(v.constraints, constraint{text: "PRIMARY KEY (" + v.primaryKey + ")", wide: true})
	}
	for _, u := range t.Unique {
		if len(u) > 1 {
			v.constraints = append(v.constraints, constraint{text: "UNIQUE (" + p.names(u) + ")", unique: true})
		} else if len(u) == 1 {
			if c := v.column(t, u[0]); c != nil {
				c.unique = true
			}
		}
	}
}

// column fills in a column, keys aside.
func (p *preparer) column(v *columnView, c *Column) {
	v.name, v.typ, v.notNull = p.Names.Quote(c.Name), p.typeText(c.Type), c.NotNull
	if p.Text != NoText {
		var title, description string
		if p.Text != ModelText {
			title, description, v.values = Comment(c.Title), Comment(c.Description), Comment(c.Values)
		}
		if described := Comment(c.Described); described != "" && (p.Text == ModelText || p.Text == AllText && description == "") {
			description = described
		}
		sep := ": "
		if p.Form == REp {
			sep = "; "
			for _, text := range []*string{&title, &description, &v.values} {
				if strings.EqualFold(*text, c.Name) {
					*text = ""
				}
			}
		} else {
			if sameWords(title, c.Name) {
				title = ""
			}
			if sameWords(description, title) || sameWords(description, c.Name) {
				description = ""
			}
		}
		if v.about = title + description; title != "" && description != "" {
			v.about = title + sep + description
		}
	}
	if c.Profile == nil || c.Sensitive || p.Form != DDL && p.Form != MSchema {
		return
	}
	for _, value := range c.Profile.Examples {
		p.example(value, ", ", maxValueRunes)
	}
	if len(c.Profile.Examples) == 0 {
		for _, top := range c.Profile.Top {
			p.example(top.Value, ", ", maxValueRunes)
		}
	}
	p.done(v)
}

// example adds the literal of a value to the examples of a column, unless it is there already or NULL.
func (p *preparer) example(value any, sep string, maxRunes int) {
	if len(p.ends) >= p.examples {
		return
	}
	p.literal = p.literal[:0]
	text, own := "", false
	if p.Form == REp {
		text, own = p.custom(value)
	}
	ok := own
	switch {
	case own:
		p.literal = append(p.literal, text...)
	case value != nil:
		p.literal, ok = appendLiteral(p.literal, value, maxRunes)
	}
	if !ok {
		return
	}
	start := 0
	for _, end := range p.ends {
		if !own && bytes.Equal(p.joined[start:end], p.literal) {
			return
		}
		start = end + len(sep)
	}
	if start > 0 {
		p.joined = append(p.joined, sep...)
	}
	p.joined = append(p.joined, p.literal...)
	p.ends = append(p.ends, len(p.joined))
}

// done gives the examples to their column.
func (p *preparer) done(v *columnView) {
	if len(p.ends) > 0 {
		v.examples, v.first = string(p.joined), p.ends[0]
	}
	p.joined, p.ends = p.joined[:0], p.ends[:0]
}

// foreignKey fills in a key of table i, which refers to table ref. A view without columns shows none.
func (p *preparer) foreignKey(i, ref int, k ForeignKey) {
	v, to := &p.views[i], &p.views[ref]
	for _, name := range k.RefColumns {
		if c := to.column(&p.s.Tables[ref], name); c != nil {
			c.key = true
		}
	}
	if v.columns == nil {
		return
	}
	key := keyView{p.names(k.Columns), to.name, p.names(k.RefColumns), len(k.Columns) == 1}
	v.foreignKeys = append(v.foreignKeys, key)
	references := " REFERENCES " + key.table + "(" + key.refs + ")"
	v.constraints = append(v.constraints, constraint{text: "FOREIGN KEY (" + key.columns + ")" + references, wide: !key.single})
	for _, name := range k.Columns {
		if c := v.column(&p.s.Tables[i], name); c != nil {
			c.key = true
			if p.Form == Code && key.columns == c.name {
				c.references += references
			}
		}
	}
}

// samples fills in the sample rows. In REp they are the examples of columns.
func (p *preparer) samples(ctx context.Context, index *index, samples []Sample) error {
	if p.WithoutValues {
		return nil
	}
	seen := make([]bool, len(p.views))
	for _, sample := range samples {
		if err := ctx.Err(); err != nil {
			return err
		}
		i := index.lookup(sample.Table.Schema, sample.Table.Name)
		if i < 0 || seen[i] {
			continue
		}
		seen[i] = true
		t, v := &p.s.Tables[i], &p.views[i]
		rows := filter(sample.Rows, func(row []any) bool { return len(row) == len(sample.Columns) })
		var columns []string
		for at, name := range sample.Columns {
			j := at // most samples have the columns of their table
			if j >= len(t.Columns) || t.Columns[j].Name != name {
				j = t.columnIndex(name)
			}
			switch {
			case j < 0 || t.Columns[j].Sensitive:
			case p.Form == REp:
				for _, row := range rows {
					p.example(row[at], ",", maxREpRunes)
				}
				p.done(&v.columns[j])
			default:
				columns = append(columns, t.Columns[j].Name)
				v.places, v.rows = append(v.places, at), rows
			}
		}
		v.sampled = p.names(columns)
	}
	return nil
}

// augmented finishes the views of Augmented and puts them in their order.
func (p *preparer) augmented(ctx context.Context) ([]view, error) {
	for i := range p.views {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if v := &p.views[i]; v.definition == "" {
			var w writer
			writeDDL(&w, v, detail{valueNotes: true, descriptions: true, columns: math.MaxInt}, 0)
			v.definition = string(w)
		}
	}
	views := slices.DeleteFunc(p.views, func(v view) bool {
		const internal = "sqlite_" // SQLite keeps such names for itself
		return len(v.of.Name) >= len(internal) && EqualFold(v.of.Name[:len(internal)], internal)
	})
	slices.SortStableFunc(views, func(a, b view) int { return a.of.compare(b.of) })
	return views, nil
}

func (v *view) column(t *Table, name string) *columnView {
	if i := t.columnIndex(name); i >= 0 && i < len(v.columns) {
		return &v.columns[i]
	}
	return nil
}

// names quotes and joins names.
func (p *preparer) names(names []string) string {
	if len(names) == 1 {
		return p.Names.Quote(names[0])
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = p.Names.Quote(name)
	}
	return strings.Join(quoted, ", ")
}

// custom writes a value as r.Value wants it; false: as the form does.
func (r Renderer) custom(v any) (string, bool) {
	if r.Value == nil {
		return "", false
	}
	return r.Value(v)
}

// typeText is a declared type as a prompt may show it. SQLite takes any words for a type, so it is cleaned as a comment
// is, and left out if it is too long or has comments. REp, which has no marks around a type, shows plain ones only.
func (r Renderer) typeText(declared string) string {
	text := Comment(declared)
	if strings.Contains(text, "--") || strings.Contains(text, "/*") || utf8.RuneCountInString(declared) > maxCommentRunes ||
		r.Form == REp && (len(text) > 40 || strings.Trim(text, nameLetters+" (),") != "") {
		return ""
	}
	return text
}

// sameWords reports whether a text says no more than a name: it is the name but for case and what separates the words.
func sameWords(text, name string) bool {
	// Most texts are empty or far longer than a name: no need to look closer.
	return text != "" && len(text) <= 2*len(name) && words.Squeeze(text) == words.Squeeze(name)
}

const (
	maxREpRunes    = 40 // of a value in REp
	maxCellRunes   = 50 // of a text in a sample row
	shortCellRunes = 20 // of one that is cut shorter
	notShown       = "(not shown)"
)

// appendCell appends a value of a sample row, in which every value has its place.
func appendCell(b []byte, v any, maxRunes int) []byte {
	switch v := v.(type) {
	case string:
		cut, short := cutRunes(v, maxRunes)
		if !showable(cut) {
			return append(b, notShown...)
		}
		if b = appendQuoted(b, cut); short {
			b = append(b, "..."...)
		}
		return b
	case []byte:
		return append(append(append(b, "<blob "...), strconv.Itoa(len(v))...), " bytes>"...)
	}
	b, ok := appendScalar(b, v)
	if !ok {
		b = append(b, notShown...)
	}
	return b
}

// cutRunes returns the first n runes of s, and whether that is less than s.
func cutRunes(s string, n int) (string, bool) {
	for i := range s {
		if n == 0 {
			return s[:i], true
		}
		n--
	}
	return s, false
}
