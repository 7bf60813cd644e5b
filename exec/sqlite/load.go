package sqlite

import (
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// mostStores bounds what may hold rows at once: each may keep 2 MB of pages in memory. Of 46,387 statements of the
// evaluation data that run, the largest has 35.
const mostStores = 48

// slowCalls are functions that take the product of the lengths of their first two arguments, uninterrupted: trim of 1
// MB by 1 MB takes hours. The number divides the greatest length of values, so that a call takes at most 0.1 s.
var slowCalls = map[string]int{"trim": 300, "ltrim": 300, "rtrim": 300, "unhex": 300, "json_patch": 300, "replace": 20, "instr": 20}

// shortLiteral is the longest literal, in bytes, that may be the second argument of a slow call without a lower limit.
const shortLiteral = 100

// load is what a statement may make SQLite hold and do, as its text and the views that it names tell.
type load struct {
	sqltext.Expansion
	// Values side by side: commas in lists of columns and arguments, and ||. Lists behind IN and VALUES do not count,
	// because only one of their values is held at a time.
	commas, joins int
	slow          int  // the largest factor of its slow calls; 0: none
	nested        bool // it has more than one SELECT, or names a view
}

// weigh finds the load of a statement before SQLite compiles it, and refuses too large a load. size is what exec found of
// it, which is nothing for a statement that is too little to grow.
func (f *facts) weigh(s *sqltext.Statement, size sqltext.Expansion) (load, error) {
	l := f.readLoad(s)
	if l.nested || len(s.SQL()) >= 2000 {
		l.Expansion = size
	}
	if l.Stores > mostStores {
		return l, guard.Refuse(exec.ReasonTooComplex, "%d subqueries, views, joins and DISTINCTs could hold rows at once; at most %d may", l.Stores, mostStores)
	}
	return l, nil
}

// readLoad finds what the tokens of a statement tell.
func (f *facts) readLoad(s *sqltext.Statement) load {
	type bracket struct {
		list     bool // of values, behind IN or VALUES
		slow     int  // of the function whose arguments it holds
		argument int
		tokens   int // of the second argument
		long     bool
	}
	var (
		l       load
		open    []bracket
		last    string // the name before, folded
		selects int
	)
	count := func(tokens int, long bool) {
		if n := len(open); n > 0 && open[n-1].argument == 1 {
			open[n-1].tokens += tokens
			open[n-1].long = open[n-1].long || long
		}
	}
	for t := range s.Tokens() {
		switch t.Kind {
		case sqltext.Word, sqltext.QuotedName:
			last = schema.Fold(sqltext.SQLite().Value(t))
			count(2, false) // no literal
			for _, r := range f.named[last] {
				if r.View {
					l.nested, l.slow = true, max(l.slow, kindOf(r).slow)
				}
			}
			switch last {
			case "select", "values":
				selects++
			case "by":
				l.Sorts++
			}
			continue
		case sqltext.Operator:
			switch t.Text {
			case "(":
				count(2, false)
				open = append(open, bracket{list: last == "in" || last == "values", slow: slowCalls[last]})
			case ")":
				if n := len(open); n > 0 {
					if b := open[n-1]; b.argument > 0 && (b.tokens != 1 || b.long) {
						l.slow = max(l.slow, b.slow)
					}
					open = open[:n-1]
				}
			case ",":
				if n := len(open); n == 0 || !open[n-1].list {
					l.commas++
				}
				if n := len(open); n > 0 {
					open[n-1].argument++
				}
			case "||":
				l.joins++
				count(2, false)
			default:
				count(2, false)
			}
		default:
			count(1, len(t.Text) > shortLiteral)
		}
		last = ""
	}
	l.nested = l.nested || selects > 1
	return l
}
