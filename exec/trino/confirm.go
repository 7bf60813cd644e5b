package trino

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

// Read implements exec.Conn. It reads words and tokens, because Go has no parser for Trino's SQL.
func (c *conn) Read(_ context.Context, s *exec.Statement) (*guard.Names, error) {
	w := speller{tokens: slices.Collect(s.Tokens()), extra: c.config.Policy.AllowFunctions}
	calls, err := w.check(len(s.Args) > 0)
	if err != nil {
		return nil, err
	}
	for _, ref := range s.Tables() {
		if t := c.at.resolve(ref.Schema, ref.Name); ref.Base() && !c.reads(t) {
			return nil, guard.NotReadable(t.name)
		}
	}
	n := s.Catalog.Own.(*known).names(s.Statement, &w, c.at)
	n.Functions, n.Own = calls, w.relations()
	c.doubt = c.doubt || len(n.Absent) > 0
	return n, nil
}

// names returns the names in a statement, or in the definition of a view.
func (k *known) names(s *sqltext.Statement, w *speller, at home) *guard.Names {
	n := &guard.Names{Refs: w.refs(), Fields: true}
	for _, ref := range s.Tables() {
		o := guard.Source{Alias: cmp.Or(ref.Alias, ref.Name)}
		o.Renamed = w.renames(o.Alias)
		if ref.Base() {
			t := at.resolve(ref.Schema, ref.Name)
			if o.Relation = k.relations[t]; o.Relation == nil {
				n.Lacks(t.name)
			}
		}
		n.Sources = append(n.Sources, o)
	}
	return n
}

// Confirm implements exec.Conn. The server reports which tables a statement reads. Under a policy Confirm also checks
// the views among them, and the server must refuse every denied column of the tables.
func (c *conn) Confirm(ctx context.Context, s *exec.Statement) (seen guard.EngineReport, err error) {
	p, k := c.config.Policy, s.Catalog.Own.(*known)
	tables, err := c.inputs(ctx, c.at, bound(s.Statement, s.Args))
	var invalid *exec.InvalidError
	switch {
	case errors.As(err, &invalid) && invalid.Fault == "schema":
		c.doubt = true
		if p.Restricts() && slices.Contains(s.Names.Absent, strings.ToLower(invalid.Name)) {
			return seen, guard.NotReadable(strings.ToLower(invalid.Name)) // as if it was denied
		}
		return seen, err
	case err != nil:
		return seen, err
	}
	called, _ := s.Names.Own.(map[string]bool)
	var under []table
	if p.Restricts() {
		if under, err = c.throughViews(ctx, k, called); err != nil {
			return seen, err
		}
	}
	for _, t := range tables {
		switch r := k.relations[t]; {
		case !c.allows(t):
			return seen, guard.Refuse("table", "it reads a table that may not be read")
		case !p.Restricts() || called[t.name] || slices.Contains(under, t):
		case r == nil:
			c.doubt = true
			return seen, guard.Refuse("table",
				"the server reads a table that the statement does not name and none of its views explains")
		default:
			seen.Relations = append(seen.Relations, r)
		}
	}
	for _, r := range s.Names.Relations() {
		tables = append(tables, of(r).table)
	}
	return seen, c.closed(ctx, k, append(tables, under...))
}

// allows reports whether a table is one that this dialect reads and the policy allows. The catalog need not have it: a
// view may read what this user may not see.
func (c *conn) allows(t table) bool {
	return c.reads(t) && c.config.Policy.AllowsTable(c.at.label(t), t.name)
}

// throughViews looks at every view that a text may call by one of some names, and returns what lies under them. A view
// that may not be read, or that reads what may not be, is refused whole: it reads with the rights of its owner.
func (c *conn) throughViews(ctx context.Context, k *known, called map[string]bool) (under []table, err error) {
	var views []*guard.Relation
	add := func(called map[string]bool) {
		for _, r := range k.views {
			if called[r.Name] && !slices.Contains(views, r) {
				views = append(views, r)
			}
		}
	}
	add(called)
	for i := 0; i < len(views); i++ {
		f := of(views[i])
		if err := views[i].Refused; err != nil {
			return nil, err
		}
		tables, err := remembered(c.pool, "view "+c.place+f.quoted(), func() ([]table, error) { return c.judge(ctx, k, f) })
		if err != nil {
			return nil, err
		}
		under = append(under, tables...)
		if len(c.config.Policy.DenyColumns) > 0 {
			add(f.names)
		}
	}
	return under, nil
}

// judge decides on a view, and returns what lies under it. If the policy denies columns, the server itself has to let
// this user run the definition of the view.
func (c *conn) judge(ctx context.Context, k *known, f *facts) (tables []table, err error) {
	if !c.allows(f.table) {
		return nil, guard.NotReadable(f.name)
	}
	no := func(why string) ([]table, error) {
		return nil, guard.Refuse("table", "the view %s %s", f.name, why)
	}
	tables, err = c.inputs(ctx, c.at, "SELECT * FROM "+f.quoted())
	switch {
	case exec.IsRejection(err):
		return no("cannot be read")
	case err != nil:
		return nil, err
	case slices.ContainsFunc(tables, func(t table) bool { return !c.allows(t) }):
		return no("reads a table that may not be read")
	case len(c.config.Policy.DenyColumns) == 0:
		return tables, nil
	case f.definition == "":
		return no("has a definition that this user may not see, so nobody knows which columns it reads")
	}
	switch again, err := c.inputs(ctx, home{f.catalog, f.schema}, f.definition); {
	case exec.IsRejection(err):
		return no("reads what this user may not read")
	case err != nil:
		return nil, err
	case !slices.Equal(again, tables):
		return no("reads other tables than its definition names here")
	}
	return tables, c.closed(ctx, k, tables)
}

// closed refuses to work where the server itself would let a denied column of these tables be read.
func (c *conn) closed(ctx context.Context, k *known, tables []table) error {
	for _, t := range tables {
		r := k.relations[t]
		if r == nil {
			continue
		}
		for _, column := range c.denied(r) {
			if err := c.verify(ctx, r, column); err != nil {
				return err
			}
		}
	}
	return nil
}

// denied returns the columns of a relation that the policy denies.
func (c *conn) denied(r *guard.Relation) (out []string) {
	if len(c.config.Policy.DenyColumns) == 0 || !c.config.Policy.AllowsTable(r.Schema, r.Name) {
		return nil
	}
	for _, column := range r.Columns() {
		if !c.config.Policy.AllowsColumn(r.Schema, r.Name, column) {
			out = append(out, column)
		}
	}
	return out
}

// verify makes sure that the server refuses a denied column.
func (c *conn) verify(ctx context.Context, r *guard.Relation, column string) error {
	t := of(r).table
	_, err := remembered(c.pool, "column "+c.place+t.quoted()+quote(column), func() (bool, error) {
		denied, err := c.probe(ctx, t, column)
		if err == nil && !denied {
			err = &exec.UnguardedError{
				Reason: fmt.Sprintf("the policy denies %s.%s, and the server lets this user read it; "+
					"nothing but the server's own access control can hold columns back", t.name, column),
				Remedy: "give the server the rules that trino.AccessRules makes of the policy, and open the pool as the user of " +
					"these rules",
			}
		}
		return denied, err
	})
	return err
}

// probe reports whether the server refuses this user a column of a table; any column where name is "". A column or
// table that is not there is not refused. TestPolicy and TestUnguarded of servertest, and the part "policy_names" of
// the suite as the user strict, keep this question: a column that the server would show is an error, and so is a name
// of a policy that nothing has.
func (c *conn) probe(ctx context.Context, t table, name string) (denied bool, err error) {
	item := "1"
	if name != "" {
		item = quote(name)
	}
	_, err = c.text(ctx, c.at, "EXPLAIN (TYPE VALIDATE) SELECT "+item+" FROM "+t.quoted())
	var refused *exec.RefusedError
	switch {
	case errors.As(err, &refused) && (refused.Reason == "column" || refused.Reason == "table"):
		return true, nil
	case errors.As(err, new(*exec.InvalidError)):
		return false, nil
	}
	return false, err
}

// ioPrefix makes the server say which tables a statement reads and writes.
const ioPrefix = "EXPLAIN (TYPE IO, FORMAT JSON) "

// inputs returns the tables that the server reports for a statement, including those under views. The server leaves out
// the views themselves, and tables that cannot contribute a row to the result. A statement that writes is refused.
func (c *conn) inputs(ctx context.Context, at home, text string) ([]table, error) {
	answer, err := c.text(ctx, at, ioPrefix+text)
	if err != nil {
		return nil, unshifted(err)
	}
	var plan struct {
		Inputs *[]struct {
			Table struct {
				Catalog     string `json:"catalog"`
				SchemaTable struct {
					Schema string `json:"schema"`
					Table  string `json:"table"`
				} `json:"schemaTable"`
			} `json:"table"`
		} `json:"inputTableColumnInfos"`
		Output *json.RawMessage `json:"outputTable"`
	}
	if err := json.Unmarshal([]byte(answer), &plan); err != nil || plan.Inputs == nil {
		return nil, guard.Refuse("guard", "the server does not say which tables the statement reads")
	}
	if plan.Output != nil {
		return nil, guard.Refuse("not-read-only", "the statement writes")
	}
	var tables []table
	for _, input := range *plan.Inputs {
		t := table{input.Table.Catalog, input.Table.SchemaTable.Schema, input.Table.SchemaTable.Table}
		if !slices.Contains(tables, t) {
			tables = append(tables, t)
		}
	}
	return tables, nil
}

// line finds where in a text the server found a fault.
var line = regexp.MustCompile(`^line 1:(\d+)`)

// unshifted returns an error with the place of the fault in the statement, without ioPrefix.
func unshifted(err error) error {
	invalid, ok := err.(*exec.InvalidError)
	if !ok {
		return err
	}
	moved := *invalid
	moved.Message = line.ReplaceAllStringFunc(invalid.Message, func(at string) string {
		column, _ := strconv.Atoi(at[len("line 1:"):])
		return "line 1:" + strconv.Itoa(max(1, column-len(ioPrefix)))
	})
	return &moved
}
