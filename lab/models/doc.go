// Package models has language models for evaluation: models that answer without
// one.
//
// A [Recorded] model answers with what real models wrote when they were asked the
// same questions, one stored reply a sample. What comes out is a true figure for
// every strategy whose calls each ask for the SQL of the question: its accuracy,
// its calls, its cost. It is no stand-in for a model in a strategy that asks for
// anything else, and says so by an error that matches [ErrNotRecorded].
//
//	m, err := models.NewRecorded("spider_dev/all", []models.Question{{
//		ID: "6", Text: "How many singers are there?",
//		Replies: []models.Reply{{Text: "SELECT count(*) FROM singer"}},
//	}})
//	engine, err := texttosql.New(db, m)
//
// Figures made with it carry the word "recorded" ([KindRecorded]). A [Phases]
// derives from the same replies what a model would have said that was asked step
// by step: its figures are "simulated" ([KindSimulated]), which shows what votes,
// locks and fallbacks do and not whether the steps help a model.
package models

// KindRecorded is how reports call figures that a [Recorded] model made.
const KindRecorded = "recorded"
