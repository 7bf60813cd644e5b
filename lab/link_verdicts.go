package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"regexp"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
)

// verdict is a reply to a request of linker.MapReduce.
type verdict struct {
	Entity   string   `json:"entity,omitempty"` // of a decomposition
	Relevant bool     `json:"relevant"`
	Columns  []string `json:"relevant_columns,omitempty"`
	Score    int      `json:"score"`
}

// shownTable finds the table that a request shows.
var shownTable = regexp.MustCompile(`(?m)^CREATE (?:VIRTUAL TABLE|TABLE|VIEW) (.*) \($`)

// verdicts returns a model that answers linker.MapReduce: the question is its only component, and a table is relevant
// if the recorded answer reads it, with the columns that it reads.
func (x *linked) verdicts(ctx context.Context, answer string) (llm.Model, error) {
	links, err := linker.PreSQL{Columns: true, With: linker.Union{}}.Read(ctx, x.input(), answer)
	if err != nil {
		return nil, err
	}
	relevant := map[string]verdict{} // by the name of the table, as a request shows it
	for _, t := range links.Tables {
		name := schema.TableName{Schema: t.Schema, Name: t.Table}.Quoted(x.env)
		relevant[name] = verdict{Relevant: true, Columns: t.Columns, Score: 1}
	}
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		reply := verdict{Entity: x.Text}
		if req.Purpose == "score" {
			table := shownTable.FindStringSubmatch(req.Messages[len(req.Messages)-1].Text)
			if table == nil {
				return llm.Response{}, errors.New("the request shows no table")
			}
			reply = relevant[table[1]]
		}
		text, err := json.Marshal(reply)
		return llm.Response{Text: string(text)}, cmp.Or(ctx.Err(), err)
	}), nil
}
