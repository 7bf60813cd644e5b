package testsuite

import (
	"crypto/sha256"
	"math/rand/v2"
	"strconv"
	"strings"
)

// random draws numbers.
type random struct{ *rand.Rand }

// newRandom returns the generator of one purpose. Each operator and table has its own, so that a change in one of them
// leaves the others as they were.
func newRandom(seed uint64, purpose ...string) random {
	return random{
		rand.New(rand.NewChaCha8(sha256.Sum256([]byte(strconv.FormatUint(seed, 10) + "\x00" +
			strings.Join(purpose, "\x00")))))}
}

// happens reports true with probability p.
func (r random) happens(p float64) bool { return r.Float64() < p }

// pick returns one of list, which must not be empty.
func pick[T any](r random, list []T) T { return list[r.IntN(len(list))] }
