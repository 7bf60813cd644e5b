// Package session holds what a conversation about a database is made of: typed turns, questions that a strategy asks the
// user, corrections, the states of a session, its record, and the stores that keep it. It asks no model and runs no SQL;
// texttosql.Engine.Converse runs a session.
//
// A [Record] is the conversation as a [Store] keeps it, by revisions, so that of two writers one wins. Its State moves
// along a fixed table ([State.May]). Beside it stands a [Journal] with the recorded replies of the model, from which an
// interrupted session goes on. [Memory] and [Files] are stores, and the module session/pgstore
// has one on PostgreSQL; test one of your own with storetest.Conformance. A [Holder] knows on which sessions somebody works. Old sessions go when you call [Sweep].
//
// What the user says of an answer is a [Correction]: [Parse] reads it from a text, json.Unmarshal from a program's form,
// and [Correction.Resolve] finds the names in the schema.
package session
