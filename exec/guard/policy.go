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

// Policy says which relations, columns and functions a statement may read.
//
// The zero Policy allows every table and view of the schema, every column whose name does not say that it holds secrets
// (passwords, keys, tokens, card numbers), and the dialect's list of functions. What is denied stays denied, whatever is
// allowed. Names compare without regard to ASCII case. A name that holds a dot is
// written in double quotes: `"order.items".id`. An entry for a table or column that names nothing is a [*PolicyError]
// of exec.DB.Ready, or of the first statement, so that a slip of the pen leaves no column open. Some engines have catalogs
// of schemas: there the schema of a table in another catalog is called "catalog.schema".
type Policy struct {
	// AllowTables, when not empty, is all that may be read: "table", "schema.table" or "catalog.schema.table". A view
	// needs its base tables on the list too.
	AllowTables []string
	// DenyTables may not be read, not even counted or joined: a table as in AllowTables. A view over one is refused
	// whole.
	DenyTables []string
	// DenyColumns may not be read: a table as in AllowTables and ".column", or "column" for the columns of that name in
	// every table. A view over one is refused whole.
	DenyColumns []string
	// AllowFunctions adds to the dialect's list of functions, table-valued ones included. A function that the
	// application registered is on that list only through here: it may have side effects.
	AllowFunctions []string
	// Reveal names columns that hold no secrets though they look so: as in DenyColumns, or "*" for all. Without an entry
	// here a column whose name looks like that of passwords, keys, tokens or card numbers is denied as one of DenyColumns
	// is, but for the walls that a server itself has to put up (exec/trino, exec/mysql, exec/bigquery); and one whose
	// values look so is Sensitive ([schema.Column]): it is not sampled, profiled, matched or shown to a model.
	Reveal []string

	// Rows names tables of which only some rows may be read, and the rule that tells them: one expression over the columns
	// of that table and the parameters (":name") of an exec.Scope, without a subquery: "tenant_id = :tenant". A statement
	// gives what it would give on a copy of the database without the other rows; a view is read through the rules of the
	// tables under it. A table is written as in AllowTables; if several entries name one, all of their rules hold. On MariaDB
	// a parameter stands beside columns of its kind.
	Rows map[string]string
	// Shared are the tables that may be read whole beside Rows, none of which has rows of a table with a rule: the parent of a
	// partition, say, or a materialized view. A partition needs no entry. Where either has entries, a table that is in neither is
	// denied, and no statement runs without a scope (exec.DB.For).
	Shared []string
	// Settings names settings of the database that each scope has to give in Scope.Settings, none empty, since rules of the
	// database's own read them: "app.tenant". Where it has entries no statement runs without a scope. It is for the engines
	// that take settings.
	Settings []string
	// Fence says when the engine applies the rule of a row before it evaluates anything else on the row. "": unless all of
	// a statement, its list of results apart, is on the list of what cannot fail on a value ([Catalog.CannotFail]), so that
	// whether it fails tells nothing of other rows. "always": for every statement; an index that the statement asks for by
	// a column of its own is not used then.
	Fence string
}

// Scoped reports whether p has rules about rows.
func (p Policy) Scoped() bool { return len(p.Rows) > 0 || len(p.Shared) > 0 }

// NeedsScope reports whether no statement may run without a scope.
func (p Policy) NeedsScope() bool { return p.Scoped() || len(p.Settings) > 0 }

// Allows reports whether a relation may be read, as far as its name goes: where p is Scoped a table has to be in Rows or
// Shared, and what is under a view decides about the view.
func (p Policy) Allows(r *Relation) bool {
	return p.AllowsTable(r.Schema, r.Name) && (r.View || p.lists(r.Schema, r.Name))
}

// Ruled reports whether Rows has a rule about the relation.
func (p Policy) Ruled(r *Relation) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(p.Rows)), func(entry string) bool { return matches(entry, r.Schema, r.Name) })
}

// lists reports whether a name is in Rows or Shared. Where p is not Scoped every one is.
func (p Policy) lists(path ...string) bool {
	names := func(entry string) bool { return matches(entry, path...) }
	return !p.Scoped() || slices.ContainsFunc(p.Shared, names) || slices.ContainsFunc(slices.Collect(maps.Keys(p.Rows)), names)
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

// AllowsColumn reports whether the column may be read, its table being allowed.
func (p Policy) AllowsColumn(schema, table, column string) bool {
	return !p.Hides(schema, table, column) && !slices.ContainsFunc(p.DenyColumns, func(entry string) bool {
		return matches(entry, schema, table, column)
	})
}

// Hides reports whether the column may not be read because its name says that it holds secrets.
func (p Policy) Hides(schema, table, column string) bool {
	return words.SecretName(column) && !p.Reveals(schema, table, column)
}

// Reveals reports whether a column is said to hold no secrets.
func (p Policy) Reveals(schema, table, column string) bool {
	return slices.ContainsFunc(p.Reveal, func(entry string) bool { return entry == "*" || matches(entry, schema, table, column) })
}

// Mentions reports whether a text has the name of a table or a column that DenyTables or DenyColumns has.
func (p Policy) Mentions(text string) bool {
	return slices.ContainsFunc(slices.Concat(p.DenyTables, p.DenyColumns), func(entry string) bool {
		parts, ok := splitName(entry)
		return ok && regexp.MustCompile(`(?i)(?:^|\W)`+regexp.QuoteMeta(parts[len(parts)-1])+`(?:\W|$)`).MatchString(text)
	})
}

// Validate reports entries that cannot be read as names.
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

// Narrow returns the policy that denies what p denies and what n denies: see exec.DB.For.
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
			return rows, fmt.Errorf("exec: narrowing a policy: Rows: %q is in neither Rows nor Shared of the policy that is narrowed", table)
		}
		if rows == nil {
			rows = map[string]string{}
		}
		if old, ok := p.Rows[table]; ok {
			rule = "(" + old + ") AND (" + rule + ")"
		}
		rows[table] = rule
	}
	return rows, nil
}

// matches reports whether a policy entry names path, whose first part is a schema. An entry with fewer parts matches any
// leading part. One with a part more has a catalog in front of the schema.
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

// namePart is one part of a name with the dot behind it. A part in double quotes may hold dots.
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
