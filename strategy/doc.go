// Package strategy turns a question into a checked statement: presets for the
// documented methods, and the primitives they are composed of.
//
// A preset is a struct literal whose zero value is the documented default:
//
//	engine, err := texttosql.New(db, model, texttosql.WithStrategy(strategy.SelfConsistency{Samples: 8}))
//
// A method of your own is a Pipeline with other stages, or a function:
//
//	careful := strategy.Pipeline{
//		Linker:   linker.Lexical{},
//		Prompter: strategy.Prompt{Form: schema.MSchema, Shots: 3},
//		Sampler:  strategy.Sampler{Samples: 9, Temperature: 0.8, Until: vote.AheadBy(3)},
//		Voter:    vote.Majority{Penalty: 1},
//		Repairer: strategy.TypedRepair{},
//	}
//	engine, err := texttosql.New(db, model, texttosql.WithStrategy(careful))
//
// # Primitives
//
//   - Election draws votes in waves until they are decided; every preset votes
//     through it.
//   - Prompt, Alternate and Shots write the messages.
//   - Admission turns replies into candidates: extraction, checks, doubts, once
//     for each distinct statement.
//   - TypedRepair and Pairwise are a repairer and a judge.
//   - Augmented shows sample rows, Feedback what failed before; Probing looks up
//     literals, Cheapest and ProbedVote count in other ways.
//   - ReadScope, ReadFilter, WithinScope and CarriesFilter are the parts of
//     MAKER, which settles a statement step by step.
//   - REp writes the prompt of PETSQL, which asks several models in two rounds;
//     Masker and Exemplars find solved questions that are like a question,
//     Confirmed keeps those that a person confirmed.
//   - vote.Majority counts, linker and exec.Check are the stages of their
//     packages.
//
// # Rules
//
// Equal replies give equal outcomes, whatever the timing: draws fill indexed
// slots, stops look at prefixes, ties have written rules. One failed draw never
// cancels the others. A model that cannot do more than generate (a recorded one)
// is no error of a repair or a judge: the vote stands, with a note.
package strategy
