// Package result holds the rows of a statement, compares results, and writes them for people and programs. Package
// exec runs statements, and package eval scores answers with the equality of this package.
//
//	t := &result.Table{Columns: []string{"name", "n"}, Rows: [][]any{{"Ann", int64(1)}}}
//	u := &result.Table{Columns: []string{"who", "count"}, Rows: [][]any{{"Ann", 1.0}}}
//	fmt.Println(result.Equality{}.Equal(t, u)) // true
//	t.WriteTable(os.Stdout)
//
// One definition of equality, [Equality], serves voting and scoring alike. [Equality.Fingerprint] is its short form for
// storing.
//
// Writers do not change values. Their doc comments define how they write NULL, blobs and control characters. They do
// not protect the program that reads the output: the caller must escape HTML and spreadsheet formulas.
package result
