// Package tool is an engine as the tool of an agent, for any framework: two types, which encode to JSON, and a function. A
// program whose agent speaks MCP needs none of it: texttosql serve-mcp is a server of more tools. examples/tool shows the
// function in a framework.
package tool

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
)

// The name and the description by which an agent knows the tool.
const (
	Name        = "ask_database"
	Description = "Answers a question about the database with one checked SQL statement that only reads, and its rows. " +
		"If it asks back, let the user choose one of the options, and call it again with the conversation and the choice."
)

// In is what an agent asks.
type In struct {
	Question     string `json:"question,omitempty" jsonschema_description:"the question in natural language; empty with a choice"`
	Evidence     string `json:"evidence,omitempty" jsonschema_description:"what words of the question mean, or how a figure is computed"`
	Conversation string `json:"conversation,omitempty" jsonschema_description:"that of an earlier reply, for a follow-up or a choice"`
	Choice       string `json:"choice,omitempty" jsonschema_description:"the id of the option that the user chose"`
}

// Out is the reply. Where the user is asked something, Options has two entries or more, and Why says what is unclear. Where the
// data cannot answer the question (texttosql.WithRefuseBelow), Refused is true and Why says what it has nothing about: asking
// again in the same words does not help.
type Out struct {
	SQL          string        `json:"sql,omitempty"`
	Table        *result.Table `json:"table,omitempty"`      // the rows; nil beside a question
	Confidence   float64       `json:"confidence,omitempty"` // 0..1
	Why          string        `json:"why,omitempty"`        // how the answer was chosen, with its warnings
	Refused      bool          `json:"refused,omitempty"`
	Options      []Option      `json:"options,omitempty"`
	Conversation string        `json:"conversation"`
}

// Option is one of the answers that the user may choose.
type Option struct {
	ID    string `json:"id"`
	Label string `json:"label"` // one line for the user
	SQL   string `json:"sql,omitempty"`
}

// Ask returns the function of the tool. store keeps the conversations; nil: memory does, as long as the function lives.
//
// A question back to the user and a refusal are replies, never errors. The errors are those of Engine.Ask, of
// Engine.OpenConversation and of Conversation.Choose; texttosql.Failure puts them in words for a person. Safe for concurrent
// use.
func Ask(e *texttosql.Engine, store session.Store) func(context.Context, In) (Out, error) {
	if store == nil {
		store = &session.Memory{}
	}
	return func(ctx context.Context, in In) (Out, error) {
		talk, err := e.NewConversation(store), error(nil)
		if in.Conversation != "" {
			talk, err = e.OpenConversation(ctx, store, in.Conversation)
		}
		if err != nil {
			return Out{}, err
		}
		var r *texttosql.Result
		if in.Choice != "" {
			r, err = talk.Choose(ctx, in.Choice)
		} else {
			r, err = talk.Ask(ctx, in.Question, texttosql.Question{Evidence: in.Evidence})
		}
		out := Out{Conversation: talk.Record().ID}
		if q := (*session.QuestionError)(nil); errors.As(err, &q) {
			out.Why, out.Refused = q.Message, q.Kind == session.KindMeaning
			for _, o := range q.Options {
				out.Options = append(out.Options, Option{ID: o.ID, Label: o.Label, SQL: o.SQL})
			}
			return out, nil
		}
		if errors.Is(err, texttosql.ErrUnanswerable) {
			said := texttosql.Failure(err)
			out.Refused, out.Why = true, strings.TrimSpace(said.Message+" "+said.Advice)
			return out, nil
		}
		if err != nil {
			return Out{}, err
		}
		why := []string{r.Ballot.Explain()}
		for _, w := range r.Warnings {
			why = append(why, w.Message)
		}
		out.SQL, out.Table, out.Confidence = r.SQL, r.Rows, r.Confidence
		out.Why = strings.Join(slices.DeleteFunc(why, func(s string) bool { return s == "" }), "; ")
		return out, nil
	}
}
