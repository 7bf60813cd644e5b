package shop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/anthropic"
	"github.com/texttosql/texttosql/llm/openai"
	"github.com/texttosql/texttosql/llm/replay"
)

// Model returns the model that a flag -model names:
//
//	openai:NAME     reads OPENAI_API_KEY (required) and OPENAI_BASE_URL
//	anthropic:NAME  reads ANTHROPIC_API_KEY (required) and ANTHROPIC_BASE_URL
//	ollama:NAME     reads OLLAMA_HOST, for instance http://localhost:11434
//	replay:FILE     replays a recording of package llm/replay
//
// It reads variables through getenv and opens no connection. A program with one provider calls openai.Model("NAME")
// instead.
func Model(spec string, getenv func(string) string) (llm.Model, error) {
	provider, name, ok := strings.Cut(spec, ":")
	if !ok || name == "" {
		return nil, fmt.Errorf("model %q: unknown provider; want openai:NAME, anthropic:NAME, ollama:NAME or replay:FILE",
			spec)
	}

	key := func(variable string) (string, error) {
		if value := getenv(variable); value != "" {
			return value, nil
		}
		return "", fmt.Errorf("model %q: %s is not set", spec, variable)
	}

	switch provider {
	case "openai":
		value, err := key("OPENAI_API_KEY")
		if err != nil {
			return nil, err
		}
		base := cmp.Or(getenv("OPENAI_BASE_URL"), "https://api.openai.com/v1")
		return llm.Named(spec, openai.Client{BaseURL: base, Key: value}.Model(name)), nil

	case "anthropic":
		value, err := key("ANTHROPIC_API_KEY")
		if err != nil {
			return nil, err
		}
		base := cmp.Or(getenv("ANTHROPIC_BASE_URL"), "https://api.anthropic.com")
		return llm.Named(spec, anthropic.Client{BaseURL: base, Key: value}.Model(name)), nil

	case "ollama":
		host := strings.TrimRight(cmp.Or(getenv("OLLAMA_HOST"), "http://localhost:11434"), "/")
		if !strings.Contains(host, "://") {
			host = "http://" + host
		}
		client := openai.Client{BaseURL: host + "/v1", KeyFrom: "OLLAMA_HOST", BaseFrom: "OLLAMA_HOST"}
		return llm.Chain(llm.Named(spec, client.Model(name)), reached(spec, host)), nil

	case "replay":
		player, err := replay.Open(name)
		if err != nil {
			return nil, fmt.Errorf("model %q: %w", spec, err)
		}
		return player, nil
	}
	return nil, fmt.Errorf("model %q: unknown provider; want openai:NAME, anthropic:NAME, ollama:NAME or replay:FILE",
		spec)
}

// reached makes the error of a server that does not run permanent, so that a question fails at once and says where to
// look.
func reached(spec, server string) llm.Middleware {
	return func(next llm.Model) llm.Model {
		return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
			resp, err := next.Complete(ctx, req)
			var fault *net.OpError
			if errors.As(err, &fault) && fault.Op == "dial" {
				why := strings.TrimPrefix(fault.Err.Error(), "connect: ")
				text := fmt.Sprintf("%s: cannot reach %s: %s. Is the server running?", spec, server, why)
				err = &llm.Error{Class: llm.ClassPermanent, Err: err, Message: text}
			}
			return resp, err
		})
	}
}
