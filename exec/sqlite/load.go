package sqlite

import (
	"context"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Ids of sqlite3_limit.
const (
	limitLength   = 0 // of a string, blob or row
	limitDepth    = 3 // of an expression
	limitVariable = 9 // parameters
)

// limit is a limit of SQLite.
type limit struct{ id, value int }

// mostColumns bounds the columns of a result, and those of a table that a star stands for.
const mostColumns = 500

// mostExpanded is how many tokens a statement may grow by where views are written out: of so large ones SQLite compiles
// none for over 0.3 s and 40 MB. See BenchmarkCompile.
const mostExpanded = 2_000_000

// lowered are the limits that the guard sets. Each has payloads that need it.
func (c *conn) lowered() [10]limit {
	return [10]limit{
		{limitLength, c.longest()}, // the first one: see fit
		// length of the text: the text check allows 100,000, and rules, views and asStored add to it
		{1, 1 << 20},
		{2, mostColumns},        // columns of a result, also of SELECT * of a wider table
		{limitDepth, mostDepth}, // of a view's too once it is expanded; see deepest
		{4, 50},                 // parts of a compound
		// steps of a program, of 24 bytes each: four layers of views of 250 columns of CASE have 27,000
		{5, 250_000},
		{6, 100},           // arguments of a function
		{7, 0},             // databases attached: what is attached stays readable
		{8, 100},           // length of a LIKE pattern
		{limitVariable, 0}, // see conn.compile
	}
}

// lower lowers the limits and calls was with each as it was before.
func (c *conn) lower(was func(limit)) {
	for _, l := range c.lowered() {
		was(limit{l.id, c.hooks.SetLimit(l.id, l.value)})
	}
	c.length, c.parameters, c.depth = c.longest(), 0, mostDepth
}

// mostDepth is how deep an expression may be beside its chains of OR and AND, of which each term is one deeper than the
// one before.
const mostDepth = 200

// deepest is the limit on the depth of the expressions of a statement. SQLite itself allows 1,000.
func deepest(s *sqltext.Statement) int {
	terms := 0
	for t := range s.Tokens() {
		if word := t.Text; t.Kind == sqltext.Word && (strings.EqualFold(word, "or") || strings.EqualFold(word, "and")) {
			terms++
		}
	}
	return min(mostDepth+terms, 1000)
}

// minLength is the limit on the length of a value, in bytes, unless the bounds of the DB allow longer ones. Without a
// limit, SELECT hex(randomblob(400000000)) ran for 9.9 s against a deadline of 1 s and took 1.9 GB.
const minLength = 1_000_000

// longest is the limit on the length of a value for a statement that has few values.
func (c *conn) longest() int { return max(minLength, c.config.CellBytes) }

// mostStores is how many places of a statement may hold rows at once: each may keep 2 MB of pages in memory. Of 46,387
// statements of the evaluation data that run, none has more than 35.
const mostStores = 48

// heavyValues is how many values of the greatest length a statement may have at once: some 50 MB, with the copy of a
// row in the driver.
const heavyValues = 24

// A sort writes runs of the size of the page cache to a file and, when it merges them, has one row of each run in
// memory. 600 rows of 900 kB took 280 MB with the usual cache of 2 MB and 48 MB with one of 16 MB; shorter rows do the
// rest.
const (
	sortedShare = 10     // rows that are sorted are shorter by this
	sortedFloor = 50     // and by at most this, however many sorts there are
	sortCache   = 16_000 // kB for all sorts of a statement
	usualCache  = 2_000  // kB, SQLite's default
)

// slowCalls are functions that take the product of the lengths of their first two arguments, uninterrupted: trim of 1
// MB by 1 MB takes hours. The number divides the greatest length of values, so that a call takes at most 0.1 s.
var slowCalls = map[string]int{"trim": 300, "ltrim": 300, "rtrim": 300, "unhex": 300, "json_patch": 300, "replace": 20,
	"instr": 20}

// shortLiteral is the longest literal, in bytes, that may be the second argument of a slow call without a lower limit.
const shortLiteral = 100

// load is what a statement may make SQLite hold and do at once.
type load struct {
	// Values side by side: commas in lists of columns and arguments, and ||. Lists behind IN and VALUES do not count,
	// because only one of their values is held at a time.
	commas, joins int
	calls         int // functions that SQLite heard of
	sorts         int
	slow          int // the largest factor of its slow calls and those of its views; 0: none
	// It has rules about rows without a fence, and so no value that is longer than those of the file. A limit would fail
	// on a long value of a hidden row.
	stored bool
	plain  bool // it neither sorts nor computes a value, so each is one of the file
	clock  bool // it has rules in it and calls one of clocks
}

// longestStored is the limit on the length of values of a statement that computes none: exec cuts a longer one than it
// returns.
const longestStored = 32 << 20

// readLoad finds what the tokens of a statement, or of the definition of a view, tell.
func (c *catalog) readLoad(s *sqltext.Statement) load {
	type bracket struct {
		list     bool // of values, behind IN or VALUES
		slow     int  // of the function whose arguments it holds
		argument int
		tokens   int // of the second argument
		long     bool
	}
	var (
		l    load
		open []bracket
		last string // the name before, folded
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
			last = schema.FoldCase(sqltext.SQLite().Value(t))
			count(2, false) // no literal
			l.slow = max(l.slow, c.slow[last])
			if last == "by" {
				l.sorts++
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
	return l
}

// fit lowers the limit on the length of values for a statement that may hold many at once, sorts, or calls a function
// that is slow on long values. It gives sorts a larger cache. Every column, call, argument and || may take a register
// of its own: one row of 490 times printf('%.*c', 999999, 'x') took 480 MB. Ordinary statements have too few of them to
// be affected.
func (c *conn) fit(resultColumns int) error {
	most, l := c.longest(), c.load
	length := most
	c.reason = ""
	if l.sorts > 0 { // with rules too: the cache shows nothing of a hidden row
		if err := c.setCache(max(usualCache, sortCache/l.sorts)); err != nil {
			return err
		}
	}
	if l.stored {
		return c.setLimit(limitLength, &c.length, c.limits[0].value)
	}
	lower := func(to int, reason string) {
		if to < length {
			length, c.reason = to, reason
		}
	}
	if values := max(resultColumns, l.commas) + l.joins + l.calls; values > heavyValues {
		lower(most*heavyValues/values, "it has many values side by side")
	}
	if l.plain && length == most {
		return c.setLimit(limitLength, &c.length, max(most, longestStored))
	}
	if l.sorts > 0 {
		lower(most/min(sortedShare*l.sorts, sortedFloor), "it sorts or groups")
	}
	if l.slow > 0 {
		lower(most/l.slow, "it calls trim, replace or the like with a computed second argument")
	}
	return c.setLimit(limitLength, &c.length, length)
}

// setCache sets the size of the page cache in kB. Close restores it.
func (c *conn) setCache(kB int) error {
	if kB == c.cache {
		return nil
	}
	c.cache = kB
	return c.raw(func(dc any) error {
		if slices.ContainsFunc(c.pragmas, func(p pragma) bool { return p.name == "cache_size" }) {
			return pragma{"cache_size", int64(-kB)}.write(context.Background(), dc)
		}
		_, err := c.set(context.Background(), dc, "cache_size", int64(-kB))
		return err
	})
}

// setLimit changes a limit whose value is *current now. Close restores it.
func (c *conn) setLimit(id int, current *int, value int) error {
	if value == *current {
		return nil
	}
	*current = value
	return c.raw(func(any) error {
		c.hooks.SetLimit(id, value)
		return nil
	})
}
