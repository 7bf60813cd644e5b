package petsql

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// checkModels refuses models that cannot vote as models: there is none, or several have one name.
func checkModels(models []llm.Model) error {
	if len(models) == 0 {
		return errors.New("petsql: there is no model")
	}
	count := map[string]int{}
	for _, m := range models {
		count[llm.NameOf(m)]++
	}
	for _, m := range models {
		if name := llm.NameOf(m); count[name] > 1 {
			return fmt.Errorf("petsql: %d models are called %q: votes go by name (llm.Named)", count[name], name)
		}
	}
	return nil
}

// voters are the models of round 2, the panel first.
type voters struct {
	models []llm.Model
	names  []string
	panel  int // how many are called at once; the rest only if none of them has a vote
	weight func(vote.Candidate) float64
}

// voters orders the models by their weight, then as they are configured, so that the sample index, which breaks the
// last tie, is the model's priority.
func (p Strategy) voters(env *strategy.Env, grade string) (voters, error) {
	v := voters{weight: func(vote.Candidate) float64 { return 1 }}
	var panel []string // nil: all
	if p.Weights != nil {
		v.weight = p.Weights.Weight
	}
	if p.Panel != nil {
		panel = p.Panel.Models(grade)
	}
	if panel != nil {
		for _, name := range panel {
			if !slices.ContainsFunc(env.Models, func(m llm.Model) bool { return llm.NameOf(m) == name }) {
				return v, fmt.Errorf("petsql: the panel of grade %s names the model %q, which is not among the models", grade, name)
			}
		}
		v.weight = p.Panel.Weight(grade)
	}
	weightOf := func(m llm.Model) float64 { return v.weight(vote.Candidate{Model: llm.NameOf(m)}) }
	v.models = slices.Clone(env.Models)
	slices.SortStableFunc(v.models, func(a, b llm.Model) int { return cmp.Compare(weightOf(b), weightOf(a)) })
	for _, m := range v.models {
		name := llm.NameOf(m)
		v.names = append(v.names, name)
		if panel == nil || slices.Contains(panel, name) {
			v.panel++
		}
	}
	return v, nil
}
