package exec

// Policy says which relations, columns and functions a statement may read.
//
// The zero Policy allows every table and view of the schema, every column, and
// the dialect's list of functions. Names compare as the engine compares them,
// without regard to ASCII case. What is denied stays denied, whatever is allowed.
type Policy struct {
	// AllowTables, when not empty, is all that may be read: "table" or
	// "schema.table". A view needs its base tables on the list too.
	AllowTables []string
	// DenyTables may not be read, not even counted or joined. A view over one is
	// refused whole.
	DenyTables []string
	// DenyColumns may not be read: "table.column", "schema.table.column", or
	// "column" for the column of that name in every table. A view over one is
	// refused whole.
	DenyColumns []string
	// AllowFunctions adds to the dialect's list of functions. A function of the
	// application is never on that list: it may have side effects.
	AllowFunctions []string
}
