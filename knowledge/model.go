package knowledge

// Model is what people know of a database beside its schema. Everything in it is optional. The JSON form has the names
// of the fields in snake case. A Model is plain data: safe for concurrent reading, not for writing.
type Model struct {
	Tables          []Table         `json:"tables,omitempty"`
	Relationships   []Relationship  `json:"relationships,omitempty"`
	Metrics         []Metric        `json:"metrics,omitempty"`
	Terms           []Term          `json:"terms,omitempty"`
	VerifiedQueries []VerifiedQuery `json:"verified_queries,omitempty"`

	Instructions []string `json:"instructions,omitempty"` // conventions, as prose: always in the prompt
	Lost         []string `json:"lost,omitempty"`         // what the file said and the types do not hold, one line each
}

// About is what people call a thing, and what they say of it.
type About struct {
	Description string   `json:"description,omitempty"`
	Synonyms    []string `json:"synonyms,omitempty"`
}

// Table is a table, or a query that is read like one.
type Table struct {
	Name string `json:"name"` // the name by which the rest of the model calls it
	// Source is what stands in FROM: a name, with dots between catalog, schema and table, or a query that starts with
	// SELECT or WITH; "": Name.
	Source string `json:"source,omitempty"`
	About
	// Keys are lists of columns that no two rows share. Check counts them in the database.
	Keys    [][]string `json:"keys,omitempty"`
	Columns []Column   `json:"columns,omitempty"` // only columns with a name, a meaning or an expression of their own
	Time    string     `json:"time,omitempty"`    // the column that says when a row happened
	Where   string     `json:"where,omitempty"`   // a condition over its columns that holds for every read
}

// Column is a column of a Table with a name, a meaning or an expression of its own.
type Column struct {
	Name string `json:"name"`
	Expr string `json:"expr,omitempty"` // SQL over the columns of Table.Source; "": Name
	About
	Values []string `json:"values,omitempty"` // examples of what is stored
}

// Relationship says that many rows of From belong to one row of To. It is one to one if the columns of From are a key of
// From, too.
type Relationship struct {
	Name string      `json:"name,omitempty"` // Name.column reads To on this way; "": the way has no name
	From string      `json:"from"`
	To   string      `json:"to"`
	On   [][2]string `json:"on"` // pairs: a column of From, the column of To that equals it
}

// Metric is a number that has a definition.
type Metric struct {
	Name string `json:"name"`
	// Expr is SQL of aggregates over table.column and of {other metrics}: "SUM(orders.total)", "{revenue} / {orders}".
	// COUNT(orders.*) counts rows. "/" divides as numbers, and by 0 it gives NULL.
	Expr string `json:"expr"`
	About
	Where       string   `json:"where,omitempty"`       // a condition on the rows that its aggregates take
	GroupBy     []string `json:"group_by,omitempty"`    // the columns it may be grouped by; nil: all that relationships reach
	Unsupported string   `json:"unsupported,omitempty"` // why it is text only; "": it can be compiled
}

// Term is a word for a condition, a column or a rule.
type Term struct {
	Words       []string `json:"words"`
	Expr        string   `json:"expr,omitempty"` // SQL over table.column; "": Description says it all
	Description string   `json:"description,omitempty"`
}

// VerifiedQuery is a statement that a person found right for a question.
type VerifiedQuery struct {
	Name       string  `json:"name,omitempty"`
	Question   string  `json:"question"`
	SQL        string  `json:"sql"`
	Params     []Param `json:"params,omitempty"`
	VerifiedBy string  `json:"verified_by,omitempty"`
	VerifiedAt string  `json:"verified_at,omitempty"` // as the file writes it
	// Logical says that SQL names tables and columns of the model in place of those of the database. See Model.Statement.
	Logical bool `json:"logical,omitempty"`
}

// Param is a part of a verified question that may have another value.
type Param struct {
	Name    string `json:"name"`              // it is written :name in SQL
	Column  string `json:"column,omitempty"`  // table.column that holds its values
	Default string `json:"default,omitempty"` // the text that stands in Question
}
