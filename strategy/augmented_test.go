package strategy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/strategy"
)

// TestAugmentedPrompt: rows stand behind the table, not in the prompt of a caller
// who keeps values to himself, and are read once.
func TestAugmentedPrompt(t *testing.T) {
	env := makerEnv(t, nil)
	in := strategy.PromptInput{Task: usaTask, Schema: env.Schema}
	last := func(env *strategy.Env) string {
		messages := need.Value(strategy.Augmented{}.Prompt(t.Context(), env, in))(t)
		return messages[len(messages)-1].Text
	}
	text := last(env)
	if !strings.Contains(text, "Ada") || !strings.Contains(text, usaTask.Evidence) || strings.Contains(text, "data from americans") {
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
	if _, err := (strategy.Augmented{}).Prompt(ctx, strategytest.Fresh(env), in); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestSamples: one read a table and state of the schema, whoever asks.
func TestSamples(t *testing.T) {
	pool := poolOf(t, shopSQL)
	env := makerEnvOf(t, pool, nil)
	rows := func() int {
		samples, err := env.Samples(t.Context(), env.Schema, exec.SampleOptions{Rows: 3})
		if err != nil || len(samples) != len(env.Schema.Tables) {
			t.Fatalf("%d samples: %v", len(samples), err)
		}
		return len(samples[0].Rows)
	}
	if got := rows(); got != 3 {
		t.Fatalf("%d rows", got)
	}
	need.Value(pool.Exec("DELETE FROM customers WHERE id = 3"))(t)
	if got := rows(); got != 3 {
		t.Errorf("%d rows: read again", got)
	}
	need.Value(pool.Exec("CREATE TABLE more (id)"))(t)
	env.Snapshot = need.Value(env.DB.Snapshot(t.Context()))(t)
	env.Schema = env.Snapshot.Schema
	if got := rows(); got != 2 {
		t.Errorf("%d rows: not read again after the schema changed", got)
	}
	need.Value(pool.Exec("DROP TABLE more"))(t)
	samples, err := strategytest.Fresh(env).Samples(t.Context(), env.Schema, exec.SampleOptions{Rows: 3})
	if err != nil || len(samples) != len(env.Schema.Tables)-1 {
		t.Errorf("a table that is gone: %d samples, %v", len(samples), err)
	}
}
