package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

//go:embed replies.json
var replies []byte

// script stands for a model where none is configured.
type script struct {
	Question  string            `json:"question"`
	Describe  map[string]string `json:"describe"` // by table
	Decompose string            `json:"decompose"`
	Score     map[string]string `json:"score"` // by table
	Generate  []string          `json:"generate"`
	Repair    string            `json:"repair"`
	Judge     string            `json:"judge"` // part of the option that it chooses
}

// aboutTable finds the name in a request about one table.
var aboutTable = regexp.MustCompile(`(?:CREATE TABLE |### Table\n)(\w+)`)

// Complete answers by the purpose of the request.
func (s script) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	text, prompt := "", req.Messages[1].Text
	table := ""
	if at := aboutTable.FindStringSubmatch(prompt); at != nil {
		table = at[1]
	}
	switch req.Purpose {
	case "describe":
		text = s.Describe[table]
	case "decompose":
		text = s.Decompose
	case "score":
		text = s.Score[table]
	case strategy.PurposeGenerate:
		text = s.Generate[req.Sample%len(s.Generate)]
	case strategy.PurposeRepair:
		text = s.Repair
	case strategy.PurposeJudge:
		for i, option := range strings.Split(prompt, "\n### Option ")[1:] {
			if strings.Contains(option, s.Judge) {
				text = fmt.Sprintf(`{"selected_option": "%c", "confidence": 0.9, "reasoning": "only customers in the USA are asked for"}`, 'A'+i)
				break
			}
		}
	}
	if text == "" {
		return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "no scripted reply to a request for " + req.Purpose}
	}
	return llm.Response{Text: text, StopReason: llm.StopEnd}, ctx.Err()
}

func readScript() (s script, err error) { return s, json.Unmarshal(replies, &s) }
