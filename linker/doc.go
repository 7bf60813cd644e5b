// Package linker chooses the part of a schema that a question needs (schema linking), so that a prompt holds no more.
//
//	links, err := linker.Union{linker.Lexical{}, linker.Values{Choose: true}}.Link(ctx, linker.Input{
//		Question: "How many orders came from Norway?", Schema: s, DB: db,
//	})
//	small, unknown := s.Restrict(links) // with the tables that join them
//
// Linkers name items; schema.Schema.Restrict keeps what joins them. A linker that finds nothing has no opinion, and the
// whole schema is kept. Lexical goes by words, Names by whole names, Values by the stored values that the question
// names, PreSQL by what a first statement of a model reads, MapReduce and PerTable by what a model says of each table,
// Explore by what a model finds that searches the Index. Joins finds out how tables are joined. Lexical and Explore embed text
// where they have an Embedder.
//
// PreSQL with Wide and Values keeps every table that the right statement reads in 99.8 to 100 % of recorded questions,
// at 41 to 44 % of the tokens; the zero PreSQL misses one in 3 to 14 of 496 questions, at 28 %: docs/lab/petsql.md.
// There, too: MapReduce keeps them in 99 to 100 % where its verdicts are as good as a recorded answer, at 41 to 42 %.
package linker
