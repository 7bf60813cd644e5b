package sqlshape

// Expansion says what a query costs an engine once every common table expression and view is written out at each place
// that names it, and every column of a subquery at each place that uses it. Engines do that before any limit of theirs
// looks at the result: a text of 700 bytes can grow to gigabytes.
type Expansion struct {
	Added  int // tokens that writing out adds, at most 1<<30
	Stores int // places that may hold rows: subqueries in FROM, DISTINCT, IN (SELECT …), and every second join
	Sorts  int // ORDER BY, GROUP BY, PARTITION BY, UNION, INTERSECT and EXCEPT
	Beside int // tokens outside of select lists, in conditions, groups and orders, once written out

	Size    int            // tokens in all
	Columns []OutputColumn // of the result, in order, as far as the text tells
	Largest int            // size of the largest column, also where Columns does not have it
	Arms    int            // SELECTs of a compound, those of its sources multiplied
	Starred bool           // Columns lacks those that a * stands for
}

// OutputColumn is a column of a result.
type OutputColumn struct {
	Name string // in ASCII lower case
	Size int    // tokens of its expression once everything is written out
}

// Renamed returns x with other names for its columns. Where * hides their places each counts as the largest.
func (x Expansion) Renamed(names []string) Expansion {
	columns := make([]OutputColumn, len(names))
	for i, name := range names {
		columns[i] = OutputColumn{Name: name, Size: x.Largest}
		if !x.Starred && i < len(x.Columns) {
			columns[i].Size = x.Columns[i].Size
		}
	}
	x.Columns = columns
	return x
}

// Column returns the size of a column of a source, 0 if it has none.
func (x Expansion) Column(name string) int {
	size, found := 0, false
	for _, c := range x.Columns {
		if c.Name == name {
			size, found = max(size, c.Size), true
		}
	}
	if !found {
		return x.Largest
	}
	return size
}
