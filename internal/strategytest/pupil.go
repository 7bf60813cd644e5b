package strategytest

import (
	"context"
	"sync"

	"github.com/texttosql/texttosql/llm"
)

// SchoolSQL has two ways to join its tables, and an old table beside the one that is meant.
const SchoolSQL = `
CREATE TABLE pupils (pupil_id INTEGER PRIMARY KEY, name TEXT, room INTEGER);
CREATE TABLE marks (mark_id INTEGER PRIMARY KEY, pupil_id INTEGER, tutor_id INTEGER REFERENCES pupils(pupil_id), mark INTEGER);
CREATE TABLE pupils_old (pupil_id INTEGER PRIMARY KEY, name TEXT, room INTEGER);
INSERT INTO pupils VALUES (1,'Ada',7),(2,'Bo',8);
INSERT INTO marks VALUES (1,1,2,4),(2,2,1,1);
INSERT INTO pupils_old VALUES (1,'Zed',7),(2,'Yan',7);`

// Pupil plays the model: each request that asks for SQL gets the next of its Statements, the last one for ever.
type Pupil struct {
	Statements []string
	Scopes     []string // replies about tables, for MAKER

	mu       sync.Mutex
	Requests []llm.Request
	asked    map[string]int // for statements and for scopes
}

// Complete implements llm.Model.
func (p *Pupil) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Requests = append(p.Requests, req)
	next := func(kind string, of []string) string {
		if p.asked == nil {
			p.asked = map[string]int{}
		}
		p.asked[kind]++
		return of[min(p.asked[kind], len(of))-1]
	}
	text := Reply(req.Purpose, func() string { return next("scope", p.Scopes) }, func() string {
		return next("sql", p.Statements)
	})
	return llm.Response{Text: text, StopReason: llm.StopEnd}, nil
}

// Reply answers a call for any purpose: about tables with scope, about a statement with sql.
func Reply(purpose string, scope, sql func() string) string {
	switch purpose {
	case "maker.scope":
		return scope()
	case "maker.filter":
		return "marks.mark = 4"
	case "decompose":
		return `{"components": [{"text": "a mark of 4", "type": "filter"}]}`
	case "score":
		return `{"relevant": true, "score": 1, "reason": "", "matched_components": [], "relevant_columns": []}`
	case "judge":
		return `{"selected_option": "A"}`
	case "agent.step":
		return "Thought: look\nAction: query[" + sql() + "]"
	case "table":
		return `{"is_relevant": true, "confidence": 0.9, "relevant_columns": [], "reasoning": "it may be"}`
	case "tables":
		return `{"final_tables": ["pupils", "marks"], "removed_tables": ["pupils_old"], "reasoning": "the old one is old"}`
	case "synthesis":
		return `{"joins_needed": true}`
	case "join":
		return `{"found_joins": true, "joins": [{"left_column": "marks.pupil_id", "right_column": "pupils.pupil_id", "confidence": 0.9}]}`
	}
	return "```sql\n" + sql() + "\n```"
}
