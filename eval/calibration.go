package eval

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/vote"
)

// Isotonic fits the chance of being right as a function of confidence that
// never falls, by pooling adjacent violators (Ayer et al. 1955; as a calibration
// Zadrozny and Elkan 2002): of all such functions the one with the least squared
// error.
//
// The zero Isotonic is ready to use. Safe for concurrent use.
type Isotonic struct {
	// MinBlock pools neighbouring confidences until that many outcomes are
	// together, before anything is fitted: a single lucky answer at the top would
	// else become a certainty. 0: 10; 1: the plain fit.
	MinBlock int
	// From is kept in the calibration: what it was fitted on.
	From string
}

// Fit returns the calibration of outcomes. Each block is a level line from its
// lowest to its highest confidence, with straight lines between blocks, as
// vote.Calibration draws them. Marshal it to JSON to keep it, and give it to the
// consensus strategy or to vote.Majority.
//
// Score it on other questions than it was fitted on. A confidence
// outside of 0..1, or no outcome at all, is an error.
func (f Isotonic) Fit(outcomes []Outcome) (vote.Calibration, error) {
	if len(outcomes) == 0 {
		return vote.Calibration{}, errors.New("eval: fitting a calibration: no outcomes")
	}
	for _, o := range outcomes {
		if !(o.Confidence >= 0 && o.Confidence <= 1) {
			return vote.Calibration{}, fmt.Errorf("eval: fitting a calibration: question %q: confidence %v is not in 0..1", o.Question, o.Confidence)
		}
	}
	blocks := pooled(f.blocks(outcomes))
	c := vote.Calibration{From: f.From, N: len(outcomes)}
	for _, b := range blocks {
		c.Raw, c.Right = append(c.Raw, b.low), append(c.Right, b.mean())
		if b.high > b.low {
			c.Raw, c.Right = append(c.Raw, b.high), append(c.Right, b.mean())
		}
	}
	return c, nil
}

// block is a run of neighbouring confidences.
type block struct {
	low, high float64
	n, right  float64
}

func (b block) mean() float64 { return b.right / b.n }

func (b block) and(c block) block {
	return block{low: b.low, high: c.high, n: b.n + c.n, right: b.right + c.right}
}

// blocks returns the outcomes by confidence, ascending, equal ones together and
// no block with fewer than MinBlock unless all are fewer.
func (f Isotonic) blocks(outcomes []Outcome) []block {
	least := float64(f.MinBlock)
	if f.MinBlock == 0 {
		least = 10
	}
	sorted := slices.Clone(outcomes)
	slices.SortStableFunc(sorted, func(a, b Outcome) int { return cmp.Compare(a.Confidence, b.Confidence) })
	var list []block
	for _, o := range sorted {
		one := block{low: o.Confidence, high: o.Confidence, n: 1, right: oneIf(o.Right())}
		if last := len(list) - 1; last >= 0 && (list[last].high == o.Confidence || list[last].n < least) {
			list[last] = list[last].and(one)
			continue
		}
		list = append(list, one)
	}
	if last := len(list) - 1; last > 0 && list[last].n < least {
		list[last-1] = list[last-1].and(list[last])
		list = list[:last]
	}
	return list
}

// pooled joins neighbours until their means do not fall.
func pooled(blocks []block) []block {
	var stack []block
	for _, b := range blocks {
		for len(stack) > 0 && stack[len(stack)-1].mean() >= b.mean() {
			b = stack[len(stack)-1].and(b)
			stack = stack[:len(stack)-1]
		}
		stack = append(stack, b)
	}
	return stack
}
