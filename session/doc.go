// Package session holds what a conversation about a database is made of: typed turns, questions that a strategy asks the
// user, corrections, the states of a session, its record, and the stores that keep it. It asks no model and runs no SQL;
// texttosql.Engine.Converse runs a session.
package session
