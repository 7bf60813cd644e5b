package linker

import (
	"context"
	"slices"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// Conversation makes another linker follow a conversation. It adds two kinds of tables to the result of Linker:
//   - the tables that the previous statement reads, since a follow-up seldom names them again. The statement is the
//     last one in Input.Earlier, and the engine returns its tables. Without a DB, or if the engine rejects the
//     statement, they come from its text;
//   - the tables that corrections select, join, or use to define a word. For joins and words it also adds the
//     columns.
//
// It removes tables that a correction rejects; [schema.Schema.Restrict] adds one again if it joins two others. If
// Linker keeps the whole schema, so does Conversation. If Linker has no opinion, as Lexical about "and in 2004?",
// Conversation links only the tables of the previous statement. Without a previous statement it has no opinion
// either. Without corrections and earlier questions it returns the links of Linker. It calls no model itself, and
// compiles one statement. Safe for concurrent use if Linker is.
type Conversation struct{ Linker Linker }

// Link calls Linker first, and fails if Linker fails or if ctx has ended.
func (c Conversation) Link(ctx context.Context, in Input) (schema.Links, error) {
	links, err := c.Linker.Link(ctx, in)
	if err != nil || links.Whole {
		return links, err
	}
	if n := len(in.Earlier); n > 0 {
		read, err := PreSQL{}.readStatement(ctx, in, in.Earlier[n-1].SQL)
		if err != nil {
			return links, err
		}
		links = merge(links, tablesOnly(read))
	}
	if len(links.Tables) == 0 {
		return links, nil
	}
	for _, x := range in.Corrections {
		links = correct(links, in.Schema, x)
	}
	return links, nil
}

// correct applies one correction. A column that it names is added where a table is linked with some of its columns.
func correct(links schema.Links, s *schema.Schema, c session.Correction) schema.Links {
	add := func(name schema.TableName, column string) {
		t, ok := s.Lookup(name.Schema, name.Name)
		if !ok {
			return
		}
		links = unite(links, schema.Links{Tables: []schema.TableLink{{Schema: t.Schema, Table: t.Name, Score: 1}}})
		for i := range links.Tables {
			l := &links.Tables[i]
			if column != "" && len(l.Columns) > 0 && sameTable(l.Schema, l.Table, t.Schema, t.Name) {
				l.Columns = union(l.Columns, []string{column})
			}
		}
	}
	for _, t := range c.Tables {
		add(t, "")
	}
	if c.Join != nil {
		add(c.Join.Left.Table, c.Join.Left.Column)
		add(c.Join.Right.Table, c.Join.Right.Column)
	}
	if c.Column != nil {
		add(c.Column.Table, c.Column.Column)
	}
	links.Tables = slices.DeleteFunc(slices.Clone(links.Tables), func(l schema.TableLink) bool {
		return slices.ContainsFunc(c.Rejected, func(r schema.TableName) bool {
			t, ok := s.Lookup(r.Schema, r.Name)
			return ok && sameTable(l.Schema, l.Table, t.Schema, t.Name)
		})
	})
	return links
}
