package sqltext

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
)

// role says what a token does in its statement.
type role uint8

const (
	roleNone     role = iota
	roleKeyword       // a keyword, or a unit such as YEAR in EXTRACT(YEAR FROM …)
	roleTable         // part of a table's name in FROM
	roleAlias         // the place that defines the alias of a table or column
	roleCTE           // the place that defines a CTE or its columns
	roleQualif        // a qualifier: it stands before the dot of a column
	roleColumn        // a column
	roleFunction      // the name of a function
	roleType          // the name of a type, collation or window
)

// item is a token with what the parse finds out about it. Blanks and comments are no items.
type item struct {
	Token
	up    string // the text of a Word in upper case; "" for other kinds
	match int    // item of the other bracket of a pair, or of the other one of CASE and END; or -1
	in    int    // item of the bracket around it, or -1
	query int    // the innermost query it belongs to, or -1
	role  role
}

// clause is a part of a query that a keyword opens.
type clause uint8

const (
	inNone clause = iota
	inWith
	inSelect
	inFrom
	inWhere
	inGroup
	inHaving
	inQualify
	inWindow
	inOrder
	inLimit
	clauses
)

// query is one SELECT, an arm of a compound included.
type query struct {
	parent int          // the query around it, or -1
	frame  int          // number of the bracket pair around it; arms of a compound share it
	cte    bool         // it is the body of a CTE
	source bool         // it is a derived table
	start  int          // first item
	end    int          // the item behind its last one
	at     [clauses]int // item of the keyword that opens the clause, or -1
	tables []int        // places in parsed.tables
	joins  int
	op     string // the set operation behind it; "" for the last arm
}

// column is a mention of a column: items[start:end], the last one being its name.
type column struct {
	start, end int
	query      int
}

// span is where a CTE may be named.
type span struct {
	name     string // lower case
	from, to int    // items
}

// parsed is what a single pass over a statement finds.
type parsed struct {
	d       Dialect
	sql     string
	items   []item
	queries []query
	tables  []sqlshape.TableRef
	columns []column
	ctes    []span
	refs    []sqlshape.ColumnRef // columns resolved, in the same order; see Statement.resolved
	scopes  []scope              // by query; each is made when it is first needed
	main    int                  // the outer query, or -1
}

// frame is a bracket pair that is open, or the text as a whole.
type frame struct {
	number int
	kind   frameKind
	query  int // the query that runs in it or around it, or -1
	parent int // of a queryFrame: the query around it, or -1
	clause clause
	expect bool // a table comes next
	source bool // it is a table, so an alias may follow its bracket
	ref    sqlshape.TableRef
	cte    bool   // it holds the body of a CTE
	name   bool   // in WITH: a name comes next
	until  int    // item of the closing bracket
	call   string // the function whose arguments it holds, in upper case
}

type frameKind uint8

const (
	otherFrame frameKind = iota // arguments, lists, expressions
	queryFrame                  // holds a query
	fromFrame                   // bracketed joins
)

// parse reads the items of the statement.
func (p *parsed) parse() {
	p.main = -1
	var open, cases []int
	for i := range p.items {
		it := &p.items[i]
		it.match, it.in, it.query = -1, -1, -1
		if len(open) > 0 {
			it.in = open[len(open)-1]
		}
		switch {
		case it.Kind == Word:
			it.up = strings.ToUpper(it.Text)
			if n := len(cases); it.up == "CASE" {
				cases = append(cases, i)
			} else if it.up == "END" && n > 0 && p.items[cases[n-1]].in == it.in {
				it.match = cases[n-1]
				cases = cases[:n-1]
				p.items[it.match].match = i
			}
		case it.isOperator("("):
			open = append(open, i)
		case it.isOperator(")") && len(open) > 0:
			it.match = open[len(open)-1]
			open = open[:len(open)-1]
			p.items[it.match].match = i
			it.in = p.items[it.match].in
		}
	}
	ps := parser{parsed: p, closed: -1}
	ps.run()
}

type parser struct {
	*parsed
	frames []frame
	count  int                // frames made so far
	closed int                // the query that ended with the last closing bracket, or -1
	called *sqlshape.TableRef // a table function whose bracket comes next
	inner  int                // see behindBrackets
}

func (p *parser) run() {
	p.push(frame{kind: queryFrame, query: -1, parent: -1, until: len(p.items)})
	for i := 0; i < len(p.items); {
		i = p.step(i)
	}
	for len(p.frames) > 0 {
		p.pop(len(p.items))
	}
	if p.main < 0 && len(p.queries) > 0 { // (SELECT …) UNION (SELECT …)
		p.main = max(0, slices.IndexFunc(p.queries, func(q query) bool { return !q.cte && q.parent < 0 }))
	}
}

func (p *parser) push(f frame) {
	f.number = p.count
	p.count++
	p.frames = append(p.frames, f)
}

// pop ends the innermost frame before item i.
func (p *parser) pop(i int) {
	f := p.top()
	p.closed = -1
	if f.kind == queryFrame && f.query >= 0 && f.query != f.parent {
		p.queries[f.query].end = i
		p.closed = f.query
	}
	p.frames = p.frames[:len(p.frames)-1]
}

func (p *parser) top() *frame { return &p.frames[len(p.frames)-1] }

// noItem stands before the first and behind the last item. It is never written to.
var noItem item

func (p *parsed) item(i int) *item {
	if i < 0 || i >= len(p.items) {
		return &noItem
	}
	return &p.items[i]
}

// up returns the word at item i in upper case, or "".
func (p *parsed) up(i int) string { return p.item(i).up }

// op reports whether item i is the operator text.
func (p *parsed) op(i int, text string) bool { return p.item(i).isOperator(text) }

// isName reports whether the item is a word or a quoted name.
func (it *item) isName() bool { return it.Kind == Word || it.Kind == QuotedName }

// mayName reports whether item i may be a name: a quoted one, or a word that is not reserved.
func (p *parsed) mayName(i int) bool { return p.item(i).isName() && !sqlshape.Reserved[p.up(i)] }

// step handles item i and returns the item to go on with.
func (p *parser) step(i int) int {
	f := p.top()
	it := &p.items[i]
	it.query = f.query
	switch {
	case it.isOperator("("):
		return p.open(i)
	case it.isOperator(")"):
		if len(p.frames) == 1 { // closes nothing
			return i + 1
		}
		source, ref := f.source, f.ref
		p.pop(i)
		it.query = p.top().query
		if source {
			return p.alias(i+1, ref)
		}
		return i + 1
	case it.isOperator(";"):
		for len(p.frames) > 0 {
			p.pop(i)
		}
		p.push(frame{kind: queryFrame, query: -1, parent: -1, until: len(p.items)})
		return i + 1
	case it.isOperator(","):
		if f.clause == inFrom || f.kind == fromFrame {
			f.expect = true
			p.join(f)
		}
		f.name = f.clause == inWith
		return i + 1
	case f.name && it.up != "RECURSIVE" && it.isName():
		return p.cte(i)
	case f.expect && it.up != "SELECT" && (it.isName() || it.Kind == String):
		return p.table(i)
	case it.Kind == Word && !p.op(i-1, ".") && !p.op(i+1, "."):
		if next := p.keyword(i); next > i {
			return next
		}
		return p.name(i)
	case it.isName():
		return p.name(i)
	}
	return i + 1
}

func (p *parser) join(f *frame) {
	if f.query >= 0 {
		p.queries[f.query].joins++
	}
}

// open enters a bracket.
func (p *parser) open(i int) int {
	f := p.top()
	until := p.items[i].match
	if until < 0 {
		until = len(p.items)
	}
	first := p.behindBrackets(i)
	isQuery := isQueryWord(p.up(first)) || p.d.FromFirst && p.up(first) == "FROM" || p.up(first) == "TABLE" &&
		p.item(first+1).isName()
	switch {
	case p.called != nil:
		p.push(frame{query: f.query, until: until, source: true, ref: *p.called})
		p.called = nil
	case f.expect:
		f.expect = false
		if isQuery && !p.beginsList(i, until) {
			p.push(frame{kind: queryFrame, query: f.query, parent: f.query, until: until, source: true,
				ref: sqlshape.TableRef{Pos: p.items[i].Pos}})
		} else {
			p.push(frame{kind: fromFrame, query: f.query, expect: true, until: until})
		}
	case isQuery && (first == i+1 || i == 0 || f.kind == queryFrame && f.query == f.parent):
		cte := f.clause == inWith && (p.up(i-1) == "AS" || p.up(i-1) == "MATERIALIZED")
		p.push(frame{kind: queryFrame, query: f.query, parent: f.query, cte: cte, until: until})
	default:
		call := ""
		if i > 0 && p.items[i-1].role == roleFunction {
			call = strings.ToUpper(p.nameOf(i - 1))
		}
		p.push(frame{query: f.query, until: until, call: call})
	}
	return i + 1
}

// beginsList reports whether the bracket at item i, which ends at item end, holds a list of tables of which the first
// is a query in brackets: ((SELECT …) AS a JOIN b), and not ((SELECT …) UNION (SELECT …)).
func (p *parser) beginsList(i, end int) bool {
	if !p.op(i+1, "(") || p.items[i+1].match < 0 {
		return false
	}
	next := p.items[i+1].match + 1
	return next < end && !p.op(next, "|>") && !behindQuery[p.up(next)]
}

// behindBrackets returns the first item behind the bracket at item i that opens no further one. It remembers what it
// found: a text of brackets alone would cost the square of its length otherwise.
func (p *parser) behindBrackets(i int) int {
	if i < p.inner {
		return p.inner
	}
	p.inner = i + 1
	for p.op(p.inner, "(") {
		p.inner++
	}
	return p.inner
}

// nameOf returns the name that item i is, without quotes.
func (p *parsed) nameOf(i int) string { return p.d.Value(p.items[i].Token) }

// begin starts a query at item i.
func (p *parser) begin(i int, c clause) {
	f := p.top()
	q := query{parent: f.parent, frame: f.number, cte: f.cte, source: f.source, start: i, end: len(p.items)}
	for c := range q.at {
		q.at[c] = -1
	}
	q.at[c] = i
	if f.query >= 0 && f.query != f.parent {
		// A further arm: the one before ends here at the latest.
		p.queries[f.query].end = min(p.queries[f.query].end, i)
	}
	f.query, f.clause, f.expect = len(p.queries), c, c == inFrom
	p.queries = append(p.queries, q)
	p.items[i].query = f.query
	if len(p.frames) == 1 && p.main < 0 {
		p.main = f.query
	}
}
