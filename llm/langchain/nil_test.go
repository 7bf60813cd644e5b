package langchain_test

import (
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/langchain"
)

// TestFailedClient: a client that could not be made says what is missing, before anything is asked.
func TestFailedClient(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("ANTHROPIC_API_KEY", "")
	unset, err := openai.New()
	if err == nil {
		t.Fatal("a client without a key")
	}
	other, err := anthropic.New()
	if err == nil {
		t.Fatal("a client without a key")
	}
	for _, test := range []struct {
		why    string
		client llms.Model
		want   string
	}{
		{"OpenAI without a key", unset, "OPENAI_API_KEY is not set"},
		{"Anthropic without a key", other, "ANTHROPIC_API_KEY is not set"},
		{"a client that needs none", (*ollama.LLM)(nil), "its constructor says why"},
		{"nothing", nil, "its constructor says why"},
	} {
		m := llm.Named("m", langchain.Model(test.client))
		v, ok := m.(interface{ Validate() error })
		if !ok {
			t.Fatalf("%s: %T", test.why, m)
		}
		if err := v.Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.why, err, test.want)
		}
		if _, err := m.Complete(t.Context(), llm.Request{}); llm.ClassOf(err) != llm.ClassPermanent ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: a call: %v", test.why, err)
		}
	}
	client := testutil.Value(openai.New(openai.WithToken("sk")))(t)
	if v, ok := llm.Named("m", langchain.Model(client)).(interface{ Validate() error }); !ok || v.Validate() != nil {
		t.Error("a client with a key")
	}
}
