package memory

import "github.com/texttosql/texttosql/schema"

// Options configures the memory of an engine: see texttosql.WithMemory. The zero Options remember nothing
// after the program ends.
type Options struct {
	// Exemplars is a pool of solved questions about this database. Prompts show those that are most like the
	// question: petsql 9, Consensus, Direct, SelfConsistency and a Prompt as many as their Shots, by default 3. A pair
	// with Past is in no prompt.
	//
	// Linkers also use them, and so does every strategy for a schema over the budget of a prompt. They learn which
	// tables answer which words, and which tables are read together (linker.Index). Past statements of a log serve
	// only this: see Exemplar.Past. A question takes no longer with a hundred thousand exemplars than with a
	// thousand; the first one reads them all.
	Exemplars []Exemplar

	// VerifiedAnswers stores confirmed answers, for example in a file (OpenVerifiedAnswers). The caller closes it.
	// nil: they are in the memory of the Engine and lost with it (ErrNotPersisted).
	VerifiedAnswers *VerifiedAnswers

	// Lessons were learned from earlier questions. Prompts show them as advice. If the caller's schema has a
	// name that the database does not have, a lesson may supply the database's name. A Conversation learns
	// from its questions; Ask does not learn. A store in memory lives as long as the program; see
	// OpenLessons. nil: no lessons.
	Lessons *Lessons

	// Profiles stores statistics and values of table rows between programs. It works for databases that can
	// report whether they have changed. Rows that a scope reads are never stored. nil: every program
	// profiles the tables itself.
	Profiles schema.Profiles

	// Off answers without learned material: prompts show no lessons and no confirmed answers, and no lesson is
	// learned. Confirm still stores its answer.
	Off bool
}
