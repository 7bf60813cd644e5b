package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
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
	return f.named[schema.FoldCase(name)]
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
	objects, err := guard.Texts(ctx, c.Conn, `SELECT name, tbl_name, rootpage, type, sql FROM main.sqlite_schema
		WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' OR type = 'index'`)
	if err != nil {
		return nil, err
	}
	f := facts{map[string]*guard.Relation{}, map[string]*guard.Relation{}}
	out := &exec.Catalog{Version: version, Own: f, Schema: &schema.Schema{Dialect: "sqlite", Default: "main"}}
	for _, o := range objects {
		if o[3] != "table" && o[3] != "view" {
			continue
		}
		var t schema.Table
		text, broken := guard.Texts(ctx, c.Conn, describe, o[0])
		if broken == nil {
			broken = json.Unmarshal([]byte(text[0][0]), &t)
		}
		if broken != nil && (o[3] == "table" || ctx.Err() != nil) {
			return nil, broken
		}
		t.Name = o[0]
		r := guard.RelationOf("main", &t)
		r.Own, r.View = t.PrimaryKey, o[3] == "view"
		out.Relations = append(out.Relations, r)
		f.named[schema.FoldCase(o[0])], f.roots[o[2]] = r, r
		if broken != nil || !r.View && t.Kind != "table" {
			r.Refused = guard.Refuse("table", "%s cannot be opened, or is a virtual table or a part of one", o[0])
			continue
		}
		out.Schema.Tables = append(out.Schema.Tables, t)
		for _, made := range t.Columns { // of which others, its text says: it may be any
			for _, name := range r.Columns() {
				if made.Generated {
					out.Flows = append(out.Flows, guard.LineageEdge{From: r, Column: name, To: r, As: made.Name})
				}
			}
		}
	}
	for i := range out.Schema.Tables {
		t := &out.Schema.Tables[i]
		t.ForeignKeys = slices.DeleteFunc(t.ForeignKeys, func(key schema.ForeignKey) bool {
			_, ok := out.Schema.Lookup("", key.RefTable)
			return !ok
		})
		for i := range t.ForeignKeys {
			key := &t.ForeignKeys[i]
			target, _ := out.Schema.Lookup("", key.RefTable)
			if key.RefTable = target.Name; key.RefColumns[0] == "" {
				key.RefColumns = target.PrimaryKey
			}
		}
	}
	for _, o := range objects {
		switch r := f.named[schema.FoldCase(o[1])]; {
		case r == nil:
		case o[3] == "index":
			f.roots[o[2]] = r
		case r.View && o[3] == "view":
			r.Definition = query(o[4])
			r.Body = namesOf(sqltext.Dialect{}.Parse(r.Definition), f.find)
			if err := c.callable(r.Body.Functions...); err != nil {
				r.Refused = err
			}
		}
	}
	return out, nil
}

// describe writes a table as [schema.Table] is written in JSON.
const describe = `SELECT json_object('name', name, 'kind', type,
	'definition', (SELECT sql FROM main.sqlite_schema AS s WHERE s.name = l.name AND s.type IN ('table', 'view')),
	'columns', json((SELECT json_group_array(json_object('name', name, 'type', type, 'default', dflt_value,
		'not_null', json(iif("notnull", 'true', 'false')), 'generated', json(iif(hidden > 1, 'true', 'false'))))
		FROM (SELECT * FROM pragma_table_xinfo(l.name, 'main') ORDER BY cid))),
	'primary_key', json((SELECT json_group_array(name)
		FROM (SELECT name FROM pragma_table_xinfo(l.name, 'main') WHERE pk ORDER BY pk))),
	'foreign_keys', json((SELECT json_group_array(json(key)) FROM (SELECT json_object('ref_table', "table",
		'columns', json_group_array("from"), 'ref_columns', json_group_array("to")) AS key
		FROM (SELECT * FROM pragma_foreign_key_list(l.name, 'main') ORDER BY id, seq) GROUP BY id ORDER BY id DESC))),
	'unique', json((SELECT json_group_array(json(names)) FROM (SELECT json_group_array(name) AS names
		FROM (SELECT i.seq, k.name FROM pragma_index_list(l.name, 'main') AS i, pragma_index_info(i.name, 'main') AS k
		WHERE i."unique" AND i.origin <> 'pk' AND NOT i.partial ORDER BY i.seq, k.seqno)
		GROUP BY seq HAVING count(name) = count(*) ORDER BY seq DESC))))
	FROM pragma_table_list(?) AS l WHERE schema = 'main'`

// query returns the query in the definition of a view.
func query(definition string) string {
	for t := range (sqltext.Dialect{}).Tokens(definition) {
		if t.Kind == sqltext.Word && strings.EqualFold(t.Text, "AS") {
			return definition[t.Pos+len(t.Text):]
		}
	}
	return definition
}
