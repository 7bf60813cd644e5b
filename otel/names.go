package otel

// The names of attributes and metrics. Those of OpenTelemetry's conventions for generative AI are not stable yet, so
// they stand here and nowhere else.
const (
	genOperation   = "gen_ai.operation.name" // "chat"
	genModel       = "gen_ai.request.model"
	genAnsweredBy  = "gen_ai.response.model"
	genTemperature = "gen_ai.request.temperature"
	genTopP        = "gen_ai.request.top_p"
	genMaxTokens   = "gen_ai.request.max_tokens"
	genSeed        = "gen_ai.request.seed"
	genFinish      = "gen_ai.response.finish_reasons"
	genPromptUsed  = "gen_ai.usage.input_tokens"
	genReplyUsed   = "gen_ai.usage.output_tokens"
	genPrompt      = "gen_ai.input.messages"  // private
	genReply       = "gen_ai.output.messages" // private
	genTokenType   = "gen_ai.token.type"      // "input", "output"

	dbStatement = "db.query.text" // private
	dbRows      = "db.response.returned_rows"
	errorType   = "error.type"

	own = "texttosql." // what no convention has

	callSpan = "model call" // the spans of llm.Trace

	metricTokens     = "gen_ai.client.token.usage"
	metricCalls      = "gen_ai.client.operation.duration"
	metricQuestions  = own + "question.duration"
	metricMoney      = own + "question.money"
	metricConfidence = own + "confidence"
	metricCandidates = own + "candidates"
)

// conventional are the names of attributes of package trace that a convention has another name for.
var conventional = map[string]string{
	"model": genModel, "answered_by": genAnsweredBy, "temperature": genTemperature, "top_p": genTopP, "max_tokens": genMaxTokens,
	"seed": genSeed, "prompt": genPrompt, "reply": genReply, "sql": dbStatement, "rows": dbRows, "error_class": errorType,
}
