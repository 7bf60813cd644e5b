package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/execerr"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Action codes of sqlite3_set_authorizer. All but opPragma can be allowed.
const (
	opPragma    = 19
	opRead      = 20
	opSelect    = 21
	opFunction  = 31
	opRecursive = 33
)

// Results of an authorizer.
const (
	allow = 0
	deny  = 1
)

// gate is the authorizer of one connection at a time.
//
// Gates are reused, because go-sqlite3 keeps every callback until the connection closes. What belongs to one use is
// set and cleared.
type gate struct {
	callback    func(op int, arg1, arg2, database string) int // g.authorize, made once
	application func(op int, arg1, arg2, database string) int // asked too; may be nil

	statement *sqltext.Statement // that is compiled
	catalog   *catalog           // of the statement
	own       bool               // a text of ours runs
	spliced   bool               // the statement has rules in it, which may read what it may not

	// What the authorizer heard since begin.
	refused   *exec.RefusedError
	reads     []read
	functions []string
}

type read struct{ database, table, column string }

// begin forgets what was heard of the statement before.
func (g *gate) begin() {
	g.refused = nil
	g.reads = g.reads[:0]
	g.functions = g.functions[:0]
}

// authorize is the callback. SQLite calls it while it compiles, on the goroutine of the statement. It must be quick and
// must not use the connection.
func (g *gate) authorize(op int, arg1, arg2, database string) (verdict int) {
	var err error
	defer func() {
		if r := recover(); r != nil {
			err = guard.Refuse("guard", "the authorizer panicked: %v", r)
		}
		if verdict = allow; err != nil {
			verdict = deny
		}
		if err != nil && g.refused == nil && !errors.As(err, &g.refused) {
			g.refused = guard.Refuse("guard", "%v", err)
		}
	}()
	err = g.decide(op, arg1, arg2, database)
	return verdict
}

// decide returns the refusal of what SQLite asks for.
func (g *gate) decide(op int, arg1, arg2, database string) error {
	if g.application != nil && g.application(op, arg1, arg2, database) != allow {
		return guard.Refuse("guard", "the application's own authorizer does not allow it")
	}
	if g.own {
		return nil
	}
	switch op {
	case opSelect, opRecursive:
		return nil
	case opFunction:
		name := schema.FoldCase(arg2)
		g.functions = append(g.functions, name)
		if !g.catalog.functions[name] {
			return guard.Refuse("function", "%s is not allowed here", name)
		}
		return nil
	case opRead:
		g.reads = append(g.reads, read{database, arg1, arg2})
		if r := g.catalog.find(database, arg1); g.spliced && r != nil && r.InRule(arg2) {
			return nil
		}
		return g.catalog.readable(arg1, arg2, database, g.statement)
	case opPragma:
		// FTS5 itself asks for the version of its data. A statement cannot: the text check refuses PRAGMA, and the
		// table function of it is unknown.
		if schema.FoldCase(arg1) == "data_version" && arg2 == "" && g.catalog.fts5 {
			return nil
		}
		return &exec.RefusedError{Reason: "statement", Detail: "it runs PRAGMA " + arg1, Writes: true}
	default:
		return guard.Refuse("not-read-only", "it does more than read: %s", actionName(op, arg1))
	}
}

// heard returns the relations and columns that the authorizer heard of since begin.
func (g *gate) heard() []guard.Read {
	found := guard.ReadSet{}
	for _, heard := range g.reads {
		switch r := g.catalog.find(heard.database, heard.table); {
		case r == nil:
		case heard.column == "":
			found.Add(r)
		default:
			found.Add(r, heard.column)
		}
	}
	return found.Reads()
}

// readable refuses a column that may not be read. The column "" means that only the rows count; then the database is
// often "" too, and the table may be a common table expression. s is the statement.
func (c *catalog) readable(table, column, database string, s *sqltext.Statement) error {
	name := schema.FoldCase(table)
	if column == "" && database == "" {
		detail := c.hidden(table)
		switch {
		case detail == "":
			return nil
		case len(c.named[name]) > 1 && !strings.EqualFold(detail, table+" may not be read"):
			detail += ", and " + table + " could be that one: name its schema"
		}
		return guard.Refuse("table", "%s", detail)
	}
	r := c.find(database, table)
	switch {
	case r == nil && c.functions[name] && len(c.named[name]) == 0 && !c.temp[name]:
		return nil // a table-valued function
	case r == nil:
		return guard.Refuse("table", "%s is no table of the schema", qualified(database, table))
	case !r.Allowed():
		return guard.Refuse("table", "%s may not be read", qualified(database, table))
	case r.Refused != nil:
		return r.Refused
	case r.Denies(column) && slices.ContainsFunc(s.Columns(), func(m sqlshape.ColumnRef) bool {
		return schema.EqualFold(m.Column, column)
	}):
		return execerr.NotReadableColumn(qualified(database, table), column, "")
	case r.Denies(column):
		return execerr.NotReadableColumn(qualified(database, table), column, "*")
	case c.exact && !r.Has(column) && column != "" && !strings.EqualFold(column, "rowid"):
		// SQLite compiles again when the schema changes. The policy was not checked for a column that is new since
		// then.
		return guard.Refuse("column", "%s.%s is no column of the schema", qualified(database, table), column)
	}
	return nil
}

// qualified is the name of a table for a person, with the database unless that is the main one.
func qualified(database, table string) string {
	if database == "" || schema.FoldCase(database) == mainSchema {
		return table
	}
	return database + "." + table
}

// find returns the relation that SQLite means by a name; nil if there is none. The main database comes first.
func (c *catalog) find(database, table string) *guard.Relation {
	named := c.named[schema.FoldCase(table)]
	i := slices.IndexFunc(named, func(r *guard.Relation) bool {
		return database == "" || schema.EqualFold(r.Schema, database)
	})
	if i < 0 {
		return nil
	}
	return named[i]
}

// hidden says which relation called table may not be read, in any database; "" if all may be read or none has the name.
func (c *catalog) hidden(table string) string {
	name := schema.FoldCase(table)
	named := c.named[name]
	if i := slices.IndexFunc(named, func(r *guard.Relation) bool { return !r.Allowed() }); i >= 0 {
		return qualified(named[i].Schema, named[i].Name) + " may not be read"
	}
	if len(named) == 0 && (c.temp[name] || strings.HasPrefix(name, "sqlite_") || strings.HasPrefix(name, "pragma_") ||
		c.modules[name] && !c.functions[name]) {
		return table + " is no table of the schema"
	}
	return ""
}

// asAbsent gives the refusal of a statement the words that an absent table has: those of the first table in its text
// that may not be read. It returns other errors, and all where no table is denied, as they are.
func (c *catalog) asAbsent(s *exec.Statement, err error) error {
	if !c.hides || !exec.IsRejection(err) || errors.Is(err, exec.ErrNotReadOnly) {
		return err
	}
	for _, ref := range s.Tables() {
		name := schema.FoldCase(ref.Name)
		readable := !ref.Base() || c.functions[name] && ref.Schema == ""
		for _, r := range c.named[name] {
			readable = readable || r.Allowed() && (ref.Schema == "" || schema.EqualFold(ref.Schema, r.Schema))
		}
		if !readable {
			return guard.NotReadable(qualified(ref.Schema, ref.Name))
		}
	}
	return err
}

// actions are the names of the action codes from 1 on; "-" for those that are allowed.
var actions = strings.Split("CREATE INDEX,CREATE TABLE,CREATE TEMP INDEX,CREATE TEMP TABLE,CREATE TEMP "+
	"TRIGGER,CREATE TEMP VIEW,"+
	"CREATE TRIGGER,CREATE VIEW,DELETE,DROP INDEX,DROP TABLE,DROP TEMP INDEX,DROP TEMP TABLE,DROP TEMP TRIGGER,DROP "+
	"TEMP VIEW,"+
	"DROP TRIGGER,DROP VIEW,INSERT,-,-,-,TRANSACTION,UPDATE,ATTACH,DETACH,ALTER TABLE,REINDEX,ANALYZE,CREATE VIRTUAL "+
	"TABLE,"+
	"DROP VIRTUAL TABLE,-,SAVEPOINT", ",")

// actionName names an action code for a person.
func actionName(op int, arg1 string) string {
	if op < 1 || op > len(actions) {
		return fmt.Sprintf("action code %d", op)
	}
	return strings.TrimSpace(actions[op-1] + " " + arg1)
}

// safeFunctions are the functions of SQLite that a statement may call. They read only their arguments, change nothing,
// and their memory is bounded by SQLITE_LIMIT_LENGTH. That bound is why these are missing: json_group_array and the
// like ignore it (0.8 GB in 3 s; see catalog.written), json_pretty indents as deep as the text nests, percentile and
// median keep every value, and zeroblob and randomblob.
const safeFunctions = `
-> ->> abs avg char coalesce concat concat_ws count cume_dist current_date current_time
current_timestamp date datetime dense_rank first_value format glob group_concat hex if ifnull iif instr json
json_array json_array_insert json_array_length json_error_position json_extract json_insert json_object json_patch
json_quote json_remove json_replace json_set json_type json_valid jsonb jsonb_array jsonb_array_insert jsonb_extract
jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set julianday lag last_value lead length like
likelihood likely lower ltrim max min nth_value ntile nullif octet_length percent_rank printf quote random rank
replace round row_number rtrim sign soundex strftime string_agg substr substring sum time timediff total trim typeof
unhex unicode unistr unistr_quote unixepoch unlikely upper ` + mathFunctions

// clocks may read the clock, whatever their arguments are: 'now' may be stored. It moves with each step of a statement.
var clocks = guard.Set("current_date current_time current_timestamp date datetime julianday strftime time timediff " +
	"unixepoch")

// searchFunctions belong to full-text search. SQLite lists them as if the application had registered them.
const searchFunctions = "match snippet offsets matchinfo highlight bm25"

// tableFunctions may stand in FROM.
const tableFunctions = "json_each json_tree jsonb_each jsonb_tree"

// callable returns the functions that may be called. A function of the application may do anything, even one that
// replaces a built-in function, so only the policy can allow it. ownMath: those of mathFunctions are ours.
func (s surroundings) callable(allowed []string, ownMath bool) map[string]bool {
	callable := map[string]bool{}
	allow := func(names string) {
		for name := range strings.FieldsSeq(names) {
			callable[name] = true
		}
	}
	allow(safeFunctions)
	for name, builtin := range s.functions {
		if !builtin {
			delete(callable, name)
		}
	}
	if ownMath {
		allow(mathFunctions)
	}
	for module := range s.modules {
		if strings.HasPrefix(module, "fts") {
			allow(searchFunctions)
		}
	}
	allow(tableFunctions)
	for _, entry := range allowed {
		callable[schema.FoldCase(strings.Trim(entry, `"`))] = true
	}
	return callable
}
