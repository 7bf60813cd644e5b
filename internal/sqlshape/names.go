package sqlshape

// TableRef is one relation in a FROM clause.
type TableRef struct {
	Schema   string // the text before the name, without quotes; "" for none
	Name     string // the name without quotes; "" for a derived table
	Alias    string // "" for none
	CTE      bool   // Name is a CTE of the same text
	Function bool   // a table-valued function
	Pos      int    // byte offset
	Query    int    // the same for the relations of one SELECT; -1 outside of any
}

// Base reports whether r names a table or view of the database, as far as the text tells.
func (r TableRef) Base() bool { return r.Name != "" && !r.CTE && !r.Function }

// ColumnRef is one mention of a column.
type ColumnRef struct {
	Qualifier string // the text before the column, as in t or main.t; "" for none
	Column    string // the name of the column without quotes

	// Schema and Table are the table in FROM that the text alone tells: of the qualifier's alias, or the only one there
	// is. Both are "" where the column may belong to several tables, or comes from a CTE, a derived table or a
	// function.
	Schema, Table string
	// Scope is the base tables in FROM of the query around it. Columns of one query share the slice: do not write to
	// it.
	Scope []TableRef

	Quote byte // the opening quote: 0 for none, or one of " ` [
	// Operand says that it stands directly beside a comparison, LIKE, IN or BETWEEN, or in a list behind IN.
	Operand bool
	Pos     int // byte offset
}

// Literal is one constant.
type Literal struct {
	Kind LiteralKind
	Text string // the constant as written, with the sign of a number
	// Value is the content of a string (see sqltext.Dialect.Value); else it is Text.
	Value string
	Pos   int // byte offset
}

// LiteralKind is the kind of a constant.
type LiteralKind uint8

// The kinds of constants. Only a Comparison has a QuotedName: SQLite reads "x" as a string where no column x exists.
const (
	String LiteralKind = iota
	Number
	Blob
	QuotedName
)

// String returns the name of the kind, as sqltext.Kind does.
func (k LiteralKind) String() string {
	return [...]string{String: "string", Number: "number", Blob: "blob", QuotedName: "quoted name"}[k]
}

// Comparison is a column that is compared with constants.
type Comparison struct {
	ColumnRef
	// Op has the column on its left, whatever the text does: =, <>, <, <=, >, >=, <=>, IS, LIKE, ILIKE, GLOB, REGEXP,
	// RLIKE, MATCH, SIMILAR TO, IN, BETWEEN, each of the words also with NOT ("NOT IN", "IS NOT").
	Op       string
	Literals []Literal // one; the members of a list behind IN; the two of BETWEEN
}

// Condition is one of the terms that AND joins in a WHERE, ON or HAVING clause.
type Condition struct {
	Text string // the term as written, without brackets around the whole

	// Key is a canonical form, which is SQL again if the names in it are: keywords in upper case, one blank between
	// tokens, columns as the caller names them, the column on the left of a comparison, <> for !=, the members of an IN
	// list, of an OR and of a bracketed AND in order. Literals stay as they are written.
	Key string

	Equal     []ColumnRef // the two columns of a = b, or of a IN (SELECT b …); nil for other conditions
	Aggregate bool        // it calls an aggregate outside of nested queries
	Nested    bool        // it holds a query
	Pos       int         // byte offset of Text
}
