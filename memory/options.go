package memory

import "github.com/texttosql/texttosql/schema"

// Options say what an engine remembers: texttosql.WithMemory. The zero Options remember nothing beyond the program.
type Options struct {
	// Exemplars are a pool of solved questions for strategies that show some in their prompts. PETSQL shows 9; Consensus, Direct,
	// SelfConsistency and a Prompt show as many as their Shots say, none by default.
	//
	// Linkers use them too, as does every strategy for a schema over the budget of a prompt: they say which tables answer which
	// words, and which are read together (linker.Index). Past statements of a log are for that alone: see Pair.Past. A hundred
	// thousand of them cost no question more time than a thousand; the first one reads them all.
	Exemplars []Pair

	// Confirmed keeps confirmed answers, in a file for example (OpenConfirmed). The caller closes it. nil: in the memory of the
	// Engine, and forgotten with it (ErrForgotten).
	Confirmed *Confirmed

	// Lessons are what was learned from earlier questions. They are shown as advice, and give tables and columns of a schema of the
	// caller's own the names that the database has, where a lesson tells them. A Conversation learns from its questions; Ask learns
	// nothing. A store in memory lives as long as the program; see OpenLessons. nil: none.
	Lessons *Lessons

	// Profiles keeps what was seen of the rows of tables between programs, for databases of which the store knows whether they
	// have changed. What is kept holds values of rows. Rows that a scope sees are never kept. nil: every program looks itself.
	Profiles schema.Profiles

	// Off answers without what was learned: no lesson and no confirmed answer is shown, and nothing is learned. Confirm keeps what it
	// is given all the same.
	Off bool
}
