package stats

import "math"

// McNemar is the test of McNemar (1947) on two runs over the same questions.
//
// Only questions on which the runs differ say which is better; if neither was,
// each of them would fall to either side with chance one half. The test takes
// the questions as independent: where several share a template, its p-values
// are too small, and the bootstrap by template is the one to quote.
type McNemar struct {
	OnlyA int `json:"only_a"` // questions on which A scored more
	OnlyB int `json:"only_b"` // questions on which B scored more
	Equal int `json:"equal"`  // questions on which both scored the same
}

// NewMcNemar counts pairs. With scores of 0 and 1 it is McNemar's table; with
// partial credit, or means over several seeds, it is the sign test.
func NewMcNemar(pairs []Pair) McNemar {
	var m McNemar
	for _, p := range pairs {
		switch {
		case p.A.Score > p.B.Score:
			m.OnlyA++
		case p.A.Score < p.B.Score:
			m.OnlyB++
		default:
			m.Equal++
		}
	}
	return m
}

// Exact returns the two-sided p-value of the binomial test,
//
//	min(1, 2·P(X ≤ min(OnlyA, OnlyB))),  X ~ Binomial(OnlyA+OnlyB, ½)
//
// It never claims more than it may, and is 1 without differences.
func (m McNemar) Exact() float64 {
	n, k := m.OnlyA+m.OnlyB, min(m.OnlyA, m.OnlyB)
	var p float64
	for x := range k + 1 {
		p += binomial(n, x)
	}
	return min(1, 2*p)
}

// MidP returns the mid-p variant of Exact, which counts the observed table by
// half: Exact − P(X = k), or 1 − P(X = k)/2 where both sides are equal. It is
// less timid than Exact and keeps its level in practice (Fagerland, Lydersen and
// Laake 2013). It is 1 without differences.
func (m McNemar) MidP() float64 {
	n, k := m.OnlyA+m.OnlyB, min(m.OnlyA, m.OnlyB)
	switch {
	case n == 0:
		return 1
	case m.OnlyA == m.OnlyB:
		return 1 - binomial(n, k)/2
	}
	return m.Exact() - binomial(n, k)
}

// binomial returns P(X = x) for X ~ Binomial(n, ½): exactly for small n, and
// through logarithms above, because 2^-n is no float from n = 1075 on.
func binomial(n, x int) float64 {
	if n <= 50 { // every product below stays a whole number under 2^53
		ways := 1.0
		for i := range x {
			ways = ways * float64(n-i) / float64(i+1)
		}
		return math.Ldexp(ways, -n)
	}
	lg := func(k int) float64 { v, _ := math.Lgamma(float64(k) + 1); return v }
	return math.Exp(lg(n) - lg(x) - lg(n-x) - float64(n)*math.Ln2)
}
