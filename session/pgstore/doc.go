// Package pgstore stores conversations, lessons and verified answers on PostgreSQL, for programs that run as several
// processes on one machine or on many. A [Store] is a session.Store and a session.Locker; [Store.Lessons]
// returns a memory.LessonStore, and [Store.VerifiedAnswers] a memory.AnswerStore.
//
//	store, err := pgstore.Open(ctx, os.Getenv("SESSIONS_DSN"), pgstore.Config{})
//	conversation := engine.NewConversation(store)
//	lessons, err := memory.LessonsOn(store.Lessons("shop"))
//	verified, err := memory.VerifiedAnswersOn(store.VerifiedAnswers("shop"))
//
// It is tested on PostgreSQL 15. Do not store sessions in the database that answers questions: its guard requires a
// read-only role. One set of tables serves the conversations about one database. Give another database or another
// application its own schema: [Config].Schema, or the search_path of the DSN.
//
// A save adds a row with the turns that changed. So it writes as much after a hundred turns as after one. Open upgrades
// tables of an earlier version. Then programs of that version get errors, so end them first. Only the owner of the
// tables may upgrade them.
//
// # Leases
//
// A conversation belongs to one process at a time. While a call works on it, the store holds a lease: a row with the
// end of the lease, by the server's clock. The store renews the lease three times within that time. During the lease,
// other processes get session.ErrLocked.
//
// The lease of a process that died runs out after at most [Config].Lease. The next process then takes the
// conversation over, with all replies of the journal. A process that was suspended longer than its lease and lost it
// cannot save any more: it gets session.ErrConflict, even before the other process has saved.
//
// # Crashes and damage
//
// Every change is one transaction and is on disk on return, even if the server's default is synchronous_commit = off.
// If two processes save one revision, only one succeeds.
//
// Records, their changes, lines of a journal, lessons and verified answers have checksums. A change made directly in
// the database is therefore an error that names the place. If the connection breaks during a commit, the
// result of the change is unknown: see session.Store.
package pgstore
