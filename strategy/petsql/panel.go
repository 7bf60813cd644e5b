package petsql

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/texttosql/texttosql/vote"
)

// Panel picks the models that vote on a question by its apparent difficulty: PET-SQL's fine-grained cross-consistency
// (arXiv 2403.09732). There the grade is the Spider hardness of a first statement (sqltext.Statement.Hardness); a
// grade may be any string.
//
// A Panel is plain data, saved as JSON. The zero Panel lets every model vote. Small panels help if few unequal models
// vote, and lost 3 to 7 points in a pool of 50 runs. Safe for concurrent reading.
type Panel struct {
	Grades map[string]Weights `json:"grades"`         // voters of a grade, with their weights
	Else   *Weights           `json:"else,omitempty"` // voters of every other grade; nil: everyone votes
}

// Weights returns the voters of a grade and their weights, or Else for a grade without an entry. ok is false if there
// is neither; then every model votes.
func (p Panel) Weights(grade string) (w Weights, ok bool) {
	w, ok = p.Grades[grade]
	if !ok && p.Else != nil {
		return *p.Else, true
	}
	return w, ok
}

// Weight returns the weights of candidates on a question of a grade, for vote.Majority.Weight. A model outside the
// panel has weight 0, so it does not vote.
func (p Panel) Weight(grade string) func(vote.Candidate) float64 {
	w, ok := p.Weights(grade)
	if !ok {
		return func(vote.Candidate) float64 { return 1 }
	}
	return func(c vote.Candidate) float64 { return w.Of[c.Model] }
}

// Models returns the models to call for a grade, the greatest weight first, then by name; nil if every model votes.
func (p Panel) Models(grade string) []string {
	w, ok := p.Weights(grade)
	if !ok {
		return nil
	}
	names := slices.Sorted(maps.Keys(w.Of))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(w.Of[b], w.Of[a]) })
	return names
}

// Validate checks a panel, for example one from a file.
func (p Panel) Validate() error {
	var errs []error
	check := func(grade string, w Weights) {
		if len(w.Of) == 0 {
			errs = append(errs, fmt.Errorf("petsql: panel of grade %q has no model", grade))
		}
		if err := w.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("petsql: panel of grade %q: %w", grade, err))
		}
	}
	for _, grade := range slices.Sorted(maps.Keys(p.Grades)) {
		check(grade, p.Grades[grade])
	}
	if p.Else != nil {
		check("else", *p.Else)
	}
	return errors.Join(errs...)
}

// FromLabels chooses size models for each grade (0: 5) by their results on a calibration set: records[grade][model].
// A model's mark, which is also its weight, is
//
//	(right in grade + 20·accuracy) ÷ (asked in grade + 20)
//
// with the accuracy over all grades as Weights.FromLabels shrinks it. So a grade with few questions relies on the
// model's general accuracy. Ties go to the model with the better general accuracy, then by name. A grade that is not
// in records gets the models with the best general accuracy.
func (Panel) FromLabels(size int, records map[string]map[string]struct{ Right, Asked int }) Panel {
	if size <= 0 {
		size = 5
	}
	all := make(map[string]record)
	for _, models := range records {
		for model, r := range models {
			sum := all[model]
			sum.Right += r.Right
			sum.Asked += r.Asked
			all[model] = sum
		}
	}
	accuracy := Weights{}.FromLabels(all).Of
	choose := func(mark func(model string) float64, n int) Weights {
		names := slices.Sorted(maps.Keys(all))
		slices.SortStableFunc(names, func(a, b string) int {
			return cmp.Or(cmp.Compare(mark(b), mark(a)), cmp.Compare(accuracy[b], accuracy[a]))
		})
		w := Weights{Of: make(map[string]float64, size), From: "labels", N: n}
		for _, name := range names[:min(size, len(names))] {
			w.Of[name] = mark(name)
		}
		return w
	}

	p := Panel{Grades: make(map[string]Weights, len(records))}
	most := 0
	for grade, models := range records {
		n := 0
		for _, r := range models {
			n = max(n, r.Asked)
		}
		most += n
		p.Grades[grade] = choose(func(model string) float64 {
			r := models[model]
			return shrunk(float64(r.Right), r.Asked, accuracy[model], gradeShrinkage)
		}, n)
	}
	if len(all) > 0 {
		best := choose(func(model string) float64 { return accuracy[model] }, most)
		p.Else = &best
	}
	return p
}
