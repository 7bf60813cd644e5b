package strategy

import (
	"context"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// link restricts the schema to what the question needs.
func (p Pipeline) link(ctx context.Context, env *Env, t Task, out *Outcome) (*schema.Schema, error) {
	s := env.Schema
	if env.Profile != nil && !env.SkipValues {
		profileCtx, span := trace.Start(ctx, "profile")
		profiled, err := env.Profile(profileCtx)
		span.Fail(err)
		span.End()
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			out.note("no profile of the database: %v", err)
		default:
			s = profiled
		}
	}
	l := p.Linker
	if tokens := schema.EstimateTokens(schema.Renderer{WithoutValues: true}.Render(s).Text); tokens > env.schemaBudget() {
		out.note("the schema takes about %d tokens, over the budget of %d: it is linked to the question", tokens, env.schemaBudget())
		trace.From(ctx).Warn("schema-linked", out.Notes[len(out.Notes)-1])
		if l == nil {
			l = linker.Lexical{}
		} else {
			l = linker.Union{linker.Lexical{}, choosing{l}}
		}
	}
	if l == nil {
		return s, nil
	}
	linkCtx, span := trace.Start(ctx, "link")
	defer span.End()
	links, err := l.Link(linkCtx, linker.Input{
		Question: t.Question, Evidence: t.Evidence, Schema: s, DB: env.DB, WithoutValues: env.SkipValues,
	})
	if cerr := ctx.Err(); cerr != nil {
		return nil, cerr
	}
	if err != nil {
		span.Fail(err)
		out.note("linking failed, the whole schema is used: %v", err)
		return s, nil
	}
	out.Links = links
	out.Notes = append(out.Notes, links.Notes...)
	restricted, unknown := s.Restrict(links)
	if len(unknown) > 0 {
		out.note("linked names that do not exist: %v", unknown)
	}
	span.Set("tables", len(restricted.Tables))
	return restricted, nil
}

// choosing is a linker whose word for the whole schema does not count, only what
// it found: the whole is too big.
type choosing struct{ linker.Linker }

func (c choosing) Link(ctx context.Context, in linker.Input) (schema.Links, error) {
	links, err := c.Linker.Link(ctx, in)
	links.Whole = false
	return links, err
}
