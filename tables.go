package texttosql

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
)

// asksForTables finds a question that the schema answers: which tables there are.
var asksForTables = regexp.MustCompile(`(?i)^\W*(?:(?:please\s+)?(?:which|what|show|list|give|name|tell)(?:\s+(?:me|us|all|the|of|are|` +
	`names?|a|list))*\s+tables?(?:\s+names)?` +
	`(?:\s+(?:are\s+there|there\s+are|exist|do\s+(?:you|we|i)\s+have|can\s+i\s+(?:ask|query)(?:\s+about)?|does\s+(?:it|this|` +
	`the)\s*(?:database)?\s*have|(?:are\s+)?(?:in|of)\s+(?:the|this|my|your)\s+(?:database|db|schema)|are\s+available))?|` +
	`welche\s+tabellen\s+(?:gibt\s+es|hast\s+du)|(?:qué|que|cuáles)\s+tablas\s+(?:hay|tienes|existen)|` +
	`quelles\s+(?:sont\s+les\s+)?tables(?:\s+(?:existent|y\s+a-t-il))?|` +
	`(?:有哪些表|有什么表|どんなテーブルがありますか?))\W*$`)

// mostListed bounds the tables of such an answer: engines take only so many parts of a UNION.
const mostListed = 400

// listTables answers which tables there are, without a model; nil: the question asks for something else, or the data has
// tables of its own.
func listTables(question string, s *schema.Schema) *strategy.Outcome {
	if !asksForTables.MatchString(question) || len(s.Tables) > mostListed {
		return nil
	}
	parts := make([]string, 0, len(s.Tables))
	for i := range s.Tables {
		name := s.Tables[i].TableName().String()
		if strings.Contains(strings.ToLower(name), "table") || strings.ContainsAny(name, `'\\`) {
			return nil
		}
		as := ""
		if i == 0 {
			as = " AS table_name"
		}
		parts = append(parts, fmt.Sprintf("SELECT '%s'%s", name, as))
	}
	out := &strategy.Outcome{SQL: strings.Join(parts, " UNION ALL "), Confidence: 1}
	out.Note("the list of tables comes from the schema, and no model was asked")
	return out
}
