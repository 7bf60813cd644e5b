// Package replay records the calls of models in a file and answers from it.
//
// It is not a cache: no reply expires, and a call that is not in the file is an error. A recording repeats a run
// without a model, resumes an interrupted run, and replaces a model in tests.
//
//	rec, err := replay.Append("run.jsonl")
//	…
//	defer rec.Close()
//	model = llm.Chain(model, rec.Record) // run it
//
//	player, err := replay.Open("run.jsonl") // and again, without the model
//	…
//	engine, err := texttosql.New(db, player)
//
// # What is recorded, and where
//
// The key of a call is the name of its model, its purpose, the hash of what was sent ([llm.Request.Hash]) and the index
// of its sample. A recorder that is the outermost middleware records replies. A recorder directly around the adapter
// records attempts, failed ones too, so that a replay repeats the same attempts in the same order. Errors are recorded
// with their class. Spent budgets, cancelled calls and times are not recorded.
//
// # The format
//
// JSON lines, UTF-8, each complete by itself:
//
//	{"v":1,"hash":"5f0c…","model":"m","purpose":"generate","draw":0,"about":"How many…","reply":{"text":"SELECT …",…},"sum":"d1670a3c"}
//	{"v":1,"hash":"5f0c…","draw":1,"about":"How many…","error":{"class":"rate-limit","status":429,"retry_after_ms":2000,…},"sum":"07ba3f51"}
//
// v is the version. about is the question of the last user message, for people. day is the line of the request about
// the current day. A reply that is not UTF-8 is in "bytes", base64, instead of "text". sum is the CRC-32 of the text
// before it. A line that does not match its sum was changed after it was written, and is an error. A line without a
// checksum, from another program or an earlier version, is read with a note (Notes), and Append adds the checksum.
// Such a line must not have a field that the reader does not know. In a line with a checksum a reader ignores such
// fields. A version that it does not know is an error. An incomplete last line, which a crash may leave, is ignored
// with a note.
//
// A recording holds replies and one line of each prompt, but no whole prompt, no key and no row. Replies may repeat
// data from the prompt, so only the owner may read new files.
package replay
