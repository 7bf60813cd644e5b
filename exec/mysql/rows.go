package mysql

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlc-dev/marino/ast"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// pin joins a fence with 14 rows, each of which MariaDB takes for 40: it estimates no query higher than the 2^64 that
// are reached so.
var pin = func() string {
	var rows strings.Builder
	for i := range 14 {
		fmt.Fprintf(&rows, "JSON_TABLE('[1]', '$[*]' COLUMNS (n INT PATH '$')) AS j%d, ", i)
	}
	return "SELECT STRAIGHT_JOIN q.* FROM " + rows.String() + "(%s) AS q LIMIT " + noLimit
}()

// Rules returns the rules for writing a row rule into MySQL's SQL. The server does not merge a query with a LIMIT
// into the outer query, so it evaluates the rule on a row before anything else.
//
// MariaDB 10.11 gives a subquery in a HAVING the value of another group where it names a column of a query in FROM that
// was merged. [guard.Catalog.CannotFail] has no such subquery on its list, so that the fence is there.
func (d Dialect) Rules() guard.RewriteRules {
	l := d.Language()
	return guard.RewriteRules{
		Fence: "%s LIMIT " + noLimit, Pin: pin, Hoisted: "%s AS (%s)", FenceView: " LIMIT " + noLimit,
		Quote: l.Quote, QuoteSchema: l.QuoteSchema, Placeholder: l.Placeholder,
		Ordered: func(function string) bool { return function == "group_concat" },
		Exactly: func(column string) string { return "BINARY " + column },
	}
}

// longestSorted is how many characters of a text the server sorts by whatever its collation, within max_sort_length.
const longestSorted = 64

// traitOf is what the values of a column have in common. Texts are equal to others, a float is to -0, and the server
// sorts by the first 1,024 bytes of a text.
func traitOf(c *schema.Column) guard.Trait {
	word, rest, _ := strings.Cut(c.Type, "(")
	length, _ := strconv.Atoi(strings.TrimRight(rest, ") abcdefghijklmnopqrstuvwxyz"))
	switch word, _, _ = strings.Cut(word, " "); {
	case word == "enum", word == "set", familyOf(c) == "time":
		return guard.Trait{Exact: true, Sorted: true}
	case word == "float", word == "double", length > 0 && length <= 255, word == "tinytext", word == "tinyblob":
		if familyOf(c) == "number" && word != "float" && word != "double" {
			return guard.Trait{Exact: true, Whole: true, Sorted: true}
		}
		return guard.Trait{Sorted: true}
	case familyOf(c) == "number":
		return guard.Trait{Exact: true, Whole: true, Sorted: true}
	}
	return guard.Trait{}
}

// inKey reports whether a key with the column tells rows apart in ORDER BY.
func inKey(c *schema.Column) bool {
	family, length := familyOf(c), 0
	_, _ = fmt.Sscanf(c.Type, "varchar(%d)", &length)
	if length == 0 {
		_, _ = fmt.Sscanf(c.Type, "char(%d)", &length)
	}
	return c.NotNull && (family == "number" || family == "time" || c.Type == "enum" || length > 0 &&
		length <= longestSorted)
}

// familyOf is the family of a column. The server may compute a generated one when it is read.
func familyOf(c *schema.Column) string {
	if k := kindOf(c.Type); k != nil && !c.Generated {
		return k.family
	}
	return ""
}

// systemColumns are columns that a table may have without having them in its list. Behind a splice the name would mean
// the row around it.
var systemColumns = guard.Set("_rowid row_start row_end")

// Spots implements exec.RowFilterConn.
func (h *held) Spots(_ context.Context, s *exec.Statement) ([]guard.TablePosition, error) {
	return s.Catalog.Own.(*catalog).spots(s.Statement, h, len(s.Args) > 0)
}

// Placed implements exec.RowFilterConn: no table with a rule is named where its splice is taken out.
func (h *held) Placed(_ context.Context, s *exec.Statement) error {
	spots, err := s.Catalog.Own.(*catalog).spots(s.Dialect().Parse(s.Splice.Bare), h, len(s.Args) > 0)
	if err != nil {
		return err
	}
	return s.Splice.RejectRuled(spots)
}

func (c *catalog) spots(s *sqltext.Statement, h *held, ours bool) ([]guard.TablePosition, error) {
	w, err := c.walked(s, h.at.mode, ours)
	if err != nil {
		return nil, err
	}
	f := &guard.Finder{Text: guard.NewText(s)}
	for _, table := range w.tables {
		if err := w.placeTable(f, table); err != nil {
			return nil, err
		}
	}
	for _, h := range w.headings {
		w.placeHeading(f, h)
	}
	// The definitions of views have the name of the database in front of tables and columns.
	for i := range f.Len() - 4 {
		if !f.IsName(i) || f.Word(i+1) != "." || !f.IsName(i+2) || f.Word(i+3) != "." || f.Word(i-1) == "." {
			continue
		}
		if err := f.Unqualify(&w.names, f.Pos(i), f.Value(i+2), schema.EqualFold); err != nil {
			return nil, err
		}
	}
	return f.Spots(), nil
}

// placeTable finds where a table stands, with its hints, and refuses what tells of other rows of it.
func (w *walker) placeTable(f *guard.Finder, table tableAt) error {
	r := table.source.Relation
	for _, ref := range w.names.Refs {
		if ref.Star || len(ref.Path) == 0 {
			continue
		}
		if name := lower(ref.Path[len(ref.Path)-1]); r.Unnamed(name) || systemColumns[name] && !r.Has(name) && r.Ruled() {
			return guard.Refuse("rows", "only some rows of %s may be read, and so its hidden column %s may not", r.Name, name)
		}
	}
	last, err := f.Table(r, origin(w.edits, table.OriginTextPosition()), table.Name.O, table.alias)
	switch {
	case err != nil:
		return err
	case table.unsure:
		return guard.Refuse("rows", "%s may be a table or a common table expression", r.Name)
	case w.matches && r.Ruled():
		return guard.Refuse("rows", "MATCH weighs words by all rows of %s, and only some may be read: write LIKE", r.Name)
	case len(table.PartitionNames) > 0 && r.Ruled():
		return guard.Refuse("rows", "a partition of %s is named: its rule is about the table", r.Name)
	case len(table.IndexHints) == 0:
		return nil
	}
	first := last + 1
	if table.alias != "" {
		first++
		if f.Word(last+1) == "as" {
			first++
		}
	}
	last = first - 1
	for range table.IndexHints {
		for last++; last < f.Len() && f.Word(last) != ")"; last++ {
		}
	}
	f.Hint(first, last)
	return nil
}

// placeHeading writes the name of a column behind it where the server would call the result otherwise: a column of a
// query in FROM is called as that spells it, one of a table as the statement does.
func (w *walker) placeHeading(f *guard.Finder, h heading) {
	c, ok := h.Expr.(*ast.ColumnNameExpr)
	if !ok || h.AsName.O != "" {
		return
	}
	name, other := c.Name.Name.O, false
	for _, from := range w.names.Sources {
		if from.Select != h.of || from.Joined {
			continue
		}
		r := from.Relation
		if r == nil || r.View {
			return
		}
		other = other || r.Has(name) && !slices.Contains(r.Columns(), name)
	}
	if _, last, err := f.Name(origin(w.edits, h.Offset), name); err == nil && other {
		f.Put(f.End(last), f.End(last), " AS "+quote(name))
	}
}
