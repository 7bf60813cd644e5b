package testsuite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

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

// duplicate adds copies of rows under fresh keys. The copies have no children.
func (v *variation) duplicate(t *table, r random) {
	k := newKeys(t)
	n := len(t.rows)
	for i := range n {
		if r.happens(duplicateShare) {
			if row, ok := k.copyOf(t.rows[i], r); ok {
				t.rows = append(t.rows, row)
			}
		}
	}
	v.done(len(t.rows) > n, "duplicate %d rows of %s", len(t.rows)-n, t.def.Name)
}

// keys knows the values of the keys of a table, and makes fresh ones.
type keys struct {
	t     *table
	taken []map[string]bool // by unique constraint
	next  map[int]int64     // column to the next free number
}

func newKeys(t *table) *keys {
	k := &keys{t: t, next: map[int]int64{}}
	for _, cols := range t.unique {
		taken := make(map[string]bool, len(t.rows))
		for _, row := range t.rows {
			if key, ok := keyOf(row, cols); ok {
				taken[key] = true
			}
		}
		k.taken = append(k.taken, taken)
		for _, c := range cols {
			for _, row := range t.rows {
				switch n := row[c].(type) {
				case int64:
					k.next[c] = max(k.next[c], n+1)
				case float64:
					if n < 1<<53 {
						k.next[c] = max(k.next[c], int64(n)+1)
					}
				}
			}
		}
	}
	return k
}

// tries is how often a key made of references is drawn before giving up.
const tries = 20

// copyOf returns a copy of row with fresh keys, which are then taken. ok is false where none was found.
func (k *keys) copyOf(row []any, r random) (made []any, ok bool) {
	made = append([]any(nil), row...)
	for i, cols := range k.t.unique {
		if !k.isFree(i, made, cols) && !k.refresh(i, made, cols, r) {
			return nil, false
		}
	}
	// A change for one constraint may have hit another.
	for i, cols := range k.t.unique {
		if !k.isFree(i, made, cols) {
			return nil, false
		}
	}
	for i, cols := range k.t.unique {
		if key, ok := keyOf(made, cols); ok {
			k.taken[i][key] = true
		}
	}
	return made, true
}

// isFree reports whether a constraint allows the row. SQLite takes NULLs as different.
func (k *keys) isFree(i int, row []any, cols []int) bool {
	key, ok := keyOf(row, cols)
	return !ok || !k.taken[i][key]
}

func (k *keys) refresh(i int, row []any, cols []int, r random) bool {
	for _, c := range cols {
		col := &k.t.columns[c]
		if col.foreign || col.Generated {
			continue
		}
		old := row[c]
		for n := range tries {
			if row[c] = k.fresh(c, old, n); row[c] != nil && k.isFree(i, row, cols) {
				return true
			}
		}
		row[c] = old
	}
	for _, ref := range k.t.refs {
		if ref.loose || len(ref.to.rows) == 0 || !within(ref.cols, cols) {
			continue
		}
		for range tries {
			ref.set(row, pick(r, ref.to.rows))
			if k.isFree(i, row, cols) {
				return true
			}
		}
	}
	return false
}

func within(part, whole []int) bool {
	for _, c := range part {
		if !slices.Contains(whole, c) {
			return false
		}
	}
	return true
}

// fresh returns a value for a key column: the next number, a later date, or a text with a number behind it. nil for
// anything else.
func (k *keys) fresh(c int, old any, n int) any {
	switch old := old.(type) {
	case int64:
		k.next[c]++
		return k.next[c] - 1
	case float64:
		k.next[c]++
		return float64(k.next[c] - 1)
	case string:
		for _, layout := range dateLayouts {
			if _, err := time.Parse(layout, old); err == nil {
				return shifted(old, layout, n+1)
			}
		}
		return strings.TrimRight(old, "0123456789") + strconv.Itoa(1000+n+37*len(k.t.rows))
	}
	return nil
}
