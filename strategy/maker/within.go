package maker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// findingOutside is the finding of tableScope.Check.
const findingOutside = "outside-scope"

// Check makes the scope an exec.Check: it finds statements that read a table outside of it, by the engine's word, and
// those that join a table of Left without anything that keeps rows without a match: LEFT, RIGHT, FULL, NOT or EXCEPT.
// What lies under a view of the scope may be read.
func (s tableScope) Check(ctx context.Context, db *exec.Runner, c *exec.Checked) error {
	if c.Analysis == nil {
		a, err := db.Analyze(ctx, c.SQL)
		if err != nil {
			return err
		}
		c.Analysis = &a
	}
	known, err := db.Schema(ctx)
	if err != nil {
		return err
	}
	read := func(a exec.Analysis) (tables []schema.TableName) {
		for _, t := range a.TablesOf(known) {
			tables = append(tables, schema.TableName{Schema: t.Schema, Name: t.Table})
		}
		return tables
	}
	allowed := slices.Clone(s.Tables)
	for _, t := range s.Tables {
		if found, ok := known.Lookup(t.Schema, t.Name); !ok || found.Kind != schema.View {
			continue
		}
		a, err := db.Analyze(ctx, "SELECT * FROM "+t.Quoted(exec.Names{Dialect: db.Dialect()}))
		if err != nil {
			return fmt.Errorf("maker: reading view %s: %w", t, err)
		}
		allowed = append(allowed, read(a)...)
	}
	outside := slices.DeleteFunc(read(*c.Analysis), func(t schema.TableName) bool { return slices.Contains(allowed, t) })
	if len(outside) > 0 {
		c.Findings = append(c.Findings, exec.Finding{
			Rule: findingOutside, Detail: "reads " + strings.Join(texts(outside), ", ") + ", which is not among the agreed tables",
		})
	} else if lost := s.lost(known, c.Statement); len(lost) > 0 {
		c.Findings = append(c.Findings, exec.Finding{
			Rule: findingOutside, Detail: "loses rows without a match in " + strings.Join(texts(lost), ", ") + ", which a left join was agreed for",
		})
	}
	return nil
}

// lost are the tables of Left that a statement joins by inner joins alone.
func (s tableScope) lost(known *schema.Schema, statement *sqltext.Statement) (lost []schema.TableName) {
	if len(s.Left) == 0 || slices.ContainsFunc([]string{"LEFT", "RIGHT", "FULL", "NOT", "EXCEPT"}, statement.Uses) {
		return nil
	}
	for _, column := range statement.Columns() {
		for _, r := range column.Scope {
			t, ok := known.Lookup(r.Schema, r.Name)
			if ok && len(column.Scope) > 1 && slices.Contains(s.Left, t.TableName()) && !slices.Contains(lost, t.TableName()) {
				lost = append(lost, t.TableName())
			}
		}
	}
	return lost
}
