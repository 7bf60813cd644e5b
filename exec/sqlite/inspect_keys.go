package sqlite

import (
	"database/sql"
	"slices"

	"github.com/texttosql/texttosql/schema"
)

// key is a foreign key or a unique index.
type key struct {
	table, target string
	from, to      []sql.NullString // columns; to[i] is NULL where a foreign key names none, from[i] where it is an expression
}

// keys reads keys whose rows are the table, the place in the key from 0, the target and a column of both.
func (in *inspection) keys(query string) (all []key, err error) {
	err = in.each(query, func(scan func(...any) error) error {
		var (
			k        key
			place    int
			from, to sql.NullString
		)
		if err := scan(&k.table, &place, &k.target, &from, &to); err != nil {
			return err
		}
		if len(all) == 0 || place == 0 {
			all = append(all, k)
		}
		last := &all[len(all)-1]
		last.from, last.to = append(last.from, from), append(last.to, to)
		return nil
	})
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
		folded[schema.Fold(t.Name)] = &in.tables[i]
	}
	for _, k := range keys {
		at, ok := in.at[k.table]
		target := folded[schema.Fold(k.target)]
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
