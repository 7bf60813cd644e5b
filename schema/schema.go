package schema

import "cmp"

// Schema describes one database: the tables that a question may use.
//
// A Schema does not change once it is returned; Restrict, Describe and the profiler return copies. It is safe for
// concurrent use.
type Schema struct {
	Dialect   string   `json:"dialect"`             // name of the dialect: "sqlite"
	Version   string   `json:"version,omitempty"`   // a text that changes when the database's schema changes
	Tables    []Table  `json:"tables"`              // tables and views, in the order of the engine
	Functions []string `json:"functions,omitempty"` // functions that a statement may call, sorted; nil: unknown

	// Default is the schema of tables without a Schema: "main". "" is unknown.
	Default string `json:"default,omitempty"`
	// Zone is the time zone of the session. Types with a time zone are shown in it and cut into days by it:
	// "America/New_York". "" is UTC or unknown.
	Zone string `json:"zone,omitempty"`
	// LeftOut are the views and virtual tables that the engine or this user cannot open. Tables does not have them.
	LeftOut []Omitted `json:"left_out,omitempty"`
}

// SchemaOf returns the name of the schema of t, or Default for a table without one.
func (s *Schema) SchemaOf(t *Table) string { return cmp.Or(t.Schema, s.Default) }

// Table is one relation. Its Kind is "table" (with rows of its own), "view" (a stored query) or "virtual" (a virtual
// table of SQLite; its shadow tables are left out).
type Table struct {
	Schema      string       `json:"schema,omitempty"`       // the attached database or schema; "" is the default one
	Name        string       `json:"name"`                   // name as the engine has it, unquoted
	Kind        string       `json:"kind"`                   // "table", "view" or "virtual"
	Columns     []Column     `json:"columns"`                // columns in the order of the table
	PrimaryKey  []string     `json:"primary_key,omitempty"`  // columns of the primary key, in its order
	ForeignKeys []ForeignKey `json:"foreign_keys,omitempty"` // keys that this table declares
	// columns of each unique constraint or index but the primary key
	Unique      [][]string `json:"unique,omitempty"`
	Description string     `json:"description,omitempty"`   // meaning of a row
	Definition  string     `json:"definition,omitempty"`    // the engine's CREATE text; "": none, or it shows too much
	Rows        *int64     `json:"rows,omitempty"`          // number of rows, from a profile; nil: unknown
	RowsAtLeast bool       `json:"rows_at_least,omitempty"` // the table has more than Rows rows: not all were counted
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
	Described   string   `json:"described,omitempty"`   // meaning of the column, written by a model
	Sensitive   bool     `json:"sensitive,omitempty"`   // no prompt shows stored values of this column
	Profile     *Profile `json:"profile,omitempty"`     // facts about its values; nil: not profiled
}

// ForeignKey is a reference from Columns of a table to RefColumns of RefTable.
type ForeignKey struct {
	Columns   []string `json:"columns"`              // columns of this table
	RefSchema string   `json:"ref_schema,omitempty"` // schema of RefTable; "": the schema of this table
	RefTable  string   `json:"ref_table"`            // the other table, or this one
	// its columns; the primary key is written out if the declaration names none
	RefColumns []string `json:"ref_columns"`
}

// Profile holds facts about a column's values, from a sample of the table's rows.
type Profile struct {
	Sampled  int64   `json:"sampled"`            // number of rows in the sample
	Complete bool    `json:"complete"`           // the sample is the whole table
	Nulls    int64   `json:"nulls"`              // rows of the sample with NULL
	Distinct int64   `json:"distinct"`           // distinct values in the sample, without NULL
	Min      any     `json:"min,omitempty"`      // smallest value of the sample in engine order
	Max      any     `json:"max,omitempty"`      // largest value of the sample in engine order
	Top      []Value `json:"top,omitempty"`      // most frequent values, highest count first, then in engine order
	Examples []any   `json:"examples,omitempty"` // distinct values for prompts, the best ones first
}

// Profiles stores the profiles of tables for several programs: exec.Config.Profiles, memory.Options.Profiles. A key
// identifies the table and the policy. The store itself must know whether the rows have changed since. Several
// goroutines call its methods at once.
type Profiles interface {
	Profile(key string) (t Table, ok bool) // the stored table
	Keep(key string, t Table)
}

// Value is a value and its frequency in a sample.
type Value struct {
	Value any   `json:"value"` // the value as stored
	Count int64 `json:"count"` // number of rows that have it
}

// Links are the schema items that a linker chose for one question.
//
// The zero Links means that the linker did not choose: the whole schema is used. Whole has the same effect. Then Tables
// hold scores and values but do not restrict the schema.
type Links struct {
	Whole  bool        `json:"whole,omitempty"` // the whole schema is used, whatever Tables has
	Tables []TableLink `json:"tables"`          // chosen tables; with Whole, the tables with scores or values
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
