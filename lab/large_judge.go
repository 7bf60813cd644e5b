package main

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/llm"
)

// perfectJudge answers the requests of linker.PerTable as one who knows the gold: its tables are relevant, they all
// stay, and something is missing as long as one of them was not shown.
type perfectJudge struct {
	gold     map[string]bool // members of the families of gold tables
	families int

	mu    sync.Mutex
	calls int
}

var judgedTable = regexp.MustCompile(`(?m)^CREATE (?:VIRTUAL TABLE|TABLE|VIEW) (.*?)(?: \(|;)`)

// Complete answers a request about one table, about several, or about those that are relevant.
func (p *perfectJudge) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	p.mu.Lock()
	p.calls++
	p.mu.Unlock()
	list, names := []map[string]any{}, []string{}
	shown := judgedTable.FindAllStringSubmatch(req.Messages[len(req.Messages)-1].Text, -1)
	for i, found := range shown {
		if name := strings.NewReplacer(`"`, "", "`", "").Replace(found[1]); p.gold[name] {
			list = append(list, map[string]any{"table": i + 1, "is_relevant": true, "confidence": 1})
			names = append(names, name)
		}
	}
	reply := map[string]any{"tables": list, "final_tables": names, "joins_needed": true, "lacks": nil}
	if req.Purpose == "table" && len(shown) == 1 {
		reply["is_relevant"], reply["confidence"] = len(list) > 0, 1
	}
	if req.Purpose == "synthesis" && len(list) < p.families {
		reply["lacks"] = "another table"
	}
	text, err := json.Marshal(reply)
	return llm.Response{Text: string(text)}, err
}
