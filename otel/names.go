package otel

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"
	// the last version with names for generative AI, which have moved to a registry without a release
	genai "go.opentelemetry.io/otel/semconv/v1.41.0"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

const (
	own = "texttosql." // what no convention has

	callSpan  = "model call" // the spans of llm.Trace
	querySpan = "exec.query" // the spans of package exec

	metricQuestions  = own + "question.duration"
	metricMoney      = own + "question.money"
	metricConfidence = own + "confidence"
	metricCandidates = own + "candidates"
	metricRunning    = own + "questions.running"
)

// conventional are the names of attributes of package trace that a convention has another name for.
var conventional = map[string]attribute.Key{
	"temperature": genai.GenAIRequestTemperatureKey, "top_p": genai.GenAIRequestTopPKey,
	"max_tokens": genai.GenAIRequestMaxTokensKey,
	"seed":       genai.GenAIRequestSeedKey, "answered_by": genai.GenAIResponseModelKey,
	"prompt": genai.GenAIInputMessagesKey,
	"reply":  genai.GenAIOutputMessagesKey, "sql": semconv.DBQueryTextKey, "rows": semconv.DBResponseReturnedRowsKey,
	"error_class": semconv.ErrorTypeKey,
}

// Boundaries of histograms, as the conventions list them; those of questions and confidences are ours.
var (
	tokenBounds    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	callBounds     = []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	queryBounds    = []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10}
	questionBounds = []float64{.1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300}
	moneyBounds    = []float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3}
	shareBounds    = []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9, 1}
	countBounds    = []float64{1, 2, 4, 8, 16, 32, 64}
)

// providers are what the conventions call the providers that models of this project are named by.
var providers = map[string]attribute.KeyValue{
	"openai": genai.GenAIProviderNameOpenAI, "anthropic": genai.GenAIProviderNameAnthropic,
	"bedrock": genai.GenAIProviderNameAWSBedrock,
	"gemini":  genai.GenAIProviderNameGCPGemini, "googleai": genai.GenAIProviderNameGCPGemini,
	"vertex": genai.GenAIProviderNameGCPVertexAI,
	"azure":  genai.GenAIProviderNameAzureAIOpenAI, "mistral": genai.GenAIProviderNameMistralAI,
	"xai": genai.GenAIProviderNameXAI,
}

// named returns the provider and the model of the name of a model: "openai:gpt-5-mini" has both. A provider that is not
// known is called as the name calls it.
func (c Config) named(name string) (provider attribute.KeyValue, model string) {
	before, after, ok := strings.Cut(name, ":")
	if !ok || after == "" || strings.ContainsAny(before, "/ ") {
		before, after = c.Provider, name
	}
	if known, ok := providers[before]; ok {
		return known, after
	}
	return genai.GenAIProviderNameKey.String(before), after
}

// system is what the conventions call the engine of a name of exec.Language.
func system(engine string) attribute.KeyValue {
	if known, ok := map[string]attribute.KeyValue{"postgres": semconv.DBSystemNamePostgreSQL,
		"bigquery": semconv.DBSystemNameKey.String("gcp.bigquery")}[engine]; ok {
		return known
	}
	return semconv.DBSystemNameKey.String(engine)
}
