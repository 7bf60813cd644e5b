package linker_test

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/llm"
)

// oracle answers PerTable as the gold of a question would: what it reads is relevant.
type oracle struct {
	tables, columns []string // that the gold reads: table, table.column
	// in place of the oracle where it says something; may be nil
	say      func(req llm.Request) (reply string, err error)
	mu       sync.Mutex
	requests []llm.Request
}

var shownTables = regexp.MustCompile(`(?m)^CREATE (?:VIRTUAL TABLE|TABLE|VIEW) (.*) \($`)

// shown are the tables that a request shows, unquoted.
func shown(req llm.Request) (names []string) {
	for _, found := range shownTables.FindAllStringSubmatch(req.Messages[1].Text, -1) {
		names = append(names, strings.Trim(found[1], `"`))
	}
	return names
}

func (o *oracle) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests = append(o.requests, req)
	if o.say != nil {
		if text, err := o.say(req); text != "" || err != nil {
			return llm.Response{Text: text}, err
		}
	}
	reply := map[string]any{"reasoning": "as the gold"}
	switch tables := shown(req); req.Purpose {
	case "table":
		if reply = o.verdict(tables[0]); len(tables) > 1 {
			list := []map[string]any{}
			for i, name := range tables {
				if one := o.verdict(name); slices.Contains(o.tables, name) {
					one["table"] = i + 1
					list = append(list, one)
				}
			}
			reply = map[string]any{"tables": list}
		}
	case "tables":
		kept := []string{}
		for _, name := range tables {
			if slices.Contains(o.tables, name) {
				kept = append(kept, name)
			}
		}
		reply["final_tables"] = kept
	case "synthesis":
		reply["columns"], reply["joins_needed"] = o.columns, len(tables) > 1
	}
	text, err := json.Marshal(reply)
	return llm.Response{Text: string(text)}, cmp.Or(ctx.Err(), err)
}

// verdict is the reply about one table.
func (o *oracle) verdict(table string) map[string]any {
	var columns []string
	for _, c := range o.columns {
		if of, name, _ := strings.Cut(c, "."); of == table {
			columns = append(columns, name)
		}
	}
	return map[string]any{"reasoning": "as the gold", "is_relevant": slices.Contains(o.tables, table), "confidence": 0.9,
		"relevant_columns": columns}
}

// of are the requests of a purpose.
func (o *oracle) of(purpose string) (requests []llm.Request) {
	for _, r := range o.requests {
		if r.Purpose == purpose {
			requests = append(requests, r)
		}
	}
	return requests
}
