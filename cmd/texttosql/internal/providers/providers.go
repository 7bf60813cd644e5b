// Package providers lists the models that the command line names beside those of internal/cli.
package providers

import (
	"net/http"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/llm"
)

// All returns the providers. Most have an endpoint that speaks the protocol of OpenAI and are asked by that client of
// langchaingo, which keeps their status codes and waiting times and links nothing more. langchaingo's own client of Google
// alone is 17 MB and takes other sampling defaults; that of Cohere asks an endpoint that is gone; that of Mistral takes no
// HTTP client; that of watsonx takes no messages.
func All() []cli.Provider {
	return []cli.Provider{
		cli.Compatible("googleai", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
		cli.Compatible("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
		cli.Compatible("cohere", "https://api.cohere.ai/compatibility/v1", "COHERE_API_KEY", "CO_API_KEY"),
		cli.Compatible("huggingface", "https://router.huggingface.co/v1", "HF_TOKEN", "HUGGINGFACEHUB_API_TOKEN"),
		cli.Compatible("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
		cli.Compatible("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
		cli.Compatible("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
		cli.Compatible("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
		cli.Compatible("xai", "https://api.x.ai/v1", "XAI_API_KEY"),
		cloudflare,
		amazon,
	}
}

// Model is cli.Model with these providers.
func Model(spec string, getenv func(string) string) (llm.Model, error) {
	return cli.Model(spec, getenv, All()...)
}

// cloudflare has the account in the path of its endpoint.
var cloudflare = cli.Provider{
	Name: "cloudflare", Variables: []string{"CLOUDFLARE_API_TOKEN", "CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_BASE_URL"},
	Build: func(name string, getenv func(string) string, c *http.Client) (llms.Model, string, error) {
		account, err := cli.Variable(getenv, "CLOUDFLARE_ACCOUNT_ID")
		if err != nil && strings.TrimSpace(getenv("CLOUDFLARE_BASE_URL")) == "" {
			return nil, "", err
		}
		base := "https://api.cloudflare.com/client/v4/accounts/" + account + "/ai/v1"
		return cli.Compatible("cloudflare", base, "CLOUDFLARE_API_TOKEN").Build(name, getenv, c)
	},
}
