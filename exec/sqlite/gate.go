package sqlite

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Action codes of sqlite3_set_authorizer. The first four can be allowed; the others are here for their names.
const (
	opRead      = 20
	opSelect    = 21
	opFunction  = 31
	opRecursive = 33

	opPragma = 19
)

// Results of an authorizer.
const (
	allow = 0
	deny  = 1
)

// gate is the authorizer of one connection at a time.
//
// Gates are reused, because go-sqlite3 keeps every callback until the connection closes. What belongs to one hold is
// set and cleared.
type gate struct {
	callback    func(op int, arg1, arg2, database string) int // g.authorize, made once
	application func(op int, arg1, arg2, database string) int // asked too; may be nil

	catalog *catalog
	temp    map[string]bool
	own     bool // a text of ours runs

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
	defer func() {
		if r := recover(); r != nil {
			g.refuse(exec.ReasonGuard, fmt.Sprint("the authorizer panicked: ", r), false)
			verdict = deny
		}
	}()
	if g.application != nil && g.application(op, arg1, arg2, database) != allow {
		return g.refuse(exec.ReasonGuard, "the application's own authorizer does not allow it", false)
	}
	if g.own {
		return allow
	}
	switch op {
	case opSelect, opRecursive:
		return allow
	case opFunction:
		return g.function(schema.Fold(arg2))
	case opRead:
		return g.read(arg1, arg2, database)
	case opPragma:
		// FTS5 itself asks for the version of its data. A statement cannot: the text check refuses PRAGMA, and the
		// table function of it is unknown.
		if schema.Fold(arg1) == "data_version" && arg2 == "" && g.catalog.fts5 {
			return allow
		}
		return g.refuse(exec.ReasonStatement, "it runs PRAGMA "+arg1, true)
	default:
		return g.refuse(sqltext.ReasonNotReadOnly, "it does more than read: "+actionName(op, arg1), true)
	}
}

func (g *gate) refuse(rule sqltext.Reason, detail string, writes bool) int {
	if g.refused == nil {
		g.refused = &exec.RefusedError{Reason: rule, Detail: detail, Writes: writes}
	}
	return deny
}

func (g *gate) function(name string) int {
	g.functions = append(g.functions, name)
	if !g.catalog.functions[name] {
		return g.refuse(exec.ReasonFunction, "the function "+name+" is not on the list; Policy.AllowFunctions adds to it", false)
	}
	return allow
}

// read decides on a column. The column "" means that only the rows count; then database is often "" too, and table may
// be a common table expression.
func (g *gate) read(table, column, database string) int {
	g.reads = append(g.reads, read{database, table, column})
	name := schema.Fold(table)
	if column == "" && database == "" {
		if detail := g.hidden(table); detail != "" {
			if len(g.catalog.named[name]) > 1 && !strings.EqualFold(detail, table+" may not be read") {
				detail += ", and " + table + " could be that one: name its schema"
			}
			return g.refuse(exec.ReasonTable, detail, false)
		}
		return allow
	}
	r := g.catalog.relations[schema.Fold(database)][name]
	switch {
	case r == nil && g.catalog.functions[name] && len(g.catalog.named[name]) == 0 && !g.temp[name]:
		return allow // a table-valued function
	case r == nil:
		return g.refuse(exec.ReasonTable, qualified(database, table)+" is no table of the schema", false)
	case !r.allowed:
		return g.refuse(exec.ReasonTable, qualified(database, table)+" may not be read", false)
	case r.denied[schema.Fold(column)]:
		return g.refuse(exec.ReasonColumn, qualified(database, table)+"."+column+" may not be read", false)
	case !r.has(schema.Fold(column)):
		// SQLite compiles again when the schema changes. The policy was not checked for a column that is new since
		// then.
		return g.refuse(exec.ReasonColumn, qualified(database, table)+"."+column+" is no column of the schema", false)
	}
	return allow
}

// qualified is the name of a table for a person, with the database unless that is the main one.
func qualified(database, table string) string {
	if database == "" || schema.Fold(database) == "main" {
		return table
	}
	return database + "." + table
}

// hidden says which relation called table may not be read, in any database; "" if all may be read or none has the name.
func (g *gate) hidden(table string) string {
	name := schema.Fold(table)
	named := g.catalog.named[name]
	if i := slices.IndexFunc(named, func(r *relation) bool { return !r.allowed }); i >= 0 {
		return qualified(named[i].database, named[i].name) + " may not be read"
	}
	if len(named) == 0 && (g.temp[name] || strings.HasPrefix(name, "sqlite_") || strings.HasPrefix(name, "pragma_") ||
		g.catalog.modules[name] && !g.catalog.functions[name]) {
		return table + " is no table of the schema"
	}
	return ""
}

// unnamed refuses the first table of a statement that may not be read. The words are the same for a table that does not
// exist.
func (g *gate) unnamed(s *sqltext.Statement) *exec.RefusedError {
	for _, ref := range s.Tables() {
		name := schema.Fold(ref.Name)
		readable := !ref.Base() || g.catalog.functions[name] && ref.Schema == ""
		for _, r := range g.catalog.named[name] {
			readable = readable || r.allowed && (ref.Schema == "" || schema.EqualFold(ref.Schema, r.database))
		}
		if !readable {
			return &exec.RefusedError{Reason: exec.ReasonTable, Detail: qualified(ref.Schema, ref.Name) + " is no table that may be read"}
		}
	}
	return nil
}

// vet refuses what SQLite does not tell the authorizer. A column that only USING or a NATURAL join names makes no READ
// callback (SQLite 3.40 to 3.53), nor does a table that is named only there; guesses could be joined to it. INDEXED BY
// orders rows by columns that it does not name. So with these words, everything that the text and its views name has to
// be readable.
func (g *gate) vet(text string) *exec.RefusedError {
	if !maySilence(text) && !g.catalog.silentViews {
		return nil
	}
	m := mentioned(text)
	names := slices.Sorted(maps.Keys(m.names))
	for i := 0; i < len(names); i++ {
		for _, r := range g.catalog.named[names[i]] {
			if r.kind != view {
				continue
			}
			m.natural = m.natural || r.words.natural
			m.indexed = m.indexed || r.words.indexed
			m.using = append(m.using, r.words.using...)
			for _, name := range slices.Sorted(maps.Keys(r.words.names)) {
				if !m.names[name] {
					m.names[name] = true
					names = append(names, name)
				}
			}
		}
	}
	if !m.silent() {
		return nil
	}
	for _, name := range names {
		if detail := g.hidden(name); detail != "" {
			return &exec.RefusedError{Reason: exec.ReasonTable, Detail: detail + ", and USING, NATURAL and INDEXED BY do not name what they read: use ON"}
		}
		for _, r := range g.catalog.named[name] {
			for _, column := range slices.Sorted(maps.Keys(r.denied)) {
				if m.natural || m.indexed || slices.Contains(m.using, column) {
					return &exec.RefusedError{Reason: exec.ReasonColumn, Detail: "USING, NATURAL or INDEXED BY may use " + qualified(r.database, r.name) + "." + column}
				}
			}
		}
	}
	return nil
}

// analysis returns what was heard since begin.
func (g *gate) analysis() exec.Analysis {
	a := exec.Analysis{Kind: "select", Tables: []exec.TableRead{}, Functions: append([]string{}, g.functions...)}
	slices.Sort(a.Functions)
	a.Functions = slices.Compact(a.Functions)
	at := map[*relation]int{}
	for _, heard := range g.reads {
		name := schema.Fold(heard.table)
		r := g.catalog.relations[schema.Fold(heard.database)][name]
		if r == nil && heard.database == "" && len(g.catalog.named[name]) > 0 {
			r = g.catalog.named[name][0] // the main database comes first
		}
		if r == nil {
			continue
		}
		i, ok := at[r]
		if !ok {
			i = len(a.Tables)
			at[r] = i
			a.Tables = append(a.Tables, exec.TableRead{Schema: r.database, Table: r.name})
		}
		if heard.column != "" {
			a.Tables[i].Columns = append(a.Tables[i].Columns, heard.column)
		}
	}
	for i := range a.Tables {
		slices.Sort(a.Tables[i].Columns)
		a.Tables[i].Columns = slices.Compact(a.Tables[i].Columns)
	}
	slices.SortFunc(a.Tables, func(a, b exec.TableRead) int {
		return cmp.Or(strings.Compare(a.Schema, b.Schema), strings.Compare(a.Table, b.Table))
	})
	return a
}

// actions are the names of the action codes from 1 on; "-" for those that are allowed.
var actions = strings.Split("CREATE INDEX,CREATE TABLE,CREATE TEMP INDEX,CREATE TEMP TABLE,CREATE TEMP TRIGGER,CREATE TEMP VIEW,"+
	"CREATE TRIGGER,CREATE VIEW,DELETE,DROP INDEX,DROP TABLE,DROP TEMP INDEX,DROP TEMP TABLE,DROP TEMP TRIGGER,DROP TEMP VIEW,"+
	"DROP TRIGGER,DROP VIEW,INSERT,-,-,-,TRANSACTION,UPDATE,ATTACH,DETACH,ALTER TABLE,REINDEX,ANALYZE,CREATE VIRTUAL TABLE,"+
	"DROP VIRTUAL TABLE,-,SAVEPOINT", ",")

// actionName names an action code for a person.
func actionName(op int, arg1 string) string {
	if op < 1 || op > len(actions) {
		return fmt.Sprintf("action code %d", op)
	}
	return strings.TrimSpace(actions[op-1] + " " + arg1)
}
