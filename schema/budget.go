package schema

import (
	"cmp"
	"slices"
	"sort"
)

// Step names one way in which a rendering was made shorter. The values are
// stable: traces hold them.
type Step string

// The steps of [Renderer], in their order, and then those of [Augmented].
const (
	FewerExamples  Step = "fewer_examples"  // one example a column
	NoExamples     Step = "no_examples"     // no examples
	NoValueNotes   Step = "no_value_notes"  // not what the values mean
	NoDescriptions Step = "no_descriptions" // no titles and descriptions
	FewerColumns   Step = "fewer_columns"   // not all columns outside of keys
	NameOnly       Step = "name_only"       // no columns

	FewerRows   Step = "fewer_rows"   // one sample row
	ShortValues Step = "short_values" // values of sample rows cut shorter
	NoRows      Step = "no_rows"      // no sample rows
)

// Reduction says what a text does not show of a table because of its budget.
// Step is the furthest step taken; those before it were taken too, as far as
// there was something to take.
type Reduction struct {
	Schema  string `json:"schema,omitempty"`  // of the table
	Table   string `json:"table"`             // that is shown with less
	Step    Step   `json:"step"`              // what was left out of it
	Columns int    `json:"columns,omitempty"` // columns not shown
}

// step is one way to shorten: apply changes the detail of one table, or width
// gives how many columns outside of keys a table has, for all of them at once.
type step struct {
	name  Step
	apply func(*detail)
	width func(i int) int
}

// fitter shortens blocks until they fit.
type fitter struct {
	n      int
	limit  size
	frame  frame
	detail []detail
	write  func(i int, d detail) block

	// rank orders the tables of a step, highest first; nil: by what it saves.
	rank func(before, after block) int

	blocks  []block
	sizes   []size
	reduced []Step // furthest step of each table; "" is none
	changed bool
	total   size // of bodies and tails
	over    bool
}

// fit takes the steps in their order until the text keeps to the limit.
func (f *fitter) fit(steps []step) {
	f.blocks = make([]block, f.n)
	f.sizes = make([]size, f.n)
	f.reduced = make([]Step, f.n)
	for i := range f.n {
		f.blocks[i] = f.write(i, f.detail[i])
		f.sizes[i] = f.blocks[i].size()
		f.total = f.total.plus(f.sizes[i])
	}
	for _, s := range steps {
		if f.fits() {
			return
		}
		if s.width != nil {
			f.narrow(s)
		} else {
			f.take(s)
		}
	}
	f.over = !f.fits()
}

// fits reports whether the text as it stands keeps to the limit.
func (f *fitter) fits() bool {
	if f.n == 0 || f.limit.runes <= 0 && f.limit.bytes <= 0 {
		return true
	}
	total := f.total.plus(sizeOf(f.frame.head))
	between := sizeOf(f.frame.between)
	total.runes += (f.n - 1) * between.runes
	total.bytes += (f.n - 1) * between.bytes
	if !f.frame.inline && f.frame.tailHead != "" && slices.ContainsFunc(f.blocks, func(b block) bool { return b.tail != "" }) {
		total = total.plus(sizeOf(f.frame.tailHead))
	}
	if f.changed {
		total = total.plus(sizeOf(f.frame.note))
	}
	return total.within(f.limit)
}

// take applies a step table by table.
func (f *fitter) take(s step) {
	type saving struct {
		table int
		d     detail
		b     block
		rank  int
	}
	var savings []saving
	for i := range f.n {
		d := f.detail[i]
		s.apply(&d)
		if d == f.detail[i] {
			continue
		}
		b := f.write(i, d)
		saved := f.sizes[i].bytes - b.size().bytes
		if saved <= 0 {
			continue
		}
		rank := saved
		if f.rank != nil {
			rank = f.rank(f.blocks[i], b)
		}
		savings = append(savings, saving{i, d, b, rank})
	}
	slices.SortStableFunc(savings, func(a, b saving) int { return cmp.Compare(b.rank, a.rank) })
	for _, v := range savings {
		f.put(v.table, v.d, v.b, s.name)
		if f.fits() {
			return
		}
	}
}

// narrow shows at most w columns outside of keys of any table, with the greatest
// w that fits, or 0.
func (f *fitter) narrow(s step) {
	widest := 0
	for i := range f.n {
		widest = max(widest, s.width(i))
	}
	if widest == 0 {
		return
	}
	full := slices.Clone(f.detail)
	blocks := slices.Clone(f.blocks)
	narrowTo := func(w int) {
		for i := range f.n {
			d, b := full[i], blocks[i]
			if s.width(i) > w {
				narrow := d
				narrow.columns = w
				// The note on what is missing can be longer than what is.
				if n := f.write(i, narrow); n.size().bytes < b.size().bytes {
					d, b = narrow, n
				}
			}
			f.put(i, d, b, "")
		}
	}
	w := sort.Search(widest, func(k int) bool {
		narrowTo(widest - 1 - k)
		return f.fits()
	})
	narrowTo(max(widest-1-w, 0))
	for i := range f.n {
		if f.detail[i].columns >= 0 {
			f.reduced[i] = s.name
			f.changed = true
		}
	}
}

// put replaces the block of table i; a step that is not "" is noted.
func (f *fitter) put(i int, d detail, b block, s Step) {
	z := b.size()
	f.total.runes += z.runes - f.sizes[i].runes
	f.total.bytes += z.bytes - f.sizes[i].bytes
	f.detail[i], f.blocks[i], f.sizes[i] = d, b, z
	if s != "" {
		f.reduced[i] = s
		f.changed = true
	}
}

// rendering is the outcome; name gives schema and name of a table.
func (f *fitter) rendering(name func(i int) (schema, table string)) Rendering {
	text := f.frame.assemble(f.blocks, f.changed)
	out := Rendering{Text: text, Tokens: EstimateTokens(text), OverBudget: f.over}
	for i, s := range f.reduced {
		if s == "" {
			continue
		}
		schema, table := name(i)
		out.Reduced = append(out.Reduced, Reduction{Schema: schema, Table: table, Step: s, Columns: f.blocks[i].missing})
	}
	return out
}

func (b block) size() size { return sizeOf(b.body).plus(sizeOf(b.tail)) }
