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
	// ErrNotFound says that the store has no session of that id.
	ErrNotFound = errors.New("session: there is no session of that id; list them, or start a new one")
	// ErrInvalidID says that an id is none of NewID.
	ErrInvalidID = errors.New("session: the id is not 32 hexadecimal digits in lower case")
	// ErrConflict says that somebody else changed the session since it was loaded. Load it again.
	ErrConflict = errors.New("session: another process has changed the session; load it again")
	// ErrHeld says that another call works on the session, perhaps of another process.
	ErrHeld = errors.New("session: another call works on the session; wait for it")
	// ErrStale says that the schema or the configuration is not that of the session any more.
	ErrStale = errors.New("session: the schema or the configuration has changed since; restart the session")
	// ErrInvalidCorrection says that a correction cannot be used. The session is unchanged. See CorrectionError.
	ErrInvalidCorrection = errors.New("session: the correction cannot be used")
	// ErrMaxCorrections says that MaxCorrections corrections of the question were made. Ask it in other words.
	ErrMaxCorrections = errors.New("session: all corrections of the question are used; ask it in other words, or write the SQL by hand")
)

// Store keeps sessions: [Memory] and [Files], that of the module session/pgstore, or one of your own, which storetest.Conformance tests. Safe for concurrent
// use, also by several processes if it outlives one. A method whose ctx has ended does nothing and returns its error.
// An id that CheckID refuses is ErrInvalidID.
type Store interface {
	// Load returns the record of that id; ErrNotFound if there is none, a *RecordError if it is broken.
	Load(ctx context.Context, id string) (Record, error)

	// Save keeps r under the revision r.Revision+1, if that of the stored record is r.Revision (0: none is stored), and
	// returns ErrConflict if not. The record is durable on return. After a nil error the caller raises its own
	// r.Revision by one. After any other error than ErrConflict only Load tells whether r is kept. A *RecordError says
	// that r is too large or that the stored record is broken; then nothing is changed.
	Save(ctx context.Context, r Record) error

	// Journal opens the journal of a saved session; ErrNotFound if the session was not saved.
	Journal(ctx context.Context, id string) (Journal, error)

	// List returns summaries, those updated last first and equal times by id. Sessions whose record is broken are left
	// out; the error beside the list joins a *RecordError for each.
	List(ctx context.Context, f Filter) ([]Summary, error)

	// Delete removes a session with its journal; ErrNotFound if there is none.
	Delete(ctx context.Context, id string) error
}

// Holder is a Store that knows on which of its sessions somebody works, other processes included, as [Files] does.
type Holder interface {
	// Hold keeps others away from a session until release or the end of the process. Where somebody works on it the error is
	// ErrHeld, at once.
	Hold(ctx context.Context, id string) (release func(), err error)
}

// Journal holds the lines of a session's recording (llm/replay), oldest first. Safe for concurrent use.
type Journal interface {
	// Append adds a line, which is durable on return. The line must not be empty nor have a line end but one at its end,
	// which it need not have. After an error the line may be there or not, never in part.
	Append(line []byte) error
	// Read returns all lines, each with its line end. A last line that a crash has cut short is left out.
	Read() ([]byte, error)
	// Close releases the journal. Lines stay.
	Close() error
}

// Filter chooses sessions of a list. The zero Filter is the last ten that belong to no scope.
type Filter struct {
	States []State // empty: all
	Scope  string  // exec.Scope.Key: those that belong to it, and no others
	Every  bool    // those of all scopes and of none, for the program itself; Scope is ignored
	Limit  int     // 0: 10; negative: no limit
}

// Summary is a session in a list.
type Summary struct {
	ID       string
	Scope    string // exec.Scope.Key of its questions; "": it belongs to no scope
	Question string // the first one; where nothing was asked yet, the user's first statement; "": none
	Title    string // what its user calls it; "": nothing else than Question
	State    State
	Created  time.Time
	Updated  time.Time
	Turns    int
}

// Apply returns the summaries that f keeps, in the order of Store.List. It sorts all.
func (f Filter) Apply(all []Summary) []Summary {
	all = slices.DeleteFunc(all, func(s Summary) bool {
		return len(f.States) > 0 && !slices.Contains(f.States, s.State) || !f.Every && s.Scope != f.Scope
	})
	slices.SortFunc(all, func(a, b Summary) int { return cmp.Or(b.Updated.Compare(a.Updated), strings.Compare(a.ID, b.ID)) })
	if limit := cmp.Or(f.Limit, 10); limit > 0 {
		all = all[:min(limit, len(all))]
	}
	return all
}

// NewID returns an id that nobody can guess: 128 random bits as 32 hexadecimal digits.
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// CheckID returns an error that matches ErrInvalidID if id is none of NewID. Every store calls it before the id reaches
// a path or a query.
func CheckID(id string) error {
	if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
		return fmt.Errorf("%w: %.40q", ErrInvalidID, id)
	}
	return nil
}
