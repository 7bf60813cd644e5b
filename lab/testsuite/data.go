package testsuite

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
)

// kind says how the values of a column may vary.
type kind uint8

const (
	fixed   kind = iota // left as it is
	number              // scaled
	date                // shifted by days
	choice              // redrawn from the values that it has
	literal             // text with many values, or numbers whose size means nothing: only literals of golds go in
)

// column is a column of the base and what may be done to it.
type column struct {
	schema.Column
	kind     kind
	key      bool // it is part of a primary key or a unique constraint
	foreign  bool // it is part of a foreign key
	pointed  bool // some foreign key points at it
	scale    int  // how many decimals its numbers have
	decimal  bool // it holds numbers that are not whole
	text     bool // it holds text
	layout   string
	distinct []any // of a choice: its values without NULL, in order of appearance
}

// isKey reports whether changing single cells could break a key.
func (c *column) isKey() bool { return c.key || c.pointed }

// nullable reports whether a cell may become NULL.
func (c *column) nullable() bool { return !c.NotNull && !c.isKey() && !c.Generated }

// table is a table of the base with its rows.
type table struct {
	def     schema.Table
	columns []column
	unique  [][]int // columns of the primary key and of unique constraints
	refs    []*reference
	rows    [][]any

	uncheckable bool // SQLite cannot check its foreign keys, because they point at no key
}

// reference is a foreign key.
type reference struct {
	from, to      *table
	cols, refCols []int
	loose         bool // broken in the base
}

// database is what is varied: the base tables, in the order of the schema.
type database struct {
	tables []*table
	refs   []*reference
}

// dateLayouts are the texts that are read as dates. All have a fixed width, so that their text order is their order in
// time.
var dateLayouts = []string{"2006-01-02", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04:05.000",
	"2006/01/02"}

// mostChoices is how many distinct values a text column may have to be redrawn.
const mostChoices = 200

// load reads all base tables of db. The columns are not classified yet.
func load(ctx context.Context, db *exec.DB) (*database, error) {
	s, err := db.Schema(ctx)
	if err != nil {
		return nil, err
	}
	d := &database{}
	for _, def := range s.Tables {
		if def.Kind != "table" || def.Schema != "" {
			continue
		}
		t, err := loadTable(ctx, db, def)
		if err != nil {
			return nil, err
		}
		d.tables = append(d.tables, t)
	}
	d.link()
	return d, nil
}

// everything is the bounds under which a table of the base is read.
var everything = exec.Bounds{Rows: 2_000_000, Bytes: 1 << 30, CellBytes: 1_000_000, Columns: 500,
	Timeout: 5 * time.Minute}

func loadTable(ctx context.Context, db *exec.DB, def schema.Table) (*table, error) {
	quote := db.Language().Quote
	var names []string
	for _, c := range def.Columns {
		names = append(names, quote(def.Name)+"."+quote(c.Name))
	}
	rows, err := db.QueryWithin(ctx, "SELECT "+strings.Join(names, ", ")+" FROM "+quote(def.Name), everything)
	if err != nil {
		return nil, fmt.Errorf("reading table %s: %w", def.Name, err)
	}
	if rows.Truncated {
		return nil, fmt.Errorf("reading table %s: more than %d rows or %d bytes", def.Name, everything.Rows, everything.Bytes)
	}
	t := &table{def: def, rows: rows.Rows}
	for _, c := range def.Columns {
		t.columns = append(t.columns, column{Column: c})
	}
	for _, list := range append([][]string{def.PrimaryKey}, def.Unique...) {
		cols := t.indexes(list)
		for _, c := range cols {
			t.columns[c].key = true
		}
		if len(cols) > 0 {
			t.unique = append(t.unique, cols)
		}
	}
	return t, nil
}

// indexes returns the numbers of named columns, nil if one is not there.
func (t *table) indexes(names []string) []int {
	var cols []int
	for _, name := range names {
		i := t.index(name)
		if i < 0 {
			return nil
		}
		cols = append(cols, i)
	}
	return cols
}

func (t *table) index(name string) int {
	return slices.IndexFunc(t.columns, func(c column) bool { return strings.EqualFold(c.Name, name) })
}

func (d *database) table(name string) *table {
	i := slices.IndexFunc(d.tables, func(t *table) bool { return strings.EqualFold(t.def.Name, name) })
	if i < 0 {
		return nil
	}
	return d.tables[i]
}

// link finds the references between tables.
func (d *database) link() {
	for _, t := range d.tables {
		for _, fk := range t.def.ForeignKeys {
			to := d.table(fk.RefTable)
			if to == nil || fk.RefSchema != "" {
				continue
			}
			r := &reference{from: t, to: to, cols: t.indexes(fk.Columns), refCols: to.indexes(fk.RefColumns)}
			if len(r.cols) == 0 || len(r.cols) != len(r.refCols) {
				continue
			}
			r.loose = !r.holds()
			d.add(r)
		}
	}
}

func (d *database) add(r *reference) {
	for i, c := range r.cols {
		r.from.columns[c].foreign = true
		r.to.columns[r.refCols[i]].pointed = true
	}
	r.from.refs = append(r.from.refs, r)
	d.refs = append(d.refs, r)
}

// holds reports whether every row that refers to something finds it.
func (ref *reference) holds() bool {
	known := make(map[string]bool, len(ref.to.rows))
	for _, row := range ref.to.rows {
		if k, ok := keyOf(row, ref.refCols); ok {
			known[k] = true
		}
	}
	for _, row := range ref.from.rows {
		if k, ok := keyOf(row, ref.cols); ok && !known[k] {
			return false
		}
	}
	return true
}

// keyOf spells the values of some columns of a row, so that equal values have equal texts and no others do. ok is false
// if one is NULL.
func keyOf(row []any, cols []int) (key string, ok bool) {
	var b strings.Builder
	for _, c := range cols {
		if row[c] == nil {
			return "", false
		}
		writeKey(&b, row[c])
	}
	return b.String(), true
}

func writeKey(b *strings.Builder, v any) {
	switch v := v.(type) {
	case int64:
		b.WriteString("n" + strconv.FormatInt(v, 10))
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			b.WriteString("n" + strconv.FormatInt(int64(v), 10))
		} else {
			b.WriteString("n" + strconv.FormatFloat(v, 'g', -1, 64))
		}
	case string:
		b.WriteString("t" + strconv.Itoa(len(v)) + ":" + v)
	case []byte:
		b.WriteString("b" + strconv.Itoa(len(v)) + ":" + string(v))
	default:
		b.WriteString("0")
	}
	b.WriteByte(';')
}

// classify says of every column what may be done to it.
func (t *table) classify() {
	for i := range t.columns {
		if c := &t.columns[i]; !c.isKey() && !c.foreign && !c.Generated {
			t.classifyColumn(i, c)
		}
	}
}

func (t *table) classifyColumn(i int, c *column) {
	var ints, floats, texts, others int
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	layouts := slices.Clone(dateLayouts)
	seen := map[string]bool{}
	for _, row := range t.rows {
		switch v := row[i].(type) {
		case nil:
			continue
		case int64:
			ints++
			low, high = min(low, v), max(high, v)
		case float64:
			floats++
			c.scale = max(c.scale, decimals(v))
		case string:
			texts++
			layouts = slices.DeleteFunc(layouts, func(l string) bool { _, err := time.Parse(l, v); return err != nil })
		default:
			others++
		}
		if k, _ := keyOf(row, []int{i}); len(seen) <= mostChoices && !seen[k] {
			seen[k] = true
			c.distinct = append(c.distinct, row[i])
		}
	}
	few := len(c.distinct) <= mostChoices
	c.text = texts > 0
	switch {
	case others > 0 || ints+floats > 0 && texts > 0:
	case ints+floats+texts == 0:
		c.classifyEmpty()
	case texts > 0 && len(layouts) > 0:
		c.kind, c.layout = date, layouts[0]
	case texts > 0 && few:
		c.kind = choice
	case texts > 0:
		c.kind = literal
	case floats == 0 && low >= 0 && high <= 1: // a flag
		c.kind = choice
	case floats == 0 && (low >= 1800 && high <= 2100 || isIdentifier(c.Name)): // a year, or a key that nobody declared
		c.kind = literal
	default:
		c.kind, c.decimal = number, floats > 0
	}
	if c.kind != choice {
		c.distinct = nil
	}
}

// classifyEmpty goes by the declared type of a column without values, as SQLite does for its affinity
// (www.sqlite.org/datatype3.html, 3.1).
func (c *column) classifyEmpty() {
	declared := strings.ToUpper(c.Type)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(declared, p) })
	}
	switch {
	case has("INT"):
		c.kind = literal
	case has("CHAR", "CLOB", "TEXT"):
		c.kind, c.text = literal, true
	case has("REAL", "FLOA", "DOUB", "DEC", "NUMERIC"):
		c.kind, c.decimal = number, true
	}
}

// decimals returns how many decimals a number is written with, at most 6.
func decimals(v float64) int {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if _, after, ok := strings.Cut(text, "."); ok {
		return min(len(after), 6)
	}
	return 0
}

// isIdentifier reports whether a name is that of an identifier, whose size means nothing.
func isIdentifier(name string) bool {
	last := name[strings.LastIndexAny(name, "_ -.$")+1:]
	for i := len(last) - 1; i > 0; i-- { // customerNumber
		if 'A' <= last[i] && last[i] <= 'Z' && !('A' <= last[i-1] && last[i-1] <= 'Z') {
			last = last[i:]
			break
		}
	}
	switch strings.ToLower(last) {
	case "id", "ids", "key", "code", "number", "no", "nr", "num", "uuid", "index":
		return true
	}
	return false
}

// clone returns a copy whose rows may be changed.
func (d *database) clone() *database {
	c := &database{}
	to := make(map[*table]*table, len(d.tables))
	for _, t := range d.tables {
		n := *t
		n.refs = nil
		n.rows = make([][]any, len(t.rows))
		for i, row := range t.rows {
			n.rows[i] = slices.Clone(row)
		}
		to[t] = &n
		c.tables = append(c.tables, &n)
	}
	for _, r := range d.refs {
		n := *r
		n.from, n.to = to[r.from], to[r.to]
		n.from.refs = append(n.from.refs, &n)
		c.refs = append(c.refs, &n)
	}
	return c
}
