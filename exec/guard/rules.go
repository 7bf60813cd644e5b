package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// putRules puts the rules on the relations of c, and returns what is wrong with them.
func (c *Catalog) putRules() (wrong []string) {
	for i := range c.Rules {
		rule := &c.Rules[i]
		for _, r := range c.Relations {
			if !matches(rule.Table, r.Schema, r.Name) {
				continue
			}
			if r.View || r.Unruly != "" {
				wrong = append(wrong, fmt.Sprintf("Rows: %q: it is %s", rule.Table, cmp.Or(r.Unruly, "a view, which is read through the rules of its tables")))
			}
			r.rules = append(r.rules, rule)
			for _, p := range rule.pieces {
				if p.column != "" && !r.Has(p.column) {
					wrong = append(wrong, fmt.Sprintf("Rows: %q: it has no column %s", rule.Table, p.column))
				}
			}
		}
	}
	return wrong
}

// Ruled reports whether only some rows of r may be read: it has a rule, or is a view over a relation that has.
func (r *Relation) Ruled() bool { return r.ruled(map[*Relation]bool{}) }

func (r *Relation) ruled(seen map[*Relation]bool) bool {
	if len(r.rules) > 0 {
		return true
	}
	if !r.View || seen[r] {
		return false
	}
	seen[r] = true
	return slices.ContainsFunc(r.reads(), func(u Read) bool { return u.Relation.ruled(seen) })
}

// InRule reports whether a rule of r names the column: a splice reads it, though the policy may deny it.
func (r *Relation) InRule(column string) bool {
	return slices.ContainsFunc(r.rules, func(rule *Rule) bool {
		return slices.ContainsFunc(rule.pieces, func(p piece) bool { return p.column != "" && schema.EqualFold(p.column, column) })
	})
}

// Unnamed reports whether no statement may name a column, because it is Unseen and r has a rule.
func (r *Relation) Unnamed(column string) bool {
	return slices.ContainsFunc(r.Unseen, func(name string) bool { return fold(name) == fold(column) }) && r.Ruled()
}

// Splicing is how an engine's text is written around a rule.
//
// A reference of a table with a rule becomes (SELECT * FROM schema.table WHERE (rule)) AS alias; where a column of the table
// may not be read, the others take the place of the star. A view over such a table becomes its definition, in which the
// same is done and every other table has its schema in front.
type Splicing struct {
	// Fence stands behind the rule and makes the engine apply it before it evaluates anything else on a row: "LIMIT -1" in
	// SQLite. %s in it is the query without its WHERE.
	Fence string
	// Quote and QuoteSchema write names, Placeholder parameter n, 1 is the first. Numbered says that Placeholder has its
	// number in it; else parameters count as they stand in the text, and those of a statement of exec's own stand behind its
	// tables.
	Quote, QuoteSchema func(string) string
	Placeholder        func(n int) string
	Numbered           bool
	// Results says which functions may stand in the outermost list of results of a statement without a fence: see
	// [Catalog.CannotFail]. nil: all.
	Results func(function string) bool
	// Settings says that the engine takes the settings of a scope.
	Settings bool
}

// Spot is a place in the text of a statement that names a table or a view. Offsets are in bytes.
type Spot struct {
	Relation *Relation // nil: the text from Pos to End is left out
	Pos, End int       // of the name, with its schema
	Alias    string    // the name that the statement gives it, quoted, where no alias stands behind the name; else ""
	// HintPos and HintEnd are where words stand that belong behind the name, INDEXED BY say: they move into the splice.
	HintPos, HintEnd int
	// Insert is what stands in place of Pos to End where Relation is nil, as "" for a word that has no place beside a
	// splice. Exec/postgres writes such spots.
	Insert string
}

// Splice is a statement into which the rules were written.
type Splice struct {
	Text   string // the statement
	Args   []any  // values of its parameters
	Ranges []Range
	// Bare is the text with a stand-in in place of each splice, which reads no table and has the same columns: any table
	// with a rule that an engine finds in it is read around the rules. It has no parameters of rules.
	Bare   string
	Fenced bool // a fence stands behind each rule

	params []param // those that rules have, in their order
	edits  []edit
}

// Range is the place of one splice in the text.
type Range struct {
	Relation *Relation // the table that is read in it, or the view that is written out
	Pos, End int
}

// edit is a place where the text is not what the statement was.
type edit struct {
	pos, end int    // in Splice.Text
	was      string // what stood there
}

// Original returns what stood in the statement where the engine names a column by the text of an expression.
func (s *Splice) Original(name string) string {
	if !strings.ContainsAny(name, "(.") {
		return name
	}
	for from := 0; ; {
		i := strings.Index(s.Text[from:], name)
		if i < 0 {
			return name
		}
		pos, end := from+i, from+i+len(name)
		from = pos + 1
		var b strings.Builder
		done, whole := pos, true
		for _, e := range s.edits {
			switch {
			case e.end < pos || e.pos >= end:
			case e.pos < done: // it begins in a splice
				whole = false
			case e.end > end: // the engine cuts long names
				b.WriteString(s.Text[done:e.pos] + e.was)
				done = end
			default:
				b.WriteString(s.Text[done:e.pos] + e.was)
				done = e.end
			}
		}
		if whole {
			return b.String() + s.Text[done:end]
		}
	}
}

// With returns s with other values of the parameters. It is for a statement without arguments of its own.
func (s *Splice) With(params map[string]any) (*Splice, error) {
	other := *s
	other.Args = make([]any, len(s.params))
	for i, p := range s.params {
		var err error
		if other.Args[i], err = p.value(params); err != nil {
			return nil, err
		}
	}
	return &other, nil
}

// Bind makes the value of a parameter what is bound, for the place of a rule in which it stands: nil, a bool, an int64, a
// float64, a string or a []byte. NULL does not come to it. The error says what the parameter is not: "is no number".
type Bind func(value any) (any, error)

// param is a parameter in a rule.
type param struct {
	name string
	bind Bind // nil: a value is bound as it is
}

// value returns what is bound.
func (p param) value(params map[string]any) (any, error) {
	value, ok := params[p.name]
	if !ok {
		return nil, Refuse(ReasonScope, "the scope has no parameter %s", p.name)
	}
	if value == nil || p.bind == nil {
		return value, nil
	}
	bound, err := p.bind(value)
	if err != nil {
		return nil, Refuse(ReasonScope, "the parameter %s of the scope %v, as what a rule compares it with", p.name, err)
	}
	return bound, nil
}

// SpliceOptions says how [Catalog.Splice] writes.
type SpliceOptions struct {
	Splicing
	Params map[string]any // the values of parameters
	Fenced bool
	Own    []any // the arguments of the statement itself
	// Compared says how each parameter of a rule of r is bound. text is the rule with "?" for a parameter, params are their
	// names in that order. A refusal says that a parameter stands where nothing tells what it is compared with. nil: the engine
	// compares each value as what it is.
	Compared func(r *Relation, text string, params []string) ([]Bind, error)
	// View returns the query of a view, its columns in order, and the spots in the query.
	View func(v *Relation) (query string, columns []string, spots []Spot, err error)
}

// The rules may add mostAdded tokens to a statement. Views that are written out count for themselves, twice, as in
// [Catalog.Weigh], and together no more than mostWritten may come. mostSpliced bounds the text meanwhile, in bytes, and
// deepestView how deep views are written out.
const (
	mostWritten = 100_000
	mostSpliced = 1 << 20
	deepestView = 16
)

// Splice writes the rules into a statement, whose spots are in the order of the text. What it returns has to be read and
// confirmed as any statement; a second look has to say that no rule was missed.
func (c *Catalog) Splice(text string, spots []Spot, o SpliceOptions) (*Splice, error) {
	w := spliceWriter{SpliceOptions: o, out: &Splice{Fenced: o.Fenced}}
	if o.Numbered {
		w.out.Args = slices.Clone(o.Own)
	}
	if err := w.write(text, spots, 0); err != nil {
		return nil, err
	}
	if !o.Numbered {
		w.out.Args = append(w.out.Args, o.Own...)
	}
	w.out.Text, w.out.Bare = w.text.String(), w.bare.String()
	most := min(mostAdded+2*c.tokens(w.views.String()), mostWritten)
	if n := c.tokens(w.out.Text) - c.tokens(text); n > most {
		return nil, Refuse(reasonTooComplex, "the rules about rows and the views would add %d tokens; at most %d may be added", n, most)
	}
	return w.out, nil
}

func (c *Catalog) tokens(text string) (n int) {
	for t := range c.Text.Tokens(text) {
		if t.Kind != sqltext.Space {
			n++
		}
	}
	return n
}

type spliceWriter struct {
	SpliceOptions
	text, bare strings.Builder
	views      strings.Builder // the queries of the views that are written out
	out        *Splice
}

func (w *spliceWriter) both(text string) {
	w.text.WriteString(text)
	w.bare.WriteString(text)
}

// write writes a statement, or the query of a view at a depth over 0.
func (w *spliceWriter) write(text string, spots []Spot, depth int) error {
	done := 0
	for _, s := range spots {
		if s.Pos < done {
			return Refuse(ReasonRows, "the places where it names tables overlap")
		}
		w.both(text[done:s.Pos])
		done = s.End
		begin := w.text.Len()
		if s.Relation == nil {
			w.both(s.Insert)
			w.edited(begin, text[s.Pos:s.End], depth)
			continue
		}
		hint := text[s.HintPos:s.HintEnd]
		alias := s.Alias
		if alias != "" {
			alias = " AS " + alias
		}
		name := w.QuoteSchema(s.Relation.Schema) + "." + w.Quote(s.Relation.Name)
		switch {
		case !s.Relation.Ruled() && depth == 0:
			w.both(text[s.Pos:s.End])
			continue
		case !s.Relation.Ruled(): // a common table expression around the view must not capture its tables
			w.both(name + alias)
			continue
		case s.Relation.View && (hint != "" || depth == deepestView):
			return Refuse(ReasonRows, "the view %s is named with a hint, or too deep in other views", s.Relation.Name)
		case s.Relation.View:
			if err := w.view(s, depth); err != nil {
				return err
			}
		default:
			if err := w.table(s, name, hint); err != nil {
				return err
			}
		}
		if w.text.Len() > mostSpliced {
			return Refuse(reasonTooComplex, "the statement is over %d bytes with the rules about rows", mostSpliced)
		}
		w.both(alias)
		if depth == 0 {
			w.out.Ranges = append(w.out.Ranges, Range{Relation: s.Relation, Pos: begin, End: w.text.Len()})
		}
		w.edited(begin, text[s.Pos:s.End], depth)
		if s.HintEnd > 0 {
			w.both(text[done:s.HintPos])
			w.edited(w.text.Len(), hint, depth)
			done = s.HintEnd
		}
	}
	w.both(text[done:])
	return nil
}

// edited notes that the text from a byte on is something else than it was.
func (w *spliceWriter) edited(begin int, was string, depth int) {
	if depth == 0 {
		w.out.edits = append(w.out.edits, edit{begin, w.text.Len(), was})
	}
}

// table writes a table through its rules.
func (w *spliceWriter) table(s Spot, name, hint string) error {
	r := s.Relation
	columns, bare := "*", make([]string, 0, len(r.columns))
	readable := make([]string, 0, len(r.columns))
	for i, column := range r.columns {
		if !r.denied[i] && !slices.Contains(r.Unseen, column) {
			readable = append(readable, name+"."+w.Quote(column))
			bare = append(bare, "NULL AS "+w.Quote(column))
		}
	}
	if slices.Contains(r.denied, true) {
		columns = strings.Join(readable, ", ")
	}
	if len(readable) == 0 {
		columns, bare = "NULL AS x", []string{"NULL AS x"}
	}
	w.bare.WriteString("(SELECT " + strings.Join(bare, ", ") + ")")
	w.text.WriteString("(SELECT " + columns + " FROM " + name)
	if hint != "" {
		w.text.WriteString(" " + hint)
	}
	for i, rule := range r.rules {
		if i == 0 {
			w.text.WriteString(" WHERE (")
		} else {
			w.text.WriteString(" AND (")
		}
		binds := make([]Bind, len(rule.order))
		if w.Compared != nil && len(binds) > 0 {
			var err error
			if binds, err = w.Compared(r, rule.question, rule.order); err != nil {
				return err
			}
		}
		for _, p := range rule.pieces {
			switch {
			case p.param != "":
				bound := param{p.param, binds[0]}
				binds = binds[1:]
				value, err := bound.value(w.Params)
				if err != nil {
					return err
				}
				w.out.Args, w.out.params = append(w.out.Args, value), append(w.out.params, bound)
				w.text.WriteString(w.Placeholder(len(w.out.Args)))
			case p.column != "":
				w.text.WriteString(name + "." + w.Quote(p.column))
			default:
				w.text.WriteString(p.text)
			}
		}
		w.text.WriteString(")")
	}
	if w.Fenced {
		w.text.WriteString(" " + strings.Replace(w.Fence, "%s", "SELECT "+columns+" FROM "+name, 1))
	}
	w.text.WriteString(")")
	return nil
}

// view writes a view out.
func (w *spliceWriter) view(s Spot, depth int) error {
	v := s.Relation
	if v.Refused != nil {
		return v.Refused
	}
	query, columns, spots, err := w.View(v)
	if err != nil {
		return err
	}
	for i, column := range columns {
		columns[i] = w.Quote(column)
	}
	w.views.WriteString(query + "\n")
	// The name must be none that the query may mean.
	name := w.Quote(fmt.Sprintf("view %d of rules", depth))
	w.both("(WITH " + name + "(" + strings.Join(columns, ", ") + ") AS (")
	if err := w.write(query, spots, depth+1); err != nil {
		return err
	}
	w.both(") SELECT * FROM " + name)
	if w.Fenced && !strings.Contains(w.Fence, "%s") {
		w.both(" " + w.Fence)
	}
	w.both(")")
	return nil
}

// ViewQuery returns the query in the definition of a view, which may be a whole CREATE VIEW.
func ViewQuery(d sqltext.Dialect, definition string) string {
	depth, begun := 0, false
	for t := range d.Parse(definition).Tokens() {
		switch word := fold(t.Text); {
		case !begun && word != "create":
			return definition
		case t.Text == "(":
			depth++
		case t.Text == ")":
			depth--
		case depth == 0 && t.Kind == sqltext.Word && word == "as":
			return definition[t.Pos+len(t.Text):]
		}
		begun = true
	}
	return definition
}
