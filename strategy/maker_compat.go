package strategy

import "github.com/texttosql/texttosql/llm"

// The prompts of the document (methods/maker.md 2.2 to 2.4): one user message a
// call, with the evidence, which its code did not pass.

func compatScopePrompt(schemaText string, t Task) []llm.Message {
	return compatPrompt(schemaText, t, `List only the tables needed to answer the question and their join conditions, in this form:
Tables: table1, table2
Joins: table1.column = table2.column AND ...
If one table is enough, leave the Joins line out.`)
}

func compatFilterPrompt(schemaText string, t Task, lock string) []llm.Message {
	return compatPrompt(schemaText, t, lock+`Write only the WHERE conditions needed, without the WHERE keyword. If none are needed, write "No filters needed".`)
}

func compatProjectionPrompt(schemaText string, t Task, lock string, f Filter) []llm.Message {
	if len(f.Conditions) > 0 {
		lock += "WHERE conditions: " + inLine(f.String()) + "\n"
	}
	return compatPrompt(schemaText, t, lock+"Write the complete SQL query with these tables, joins and conditions. Only the SQL, no explanation, no markdown.")
}
