// Package result holds the rows of a statement, says when two results are the same, and writes them for people and
// programs. Package exec runs statements, and package eval scores answers with the equality of this package.
//
//	t := &result.Table{Columns: []string{"name", "n"}, Rows: [][]any{{"Ann", int64(1)}}}
//	u := &result.Table{Columns: []string{"who", "count"}, Rows: [][]any{{"Ann", 1.0}}}
//	fmt.Println(result.Equal(t, u)) // true
//	t.WriteTable(os.Stdout)
//
// One definition of equality, [Equality], serves voting and scoring alike. [Equality.Fingerprint] is its short form for
// storing.
//
// Writers change no value. Their doc comments say how they spell NULL, blobs and control characters. They do not protect
// the program that reads the output: the caller escapes for HTML and against formulas of spreadsheets.
package result
