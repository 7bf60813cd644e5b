package testsuite

import "slices"

// plant puts rows into the replica that golds and their neighbours look for.
//
// For half of the golds, in random order, it follows references from a random row through the tables of the gold and
// writes the literals into the row of each, so that all comparisons of the gold hold at once. A second joined row gets
// one value beside its border: the literal itself, one unit more or less, text in another case or with a blank behind.
func (v *variation) plant(list []witness, r random) {
	p := planter{variation: v, looked: map[*reference]map[string][]any{}}
	for _, i := range r.Perm(len(list)) {
		w := &list[i]
		if !r.happens(.5) {
			continue
		}
		p.write(w, p.joined(w, r), -1, r)
		if r.happens(.5) {
			p.write(w, p.joined(w, r), -1, r)
		}
		p.write(w, p.joined(w, r), r.IntN(len(w.conditions)), r)
	}
	v.done(len(list) > 0, "witness: literals of golds")
}

type planter struct {
	*variation
	looked map[*reference]map[string][]any
}

// joined returns a row for each table of w: one joined row where references connect them. Rows are nil for empty
// tables.
func (p *planter) joined(w *witness, r random) map[int][]any {
	rows := make(map[int][]any, len(w.tables))
	for len(rows) < len(w.tables) {
		next, row := -1, []any(nil)
		for _, i := range w.tables {
			if _, ok := rows[i]; ok {
				continue
			}
			if found, ok := p.linked(w, i, rows, r); ok {
				next, row = i, found
				break
			}
		}
		if next < 0 { // the first table, or a table that nothing connects
			next = w.tables[slices.IndexFunc(w.tables, func(i int) bool { _, ok := rows[i]; return !ok })]
			if candidates := p.candidates(w, next); len(candidates) > 0 {
				row = pick(r, candidates)
			}
		}
		rows[next] = row
	}
	return rows
}

// linked returns the row of table i that belongs to rows found before.
func (p *planter) linked(w *witness, i int, rows map[int][]any, r random) ([]any, bool) {
	t := p.tables[i]
	for j, known := range p.tables {
		row := rows[j]
		if row == nil {
			continue
		}
		for _, ref := range known.refs {
			if ref.to != t {
				continue
			}
			if key, ok := keyOf(row, ref.cols); ok {
				if target := p.targets(ref)[key]; target != nil {
					return target, true
				}
			}
		}
		for _, ref := range t.refs {
			if ref.to != known {
				continue
			}
			key, ok := keyOf(row, ref.refCols)
			if !ok {
				continue
			}
			var children [][]any
			for _, child := range p.candidates(w, i) {
				if k, ok := keyOf(child, ref.cols); ok && k == key {
					children = append(children, child)
				}
			}
			if len(children) > 0 {
				return pick(r, children), true
			}
			if len(t.rows) > 0 && !ref.isKey() {
				child := pick(r, t.rows)
				ref.set(child, row)
				return child, true
			}
		}
	}
	return nil, false
}

// targets returns the rows that a reference may point at, by key. Planting changes no key.
func (p *planter) targets(ref *reference) map[string][]any {
	if p.looked[ref] == nil {
		p.looked[ref] = make(map[string][]any, len(ref.to.rows))
		for _, row := range ref.to.rows {
			if key, ok := keyOf(row, ref.refCols); ok {
				p.looked[ref][key] = row
			}
		}
	}
	return p.looked[ref]
}

// candidates returns the rows of table i in which the conditions about keys hold, because keys cannot be written. If
// there are none, it returns all rows.
func (p *planter) candidates(w *witness, i int) [][]any {
	t := p.tables[i]
	rows := t.rows
	for _, c := range w.conditions {
		if c.table != i || c.op != "=" && c.op != "IN" {
			continue
		}
		if col := &t.columns[c.column]; !col.isKey() && !col.foreign {
			continue
		}
		var holding [][]any
		for _, row := range rows {
			if slices.ContainsFunc(c.literals, func(lit any) bool { return sameValue(row[c.column], lit) }) {
				holding = append(holding, row)
			}
		}
		if len(holding) > 0 {
			rows = holding
		}
	}
	return rows
}

func sameValue(a, b any) bool {
	ka, _ := keyOf([]any{a}, []int{0})
	kb, _ := keyOf([]any{b}, []int{0})
	return ka == kb
}

// write makes the conditions of w hold in rows. The condition numbered beside gets a neighbour instead.
func (p *planter) write(w *witness, rows map[int][]any, beside int, r random) {
	for n, c := range w.conditions {
		row := rows[c.table]
		if row == nil {
			continue
		}
		t := p.tables[c.table]
		col := &t.columns[c.column]
		value := c.satisfying(col, r)
		if n == beside {
			value = c.neighbour(col, r)
		}
		switch {
		case value == nil, col.isKey(), col.Generated, col.kind == fixed && !col.foreign:
		case col.foreign:
			p.point(c, row, value)
		case !sameValue(row[c.column], value):
			row[c.column] = value
		}
	}
}

// point lets a reference of one column point at the row with that key, if there is one.
func (p *planter) point(c condition, row []any, value any) {
	for _, ref := range p.tables[c.table].refs {
		if len(ref.cols) != 1 || ref.cols[0] != c.column || ref.isKey() {
			continue
		}
		key, _ := keyOf([]any{value}, []int{0})
		if target := p.targets(ref)[key]; target != nil && !sameValue(row[c.column], value) {
			ref.set(row, target)
		}
	}
}
