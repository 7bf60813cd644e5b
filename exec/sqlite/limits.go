package sqlite

// The ids of sqlite3_limit.
const (
	limitLength      = 0 // of a string, blob or row
	limitSQLLength   = 1
	limitColumn      = 2 // of a result, also of SELECT * of a wider table
	limitExprDepth   = 3 // of a view's expressions too, once it is expanded
	limitCompound    = 4
	limitVDBEOp      = 5
	limitFunctionArg = 6
	limitAttached    = 7
	limitLikePattern = 8
	limitVariable    = 9
)

// minLength is the limit on the length of a value, in bytes, unless the bounds of the DB allow longer ones. Without a
// limit, SELECT hex(randomblob(400000000)) ran for 9.9 s against a deadline of 1 s and took 1.9 GB.
const minLength = 1_000_000

// limit is a limit of SQLite.
type limit struct{ id, value int }

// lowered are the limits that the guard sets. Each has payloads that need it.
func (h *conn) lowered() [10]limit {
	return [10]limit{
		{limitLength, h.longest()},
		{limitSQLLength, 120_000}, // the text check allows 100,000; asStored adds to it
		{limitColumn, 500},
		{limitExprDepth, 200}, // 100 already refuses an OR list of 121 terms
		{limitCompound, 50},
		{limitVDBEOp, 25_000}, // an IN list of 3,000 passes, one of 20,000 does not
		{limitFunctionArg, 100},
		{limitAttached, 0}, // what is attached stays readable
		{limitLikePattern, 100},
		{limitVariable, 0},
	}
}

// longest is the limit on the length of a value for a statement that has few values.
func (h *conn) longest() int { return max(minLength, h.config.CellBytes) }

// moduleParameters is enough for the statements of SQLite's modules.
const moduleParameters = 16

// variables is how many parameters a statement may have: none, but moduleParameters where virtual tables are, whose modules bind
// parameters in statements of their own. Our own statements raise it to the number of their arguments. The text check
// refuses all parameters of statements from outside.
func (h *conn) variables() int {
	if h.gate.facts != nil && len(h.gate.facts.virtual) > 0 {
		return moduleParameters
	}
	return 0
}
