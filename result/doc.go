// Package result holds the rows of a statement, says when two results are the
// same, and writes them for people and programs.
//
// It is not for running statements (package exec does) nor for scoring answers
// (package eval does, with the equality of this package).
//
//	t := &result.Table{Columns: []string{"name", "n"}, Rows: [][]any{{"Ann", int64(1)}}}
//	u := &result.Table{Columns: []string{"who", "count"}, Rows: [][]any{{"Ann", 1.0}}}
//	fmt.Println(result.Equal(t, u)) // true
//	t.WriteTable(os.Stdout)
//
// One definition of equality, [Equality], serves voting and scoring alike; a
// [Equality.Fingerprint] is its short, storable form. A [Sketch] tells how much
// two results share that are not equal.
//
// Writers change no value; they say in their doc comments how they spell NULL,
// blobs and control characters. None of them protects the program that reads
// the output: escaping for HTML or against spreadsheet formulas is the caller's.
package result
