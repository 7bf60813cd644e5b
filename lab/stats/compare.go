// Package stats compares what runs and pools scored, and says how much their confidence is worth: statistics of the
// laboratory over eval.Outcome, with the intervals of Bootstrap.
package stats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/eval"
)

// Contract names what must be equal for two conditions to be comparable. A field
// that does not apply is "" on both sides.
type Contract struct {
	Prompt string `json:"prompt,omitempty"` // hash of the prompt contract
	Schema string `json:"schema,omitempty"` // fingerprint of the schemas
	Scorer string `json:"scorer,omitempty"` // metric and mode
	Limits string `json:"limits,omitempty"` // limits of execution
}

// Condition is one way of answering, with what it scored.
//
// A question may occur several times, as with several seeds: then its score is
// the mean of them. Seeds share their questions, so they never count as further
// evidence.
type Condition struct {
	Name     string         `json:"name"`     // a name for error texts and reports
	Contract Contract       `json:"contract"` // zero on both sides: nothing is checked
	Outcomes []eval.Outcome `json:"outcomes"` // the outcomes of all questions
}

// ContractError says in what two conditions differ that must not differ.
type ContractError struct {
	A, B   string   // names of the conditions
	Fields []string // the fields of Contract that differ, as "scorer: set, bag"
}

// Error names both conditions and the fields with their values.
func (e *ContractError) Error() string {
	return fmt.Sprintf("stats: comparing %s with %s: contracts differ: %s", e.A, e.B, strings.Join(e.Fields, "; "))
}

// UnpairedError lists questions that only one of two conditions has. They are in
// order of appearance, with their pool in front where they have one.
type UnpairedError struct {
	OnlyA, OnlyB []string // "QUESTION" or "POOL/QUESTION"
}

// Error counts them, and names the first three of each side.
func (e *UnpairedError) Error() string {
	some := func(names []string) string {
		if len(names) > 3 {
			return strings.Join(names[:3], ", ") + ", …"
		}
		return strings.Join(names, ", ")
	}
	var parts []string
	if n := len(e.OnlyA); n > 0 {
		parts = append(parts, fmt.Sprintf("%d only in the first (%s)", n, some(e.OnlyA)))
	}
	if n := len(e.OnlyB); n > 0 {
		parts = append(parts, fmt.Sprintf("%d only in the second (%s)", n, some(e.OnlyB)))
	}
	return "stats: pairing questions: " + strings.Join(parts, ", ")
}

// Pair is one question, of one pool or of all, under two conditions. Everything but Score
// and Confidence is the same on both sides.
type Pair struct {
	A, B eval.Outcome // the outcomes under the first condition and the second
}

// Pairs puts the outcomes of two conditions side by side, question by question,
// in the order of a.
//
// Where both sides name the same pools, a question is paired pool by pool. Where
// they share none, as the runs or seeds of two models do, pools do not count: the
// question has one pair for all of them. Several outcomes of one question, in one
// pool or then in all, become one with the mean score and confidence.
//
// A question that only one side has is an *UnpairedError: a missing answer is a
// wrong one, and scores 0, but who left it out must say so.
func Pairs(a, b []eval.Outcome) ([]Pair, error) {
	if !sharePools(a, b) {
		a, b = withoutPools(a), withoutPools(b)
	}
	as, bs := averaged(a), averaged(b)
	byKey := make(map[[2]string]eval.Outcome, len(bs))
	for _, o := range bs {
		byKey[pairKey(o)] = o
	}
	var unpaired UnpairedError
	pairs := make([]Pair, 0, len(as))
	for _, o := range as {
		other, ok := byKey[pairKey(o)]
		if !ok {
			unpaired.OnlyA = append(unpaired.OnlyA, labelled(o))
			continue
		}
		delete(byKey, pairKey(o))
		pairs = append(pairs, Pair{A: o, B: other})
	}
	for _, o := range bs {
		if _, left := byKey[pairKey(o)]; left {
			unpaired.OnlyB = append(unpaired.OnlyB, labelled(o))
		}
	}
	if len(unpaired.OnlyA)+len(unpaired.OnlyB) > 0 {
		return nil, &unpaired
	}
	return pairs, nil
}

func pairKey(o eval.Outcome) [2]string { return [2]string{o.Pool, o.Question} }

// sharePools reports whether a pool is named on both sides.
func sharePools(a, b []eval.Outcome) bool {
	pools := make(map[string]bool)
	for _, o := range a {
		pools[o.Pool] = true
	}
	return slices.ContainsFunc(b, func(o eval.Outcome) bool { return pools[o.Pool] })
}

func withoutPools(outcomes []eval.Outcome) []eval.Outcome {
	list := slices.Clone(outcomes)
	for i := range list {
		list[i].Pool = ""
	}
	return list
}

func labelled(o eval.Outcome) string {
	if o.Pool == "" {
		return o.Question
	}
	return o.Pool + "/" + o.Question
}

// averaged returns one outcome a pool and question, in order of appearance.
func averaged(outcomes []eval.Outcome) []eval.Outcome {
	at := make(map[[2]string]int, len(outcomes))
	var merged []eval.Outcome
	var times []float64
	for _, o := range outcomes {
		i, ok := at[pairKey(o)]
		if !ok {
			at[pairKey(o)] = len(merged)
			merged, times = append(merged, o), append(times, 1)
			continue
		}
		merged[i].Score += o.Score
		merged[i].Confidence += o.Confidence
		times[i]++
	}
	for i, n := range times {
		if n > 1 {
			merged[i].Score /= n
			merged[i].Confidence /= n
		}
	}
	return merged
}

// Comparison says whether B is better than A, and how sure that is.
type Comparison struct {
	A          eval.Estimate `json:"a"`           // mean score, drawn by the unit of the bootstrap
	B          eval.Estimate `json:"b"`           // the same of B
	Difference eval.Estimate `json:"difference"`  // B − A, drawn by the unit of the bootstrap
	ByTemplate eval.Estimate `json:"by_template"` // B − A, drawn by template
	McNemar    McNemar       `json:"mcnemar"`     // the test over questions, or questions of pools
	MidP       float64       `json:"mid_p"`       // the mid-p value of McNemar, two-sided

}

// Compare compares two conditions question by question.
//
// It returns a *ContractError when their contracts differ, and an *UnpairedError
// when their questions do.
func Compare(a, b Condition, boot Bootstrap) (Comparison, error) {
	if fields := a.Contract.differences(b.Contract); len(fields) > 0 {
		return Comparison{}, &ContractError{A: a.Name, B: b.Name, Fields: fields}
	}
	pairs, err := Pairs(a.Outcomes, b.Outcomes)
	if err != nil {
		return Comparison{}, err
	}
	as, bs := make([]eval.Outcome, len(pairs)), make([]eval.Outcome, len(pairs))
	for i, p := range pairs {
		as[i], bs[i] = p.A, p.B
	}
	byTemplate := boot
	byTemplate.Unit = ByTemplate
	c := Comparison{
		A: boot.Mean(as), B: boot.Mean(bs),
		Difference: Difference(boot, pairs), ByTemplate: Difference(byTemplate, pairs),
		McNemar: NewMcNemar(pairs),
	}
	c.MidP = c.McNemar.MidP()
	return c, nil
}

func (c Contract) differences(other Contract) []string {
	var fields []string
	for _, f := range []struct{ name, a, b string }{
		{"prompt", c.Prompt, other.Prompt},
		{"schema", c.Schema, other.Schema},
		{"scorer", c.Scorer, other.Scorer},
		{"limits", c.Limits, other.Limits},
	} {
		if f.a != f.b {
			fields = append(fields, fmt.Sprintf("%s: %q, %q", f.name, f.a, f.b))
		}
	}
	return fields
}

// Difference returns the mean of B − A over pairs, with its interval: above zero where B is better. Both are compared
// on the same draws, which takes the difficulty of the questions out of their difference. Without pairs it is zero,
// with an interval of −1 to 1.
func Difference(boot Bootstrap, pairs []Pair) eval.Estimate {
	if len(pairs) == 0 {
		return eval.Estimate{Low: -1, High: 1}
	}
	differences := make([]eval.Outcome, len(pairs))
	for i, p := range pairs {
		differences[i] = p.A
		differences[i].Score = p.B.Score - p.A.Score
	}
	return boot.Mean(differences)
}
