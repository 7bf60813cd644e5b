// Package langchain makes an [llm.Model] of a model of langchaingo
// (github.com/tmc/langchaingo), and handles that library's traps.
//
// It is not a client: the provider's own does the talking, and whoever wants no
// langchaingo implements [llm.Model] in ten lines.
//
//	client, err := openai.New(
//		openai.WithModel("gpt-4o-mini"),
//		openai.WithHTTPClient(langchain.HTTPClient(nil)),
//	)
//	if err != nil {
//		return err
//	}
//	engine, err := texttosql.New(db, langchain.Model(client))
//
// # Why HTTPClient
//
// All providers but a few take an HTTP client, and it is worth giving them
// [HTTPClient]. Without it
//
//   - Retry-After is lost: [llm.Retry] waits for as long as it thinks right;
//   - Ollama's errors have no status, so that an unknown model is of unknown
//     class and tried twice; OpenAI's and Anthropic's have one;
//   - there are no error codes, so that a prompt that is too long, a spent quota
//     and a filtered prompt are told from other refusals by nobody;
//   - the cause of a broken connection stays hidden behind OpenAI's "network
//     error";
//   - a model that takes no temperature is sent 1, which some refuse too,
//     instead of none;
//   - the length of a reply has no bound.
//
// # What the adapter does
//
// Every call asks for one reply, unstreamed, with a temperature and a limit on
// tokens ([Config] has what stands in for unset ones). A request that the
// provider refuses with an error that names the temperature is made again
// without one; if that helps, the adapter does so from then on, and warns in the
// trace. No other call is repeated here: that is for [llm.Retry].
//
// When ctx has ended, its error is returned, whatever the client says. All other
// errors are an [*llm.Error], classified by status, and never by the words of a
// body: 429 is a rate limit, 5xx overloaded, 408 and 504 a time-out, 413 and the
// code context_length_exceeded a context too long, content_filter a refusal,
// other statuses permanent. (Anthropic has no code for a prompt that is too long:
// permanent.) A connection that cannot be made or breaks is overloaded; a reply
// that cannot be read or is empty is of unknown class, which Retry tries once
// more.
//
// What OpenAI, Ollama and Anthropic are not sent: Purpose and Draw always, Seed
// by Anthropic's client. Usage is that of the provider, with Known false where
// it gave none. Response.Model is empty: langchaingo drops it.
//
// Google's client must not serve two models at once (it keeps the model in a
// field): build one for each.
package langchain
