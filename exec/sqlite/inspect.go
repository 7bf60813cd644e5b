package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// inspection reads one database.
type inspection struct {
	ctx      context.Context
	dc       any
	database *database
	policy   exec.Policy

	tables    []schema.Table
	at        map[string]int      // by name: place in tables
	columns   map[string][]string // by name of any relation: all columns, hidden ones too
	room      []schema.Column     // see packed
	texts     map[string]string   // names and types, each once: most tables of a large schema are alike
	generated map[string][]string // by name of a table: its generated columns
	warnings  []trace.Warning
	left      []schema.Omitted
}

func (in *inspection) each(text string, row func(), dest ...any) error {
	return guard.Inspect(in.ctx, in.dc, text, func(scan func(...any) error) error {
		err := scan(dest...)
		if err == nil {
			row()
		}
		return err
	})
}

func (in *inspection) read() error {
	for _, part := range []func() error{in.list, in.readColumns, in.foreignKeys, in.uniques} {
		if err := part(); err != nil {
			return err
		}
	}
	in.drop()
	for i := range in.tables {
		t := &in.tables[i]
		if !strings.Contains(schema.FoldCase(t.Definition), "check") {
			continue // most have none: do not lex them
		}
		for _, condition := range guard.NewText(sqltext.SQLite().Parse(t.Definition)).Checks(t.Definition) {
			guard.NewText(sqltext.SQLite().Parse(condition)).AllowValues(t)
		}
	}
	return nil
}

// relations are the definitions of the tables and views that are not SQLite's own.
func (in *inspection) relations(yield func(definition) bool) {
	for _, d := range in.database.definitions {
		if d.kind != "table" && d.kind != "view" || strings.HasPrefix(schema.FoldCase(d.name), "sqlite_") {
			continue
		}
		if !yield(d) {
			return
		}
	}
}

// list fills in tables, in the order of the schema table.
func (in *inspection) list() error {
	kinds := map[string]string{} // only SQLite knows which tables are shadows
	var name, kind string
	err := in.each("SELECT name, type FROM pragma_table_list WHERE schema = "+literal(in.database.name),
		func() { kinds[name] = kind }, &name, &kind)
	if err != nil {
		return err
	}
	in.at = make(map[string]int, len(kinds))
	for d := range in.relations {
		t := schema.Table{Name: d.name, Definition: d.sql}
		if in.database.name != mainSchema {
			t.Schema = in.database.name
		}
		switch kinds[d.name] {
		case "table":
			t.Kind = "table"
		case "view":
			t.Kind = "view"
		case "virtual":
			t.Kind = "virtual"
		default:
			continue // a shadow table
		}
		in.at[t.Name] = len(in.tables)
		in.tables = append(in.tables, t)
	}
	return nil
}

// readColumns reads the columns of all tables in one statement, then those of views and virtual tables. The second
// statement fails if SQLite cannot open one of them; then each is read by itself.
func (in *inspection) readColumns() error {
	in.columns, in.generated, in.texts = map[string][]string{}, map[string][]string{}, map[string]string{}
	query := `SELECT l.name, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden
		FROM pragma_table_list l, pragma_table_xinfo(l.name, l.schema) c
		WHERE l.schema = ` + literal(in.database.name) + " AND l.type "
	if err := in.columnsOf(query + "IN ('table', 'shadow')"); err != nil {
		return err
	}
	const others = "IN ('view', 'virtual')"
	isTable := func(t schema.Table) bool { return t.Kind == "table" }
	if !slices.ContainsFunc(in.tables, func(t schema.Table) bool { return !isTable(t) }) {
		return nil
	}
	if err := in.columnsOf(query + others); err == nil || in.ctx.Err() != nil {
		return err
	}
	for i := range in.tables {
		t := &in.tables[i]
		if isTable(*t) {
			continue
		}
		t.Columns, t.PrimaryKey, in.columns[t.Name] = nil, nil, nil
		err := in.columnsOf(query + others + " AND l.name = " + literal(t.Name))
		if in.ctx.Err() != nil {
			return err
		}
		if err != nil {
			t.Columns = nil // drop leaves it out
			in.warn(t, err)
		}
	}
	return nil
}

// warn tells of a view or virtual table that SQLite cannot open, unless the policy keeps its name back.
func (in *inspection) warn(t *schema.Table, cause error) {
	code, what, why := "broken-view", "view", ""
	if t.Kind == "virtual" {
		code, what = "broken-table", "virtual table"
	}
	if !in.policy.AllowsTable(in.database.name, t.Name) {
		return
	}
	if !in.policy.Restricts() {
		why = ": " + ownWords(cause)
	}
	in.left = append(in.left, schema.Omitted{
		Item: what, Table: t.TableName(), Reason: "SQLite cannot open it: a table, column or module under it is gone",
	})
	message := "the " + what + " " + t.Name + " is left out of the schema, since SQLite cannot open it" + why
	in.warnings = append(in.warnings, trace.Warning{Code: code, Message: message})
}

func (in *inspection) columnsOf(query string) error {
	const hiddenByModule, generated = 1, 2 // 3 is generated and stored
	var (
		table, of     string
		c             schema.Column
		standard      sql.NullString
		place, hidden int             // place in the primary key, from 1
		names         []string        // of the table of, all
		shown         []schema.Column // of it, that statements see
	)
	flush := func() {
		in.columns[of] = append(in.columns[of], names...)
		if i, ok := in.at[of]; ok && in.tables[i].Columns == nil {
			in.tables[i].Columns = in.packed(shown)
		} else if ok {
			in.tables[i].Columns = append(in.tables[i].Columns, shown...)
		}
		names, shown = names[:0], shown[:0]
	}
	defer flush()
	return in.each(query, func() {
		if table != of {
			flush()
			of = table
		}
		c.Name, c.Type = in.once(c.Name), in.once(c.Type)
		names = append(names, c.Name)
		c.Default, c.Generated = standard.String, hidden >= generated
		if c.Generated {
			in.generated[table] = append(in.generated[table], c.Name)
		}
		i, ok := in.at[table]
		if !ok || hidden == hiddenByModule {
			return
		}
		shown = append(shown, c)
		if t := &in.tables[i]; place > 0 {
			t.PrimaryKey = append(t.PrimaryKey, make([]string, max(0, place-len(t.PrimaryKey)))...)
			t.PrimaryKey[place-1] = c.Name
		}
	}, &table, &c.Name, &c.Type, &c.NotNull, &standard, &place, &hidden)
}

// packedColumns is for how many columns at most room is made at once.
const packedColumns = 1000

// packed copies columns into an array that tables share. Arrays of their own would take a tenth more of memory.
func (in *inspection) packed(columns []schema.Column) []schema.Column {
	if cap(in.room)-len(in.room) < len(columns) {
		in.room = make([]schema.Column, 0, max(len(columns), min(packedColumns, 2*cap(in.room))))
	}
	n := len(in.room)
	in.room = append(in.room, columns...)
	return in.room[n:len(in.room):len(in.room)]
}

// once returns the one copy of a text that the schema keeps.
func (in *inspection) once(text string) string {
	kept, ok := in.texts[text]
	if !ok {
		kept = strings.Clone(text)
		in.texts[kept] = kept
	}
	return kept
}

// drop removes what could not be opened. With a virtual table whose module is missing it removes the shadow tables,
// which SQLite does not recognise then.
func (in *inspection) drop() {
	var lost []string
	for _, t := range in.tables {
		if t.Kind == "virtual" && len(t.Columns) == 0 {
			lost = append(lost, schema.FoldCase(t.Name))
		}
	}
	in.tables = slices.DeleteFunc(in.tables, func(t schema.Table) bool {
		if len(t.Columns) == 0 {
			return true
		}
		return t.Kind == "table" && slices.ContainsFunc(lost, func(name string) bool {
			suffix, ok := strings.CutPrefix(schema.FoldCase(t.Name), name+"_")
			return ok && isShadowSuffix(suffix)
		})
	})
	clear(in.at)
	for i, t := range in.tables {
		in.at[t.Name] = i
	}
}

// isShadowSuffix knows how SQLite's own modules (FTS3, FTS4, FTS5, R-Tree) name their shadow tables.
func isShadowSuffix(suffix string) bool {
	switch suffix {
	case "content", "segments", "segdir", "docsize", "stat", "data", "idx", "config", "node", "rowid", "parent":
		return true
	}
	return false
}

// shapes returns the relations of the database, also those that are not in its schema.
func (in *inspection) shapes() (all []shape) {
	var virtual []string // folded names
	for d := range in.relations {
		s := shape{
			Relation:   guard.NewRelation(in.database.name, d.name, in.columns[d.name]),
			definition: d.sql, virtual: isVirtual(d.sql), generated: in.generated[d.name],
		}
		if !s.virtual {
			s.Compares(func(column string) string {
				if slices.Contains(s.generated, column) {
					return ""
				}
				return "any"
			})
			s.Orders(in.orders(d))
			s.Row = rowidOf(s.Relation, d)
		}
		switch {
		case d.kind == "view":
			s.View, s.Definition, s.virtual = true, d.sql, false
		case s.virtual:
			s.Unruly = "a virtual table, whose module reads rows by itself"
			s.mentions = mentioned(d.sql)
			virtual = append(virtual, schema.FoldCase(d.name))
		}
		all = append(all, s)
	}
	for i := range all {
		s := &all[i]
		for _, of := range virtual {
			if !s.virtual && !s.View && strings.HasPrefix(schema.FoldCase(s.Name), of+"_") {
				s.shadow, s.mentions = true, mentions{names: map[string]bool{of: true}}
			}
		}
	}
	return all
}

// orders says how rows of a table are told apart: see [guard.Relation.Orders]. A column of a primary key may be NULL,
// but for that which stands for the rowid. A value has any type, whatever the declared one.
func (in *inspection) orders(d definition) (key []string, trait func(column string) guard.Trait) {
	i, ok := in.at[d.name]
	if !ok || d.kind == "view" || d.has("collate") {
		return nil, func(string) guard.Trait { return guard.Trait{Sorted: true} }
	}
	t, integers, descends := &in.tables[i], d.has("strict"), d.has("desc")
	isRowid := func(c *schema.Column) bool {
		alone := len(t.PrimaryKey) == 1 && schema.EqualFold(t.PrimaryKey[0], c.Name)
		return alone && schema.EqualFold(c.Type, "integer") && !descends
	}
	key = guard.KeyOf(t, func(c *schema.Column) bool { return !c.Generated && (c.NotNull || isRowid(c)) })
	return key, func(column string) guard.Trait {
		c, ok := t.Column(column)
		if !ok {
			return guard.Trait{Sorted: true}
		}
		of := strings.ToUpper(c.Type)
		switch integer := strings.Contains(of, "INT"); {
		case isRowid(c), integers && integer:
			return guard.Trait{Exact: true, Whole: true, Sorted: true}
		case of == "", !integer && strings.Contains(of, "BLOB"): // it holds 1 and 1.0
			return guard.Trait{Sorted: true}
		}
		return guard.Trait{Exact: true, Sorted: true}
	}
}

// rowidOf is a name of the rowid of a table; "" for one without.
func rowidOf(r *guard.Relation, d definition) string {
	names := []string{"rowid", "_rowid_", "oid"}
	i := slices.IndexFunc(names, func(name string) bool { return !r.Has(name) })
	if i < 0 || d.kind == "view" || d.has("without") {
		return ""
	}
	return names[i]
}

func isVirtual(definition string) bool {
	words := strings.Fields(definition)
	return len(words) > 2 && strings.EqualFold(words[0], "create") && strings.EqualFold(words[1], "virtual")
}

// key is a foreign key or a unique index.
type key struct {
	table, target string
	// columns; to[i] is NULL where a foreign key names none, from[i] where it is an expression
	from, to []sql.NullString
}

// keys reads keys whose rows are the table, the place in the key from 0, the target and a column of both.
func (in *inspection) keys(query string) (all []key, err error) {
	var (
		table, target string
		place         int
		from, to      sql.NullString
	)
	err = in.each(query, func() {
		if len(all) == 0 || place == 0 {
			all = append(all, key{table: table, target: target})
		}
		last := &all[len(all)-1]
		last.from, last.to = append(last.from, from), append(last.to, to)
	}, &table, &place, &target, &from, &to)
	return all, err
}

// foreignKeys reads the foreign keys of all tables.
func (in *inspection) foreignKeys() error {
	// A CREATE text without the word REFERENCES has no key. Looking for it saves most tables a PRAGMA. The ids of keys
	// count from the last one back.
	keys, err := in.keys(`SELECT s.name, f.seq, f."table", f."from", f."to"
		FROM ` + quoted(in.database.name) + `.sqlite_master s, pragma_foreign_key_list(s.name, ` + literal(in.database.name) + `) f
		WHERE s.type = 'table' AND s.sql LIKE '%references%'
		ORDER BY s.rowid, f.id DESC, f.seq`)
	if err != nil {
		return err
	}
	folded := make(map[string]*schema.Table, len(in.tables))
	for i, t := range in.tables {
		folded[schema.FoldCase(t.Name)] = &in.tables[i]
	}
	for _, k := range keys {
		at, ok := in.at[k.table]
		target := folded[schema.FoldCase(k.target)]
		if !ok || target == nil {
			continue
		}
		owner, to := &in.tables[at], target.PrimaryKey
		if k.to[0].String != "" {
			to = texts(k.to)
		}
		found := schema.ForeignKey{
			Columns:   properNames(owner, texts(k.from)),
			RefSchema: target.Schema, RefTable: target.Name, RefColumns: properNames(target, to),
		}
		if found.Columns != nil && len(found.Columns) == len(found.RefColumns) {
			owner.ForeignKeys = append(owner.ForeignKeys, found)
		}
	}
	return nil
}

func texts(values []sql.NullString) (out []string) {
	for _, v := range values {
		out = append(out, v.String)
	}
	return out
}

// properNames returns names as t writes them, nil where t lacks one.
func properNames(t *schema.Table, names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		c, ok := t.Column(name)
		if !ok {
			return nil
		}
		out[i] = c.Name
	}
	return out
}

// uniques reads the unique constraints and unique indexes of all tables, in the order of their making.
func (in *inspection) uniques() error {
	database := ", " + literal(in.database.name) + ") "
	keys, err := in.keys(`SELECT t.name, k.seqno, '', k.name, NULL
		FROM (SELECT DISTINCT tbl_name AS name FROM ` + quoted(in.database.name) + `.sqlite_master WHERE type = 'index') t,
			pragma_index_list(t.name` + database + `i, pragma_index_info(i.name` + database + `k
		WHERE i."unique" AND i.origin <> 'pk' AND NOT i.partial
		ORDER BY t.name, i.seq DESC, k.seqno`)
	for _, k := range keys {
		columns := texts(k.from)
		i, ok := in.at[k.table]
		expression := slices.ContainsFunc(k.from, func(name sql.NullString) bool { return !name.Valid })
		same := func(other []string) bool { return slices.Equal(other, columns) }
		if ok && !expression && !slices.ContainsFunc(in.tables[i].Unique, same) {
			in.tables[i].Unique = append(in.tables[i].Unique, columns)
		}
	}
	return err
}
