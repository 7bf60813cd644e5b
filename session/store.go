package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The errors of a conversation, for errors.Is.
var (
	// ErrNotFound reports that the store does not have a session with this id.
	ErrNotFound = errors.New("session: there is no session of that id; list them, or start a new one")
	// ErrInvalidID reports an id that does not have the form of NewID.
	ErrInvalidID = errors.New("session: the id is not 32 hexadecimal digits in lower case")
	// ErrConflict reports that another process or call changed the session since it was loaded. Load it again.
	ErrConflict = errors.New("session: another process has changed the session; load it again")
	// ErrLocked reports that another call works on the session, perhaps of another process.
	ErrLocked = errors.New("session: another call works on the session; wait for it")
	// ErrStale reports that the schema or the configuration changed since the session began.
	ErrStale = errors.New("session: the schema or the configuration has changed since; restart the session")
	// ErrInvalidCorrection reports a correction that cannot be used. The session is unchanged. See CorrectionError.
	ErrInvalidCorrection = errors.New("session: the correction cannot be used")
	// ErrMaxCorrections reports that the question has used all its corrections. Ask it in other words.
	ErrMaxCorrections = errors.New("session: all corrections of the question are used; ask it in other words, " +
		"or write the SQL by hand")
)

// Store stores sessions. [MemoryStore], [FileStore] and the module session/pgstore implement it;
// storetest.Conformance tests your own. Safe for concurrent use, also by several processes if its data
// outlives a process. A method whose ctx has ended does nothing and returns the error of ctx. An id that
// CheckID refuses is ErrInvalidID.
type Store interface {
	// Load returns the record with this id; ErrNotFound if there is none, a *RecordError if it is broken.
	Load(ctx context.Context, id string) (Record, error)

	// Save stores r as revision r.Revision+1 if the stored revision is r.Revision (0: none is stored), and returns
	// ErrConflict otherwise. The record is durable on return. After a nil error the caller increments its own
	// r.Revision. After ErrConflict r is not stored; after any other error only Load shows whether r is stored. A
	// *RecordError reports that r is too large or that the stored record is broken; then nothing is changed.
	Save(ctx context.Context, r Record) error

	// Journal opens the journal of a saved session; ErrNotFound if the session was not saved.
	Journal(ctx context.Context, id string) (Journal, error)

	// List returns summaries, the last updated first; ties go by id. Sessions with a broken record are left out. The
	// error that is returned with the list joins a *RecordError for each.
	List(ctx context.Context, f Filter) ([]Summary, error)

	// Delete removes a session with its journal; ErrNotFound if there is none.
	Delete(ctx context.Context, id string) error
}

// Locker is a Store that knows which of its sessions are in use, also by other processes. [FileStore] is one.
type Locker interface {
	// Lock locks a session until release or the end of the process. If the session is in use, it
	// returns ErrLocked at once.
	Lock(ctx context.Context, id string) (release func(), err error)
}

// Journal holds the lines of a session's recording (llm/replay), oldest first. Safe for concurrent use.
type Journal interface {
	// Append adds a line, which is durable on return. The line must not be empty. It may end in a line end, but must
	// not contain another one. After an error the line is stored completely or not at all.
	Append(line []byte) error
	// Read returns all lines, each with its line end. A last line that a crash has cut short is left out.
	Read() ([]byte, error)
	// Close releases the journal. Lines stay.
	Close() error
}

// Filter selects sessions for a list. The zero Filter selects the last ten sessions without a scope.
type Filter struct {
	States []State // empty: all
	Scope  string  // exec.Scope.Key: only sessions of this scope
	Every  bool    // all sessions, with and without a scope, for the program itself; Scope is ignored
	Limit  int     // 0: 10; negative: no limit
}

// Summary is a session in a list.
type Summary struct {
	ID       string
	Scope    string // exec.Scope.Key of its questions; "": it has no scope
	Question string // the first one; without a question the user's first statement; "": neither
	Title    string // the user's title; "": show Question
	State    State
	Created  time.Time
	Updated  time.Time
	Turns    int
}

// Apply returns the summaries that match f, in the order of Store.List. It sorts all.
func (f Filter) Apply(all []Summary) []Summary {
	all = slices.DeleteFunc(all, func(s Summary) bool {
		return len(f.States) > 0 && !slices.Contains(f.States, s.State) || !f.Every && s.Scope != f.Scope
	})
	slices.SortFunc(all, func(a, b Summary) int {
		return cmp.Or(b.Updated.Compare(a.Updated), strings.Compare(a.ID, b.ID))
	})
	if limit := cmp.Or(f.Limit, 10); limit > 0 {
		all = all[:min(limit, len(all))]
	}
	return all
}

// NewID returns an id that cannot be guessed: 128 random bits as 32 hexadecimal digits.
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// CheckID returns an error that matches ErrInvalidID if id does not have the form of NewID. Every store calls it
// before it uses the id in a path or a query.
func CheckID(id string) error {
	if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
		return fmt.Errorf("%w: %.40q", ErrInvalidID, id)
	}
	return nil
}
