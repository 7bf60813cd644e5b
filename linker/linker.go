package linker

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/snapshot"
)

// Linker chooses the schema items that a question needs (schema linking).
//
// It names items, and schema.Schema.Restrict keeps the tables that join them. The zero Links means no opinion, and the
// whole schema is kept. Implementations are safe for concurrent use.
type Linker interface {
	// Link chooses for one question. On an error the strategies keep the whole schema, with a note.
	Link(ctx context.Context, in Input) (schema.Links, error)
}

// Func makes a Linker of a function.
type Func func(ctx context.Context, in Input) (schema.Links, error)

// Link calls f.
func (f Func) Link(ctx context.Context, in Input) (schema.Links, error) { return f(ctx, in) }

// Input is what a Linker may look at.
type Input struct {
	Question string         // the question as it was asked
	Evidence string         // knowledge that belongs to the question; "": none
	Schema   *schema.Schema // required; with profiles if example values are to be matched
	DB       *exec.DB       // the database for bounded look-ups; nil: no look-ups
	// Corrections are what the user said about the question.
	Corrections []session.Correction
	// Earlier are answered questions of the same conversation, the oldest first.
	Earlier []session.Earlier
	// Snapshot keeps what linkers read of Schema, which is its schema, that with profiles or a part of it. nil: it is read anew
	// for each question.
	Snapshot *snapshot.Snapshot
	// Knowledge is what people know of the database: its words count as words of the tables that they speak of. nil: nothing.
	Knowledge *knowledge.Model
	// Past are statements that were run before; see Index.WithHistory. The same list is read once for a snapshot.
	Past []memory.Pair
	// Index is that of Schema, in place of what Snapshot, Knowledge and Past tell. nil, or of another schema: it is not used.
	Index *Index
	// Lessons are what was learned from earlier questions, for linkers whose prompts show it; nil: nothing.
	Lessons *memory.Recall
	// WithoutValues keeps stored values out of the choice and of its result.
	WithoutValues bool
}

// needs is the error of a linker that gets no schema.
func (in Input) needs(linker string) error {
	if in.Schema == nil {
		return fmt.Errorf("linker: %s needs Input.Schema, and it is nil", linker)
	}
	return nil
}

// Union links what any of its linkers links. Scores of one item are added, and matched values are listed once. If a
// linker keeps the whole schema, so does the union. The error of a linker ends it. A nil linker is skipped.
type Union []Linker

// Link asks every linker in turn.
func (u Union) Link(ctx context.Context, in Input) (schema.Links, error) {
	var all schema.Links
	for _, l := range u {
		if l == nil {
			continue
		}
		links, err := l.Link(ctx, in)
		if err != nil {
			return schema.Links{}, err
		}
		all = merge(all, links)
	}
	return all, nil
}
