package schema

// Schema is what is known of one database: the tables a question may use.
//
// A Schema that was handed out is never changed; Restrict, Describe and the
// profiler return copies. Safe for concurrent reading.
type Schema struct {
	Dialect   string   `json:"dialect"`             // the dialect's name: "sqlite"
	Version   string   `json:"version,omitempty"`   // changes when the database's schema changes
	Tables    []Table  `json:"tables"`              // in the order the engine lists them
	Functions []string `json:"functions,omitempty"` // functions a statement may call, sorted; nil: unknown
}

// Kind says what a table is.
type Kind string

// The kinds.
const (
	BaseTable Kind = "table"   // rows of its own
	View      Kind = "view"    // a stored query
	Virtual   Kind = "virtual" // a virtual table; its shadow tables are left out
)

// Table is one relation.
type Table struct {
	Schema      string       `json:"schema,omitempty"`        // the attached database or schema; "" is the default one
	Name        string       `json:"name"`                    // as the engine has it, unquoted
	Kind        Kind         `json:"kind"`                    // a table, a view or a virtual table
	Columns     []Column     `json:"columns"`                 // in the order of the table
	PrimaryKey  []string     `json:"primary_key,omitempty"`   // in key order
	ForeignKeys []ForeignKey `json:"foreign_keys,omitempty"`  // those that it declares
	Unique      [][]string   `json:"unique,omitempty"`        // column lists of unique constraints and unique indexes, the primary key left out
	Description string       `json:"description,omitempty"`   // what a row means
	Definition  string       `json:"definition,omitempty"`    // the engine's own CREATE text; "" where it has none or it says more than this Table may show
	Rows        *int64       `json:"rows,omitempty"`          // row count, from a profile; nil: unknown
	RowsAtLeast bool         `json:"rows_at_least,omitempty"` // Rows is a lower bound: not all were counted
}

// Column is one column of a Table.
type Column struct {
	Name        string   `json:"name"`                  // as the engine has it, unquoted
	Type        string   `json:"type,omitempty"`        // as declared; "" where nothing was
	NotNull     bool     `json:"not_null,omitempty"`    // it is declared so
	Default     string   `json:"default,omitempty"`     // the default's SQL text; "" is none
	Generated   bool     `json:"generated,omitempty"`   // computed from other columns
	Title       string   `json:"title,omitempty"`       // a readable name (BIRD's column_name)
	Description string   `json:"description,omitempty"` // what the column means
	Values      string   `json:"values,omitempty"`      // what its values mean (BIRD's value_description)
	Sensitive   bool     `json:"sensitive,omitempty"`   // its stored values are never put into a prompt
	Profile     *Profile `json:"profile,omitempty"`     // nil: not profiled
}

// ForeignKey says that Columns of a table refer to RefColumns of RefTable.
type ForeignKey struct {
	Columns    []string `json:"columns"`              // of this table
	RefSchema  string   `json:"ref_schema,omitempty"` // where RefTable is; "" is the schema of this table
	RefTable   string   `json:"ref_table"`            // may be this table itself
	RefColumns []string `json:"ref_columns"`          // resolved: an implicit target is written out as the primary key
}

// Profile is what a bounded look at a column's values found.
type Profile struct {
	Sampled  int64   `json:"sampled"`            // rows looked at
	Complete bool    `json:"complete"`           // every row of the table was looked at
	Nulls    int64   `json:"nulls"`              // of them NULL
	Distinct int64   `json:"distinct"`           // distinct values other than NULL among them
	Min      any     `json:"min,omitempty"`      // smallest value of the sample, engine order
	Max      any     `json:"max,omitempty"`      // largest, likewise
	Top      []Value `json:"top,omitempty"`      // most frequent values, count descending, then engine order
	Examples []any   `json:"examples,omitempty"` // distinct values to show in a prompt, in a written order
}

// Value is a value and how often it stood in the sample.
type Value struct {
	Value any   `json:"value"` // as stored
	Count int64 `json:"count"` // rows of the sample that have it
}

// Links are the schema items that a linker chose for one question.
//
// The zero Links chose nothing; that means "no opinion": the whole schema. With
// Whole set the whole schema is kept too, and Tables only carry what was found
// out about them (matched values, scores).
type Links struct {
	Whole  bool        `json:"whole,omitempty"` // the whole schema, whatever Tables says
	Tables []TableLink `json:"tables"`          // what was chosen, or found out about
	Notes  []string    `json:"notes,omitempty"` // why, or why nothing was linked
}

// TableLink is one chosen table.
type TableLink struct {
	Schema  string       `json:"schema,omitempty"`  // "" is the default one
	Table   string       `json:"table"`             // its name, unquoted
	Columns []string     `json:"columns,omitempty"` // nil: all columns
	Score   float64      `json:"score,omitempty"`   // how well it fits; comparable within one Links only
	Values  []ValueMatch `json:"values,omitempty"`  // stored values that the question names
}

// ValueMatch is a stored value that the question names.
type ValueMatch struct {
	Column string `json:"column"` // that holds it
	Value  any    `json:"value"`  // as stored
	Span   string `json:"span"`   // the words of the question
}
