// Package langchain turns a model of langchaingo (github.com/tmc/langchaingo) into an [llm.Model], and works around
// faults of that library. It is not a client: langchaingo's client sends the requests. Without langchaingo, your own
// [llm.Model] takes ten lines.
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
// Nearly all providers of langchaingo accept an HTTP client. Give them [HTTPClient]. Without it
//
//   - Retry-After is lost, so [llm.Retry] uses its own waits;
//   - Ollama's errors have no status, so the error about an unknown model has an unknown class, and the call is made
//     twice;
//   - error codes are lost, so a prompt that is too long, a spent quota and a filtered prompt look like other refusals;
//   - OpenAI's "network error" hides the cause of a broken connection;
//   - a model that rejects a temperature receives 1 instead of none, which some also reject;
//   - OpenAI's client drops TopP, and the trace has the warning "top-p-unsent";
//   - the length of a reply is not bounded.
//
// # What the adapter does
//
// Every call asks for one reply, unstreamed, with a temperature and a limit on tokens ([Config] has the defaults). If
// the provider rejects a request with an error that names the temperature, the adapter sends it again without one. If
// that succeeds, it never sends one again, and adds a warning to the trace. It repeats no other call: [llm.Retry]
// does.
//
// Once ctx has ended, the adapter returns its error, whatever the client returns. All other errors are an
// [*llm.Error]. Its class follows from the status and the documented error codes, never from the words of a body:
//
//   - 429: rate limit; 408 and 504: time-out; other 5xx: overloaded;
//   - 413 and the code context_length_exceeded: context too long (Anthropic has no such code, so there it is
//     permanent);
//   - the code content_filter: refused; other statuses: permanent;
//   - a connection that cannot be made or breaks: overloaded;
//   - a reply that is empty or cannot be read: unknown, which Retry repeats once; out of tokens, if reasoning used
//     them all.
//
// Purpose and Sample are never sent, and Anthropic's client does not send Seed. Usage comes from the provider; Known
// is false if it reports none. Response.Model is empty, because langchaingo drops it.
//
// Google's client stores the model in a field, so it must not serve two models at once: create one client for each.
package langchain
