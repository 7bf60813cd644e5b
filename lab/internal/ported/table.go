package ported

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kind is what the values of a column are.
type kind int

const (
	texts kind = iota
	integers
	reals
	blobs
	dates // texts, each of them a date
	times // texts, each of them a date and time in whole seconds
)

// column is a column of SQLite, which may declare one type and store others.
type column struct {
	name     string
	kind     kind
	declared int  // the length that a declared VARCHAR or CHAR has; 0: none
	length   int  // the same, where all values fit; 0: else
	longest  int  // in characters
	mixed    bool // numbers are among the texts, and become texts
	required bool // NOT NULL
}

// table is a table of SQLite.
type table struct {
	name    string
	columns []column
	rows    int
	primary []string   // the primary key, if the values are one
	unique  [][]string // others
	foreign []foreign
	lost    []string // keys that the data break, as texts for a person
}

type foreign struct {
	columns, targets []string
	table            string
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quotedAll(names []string) string {
	var list []string
	for _, n := range names {
		list = append(list, quoted(n))
	}
	return strings.Join(list, ", ")
}

// read returns the rows of a query as maps are too slow to be: as texts, NULL as "".
func read(ctx context.Context, db *sql.DB, query string, args ...any) (list [][]string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		cells, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = c.String
		}
		list = append(list, row)
	}
	return list, rows.Err()
}

// number reads a count of SQLite's.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// tablesOf reads the tables of a SQLite file, with the keys that their data keep.
func tablesOf(ctx context.Context, db *sql.DB) (list []*table, err error) {
	names, err := read(ctx, db,
		`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY rowid`)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		t := &table{name: n[0]}
		if err := t.readColumns(ctx, db); err != nil {
			return nil, err
		}
		if err := t.readKeys(ctx, db); err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	for _, t := range list {
		if err := t.readForeign(ctx, db, list); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func find(list []*table, name string) *table {
	at := slices.IndexFunc(list, func(t *table) bool { return strings.EqualFold(t.name, name) })
	if at < 0 {
		return nil
	}
	return list[at]
}

func (t *table) column(name string) *column {
	at := slices.IndexFunc(t.columns, func(c column) bool { return strings.EqualFold(c.name, name) })
	if at < 0 {
		return nil
	}
	return &t.columns[at]
}

var sized = regexp.MustCompile(`(?i)char[a-z ]*\((\d+)\)`)

func (t *table) readColumns(ctx context.Context, db *sql.DB) error {
	infos, err := read(ctx, db, `SELECT name, type, "notnull", pk FROM pragma_table_info(?) ORDER BY cid`, t.name)
	if err != nil {
		return err
	}
	query := "SELECT count(*)"
	primary := map[int]string{}
	for _, info := range infos {
		q := quoted(info[0])
		query += strings.ReplaceAll(
			`, sum(typeof(Q) = 'integer'), sum(typeof(Q) = 'real'), sum(typeof(Q) = 'text'), sum(typeof(Q) = 'blob'), max(length(Q)),
			sum(typeof(Q) = 'text' AND Q IS date(Q)), sum(typeof(Q) = 'text' AND Q IS datetime(Q)), sum(Q IS NULL)`, "Q", q)
		if at := number(info[3]); at > 0 {
			primary[at] = info[0]
		}
	}
	found, err := read(ctx, db, query+" FROM "+quoted(t.name))
	if err != nil {
		return err
	}
	t.rows = number(found[0][0])
	for i, info := range infos {
		n := found[0][1+8*i:]
		c := column{name: info[0], longest: number(n[4])}
		ints, floats, strs, bytes := number(n[0]), number(n[1]), number(n[2]), number(n[3])
		declared := strings.ToUpper(info[1])
		if m := sized.FindStringSubmatch(declared); m != nil {
			c.declared = number(m[1])
		}
		switch {
		case bytes > 0:
			c.kind = blobs
		case strs > 0 && ints+floats == 0 && number(n[5]) == strs && isTime(declared):
			c.kind = dates
		case strs > 0 && ints+floats == 0 && number(n[6]) == strs && isTime(declared):
			c.kind = times
		case strs > 0:
			c.mixed = ints+floats > 0
		case floats > 0:
			c.kind = reals
		case ints > 0:
			c.kind = integers
		default:
			c.kind = declaredKind(declared)
		}
		if c.kind == texts && c.declared >= c.longest {
			c.length = c.declared
		}
		c.required = info[2] != "0" && number(n[7]) == 0
		t.columns = append(t.columns, c)
	}
	for _, at := range slices.Sorted(maps.Keys(primary)) {
		t.primary = append(t.primary, primary[at])
	}
	return nil
}

func isTime(declared string) bool {
	return strings.Contains(declared, "DATE") || strings.Contains(declared, "TIME")
}

// declaredKind is that of a column without a value, by SQLite's rules of affinity.
func declaredKind(declared string) kind {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(declared, w) })
	}
	switch {
	case has("INT"):
		return integers
	case has("CHAR", "CLOB", "TEXT"):
		return texts
	case has("BLOB"):
		return blobs
	case has("TIME"):
		return times
	case has("DATE"):
		return dates
	case declared == "":
		return texts
	}
	return reals
}

// readKeys reads the unique keys, and leaves out those that the engines would not take.
func (t *table) readKeys(ctx context.Context, db *sql.DB) error {
	wanted := [][]string{t.primary}
	t.primary = nil
	keys, err := read(ctx, db,
		`SELECT name FROM pragma_index_list(?) WHERE "unique" AND origin = 'u' AND NOT partial ORDER BY seq DESC`, t.name)
	if err != nil {
		return err
	}
	for _, k := range keys {
		columns, err := read(ctx, db, "SELECT name FROM pragma_index_info(?) ORDER BY seqno", k[0])
		if err != nil {
			return err
		}
		var names []string
		for _, c := range columns {
			names = append(names, c[0])
		}
		wanted = append(wanted, names)
	}
	for i, names := range wanted {
		if len(names) == 0 {
			continue
		}
		nulls := ""
		for _, n := range names {
			if i == 0 {
				nulls += " OR " + quoted(n) + " IS NULL"
			}
		}
		broken, err := read(ctx, db, fmt.Sprintf("SELECT EXISTS (SELECT 1 FROM %[1]s WHERE 0%[3]s) OR EXISTS (SELECT 1 "+
			"FROM %[1]s GROUP BY %[2]s HAVING count(*) > 1 AND %[4]s)",
			quoted(t.name), quotedAll(names), nulls, strings.ReplaceAll(quotedAll(names), ", ", " IS NOT NULL AND ")+
				" IS NOT NULL"))
		if err != nil {
			return err
		}
		long := slices.ContainsFunc(names, func(n string) bool {
			c := t.column(n)
			return c.kind == blobs || c.longest > 255
		})
		switch {
		case broken[0][0] != "0" || long:
			t.lost = append(t.lost, fmt.Sprintf("key %s(%s)", t.name, strings.Join(names, ", ")))
		case i == 0:
			t.primary = names
		default:
			t.unique = append(t.unique, names)
		}
	}
	return nil
}

// readForeign reads the foreign keys, and leaves out those whose types differ, whose target is not a key or whose
// values the target lacks.
func (t *table) readForeign(ctx context.Context, db *sql.DB, all []*table) error {
	list, err := read(ctx, db, `SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq`,
		t.name)
	if err != nil {
		return err
	}
	var keys []foreign
	last := ""
	for _, f := range list {
		if f[0] != last {
			keys = append(keys, foreign{table: f[1]})
			last = f[0]
		}
		k := &keys[len(keys)-1]
		k.columns, k.targets = append(k.columns, f[2]), append(k.targets, f[3])
	}
	seen := map[string]bool{}
	for _, k := range keys {
		to := find(all, k.table)
		if to != nil && k.targets[0] == "" {
			k.targets = to.primary
		}
		text := fmt.Sprintf("foreign key %s(%s) to %s(%s)", t.name, strings.Join(k.columns, ", "), k.table,
			strings.Join(k.targets, ", "))
		if seen[text] {
			continue
		}
		seen[text] = true
		ok := to != nil && len(k.targets) == len(k.columns) && to.hasKey(k.targets)
		on := ""
		for i := 0; ok && i < len(k.columns); i++ {
			from, target := t.column(k.columns[i]), to.column(k.targets[i])
			ok = from.kind == target.kind
			on += " AND a." + quoted(from.name) + " = b." + quoted(target.name)
		}
		if ok {
			orphans, err := read(ctx, db,
				fmt.Sprintf("SELECT count(*) FROM %s a WHERE a.%s IS NOT NULL AND NOT EXISTS (SELECT 1 FROM %s b WHERE 1%s)",
					quoted(t.name), strings.Join(strings.Split(quotedAll(k.columns), ", "), " IS NOT NULL AND a."), quoted(to.name),
					on))
			if err != nil {
				return err
			}
			ok = orphans[0][0] == "0"
			k.table = to.name
		}
		if ok {
			t.foreign = append(t.foreign, k)
		} else {
			t.lost = append(t.lost, text)
		}
	}
	return nil
}

// hasKey reports whether the columns are a key of t, in any order.
func (t *table) hasKey(columns []string) bool {
	same := func(key []string) bool {
		return len(key) == len(columns) && !slices.ContainsFunc(columns, func(c string) bool {
			return !slices.ContainsFunc(key, func(k string) bool { return strings.EqualFold(k, c) })
		})
	}
	return same(t.primary) || slices.ContainsFunc(t.unique, same)
}

// selected reads the rows of t, each value in the kind of its column. A sign before a column hides its declared type,
// by which the driver would change values.
func (t *table) selected() string {
	var list []string
	for _, c := range t.columns {
		switch q := quoted(c.name); c.kind {
		case texts:
			list = append(list, "CAST("+q+" AS TEXT)")
		case reals:
			list = append(list, "CAST("+q+" AS REAL)")
		case blobs:
			list = append(list, "CAST("+q+" AS BLOB)")
		default:
			list = append(list, "+"+q)
		}
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM " + quoted(t.name)
}
