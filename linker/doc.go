// Package linker chooses the part of a schema that a question needs (schema
// linking), so that a prompt holds that and no more.
//
//	links, err := linker.Union{linker.Lexical{}, linker.Values{Choose: true}}.Link(ctx, linker.Input{
//		Question: "How many orders came from France?", Schema: s, DB: db,
//	})
//	small, unknown := s.Restrict(links) // with the tables that join them
//
// Linkers name items; schema.Schema.Restrict keeps what joins them. A linker
// that finds nothing has no opinion: the whole schema is kept, never an empty
// one. Lexical goes by words, Values by the stored values that the question
// names. It is not a retriever: nothing here embeds text.
package linker
