package sqlite

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
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

	facts     *facts
	temp      map[string]bool
	own       bool // a text of ours runs
	listening bool // and what it reads is noted

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
		if g.listening && op == opRead {
			g.reads = append(g.reads, read{database, arg1, arg2})
		}
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
		if schema.Fold(arg1) == "data_version" && arg2 == "" && g.facts.fts5 {
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
	if !g.facts.functions[name] {
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
			if len(g.facts.named[name]) > 1 && !strings.EqualFold(detail, table+" may not be read") {
				detail += ", and " + table + " could be that one: name its schema"
			}
			return g.refuse(exec.ReasonTable, detail, false)
		}
		return allow
	}
	r := g.facts.relations[schema.Fold(database)][name]
	switch {
	case r == nil && g.facts.functions[name] && len(g.facts.named[name]) == 0 && !g.temp[name]:
		return allow // a table-valued function
	case r == nil:
		return g.refuse(exec.ReasonTable, qualified(database, table)+" is no table of the schema", false)
	case kindOf(r).hidden:
		return g.refuse(exec.ReasonTable, qualified(database, table)+" may not be read", false)
	case kindOf(r).denied[schema.Fold(column)]:
		return g.refuse(exec.ReasonColumn, qualified(database, table)+"."+column+" may not be read", false)
	case g.facts.strict && !has(r, column):
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
	named := g.facts.named[name]
	if i := slices.IndexFunc(named, func(r *guard.Relation) bool { return kindOf(r).hidden }); i >= 0 {
		return qualified(named[i].Schema, named[i].Name) + " may not be read"
	}
	if len(named) == 0 && (g.temp[name] || strings.HasPrefix(name, "sqlite_") || strings.HasPrefix(name, "pragma_") ||
		g.facts.modules[name] && !g.facts.functions[name]) {
		return table + " is no table of the schema"
	}
	return ""
}

// unnamed refuses the first table of a statement that may not be read. The words are the same for a table that does not
// exist.
func (g *gate) unnamed(s *sqltext.Statement) *exec.RefusedError {
	for _, ref := range s.Tables() {
		name := schema.Fold(ref.Name)
		readable := !ref.Base() || g.facts.functions[name] && ref.Schema == ""
		for _, r := range g.facts.named[name] {
			readable = readable || !kindOf(r).hidden && (ref.Schema == "" || schema.EqualFold(ref.Schema, r.Schema))
		}
		if !readable {
			return guard.NotReadable(qualified(ref.Schema, ref.Name))
		}
	}
	return nil
}

// vet refuses what SQLite does not tell the authorizer. A column that only USING or a NATURAL join names makes no READ
// callback (SQLite 3.40 to 3.53), nor does a table that is named only there; guesses could be joined to it. INDEXED BY
// orders rows by columns that it does not name. So with these words, everything that the text and its views name has to
// be readable.
func (g *gate) vet(text string) *exec.RefusedError {
	if !maySilence(text) && !g.facts.silentViews {
		return nil
	}
	m := mentioned(text)
	names := slices.Sorted(maps.Keys(m.names))
	for i := 0; i < len(names); i++ {
		for _, r := range g.facts.named[names[i]] {
			words := kindOf(r).words
			if !r.View {
				continue
			}
			m.natural = m.natural || words.natural
			m.indexed = m.indexed || words.indexed
			m.using = append(m.using, words.using...)
			for _, name := range slices.Sorted(maps.Keys(words.names)) {
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
		for _, r := range g.facts.named[name] {
			for _, column := range slices.Sorted(maps.Keys(kindOf(r).denied)) {
				if m.natural || m.indexed || slices.Contains(m.using, column) {
					return &exec.RefusedError{Reason: exec.ReasonColumn, Detail: "USING, NATURAL or INDEXED BY may use " + qualified(r.Schema, r.Name) + "." + column}
				}
			}
		}
	}
	return nil
}

// seen returns what was heard since begin.
func (g *gate) seen() guard.Seen {
	functions := append([]string{}, g.functions...)
	slices.Sort(functions)
	return guard.Seen{Reads: g.facts.read(g.reads), Functions: slices.Compact(functions)}
}

// read makes of what was heard what is read of each relation.
func (f *facts) read(heard []read) []guard.Read {
	reads := []guard.Read{}
	at := map[*guard.Relation]int{}
	for _, heard := range heard {
		name := schema.Fold(heard.table)
		r := f.relations[schema.Fold(heard.database)][name]
		if r == nil && heard.database == "" && len(f.named[name]) > 0 {
			r = f.named[name][0] // the main database comes first
		}
		if r == nil {
			continue
		}
		i, ok := at[r]
		if !ok {
			i = len(reads)
			at[r] = i
			reads = append(reads, guard.Read{Relation: r})
		}
		if heard.column != "" {
			reads[i].Columns = append(reads[i].Columns, heard.column)
		}
	}
	for i := range reads {
		slices.Sort(reads[i].Columns)
		reads[i].Columns = slices.Compact(reads[i].Columns)
	}
	slices.SortFunc(reads, func(a, b guard.Read) int {
		return cmp.Or(strings.Compare(a.Relation.Schema, b.Relation.Schema), strings.Compare(a.Relation.Name, b.Relation.Name))
	})
	return reads
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
