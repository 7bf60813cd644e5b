package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/session"
)

// What is kept of clients lies in a session.Store under ids that nobody can guess. So each process on the store goes on
// with the conversations of the others, and a call needs no session.

// answersScope stands before the scope of a record that says why an answer was chosen: lists of conversations leave it
// out.
const answersScope = "texttosql/answers/"

// How many conversations, and how many answers, are kept in memory.
const (
	keptAlone  = 32  // of a client with a session
	keptShared = 256 // of all clients without one
)

// talk is a conversation of a client.
type talk struct {
	id string // by which the client names it: that of the record, behind the name of the database where there are several
	db *Database
	*texttosql.Conversation
}

// digest is an id of what parts say.
func digest(parts ...any) string {
	text, _ := json.Marshal(parts) // texts and numbers
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// answerID names the last answer.
func (t *talk) answerID() string {
	rec := t.Record()
	return digest("answer", rec.ID, len(rec.Turns))
}

// state is what a client sends back with the answer of its user. It names the conversation, and the call it was made
// for.
func (t *talk) state(input any) string { return t.id + "." + digest(input) }

// waited returns the conversation of a state; another call than that it was made for is an error.
func (c *client) waited(ctx context.Context, state string, input any) (*talk, error) {
	id, made, _ := strings.Cut(state, ".")
	if made == digest(input) {
		if t, err := c.begunBefore(ctx, id); err == nil {
			return t, nil
		}
	}
	return nil, toldError("the question that waited for an answer is gone: ask it again")
}

// conversation returns the one of that id, a new one about a database for "".
func (c *client) conversation(ctx context.Context, id, database string) (*talk, error) {
	if id != "" {
		return c.begunBefore(ctx, id)
	}
	d, err := c.database(database)
	if err != nil {
		return nil, err
	}
	c.forget(ctx, d.Engine.ScopeKey())
	return c.talkOf(d, d.Engine.NewConversation(c.store)), nil
}

func (c *client) talkOf(d *Database, of *texttosql.Conversation) *talk {
	id := of.Record().ID
	if len(c.Databases) > 1 {
		id = d.Name + "-" + id
	}
	return &talk{id, d, of}
}

func (c *client) begunBefore(ctx context.Context, id string) (*talk, error) {
	unknown := toldError(fmt.Sprintf("there is no conversation %.80q, or it is not kept any more: "+
		"begin another one with ask", id))
	at := strings.LastIndexByte(id, '-')
	d, err := c.database(id[:max(at, 0)])
	if err != nil {
		return nil, unknown
	}
	of, err := d.Engine.OpenConversation(ctx, c.store, id[at+1:])
	switch {
	case errors.Is(err, session.ErrNotFound), errors.Is(err, session.ErrInvalidID):
		return nil, unknown
	case err != nil:
		return nil, err
	}
	return c.talkOf(d, of), nil
}

// forget makes room for one record more of a scope, where records are in memory.
func (c *client) forget(ctx context.Context, scope string) {
	if c.Store != nil {
		return
	}
	all, _ := c.store.List(ctx, session.Filter{Scope: scope, Limit: -1}) // what cannot be read stays
	for i := c.kept - 1; i < len(all); i++ {
		_ = c.store.Delete(ctx, all[i].ID)
	}
}

// keep stores why an answer was chosen, and returns the answer's id; "": it could not be stored.
func (c *client) keep(ctx context.Context, a *asking) (id string) {
	a.why.AnswerID = a.talk.answerID()
	scope := answersScope + c.Databases[0].Engine.ScopeKey()
	rec, err := c.store.Load(ctx, a.why.AnswerID)
	if errors.Is(err, session.ErrNotFound) {
		c.forget(ctx, scope)
		rec, err = session.New(a.why.AnswerID, time.Now().UTC()), nil
	}
	if err == nil {
		rec.Scope = scope
		rec.Learned, err = json.Marshal(a.why)
	}
	if err == nil {
		err = c.store.Save(ctx, rec)
	}
	if err != nil {
		c.Logger.ErrorContext(ctx, "mcp: an explanation is not kept", "error", c.Hide(err.Error()))
		return ""
	}
	return a.why.AnswerID
}

// explained returns the kept explanation of that id; nil: there is none.
func (c *client) explained(ctx context.Context, id string) *explanation {
	rec, err := c.store.Load(ctx, id)
	e := &explanation{}
	if err != nil || rec.Scope != answersScope+c.Databases[0].Engine.ScopeKey() || json.Unmarshal(rec.Learned, e) != nil {
		return nil
	}
	return e
}
