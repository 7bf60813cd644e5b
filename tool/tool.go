// Package tool offers an engine as a tool for an agent, in any framework. It has two types that encode to JSON, a
// function and its description. A program whose agent speaks MCP does not need this package: texttosql serve-mcp is a
// server with more tools. examples/tool shows the function in a framework.
package tool

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
)

// Description tells an agent when to call the tool. A usual name of the tool is "ask_database".
const Description = "Answers a question about the database with one checked SQL statement that only reads, " +
	"and its rows. " +
	"If it asks back, let the user choose one of the options, and call it again with the conversation and the choice."

// In is the input of the tool.
type In struct {
	Question     string `json:"question,omitempty" jsonschema_description:"the question in natural language; empty with a choice"`
	Evidence     string `json:"evidence,omitempty" jsonschema_description:"what words of the question mean, or how a figure is computed"`
	Conversation string `json:"conversation,omitempty" jsonschema_description:"that of an earlier reply, for a follow-up or a choice"`
	Choice       string `json:"choice,omitempty" jsonschema_description:"the id of the option that the user chose"`
}

// Out is the reply. If the tool has a question for the user, Options has two entries or more, and Why explains what is
// unclear. If the data cannot answer the question (texttosql.WithRefuseBelow), Refused is true and Why names what is
// missing: the same words will be refused again.
type Out struct {
	SQL        string        `json:"sql,omitempty"`
	Table      *result.Table `json:"table,omitempty"`      // the rows; nil if there is a question for the user
	Confidence float64       `json:"confidence,omitempty"` // 0..1
	Why        string        `json:"why,omitempty"`        // how the answer was chosen, with its warnings
	Refused    bool          `json:"refused,omitempty"`
	// Options are the answers that the user may choose from. Label is one line for the user.
	Options []struct {
		ID    string `json:"id"`
		Label string `json:"label"`
		SQL   string `json:"sql,omitempty"`
	} `json:"options,omitempty"`
	Conversation string `json:"conversation"`
}

// option is one of the answers that the user may choose.
type option = struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	SQL   string `json:"sql,omitempty"`
}

// Ask returns the function of the tool. store stores the conversations; nil: they are in memory, as long as the
// function exists.
//
// A question to the user and a refusal are replies, not errors. The function returns the errors of Engine.Ask,
// Engine.OpenConversation and Conversation.Choose; failure.Of describes them for a person. The function is safe for
// concurrent use.
func Ask(e *texttosql.Engine, store session.Store) func(context.Context, In) (Out, error) {
	if store == nil {
		store = &session.MemoryStore{}
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
			r, err = talk.Ask(ctx, in.Question, texttosql.WithEvidence(in.Evidence))
		}
		out := Out{Conversation: talk.Record().ID}
		if q := (*session.QuestionError)(nil); errors.As(err, &q) {
			out.Why, out.Refused = q.Message, q.Kind == dialogue.KindMeaning
			for _, o := range q.Options {
				out.Options = append(out.Options, option{o.ID, o.Label, o.SQL})
			}
			return out, nil
		}
		if errors.As(err, new(*texttosql.UnanswerableError)) {
			said := failure.Of(err)
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
