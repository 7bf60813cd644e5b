// Package sqltext reads SQL as text. It checks that a text is one query and no more, and tells what it names.
//
// It is not a parser, and no guard. It knows no schema, accepts and describes text that no engine would take, and
// lets functions and hidden writes pass. Package exec decides what a statement is allowed to do, with the engine.
// Where an engine can be asked, its word goes before what is read here.
//
//	statement, err := sqltext.SQLite().Check("SELECT name FROM singer;")
//	fmt.Println(statement.SQL(), statement.Tables()) // SELECT name FROM singer, and what it reads
//
// Package replies finds the statement in what a model wrote. Everything starts with a Dialect, the rules by which an engine cuts text into tokens. Dialect.Check makes a
// Statement of a text that holds one query, Dialect.Parse of any text. A Statement is parsed once, when a method
// first needs it. Its methods come in two groups:
//
//   - Normalize, Template, Alike, Hardness: what makes two statements the same, one pattern, alike, or equally hard;
//   - Tables, Columns, Literals, Comparisons, Conditions, Outline, Sorts: what a statement names and how it is built.
//
// All are linear in the length of the text and do not recurse. None of them calls a model or a database.
//
// Everything here is safe for concurrent use.
package sqltext
