package linker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// readStatement links what one statement reads. The engine says what that is; if it rejects the statement, the text
// says it. The links name the columns read.
func (p PreSQL) readStatement(ctx context.Context, in Input, sql string) (schema.Links, error) {
	if in.DB == nil {
		return readText(in, sqltext.Dialect{}, sql), ctx.Err()
	}
	analyze := p.Analyze
	if analyze == nil {
		analyze = in.DB.Analyze
	}
	analysis, err := analyze(ctx, sql)
	if cerr := ctx.Err(); cerr != nil {
		return schema.Links{}, cerr
	}
	if err == nil {
		return readAnalysis(in, analysis, sql, p.Columns), nil
	}
	links := readText(in, in.DB.Language().Text, sql)
	why := "the engine rejects the preliminary SQL"
	var invalid *exec.InvalidError
	if errors.As(err, &invalid) {
		why += fmt.Sprintf(" (%s)", invalid.Fault)
	}
	links.Notes = append([]string{why + ": its names are read from the text"}, links.Notes...)
	return links, nil
}

// readAnalysis links what the engine says.
func readAnalysis(in Input, a exec.Analysis, sql string, columns bool) schema.Links {
	var links schema.Links
	for _, read := range a.Tables {
		name := read.Schema
		if strings.EqualFold(name, in.Schema.Default) {
			name = ""
		}
		t, ok := in.Schema.Lookup(name, read.Table)
		if !ok {
			continue // a table of the engine, or one that the caller left out of the schema
		}
		links = merge(links, schema.Links{Tables: []schema.TableLink{{
			Schema: t.Schema, Table: t.Name, Columns: readColumns(t, read.Columns), Score: 1,
		}}})
	}
	if columns {
		// The engine does not tell the columns of USING and NATURAL.
		addTextColumns(in, &links, in.DB.Language().Text.Parse(sql).Columns(), false)
	}
	return links
}

// readColumns keeps the columns that t has, as t writes them. If a statement reads none, as count(*) does, it returns
// the key, because no column would mean every column.
func readColumns(t *schema.Table, names []string) []string {
	var known []string
	for _, name := range names {
		if c, ok := t.Column(name); ok {
			known = append(known, c.Name)
		}
	}
	if len(known) == 0 {
		return keyOf(t)
	}
	return known
}

func keyOf(t *schema.Table) []string {
	if len(t.PrimaryKey) > 0 {
		return t.PrimaryKey
	}
	if len(t.Columns) > 0 {
		return []string{t.Columns[0].Name}
	}
	return nil
}

// readText links the names in a statement, within the longest statement that is read.
func readText(in Input, d sqltext.Dialect, sql string) schema.Links {
	var links schema.Links
	sql = sql[:min(len(sql), sqlshape.MaxStatement)]
	aliases := map[string]bool{}
	statement := d.Parse(sql)
	refs := statement.Tables()
	for _, r := range refs {
		if r.Alias != "" {
			aliases[strings.ToLower(r.Alias)] = true
		}
		if r.CTE || r.Function {
			aliases[strings.ToLower(r.Name)] = true
		}
	}
	link := func(schemaName, name string) {
		t, note := resolveTable(in.Schema, schemaName, name)
		if note != "" {
			links.Notes = append(links.Notes, note)
		}
		if t != nil {
			links = merge(links, schema.Links{Tables: []schema.TableLink{{
				Schema: t.Schema, Table: t.Name, Columns: keyOf(t), Score: 1,
			}}})
		}
	}
	for _, r := range refs {
		if r.Base() {
			link(r.Schema, r.Name)
		}
	}
	columns := statement.Columns()
	for _, c := range columns {
		// A dotted name may belong to a table that FROM forgot.
		if q := c.Qualifier; q != "" && c.Table == "" && !strings.Contains(q, ".") && !aliases[strings.ToLower(q)] {
			if t, _ := resolveTable(in.Schema, "", q); t != nil {
				link("", q)
			}
		}
	}
	addTextColumns(in, &links, columns, true)
	return links
}

// addTextColumns adds the columns mentioned in a text to the linked tables. With guess, a name that no linked table has
// is resolved.
func addTextColumns(in Input, links *schema.Links, refs []sqlshape.ColumnRef, guess bool) {
	for _, ref := range refs {
		if ref.Column == "" || ref.Column == "*" {
			continue
		}
		var exact, near []int // places of links
		names := make([]string, len(links.Tables))
		for i := range links.Tables {
			l := &links.Tables[i]
			t, ok := in.Schema.Lookup(l.Schema, l.Table)
			if !ok || ref.Table != "" && !meansTable(in.Schema, ref, t) {
				continue
			}
			if c, ok := t.Column(ref.Column); ok {
				exact, names[i] = append(exact, i), c.Name
			} else if guess {
				if j := resolve(t.Columns, func(c schema.Column) string { return c.Name }, ref.Column); j >= 0 {
					near, names[i] = append(near, i), t.Columns[j].Name
				}
			}
		}
		if len(exact) == 0 && len(near) == 1 { // a guess must be the only one
			exact = near
		}
		for _, i := range exact {
			links.Tables[i].Columns = union(links.Tables[i].Columns, []string{names[i]})
		}
	}
}

// meansTable reports whether the table in FROM that ref belongs to is t.
func meansTable(s *schema.Schema, ref sqlshape.ColumnRef, t *schema.Table) bool {
	found, _ := resolveTable(s, ref.Schema, ref.Table)
	return found != nil && sameTable(found.Schema, found.Name, t.Schema, t.Name)
}

func sameTable(schemaA, a, schemaB, b string) bool {
	return strings.EqualFold(schemaA, schemaB) && a == b
}
