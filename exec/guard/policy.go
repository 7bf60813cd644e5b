package guard

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// Policy defines which relations, columns and functions a statement may read.
//
// The zero Policy allows every table and view of the schema and the dialect's list of functions. It allows every
// column, except those whose name looks secret (passwords, keys, tokens, card numbers). Denied names stay denied,
// whatever is allowed.
//
// Names compare without regard to ASCII case. A name with a dot is written in double quotes: `"order.items".id`. In an
// engine with catalogs of schemas, the schema of a table in another catalog is "catalog.schema". An entry that matches
// no table or column is a *exec.PolicyError from exec.DB.Ready, or from the first statement. So a typing error leaves
// no column open.
type Policy struct {
	// AllowTables, if not empty, lists all tables that may be read: "table", "schema.table" or "catalog.schema.table".
	// The base tables of a view must be on the list too.
	AllowTables []string
	// DenyTables lists tables that may not be read, counted or joined, written as in AllowTables. A view over one is
	// refused whole.
	DenyTables []string
	// DenyColumns lists columns that may not be read: a table as in AllowTables and ".column", or "column" for the
	// columns with that name in every table. A view over one is refused whole.
	DenyColumns []string
	// AllowFunctions adds functions to the dialect's list, including table-valued ones. A function that the application
	// registered must be added here, because it may have side effects.
	AllowFunctions []string
	// Reveal lists columns that hold no secrets although they look secret: as in DenyColumns, or "*" for all. Without
	// an entry, a column whose name suggests passwords, keys, tokens or card numbers is denied like an entry of
	// DenyColumns. The exception is protection by the server itself (exec/trino, exec/mysql, exec/bigquery). A column
	// whose values look secret is Sensitive ([schema.Column]): it is not sampled, profiled, matched or shown to a
	// model.
	Reveal []string

	// Rows maps a table to the rule for its readable rows. A rule is one expression over the columns of that table and
	// the parameters (":name") of an exec.Scope, without a subquery: "tenant_id = :tenant". A statement returns what it
	// would return on a copy of the database without the other rows. A view is read through the rules of the tables
	// under it. A table is written as in AllowTables; if several entries match it, all of their rules apply. On MariaDB
	// each parameter must be compared with columns of its type.
	Rows map[string]string
	// Shared lists the tables without a rule that may be read whole, in addition to Rows. They must not contain rows of
	// a table with a rule, as the parent of a partition or a materialized view may. A partition needs no entry. If Rows
	// or Shared has entries, a table in neither is denied, and no statement runs without a scope (exec.DB.For).
	Shared []string
	// Settings lists settings of the database that each scope must set in Scope.Settings to a value that is not empty,
	// because rules of the database itself read them: "app.tenant". If it has entries, no statement runs without a
	// scope. It is for engines that support settings.
	Settings []string
	// Fence controls when the engine applies a row rule before it evaluates anything else on the row. "": unless every
	// part of a statement, except its list of results, cannot fail on a value ([Catalog.CannotFail]), so that a failure
	// reveals nothing about other rows. "always": for every statement; the engine then uses no index for the
	// statement's own conditions.
	Fence string
}

// Scoped reports whether p has rules about rows.
func (p Policy) Scoped() bool { return len(p.Rows) > 0 || len(p.Shared) > 0 }

// NeedsScope reports whether statements run only in a scope.
func (p Policy) NeedsScope() bool { return p.Scoped() || len(p.Settings) > 0 }

// Allows reports whether the name of a relation allows reading it. If p is Scoped, a table must be in Rows or Shared;
// for a view, the tables under it decide.
func (p Policy) Allows(r *Relation) bool {
	return p.AllowsTable(r.Schema, r.Name) && (r.View || p.lists(r.Schema, r.Name))
}

// Ruled reports whether Rows has a rule for the relation.
func (p Policy) Ruled(r *Relation) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(p.Rows)), func(entry string) bool {
		return matches(entry, r.Schema, r.Name)
	})
}

// lists reports whether a name is in Rows or Shared. Where p is not Scoped every one is.
func (p Policy) lists(path ...string) bool {
	names := func(entry string) bool { return matches(entry, path...) }
	return !p.Scoped() || slices.ContainsFunc(p.Shared, names) || slices.ContainsFunc(slices.Collect(maps.Keys(p.Rows)),
		names)
}

// Restricts reports whether p names anything that may not be read.
func (p Policy) Restricts() bool {
	return len(p.AllowTables) > 0 || len(p.DenyTables) > 0 || len(p.DenyColumns) > 0 || p.Scoped()
}

// AllowsTable reports whether the table or view may be read.
func (p Policy) AllowsTable(schema, table string) bool {
	names := func(entry string) bool { return matches(entry, schema, table) }
	if slices.ContainsFunc(p.DenyTables, names) {
		return false
	}
	return len(p.AllowTables) == 0 || slices.ContainsFunc(p.AllowTables, names)
}

// AllowsColumn reports whether the column may be read, assuming that its table is allowed.
func (p Policy) AllowsColumn(schema, table, column string) bool {
	return !p.Hides(schema, table, column) && !slices.ContainsFunc(p.DenyColumns, func(entry string) bool {
		return matches(entry, schema, table, column)
	})
}

// Hides reports whether the column may not be read because its name looks secret.
func (p Policy) Hides(schema, table, column string) bool {
	return words.SecretName(column) && !p.Reveals(schema, table, column)
}

// Reveals reports whether an entry of Reveal matches the column.
func (p Policy) Reveals(schema, table, column string) bool {
	return slices.ContainsFunc(p.Reveal, func(entry string) bool {
		return entry == "*" || matches(entry, schema, table, column)
	})
}

// Mentions reports whether a text contains the name of a table or a column in DenyTables or DenyColumns.
func (p Policy) Mentions(text string) bool {
	return slices.ContainsFunc(slices.Concat(p.DenyTables, p.DenyColumns), func(entry string) bool {
		parts, ok := splitName(entry)
		return ok && regexp.MustCompile(`(?i)(?:^|\W)`+regexp.QuoteMeta(parts[len(parts)-1])+`(?:\W|$)`).MatchString(text)
	})
}

// Validate returns an error if entries cannot be parsed as names.
func (p Policy) Validate() error {
	var errs []error
	for _, list := range []struct {
		field   string
		entries []string
		parts   int
	}{
		{"AllowTables", p.AllowTables, 3},
		{"DenyTables", p.DenyTables, 3},
		{"DenyColumns", p.DenyColumns, 4},
		{"AllowFunctions", p.AllowFunctions, 1},
		{"Reveal", p.Reveal, 4},
		{"Shared", p.Shared, 3},
		{"Rows", slices.Sorted(maps.Keys(p.Rows)), 3},
	} {
		for _, entry := range list.entries {
			parts, ok := splitName(entry)
			if !ok || len(parts) > list.parts {
				errs = append(errs, fmt.Errorf("exec: Policy.%s: %q is not a name", list.field, entry))
			}
		}
	}
	if slices.Contains(p.Settings, "") {
		errs = append(errs, errors.New("exec: Policy.Settings: a name is empty"))
	}
	if p.Fence != "" && p.Fence != "always" {
		errs = append(errs, fmt.Errorf("exec: Policy.Fence: %q is neither empty nor \"always\"", p.Fence))
	}
	return errors.Join(errs...)
}

// Narrow returns the policy that denies everything that p or n denies: see exec.DB.For.
func (p Policy) Narrow(n Policy) (Policy, error) {
	out := p
	out.DenyTables = slices.Concat(p.DenyTables, n.DenyTables)
	out.DenyColumns = slices.Concat(p.DenyColumns, n.DenyColumns)
	out.Settings = slices.Concat(p.Settings, n.Settings)
	out.Fence = cmp.Or(p.Fence, n.Fence)
	out.Shared = slices.Concat(p.Shared, n.Shared)
	if p.Scoped() && len(n.Shared) > 0 {
		return out, errors.New("exec: narrowing a policy: Shared is that of the policy that is narrowed")
	}
	var err error
	if out.AllowTables = inBoth(p.AllowTables, n.AllowTables); len(out.AllowTables) == 0 && len(p.AllowTables) > 0 {
		return out, errors.New("exec: narrowing a policy: AllowTables has no entry in common")
	}
	if out.AllowFunctions, err = fewer("AllowFunctions", p.AllowFunctions, n.AllowFunctions); err != nil {
		return out, err
	}
	if out.Reveal, err = fewer("Reveal", p.Reveal, n.Reveal); err != nil {
		return out, err
	}
	out.Rows, err = p.narrowRows(n.Rows)
	return out, err
}

// And returns the policy under which a statement may read only what both p and q allow. It denies what either denies,
// and both rules of a table apply. AllowTables, AllowFunctions and Reveal have the entries that both name, or the
// entries of one policy if the other has none. If both have Rows or Shared, a table must be in both. Two rules of a
// table have a line ";" between them, and exec.New rejects them unless each is a rule alone.
func (p Policy) And(q Policy) Policy {
	out := Policy{
		DenyTables: union(p.DenyTables, q.DenyTables), DenyColumns: union(p.DenyColumns, q.DenyColumns),
		Settings:       union(p.Settings, q.Settings),
		AllowFunctions: grantedByBoth(p.AllowFunctions, q.AllowFunctions), Reveal: grantedByBoth(p.Reveal, q.Reveal),
		Fence: cmp.Or(p.Fence, q.Fence),
	}
	out.allowBoth(p.AllowTables, q.AllowTables)
	one, other := p.ruledOrShared(), q.ruledOrShared()
	if p.Scoped() && q.Scoped() && !slices.Equal(one, other) {
		listed := out.AllowTables
		out.allowBoth(one, other)
		out.allowBoth(listed, out.AllowTables)
	}
	for _, rows := range []map[string]string{p.Rows, q.Rows} {
		for table, rule := range rows {
			if out.Rows == nil {
				out.Rows = map[string]string{}
			}
			if old, ok := out.Rows[table]; ok && old != rule {
				rule = old + ruleBreak + rule
			}
			out.Rows[table] = rule
		}
	}
	for _, entry := range union(p.Shared, q.Shared) {
		if ruled := inBoth([]string{entry}, slices.Collect(maps.Keys(out.Rows))); len(out.Rows) == 0 || len(ruled) == 0 {
			out.Shared = append(out.Shared, entry)
		}
	}
	return out
}

// ruledOrShared are the entries of Rows and Shared, sorted.
func (p Policy) ruledOrShared() []string {
	return slices.Sorted(slices.Values(slices.Concat(p.Shared, slices.Collect(maps.Keys(p.Rows)))))
}

// allowBoth sets AllowTables to what two lists allow. Lists that have nothing in common allow nothing.
func (p *Policy) allowBoth(a, b []string) {
	if p.AllowTables = inBoth(a, b); len(p.AllowTables) == 0 && len(a) > 0 {
		p.AllowTables, p.DenyTables = a, union(p.DenyTables, a)
	}
}

// union returns the entries of a, followed by the entries of b that a lacks.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, entry := range b {
		if !slices.Contains(out, entry) {
			out = append(out, entry)
		}
	}
	return out
}

// grantedByBoth returns the entries that are in both lists, or the only list that has any. "*" names all.
func grantedByBoth(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return union(a, b)
	}
	lacks := func(list []string) func(string) bool {
		return func(entry string) bool { return !slices.Contains(list, entry) && !slices.Contains(list, "*") }
	}
	return union(slices.DeleteFunc(slices.Clone(a), lacks(b)), slices.DeleteFunc(slices.Clone(b), lacks(a)))
}

// inBoth returns the entries that name what one of a and one of b name. An empty list names everything.
func inBoth(a, b []string) (found []string) {
	if len(b) == 0 || len(a) == 0 {
		return slices.Concat(a, b)
	}
	for _, x := range a {
		for _, y := range b {
			one, _ := splitName(x)
			other, _ := splitName(y)
			longer := x
			if len(one) < len(other) {
				one, other, longer = other, one, y
			}
			if slices.EqualFunc(one[len(one)-len(other):], other, schema.EqualFold) && !slices.Contains(found, longer) {
				found = append(found, longer)
			}
		}
	}
	return found
}

// fewer returns b, whose entries have to be in a; a where b is empty.
func fewer(field string, a, b []string) ([]string, error) {
	for _, entry := range b {
		if !slices.Contains(a, entry) && !slices.Contains(a, "*") {
			return a, fmt.Errorf("exec: narrowing a policy: %s: %q is not in the policy that is narrowed", field, entry)
		}
	}
	if len(b) == 0 {
		return a, nil
	}
	return slices.Clone(b), nil
}

// narrowRows returns the rules of p and more of them. Both rules of a table hold.
func (p Policy) narrowRows(more map[string]string) (map[string]string, error) {
	rows := maps.Clone(p.Rows)
	for table, rule := range more {
		if path, ok := splitName(table); !ok || !p.lists(path...) {
			return rows, fmt.Errorf("exec: narrowing a policy: Rows: %q is in neither Rows nor Shared of the policy that is "+
				"narrowed", table)
		}
		if rows == nil {
			rows = map[string]string{}
		}
		if old, ok := p.Rows[table]; ok {
			rule = old + ruleBreak + rule
		}
		rows[table] = rule
	}
	return rows, nil
}

// matches reports whether a policy entry names path, whose first part is a schema. An entry with fewer parts matches
// any leading part. One with a part more has a catalog in front of the schema.
func matches(entry string, path ...string) bool {
	parts, ok := splitName(entry)
	if ok && len(parts) == len(path)+1 {
		parts = append([]string{parts[0] + "." + parts[1]}, parts[2:]...)
	}
	if !ok || len(parts) > len(path) {
		return false
	}
	for i, part := range parts {
		if !schema.EqualFold(part, path[len(path)-len(parts)+i]) {
			return false
		}
	}
	return true
}

// namePart matches one part of a name and the dot after it. A part in double quotes may contain dots.
var namePart = regexp.MustCompile(`^(?:"((?:[^"]|"")+)"|([^".][^.]*))(\.|$)`)

// splitName cuts a name at its dots.
func splitName(name string) (parts []string, ok bool) {
	if !strings.Contains(name, `"`) {
		parts = strings.Split(name, ".")
		return parts, !slices.Contains(parts, "")
	}
	for {
		m := namePart.FindStringSubmatch(name)
		if m == nil {
			return nil, false
		}
		parts = append(parts, strings.ReplaceAll(m[1], `""`, `"`)+m[2])
		if name = name[len(m[0]):]; m[3] == "" {
			return parts, true
		}
	}
}
