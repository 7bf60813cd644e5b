// Package texttosql turns a question in natural language into one checked,
// read-only SQL statement, with its rows, an honest confidence, its cost and a
// trace of why.
//
// It is not a chat bot, a chart maker, an HTTP server or a client of a provider:
// it writes no prose about rows, and talks to models through a port of one
// method (package llm; the modules llm/openai, llm/anthropic and llm/gemini, and
// llm/langchain for langchaingo's providers).
//
//	db, _ := sql.Open("sqlite3", "file:shop.db?mode=ro")
//	client, _ := openai.New(openai.WithHTTPClient(langchain.HTTPClient(nil))) // any langchaingo model
//	engine, err := texttosql.New(db, langchain.Model(client))
//	answer, err := engine.Ask(ctx, "Which customers in the USA never ordered?")
//	fmt.Println(answer.SQL, answer.Confidence)
//	answer.Rows.WriteTable(os.Stdout)
//
// # How an answer comes about
//
// The schema is inspected once and kept until it changes; a strategy writes
// prompts from it, samples replies in parallel, takes one statement out of each,
// and puts every distinct statement through the checks: one reading statement by
// the text, by the engine's own authorizer and by EXPLAIN, then executed under
// limits. Equal results are equal votes; the largest group wins, and its share,
// with one vote more either way and less the doubts about it, is the confidence. The winner is checked once more
// before it is returned. Choose a preset or compose a strategy with WithStrategy.
//
// # What people know
//
// WithKnowledge gives metrics, words, relationships and verified statements (package
// knowledge, with readers of dbt, Apache Ossie, Snowflake and WrenAI). Metrics are
// compiled from their definitions and stand in the same vote; a verified question is
// answered without a model; Result.Grounds says on what an answer stands.
// Result.Answerable says whether the data has anything for the question, and
// WithRefuseBelow refuses by it.
//
// # Safety
//
// No statement of a model reaches the database but a single reading one, on a
// connection that is guarded first and given back as it was, within limits on
// time, rows and bytes. A database that cannot be guarded is refused. What a
// person, a model or the database wrote is untrusted text in every prompt, log
// and trace.
//
// # Rules
//
// Equal replies give equal results, byte for byte, with two exceptions. Calls at
// the same time may compete for the last of a budget (of tokens, money or time, or
// of calls when some are repeated after a failure). A sample whose reply comes
// very late is left out if it cannot change the winner.
//
// An error comes with a non-nil Result whenever there is something to show.
// Cancelling ctx ends everything soon, and errors.Is(err, context.Canceled) holds.
package texttosql
