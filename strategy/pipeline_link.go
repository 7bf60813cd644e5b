package strategy

import (
	"context"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// link restricts the schema to what the question needs.
func (r *pipelineRun) link(ctx context.Context) error {
	env, out := r.env, r.out
	r.schema = env.Schema
	if env.Profile != nil && !env.WithoutValues {
		profileCtx, span := trace.Start(ctx, "profile")
		profiled, err := env.Profile(profileCtx)
		span.Fail(err)
		span.End()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			out.Note("no profile of the database: %v", err)
		default:
			r.schema = profiled
		}
	}
	l := r.Linker
	tokens, err := env.SchemaTokens(ctx, r.schema)
	if err != nil {
		return err
	}
	if tokens > env.Budget() {
		out.Warn(ctx, "schema-linked", "the schema takes about %d tokens, over the budget of %d: it is linked to the question", tokens, env.Budget())
		if l == nil {
			l = linker.Lexical{}
		} else {
			l = linker.Union{linker.Lexical{}, choosing{l}}
		}
	}
	if l == nil {
		return nil
	}
	linkCtx, span := trace.Start(ctx, "link")
	defer span.End()
	links, err := l.Link(linkCtx, linker.Input{
		Question: r.task.Question, Evidence: r.task.Evidence, Schema: r.schema, DB: env.DB, WithoutValues: env.WithoutValues,
	})
	if cerr := ctx.Err(); cerr != nil {
		return cerr
	}
	if err != nil {
		span.Fail(err)
		out.Note("linking failed, the whole schema is used: %v", err)
		return nil
	}
	out.Links = links
	out.Notes = append(out.Notes, links.Notes...)
	restricted, unknown := r.schema.Restrict(links)
	if len(unknown) > 0 {
		out.Note("linked names that do not exist: %v", unknown)
	}
	span.Set("tables", len(restricted.Tables))
	r.schema = restricted
	return nil
}

// choosing is a linker whose decision for the whole schema does not count, since the whole is too big: only what it
// found does.
type choosing struct{ linker.Linker }

func (c choosing) Link(ctx context.Context, in linker.Input) (schema.Links, error) {
	links, err := c.Linker.Link(ctx, in)
	links.Whole = false
	return links, err
}
