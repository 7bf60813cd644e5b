// Package pgstore keeps conversations and lessons on PostgreSQL, for programs that run as several processes on one machine or
// on many: a [Store] is a session.Store and a session.Holder, and its [Store.Lessons] are a memory.Shelf.
//
//	store, err := pgstore.Open(ctx, os.Getenv("SESSIONS_DSN"), pgstore.Config{})
//	conversation := engine.NewConversation(store)
//	lessons, err := memory.LessonsOn(store.Lessons("shop"))
//
// It is tested on PostgreSQL 15. Do not keep sessions in the database that is asked: its guard wants a role that only reads.
// One set of tables is for the conversations about one database; give another database, and another application, a schema of its
// own: [Config].Schema, or the search_path of the DSN.
//
// # Leases
//
// A conversation belongs to one process at a time. While a call works on it the store holds a lease of it, a row that says until
// when, by the server's clock alone, and renews it three times within that time. Whoever comes meanwhile gets session.ErrHeld. The
// lease of a process that died runs out after at most [Config].Lease and the next one takes the conversation over, with all replies
// that the journal has. A process that slept longer than its lease and lost it to another one cannot save any more: it gets
// session.ErrConflict, also before the other one has saved.
//
// # Crashes and damage
//
// Every change is one transaction and is on disk on return, also where the server's default is synchronous_commit = off. Of
// two that save one revision one wins. Records, lines of a journal and lessons have their checksums, so that one which was changed
// in the database is an error (*session.RecordError, *replay.LineError, *memory.LessonError) and no answer. Where the connection breaks while a
// change is committed, nobody can know whether it holds: see session.Store.
package pgstore
