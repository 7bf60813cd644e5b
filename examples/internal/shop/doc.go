// Package shop is the database of the examples, and the scripted replies that
// stand in for a model where none is configured.
//
//	db, close, err := shop.Open("")
//	defer close()
//	engine, err := texttosql.New(db, shop.Scripted())
//	answer, err := engine.Ask(ctx, shop.Questions()[0])
//
// The replies show what a vote, the guard and a repair do; they say nothing about
// what a model can do. Data and replies are made up.
package shop
