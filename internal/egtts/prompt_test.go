package egtts_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/egtts"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/strategy"
)

// TestAugmentedPrompt: rows stand behind the table, not in the prompt of a caller
// who keeps values to himself, and are read once.
func TestAugmentedPrompt(t *testing.T) {
	env := strategytest.MarketEnv(t, nil)
	in := strategy.PromptInput{Task: strategytest.USATask, Schema: env.Schema}
	last := func(env *strategy.Env) string {
		messages := testutil.Value(egtts.AugmentedPrompt{}.Prompt(t.Context(), env, in))(t)
		return messages[len(messages)-1].Text
	}
	text := last(env)
	if !strings.Contains(text, "Ada") || !strings.Contains(text, strategytest.USATask.Evidence) ||
		strings.Contains(text, "data from americans") {
		t.Errorf("the prompt is\n%s", text)
	}
	private := *env
	private.WithoutValues = true
	if text := last(&private); strings.Contains(text, "Ada") {
		t.Errorf("a stored value without permission:\n%s", text)
	}
	uncached := *env
	uncached.Snapshot = nil
	if d := cmp.Diff(text, last(&uncached)); d != "" {
		t.Errorf("with and without a cache (-with +without):\n%s", d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (egtts.AugmentedPrompt{}).Prompt(ctx, strategytest.Fresh(env), in); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
