package strategy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

// ModelError says that the models of a question cannot vote as models: there is
// none, or several of one name.
type ModelError struct {
	Name  string // that several have, "" if they have none
	Count int    // how many models have it; 0: there is no model
}

// Error names what the models share, in one line.
func (e *ModelError) Error() string {
	if e.Count == 0 {
		return "strategy: there is no model"
	}
	return fmt.Sprintf("strategy: %d models are called %q: votes go by name (llm.Named)", e.Count, e.Name)
}

// PanelError says that a panel does not fit: it has a grade that does not exist,
// or names a model that is not among those of the question.
type PanelError struct {
	Grade string // of the panel
	Model string // that is missing; "" where the grade is wrong
}

// Error names the grade, and the model where one is missing.
func (e *PanelError) Error() string {
	if e.Model == "" {
		return fmt.Sprintf("strategy: the panel has the grade %q; there are easy, medium, hard and extra", e.Grade)
	}
	return fmt.Sprintf("strategy: the panel of grade %s names the model %q, which is not among the models", e.Grade, e.Model)
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

// voters orders the models by their weight, then as they are configured, so that
// the draw index, which breaks the last tie, is the model's priority.
func (p PETSQL) voters(env *Env, grade sqltext.Grade) (voters, error) {
	v := voters{weight: func(vote.Candidate) float64 { return 1 }}
	weightOf := func(string) float64 { return 1 }
	inPanel := func(string) bool { return true }
	if p.Weights != nil {
		v.weight = p.Weights.Weight
		weightOf = func(name string) float64 { return p.Weights.Weight(vote.Candidate{Model: name}) }
	}
	if p.Panel != nil {
		if names := p.Panel.Models(string(grade)); names != nil {
			known := map[string]bool{}
			for _, m := range env.Models {
				known[llm.NameOf(m)] = true
			}
			for _, name := range names {
				if !known[name] {
					return v, &PanelError{Grade: string(grade), Model: name}
				}
			}
			v.weight = p.Panel.Weight(string(grade))
			weightOf = func(name string) float64 { return v.weight(vote.Candidate{Model: name}) }
			inPanel = func(name string) bool { return slices.Contains(names, name) }
		}
	}
	v.models = slices.Clone(env.Models)
	slices.SortStableFunc(v.models, func(a, b llm.Model) int {
		return cmp.Compare(weightOf(llm.NameOf(b)), weightOf(llm.NameOf(a)))
	})
	for _, m := range v.models {
		name := llm.NameOf(m)
		v.names = append(v.names, name)
		if inPanel(name) {
			v.panel++
		}
	}
	return v, nil
}

// guarded gives each call of round 2 its own time and its errors the name of the
// model, if it has one, and lets the first model answer with its PreSQL where both prompts are
// equal.
func (p PETSQL) guarded(env *Env, first *firstRound, models []llm.Model) []llm.Model {
	timeout := p.timeout()
	out := make([]llm.Model, len(models))
	for i, m := range models {
		name := llm.NameOf(m)
		answered := first.report.Reused && p.Linker.Model == nil && name == llm.NameOf(env.Models[0])
		timed := timeout(m)
		out[i] = llm.Wrap(m, func(ctx context.Context, req llm.Request) (llm.Response, error) {
			if answered {
				reply := first.draft.Reply
				reply.Usage = llm.Usage{} // counted in round 1
				return reply, nil
			}
			reply, err := timed.Complete(ctx, req)
			if err != nil && ctx.Err() == nil && name != "" {
				err = fmt.Errorf("model %s: %w", name, err)
			}
			return reply, err
		})
	}
	return out
}

// timeout bounds a call, unlike the question's own time.
func (p PETSQL) timeout() llm.Middleware {
	return llm.Timeout(cmp.Or(p.PerModelTimeout, time.Minute))
}

func promptTokens(messages []llm.Message) int {
	n := 0
	for _, m := range messages {
		n += schema.EstimateTokens(m.Text)
	}
	return n
}

func equalMessages(a, b []llm.Message) bool {
	return slices.EqualFunc(a, b, func(x, y llm.Message) bool { return x.Role == y.Role && x.Text == y.Text })
}
