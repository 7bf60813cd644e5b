package maker

import (
	"github.com/texttosql/texttosql/internal/egtts"
	"github.com/texttosql/texttosql/llm"
)

// Published returns m in the form of the document on M15. It uses the prompts of the document, with one user message
// per call. The message includes the evidence, which the code of the source does not pass. All samples start at once,
// and no sample is greedy. Phase 3 uses the vote of planvote.Plain.Published. It does not repeat the defects in the
// code of the source.
func (m Strategy) Published() Strategy {
	m.published = true
	return m
}

func (p prompts) publishedScope() []llm.Message {
	return egtts.PublishedPrompt(p.schema, p.task,
		`List only the tables needed to answer the question and their join conditions, in this form:
Tables: table1, table2
Joins: table1.column = table2.column AND ...
If one table is enough, leave the Joins line out.`)
}

func (p prompts) publishedFilter(agreed string) []llm.Message {
	return egtts.PublishedPrompt(p.schema, p.task,
		agreed+`Write only the WHERE conditions needed, without the WHERE keyword. If none are needed, write "No filters needed".`)
}

func (p prompts) publishedProjection(agreed string, f rowFilter) []llm.Message {
	if len(f.Conditions) > 0 {
		agreed += "WHERE conditions: " + inLine(f.String()) + "\n"
	}
	return egtts.PublishedPrompt(p.schema, p.task,
		agreed+"Write the complete SQL query with these tables, joins and conditions. Only the SQL, no explanation, "+
			"no markdown.")
}
