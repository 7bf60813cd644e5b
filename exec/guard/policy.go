package guard

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

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
}

// Restricts reports whether p names anything that may not be read.
func (p Policy) Restricts() bool {
	return len(p.AllowTables) > 0 || len(p.DenyTables) > 0 || len(p.DenyColumns) > 0
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
	return secretName(column) && !p.Reveals(schema, table, column)
}

// Reveals reports whether a column is said to hold no secrets.
func (p Policy) Reveals(schema, table, column string) bool {
	return slices.ContainsFunc(p.Reveal, func(entry string) bool { return entry == "*" || matches(entry, schema, table, column) })
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
	} {
		for _, entry := range list.entries {
			parts, ok := splitName(entry)
			if !ok || len(parts) > list.parts {
				errs = append(errs, fmt.Errorf("exec: Policy.%s: %q is not a name", list.field, entry))
			}
		}
	}
	return errors.Join(errs...)
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
