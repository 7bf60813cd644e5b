package strategy_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/schema"
)

// TestLinkerInput: without a part of the schema a linker gets the whole.
func TestLinkerInput(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	part := &schema.Schema{Tables: env.Schema.Tables[:1]}
	if in := env.LinkerInput(strategytest.USATask, nil); in.Schema != env.Schema ||
		in.Question != strategytest.USATask.Question || in.DB != env.DB {
		t.Errorf("%+v", in)
	}
	if in := env.LinkerInput(strategytest.USATask, part); in.Schema != part {
		t.Errorf("a part: %+v", in.Schema)
	}
}
