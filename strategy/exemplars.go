package strategy

import (
	"context"

	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
)

// Similar picks exemplars for a question as x specifies. If x.Pool is nil, it uses Env.Exemplars. The dialect, the
// schema and the permission to use stored values come from the Env. The error is ctx.Err().
func (e *Env) Similar(ctx context.Context, x memory.Similar, question string) ([]memory.Exemplar, error) {
	if x.Pool == nil {
		x.Pool = e.Exemplars
	}
	x.Dialect = e.DB.Language().Text
	x.WithoutValues = x.WithoutValues || e.WithoutValues
	return x.Pick(ctx, e.Schema, question)
}

// Advice returns the section of a prompt for SQL over s with the meaning of words (see KnowledgeSection) and the
// lessons. Lessons are advice and not rules. The section ends in an empty line; it is "" if there is neither.
func (e *Env) Advice(s *schema.Schema, t Task) string {
	return e.KnowledgeSection(t) + e.Lessons.ForSQL(s, t.Question)
}
