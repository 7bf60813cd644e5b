package testsuite

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// random draws numbers. It does not use rand.Rand, because Go may change how that turns its source into numbers, and a
// suite must stay the same.
type random struct{ source *rand.PCG }

// newRandom returns the generator of one purpose. Each operator and table has its own, so that a change in one of them
// leaves the others as they were.
func newRandom(seed uint64, purpose ...string) random {
	h := sha256.New()
	binary.Write(h, binary.BigEndian, seed) // a hash takes every write
	for _, p := range purpose {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	sum := h.Sum(nil)
	return random{rand.NewPCG(binary.BigEndian.Uint64(sum), binary.BigEndian.Uint64(sum[8:]))}
}

// below returns a number in 0..n-1; n must be positive.
func (r random) below(n int) int {
	hi, _ := bits.Mul64(r.source.Uint64(), uint64(n))
	return int(hi)
}

// unit returns a number in 0..1, 1 excluded.
func (r random) unit() float64 { return float64(r.source.Uint64()>>11) / (1 << 53) }

// happens reports true with probability p.
func (r random) happens(p float64) bool { return r.unit() < p }

// order returns the numbers 0..n-1 in random order.
func (r random) order(n int) []int {
	list := make([]int, n)
	for i := range list {
		j := r.below(i + 1)
		list[i] = list[j]
		list[j] = i
	}
	return list
}

// pick returns one of list, which must not be empty.
func pick[T any](r random, list []T) T { return list[r.below(len(list))] }
