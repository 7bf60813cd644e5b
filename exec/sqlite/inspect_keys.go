package sqlite

import (
	"database/sql"
	"slices"

	"github.com/texttosql/texttosql/schema"
)

// foreignKeys reads the foreign keys of all tables.
func (in *inspection) foreignKeys() error {
	type link struct {
		table    int // place in tables
		target   string
		from, to []string // to[i] is "" where the key names no columns
	}
	var links []link
	// A CREATE text without the word REFERENCES has no key. Looking for it saves most tables a PRAGMA.
	err := in.each(`SELECT s.name, f.seq, f."table", f."from", f."to"
		FROM `+quoted(in.database.name)+`.sqlite_master s, pragma_foreign_key_list(s.name, `+literal(in.database.name)+`) f
		WHERE s.type = 'table' AND s.sql LIKE '%references%'
		ORDER BY s.rowid, f.id DESC, f.seq`, func(scan func(...any) error) error { // ids count from the last key back
		var (
			name, target, from string
			to                 sql.NullString
			seq                int
		)
		if err := scan(&name, &seq, &target, &from, &to); err != nil {
			return err
		}
		table, ok := in.at[name]
		if !ok {
			return nil
		}
		if len(links) == 0 || seq == 0 { // the first column of a key
			links = append(links, link{table: table, target: target})
		}
		l := &links[len(links)-1]
		l.from = append(l.from, from)
		l.to = append(l.to, to.String)
		return nil
	})
	if err != nil {
		return err
	}
	folded := make(map[string]int, len(in.tables))
	for i, t := range in.tables {
		folded[schema.Fold(t.Name)] = i
	}
	for _, l := range links {
		at, ok := folded[schema.Fold(l.target)]
		if !ok {
			continue
		}
		owner, target := &in.tables[l.table], &in.tables[at]
		to := l.to
		if to[0] == "" {
			to = target.PrimaryKey
		}
		key := schema.ForeignKey{
			Columns:    properNames(owner, l.from),
			RefSchema:  target.Schema,
			RefTable:   target.Name,
			RefColumns: properNames(target, to),
		}
		if key.Columns != nil && len(key.Columns) == len(key.RefColumns) {
			owner.ForeignKeys = append(owner.ForeignKeys, key)
		}
	}
	return nil
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
	type unique struct {
		table   string
		columns []string
		whole   bool // no expression is among the columns
	}
	var found []unique
	in1 := ", " + literal(in.database.name) + ") "
	err := in.each(`SELECT t.name, k.seqno, k.name
		FROM (SELECT DISTINCT tbl_name AS name FROM `+quoted(in.database.name)+`.sqlite_master WHERE type = 'index') t,
			pragma_index_list(t.name`+in1+`i, pragma_index_info(i.name`+in1+`k
		WHERE i."unique" AND i.origin <> 'pk' AND NOT i.partial
		ORDER BY t.name, i.seq DESC, k.seqno`, func(scan func(...any) error) error {
		var (
			table  string
			column sql.NullString
			seq    int
		)
		if err := scan(&table, &seq, &column); err != nil {
			return err
		}
		if len(found) == 0 || seq == 0 { // the first column of an index
			found = append(found, unique{table: table, whole: true})
		}
		u := &found[len(found)-1]
		u.columns = append(u.columns, column.String)
		u.whole = u.whole && column.Valid
		return nil
	})
	for _, u := range found {
		same := func(other []string) bool { return slices.Equal(other, u.columns) }
		if i, ok := in.at[u.table]; ok && u.whole && !slices.ContainsFunc(in.tables[i].Unique, same) {
			in.tables[i].Unique = append(in.tables[i].Unique, u.columns)
		}
	}
	return err
}
