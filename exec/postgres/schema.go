package postgres

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// schema makes the schema for prompts: the tables, views, materialized views and foreign tables that the connection's
// user may read, in all schemas but the system's and those of temporary tables. Those of the default schema come first
// and have no Schema; then follow the other schemas by name. In a schema tables stand in the order in which they were
// made.
//
// What is read of a table:
//   - Its kind: views and materialized views are "view", all others "table".
//   - Columns that the user may read, with the type as the engine writes it. Values of a column of an enum, or of
//     arrays of one, are its labels. The description of a column of a domain names the type under it. The
//     description of a column of a composite type lists the fields.
//   - The primary key in its own order.
//   - Foreign keys in the order of their making, except those to tables that the user may not read.
//   - Unique constraints and unique indexes, except those on expressions or on a part of the rows.
//   - What a CHECK allows ("kind IN ('bug', 'wish')", of a domain too) as the values of the column.
//   - Comments as descriptions. They are text from the database: clean them before they go into a prompt, as the
//     renderings of package schema do.
//
// Definition is empty: PostgreSQL keeps no CREATE text. Columns with GENERATED … AS IDENTITY have that as Default.
//
// Left out are partitions, whose parent stays, tables without columns, relations that belong to an extension, and
// materialized views without rows, and views over relations that the user whose rights hold may not read: with the
// warning "broken-view".
func (r *reading) schema() *schema.Schema {
	s := &schema.Schema{Dialect: Dialect{}.Language().Name, Default: r.standard, Tables: []schema.Table{}}
	broken := r.broken()
	for _, t := range r.all {
		if why := broken[t.Relation]; t.shown && why != "" {
			r.leaveOut(s, t, why)
		} else if t.shown {
			t.table = &schema.Table{Schema: t.schema, Name: t.name, Kind: "table"}
			if t.schema == r.standard {
				t.table.Schema = ""
			}
			if t.kind == "v" || t.kind == "m" {
				t.table.Kind = "view"
			}
		}
	}
	checks := r.checks()
	r.schemaColumns()
	for of, conditions := range checks {
		if t := r.oids[of]; t != nil && t.table != nil {
			for _, condition := range conditions {
				guard.NewText(sqltext.PostgreSQL().Parse(condition)).AllowValues(t.table)
			}
		}
	}
	r.schemaKeys()
	for _, t := range r.all {
		t.orders()
		r.tellChildren(t)
		if t.table != nil && len(t.table.Columns) > 0 { // nothing can be read from a table without columns
			s.Tables = append(s.Tables, *t.table)
		}
	}
	return s
}

// tellChildren says in the description of a table whose rows it has beside its own. Partitions are no tables of the
// schema.
func (r *reading) tellChildren(t *relation) {
	if t.table == nil || t.kind == "p" {
		return
	}
	var children []string
	for _, child := range t.Holds {
		if r.policy.AllowsTable(child.Schema, child.Name) {
			children = append(children, child.Name)
		}
	}
	if len(children) > 0 {
		t.table.Description = joined("; ", t.table.Description, "has the rows of "+strings.Join(children, ", ")+
			" too, which inherit from it: FROM ONLY leaves them out")
	}
}

func (r *reading) schemaKeys() {
	for _, row := range r.results[readIndexes] {
		t := r.oids[row.oid(0)]
		columns := t.names(row[2])
		if columns == nil {
			continue
		}
		if row.is(1) {
			t.table.PrimaryKey = columns
		} else if !slices.ContainsFunc(t.table.Unique, func(other []string) bool { return slices.Equal(other, columns) }) {
			t.table.Unique = append(t.table.Unique, columns)
		}
	}
	for _, row := range r.results[readKeys] {
		t, to := r.oids[row.oid(0)], r.oids[row.oid(1)]
		key := schema.ForeignKey{Columns: t.names(row[2]), RefColumns: to.names(row[3])}
		if key.Columns == nil || key.RefColumns == nil {
			continue
		}
		key.RefSchema, key.RefTable = to.table.Schema, to.name
		if key.RefSchema == "" && t.table.Schema != "" {
			key.RefSchema = r.standard // none would mean that of the table
		}
		t.table.ForeignKeys = append(t.table.ForeignKeys, key)
	}
}

// broken says why views cannot be read: by what readRelations saw of them, or since they read another one.
func (r *reading) broken() map[*guard.Relation]string {
	broken := map[*guard.Relation]string{}
	for grown := true; grown; {
		grown = false
		for _, t := range r.all {
			why := t.broken
			if t.kind == "v" && slices.ContainsFunc(t.Under, func(u guard.Read) bool { return broken[u.Relation] != "" }) {
				why = cmp.Or(why, "a view under it cannot be read")
			}
			if why != "" && broken[t.Relation] == "" {
				broken[t.Relation], grown = why, true
			}
		}
	}
	return broken
}

// leaveOut tells why a view is not in the schema.
func (r *reading) leaveOut(s *schema.Schema, t *relation, why string) {
	name := schema.TableName{Schema: t.schema, Name: t.name}
	if t.schema == r.standard {
		name.Schema = ""
	}
	s.LeftOut = append(s.LeftOut, schema.Omitted{Item: "view", Table: name, Reason: why})
	if r.policy.AllowsTable(t.schema, t.name) {
		r.warn("broken-view", "the view "+t.name+" is left out of the schema, since "+why)
	}
}

// checks puts what the CHECK of a domain allows into its labels, and returns the conditions of the CHECKs of tables.
func (r *reading) checks() (ofTables map[uint32][]string) {
	ofTables = map[uint32][]string{}
	for _, row := range r.results[readChecks] {
		condition := strings.TrimPrefix(row[2], "CHECK ")
		if table := row.oid(0); table != 0 {
			ofTables[table] = append(ofTables[table], condition)
		} else if of := r.types[row.oid(1)]; of != nil && of.labels == "" {
			if column, values := guard.NewText(sqltext.PostgreSQL().Parse(condition)).CheckValues(); strings.EqualFold(column,
				"value") {
				of.labels = strings.Join(values, ", ")
			}
		}
	}
	return ofTables
}

func (r *reading) schemaColumns() {
	for _, row := range r.results[readColumns] {
		t := r.oids[row.oid(0)]
		if t == nil || t.table == nil || !row.is(8) {
			continue
		}
		t.column(row.number(1)).at = len(t.table.Columns)
		c := schema.Column{Name: row[2], NotNull: row.is(5), Generated: row.is(6), Type: row[9]}
		c.Values, c.Description = r.values(row.oid(3))
		switch row[7] {
		case "a":
			c.Default = "GENERATED ALWAYS AS IDENTITY"
		case "d":
			c.Default = "GENERATED BY DEFAULT AS IDENTITY"
		}
		t.table.Columns = append(t.table.Columns, c)
	}
	for _, row := range r.results[readDefaults] { // the expression of a generated column is none
		if c := r.oids[row.oid(0)].shownColumn(row.number(1)); c != nil && !c.Generated {
			c.Default = row[2]
		}
	}
	for _, row := range r.results[readComments] { // those on relations have the number 0
		t := r.oids[row.oid(0)]
		if c := t.shownColumn(row.number(1)); c != nil {
			c.Description = joined("; ", row[2], c.Description)
		} else if t != nil && t.table != nil && row.number(1) == 0 {
			t.table.Description = row[2]
		}
	}
}

// values tells the labels of an enumeration, of a domain over one or of an array of either, and what a domain is.
func (r *reading) values(id uint32) (labels, about string) {
	t := r.types[id]
	if t != nil && t.category == "A" && t.kind == "b" {
		t = r.types[t.of]
	}
	if t == nil || t.kind != "d" && t.kind != "e" {
		return "", r.fields(t, 0)
	}
	under := t
	for under.kind == "d" {
		about = "domain over " + under.base
		if of := r.types[under.of]; of == nil || of.kind != "d" && of.kind != "e" {
			break
		} else {
			under = of
		}
	}
	return under.labels, joined(": ", about, t.comment)
}

// fields returns the fields of a composite type, with the fields of the types in it; "" for other types and rows of
// tables.
func (r *reading) fields(t *typ, depth int) string {
	if t == nil || r.oids[t.relation] == nil || r.oids[t.relation].kind != "c" || depth > 2 {
		return ""
	}
	var fields []string
	for _, c := range r.oids[t.relation].columns {
		fields = append(fields, joined(" ", c.name, c.written, strings.TrimPrefix(r.fields(r.types[c.of], depth+1),
			"fields ")))
	}
	return "fields (" + strings.Join(fields, ", ") + ")"
}

// joined joins the texts that are not empty.
func joined(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), separator)
}

// shownColumn returns a column of the schema by its number, nil where it is not in it.
func (t *relation) shownColumn(number int) *schema.Column {
	if t == nil || t.table == nil {
		return nil
	}
	if c := t.column(number); c != nil && c.at >= 0 {
		return &t.table.Columns[c.at]
	}
	return nil
}

// names returns the names of the columns "1,3", nil where one is not in the schema.
func (t *relation) names(numbers string) (names []string) {
	for text := range strings.SplitSeq(numbers, ",") {
		number, err := strconv.Atoi(text)
		c := t.shownColumn(number)
		if err != nil || c == nil {
			return nil
		}
		names = append(names, c.Name)
	}
	return names
}
