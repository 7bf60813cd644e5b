package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
)

//go:embed replies.json
var replies []byte

// script stands for a model, and for a person, where no model is configured.
type script struct {
	Lines     []string   `json:"lines"` // what the person types
	Questions []question `json:"questions"`
}

// question is one question with the replies of the model.
type question struct {
	Question  string             `json:"question"`
	Tables    map[string]float64 `json:"tables"` // confidence of the relevant ones
	Join      bool               `json:"join"`
	Generate  string             `json:"generate"`
	Has       string             `json:"has"`       // what the user said, or an earlier session taught
	Corrected string             `json:"corrected"` // the statement where the prompt has it
}

// aboutTable finds the name in a request about one table.
var aboutTable = regexp.MustCompile(`CREATE TABLE (\w+)`)

// Complete answers by the purpose of the request. Of the questions in a prompt the last one of the script is asked: the
// others were asked before.
func (s script) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	prompt := ""
	for _, m := range req.Messages {
		prompt += m.Text + "\n"
	}
	var q question
	for _, one := range s.Questions {
		if strings.Contains(prompt, one.Question) {
			q = one
		}
	}
	var reply any
	switch req.Purpose {
	case "table":
		table := ""
		if at := aboutTable.FindStringSubmatch(prompt); at != nil {
			table = at[1]
		}
		confidence, relevant := q.Tables[table]
		reply = map[string]any{"is_relevant": relevant, "confidence": confidence, "relevant_columns": []string{},
			"reasoning": "it has what is asked"}
	case "tables":
		final := []string{}
		for _, at := range aboutTable.FindAllStringSubmatch(prompt, -1) {
			final = append(final, at[1])
		}
		reply = map[string]any{"final_tables": final, "removed_tables": []string{}, "reasoning": "each is needed"}
	case "synthesis":
		reply = map[string]any{"columns": []string{}, "joins_needed": q.Join, "reasoning": ""}
	case "generate", "repair":
		if q.Has != "" && strings.Contains(prompt, q.Has) {
			q.Generate = q.Corrected
		}
		if q.Generate != "" {
			return llm.Response{Text: "```sql\n" + q.Generate + "\n```", StopReason: llm.StopEnd}, ctx.Err()
		}
	}
	if reply == nil {
		return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "no scripted reply to a request for " +
			req.Purpose}
	}
	text, err := json.Marshal(reply)
	if err != nil {
		return llm.Response{}, err
	}
	return llm.Response{Text: string(text), StopReason: llm.StopEnd}, ctx.Err()
}

// unheard returns the lines that a session did not hear.
func (s script) unheard(r session.Record) []string {
	lines := s.Lines
	for _, turn := range r.Turns {
		// The turn of a choice has the label of its option as text.
		for i, line := range lines {
			if strings.HasSuffix(line, turn.Text) || line == turn.Option {
				lines = lines[i+1:]
				break
			}
		}
	}
	return lines
}

// printable leaves out what a terminal would obey: a model wrote the text.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// readScript panics if the embedded script is broken, which the first test finds.
func readScript() (s script) {
	if err := json.Unmarshal(replies, &s); err != nil {
		panic("talk: script: " + err.Error())
	}
	return s
}
