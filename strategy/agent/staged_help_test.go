package agent

import (
	"testing"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
)

func linkedValues(t *testing.T, env *strategy.Env, question string) schema.Links {
	t.Helper()
	links, err := linker.Values{}.Link(t.Context(), linker.Input{Question: question, Schema: env.Schema, DB: env.DB})
	if err != nil {
		t.Fatal(err)
	}
	return links
}
