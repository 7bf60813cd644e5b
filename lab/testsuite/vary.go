package testsuite

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// The shares and factors of the operators.
const (
	noise       = 0.10 // each number moves by up to this share of it, up or down
	redrawShare = 0.50
	rewireShare = 0.30
	deleteShare = 0.10
	nullShare   = 0.08
)

// Wide replicas move values across borders such as x > 50000, narrow ones along them.
var (
	wideFactors   = []float64{.25, .5, 2, 3, 4}
	narrowFactors = []float64{.8, .89, .93, 1.07, 1.11, 1.25}
)

const (
	wideDays   = 400
	narrowDays = 45
)

// variation is one replica in the making.
type variation struct {
	*database
	seed uint64
	wide bool     // true for odd draws
	log  []string // what was done: "scale people.salary by 0.5"
}

// vary applies all operators to a copy of base, in the order of the package doc.
func vary(base *database, witnesses []witness, seed uint64, draw int) *variation {
	v := &variation{database: base.clone(), seed: seed, wide: draw%2 == 1}
	name := strconv.Itoa(draw)
	for _, t := range v.tables {
		v.scale(t, newRandom(seed, name, "scale", t.def.Name))
		v.shift(t, newRandom(seed, name, "shift", t.def.Name))
		v.redraw(t, newRandom(seed, name, "redraw", t.def.Name))
	}
	for _, t := range v.tables {
		v.rewire(t, newRandom(seed, name, "rewire", t.def.Name))
	}
	v.remove(newRandom(seed, name, "delete"))
	for _, t := range v.tables {
		v.blank(t, newRandom(seed, name, "null", t.def.Name))
	}
	v.plant(witnesses, newRandom(seed, name, "witness"))
	return v
}

// done logs an operation that changed something.
func (v *variation) done(changed bool, format string, args ...any) {
	if changed {
		v.log = append(v.log, fmt.Sprintf(format, args...))
	}
}

// scale multiplies the numbers of a column by one factor, with noise a row.
func (v *variation) scale(t *table, r random) {
	for i := range t.columns {
		c := &t.columns[i]
		if c.kind != number {
			continue
		}
		factor := pick(r, narrowFactors)
		if v.wide {
			factor = pick(r, wideFactors)
		}
		changed := false
		for _, row := range t.rows {
			if row[i] == nil {
				continue
			}
			if n := c.scaled(row[i], factor*(1+noise*(2*r.Float64()-1))); n != row[i] {
				row[i] = n
				changed = true
			}
		}
		v.done(changed, "scale %s.%s by %g", t.def.Name, c.Name, factor)
	}
}

// scaled keeps the storage class of a value, and the decimals of its column.
func (c *column) scaled(value any, factor float64) any {
	switch n := value.(type) {
	case int64:
		x := math.Round(float64(n) * factor)
		if c.decimal { // a whole number among others: DECIMAL(10,2) keeps 100.00 as 100
			return c.rounded(float64(n) * factor)
		}
		if math.Abs(x) >= 1<<62 {
			return value
		}
		return int64(x)
	case float64:
		return c.rounded(n * factor)
	}
	return value
}

// rounded returns x with the decimals of the column.
func (c *column) rounded(x float64) float64 {
	p := math.Pow10(c.scale)
	if r := math.Round(x*p) / p; !math.IsInf(r, 0) && !math.IsNaN(r) {
		return r
	}
	return x
}

// shift moves all dates of a table by the same number of days, so that the dates of a row keep their order.
func (v *variation) shift(t *table, r random) {
	days := 1 + r.IntN(map[bool]int{true: wideDays, false: narrowDays}[v.wide])
	if r.happens(.5) {
		days = -days
	}
	for i := range t.columns {
		c := &t.columns[i]
		if c.kind != date {
			continue
		}
		for _, row := range t.rows {
			if text, ok := row[i].(string); ok {
				row[i] = shifted(text, c.layout, days)
			}
		}
		v.done(len(t.rows) > 0, "shift %s.%s by %d days", t.def.Name, c.Name, days)
	}
}

// shifted moves a date, unless it would leave the four digits of its year.
func shifted(text, layout string, days int) string {
	at, err := time.Parse(layout, text)
	if err != nil {
		return text
	}
	if at = at.AddDate(0, 0, days); at.Year() < 1 || at.Year() > 9999 {
		return text
	}
	return at.Format(layout)
}

// redraw gives half of the cells of a column another of its values.
func (v *variation) redraw(t *table, r random) {
	for i := range t.columns {
		c := &t.columns[i]
		if c.kind != choice || len(c.distinct) < 2 {
			continue
		}
		changed := false
		for _, row := range t.rows {
			if row[i] != nil && r.happens(redrawShare) {
				row[i] = pick(r, c.distinct)
				changed = true
			}
		}
		v.done(changed, "redraw %s.%s", t.def.Name, c.Name)
	}
}

// rewire points references at another row. A reference that is part of a key stays, because the key names the row. Some
// rows whose reference the base breaks are mended by this; without that nothing joins over them.
func (v *variation) rewire(t *table, r random) {
	for _, ref := range t.refs {
		if len(ref.to.rows) == 0 || ref.isKey() {
			continue
		}
		changed := false
		for _, row := range t.rows {
			if _, ok := keyOf(row, ref.cols); ok && r.happens(rewireShare) {
				target := pick(r, ref.to.rows)
				if _, ok := keyOf(target, ref.refCols); ok {
					ref.set(row, target)
					changed = true
				}
			}
		}
		v.done(changed, "rewire %s.%s", t.def.Name, t.columns[ref.cols[0]].Name)
	}
}

// isKey reports whether the reference shares a column with a key, or with another reference.
func (ref *reference) isKey() bool {
	for _, c := range ref.cols {
		if ref.from.columns[c].isKey() {
			return true
		}
		for _, other := range ref.from.refs {
			if other != ref && slices.Contains(other.cols, c) {
				return true
			}
		}
	}
	return false
}

func (ref *reference) set(row, target []any) {
	for i, c := range ref.cols {
		row[c] = target[ref.refCols[i]]
	}
}

// blank makes cells NULL where the schema allows it.
func (v *variation) blank(t *table, r random) {
	for i := range t.columns {
		c := &t.columns[i]
		if !c.nullable() || v.sharedReference(t, i) {
			continue
		}
		changed := false
		for _, row := range t.rows {
			if row[i] != nil && r.happens(nullShare) {
				row[i] = nil
				changed = true
			}
		}
		v.done(changed, "null %s.%s", t.def.Name, c.Name)
	}
}

// sharedReference reports whether column i belongs to a reference of several columns. NULL in one of them would change
// what the others mean.
func (v *variation) sharedReference(t *table, i int) bool {
	for _, ref := range t.refs {
		if len(ref.cols) > 1 && slices.Contains(ref.cols, i) {
			return true
		}
	}
	return false
}

// remove deletes rows that nothing refers to. A table keeps at least one row.
func (v *variation) remove(r random) {
	used := map[*table]map[string]bool{}
	byCols := map[*table][][]int{}
	for _, ref := range v.refs {
		if used[ref.to] == nil {
			used[ref.to] = map[string]bool{}
		}
		byCols[ref.to] = append(byCols[ref.to], ref.refCols)
		for _, row := range ref.from.rows {
			if k, ok := keyOf(row, ref.cols); ok {
				used[ref.to][fmt.Sprint(ref.refCols)+k] = true
			}
		}
	}
	for _, t := range v.tables {
		var kept [][]any
		for i, row := range t.rows {
			last := len(kept) == 0 && i == len(t.rows)-1
			if !last && !referred(row, byCols[t], used[t]) && r.happens(deleteShare) {
				continue
			}
			kept = append(kept, row)
		}
		v.done(len(kept) < len(t.rows), "delete %d rows of %s", len(t.rows)-len(kept), t.def.Name)
		t.rows = kept
	}
}

func referred(row []any, refCols [][]int, used map[string]bool) bool {
	for _, cols := range refCols {
		if k, ok := keyOf(row, cols); ok && used[fmt.Sprint(cols)+k] {
			return true
		}
	}
	return false
}
