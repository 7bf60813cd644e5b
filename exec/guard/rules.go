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
				wrong = append(wrong, fmt.Sprintf("Rows: %q: it is %s", rule.Table,
					cmp.Or(r.Unruly, "a view, which is read through the rules of its tables")))
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

// Ruled reports whether only some rows of r may be read: r has a rule, or is a view over a relation with a rule.
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

// InRule reports whether a rule of r names the column. A splice reads such a column even if the policy denies it.
func (r *Relation) InRule(column string) bool {
	return slices.ContainsFunc(r.rules, func(rule *Rule) bool {
		return slices.ContainsFunc(rule.pieces, func(p piece) bool {
			return p.column != "" && schema.EqualFold(p.column, column)
		})
	})
}

// Unnamed reports whether statements may not name a column, because it is Unseen and r has a rule.
func (r *Relation) Unnamed(column string) bool {
	return slices.ContainsFunc(r.Unseen, func(name string) bool { return fold(name) == fold(column) }) && r.Ruled()
}

// RewriteRules describes how to write a row rule into a statement of an engine.
//
// A reference to a table with a rule becomes (SELECT * FROM schema.table WHERE (rule)) AS alias. If a column of the
// table may not be read, the other columns replace the star. A view over such a table becomes its definition, which is
// rewritten in the same way, with every other table qualified by its schema.
type RewriteRules struct {
	// Fence wraps the query with the rule, so that the engine applies the rule before it evaluates anything else on a
	// row: "%s LIMIT 18446744073709551615" in MySQL. The first %s is that query. It ends in an ORDER BY, so that no
	// index that the engine uses for the rule decides which row comes first. A second %s is the query without its WHERE
	// and ORDER BY.
	Fence string
	// Pin wraps the result of Fence (its %s), if a statement depends on an order that cannot be written into it. The
	// engine's estimate then does not depend on the content of the table, and neither does the plan of the rest. "":
	// the Fence alone has such an estimate.
	Pin string
	// Hoisted writes a fence before the statement: "%s AS MATERIALIZED (%s)" in PostgreSQL. "": the fence replaces the
	// table. A fence also replaces the table if the statement has a view or a WITH inside. Inside means that the name
	// of a hoisted fence is known there, so that it need not.
	Hoisted string
	Inside  bool
	// FenceView is appended to a view that is written out, for the same purpose: " LIMIT -1" in SQLite. "": the fences
	// of its tables are enough.
	FenceView string
	// Quote and QuoteSchema quote names. Placeholder writes parameter n, counted from 1. Numbered means that
	// Placeholder contains the number. Otherwise parameters count in the order of the text, and the parameters of a
	// statement by exec come after its tables.
	Quote, QuoteSchema func(string) string
	Placeholder        func(n int) string
	Numbered           bool
	// Results reports which functions may be in the outermost list of results of a statement without a fence: see
	// [Catalog.CannotFail]. nil: all.
	Results func(function string) bool
	// Exactly writes a column for ORDER BY so that two different values never tie; nil: this is not possible.
	Exactly func(column string) string
	// Ordered reports which aggregates accept an ORDER BY after their arguments; nil: no aggregate does.
	Ordered func(function string) bool
	// Settings reports that the engine supports the settings of a scope.
	Settings bool
}

// TablePosition is a place in the text of a statement that names a table or a view. Offsets are in bytes.
type TablePosition struct {
	Relation *Relation // nil: the text from Pos to End is removed
	Pos, End int       // of the name, with its schema
	Alias    string    // the quoted name in the statement, if no alias follows the name; otherwise ""
	// HintPos and HintEnd locate words that follow the name, for example INDEXED BY. They move into the splice.
	HintPos, HintEnd int
	// Insert replaces Pos to End if Relation is nil; "" removes a word that is not allowed next to a splice.
	// exec/postgres sets such spots.
	Insert string
}

// RowFilterRewrite is a statement with the row rules written into it.
type RowFilterRewrite struct {
	Text   string // the statement
	Args   []any  // values of its parameters
	Ranges []spliceRange
	// Bare is the text with a stand-in for each splice. A stand-in reads no table and has the same columns. If the
	// engine finds a table with a rule in Bare, the statement reads it without the rule. Bare has no parameters of
	// rules.
	Bare   string
	Fenced bool // a fence follows each rule
	Pinned bool // no order makes the order of the rows unique

	params []param // the parameters of rules, in their order
	edits  []edit
}

// spliceRange is the place of one splice in the text.
type spliceRange struct {
	Relation *Relation // the table that is read in it, or the view that is written out
	Pos, End int
}

// edit is a place where the text is not what the statement was.
type edit struct {
	pos, end int    // in RowFilterRewrite.Text
	was      string // what stood there
}

// Original returns the original text of an expression if the engine names a column by that text.
func (s *RowFilterRewrite) Original(name string) string {
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

// With returns s with other values for the parameters. It is for a statement without arguments of its own.
func (s *RowFilterRewrite) With(params map[string]any) (*RowFilterRewrite, error) {
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

// param is a parameter in a rule.
type param struct {
	name string
	bind func(value any) (any, error) // nil: a value is bound as it is
}

// value returns what is bound.
func (p param) value(params map[string]any) (any, error) {
	value, ok := params[p.name]
	if !ok {
		return nil, Refuse("scope", "the scope has no parameter %s", p.name)
	}
	if value == nil || p.bind == nil {
		return value, nil
	}
	bound, err := p.bind(value)
	if err != nil {
		return nil, Refuse("scope", "the parameter %s of the scope %v, as what a rule compares it with", p.name, err)
	}
	return bound, nil
}

// RewriteOptions configures [Catalog.Splice].
type RewriteOptions struct {
	RewriteRules
	Params map[string]any // the values of the parameters
	Fenced bool
	Pinned bool  // the order of rows cannot be written into the statement
	Own    []any // the arguments of the statement itself
	// Compared returns one conversion function for each parameter in a rule of r: see exec.GuardedConn. text is the
	// rule with "?" in place of each parameter; params has the names of the parameters in that order. An error means
	// that the type of a parameter cannot be determined from its comparison. nil: the engine compares each value
	// unchanged.
	Compared func(r *Relation, text string, params []string) ([]func(value any) (any, error), error)
	// View returns the query of a view, its columns in order, and the spots in the query.
	View func(v *Relation) (query string, columns []string, spots []TablePosition, err error)
}

// The rules may add mostAdded tokens to a statement. Views that are written out count for themselves, twice, as in
// [Catalog.Weigh], and together no more than mostWritten may come. mostSpliced bounds the text meanwhile, in bytes, and
// deepestView how deep views are written out.
const (
	mostWritten = 100_000
	mostSpliced = 1 << 20
	deepestView = 16
)

// Splice writes the rules into a statement. spots are in the order of the text. The result must be read and confirmed
// like any statement. A second check must confirm that no rule was missed.
func (c *Catalog) Splice(text string, spots []TablePosition, o RewriteOptions) (*RowFilterRewrite, error) {
	t := NewText(c.Text.Parse(text))
	if !o.Inside && withInside(t, spots) {
		o.Hoisted = ""
	}
	w := spliceWriter{RewriteOptions: o, out: &RowFilterRewrite{Fenced: o.Fenced, Pinned: o.Pinned}}
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
	w.hoist(t)
	most := min(mostAdded+2*c.tokens(w.views.String()), mostWritten)
	if n := c.tokens(w.out.Text) - c.tokens(text); n > most {
		return nil, Refuse("too-complex", "the rules about rows and the views would add %d tokens; at most %d may be added",
			n, most)
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
	RewriteOptions
	text, bare strings.Builder
	views      strings.Builder // the queries of the views that are written out
	fences     []string        // that are hoisted
	out        *RowFilterRewrite
}

// withInside reports whether a statement has a WITH after its first word, or in a view that is written out.
func withInside(t Text, spots []TablePosition) bool {
	return slices.ContainsFunc(t.tokens[min(1, t.Len()):], func(token sqltext.Token) bool {
		return fold(token.Text) == "with"
	}) ||
		slices.ContainsFunc(spots, func(s TablePosition) bool { return s.Relation != nil && s.Relation.View })
}

// hoist puts the fences in front of a statement, into its own WITH if it has one.
func (w *spliceWriter) hoist(t Text) {
	if len(w.fences) == 0 {
		return
	}
	pos, begin, end := 0, "WITH ", " "
	for i := 0; t.Word(i) == "with" || t.Word(i) == "recursive"; i++ {
		pos, begin, end = t.End(i), " ", ","
	}
	head := begin + strings.Join(w.fences, ", ") + end
	w.out.Text = w.out.Text[:pos] + head + w.out.Text[pos:]
	for i := range w.out.Ranges {
		w.out.Ranges[i].Pos += len(head)
		w.out.Ranges[i].End += len(head)
	}
	for i := range w.out.edits {
		w.out.edits[i].pos += len(head)
		w.out.edits[i].end += len(head)
	}
}

func (w *spliceWriter) both(text string) {
	w.text.WriteString(text)
	w.bare.WriteString(text)
}

// write writes a statement, or the query of a view at a depth over 0.
func (w *spliceWriter) write(text string, spots []TablePosition, depth int) error {
	done := 0
	for _, s := range spots {
		if s.Pos < done {
			return Refuse("rows", "the places where it names tables overlap")
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
			return Refuse("rows", "the view %s is named with a hint, or too deep in other views", s.Relation.Name)
		case s.Relation.View:
			if err := w.view(s, depth); err != nil {
				return err
			}
		default:
			if err := w.table(s, name, hint); err != nil {
				return err
			}
		}
		if w.text.Len()+len(strings.Join(w.fences, "")) > mostSpliced {
			return Refuse("too-complex", "the statement is over %d bytes with the rules about rows", mostSpliced)
		}
		w.both(alias)
		if depth == 0 {
			w.out.Ranges = append(w.out.Ranges, spliceRange{Relation: s.Relation, Pos: begin, End: w.text.Len()})
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
func (w *spliceWriter) table(s TablePosition, name, hint string) error {
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
	where, err := w.conditions(r, name)
	if err != nil {
		return err
	}
	query := "SELECT " + columns + " FROM " + name
	if hint != "" {
		query += " " + hint
	}
	query += where
	if w.Fenced && w.Fence != "" {
		if columns == "*" { // of this table alone
			columns = w.Quote(r.Name) + ".*"
		}
		query += r.apart(name, w.RewriteRules)
		w.text.WriteString(w.fence(query, "SELECT "+columns+" FROM "+name))
		return nil
	}
	w.text.WriteString("(" + query + ")")
	return nil
}

// fence returns the replacement for the query of a table. bare is the query without its conditions.
func (w *spliceWriter) fence(query, bare string) string {
	fence := w.Fence
	if w.Pinned && w.Pin != "" {
		fence = strings.Replace(w.Pin, "%s", fence, 1)
	}
	before, behind, _ := strings.Cut(fence, "%s")
	fence = before + query + strings.Replace(behind, "%s", bare, 1)
	if w.Hoisted == "" {
		return "(" + fence + ")"
	}
	// The statement must not use the same name.
	name := w.Quote(fmt.Sprintf("fence %d of rules", len(w.fences)+1))
	w.fences = append(w.fences, fmt.Sprintf(w.Hoisted, name, fence))
	return name
}

// conditions returns the rules about a table, as its WHERE.
func (w *spliceWriter) conditions(r *Relation, name string) (where string, err error) {
	for i, rule := range r.rules {
		if where += " AND ("; i == 0 {
			where = " WHERE ("
		}
		binds := make([]func(value any) (any, error), len(rule.order))
		if w.Compared != nil && len(binds) > 0 {
			if binds, err = w.Compared(r, rule.question, rule.order); err != nil {
				return "", err
			}
		}
		for _, p := range rule.pieces {
			switch {
			case p.param != "":
				bound := param{p.param, binds[0]}
				binds = binds[1:]
				value, err := bound.value(w.Params)
				if err != nil {
					return "", err
				}
				w.out.Args, w.out.params = append(w.out.Args, value), append(w.out.params, bound)
				where += w.Placeholder(len(w.out.Args))
			case p.column != "":
				where += name + "." + w.Quote(p.column)
			default:
				where += p.text
			}
		}
		where += ")"
	}
	return where, nil
}

// view writes a view out.
func (w *spliceWriter) view(s TablePosition, depth int) error {
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
	// The query must not use the same name.
	name := w.Quote(fmt.Sprintf("view %d of rules", depth))
	w.both("(WITH " + name + "(" + strings.Join(columns, ", ") + ") AS (")
	if err := w.write(query, spots, depth+1); err != nil {
		return err
	}
	w.both(") SELECT * FROM " + name)
	if w.Fenced && w.Fence != "" {
		w.both(w.FenceView)
	}
	w.both(")")
	return nil
}

// ViewQuery returns the query in the definition of a view. The definition may be a whole CREATE VIEW.
func (c *Catalog) ViewQuery(definition string) string {
	depth, begun := 0, false
	for t := range c.Text.Parse(definition).Tokens() {
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
