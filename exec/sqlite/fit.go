package sqlite

import (
	"context"
	"database/sql/driver"
)

// heavyValues is how many values of the greatest length a statement may have at hand at once: with the driver's copy of
// a row that makes some 50 MB.
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

// fit lowers the limit on the length of a value for a statement that could hold many at once, sorts, or calls a
// function that is slow on long values, and gives the sorts a larger cache. Every column, call, argument and || may
// have a register of its own, so that one row of printf('%.*c', 999999, 'x') 490 times over took 480 MB. Ordinary
// statements have few enough to be left alone.
func (h *held) fit(resultColumns int) error {
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

// setCache sets the size of the page cache in kB. The way back is that of the guard.
func (h *held) setCache(kB int) error {
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

// setLimit changes a limit that the guard has set; current is its value now. The way back is that of the guard.
func (h *held) setLimit(id int, current *int, value int) error {
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
