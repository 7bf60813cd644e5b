package shop

import (
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/llm"
)

//go:embed phases.json
var phaseReplies []byte

// PhasedQuestion is the question that ScriptedPhases answers step by step.
const PhasedQuestion = "Which customers in the USA never ordered?"

// ScriptedPhases answers the steps of strategy.MAKER about PhasedQuestion from the
// replies kept beside this file, and everything else as Scripted does. No model
// is called.
func ScriptedPhases() llm.Model {
	var all []map[string]json.RawMessage
	if err := json.Unmarshal(phaseReplies, &all); err != nil {
		panic("shop: phases.json: " + err.Error()) // embedded: a fault of ours, found by the first test
	}
	otherwise := Scripted()
	return llm.Named("scripted", llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if err := ctx.Err(); err != nil {
			return llm.Response{}, err
		}
		asked := func(question string) bool {
			return slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return strings.Contains(m.Text, question) })
		}
		for _, entry := range all {
			var question string
			var replies []string
			if json.Unmarshal(entry["question"], &question) != nil || !asked(question) {
				continue
			}
			if json.Unmarshal(entry[req.Purpose], &replies) == nil && req.Draw < len(replies) {
				return llm.Response{Text: replies[req.Draw], StopReason: llm.StopEnd}, nil
			}
		}
		return otherwise.Complete(ctx, req)
	}))
}
