// Package sqltext reads SQL as text. It finds the statement in the reply of a model, checks that it is one query
// and no more, and tells what it names.
//
// It is not a parser, and no guard. It knows no schema, accepts and describes text that no engine would take, and
// lets functions and hidden writes pass. Package exec decides what a statement is allowed to do, with the engine.
// Where an engine can be asked, its word goes before what is read here.
//
//	x := sqltext.Extractor{Dialect: sqltext.SQLite()}
//	got, err := x.Extract("Sure!\n```sql\nSELECT name FROM singer;\n```")
//	if err != nil {
//		var reply *sqltext.ReplyError // says why: a refusal, a cut reply, several statements, …
//		…
//	}
//	fmt.Println(got.SQL()) // SELECT name FROM singer
//
// Everything starts with a Dialect, the rules by which an engine cuts text into tokens. Dialect.Check makes a
// Statement of a text that holds one query, Dialect.Parse of any text. A Statement is parsed once, when a method
// first needs it. Its methods come in two groups:
//
//   - Normalize, Template, Skeleton, Hardness: what makes two statements the same, one pattern, alike, or equally hard;
//   - Tables, Columns, Literals, Comparisons, Conditions, Outline, Sorts: what a statement names and how it is built.
//
// All are linear in the length of the text and do not recurse. None of them calls a model or a database.
//
// Everything here is safe for concurrent use.
package sqltext
