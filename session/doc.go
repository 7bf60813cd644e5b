// Package session holds the parts of a conversation about a database. These are typed turns, questions that a strategy
// asks the user, corrections, the states of a session, its record, and the stores. It does not call a model or run SQL;
// a texttosql.Conversation runs a session (Engine.NewConversation).
//
// A [Record] is the conversation in the form that a [Store] saves. Records have revisions, so only one of two
// concurrent writers succeeds. The State of a record moves along a fixed table ([State.May]). A [Journal] has the
// recorded replies of the model; an interrupted session continues from it.
//
// [MemoryStore] and [FileStore] are stores, and the module session/pgstore has one on PostgreSQL. Test
// your own store with storetest.Conformance. A [Locker] knows which sessions are in use. Call
// [DeleteExpired] to delete old sessions.
//
// A [Correction] is the user's change of an answer: [Correction.Parse] reads it from a text, json.Unmarshal from a
// program's form, and [Correction.Resolve] finds the names in the schema.
package session
