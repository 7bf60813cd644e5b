// Package wire (API is not stable) is what clients of providers share: it turns the replies and failures of a client
// into those of [llm.Model]. Packages llm/openai, llm/anthropic, llm/gemini and llm/langchain are made with it, and so
// is a client of your own for a provider that none of them reaches. Programs that only use models need none of it.
//
// A [Client] fills requests, classifies failures and says in words what to change. Its Send makes the one call, by
// [Post] or an SDK, through an HTTP client that [RoundTrip] watches: many SDKs drop the time to wait, the body of an
// error page or the cause of a broken connection, which the transport still has.
//
// The class of a failure follows from the status and the documented codes, of the response or of an error in its body:
//
//   - 429: rate limit, but for a spent quota, which is permanent; 408 and 504: time-out; 409 and other 5xx:
//     overloaded;
//   - 413 and the codes of a request that is too long: context too long; the codes of a content filter: refused;
//   - other statuses: permanent; a connection that cannot be made or breaks: overloaded;
//   - a reply that is empty or cannot be read: unknown, and no room if reasoning used up the limit on tokens.
//
// Where a server has no code for one of these, its words decide: those of a prompt that does not fit, of an account
// without money, of a filter, of a parameter or of messages of the system that it refuses. What stands in quotation
// marks is left out, since a prompt may be repeated there.
package wire
