package schema

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"unicode/utf8"
)

// Reduction reports what a text leaves out of a table to stay within its budget.
//
// A text loses these parts, in this order, until it fits:
//
//  1. "fewer_examples": all examples of a column but one;
//  2. "no_examples": all examples;
//  3. "no_value_notes": the meanings of values;
//  4. "no_descriptions": titles and descriptions;
//  5. "fewer_columns": as many columns without a key as necessary;
//  6. "name_only": all columns, but not the name of the table.
type Reduction struct {
	Table TableName `json:"table"` // the table that shows less
	// the last step; earlier steps were taken too if they saved anything
	Step       string `json:"step"`
	OnlyValues bool   `json:"only_values,omitempty"` // the steps removed only stored values
	Columns    int    `json:"columns,omitempty"`     // number of columns not shown
}

// step is one way to shorten a table. Steps go table by table: the table comes first whose text the step shortens most,
// of equal ones the first. "fewer_columns" has no apply: it is taken for all tables at once.
type step struct {
	name   string
	values bool // it takes away stored values only
	apply  func(*detail)
}

// size counts a text in both units that a budget may have.
type size struct{ runes, bytes int }

func sizeOf(s string) size { return size{utf8.RuneCountInString(s), len(s)} }

func (s size) plus(o size) size  { return size{s.runes + o.runes, s.bytes + o.bytes} }
func (s size) minus(o size) size { return size{s.runes - o.runes, s.bytes - o.bytes} }

// within reports whether s keeps to limit, in which 0 is no limit.
func (s size) within(limit size) bool {
	return (limit.runes <= 0 || s.runes <= limit.runes) && (limit.bytes <= 0 || s.bytes <= limit.bytes)
}

// sizes holds the size of a table's text in each section.
type sizes [maxSections]size

func (z *sizes) sum() size { return z[0].plus(z[1]) }

// fitter writes tables and takes detail away from them until the text fits.
//
// It writes text once if that fits. Otherwise each step measures every table at most once, so all steps together are
// linear in the size of the schema.
type fitter struct {
	views  []view
	detail []detail // of each table
	layout layout
	limit  size

	sizes   []sizes // of each table, as last written or measured
	reduced []step  // the last step of each table
	total   size    // of all tables, without what stands around them
	filled  [maxSections]int
	over    bool
	scratch writer
}

// fit returns the text, shortened as far as needed.
func (f *fitter) fit(ctx context.Context) (string, error) {
	f.sizes = make([]sizes, len(f.views))
	f.reduced = make([]step, len(f.views))
	text, err := f.text(ctx)
	if err != nil || len(f.views) == 0 || sizeOf(text).within(f.limit) {
		return text, err
	}
	for i := range f.sizes {
		f.count(&f.sizes[i], 1)
	}
	for _, s := range f.layout.steps {
		if f.fits(f.total) {
			break
		}
		take := f.take
		if s.apply == nil {
			take = f.narrow
		}
		if err := take(ctx, s); err != nil {
			return "", err
		}
	}
	f.over = !f.fits(f.total)
	return f.text(ctx)
}

// text writes all tables and notes their sizes.
func (f *fitter) text(ctx context.Context) (string, error) {
	guess := 0 // of the length: enough for most texts
	for i := range f.views {
		guess += 90 * (1 + len(f.views[i].columns))
	}
	w := make(writer, 0, guess)
	for at, s := range f.layout.sections {
		next := w.list(s.head, s.sep)
		for i := range f.views {
			if err := ctx.Err(); err != nil {
				return "", err
			}
			if f.sizes[i][at] = f.write(i, f.detail[i], at); len(f.scratch) > 0 {
				next()
				w = append(w, f.scratch...)
			}
		}
	}
	return string(w), nil
}

// fits reports whether a text whose tables take total keeps to the limit.
func (f *fitter) fits(total size) bool {
	for at, s := range f.layout.sections {
		if n := f.filled[at]; n > 0 {
			sep := sizeOf(s.sep)
			total = total.plus(sizeOf(s.head)).plus(size{(n - 1) * sep.runes, (n - 1) * sep.bytes})
		}
	}
	return total.within(f.limit)
}

// write writes what a section says about table i into scratch.
func (f *fitter) write(i int, d detail, section int) size {
	f.scratch = f.scratch[:0]
	f.layout.write(&f.scratch, &f.views[i], d, section)
	return f.scratch.size()
}

// measure returns the sizes of table i with detail d.
func (f *fitter) measure(i int, d detail) (z sizes) {
	for at := range f.layout.sections {
		z[at] = f.write(i, d, at)
	}
	return z
}

// count adds the sizes of a table to the total, or takes them away.
func (f *fitter) count(z *sizes, sign int) {
	for at, part := range z {
		f.total = f.total.plus(size{sign * part.runes, sign * part.bytes})
		if part.bytes > 0 {
			f.filled[at] += sign
		}
	}
}

// put gives table i another detail.
func (f *fitter) put(i int, d detail, z sizes, s step) {
	f.count(&f.sizes[i], -1)
	f.count(&z, 1)
	f.detail[i], f.sizes[i], f.reduced[i] = d, z, s
}

// take applies a step table by table, the first of the ranking first.
func (f *fitter) take(ctx context.Context, s step) error {
	type saving struct {
		table, bytes int
		d            detail
		z            sizes
	}
	savings := make([]saving, 0, len(f.views))
	for i := range f.views {
		if err := ctx.Err(); err != nil {
			return err
		}
		d := f.detail[i]
		if s.apply(&d); d == f.detail[i] {
			continue
		}
		z := f.measure(i, d)
		if saved := f.sizes[i].sum().bytes - z.sum().bytes; saved > 0 {
			savings = append(savings, saving{i, saved, d, z})
		}
	}
	slices.SortStableFunc(savings, func(a, b saving) int { return cmp.Compare(b.bytes, a.bytes) })
	for _, v := range savings {
		f.put(v.table, v.d, v.z, s)
		if f.fits(f.total) {
			break
		}
	}
	return nil
}

// narrow shows at most w columns outside of keys of any table, with the greatest w that fits, or 0.
func (f *fitter) narrow(ctx context.Context, s step) (err error) {
	widest := 0
	for i := range f.views {
		widest = max(widest, f.views[i].plain)
	}
	k := sort.Search(widest, func(k int) bool {
		total := f.total
		for i := range f.views {
			err = cmp.Or(err, ctx.Err())
			if _, z, shorter := f.narrower(i, widest-1-k); err == nil && shorter {
				total = total.minus(f.sizes[i].sum()).plus(z.sum())
			}
		}
		return f.fits(total)
	})
	w := max(widest-1-k, 0)
	for i := range f.views {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if d, z, shorter := f.narrower(i, w); shorter {
			f.put(i, d, z, s)
		}
	}
	return nil
}

// narrower measures table i with w columns outside of keys, which need not be shorter: the note on what is missing can
// be longer than what is missing.
func (f *fitter) narrower(i, w int) (d detail, z sizes, shorter bool) {
	if d = f.detail[i]; f.views[i].plain <= w {
		return d, z, false
	}
	d.columns = w
	z = f.measure(i, d)
	return d, z, z.sum().bytes < f.sizes[i].sum().bytes
}
