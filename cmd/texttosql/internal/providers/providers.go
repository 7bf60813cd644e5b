// Package providers lists the models that the command line names: those of llm/providers and AWS Bedrock.
package providers

import (
	"github.com/texttosql/texttosql/internal/providers"
	"github.com/texttosql/texttosql/llm"
)

// All returns the providers.
func All() []providers.Provider { return append(providers.All(), amazon) }

// Model is providers.Model with all of them.
func Model(spec string, getenv func(string) string) (llm.Model, error) {
	return providers.Of(All(), spec, getenv)
}
