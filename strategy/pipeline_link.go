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
	if env.Profile != nil && !env.SkipValues {
		profileCtx, span := trace.Start(ctx, "profile")
		profiled, err := env.Profile(profileCtx)
		span.Fail(err)
		span.End()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			out.note("no profile of the database: %v", err)
		default:
			r.schema = profiled
		}
	}
	l := r.Linker
	if tokens := schema.EstimateTokens(schema.Renderer{WithoutValues: true}.Render(r.schema).Text); tokens > env.schemaBudget() {
		out.warn(ctx, "schema-linked", "the schema takes about %d tokens, over the budget of %d: it is linked to the question", tokens, env.schemaBudget())
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
		Question: r.task.Question, Evidence: r.task.Evidence, Schema: r.schema, DB: env.DB, WithoutValues: env.SkipValues,
	})
	if cerr := ctx.Err(); cerr != nil {
		return cerr
	}
	if err != nil {
		span.Fail(err)
		out.note("linking failed, the whole schema is used: %v", err)
		return nil
	}
	out.Links = links
	out.Notes = append(out.Notes, links.Notes...)
	restricted, unknown := r.schema.Restrict(links)
	if len(unknown) > 0 {
		out.note("linked names that do not exist: %v", unknown)
	}
	span.Set("tables", len(restricted.Tables))
	r.schema = restricted
	return nil
}

// choosing is a linker whose word for the whole schema does not count, only what
// it found: the whole is too big.
type choosing struct{ linker.Linker }

func (c choosing) Link(ctx context.Context, in linker.Input) (schema.Links, error) {
	links, err := c.Linker.Link(ctx, in)
	links.Whole = false
	return links, err
}
