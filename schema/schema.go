package schema

import "cmp"

// Schema is what is known of one database: the tables that a question may use.
//
// A Schema is not changed once it was handed out; Restrict, Describe and the profiler return copies. Safe for
// concurrent use.
type Schema struct {
	Dialect   string   `json:"dialect"`             // name of the dialect, as "sqlite"
	Version   string   `json:"version,omitempty"`   // a text that changes when the database's schema changes
	Tables    []Table  `json:"tables"`              // tables and views, in the order of the engine
	Functions []string `json:"functions,omitempty"` // functions that a statement may call, sorted; nil: unknown

	// Default is the name of the schema that tables without a Schema are in: "main". "" is unknown.
	Default string `json:"default,omitempty"`
	// Zone is the time zone of the session, in which types with a time zone are shown and cut into days: "America/New_York".
	// "" is UTC or unknown.
	Zone string `json:"zone,omitempty"`
	// LeftOut are the views and virtual tables that the engine has and cannot open, or this user cannot. Tables lacks them.
	LeftOut []LeftOut `json:"left_out,omitempty"`
}

// SchemaOf returns the name of the schema that t is in, Default for a table without one.
func (s *Schema) SchemaOf(t *Table) string { return cmp.Or(t.Schema, s.Default) }

// The kinds of tables.
const (
	BaseTable = "table"   // a table with rows of its own
	View      = "view"    // a stored query
	Virtual   = "virtual" // a virtual table; its shadow tables are left out
)

// Table is one relation.
type Table struct {
	Schema      string       `json:"schema,omitempty"`        // the attached database or schema; "" is the default one
	Name        string       `json:"name"`                    // name as the engine has it, unquoted
	Kind        string       `json:"kind"`                    // BaseTable, View or Virtual
	Columns     []Column     `json:"columns"`                 // columns in the order of the table
	PrimaryKey  []string     `json:"primary_key,omitempty"`   // columns of the primary key, in its order
	ForeignKeys []ForeignKey `json:"foreign_keys,omitempty"`  // keys that this table declares
	Unique      [][]string   `json:"unique,omitempty"`        // columns of each unique constraint or index but the primary key
	Description string       `json:"description,omitempty"`   // meaning of a row
	Definition  string       `json:"definition,omitempty"`    // the engine's own CREATE text; "": none, or it says more than this Table may show
	Rows        *int64       `json:"rows,omitempty"`          // number of rows, from a profile; nil: unknown
	RowsAtLeast bool         `json:"rows_at_least,omitempty"` // the table has more than Rows rows: not all were counted
}

// Column is one column of a Table.
type Column struct {
	Name        string   `json:"name"`                  // name as the engine has it, unquoted
	Type        string   `json:"type,omitempty"`        // declared type; "": none
	NotNull     bool     `json:"not_null,omitempty"`    // the column is declared NOT NULL
	Default     string   `json:"default,omitempty"`     // SQL text of the default; "": none
	Generated   bool     `json:"generated,omitempty"`   // the engine computes it from other columns
	Title       string   `json:"title,omitempty"`       // readable name (BIRD's column_name)
	Description string   `json:"description,omitempty"` // meaning of the column
	Values      string   `json:"values,omitempty"`      // meaning of its values (BIRD's value_description)
	Described   string   `json:"described,omitempty"`   // meaning of the column as a model wrote it
	Sensitive   bool     `json:"sensitive,omitempty"`   // no prompt shows stored values of this column
	Profile     *Profile `json:"profile,omitempty"`     // facts about its values; nil: not profiled
}

// ForeignKey says that Columns of a table refer to RefColumns of RefTable.
type ForeignKey struct {
	Columns    []string `json:"columns"`              // columns of this table
	RefSchema  string   `json:"ref_schema,omitempty"` // schema of RefTable; "": that of this table
	RefTable   string   `json:"ref_table"`            // the other table, or this one
	RefColumns []string `json:"ref_columns"`          // its columns; the primary key is written out if the declaration names none
}

// Profile holds facts about a column's values, from a sample of the table's rows.
type Profile struct {
	Sampled  int64   `json:"sampled"`            // number of rows in the sample
	Complete bool    `json:"complete"`           // the sample is the whole table
	Nulls    int64   `json:"nulls"`              // rows of the sample with NULL
	Distinct int64   `json:"distinct"`           // distinct values in the sample, NULL aside
	Min      any     `json:"min,omitempty"`      // smallest value of the sample in engine order
	Max      any     `json:"max,omitempty"`      // largest value of the sample in engine order
	Top      []Value `json:"top,omitempty"`      // most frequent values, highest count first, then in engine order
	Examples []any   `json:"examples,omitempty"` // distinct values for prompts, the best ones first
}

// Profiles keeps the profiles of tables between programs: exec.Config.Profiles, memory.Options.Profiles. A key says of which table,
// and under which policy; whether its rows have changed since, the store has to know itself. Its methods are called by several
// goroutines at once.
type Profiles interface {
	Profile(key string) (t Table, ok bool) // the table that was kept
	Keep(key string, t Table)
}

// Value is a value and its frequency in a sample.
type Value struct {
	Value any   `json:"value"` // the value as stored
	Count int64 `json:"count"` // number of rows that have it
}

// Links are the schema items that a linker chose for one question.
//
// The zero Links means that the linker has no opinion: the whole schema is kept. So it is with Whole, where Tables
// carry scores and values but choose nothing.
type Links struct {
	Whole  bool        `json:"whole,omitempty"` // the whole schema is kept, whatever Tables says
	Tables []TableLink `json:"tables"`          // chosen tables, or with Whole those that something is known of
	Notes  []string    `json:"notes,omitempty"` // reasons of the choice
}

// TableLink is one chosen table.
type TableLink struct {
	Schema  string       `json:"schema,omitempty"`  // schema of the table; "" is the default one
	Table   string       `json:"table"`             // name of the table, unquoted
	Columns []string     `json:"columns,omitempty"` // chosen columns; nil: all columns
	Score   float64      `json:"score,omitempty"`   // how well the table fits; comparable within one Links only
	Values  []ValueMatch `json:"values,omitempty"`  // stored values that the question names
}

// Name returns the name of the table.
func (l TableLink) Name() TableName { return TableName{Schema: l.Schema, Name: l.Table} }

// ValueMatch is a stored value that the question names.
type ValueMatch struct {
	Column string `json:"column"` // the column that holds the value
	Value  any    `json:"value"`  // the value as stored
	Span   string `json:"span"`   // the words of the question that name it
}
