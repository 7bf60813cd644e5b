// Package sqltext (API is not stable) reads SQL as text, for package exec and authors of engines. It checks that a text
// is exactly one query, and reports the names in it.
//
// It is not a parser and does not guard a database. It does not know the schema. It accepts text that no engine would
// accept, and it does not stop functions or hidden writes. Package exec decides with the engine what a statement may
// do. The engine's own report has priority over the results of this package.
//
//	statement, err := sqltext.SQLite().Check("SELECT name FROM singer;")
//	fmt.Println(statement.SQL(), statement.Tables()) // SELECT name FROM singer, and what it reads
//
// Everything starts with a Dialect, the rules by which an engine splits text into tokens. Dialect.Check returns a
// Statement for a text with exactly one query, Dialect.Parse for any text. A Statement is parsed once, when a method
// first needs it. Its methods have two groups:
//
//   - Normalize, Template, Alike and Hardness report whether two statements are the same, follow one pattern, are
//     alike, or are equally hard.
//   - Tables, Columns, Literals, Comparisons, Conditions, Outline and Sorts return the names in a statement and its
//     structure.
//
// The types of the second group are in internal/sqlshape: a program can read their fields and need not name them.
//
// All methods are linear in the length of the text and do not recurse. They call neither a model nor a database.
//
// The package is safe for concurrent use.
package sqltext
