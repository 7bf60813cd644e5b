package maker

import (
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy/planvote"
)

// Published returns m in the form of the document on M15: its prompts, one user message a call, with the evidence,
// which its code did not pass; all samples at once, none greedy; phase 3 by
// the vote of planvote.Plain.Published. The defects of its code are not repeated.
func (m Strategy) Published() Strategy {
	m.published = true
	return m
}

func (p prompts) publishedScope() []llm.Message {
	return planvote.PublishedPrompt(p.schema, p.task, `List only the tables needed to answer the question and their join conditions, in this form:
Tables: table1, table2
Joins: table1.column = table2.column AND ...
If one table is enough, leave the Joins line out.`)
}

func (p prompts) publishedFilter(agreed string) []llm.Message {
	return planvote.PublishedPrompt(p.schema, p.task,
		agreed+`Write only the WHERE conditions needed, without the WHERE keyword. If none are needed, write "No filters needed".`)
}

func (p prompts) publishedProjection(agreed string, f rowFilter) []llm.Message {
	if len(f.Conditions) > 0 {
		agreed += "WHERE conditions: " + inLine(f.String()) + "\n"
	}
	return planvote.PublishedPrompt(p.schema, p.task,
		agreed+"Write the complete SQL query with these tables, joins and conditions. Only the SQL, no explanation, no markdown.")
}
