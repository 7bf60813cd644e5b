package sqltext

import (
	"slices"
	"strings"
)

// role says what a token does in its statement.
type role uint8

const (
	roleNone     role = iota
	roleKeyword       // keyword, or a unit such as YEAR in EXTRACT(YEAR FROM …)
	roleTable         // part of a table's name in FROM
	roleAlias         // definition of a table's or column's alias
	roleCTE           // definition of a CTE, or of its columns
	roleQualif        // what stands before the dot of a column
	roleColumn        // column
	roleFunction      // name of a function
	roleType          // type, collation or window name
)

// item is a token of the parse: no blanks, no comments.
type item struct {
	Token
	up    string // a Word in upper case; else ""
	match int    // the other bracket of a pair, CASE to its END and back; or -1
	in    int    // the bracket around it, or -1
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
	frame  int          // number of the bracket pair it stands in; arms of a compound share it
	cte    bool         // body of a CTE
	source bool         // derived table
	start  int          // first item
	end    int          // behind its last item
	at     [clauses]int // item of the keyword that opens the clause, or -1
	tables []int        // of parsed.tables
	joins  int
	op     string // set operation behind it, "" for the last arm
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

// parsed is what a single pass over a statement finds. It is a reading of
// tokens, not a grammar: any text gives some result, valid SQL the right one as
// far as the methods that use it promise.
type parsed struct {
	d       Dialect
	sql     string
	items   []item
	queries []query
	tables  []TableRef
	owner   []int // query of each table
	columns []column
	ctes    []span
	using   []string
	natural bool
	scopes  []scope // of each query, made when asked for
	main    int     // the outer query, or -1
}

// frame is a bracket pair that is open, or the text as a whole.
type frame struct {
	number int
	kind   frameKind
	query  int // the query that runs in it, or in which it stands; -1
	parent int // queryFrame: the query around it
	clause clause
	expect bool // a table comes next
	source bool // a table: behind the bracket an alias may follow
	ref    TableRef
	cte    bool   // body of a CTE
	name   bool   // WITH: a name comes next
	until  int    // item of the closing bracket
	call   string // function whose arguments it holds, in upper case
}

type frameKind uint8

const (
	otherFrame frameKind = iota // arguments, lists, expressions
	queryFrame                  // holds a query
	fromFrame                   // bracketed joins
)

// parse reads sql. It is linear in its length and does not recurse.
func (d Dialect) parse(sql string) *parsed {
	p := &parsed{d: d, sql: sql, main: -1, items: make([]item, 0, len(sql)/5+4)}
	l := lexer{d: d, src: sql}
	var open, cases []int
	for l.next() {
		t := l.tok
		if t.Kind == Space || t.Kind == Comment {
			continue
		}
		it := item{Token: t, match: -1, in: -1, query: -1}
		if len(open) > 0 {
			it.in = open[len(open)-1]
		}
		switch {
		case t.Kind == Word:
			it.up = strings.ToUpper(t.Text)
			if n := len(cases); it.up == "CASE" {
				cases = append(cases, len(p.items))
			} else if it.up == "END" && n > 0 && p.items[cases[n-1]].in == it.in {
				it.match = cases[n-1]
				cases = cases[:n-1]
				p.items[it.match].match = len(p.items)
			}
		case t.isOperator("("):
			open = append(open, len(p.items))
		case t.isOperator(")") && len(open) > 0:
			it.match = open[len(open)-1]
			open = open[:len(open)-1]
			p.items[it.match].match = len(p.items)
			it.in = p.items[it.match].in
		}
		p.items = append(p.items, it)
	}
	ps := parser{parsed: p, closed: -1}
	ps.run()
	return p
}

type parser struct {
	*parsed
	frames []frame
	count  int       // frames made so far
	closed int       // the query that the bracket closed last ended, or -1
	called *TableRef // a table function whose bracket comes next
	inner  int       // see behindBrackets
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

// up returns the word at item i in upper case, or "".
func (p *parsed) up(i int) string {
	if i < 0 || i >= len(p.items) {
		return ""
	}
	return p.items[i].up
}

// op reports whether item i is the operator text.
func (p *parsed) op(i int, text string) bool {
	return i >= 0 && i < len(p.items) && p.items[i].isOperator(text)
}

// isName reports whether item i may be a name: a quoted one, or a word that is
// not reserved.
func (p *parsed) isName(i int) bool {
	if i < 0 || i >= len(p.items) {
		return false
	}
	it := &p.items[i]
	return it.Kind == QuotedName || it.Kind == Word && !isReserved(it.up)
}

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
	case f.name && it.up != "RECURSIVE" && (it.Kind == Word || it.Kind == QuotedName):
		return p.cte(i)
	case f.expect && it.up != "SELECT" && (it.Kind == Word || it.Kind == QuotedName || it.Kind == String):
		return p.table(i)
	case it.Kind == Word && !p.op(i-1, ".") && !p.op(i+1, "."):
		if next := p.keyword(i); next > i {
			return next
		}
		return p.name(i)
	case it.Kind == Word, it.Kind == QuotedName:
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
	isQuery := isQueryWord(p.up(first)) || p.d.FromFirst && p.up(first) == "FROM"
	switch {
	case p.called != nil:
		p.push(frame{query: f.query, until: until, source: true, ref: *p.called})
		p.called = nil
	case f.expect:
		f.expect = false
		if isQuery {
			p.push(frame{kind: queryFrame, query: f.query, parent: f.query, until: until, source: true, ref: TableRef{Pos: p.items[i].Pos}})
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

// behindBrackets returns the first item behind the bracket at item i that opens
// no further one. It remembers what it found: a text of brackets alone would
// cost the square of its length otherwise.
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
