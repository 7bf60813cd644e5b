// Package schema describes a database to programs and to models: its tables, what
// is known of their values, the part that a question needs, and texts of it for a
// prompt.
//
// It does not read databases ([github.com/texttosql/texttosql/exec] does) and does
// not choose what a question needs (linker does). It imports nothing of ours.
//
//	s, unknown := s.Describe(schema.Descriptions{"orders.status": {Text: "S shipped, D disputed"}})
//	s, missing := s.Restrict(links)                       // linked tables, and what joins them
//	r := schema.Renderer{Form: schema.MSchema, MaxTokens: 4000}.Render(s)
//	prompt := r.Text                                      // r.Reduced, r.LeftOut: what it does not say
//
// # Hostile text
//
// Names, types, comments and stored values come from whoever could write to the
// database, and go into prompts. Three functions stand between the two, and every
// text that this package makes for a prompt passes them: [Literal] for stored
// values, [Comment] for descriptions, [NameFault] and a quoting function for names.
// They keep a prompt's shape: nothing from the database ends its line, a code
// fence or a tag, or hides in characters that cannot be seen. The one text that
// keeps its lines is a CREATE text in [Augmented], with its comments cleaned. None
// of this keeps a model from believing what it reads; the guard of exec decides
// what may run.
//
// # Names
//
// Names are compared without regard to the case of ASCII letters, as SQLite does,
// exact matches first. They are kept as the engine has them, unquoted, and quoted
// when they are written.
//
// Values of this package are plain data and are not changed once handed out:
// methods that change something return a copy, which may share parts with the
// original.
package schema
