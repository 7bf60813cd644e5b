// Package describe has a model describe the columns of a database, once, for the prompts of all later questions.
//
// It answers no question, and what people write about a database needs no model ([schema.Descriptions]).
//
//	file, err := describe.Columns{Model: model, File: "shop.descriptions.json"}.Describe(ctx, db, nil)
//	engine, err := texttosql.New(pool, model, texttosql.WithDescriptions(file.Descriptions))
//
// The file is JSON for people to read and to edit. What a person changes or writes is theirs: no model replaces it. A
// later call asks about what the file does not have, so a call that was killed goes on where it was.
package describe
