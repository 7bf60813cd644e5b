package strategy

import (
	"context"
	"slices"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// link restricts the schema to what the question needs.
func (r *pipelineRun) link(ctx context.Context) error {
	env, out := r.env, r.out
	profiled, err := env.Profiled(ctx, out, env.Schema)
	if err != nil {
		return err
	}
	tokens, err := env.SchemaTokens(ctx, env.Schema)
	if err != nil {
		return err
	}
	r.schema, r.unlinked, r.wide = profiled, profiled, profiled
	l := env.within(ctx, r.Linker, tokens, out)
	if l == nil {
		return nil
	}
	linkCtx, span := trace.Start(ctx, "link")
	defer span.End()
	links, err := linker.Conversation{Linker: l}.Link(linkCtx, env.LinkerInput(r.task, r.schema))
	if cerr := ctx.Err(); cerr != nil {
		return cerr
	}
	if err != nil {
		span.Fail(err)
		out.NoteError(ctx, err, "linking failed, the whole schema is used")
		return nil
	}
	out.Links = links
	out.Notes = append(out.Notes, links.Notes...)
	restricted, unknown := env.Snapshot.Graph(r.schema).Restrict(links)
	if len(unknown) > 0 {
		out.Note("linked names that do not exist: %v", unknown)
	}
	span.Set("tables", len(restricted.Tables))
	if r.schema = restricted; tokens > env.Budget() {
		if restricted, err = env.narrowed(ctx, r.task, restricted); err != nil {
			return err
		}
		if r.schema, err = env.Profiled(ctx, out, restricted); err != nil {
			return err
		}
		r.wide, out.Links = r.schema, shown(links, r.schema)
	}
	return nil
}

// overBudget links a schema that no prompt has room for. Of real warehouses 15 tables hold all that the right statement
// reads in 96 % of questions, 8 in 87 %: docs/lab/scale-linking.md.
var overBudget = linker.Lexical{Tables: 15}

// Part returns the part of Schema that l links, in a linker.Conversation. A Schema over Budget is also linked by
// words, with a warning in out. Any other Schema is shown whole if l is nil or fails. Part stores the links of l in
// out.Links, with the stored values that it found. Without l, out.Links has the stored values that the question
// names.
func (e *Env) Part(ctx context.Context, t Task, l linker.Linker, out *Outcome) (*schema.Schema, error) {
	tokens, err := e.SchemaTokens(ctx, e.Schema)
	if err != nil {
		return e.Schema, err
	}
	over := tokens > e.Budget()
	if l = e.within(ctx, l, tokens, out); l == nil {
		return e.whole(ctx, t, out)
	}
	profiled, err := e.Profiled(ctx, out, e.Schema)
	if err != nil {
		return nil, err
	}
	links, err := linker.Conversation{Linker: l}.Link(ctx, e.LinkerInput(t, profiled))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && over:
		return nil, err
	case err != nil:
		out.NoteError(ctx, err, "linking failed, the whole schema is used")
		return e.whole(ctx, t, out)
	}
	out.Notes = append(out.Notes, links.Notes...)
	part, _ := e.Snapshot.Graph(e.Schema).Restrict(links)
	if over {
		if part, err = e.narrowed(ctx, t, part); err != nil {
			return nil, err
		}
	}
	out.Links = shown(links, part)
	return part, nil
}

// whole is Schema. The stored values that the question names become the links of out.
func (e *Env) whole(ctx context.Context, t Task, out *Outcome) (*schema.Schema, error) {
	profiled, err := e.Profiled(ctx, out, e.Schema)
	if err == nil {
		out.Links, err = e.named(ctx, t, profiled, schema.Links{})
	}
	return e.Schema, err
}

// within returns l, together with words if a schema of so many tokens is over Budget.
func (e *Env) within(ctx context.Context, l linker.Linker, tokens int, out *Outcome) linker.Linker {
	if tokens <= e.Budget() {
		return l
	}
	out.Warn(ctx, "schema-linked", "the schema takes about %d tokens, over the budget of %d: it is linked to the question",
		tokens, e.Budget())
	if l == nil {
		return overBudget
	}
	return linker.Union{overBudget, choosing{l}}
}

// narrowed is a part of Schema with fewer columns, if names and types alone take more tokens than Budget. A wide table
// keeps its keys, then columns that words of the question match, then its first ones. Ours.
func (e *Env) narrowed(ctx context.Context, t Task, part *schema.Schema) (*schema.Schema, error) {
	text, err := e.kept(ctx, measured, schema.Renderer{Names: e, WithoutValues: true, WithoutExpertText: true,
		WithoutModelText: true}, part)
	if err != nil || text.Tokens <= e.Budget() {
		return part, err
	}
	links, err := linker.Lexical{Tables: len(part.Tables), Columns: true, Fill: true}.Link(ctx, e.LinkerInput(t, part))
	if err != nil {
		return nil, err
	}
	most := 1 // columns of a table
	for all, n := columns(part)*e.Budget()/text.Tokens, 0; n <= all; most++ {
		n = 0
		for i := range part.Tables {
			n += min(most+1, len(part.Tables[i].Columns))
		}
	}
	var kept schema.Links
	for i := range part.Tables {
		of := &part.Tables[i]
		link := schema.TableLink{Schema: of.Schema, Table: of.Name}
		if len(of.Columns) > most {
			for _, l := range links.Tables {
				if l.Schema == of.Schema && l.Table == of.Name {
					link.Columns = l.Columns[:min(len(l.Columns), most)]
				}
			}
			for j := 0; len(link.Columns) < most; j++ {
				if name := of.Columns[j].Name; !slices.Contains(link.Columns, name) {
					link.Columns = append(link.Columns, name)
				}
			}
		}
		kept.Tables = append(kept.Tables, link)
	}
	part, _ = part.Restrict(kept)
	return part, nil
}

// shown returns links without the values of columns of which a profile tells that they hold secrets.
func shown(links schema.Links, s *schema.Schema) schema.Links {
	links.Tables = slices.Clone(links.Tables)
	for i := range links.Tables {
		l := &links.Tables[i]
		if t, ok := s.Lookup(l.Schema, l.Table); ok {
			l.Values = slices.DeleteFunc(slices.Clone(l.Values), func(v schema.ValueMatch) bool {
				c, ok := t.Column(v.Column)
				return ok && c.Sensitive
			})
		}
	}
	return links
}

// LinkerInput returns the input of a linker for t. s is Schema or a part of it, with profiles if there are some; nil
// means Schema.
func (e *Env) LinkerInput(t Task, s *schema.Schema) linker.Input {
	if s == nil {
		s = e.Schema
	}
	return linker.Input{
		Question: t.Question, Evidence: t.Evidence, Schema: s, DB: e.DB, WithoutValues: e.WithoutValues,
		Corrections: t.Corrections, Earlier: t.Recent(), Lessons: e.Lessons,
		Snapshot: e.Snapshot, Knowledge: e.Knowledge, Past: e.Past,
	}
}

// Profiled returns s, which is Schema or a part of it, with profiles of its columns, for prompts that show stored
// values. If prompts may not show values, it returns s unchanged. If profiling fails, it returns s and adds a note to
// out. Profiling reads each table, so a Schema over Budget is returned unchanged; the linked part of it is profiled.
// The error is ctx.Err().
func (e *Env) Profiled(ctx context.Context, out *Outcome, s *schema.Schema) (*schema.Schema, error) {
	if !e.Profiles || e.WithoutValues {
		return s, ctx.Err()
	}
	if s == e.Schema {
		if tokens, err := e.SchemaTokens(ctx, s); err != nil || tokens > e.Budget() {
			return s, err
		}
	}
	ctx, span := trace.Start(ctx, "profile")
	defer span.End()
	profiled, err := e.DB.Profiled(ctx, e.Snapshot, s)
	span.Fail(err)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		out.Note("no profile of the database: %v", err)
		return s, nil
	}
	return profiled, nil
}

// choosing is a linker whose decision for the whole schema does not count, since the whole is too big: only what it
// found does.
type choosing struct{ linker.Linker }

func (c choosing) Link(ctx context.Context, in linker.Input) (schema.Links, error) {
	links, err := c.Linker.Link(ctx, in)
	links.Whole = false
	return links, err
}
