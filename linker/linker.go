package linker

import (
	"context"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// Linker chooses the schema items that a question needs (schema linking).
//
// It returns names, and schema.Schema.Restrict also keeps the tables that join them. The zero Links means no opinion:
// the whole schema is used. Implementations are safe for concurrent use.
type Linker interface {
	// Link chooses for one question. On an error the strategies keep the whole schema, with a note.
	Link(ctx context.Context, in Input) (schema.Links, error)
}

// Func makes a Linker of a function.
type Func func(ctx context.Context, in Input) (schema.Links, error)

// Link calls f.
func (f Func) Link(ctx context.Context, in Input) (schema.Links, error) { return f(ctx, in) }

// Input is the input of a Linker.
type Input struct {
	Question string         // the question as it was asked
	Evidence string         // knowledge given with the question; "": none
	Schema   *schema.Schema // required; with profiles if example values are to be matched
	DB       *exec.DB       // the database for bounded look-ups; nil: no look-ups
	// Corrections has the user's corrections of the question.
	Corrections []session.Correction
	// Earlier has the answered questions of the same conversation, oldest first.
	Earlier []session.PreviousTurn
	// Snapshot caches data that linkers compute from Schema, which is the snapshot's schema, its schema with
	// profiles, or a part of it. nil: linkers compute it for each question.
	Snapshot *snapshot.Snapshot
	// Knowledge is what people know about the database. Its words count as words of the tables that they describe.
	// nil: none.
	Knowledge *knowledge.Model
	// Past has statements that ran before; see Index.WithHistory. The same list is read once per snapshot.
	Past []memory.Exemplar
	// Index is the index of Schema. It replaces Snapshot, Knowledge and Past. It is not used if it is
	// nil or of another schema.
	Index *Index
	// Lessons were learned from earlier questions, for linkers whose prompts show them; nil: none.
	Lessons *memory.RetrievedLessons
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

// Union links every item that any of its linkers links. The scores of an item are added, and matched values are
// listed once. If a linker keeps the whole schema, so does the union. It returns the first error of a linker. A nil
// linker is skipped.
type Union []Linker

// Validate reports the invalid fields of its linkers that have a Validate method.
func (u Union) Validate() error {
	var errs []error
	for _, l := range u {
		if v, ok := l.(interface{ Validate() error }); ok {
			errs = append(errs, v.Validate())
		}
	}
	return errors.Join(errs...)
}

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
