// Package schema describes a database to programs and to models: its tables, what is known of their values, the part
// that a question needs, and texts of it for a prompt.
//
// It does not read databases ([github.com/texttosql/texttosql/exec] does) and does
// not choose what a question needs (linker does).
//
//	s, unknown := s.Describe(schema.Descriptions{"orders.status": {Text: "S shipped, D disputed"}})
//	s, missing := s.Restrict(links) // linked tables, and what joins them
//	r, err := schema.Renderer{Form: schema.MSchema, MaxTokens: 4000}.Render(ctx, s)
//	prompt := r.Text // r.Reduced and r.LeftOut tell what it does not show
//
// # Hostile text
//
// Names, types, comments and stored values may come from anybody who could write to the database, and they go into
// prompts. Stored values pass [Literal], descriptions pass [Comment], names pass [NameFault] and are quoted. So nothing
// of the database ends its line, a code fence or a tag, or hides in characters that cannot be seen. Only a CREATE text
// in [Augmented] keeps its lines, with its comments cleaned. None of this keeps a model from believing what it reads;
// the guard of exec decides what may run.
//
// # Names
//
// Names are kept as the engine has them, unquoted, and quoted when they are written.
// They are compared without regard to the case of ASCII letters, exact matches first.
//
// Values of this package are not changed once they were handed out: methods that
// change something return a copy, which may share parts with the original.
package schema
