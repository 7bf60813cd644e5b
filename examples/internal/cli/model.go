package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/langchain"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"
)

// Specs is what Model takes, for messages.
const Specs = "openai:NAME, ollama:NAME, anthropic:NAME or replay:FILE"

// dialTimeout ends the attempt to reach a server that says nothing.
const dialTimeout = 10 * time.Second

// attemptTimeout ends a call that no provider will answer any more. Ollama may
// load a model of many gigabytes before the first word.
const attemptTimeout = 5 * time.Minute

// ModelFlag defines the flag -model, whose value is for Model; "" by default.
func ModelFlag(flags *flag.FlagSet) *string {
	return flags.String("model", "", "the model to ask, a `spec`: "+Specs)
}

// Model returns the model of a spec:
//
//	openai:NAME     OPENAI_API_KEY (required), OPENAI_BASE_URL, OPENAI_ORGANIZATION
//	ollama:NAME     OLLAMA_HOST, in all forms that Ollama takes
//	anthropic:NAME  ANTHROPIC_API_KEY (required), ANTHROPIC_BASE_URL with or without its /v1
//	replay:FILE     a recording of package llm/replay; no call is made
//
// The variables are read through getenv, never from the process. The model is
// named by its spec, a recording by the name that is in it. An attempt ends
// after 5 minutes. No connection is made here. A server that cannot be reached is
// an error of the first call, which names it and is not worth a retry; once it has
// answered, retries may bridge that it is away.
func Model(spec string, getenv func(string) string) (llm.Model, error) {
	provider, name, _ := strings.Cut(spec, ":")
	builders := map[string]builder{
		"openai": openaiModel, "ollama": ollamaModel, "anthropic": anthropicModel,
	}
	build, ok := builders[provider]
	switch {
	case !ok && provider != "replay":
		return nil, fmt.Errorf("model %q: unknown provider; want %s", spec, Specs)
	case strings.TrimSpace(name) == "":
		return nil, fmt.Errorf("model %q: nothing after the colon; want %s", spec, Specs)
	case !ok:
		return recording(spec, name)
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = dialer.DialContext
	m, server, err := build(name, getenv, langchain.HTTPClient(&http.Client{Transport: transport}))
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", spec, err)
	}
	return llm.Chain(llm.Named(spec, langchain.Model(m)), reached(spec, server), llm.Timeout(attemptTimeout)), nil
}

// reached makes an error that is not to be retried of a connection that cannot be
// made to a server that never answered: most likely its address is wrong, or it is
// not running.
func reached(spec, server string) llm.Middleware {
	return func(next llm.Model) llm.Model {
		var answered atomic.Bool
		return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
			resp, err := next.Complete(ctx, req)
			var fault *net.OpError
			switch {
			case err == nil, llm.AsError(err).Status != 0:
				answered.Store(true)
			case ctx.Err() != nil, answered.Load(), !errors.As(err, &fault):
			case fault.Op == "dial", fault.Op == "proxyconnect":
				err = &llm.Error{
					Class: llm.ClassPermanent, Err: err,
					Message: fmt.Sprintf("%s: no server at %s: %v", spec, server, fault.Err),
				}
			}
			return resp, err
		})
	}
}

// A builder makes the client of one provider, and tells where its server is.
type builder func(name string, getenv func(string) string, c *http.Client) (m llms.Model, server string, err error)

func openaiModel(name string, getenv func(string) string, c *http.Client) (llms.Model, string, error) {
	key := strings.TrimSpace(getenv("OPENAI_API_KEY"))
	if key == "" {
		return nil, "", errors.New("OPENAI_API_KEY is not set (a server that asks for no key takes any text)")
	}
	base, err := baseURL(getenv, "OPENAI_BASE_URL", "https://api.openai.com/v1")
	if err != nil {
		return nil, "", err
	}
	// Every option is given: what is left out, the client reads from the process.
	m, err := openai.New(
		openai.WithModel(name),
		openai.WithToken(key),
		openai.WithBaseURL(base),
		openai.WithOrganization(getenv("OPENAI_ORGANIZATION")),
		openai.WithHTTPClient(c),
	)
	return m, base, err
}

func anthropicModel(name string, getenv func(string) string, c *http.Client) (llms.Model, string, error) {
	key := strings.TrimSpace(getenv("ANTHROPIC_API_KEY"))
	if key == "" {
		return nil, "", errors.New("ANTHROPIC_API_KEY is not set")
	}
	base, err := baseURL(getenv, "ANTHROPIC_BASE_URL", "https://api.anthropic.com")
	if err != nil {
		return nil, "", err
	}
	if !strings.HasSuffix(base, "/v1") {
		base += "/v1" // langchaingo counts it to the base, Anthropic's own clients do not
	}
	m, err := anthropic.New(
		anthropic.WithModel(name),
		anthropic.WithToken(key),
		anthropic.WithBaseURL(base),
		anthropic.WithHTTPClient(c),
	)
	return m, base, err
}

func ollamaModel(name string, getenv func(string) string, c *http.Client) (llms.Model, string, error) {
	host, err := ollamaURL(getenv("OLLAMA_HOST"))
	if err != nil {
		return nil, "", err
	}
	m, err := ollama.New(
		ollama.WithModel(name),
		ollama.WithServerURL(host), // ends the program if the URL is bad: checked above
		ollama.WithHTTPClient(c),
	)
	return m, host, err
}

// baseURL returns the URL in the variable, or other, without a slash at its end.
func baseURL(getenv func(string) string, variable, other string) (string, error) {
	text := strings.TrimRight(cmp.Or(strings.TrimSpace(getenv(variable)), other), "/")
	if _, err := parseURL(variable, text); err != nil {
		return "", err
	}
	return text, nil
}

// parseURL parses what is in a variable. Its errors repeat no text that might
// hold a password.
func parseURL(variable, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || !validPort(u.Port()) || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%s is no URL of a server, as https://host:port/path: %s", variable, llm.Scrub(text))
	}
	return u, nil
}

func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// ollamaURL reads OLLAMA_HOST as Ollama does: scheme, host and port may each be
// left out. The address that a server listens on, as 0.0.0.0, is reached at the
// loopback one.
func ollamaURL(host string) (string, error) {
	host = strings.Trim(strings.TrimSpace(host), `"'`)
	port := map[string]string{"http": "80", "https": "443"}
	scheme, _, ok := strings.Cut(host, "://")
	if !ok {
		if ip := net.ParseIP(host); ip != nil && strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		if host == "" || strings.HasPrefix(host, ":") {
			host = "127.0.0.1" + host
		}
		scheme, host = "http", "http://"+host
		port["http"] = "11434"
	}
	u, err := parseURL("OLLAMA_HOST", host)
	if err != nil {
		return "", err
	}
	name := u.Hostname()
	switch ip := net.ParseIP(name); {
	case name == "", ip != nil && ip.IsUnspecified() && ip.To4() != nil:
		name = "127.0.0.1"
	case ip != nil && ip.IsUnspecified():
		name = "::1"
	}
	u.Host = net.JoinHostPort(name, cmp.Or(u.Port(), port[scheme]))
	return strings.TrimRight(u.String(), "/"), nil
}

// recording opens a recording of one model.
func recording(spec, path string) (llm.Model, error) {
	player, err := replay.Open(path)
	var fault *os.PathError
	switch {
	case errors.As(err, &fault):
		return nil, fmt.Errorf("model %q: %w", spec, fault.Err)
	case err != nil:
		return nil, fmt.Errorf("model %q: %w", spec, err)
	}
	switch names := player.Models(); len(names) {
	case 0:
		return nil, fmt.Errorf("model %q: the recording is empty", spec)
	case 1:
		return player, nil
	default:
		return nil, fmt.Errorf("model %q: the recording is of several models (%s); a flag takes one", spec, strings.Join(names, ", "))
	}
}
