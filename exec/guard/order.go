package guard

import (
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Trait describes the values of a column. It is zero if the engine does not know the type.
type Trait struct {
	Exact  bool // values that are equal to the engine are identical
	Whole  bool // the sum of the values does not depend on their order
	Sorted bool // ORDER BY compares the whole value
}

// traits is a [Trait] as bits.
type traits uint8

const (
	exact traits = 1 << iota
	whole
	sorted
	everyTrait = exact | whole | sorted
)

func (t Trait) bits() (bits traits) {
	if t.Exact {
		bits |= exact
	}
	if t.Whole {
		bits |= whole
	}
	if t.Sorted {
		bits |= sorted
	}
	return bits
}

// Orders sets how rows of r are distinguished: by the columns of a key, and by the traits of each column. No two rows
// share a key, and its columns are never NULL. Without a key, rows are distinguished by all columns.
func (r *Relation) Orders(key []string, trait func(column string) Trait) {
	r.key = key
	for i, name := range r.columns {
		r.traits[i] = trait(name).bits()
	}
}

// KeyOf returns the primary key of a table, or a unique key whose columns are NOT NULL. It returns the first key for
// which fit accepts all columns. nil: the table has no such key.
func KeyOf(t *schema.Table, fit func(c *schema.Column) bool) []string {
	for _, key := range append([][]string{t.PrimaryKey}, t.Unique...) {
		unfit := func(name string) bool { c, ok := t.Column(name); return !ok || !fit(c) }
		if len(key) > 0 && !slices.ContainsFunc(key, unfit) {
			return key
		}
	}
	return nil
}

// Open reports whether a statement may run without a fence, and returns the text to insert into it. Such a statement
// cannot fail, see [Catalog.CannotFail]. Its rows and their order depend only on the rows that the rules leave. Where
// SQL leaves something open, the plan for all rows could decide it, so nothing may be left open:
//
//   - ORDER BY ends in values that no two rows share: the columns of GROUP BY, the whole list with DISTINCT, or a key
//     of each source.
//   - A value is the same whichever of several equal ones the engine takes: a grouped value, or one in min, max or
//     DISTINCT.
//   - A column next to an aggregate is grouped, or a key of its table is.
//   - A sum, an average or a list of values has an ORDER BY in it, except sums that do not depend on the order.
//   - Every function of the list is such an aggregate, count, min, max, or a function of one row.
//
// The spots also order the rows of a statement with a fence, if the reader understands it.
//
// settled means that the spots leave nothing open, even if the statement may fail.
func (c *Catalog) Open(s *sqltext.Statement, names *Names, o RewriteRules) (spots []TablePosition, settled, open bool) {
	r := newFailReader(c, o.Results)
	if names != nil && names.rows() || !r.statement(s) {
		return nil, false, false
	}
	order, ordered := r.order(o)
	if order != "" {
		pos := r.text.End(r.at.end - 1)
		spots = append(spots, TablePosition{Pos: pos, End: pos, Insert: order})
	}
	arranged, ok := r.arrange(o)
	alike := r.lacks(r.exact, exact) || r.lacks(r.sorted, sorted)
	settled = ok && ordered && !r.loose && !alike
	return append(arranged, spots...), settled, settled && !r.fails && r.holds()
}

// lacks reports whether a column of the names may lack a trait.
func (r *failReader) lacks(names []string, trait traits) bool {
	return slices.ContainsFunc(names, func(name string) bool { return r.traits[anyCase(name)]&trait == 0 })
}

// level is one SELECT.
type level struct {
	sources  []source
	groups   []mention         // of GROUP BY
	items    []mention         // of the list; an item without a path is more than a single column
	names    []string          // of the outermost list, folded
	renamed  map[string]string // columns of that list by their aliases, folded
	aliases  []string          // of the list of another one, folded; "" for an item without one
	written  []string          // what its items are called, as it is written; "" for one without a name
	mentions []mention         // columns of the list, HAVING and ORDER BY outside of aggregates

	starred, distinct, aggregated bool
	notes                         bool // columns are noted in mentions
	ordered, descending           bool
	end                           int // the token after its ORDER BY, or where one would be
}

// mention is a column as it is written.
type mention struct {
	path   []string // folded
	text   string
	number int // in place of a path: of an item of the list
}

// add adds an item of the list.
func (l *level) add(alias, written string, item mention) {
	l.aliases, l.written, l.items = append(l.aliases, alias), append(l.written, written), append(l.items, item)
}

// place is an item of GROUP BY, of ORDER BY or of a list that begins at a token: a column, or the number of an item.
func (r *failReader) place(at int, o operand) mention {
	m := r.mention(at, r.i, nil)
	r.i, at = at, r.i
	defer func() { r.i = at }()
	if path, column := r.path(); column && r.i == at {
		m.path = path
	} else if o.constant == sqltext.Number {
		m.number, _ = strconv.Atoi(m.text)
	}
	return m
}

// source is an item of a FROM.
type source struct {
	alias    string    // as it is written
	relation *Relation // nil for a query
	columns  []string  // of a query, as they are written; nil: they are not known
}

// note stores the column between two tokens.
func (r *failReader) note(from, to int, path []string) {
	if r.at.notes {
		r.at.mentions = append(r.at.mentions, r.mention(from, to, path))
	}
}

func (r *failReader) mention(from, to int, path []string) mention {
	m := mention{path: path}
	for i := from; i < to; i++ {
		if i > from && !strings.Contains("(),.", r.text.Raw(i)) && !strings.Contains("(.", r.text.Raw(i-1)) {
			m.text += " "
		}
		m.text += r.text.Raw(i)
	}
	return m
}

// settle ends a level: it notes what its values depend on.
func (r *failReader) settle() {
	l := r.at
	grouped := len(l.groups) > 0 || l.aggregated
	if grouped {
		r.loose = r.loose || l.starred
		for _, m := range l.mentions {
			r.settled(m)
		}
		for _, g := range l.groups {
			if g.number > 0 {
				r.same(g.number)
			}
		}
	}
	if !l.distinct {
		return
	}
	r.loose = r.loose || l.starred || grouped
	for i := range l.items {
		r.same(i + 1)
	}
	for _, m := range l.mentions { // ORDER BY may take any of the rows that are alike
		r.loose = r.loose || !slices.ContainsFunc(l.items, func(item mention) bool {
			return item.path != nil && r.means(item, m.path)
		})
	}
}

// same notes that an item of the list has to be a column whose equal values are the same.
func (r *failReader) same(number int) {
	if number > len(r.at.items) || r.at.items[number-1].path == nil {
		r.loose = true
		return
	}
	r.exact = append(r.exact, r.at.items[number-1].column())
}

func (m mention) column() string { return m.path[len(m.path)-1] }

// settled notes what the value of a column of a group depends on.
func (r *failReader) settled(m mention) {
	behind := m.path[:len(m.path)-1]
	for _, s := range r.at.sources {
		of := len(behind) > 0 && behind[len(behind)-1] == r.folded(s.alias) || len(behind) == 0 && len(r.at.sources) == 1
		if !of || s.relation == nil || len(s.relation.key) == 0 {
			continue
		}
		if !slices.ContainsFunc(s.relation.key, func(key string) bool {
			return !r.groups(append(slices.Clone(behind), fold(key)))
		}) {
			return // one row of the source in each group
		}
	}
	r.exact = append(r.exact, m.column())
	r.loose = r.loose || !r.groups(m.path)
}

// groups reports whether a column is grouped.
func (r *failReader) groups(path []string) bool {
	return slices.ContainsFunc(r.at.groups, func(g mention) bool {
		if g.number > 0 && g.number <= len(r.at.items) {
			g = r.at.items[g.number-1]
		}
		return g.path != nil && r.means(g, path)
	})
}

// means reports whether a mention is for sure the column of a path.
func (r *failReader) means(m mention, path []string) bool {
	if len(r.at.sources) == 1 {
		alias := r.folded(r.at.sources[0].alias)
		of := func(path []string) bool { return len(path) == 1 || path[len(path)-2] == alias }
		return m.column() == path[len(path)-1] && of(m.path) && of(path)
	}
	return slices.Equal(m.path, path)
}

// folded returns the name that a token means.
func (r *failReader) folded(raw string) string {
	for t := range r.catalog.Text.Tokens(raw) {
		return schema.FoldCase(r.catalog.Text.Value(t))
	}
	return ""
}

// order returns what makes the order of the outermost SELECT unique, to be written at the end of its ORDER BY.
func (r *failReader) order(o RewriteRules) (text string, ok bool) {
	l := r.at
	var terms []string
	switch {
	case l.distinct:
		for i := range l.items {
			terms = append(terms, strconv.Itoa(i+1))
		}
	case len(l.groups) > 0:
		for _, g := range l.groups {
			terms = append(terms, g.text)
		}
	case l.aggregated: // one row
		return "", true
	default:
		if terms, ok = r.keys(o); !ok {
			return "", false
		}
	}
	direction := ""
	if l.descending {
		direction = " DESC"
	}
	text = strings.Join(terms, direction+", ") + direction
	if l.ordered {
		return ", " + text, true
	}
	return " ORDER BY " + text, true
}

// keys returns columns of all sources that no two rows share.
func (r *failReader) keys(o RewriteRules) (terms []string, ok bool) {
	aliases := map[string]bool{}
	for _, s := range r.at.sources {
		alias := anyCase(r.folded(s.alias))
		if alias == "" || aliases[alias] {
			return nil, false
		}
		aliases[alias] = true
		own, ok := r.keyOf(s, o)
		if !ok {
			return nil, false
		}
		terms = append(terms, own...)
	}
	return terms, len(terms) > 0
}

// keyOf returns columns of a source that no two rows share, or all of them: rows that are alike in all may change
// places.
func (r *failReader) keyOf(s source, o RewriteRules) (terms []string, ok bool) {
	columns := s.columns
	if t := s.relation; t != nil {
		if len(t.key) > 0 && !slices.ContainsFunc(t.key, func(name string) bool { return !t.readable(name) }) {
			for _, name := range t.key {
				terms = append(terms, s.alias+"."+o.Quote(name))
			}
			return terms, true
		}
		for _, name := range t.columns {
			if t.readable(name) {
				columns = append(columns, o.Quote(name))
			}
		}
	}
	named := map[string]bool{}
	for _, column := range columns {
		name := anyCase(r.folded(column))
		if named[name] || o.Exactly == nil || r.traits[name]&sorted == 0 {
			return nil, false
		}
		named[name] = true
		if column = s.alias + "." + column; r.traits[name]&exact == 0 {
			column = o.Exactly(column)
		}
		terms = append(terms, column)
	}
	return terms, len(terms) > 0
}

// readable reports whether a splice has a column of r.
func (r *Relation) readable(name string) bool {
	return !r.Denies(name) && r.Barred[name] == "" && !slices.Contains(r.Unseen, name)
}

// apart returns the ORDER BY of a fence, which distinguishes rows of r: by its key, or as far as its columns do.
func (r *Relation) apart(name string, o RewriteRules) string {
	if r.Row != "" {
		return " ORDER BY " + name + "." + r.Row
	}
	var terms []string
	for _, column := range r.key {
		terms = append(terms, name+"."+o.Quote(column))
	}
	for i, column := range r.columns {
		if len(r.key) > 0 || o.Exactly == nil || !r.readable(column) || r.traits[i]&sorted == 0 {
			continue
		}
		if column = name + "." + o.Quote(column); r.traits[i]&exact == 0 {
			column = o.Exactly(column)
		}
		terms = append(terms, column)
	}
	if len(terms) == 0 {
		return ""
	}
	return " ORDER BY " + strings.Join(terms, ", ")
}
