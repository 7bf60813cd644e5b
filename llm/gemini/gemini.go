// Package gemini calls Google's models through the official SDK (google.golang.org/genai):
//
//	engine, err := texttosql.New(db, gemini.Model("gemini-2.5-flash"))
//
// The SDK reads GOOGLE_API_KEY or GEMINI_API_KEY, GOOGLE_GEMINI_BASE_URL, and for Vertex AI GOOGLE_GENAI_USE_VERTEXAI,
// GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION. A configuration in [Client] replaces these variables. The package
// does not retry, so [llm.Retry], budgets and recordings see every call. It sets no time-out; [llm.Timeout] does.
// [llm.StatusError] has the classes of failures.
package gemini

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"google.golang.org/genai"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/internal/wire"
)

// maxBatch is how many texts the service takes for vectors at once.
const maxBatch = 100

// key is where a key is set.
const key = "GEMINI_API_KEY, GOOGLE_API_KEY or Config.APIKey"

// Client creates models with one configuration of the SDK. The zero Client uses the environment. A Client is safe for
// concurrent use.
type Client struct {
	Config genai.ClientConfig
}

// Model returns the model with that name, configured by the environment.
func Model(name string) llm.Model { return Client{}.Model(name) }

// Embedder returns the embedding model with that name ("gemini-embedding-001") as a memory.Embedder, configured by the
// environment.
func Embedder(name string) *wire.Embedder { return Client{}.Embedder(name) }

// Model returns the model with that name. It does not connect, but on Vertex AI it looks for credentials. It never
// fails: the first call returns any error.
func (c Client) Model(name string) llm.Model {
	models, err := c.models()
	d := described(name)
	d.Send = func(ctx context.Context, _ *wire.Call, r wire.Request) (llm.Response, string, error) {
		if err != nil {
			return llm.Response{}, "", err
		}
		reply, err := models.GenerateContent(ctx, name, contents(r), config(r))
		if err != nil {
			return llm.Response{}, "", err
		}
		resp, why := response(reply)
		return resp, why, nil
	}
	return d
}

// Embedder returns the embedding model with that name as a memory.Embedder.
func (c Client) Embedder(name string) *wire.Embedder {
	models, err := c.models()
	return &wire.Embedder{Client: described(name), Batch: maxBatch, Embed: func(ctx context.Context, texts []string,
		query bool) ([][]float32, error) {
		if err != nil {
			return nil, err
		}
		task := "RETRIEVAL_DOCUMENT"
		if query {
			task = "RETRIEVAL_QUERY"
		}
		var parts []*genai.Content
		for _, text := range texts {
			parts = append(parts, genai.NewContentFromText(text, genai.RoleUser))
		}
		reply, err := models.EmbedContent(ctx, name, parts, &genai.EmbedContentConfig{TaskType: task})
		if err != nil {
			return nil, err
		}
		var out [][]float32
		for _, e := range reply.Embeddings {
			if e != nil {
				out = append(out, e.Values)
			}
		}
		return out, nil
	}}
}

func described(name string) *wire.Client {
	return &wire.Client{
		Model: name,
		Key:   key,
		Base:  "GOOGLE_GEMINI_BASE_URL or Config.HTTPOptions (without /v1beta)",
		Parameters: []string{
			"temperature", "temperature", "topP", "top_p", "top_p", "top_p", "seed", "seed", "stopSequences", "stop",
			"stop_sequences", "stop",
			"maxOutputTokens", "max_tokens", "max_output_tokens", "max_tokens",
			"thinkingLevel", "effort", "thinking_level", "effort", "thinkingConfig", "effort", "thinking_config", "effort",
			"Thinking level", "effort",
			"responseJsonSchema", "schema", "response_json_schema", "schema", "response_schema", "schema", "responseMimeType",
			"schema",
		},
	}
}

// models returns the part of the SDK that calls models. wire sees its requests. The error repeats nothing of the
// configuration, unlike the SDK's error.
func (c Client) models() (*genai.Models, error) {
	config := c.Config
	client, err := genai.NewClient(context.Background(), &config)
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), " ClientConfig:")
		return nil, fmt.Errorf("look at %s and the rest of Config: %s", key, text)
	}
	config.HTTPClient = wire.HTTPClient(config.HTTPClient) // the SDK keeps &config, and has put its own client there
	return client.Models, nil
}

func contents(r wire.Request) (out []*genai.Content) {
	for _, t := range r.Turns {
		role := genai.Role(genai.RoleUser)
		if t.Role == llm.Assistant {
			role = genai.RoleModel
		}
		out = append(out, genai.NewContentFromText(t.Text, role))
	}
	return out
}

func config(r wire.Request) *genai.GenerateContentConfig {
	c := &genai.GenerateContentConfig{StopSequences: r.Stop}
	if len(r.System) > 0 {
		c.SystemInstruction = genai.NewContentFromText(wire.Joined(r.System), genai.RoleUser)
	}
	if r.Temperature != nil {
		c.Temperature = genai.Ptr(float32(*r.Temperature))
	}
	if r.TopP != nil {
		c.TopP = genai.Ptr(float32(*r.TopP))
	}
	if r.MaxTokens != nil {
		c.MaxOutputTokens = int32(min(*r.MaxTokens, math.MaxInt32))
	}
	if r.Seed != nil {
		c.Seed = genai.Ptr(int32(*r.Seed)) // the same seed is the same number, cut as it may be
	}
	if r.Effort != "" {
		c.ThinkingConfig = &genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevel(strings.ToUpper(r.Effort))}
	}
	if r.Schema != nil {
		c.ResponseMIMEType, c.ResponseJsonSchema = "application/json", json.RawMessage(r.Schema)
	}
	return c
}

func response(reply *genai.GenerateContentResponse) (resp llm.Response, why string) {
	resp.Model, resp.Usage.Calls = reply.ModelVersion, 1
	if u := reply.UsageMetadata; u != nil {
		resp.Usage = llm.Usage{
			Calls: 1, PromptTokens: int(u.PromptTokenCount), CachedTokens: int(u.CachedContentTokenCount),
			CompletionTokens: int(u.CandidatesTokenCount) + int(u.ThoughtsTokenCount),
			ReasoningTokens:  int(u.ThoughtsTokenCount),
		}
		resp.Usage.Known = resp.Usage.PromptTokens > 0 && resp.Usage.CompletionTokens > 0
	}
	if f := reply.PromptFeedback; f != nil && f.BlockReason != "" {
		resp.StopReason = llm.StopFilter
		return resp, "prompt: " + string(f.BlockReason)
	}
	if len(reply.Candidates) == 0 || reply.Candidates[0] == nil {
		return resp, ""
	}
	candidate := reply.Candidates[0]
	if candidate.Content != nil {
		for _, part := range candidate.Content.Parts {
			if part != nil && !part.Thought {
				resp.Text += part.Text
			}
		}
	}
	why = string(candidate.FinishReason)
	resp.StopReason = wire.Stop(why)
	return resp, why
}
