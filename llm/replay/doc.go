// Package replay records the calls of models in a file and answers from it.
//
// It is not a cache: nothing is forgotten, and what is not in the file is an
// error. A recording makes a run repeatable without a model, resumes one that
// was broken off, and is a test's stand-in for a model.
//
//	rec, err := replay.Append("run.jsonl")
//	…
//	defer rec.Close()
//	model = llm.Chain(model, llm.Record(rec.Record)) // run it
//
//	player, err := replay.Open("run.jsonl") // and again, without the model
//	…
//	engine, err := texttosql.New(db, player)
//
// # What is recorded, and where
//
// A call is known by the name of its model, its purpose, the hash of what was
// sent ([llm.Request.Hash]) and its draw. A recorder that is the outermost
// middleware records replies; one directly around the adapter records attempts,
// failed ones too, and so a replay repeats the same attempts in the same order.
// Errors are recorded with their class; spent budgets and cancelled calls are
// not, because they say nothing about the model. Times are not recorded.
//
// # The format
//
// JSON lines, UTF-8, each complete by itself:
//
//	{"v":1,"hash":"5f0c…","model":"m","purpose":"generate","draw":0,"about":"How many…","reply":{"text":"SELECT …","stop":"stop","usage":{…}}}
//	{"v":1,"hash":"5f0c…","draw":1,"about":"How many…","error":{"class":"rate-limit","status":429,"retry_after_ms":2000,"message":"…"}}
//
// v is [Version]; about is the question of the last user message, for people.
// A reply that is not UTF-8 is in "bytes", base64, instead of "text". Fields that
// a reader does not know are left alone; a version that it does not know is an
// error. A last line without its end, which a crash leaves, is ignored with a
// note.
//
// A recording holds replies and a line of each prompt, but no prompt, no key and
// no row. It still may hold what the model was told of the data: new files are
// readable by their owner only.
package replay
