// Package schema describes a database to programs and to models: its tables, facts about their values, the part that a
// question needs, and texts of it for a prompt.
//
// It does not read databases ([github.com/texttosql/texttosql/exec] does) and does not choose what a question needs
// (linker does).
//
//	s, unknown := s.Describe(schema.Descriptions{"orders.status": {Text: "S shipped, D disputed"}})
//	s, missing := s.Restrict(links) // linked tables, and the tables that join them
//	r, err := schema.Renderer{Form: schema.MSchema, MaxTokens: 4000}.Render(ctx, s)
//	prompt := r.Text // r.Reduced and r.LeftOut list what it does not show
//
// # Hostile text
//
// Names, types, comments and stored values may come from anybody who could write to the database, and they are put into
// prompts. So stored values become literals, descriptions become comments of one line, and names are checked and
// quoted. Text from the database cannot end its line, a code fence or a tag, and cannot hide in invisible characters.
// Only a CREATE text in planvote.Augmented keeps its lines, with its comments cleaned. A model may still believe what
// it reads; the guard of exec decides what may run.
//
// # Names
//
// The package stores names as the engine does, without quotes, and quotes them when it writes them. It compares them
// without regard to the case of ASCII letters, exact matches first.
//
// Values of this package do not change once they are returned: methods that change something return a copy, which may
// share parts with the original.
package schema
