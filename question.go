package texttosql

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/strategy"
)

// Question is one question of a batch. It is also an option of one question, which says what belongs to that one alone:
//
//	answer, err := engine.Ask(ctx, "Turnover of 2024?", texttosql.Question{Evidence: "turnover is the sum of orders.total"})
//
// There Text is "", or the question once more.
type Question struct {
	ID       string `json:"id,omitempty"`       // the caller's name for it; "": Progress and log records have one that is made
	Text     string `json:"question"`           // the question, at most 8 KiB
	Evidence string `json:"evidence,omitempty"` // what a word means, how a figure is computed: prose, at most 16 KiB
	Samples  int    `json:"samples,omitempty"`  // overrides WithSamples; 0: no
	User     string `json:"user,omitempty"`     // who asks: Confirm keeps it with the answer, see memory.Pair.By
}

// WithEvidence says for one question what a word means or how a figure is computed: prose, at most 16 KiB. It is short for
// Question{Evidence: text}.
func WithEvidence(text string) AskOption { return Question{Evidence: text} }

func (Question) configure(c *config) {
	c.fail("Question", "it belongs to one question: give it to Ask")
}

func (q Question) extend(a *asking) {
	given := map[string]bool{
		"Question.ID": q.ID != "", "Question.Evidence": q.Evidence != "", "Question.Samples": q.Samples != 0, "Question.User": q.User != "",
	}
	for name, given := range given {
		if given {
			a.given = append(a.given, name)
		}
	}
	if q.Text != "" && q.Text != a.Text {
		a.misplaced = "Question.Text is not the question that is asked"
	}
	a.ID, a.Evidence, a.Samples = cmp.Or(q.ID, a.ID), cmp.Or(q.Evidence, a.Evidence), cmp.Or(q.Samples, a.Samples)
	a.User = cmp.Or(q.User, a.User)
}

// newQuestion is for calls that heed every option.
func newQuestion(text string, opts []AskOption) asking {
	a := asking{Question: Question{Text: text}}
	for _, opt := range opts {
		if opt != nil {
			opt.extend(&a)
		}
	}
	return a
}

// heeding is newQuestion for a call that heeds WithScope, WithPolicy and more, by their names.
func heeding(call, text string, opts []AskOption, more ...string) (asking, error) {
	a := newQuestion(text, opts)
	if a.misplaced != "" {
		return a, &strategy.ConfigError{Field: "texttosql: " + call, Problem: a.misplaced}
	}
	for _, name := range a.given {
		if slices.Contains(append(more, "WithScope", "WithPolicy"), name) {
			continue
		}
		problem := name + " does nothing here"
		if call == "AskAll" {
			problem = name + " is set for each Question"
		}
		return a, &strategy.ConfigError{Field: "texttosql: " + call, Problem: problem}
	}
	return a, nil
}

// wordless reports whether a text has no letter and no digit.
func wordless(text string) bool {
	return !strings.ContainsFunc(words.Clean(text), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// task is the question for a strategy; samples is the engine's number of them.
func (q Question) task(samples int) strategy.Task {
	return strategy.Task{Question: q.Text, Evidence: q.Evidence, Samples: cmp.Or(q.Samples, samples)}
}

func (q Question) validate() error {
	switch {
	case len(q.Text) > maxQuestion:
		return &InputError{Field: "question", Bytes: len(q.Text), Limit: maxQuestion}
	case len(q.Evidence) > maxEvidence:
		return &InputError{Field: "evidence", Bytes: len(q.Evidence), Limit: maxEvidence}
	case wordless(q.Text):
		return ErrEmptyQuestion
	case q.Samples < 0 || q.Samples > strategy.MaxSamples:
		return &strategy.ConfigError{Field: "texttosql: WithSamples", Problem: fmt.Sprintf("%d is not in 0..%d", q.Samples, strategy.MaxSamples)}
	}
	return nil
}

// takes says why a question cannot be asked; nil: it can.
func (e *Engine) takes(q asking) error {
	if e == nil {
		return errNoEngine
	}
	if e.hasNoModel() && !e.peopleKnow() {
		return ErrNoModel
	}
	if q.misplaced != "" {
		return &strategy.ConfigError{Field: "texttosql: Ask", Problem: q.misplaced}
	}
	if err := q.validate(); err != nil || q.Samples == 0 {
		return err
	}
	return e.repeats(q.Samples)
}
