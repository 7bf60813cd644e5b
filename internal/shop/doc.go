// Package shop holds the database of the examples, and the scripted replies that replace a model when none is configured.
//
//	db, close, err := shop.Open("")
//	defer close()
//	engine, err := texttosql.New(db, shop.Listed().Model())
//	answer, err := engine.Ask(ctx, shop.Listed().Questions()[0])
//
// The replies say nothing about the quality of a model. Data and replies are made up.
package shop
