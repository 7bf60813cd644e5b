package vote

import "slices"

// Overrule makes cluster i the winner, by a judge's word against the count. The
// others keep their order; the ballot's confidence becomes that of cluster i,
// which its votes and doubts give it. An i that names no cluster, or the winner,
// changes nothing.
func (b *Ballot) Overrule(i int) {
	if i <= 0 || i >= len(b.Clusters) {
		return
	}
	chosen := b.Clusters[i]
	// A copy: another Ballot may share the list.
	b.Clusters = slices.Insert(slices.Delete(slices.Clone(b.Clusters), i, i+1), 0, chosen)
	b.Confidence = chosen.Confidence
	b.Overruled = true
}
