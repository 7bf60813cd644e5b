package petsql

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// ModelError says that the models of a question cannot vote as models: there is none, or several have one name.
type ModelError struct {
	Name  string // the name; "" where there is no model or they have none
	Count int    // how many models have the name; 0: there is no model
}

// Error names what the models share, in one line.
func (e *ModelError) Error() string {
	if e.Count == 0 {
		return "petsql: there is no model"
	}
	return fmt.Sprintf("petsql: %d models are called %q: votes go by name (llm.Named)", e.Count, e.Name)
}

// PanelError says that a panel does not fit: it has a grade that does not exist, or names a model that is not among
// those of the question.
type PanelError struct {
	Grade string // the key of the panel
	Model string // the model that is missing; "" where the grade is wrong
}

// Error names the grade, and the model where one is missing.
func (e *PanelError) Error() string {
	if e.Model == "" {
		return fmt.Sprintf("petsql: the panel has the grade %q; there are easy, medium, hard and extra", e.Grade)
	}
	return fmt.Sprintf("petsql: the panel of grade %s names the model %q, which is not among the models", e.Grade, e.Model)
}

// checkModels returns a *ModelError or nil.
func checkModels(models []llm.Model) error {
	if len(models) == 0 {
		return &ModelError{}
	}
	count := map[string]int{}
	for _, m := range models {
		count[llm.NameOf(m)]++
	}
	for _, m := range models {
		if name := llm.NameOf(m); count[name] > 1 {
			return &ModelError{Name: name, Count: count[name]}
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
func (p Strategy) voters(env *strategy.Env, grade sqltext.Grade) (voters, error) {
	v := voters{weight: func(vote.Candidate) float64 { return 1 }}
	var panel []string // nil: all
	if p.Weights != nil {
		v.weight = p.Weights.Weight
	}
	if p.Panel != nil {
		panel = p.Panel.Models(string(grade))
	}
	if panel != nil {
		for _, name := range panel {
			if !slices.ContainsFunc(env.Models, func(m llm.Model) bool { return llm.NameOf(m) == name }) {
				return v, &PanelError{Grade: string(grade), Model: name}
			}
		}
		v.weight = p.Panel.Weight(string(grade))
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
