package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// facts is what the guard knows of a schema beside its [guard.Catalog].
type facts struct {
	named map[string]*guard.Relation // by folded name
	roots map[string]*guard.Relation // by the first page of a table or of an index of it
}

func (f facts) find(in, name string) *guard.Relation {
	if in != "" && !schema.EqualFold(in, "main") {
		return nil
	}
	return f.named[schema.Fold(name)]
}

// Version implements [exec.Conn].
func (c *connection) Version(ctx context.Context) (string, error) {
	rows, err := guard.Texts(ctx, c.Conn, "SELECT type, quote(name), rootpage, quote(sql) FROM main.sqlite_schema")
	return fmt.Sprintf("%.8x", sha256.Sum256(fmt.Append(nil, rows))), err
}

// Catalog implements [exec.Conn].
func (c *connection) Catalog(ctx context.Context) (*exec.Catalog, error) {
	version, err := c.Version(ctx)
	if err != nil {
		return nil, err
	}
	objects, err := guard.Texts(ctx, c.Conn, `SELECT name, tbl_name, rootpage, sql, type,
		(SELECT type FROM pragma_table_list(o.name) WHERE schema = 'main')
		FROM main.sqlite_schema AS o WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' OR type = 'index'`)
	if err != nil {
		return nil, err
	}
	f := facts{map[string]*guard.Relation{}, map[string]*guard.Relation{}}
	out := &exec.Catalog{Version: version, Own: f, Schema: &schema.Schema{Dialect: "sqlite", Default: "main"}}
	for _, o := range objects {
		if o[4] != "table" && o[4] != "view" {
			continue
		}
		t := schema.Table{Name: o[0], Kind: o[5], Definition: o[3]}
		names, broken := c.columns(ctx, &t)
		if broken != nil && (t.Kind == schema.BaseTable || ctx.Err() != nil) {
			return nil, broken
		}
		r := guard.NewRelation("main", t.Name, names)
		r.Own, r.View = t.PrimaryKey, t.Kind == schema.View
		out.Relations = append(out.Relations, r)
		f.named[schema.Fold(t.Name)], f.roots[o[2]] = r, r
		if broken != nil || !r.View && t.Kind != schema.BaseTable {
			r.Refused = guard.Refuse(exec.ReasonTable, "%s cannot be opened, or is a virtual table or a part of one", t.Name)
			continue
		}
		out.Schema.Tables = append(out.Schema.Tables, t)
		for _, made := range t.Columns { // of which others, its text says: it may be any
			for _, name := range names {
				if made.Generated {
					out.Flows = append(out.Flows, guard.Flow{From: r, Column: name, To: r, As: made.Name})
				}
			}
		}
	}
	for i := range out.Schema.Tables {
		if err := c.keys(ctx, out.Schema, &out.Schema.Tables[i]); err != nil {
			return nil, err
		}
	}
	for _, o := range objects {
		switch r := f.named[schema.Fold(o[1])]; {
		case r == nil:
		case o[4] == "index":
			f.roots[o[2]] = r
		case r.View:
			r.Definition = query(o[3])
			r.Body = namesOf(sqltext.Dialect{}.Parse(r.Definition), f.find)
			if err := c.callable(r.Body.Functions...); err != nil {
				r.Refused = err
			}
		}
	}
	return out, nil
}

// query returns the query in the definition of a view.
func query(definition string) string {
	for t := range (sqltext.Dialect{}).Tokens(definition) {
		if t.Kind == sqltext.Word && strings.EqualFold(t.Text, "AS") {
			return definition[t.Pos+len(t.Text):]
		}
	}
	return definition
}

// columns reads the columns of a table and its primary key.
func (c *connection) columns(ctx context.Context, t *schema.Table) (names []string, err error) {
	rows, err := guard.Texts(ctx, c.Conn, `SELECT name, type, dflt_value, "notnull", hidden
		FROM pragma_table_xinfo(?, 'main') ORDER BY cid`, t.Name)
	for _, o := range rows {
		names = append(names, o[0])
		t.Columns = append(t.Columns, schema.Column{
			Name: o[0], Type: o[1], Default: o[2], NotNull: o[3] == "1", Generated: o[4] > "1",
		})
	}
	if err != nil {
		return names, err
	}
	keys, err := guard.Texts(ctx, c.Conn, "SELECT name FROM pragma_table_xinfo(?, 'main') WHERE pk ORDER BY pk", t.Name)
	for _, o := range keys {
		t.PrimaryKey = append(t.PrimaryKey, o[0])
	}
	return names, err
}

// keys reads the foreign keys and the unique columns of a table.
func (c *connection) keys(ctx context.Context, s *schema.Schema, t *schema.Table) error {
	foreign, err := guard.Texts(ctx, c.Conn, `SELECT seq, "table", "from", "to" FROM pragma_foreign_key_list(?, 'main')
		ORDER BY id DESC, seq`, t.Name)
	if err != nil {
		return err
	}
	for _, o := range foreign {
		target, ok := s.Lookup("", o[1])
		if !ok {
			continue
		}
		if o[0] == "0" {
			t.ForeignKeys = append(t.ForeignKeys, schema.ForeignKey{RefTable: target.Name})
		}
		key := &t.ForeignKeys[len(t.ForeignKeys)-1]
		key.Columns, key.RefColumns = append(key.Columns, o[2]), append(key.RefColumns, o[3])
		if o[3] == "" {
			key.RefColumns = target.PrimaryKey
		}
	}
	unique, err := guard.Texts(ctx, c.Conn, `SELECT k.seqno, k.name
		FROM pragma_index_list(?, 'main') i, pragma_index_info(i.name, 'main') k
		WHERE i."unique" AND i.origin <> 'pk' AND NOT i.partial ORDER BY i.seq DESC, k.seqno`, t.Name)
	for _, o := range unique {
		if o[0] == "0" {
			t.Unique = append(t.Unique, nil)
		}
		t.Unique[len(t.Unique)-1] = append(t.Unique[len(t.Unique)-1], o[1])
	}
	return err
}
