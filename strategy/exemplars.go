package strategy

import (
	"context"

	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
)

// Similar picks exemplars for a question as x says. A nil x.Pool means Env.Exemplars. The dialect, the schema and
// whether stored values may be used are those of the Env. The error is ctx.Err().
func (e *Env) Similar(ctx context.Context, x memory.Similar, question string) ([]memory.Pair, error) {
	if x.Pool == nil {
		x.Pool = e.Exemplars
	}
	x.Dialect = e.DB.Language().Text
	x.WithoutValues = x.WithoutValues || e.WithoutValues
	return x.Pick(ctx, e.Schema, question)
}

// Advice is the section of a prompt for SQL over s that shows what words mean (see KnowledgeSection) and lessons, which are
// advice and no rule: it ends in an empty line, and is "" where there is none.
func (e *Env) Advice(s *schema.Schema, t Task) string {
	return e.KnowledgeSection(t) + e.Lessons.ForSQL(s, t.Question)
}
