package strategy

import (
	"context"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/schema"
)

// Render uses r to write s for the prompt of a sample, with the Quote and WithoutValues of e. It records in Shown the
// parts that the text leaves out. Snapshot caches texts, so do not change the rendering. The error is ctx.Err().
func (e *Env) Render(ctx context.Context, sample int, r schema.Renderer, s *schema.Schema) (schema.Rendering, error) {
	r.Names, r.WithoutValues = e, r.WithoutValues || e.WithoutValues
	out, err := e.kept(ctx, written, r, s)
	if err == nil {
		e.Host.Omissions.Add(sample, out)
	}
	return out, err
}

// SchemaTokens estimates the tokens of s in a prompt without values, for comparison with Budget. The error is
// ctx.Err().
func (e *Env) SchemaTokens(ctx context.Context, s *schema.Schema) (int, error) {
	r, err := e.kept(ctx, measured, schema.Renderer{Names: e, WithoutValues: true}, s)
	return r.Tokens, err
}

// written are texts of schemas without sample rows, and measured what is known of the length of those without their
// texts. They may hold values, so each scope has its own.
var (
	written = &snapshot.Derived[textOf, schema.Rendering]{
		Size: func(of textOf, r schema.Rendering) int { return len(r.Text) + sizeOf(of.schema) },
	}
	measured = &snapshot.Derived[textOf, schema.Rendering]{Size: func(of textOf, _ schema.Rendering) int {
		return sizeOf(of.schema)
	}}
)

// textOf is what a text depends on. A schema is not changed once it was handed out, so its address stands for it.
type textOf struct {
	schema                                *schema.Schema
	form                                  schema.Form
	maxChars, maxTokens, beside, examples int
	withoutValues                         bool
	withoutExpertText, withoutModelText   bool
}

// sizeOf estimates what a part of a schema takes that a text keeps in memory.
func sizeOf(s *schema.Schema) int { return 300 * len(s.Tables) }

// kept is r.Render, asked for once for a schema and a form. A schema of one question is rendered at each call. The
// environments of one snapshot quote names in the same way.
func (e *Env) kept(ctx context.Context, in *snapshot.Derived[textOf, schema.Rendering], r schema.Renderer,
	s *schema.Schema) (schema.Rendering, error) {
	of := textOf{s, r.Form, r.MaxChars, r.MaxTokens, r.Beside, r.Examples, r.WithoutValues, r.WithoutExpertText,
		r.WithoutModelText}
	return in.Of(ctx, e.Snapshot.For(s), of, func(ctx context.Context) (schema.Rendering, error) {
		out, err := r.Render(ctx, s)
		if in == measured {
			out.Text = ""
		}
		return out, err
	})
}

// SchemaSection uses r to write s for the prompt of a sample, under a heading and within Budget. The error is
// ctx.Err().
func (e *Env) SchemaSection(ctx context.Context, r schema.Renderer, s *schema.Schema, sample int) (string, error) {
	if s == nil {
		return "", &ConfigError{Field: "strategy: PromptInput.Schema",
			Problem: "it is nil; give it Env.Schema, or a part of it"}
	}
	r.MaxTokens = e.Budget()
	written, err := e.Render(ctx, sample, r, s)
	return "### Schema\n" + zoneLine(s) + strings.TrimRight(written.Text, "\n") + "\n\n", err
}

// zoneLine tells in which zone the session is, if that is not UTC.
func zoneLine(s *schema.Schema) string {
	if s == nil || s.Zone == "" {
		return ""
	}
	if s.Dialect == "mysql" {
		return fmt.Sprintf("Values of type TIMESTAMP, NOW() and CURRENT_DATE are in %s: so they are shown, "+
			"and so they are cut into days.\n", s.Zone)
	}
	return fmt.Sprintf("Times with a time zone are in %s: so they are shown, and so they are cut into days and compared "+
		"with dates.\n", s.Zone)
}
