package sqltext

func (d Dialect) Tokens(sql string) []Token { return nil }

type Rule string

const (
	RuleTooLong           Rule = "too-long"
	RuleNotUTF8           Rule = "not-utf8"
	RuleNUL               Rule = "nul"
	RuleDepth             Rule = "depth"
	RuleUnterminated      Rule = "unterminated"
	RuleEmpty             Rule = "empty"
	RuleSeveralStatements Rule = "several-statements"
	RuleNotReadOnly       Rule = "not-read-only"
	RuleNotAQuery         Rule = "not-a-query"
	RulePlaceholder       Rule = "placeholder"
	RuleExecutableComment Rule = "executable-comment"
)

// RefusedError: Writes is true where the text, by its words, writes or changes state
// (RuleNotReadOnly, or RuleSeveralStatements with a writing one).
type RefusedError struct {
	Rule   Rule
	Detail string
	Writes bool
}

func (e *RefusedError) Error() string {
	return "sqltext: refused (" + string(e.Rule) + "): " + e.Detail
}

func (d Dialect) Check(sql string) (string, error) { return sql, nil }
func (d Dialect) Split(sql string) []string        { return []string{sql} }
func (d Dialect) Normalize(sql string) string      { return sql }
func (d Dialect) Template(sql string) string       { return sql }
func (d Dialect) Placeholders(sql string) []string { return nil }

// Value is the content of a string or quoted name token, without quotes.
func (d Dialect) Value(t Token) string { return t.Text }

type Literal struct {
	Kind  Kind   // String, Number or Blob
	Text  string // as written
	Value string // string: its content; number: as written, with a folded sign
	Pos   int
}

func (d Dialect) Literals(sql string) []Literal { return nil }

type TableRef struct {
	Schema, Name, Alias string // Name "" for a derived table
	CTE                 bool   // Name is a CTE of the same text
	Function            bool   // table-valued function
	Pos                 int
}

func (d Dialect) Tables(sql string) []TableRef { return nil }

type ColumnRef struct {
	Qualifier string // as written before the dot; ""
	Table     string // base table it resolves to by the text alone; "" when unknown
	Column    string
	Quote     byte // 0, '"', '`' or '['
	Operand   bool // operand of a comparison, LIKE, IN or BETWEEN
	Pos       int
}

func (d Dialect) Columns(sql string) []ColumnRef { return nil }

// Names: every name in the text (tables, columns, aliases, functions), distinct, unquoted, order of first use.
func (d Dialect) Names(sql string) []string { return nil }

type Comparison struct {
	Table, Column string // Table "" where the text alone does not tell
	Op            string // "=", "<>", "<", "<=", ">", ">=", "LIKE", "NOT LIKE", "IN", "NOT IN", "BETWEEN", "NOT BETWEEN", "IS", "IS NOT", "GLOB"…, column on the left
	Literals      []Literal
	Pos           int
}

func (d Dialect) Comparisons(sql string) []Comparison { return nil }

// Outline is the outer shape of a statement: see Dialect.Outline.
type Outline struct {
	Star       bool // a bare * or t.* in the outer select list
	Items      []SelectItem
	Aggregates []string // upper-case names of the aggregates in the outer select list outside of nested queries, in order
	GroupBy    []string // texts of outer GROUP BY terms
	OrderBy    []string // texts of top-level ORDER BY terms
	Limit      bool     // top-level LIMIT, FETCH or OFFSET
	Distinct   bool
	SetOps     []string // top-level: "UNION", "UNION ALL", "EXCEPT", "INTERSECT"
	Having     bool
	Where      bool
	Joins      int             // explicit JOIN keywords and FROM commas of the outer select
	Subqueries int             // nested SELECTs anywhere, CTEs counted
	Natural    bool            // NATURAL JOIN anywhere
	Using      []string        // columns named by USING (…), anywhere
	Functions  []string        // upper-case names of functions called anywhere, distinct, in order
	Words      map[string]bool // upper-case keywords anywhere: NOT, EXCEPT, LIKE, …
	Operators  map[string]bool // operators anywhere: "<>", "!=", …
	IsNull     bool            // IS NULL or ISNULL anywhere
}

// SelectItem is one term of the outer select list.
type SelectItem struct {
	Text      string // as written, trimmed, without alias
	Alias     string
	Column    string // plain column reference, unquoted; "" for an expression
	Aggregate string // upper-case name of the first aggregate outside of nested queries and windows; ""
}

func (d Dialect) Outline(sql string) Outline { return Outline{} }

// Hardness is Spider's rubric: "easy", "medium", "hard" or "extra".
func (d Dialect) Hardness(sql string) string { return "extra" }

type Reason string

const (
	ReasonEmpty       Reason = "empty"
	ReasonTooLong     Reason = "too-long"
	ReasonNotUTF8     Reason = "not-utf8"
	ReasonTruncated   Reason = "truncated"
	ReasonRefusal     Reason = "refusal"
	ReasonNoSQL       Reason = "no-sql"
	ReasonSeveral     Reason = "several-statements"
	ReasonBrokenJSON  Reason = "broken-json"
	ReasonNotReadOnly Reason = "not-read-only"
	ReasonRefused     Reason = "refused" // the one statement fails the text check; Unwrap gives the *RefusedError
)

type ReplyError struct {
	Reason Reason
	Detail string
	Err    error
}

func (e *ReplyError) Error() string {
	return "sqltext: no candidate in the reply (" + string(e.Reason) + "): " + e.Detail
}
func (e *ReplyError) Unwrap() error { return e.Err }

type Extractor struct {
	Dialect Dialect
	Valid   func(sql string) bool // nil: the text check and the shape of the text decide
}

type Extraction struct {
	SQL   string
	Step  string
	Notes []string
}

func (x Extractor) Extract(reply string) (Extraction, error) { return Extraction{SQL: reply}, nil }

// QuestionTemplate: lower case, literals and numbers -> ?, no punctuation.
func QuestionTemplate(question string, literals []string) string { return question }

// Words: lower-case words (letters, digits, inner apostrophe and hyphen cut) of a text.
func Words(s string) []string { return nil }

// SplitName: words of an identifier, lower case: camelCase, snake_case, digits.
func SplitName(name string) []string { return nil }

// Stem: light English stem (plurals), lower case.
func Stem(word string) string { return word }

// CleanText: security.md §11.4.
func CleanText(s string) string { return s }
