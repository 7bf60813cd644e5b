// Package replies finds the one statement in the reply of a model, or says why there is none. It takes off reasoning,
// fences, JSON, calls of tools and prose, and never repairs.
//
//	found, err := replies.Extractor{Dialect: sqltext.SQLite()}.Extract(reply)
//
// It runs nothing: what the statement is worth is for package exec to say.
package replies
