package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// callError is what a client is told of an error: one line, and what the call cost where it asked a model.
func (c *client) callError(ctx context.Context, err error, spent llm.Usage) error {
	if spent.Calls == 0 {
		return toldError(c.line(ctx, err))
	}
	return toldError(fmt.Sprintf("%s (cost: %s)", c.line(ctx, err), costOf(spent)))
}

// line says in one line what went wrong. Only errors that are known to name nothing of the database's address are
// repeated; of any other the log has the words.
func (c *client) line(ctx context.Context, err error) string {
	text, known := c.words(err)
	if !known {
		c.Logger.ErrorContext(ctx, "mcp: a call failed", "error", c.Hide(redact.Line(err.Error())))
	}
	return c.Hide(prompttext.ErrorLine(redact.Line(text), false))
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
	f := failure.Of(err)
	switch f.Class {
	case failure.Budget:
		if c.spent() {
			return "the budget of this session is spent: begin another one, or give the server a larger budget", true
		}
	case failure.Config:
		if !errors.As(err, new(*exec.UnguardedError)) {
			break
		}
		return "the database cannot be guarded as it was opened, so nothing runs on it; see the log of the server", false
	case failure.Other, failure.Database, failure.Internal:
		return "the database cannot be asked now; see the log of the server", false
	}
	return strings.TrimSpace(f.Message + " " + f.Advice), f.Class != failure.Key && f.Class != failure.Provider
}

// toldError is an error in our own words, for the client.
type toldError string

func (e toldError) Error() string { return string(e) }

// catalog finds statements that look for what the tool schema tells.
var catalog = regexp.MustCompile(`(?i)^\s*(?:show|describe|desc|pragma)\b|\b(?:sqlite_(?:temp_)?(?:master|schema)|information_schema|` +
	`pg_catalog|pg_(?:class|tables|attribute|namespace|indexes)|duckdb_(?:tables|columns))\b`)

var explains = regexp.MustCompile(`(?i)^\s*explain\b`)

// advised adds to the error of a statement what this server has instead: the tool schema, or a table of another database.
func (c *client) advised(ctx context.Context, d *Database, sql string, err error) error {
	var no *exec.RefusedError
	var wrong *exec.InvalidError
	name := ""
	switch {
	case errors.As(err, &no) && no.Reason == "table":
		name = no.Name
	case errors.As(err, &wrong) && wrong.Fault == "schema" && readsTable(d, sql, wrong.Name):
		name = wrong.Name
	case no == nil && wrong == nil:
		return err
	}
	if explains.MatchString(sql) {
		return toldError("The tool check shows the plan of a statement; write the statement alone.")
	}
	if catalog.MatchString(sql) {
		return toldError("The tool schema shows the tables, columns and keys; no statement reads the catalog.")
	}
	if other := c.holders(ctx, d, name); other != "" {
		return toldError(failure.Of(err).Message + " " + other)
	}
	return err
}

// readsTable reports whether a statement reads a table of that name, which an error may give behind its schema.
func readsTable(d *Database, sql, name string) bool {
	name = name[strings.LastIndexByte(name, '.')+1:]
	for _, ref := range d.DB.Language().Text.Parse(sql).Tables() {
		if schema.EqualFold(ref.Name, name) {
			return true
		}
	}
	return false
}

// holders says which other database has a table of that name; "": none has.
func (c *client) holders(ctx context.Context, d *Database, name string) string {
	name = name[strings.LastIndexByte(name, '.')+1:]
	for i := range c.Databases {
		other := &c.Databases[i]
		if other.Name == d.Name || name == "" {
			continue
		}
		s, err := other.Engine.Schema(ctx)
		if err == nil && slices.ContainsFunc(s.Tables, func(t schema.Table) bool { return other.called(s, &t, name) }) {
			return fmt.Sprintf("The database %s has it.", other.Name)
		}
	}
	return ""
}
