package knowledge

// Model holds what people know about a database in addition to its schema. Every field is optional. The JSON form
// uses the field names in snake case. A Model is plain data: safe for concurrent reading, not for writing.
type Model struct {
	Tables          []Table         `json:"tables,omitempty"`
	Relationships   []Relationship  `json:"relationships,omitempty"`
	Metrics         []Metric        `json:"metrics,omitempty"`
	Terms           []Term          `json:"terms,omitempty"`
	VerifiedQueries []VerifiedQuery `json:"verified_queries,omitempty"`

	Instructions []string `json:"instructions,omitempty"` // conventions, as prose; every prompt has them
	Lost         []string `json:"lost,omitempty"`         // parts of the file that the types cannot hold, one line each
}

// Subject is the name, the synonyms and the description of a thing.
type Subject struct {
	Description string   `json:"description,omitempty"`
	Synonyms    []string `json:"synonyms,omitempty"`
}

// Table is a table, or a query that serves as a table.
type Table struct {
	Name string `json:"name"` // the name by which the rest of the model calls it
	// Source is the text after FROM: a name, with dots between catalog, schema and table, or a query that starts with
	// SELECT or WITH. "" means Name.
	Source string `json:"source,omitempty"`
	Subject
	// Keys are lists of columns; no two rows share the values of a key. Check counts them in the database.
	Keys    [][]string `json:"keys,omitempty"`
	Columns []Column   `json:"columns,omitempty"` // only columns with a name, a meaning or an expression of their own
	Time    string     `json:"time,omitempty"`    // the column with the time of a row
	Where   string     `json:"where,omitempty"`   // a condition over its columns that applies to every read
}

// Column is a column of a Table with a name, a meaning or an expression of its own.
type Column struct {
	Name string `json:"name"`
	Expr string `json:"expr,omitempty"` // SQL over the columns of Table.Source; "": Name
	Subject
	Values []string `json:"values,omitempty"` // examples of stored values
}

// Relationship means that many rows of From belong to one row of To. It is one to one if the columns of From are also
// a key of From.
type Relationship struct {
	Name string      `json:"name,omitempty"` // Name.column reads To over this relationship; "": it has no name
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
	Subject
	Where       string   `json:"where,omitempty"`       // a condition on the rows of its aggregates
	GroupBy     []string `json:"group_by,omitempty"`    // columns that may group it; nil: all that relationships reach
	Unsupported string   `json:"unsupported,omitempty"` // why it is text only; "": it can be compiled
}

// Term is a word for a condition, a column or a rule.
type Term struct {
	Words       []string `json:"words"`
	Expr        string   `json:"expr,omitempty"` // SQL over table.column; "": Description is the whole definition
	Description string   `json:"description,omitempty"`
}

// VerifiedQuery is a statement that a person confirmed for a question.
type VerifiedQuery struct {
	Name       string  `json:"name,omitempty"`
	Question   string  `json:"question"`
	SQL        string  `json:"sql"`
	Params     []Param `json:"params,omitempty"`
	VerifiedBy string  `json:"verified_by,omitempty"`
	VerifiedAt string  `json:"verified_at,omitempty"` // as written in the file
	// Logical means that SQL uses the tables and columns of the model instead of the database's. See Model.Statement.
	Logical bool `json:"logical,omitempty"`
}

// Param is a part of a verified question that may have another value.
type Param struct {
	Name    string `json:"name"`              // it is written :name in SQL
	Column  string `json:"column,omitempty"`  // table.column that holds its values
	Default string `json:"default,omitempty"` // its text in Question
}
