package sqlshape

// Outline is the outer shape of a statement, for rules that ask whether it fits a question. "Outer" means the first
// SELECT that is in no bracket and no CTE; ORDER BY and LIMIT are those of the statement as a whole.
type Outline struct {
	Items []SelectItem // the outer select list
	Star  bool         // * or t.* is in the outer select list
	// Aggregates are the functions that aggregate in the outer select list, in upper case and text order, those in
	// nested queries and windows left out.
	Aggregates []string
	GroupBy    []string // terms as written
	OrderBy    []string // terms as written, with ASC and DESC
	Having     bool     // the outer query has a HAVING
	Limit      bool     // LIMIT, OFFSET or FETCH
	SetOps     []string // UNION, UNION ALL, EXCEPT, INTERSECT, …, in text order

	// Functions are the functions called anywhere, nested queries and CTEs included: in upper case, each once, by first
	// use.
	Functions []string
	IsNull    bool // IS NULL or ISNULL stands anywhere

	// Using are the columns that USING names anywhere, without quotes, each once. Natural says that a NATURAL JOIN stands
	// anywhere. An engine may not report the columns that either compares.
	Using   []string
	Natural bool
}

// SelectItem is one term of a select list.
type SelectItem struct {
	Text   string // the term as written, without its alias
	Alias  string // the alias without quotes; "" for none
	Column string // the column without quotes where the term is a plain column; else ""
	Star   bool   // * or t.*
	// Aggregates are the functions in it that aggregate; see Outline.
	Aggregates []string
}

// Select is one SELECT of a statement, nested ones and the arms of a UNION included. Clauses are texts as written,
// without their keyword; "" where there is none.
type Select struct {
	Text     string // the whole SELECT
	Pos      int    // byte offset of Text
	Nested   bool   // it stands in another one, or in WITH
	Compound bool   // it is an arm of a UNION, EXCEPT or INTERSECT
	Distinct bool
	Items    []SelectItem
	Tables   []TableRef // of its FROM, in text order
	Joined   []string   // by table, the words in front of it: "FROM", ",", "JOIN", "LEFT JOIN", "CROSS JOIN"

	From, Where, Having, Limit string
	GroupBy, OrderBy           []string // terms
}

// Has reports whether the byte offset lies in the SELECT.
func (s Select) Has(pos int) bool { return s.Pos <= pos && pos < s.Pos+len(s.Text) }

// Repetition is a SUM that may add a row up several times.
type Repetition struct {
	Table TableRef // whose rows are added up
	By    TableRef // the relation of the same query that may repeat them
	Item  string   // the item of the select list, as written
}

// Rewrite is a change to the outer query of a statement. See Outline for what "outer" means.
type Rewrite struct {
	Items   []string          // the select list in place of the one that stands there; nil: that one
	Texts   map[string]string // contents of text literals, and what is written instead, anywhere in the statement
	NoGroup bool              // GROUP BY is left out
	NoOrder bool              // ORDER BY is left out
	NoLimit bool              // LIMIT, OFFSET and FETCH are left out
}
