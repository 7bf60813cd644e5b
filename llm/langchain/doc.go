// Package langchain makes an [llm.Model] of a model of langchaingo (github.com/tmc/langchaingo), and works around the
// faults of that library. It is not a client: the provider's client of langchaingo does the talking. Without langchaingo,
// implement [llm.Model] in ten lines.
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
// Nearly all providers take an HTTP client. Give them [HTTPClient]. Without it
//
//   - Retry-After is lost, and [llm.Retry] waits as long as it would without one;
//   - Ollama's errors have no status, so a call of an unknown model is of unknown class and tried twice;
//   - error codes are lost, so a prompt that is too long, a spent quota and a filtered prompt look like other refusals;
//   - OpenAI's "network error" hides the cause of a broken connection;
//   - a model that takes no temperature is sent 1 instead of none, which some refuse too;
//   - OpenAI's client drops TopP, which is then the warning "top-p-unsent" in the trace;
//   - the length of a reply is not bounded.
//
// # What the adapter does
//
// Every call asks for one reply, unstreamed, with a temperature and a limit on tokens ([Config] has the defaults). If the
// provider refuses a request with an error that names the temperature, the adapter makes it again without one. If that
// helps, it sends none from then on, and warns in the trace. It repeats no other call; that is for [llm.Retry].
//
// Once ctx has ended, its error is returned, whatever the client says. All other errors are an [*llm.Error]. Its class
// follows from the status and the documented error codes, never from the words of a body:
//
//   - 429: rate limit; 408 and 504: time-out; other 5xx: overloaded;
//   - 413 and the code context_length_exceeded: context too long (Anthropic has no such code, so there it is permanent);
//   - the code content_filter: refused; other statuses: permanent;
//   - a connection that cannot be made or breaks: overloaded;
//   - a reply that is empty or cannot be read: unknown, which Retry tries once more; no room, if reasoning took it all.
//
// Purpose and Sample are never sent, and Anthropic's client does not send Seed. Usage is the provider's, and Known is false
// if it gave none. Response.Model is empty, because langchaingo drops it.
//
// Google's client must not serve two models at once, because it keeps the model in a field: build one client for each.
package langchain
