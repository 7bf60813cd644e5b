package strategy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// fragile is a prompter that panics.
type fragile struct{ of []string }

func (f *fragile) Prompt(context.Context, *strategy.Env, strategy.PromptInput) ([]llm.Message, error) {
	return nil, errors.New(f.of[3])
}

// TestPanicNamesThePart: the error of a panic names the function of the part, and no value.
func TestPanicNamesThePart(t *testing.T) {
	_, err := strategy.Pipeline{Prompter: &fragile{}}.Generate(t.Context(),
		strategytest.ShopEnv(t, strategytest.ExampleModel("SELECT 1")), strategytest.USATask)
	var bad *strategy.PanicError
	if !errors.As(err, &bad) || bad.Part() != "strategy_test.fragile.Prompt" ||
		!strings.Contains(err.Error(), "the part strategy_test.fragile.Prompt panicked: runtime error: index out of range") {
		t.Errorf("%v", err)
	}
	if bad.Public() != "strategy: the part strategy_test.fragile.Prompt panicked" {
		t.Error(bad.Public())
	}
	if text := (&strategy.PanicError{Value: "x"}).Error(); text != "strategy: a part panicked: x" {
		t.Error(text)
	}
}
