// Package providers makes a model of a spec such as "openai:gpt-5-mini": what a flag or a settings file names. Programs
// with one provider need it not; they call openai.Model and the like themselves.
//
// Anthropic has a client of its own; all others are asked through their endpoints in the protocol of OpenAI, which keep
// status codes and waiting times and link nothing more.
package providers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/anthropic"
	"github.com/texttosql/texttosql/llm/openai"
	"github.com/texttosql/texttosql/llm/replay"
)

// Specs lists the most common specs, for messages.
const Specs = "openai:NAME, ollama:NAME, anthropic:NAME or replay:FILE"

// Provider is a kind of model that a spec "PROVIDER:NAME" names.
type Provider struct {
	Name      string
	Variables []string // those that Build reads, for messages
	// Build makes a model and returns the address of its server. It reads variables through getenv, connects to nothing,
	// and sends requests through c where the client allows.
	Build func(name string, getenv func(string) string, c *http.Client) (m llm.Model, server string, err error)
}

// All returns the providers of [Model], "replay" aside.
func All() []Provider {
	return []Provider{
		{"openai", []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION"}, openaiModel},
		{"ollama", []string{"OLLAMA_HOST"}, ollamaModel},
		{"anthropic", []string{"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"}, anthropicModel},
		Compatible("googleai", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
		Compatible("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
		Compatible("cohere", "https://api.cohere.ai/compatibility/v1", "COHERE_API_KEY", "CO_API_KEY"),
		Compatible("huggingface", "https://router.huggingface.co/v1", "HF_TOKEN", "HUGGINGFACEHUB_API_TOKEN"),
		Compatible("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
		Compatible("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
		Compatible("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
		Compatible("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
		Compatible("xai", "https://api.x.ai/v1", "XAI_API_KEY"),
		{"cloudflare", []string{"CLOUDFLARE_API_TOKEN", "CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_BASE_URL"}, cloudflareModel},
	}
}

// Compatible returns a provider that speaks the protocol of OpenAI at base. Its key is in one of the variables. The
// variable NAME_BASE_URL replaces base.
func Compatible(name, base string, keys ...string) Provider {
	variable := strings.ToUpper(name) + "_BASE_URL"
	return Provider{name, append(keys, variable), func(model string, getenv func(string) string,
		c *http.Client) (llm.Model, string, error) {
		key, err := Variable(getenv, keys...)
		if err != nil {
			return nil, "", err
		}
		return speaksOpenAI(model, openai.Client{Key: key, HTTP: c, KeyFrom: strings.Join(keys, " or "), BaseFrom: variable},
			base, getenv)
	}}
}

// Variable returns the value of the first variable that is set, without white space around it. The error names them
// all.
func Variable(getenv func(string) string, names ...string) (string, error) {
	for _, name := range names {
		if value := strings.TrimSpace(getenv(name)); value != "" {
			return value, nil
		}
	}
	return "", errors.New(strings.Join(names, " or ") + " is not set")
}

// dialTimeout ends the attempt to reach a server that does not answer.
const dialTimeout = 10 * time.Second

// attemptTimeout ends a call without a reply. It is long, because Ollama may load a model of many gigabytes before the
// first word, and a model may reason for minutes.
const attemptTimeout = 10 * time.Minute

// Model returns the model of a spec: "replay:FILE", a recording of package llm/replay, or "PROVIDER:NAME" with a
// provider of
// [All]:
//
//	openai:NAME     OPENAI_API_KEY (required), OPENAI_BASE_URL, OPENAI_ORGANIZATION
//	ollama:NAME     OLLAMA_HOST, in all forms that Ollama accepts
//	anthropic:NAME  ANTHROPIC_API_KEY (required), ANTHROPIC_BASE_URL with or without /v1
//	groq:NAME       GROQ_API_KEY (required), GROQ_BASE_URL, and the like for the others
//
// The variables are read through getenv. The model is named by its spec, a recording by the name in its file. An
// attempt ends after 10 minutes. Model makes no connection. If the server cannot be reached, the first call fails with
// a permanent error that names it. Once the server has answered, such an error may be retried.
func Model(spec string, getenv func(string) string) (llm.Model, error) {
	return Of(All(), spec, getenv)
}

// Of is [Model] with the providers that are known to the program.
func Of(known []Provider, spec string, getenv func(string) string) (llm.Model, error) {
	provider, name, _ := strings.Cut(spec, ":")
	at := slices.IndexFunc(known, func(p Provider) bool { return p.Name == provider })
	switch {
	case at < 0 && provider != "replay":
		return nil, fmt.Errorf("model %q: unknown provider; want %s", spec, specs(known))
	case strings.TrimSpace(name) == "":
		return nil, fmt.Errorf("model %q: no model name; want %s", spec, specs(known))
	case at < 0:
		return recording(spec, name)
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = dialer.DialContext
	m, server, err := known[at].Build(name, getenv, &http.Client{Transport: transport})
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", spec, err)
	}
	return llm.Chain(llm.Named(spec, m), reached(spec, server), llm.Timeout(attemptTimeout)), nil
}

// reached makes the error of a connection permanent if the server never answered before. Most likely its address is
// wrong or it is not running.
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
					Message: fmt.Sprintf("%s: cannot reach %s: %s. Is the server running?", spec, server,
						strings.TrimPrefix(fault.Err.Error(), "connect: ")),
				}
			}
			return resp, err
		})
	}
}

// specs is Specs with the names of the other providers.
func specs(known []Provider) string {
	var names []string
	for _, p := range known {
		if !strings.Contains(Specs, p.Name+":") {
			names = append(names, p.Name)
		}
	}
	return Specs + "; NAME is also a model of " + strings.Join(names, ", ") + " in place of openai"
}

func openaiModel(name string, getenv func(string) string, c *http.Client) (llm.Model, string, error) {
	key, err := Variable(getenv, "OPENAI_API_KEY")
	if err != nil {
		return nil, "", fmt.Errorf("%w (a server that asks for no key takes any text)", err)
	}
	client := openai.Client{Key: key, HTTP: c, KeyFrom: "OPENAI_API_KEY", BaseFrom: "OPENAI_BASE_URL"}
	if organization := getenv("OPENAI_ORGANIZATION"); organization != "" {
		client.Header = http.Header{"OpenAI-Organization": {organization}}
	}
	return speaksOpenAI(name, client, "https://api.openai.com/v1", getenv)
}

func speaksOpenAI(name string, client openai.Client, base string, getenv func(string) string) (m llm.Model,
	server string, err error) {
	if client.BaseURL, err = baseURL(getenv, client.BaseFrom, base); err != nil {
		return nil, "", err
	}
	return client.Model(name), client.BaseURL, nil
}

func anthropicModel(name string, getenv func(string) string, c *http.Client) (llm.Model, string, error) {
	key, err := Variable(getenv, "ANTHROPIC_API_KEY")
	if err != nil {
		return nil, "", err
	}
	base, err := baseURL(getenv, "ANTHROPIC_BASE_URL", "https://api.anthropic.com")
	if err != nil {
		return nil, "", err
	}
	return anthropic.Client{BaseURL: base, Key: key, HTTP: c}.Model(name), base, nil
}

func ollamaModel(name string, getenv func(string) string, c *http.Client) (llm.Model, string, error) {
	host, err := ollamaURL(getenv("OLLAMA_HOST"))
	if err != nil {
		return nil, "", err
	}
	return openai.Client{BaseURL: host + "/v1", HTTP: c, KeyFrom: "OLLAMA_HOST", BaseFrom: "OLLAMA_HOST"}.Model(name),
		host, nil
}

// cloudflareModel has the account in the path of its endpoint.
func cloudflareModel(name string, getenv func(string) string, c *http.Client) (llm.Model, string, error) {
	account, err := Variable(getenv, "CLOUDFLARE_ACCOUNT_ID")
	if err != nil && strings.TrimSpace(getenv("CLOUDFLARE_BASE_URL")) == "" {
		return nil, "", err
	}
	base := "https://api.cloudflare.com/client/v4/accounts/" + account + "/ai/v1"
	return Compatible("cloudflare", base, "CLOUDFLARE_API_TOKEN").Build(name, getenv, c)
}

// baseURL returns the URL in the variable, or other if it is empty, without a slash at its end.
func baseURL(getenv func(string) string, variable, other string) (string, error) {
	text := strings.TrimRight(cmp.Or(strings.TrimSpace(getenv(variable)), other), "/")
	if _, err := parseURL(variable, text); err != nil {
		return "", err
	}
	return text, nil
}

// parseURL parses the value of a variable. Its errors do not repeat a password.
func parseURL(variable, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || !validPort(u.Port()) ||
		u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%s is no URL of a server, as https://host:port/path: %s", variable, redact.Line(text))
	}
	return u, nil
}

func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// ollamaURL reads OLLAMA_HOST as Ollama does: scheme, host and port may each be left out. An address to listen on, such
// as 0.0.0.0, is replaced by the loopback address.
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
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v1"), nil // which other tools want there
}

// recording opens a recording of one model.
func recording(spec, path string) (llm.Model, error) {
	player, err := replay.Open(path)
	if err != nil {
		if path := new(*fs.PathError); errors.As(err, path) { // the spec has the path
			err = (*path).Err
		}
		return nil, fmt.Errorf("model %q: %w", spec, err)
	}
	switch names := player.Models(); len(names) {
	case 0:
		return nil, fmt.Errorf("model %q: the recording is empty", spec)
	case 1:
		return player, nil
	default:
		return nil, fmt.Errorf("model %q: the recording is of several models (%s); a flag takes one", spec,
			strings.Join(names, ", "))
	}
}
