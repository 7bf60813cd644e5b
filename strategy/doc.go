// Package strategy turns a question into a checked statement. It has the interface that a method implements, the
// stages that methods are composed of, and the presets Direct, SelfConsistency and Consensus. Published methods have
// their own packages, such as strategy/petsql.
//
// A preset is a struct literal whose zero value is the documented default:
//
//	engine, err := texttosql.New(db, model, texttosql.WithStrategy(strategy.SelfConsistency{Samples: 8}))
//
// Your own method is a Pipeline with other stages, or a function:
//
//	careful := strategy.Pipeline{
//		Linker:   linker.Lexical{},
//		Prompter: strategy.Prompt{Form: schema.MSchema, Shots: 3},
//		Sampler:  strategy.Sampler{Samples: 9, Temperature: 0.8, Stop: vote.AheadBy(3)},
//		Voter:    vote.Majority{Penalty: 1},
//		Refine:   &strategy.Refine{Decisive: true},
//	}
//	engine, err := texttosql.New(db, model, texttosql.WithStrategy(careful))
//
// # Stages
//
//   - Election takes samples in waves until they are decided; every strategy votes through it.
//   - Prompt and RotatePrompts write the messages.
//   - Checker turns replies into candidates: extraction, checks, doubts, once for each distinct statement.
//   - TypedRepair and Rubric are a repairer and a judge.
//   - vote.Majority counts; linker and exec.Check are the stages of their packages.
//
// # Rules
//
// Equal replies give equal outcomes, whatever the timing: samples fill indexed slots, stops look at prefixes, and
// ties have documented rules. One failed sample never cancels the others. If a model can only generate (a recorded
// one), a missing repair or judge is not an error: the vote stands, with a note.
package strategy
