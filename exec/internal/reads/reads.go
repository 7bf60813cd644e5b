// Package reads tells which columns a statement may read where the engine does not tell: more than it does read, and
// never fewer. A dialect writes down what the parser of its engine found, and asks with that.
package reads

// Statement is what a statement names, the whole of it: its subqueries and common table expressions are not kept apart,
// so a name is safe only if it is safe wherever it may stand.
type Statement struct {
	Sources []Source // each item of each FROM, in text order
	Refs    []Ref    // each column that is named, in text order
	Defined []string // names that the statement itself gives to columns: aliases of results, column lists of aliases
	Using   []string // columns in USING (…)
	Natural bool     // a NATURAL join
}

// Source is one item of a FROM.
type Source struct {
	Alias    string   // as the statement calls it, else the relation's name; "" for none
	Schema   string   // as resolved; "" for what is no relation
	Relation string   // "" for a subquery, a common table expression or a function
	Columns  []string // a column list behind the alias
	Joined   bool     // the alias is that of a whole join
}

// Ref is one place where a column may be named.
type Ref struct {
	Path  []string // of names: column; qualifier, column; schema, qualifier, column
	Star  bool     // the last part is *, and Path is what stands before it
	Field bool     // the last name is taken of a value in brackets: (x).name
	// Counts: the star of count(*), which reads no column.
	Counts bool
}
