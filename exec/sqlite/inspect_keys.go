package sqlite

import (
	"context"
	"database/sql/driver"
	"slices"

	"github.com/texttosql/texttosql/schema"
)

// foreignKeys reads the foreign keys of all tables.
func (in *inspection) foreignKeys(ctx context.Context) error {
	type link struct {
		table    int // place in tables
		id       int64
		target   string
		from, to []string // to[i] is "" where the key names no columns
	}
	var links []link
	// A CREATE text without the word REFERENCES has no key. Looking for it saves most tables a PRAGMA.
	err := each(ctx, in.q, `SELECT s.name, f.id, f."table", f."from", f."to"
		FROM `+in.dialect.Quote(in.database)+`.sqlite_master s, pragma_foreign_key_list(s.name, `+literal(in.database)+`) f
		WHERE s.type = 'table' AND s.sql LIKE '%references%'
		ORDER BY s.rowid, f.id DESC, f.seq`, 5, func(row []driver.Value) { // ids count from the last key back
		table, ok := in.at[text(row[0])]
		if !ok {
			return
		}
		id := integer(row[1])
		if n := len(links); n == 0 || links[n-1].table != table || links[n-1].id != id {
			links = append(links, link{table: table, id: id, target: text(row[2])})
		}
		l := &links[len(links)-1]
		l.from = append(l.from, text(row[3]))
		l.to = append(l.to, text(row[4]))
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
func (in *inspection) uniques(ctx context.Context) error {
	type key struct{ table, index string }
	var (
		last    key
		columns []string
		whole   bool // no expression is among the columns
	)
	finish := func() {
		if i, ok := in.at[last.table]; ok && whole && len(columns) > 0 {
			t := &in.tables[i]
			if !slices.ContainsFunc(t.Unique, func(u []string) bool { return slices.Equal(u, columns) }) {
				t.Unique = append(t.Unique, columns)
			}
		}
	}
	in1 := ", " + literal(in.database) + ") "
	err := each(ctx, in.q, `SELECT t.name, i.name, k.name
		FROM (SELECT DISTINCT tbl_name AS name FROM `+in.dialect.Quote(in.database)+`.sqlite_master WHERE type = 'index') t,
			pragma_index_list(t.name`+in1+`i, pragma_index_info(i.name`+in1+`k
		WHERE i."unique" AND i.origin <> 'pk' AND NOT i.partial
		ORDER BY t.name, i.seq DESC, k.seqno`, 3, func(row []driver.Value) {
		if this := (key{text(row[0]), text(row[1])}); this != last {
			finish()
			last, columns, whole = this, nil, true
		}
		columns = append(columns, text(row[2]))
		whole = whole && row[2] != nil
	})
	finish()
	return err
}
