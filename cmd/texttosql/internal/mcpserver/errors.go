package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// callError is what a client is told of an error: one line, and what the call cost where it asked a model.
func (c *client) callError(ctx context.Context, err error, spent llm.Usage) error {
	if spent.Calls == 0 {
		return errors.New(c.line(ctx, err))
	}
	return fmt.Errorf("%s (cost: %s)", c.line(ctx, err), costOf(spent))
}

// line says in one line what went wrong. Only errors that are known to name nothing of the database's address are
// repeated; of any other the log has the words.
func (c *client) line(ctx context.Context, err error) string {
	text, known := c.words(err)
	if !known {
		c.Logger.ErrorContext(ctx, "mcp: a call failed", "error", c.Hide(llm.Scrub(err.Error())))
	}
	return c.Hide(strategy.ErrorLine(llm.Scrub(text), false))
}

// words says what went wrong, and whether that is all there is to say: what is not known may name the database's address.
func (c *client) words(err error) (text string, known bool) {
	var told toldError
	if errors.As(err, &told) {
		return told.Error(), true
	}
	var stopped *session.InterruptedError
	if errors.As(err, &stopped) { // a client asks again, it cannot resume
		err = stopped.Err
	}
	f := texttosql.Failure(err)
	switch f.Class {
	case failure.Budget:
		if c.spent() {
			return "the budget of this session is spent: begin another one, or give the server a larger budget", true
		}
	case failure.Unguarded:
		return "the database cannot be guarded as it was opened, so nothing runs on it; see the log of the server", false
	case failure.Other, failure.Database, failure.Internal:
		return "the database cannot be asked now; see the log of the server", false
	}
	return strings.TrimSpace(f.Message + " " + f.Advice), f.Class != failure.Key && f.Class != failure.Provider
}

// toldError is an error in our own words, for the client.
type toldError string

func (e toldError) Error() string { return string(e) }
