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

// words says what went wrong, and whether that is all there is to say: what is not known may name the database's
// address.
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

// functionName finds the message of an engine that it lacks a function, of which the schema says nothing.
var functionName = regexp.MustCompile(`(?i)\bfunction\b`)

var explains = regexp.MustCompile(`(?i)^\s*explain\b`)

// advised adds to the error of a statement what this server has instead: the tool schema, a table of another database,
// or the names that there are.
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
	column := wrong != nil && wrong.Fault == "schema" && !functionName.MatchString(wrong.Message)
	if said := d.names(ctx, sql, name == ""); said != "" && (name != "" || column) {
		return toldError(failure.Of(err).Message + " " + said)
	}
	return err
}

// names says which names a statement can have: of the tables, or of the columns of its tables; "": they are too many to
// say.
func (d *Database) names(ctx context.Context, sql string, columns bool) string {
	s, err := d.Engine.Schema(ctx)
	if err != nil {
		return ""
	}
	s, _ = s.Presentable()
	quote := d.DB.Language().PromptQuoter().Quote
	var tables, said []string
	for _, t := range s.Tables {
		tables = append(tables, quote(t.Name))
		if !columns || !readsTable(d, sql, t.Name) {
			continue
		}
		var all []string
		for _, column := range t.Columns {
			all = append(all, quote(column.Name))
		}
		said = append(said, quote(t.Name)+" has "+strings.Join(all, ", ")+".")
	}
	if !columns && len(tables) > 0 {
		said = []string{"The tables are " + strings.Join(tables, ", ") + "."}
	}
	if text := strings.Join(said, " "); len(text) <= mostNames {
		return text
	}
	return ""
}

// mostNames bounds what an error says of names, in bytes.
const mostNames = 200

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
