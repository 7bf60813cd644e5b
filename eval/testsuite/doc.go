// Package testsuite makes seeded variations of a database on which a right
// statement stays right and most wrong ones show, and scores answers on them.
//
// It is not for making data up: a variation has the rows of its base with other
// values. And it is not for judging one answer by eye; TS only says on which
// database an answer and its gold differ.
//
//	g := testsuite.Generator{
//		Open:  func(path string) (*sql.DB, error) { return sql.Open("sqlite3", path) },
//		Golds: []testsuite.Gold{{ID: "1", SQL: "SELECT name FROM orders WHERE total > 20"}},
//	}
//	manifest, err := g.Generate(ctx, "shop.sqlite", "shop-suite")
//	suite, err := testsuite.Load("shop-suite", eval.StoreConfig{Open: g.Open})
//	ts := testsuite.TS{Suites: map[string]*testsuite.Suite{"shop": suite}} // a metric of package eval
//
// # Why
//
// Execution accuracy believes an answer that gives the right rows once. Where a
// gold finds nothing, or counts to 0, every answer that finds nothing is right;
// where no value lies between 20 and 21, "> 20" and "> 21" are one. A test suite
// asks again on databases where that is not so. The idea is that of Zhong, Yu and
// Klein 2020, "Semantic Evaluation for Text-to-SQL with Distilled Test Suites";
// operators and choice are those of 2.METHODOLOGY.md of MacKenzieOBrian/NLtoSQL
// as far as that says, and our own beyond.
//
// # Variations
//
// Each draw is made of the base by these operators, in this order:
//
//   - scale: each column of numbers times one factor, of {¼, ½, 2, 3, 4} in odd
//     draws and {.8, .89, .93, 1.07, 1.11, 1.25} in even ones, with ±10 % a row,
//     rounded to the decimals of the column;
//   - shift: the dates of a table by up to 400 days in odd draws and 45 in even
//     ones, all by the same number, so that the dates of a row keep their order;
//     columns of years by up to 2 or 1;
//   - redraw: half of the cells of a column of text with at most 200 values, or of
//     flags, drawn anew from its values;
//   - rewire: 30 % of the references that are no part of a key point at another
//     row;
//   - delete and duplicate: 10 % of the rows that nothing refers to go, 10 % of all
//     rows come a second time, under fresh keys and without children;
//   - null: 8 % of the cells that may be NULL become it;
//   - witness: for half of the golds, the literals that they compare columns with
//     are written into rows that their references join, in one place also a
//     neighbour: one unit more or less, another case, a blank behind. Where a gold
//     compares a sum, a count or the like of a group, groups get that value and the
//     next.
//
// Kept are types, NOT NULL, primary keys, UNIQUE, declared foreign keys, and
// columns that behave like one. SQLite checks each variation (integrity_check,
// foreign_key_check); one that breaks a rule after all is left out, and the
// manifest says so. A table with a CHECK, or with a unique index on an expression
// or on a part of its rows, only loses rows. A foreign key that the base breaks
// is not held against a variation. Virtual tables stay as they are, and triggers
// do not fire.
//
// # Choice
//
// Of 40 draws 10 are kept, one after the other, each time the one with the
// greatest gain: 8 for a gold that is blind on the base and not on it, 1 for a
// mutant (see [Mutants]) that it tells from its gold, each a quarter for every
// draw that did so before. The manifest counts what is left: blind golds, and the
// mutants that survive, by name. Many survivors mean the same as their gold.
//
// # Limits
//
// The base is a file of SQLite, and its rows are held in memory while a suite is
// made, once and once more a worker: this is for databases of benchmarks. Same
// base, golds and configuration give the same suite, with any number of workers,
// as long as no statement runs into a limit of time.
package testsuite
