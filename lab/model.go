package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/langchain"
	"github.com/texttosql/texttosql/llm/replay"
)

// liveSpecs lists the specs of liveModel, for messages.
const liveSpecs = "openai:NAME, ollama:NAME, anthropic:NAME or replay:FILE"

// attemptTimeout ends a call without a reply. It is long, because Ollama may load a model of many gigabytes first.
const attemptTimeout = 5 * time.Minute

// liveModel returns the model of a spec:
//
//	openai:NAME     OPENAI_API_KEY (required), OPENAI_BASE_URL
//	ollama:NAME     OLLAMA_HOST, HOST:PORT or a URL
//	anthropic:NAME  ANTHROPIC_API_KEY (required), ANTHROPIC_BASE_URL with or without its /v1
//	replay:FILE     a recording of package llm/replay; no call is made
//
// The variables are read through getenv. It makes no connection.
func liveModel(spec string, getenv func(string) string) (llm.Model, error) {
	provider, name, _ := strings.Cut(spec, ":")
	client, key := langchain.HTTPClient(&http.Client{}), getenv(strings.ToUpper(provider)+"_API_KEY")
	base := map[string]string{
		"openai":    cmp.Or(getenv("OPENAI_BASE_URL"), "https://api.openai.com/v1"),
		"ollama":    cmp.Or(getenv("OLLAMA_HOST"), "127.0.0.1:11434"),
		"anthropic": strings.TrimSuffix(cmp.Or(getenv("ANTHROPIC_BASE_URL"), "https://api.anthropic.com"), "/v1") + "/v1",
	}[provider]
	if provider == "ollama" && !strings.Contains(base, "://") {
		base = "http://" + base
	}
	var m llms.Model
	var err error
	switch {
	case provider != "openai" && provider != "ollama" && provider != "anthropic" && provider != "replay":
		return nil, fmt.Errorf("model %q: unknown provider; want %s", spec, liveSpecs)
	case strings.TrimSpace(name) == "":
		return nil, fmt.Errorf("model %q: nothing after the colon; want %s", spec, liveSpecs)
	case provider == "replay":
		player, err := replay.Open(name)
		if err != nil {
			return nil, fmt.Errorf("model %q: %w", spec, files.Pathless(err))
		}
		if n := len(player.Models()); n != 1 {
			return nil, fmt.Errorf("model %q: the recording is of %d models; want one", spec, n)
		}
		return player, nil
	case !isURL(base): // a client may end the program over it
		return nil, fmt.Errorf("model %q: %s is no URL of a server", spec, llm.Scrub(base))
	case provider == "ollama":
		m, err = ollama.New(ollama.WithModel(name), ollama.WithServerURL(base), ollama.WithHTTPClient(client))
	case key == "":
		return nil, fmt.Errorf("model %q: %s_API_KEY is not set", spec, strings.ToUpper(provider))
	case provider == "openai":
		// The client reads an option that is left out from the environment of the process, so all are given.
		m, err = openai.New(openai.WithModel(name), openai.WithToken(key), openai.WithBaseURL(base),
			openai.WithOrganization(""), openai.WithHTTPClient(client))
	default:
		m, err = anthropic.New(anthropic.WithModel(name), anthropic.WithToken(key), anthropic.WithBaseURL(base), anthropic.WithHTTPClient(client))
	}
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", spec, err)
	}
	return llm.Chain(llm.Named(spec, langchain.Model(m)), llm.Timeout(attemptTimeout)), nil
}

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
