package strategy_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
)

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
	testutil.Value(pool.Exec("DELETE FROM customers WHERE id = 3"))(t)
	if got := rows(); got != 3 {
		t.Errorf("%d rows: read again", got)
	}
	testutil.Value(pool.Exec("CREATE TABLE more (id)"))(t)
	env.Snapshot = testutil.Value(env.DB.Snapshot(t.Context()))(t)
	env.Schema = env.Snapshot.Schema
	if got := rows(); got != 2 {
		t.Errorf("%d rows: not read again after the schema changed", got)
	}
	testutil.Value(pool.Exec("DROP TABLE more"))(t)
	samples, err := strategytest.Fresh(env).Samples(t.Context(), env.Schema, exec.SampleOptions{Rows: 3})
	if err != nil || len(samples) != len(env.Schema.Tables)-1 {
		t.Errorf("a table that is gone: %d samples, %v", len(samples), err)
	}
}
