package result

import "slices"

// Sketch is a small sample of the rows of a result by which two results can be
// compared in part: see [Overlap]. It holds the smallest row hashes, so two
// sketches of the same size sample the same rows.
//
// The zero Sketch is of an unknown result and overlaps with nothing.
type Sketch struct {
	Hashes []uint64 // distinct, ascending
	Rows   int      // rows sampled from; more than len(Hashes) when some were left out
}

// Sketch returns the k smallest row hashes of t, k at least 1. In Bag and
// Ordered mode the copies of a row count as different rows, in Set mode as one;
// the order of rows never matters. A nil or truncated table has the zero Sketch.
func (e Equality) Sketch(t *Table, k int) Sketch {
	if !known(t) {
		return Sketch{}
	}
	enc := encoder{digits: e.digits()}
	rows := enc.rowHashes(t.Rows)
	slices.SortFunc(rows, rowHash.compare)
	if e.Mode == Set {
		rows = slices.Compact(rows)
	}
	hashes := make([]uint64, len(rows))
	copies := uint64(0)
	for i, r := range rows {
		if i > 0 && r == rows[i-1] {
			copies++
		} else {
			copies = 0
		}
		hashes[i] = r.hi
		if copies > 0 {
			hashes[i] = mix(r, copies)
		}
	}
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	n := len(hashes)
	return Sketch{Hashes: slices.Clip(slices.Clone(hashes[:min(max(k, 1), n)])), Rows: n}
}

// mix gives the copy'th copy of a row a hash of its own.
func mix(r rowHash, copy uint64) uint64 {
	var enc encoder
	return enc.rowHashes([][]any{{int64(r.hi), int64(r.lo), int64(copy)}})[0].hi
}

// Overlap estimates how much two results have in common: rows in both divided by
// rows in either (the Jaccard index), in 0..1. It is exact when neither sketch
// left rows out; else its standard error is about 0.5/√k. Two results without
// rows, or of different column counts, overlap by 0.
func Overlap(a, b Sketch) float64 {
	// The smallest hashes of the union are a fair sample of it as far as both
	// sides are known.
	limit := len(a.Hashes) + len(b.Hashes)
	if len(a.Hashes) < a.Rows {
		limit = min(limit, len(a.Hashes))
	}
	if len(b.Hashes) < b.Rows {
		limit = min(limit, len(b.Hashes))
	}
	both, either := 0, 0
	for i, j := 0, 0; either < limit && (i < len(a.Hashes) || j < len(b.Hashes)); either++ {
		switch {
		case j == len(b.Hashes) || i < len(a.Hashes) && a.Hashes[i] < b.Hashes[j]:
			i++
		case i == len(a.Hashes) || a.Hashes[i] > b.Hashes[j]:
			j++
		default:
			both++
			i++
			j++
		}
	}
	if either == 0 {
		return 0
	}
	return float64(both) / float64(either)
}
