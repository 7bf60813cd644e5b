package sqlite

import (
	"context"
	"database/sql/driver"
)

// heavyValues is how many values of the greatest length a statement may have at once: some 50 MB, with the copy of a
// row in the driver.
const heavyValues = 24

// A sort writes runs of the size of the page cache to a file and, when it merges them, has one row of each run in
// memory. 600 rows of 900 kB took 280 MB with the usual cache of 2 MB and 48 MB with one of 16 MB; shorter rows do the
// rest.
const (
	sortedShare = 10     // rows that are sorted are shorter by this
	sortedFloor = 50     // and by at most this, however many sorts there are
	sortCache   = 16_000 // kB for all sorts of a statement
	usualCache  = 2_000  // kB, SQLite's default
)

// fit lowers the limit on the length of values for a statement that may hold many at once, sorts, or calls a function
// that is slow on long values. It gives sorts a larger cache. Every column, call, argument and || may take a register
// of its own: one row of 490 times printf('%.*c', 999999, 'x') took 480 MB. Ordinary statements have too few of them to
// be affected.
func (h *conn) fit(resultColumns int) error {
	most, l := h.longest(), h.load
	length := most
	h.reason = ""
	lower := func(to int, reason string) {
		if to < length {
			length, h.reason = to, reason
		}
	}
	if values := max(resultColumns, l.commas) + l.joins + len(h.gate.functions); values > heavyValues {
		lower(most*heavyValues/values, "it has many values side by side")
	}
	if l.Sorts > 0 {
		lower(most/min(sortedShare*l.Sorts, sortedFloor), "it sorts or groups")
		if err := h.setCache(max(usualCache, sortCache/l.Sorts)); err != nil {
			return err
		}
	}
	if l.slow > 0 {
		lower(most/l.slow, "it calls trim, replace or the like with a computed second argument")
	}
	return h.setLimit(limitLength, &h.length, length)
}

// setCache sets the size of the page cache in kB. Release restores it.
func (h *conn) setCache(kB int) error {
	if kB == h.cache {
		return nil
	}
	err := h.raw("setting the cache", func(dc driver.Conn) error {
		if h.cache > 0 {
			return pragma{"cache_size", int64(-kB)}.write(context.Background(), dc)
		}
		_, err := h.set(context.Background(), dc, "cache_size", int64(-kB))
		return err
	})
	h.cache = kB
	return err
}

// setLimit changes a limit whose value is *current now. Release restores it.
func (h *conn) setLimit(id int, current *int, value int) error {
	if value == *current {
		return nil
	}
	err := h.raw("setting a limit", func(driver.Conn) error {
		h.hooks.SetLimit(id, value)
		return nil
	})
	*current = value
	return err
}
