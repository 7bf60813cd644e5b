package main

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/llm"
)

func TestLiveModel(t *testing.T) {
	for _, tt := range []struct {
		why, spec, variable, value string
		want                       string // in the error; "": there is none
	}{
		{"a key", "openai:m", "OPENAI_API_KEY", "k", ""},
		{"no key", "openai:m", "", "", "OPENAI_API_KEY is not set"},
		{"no key", "anthropic:m", "OPENAI_API_KEY", "k", "ANTHROPIC_API_KEY is not set"},
		{"a server without a key", "ollama:m", "", "", ""},
		{"its address", "ollama:m", "OLLAMA_HOST", "10.0.0.1:11434", ""},
		{"no address", "ollama:m", "OLLAMA_HOST", "::bad", "is no URL of a server"},
		{"no provider", "m", "", "", "unknown provider; want openai:NAME"},
		{"no name", "openai: ", "", "", "nothing after the colon"},
		{"no recording", "replay:nowhere.jsonl", "", "", "no such file"},
	} {
		m, err := liveModel(tt.spec, func(name string) string {
			if name == tt.variable {
				return tt.value
			}
			return ""
		})
		switch {
		case tt.want == "" && (err != nil || llm.NameOf(m) != tt.spec):
			t.Errorf("%s, %s: %v", tt.why, tt.spec, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s, %s: %v, want %s", tt.why, tt.spec, err, tt.want)
		}
	}
}
