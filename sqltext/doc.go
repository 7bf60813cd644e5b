// Package sqltext reads SQL as text: it finds the statement in the reply of a
// model, checks that it is one query and no more, and tells what it names.
//
// It is not a parser, and no guard. It knows no schema, accepts and describes
// text that no engine would take, and lets functions and hidden writes pass:
// what a statement is allowed to do is decided in package exec, by the engine.
// Where an engine can be asked, its word goes before what is read here.
//
//	x := sqltext.Extractor{Dialect: sqltext.SQLite()}
//	got, err := x.Extract("Sure!\n```sql\nSELECT name FROM singer;\n```")
//	if err != nil {
//		var reply *sqltext.ReplyError // says why: a refusal, a cut reply, several statements, …
//		…
//	}
//	fmt.Println(got.SQL) // SELECT name FROM singer
//
// Everything starts with a Dialect, the rules by which an engine cuts text into
// tokens. Its methods come in three groups:
//
//   - Tokens, Split, Placeholders, Check: the lexer, and the text check that
//     every statement passes before an engine sees it;
//   - Normalize, Template, Skeleton, Hardness: what makes two statements the
//     same, one pattern, alike, or equally hard;
//   - Tables, Columns, Names, Literals, Comparisons, Conditions, Outline: what a
//     statement names and how it is built.
//
// The methods of the last two groups take any text and never fail: for text
// that is no SQL they return what little is there. All are linear in the length
// of the text and do not recurse. None of them calls a model or a database.
//
// Words, SplitName, Stem, Quotations, QuestionTemplate and CleanText do for questions and
// names what the rest does for SQL.
//
// Everything here is safe for concurrent use.
package sqltext
