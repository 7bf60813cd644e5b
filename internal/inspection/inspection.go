// Package inspection keeps what engines answer while exec reads a catalog.
package inspection

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"sync"
)

// Store keeps what an engine answered while a catalog was read, so that another policy needs no second request: the
// answers are those of the whole database. The zero Store is empty. Safe for concurrent use.
type Store struct {
	mu      sync.Mutex
	answers map[string]Answer // by the text that was asked
}

// Answer is the rows of one answer, some after others. A large schema has millions of values, and most are the
// same as in the row before. A value is isNull, isSame, or its length with firstLength added, and then its text.
type Answer struct {
	some [][]byte
	last []sql.NullString // the row added last
}

const (
	isNull = iota
	isSame // as the value of that column in the row before
	firstLength
)

type inspecting struct{}

// NewContext returns a context in which guard.Inspect and guard.QueryOnce know what i keeps.
func NewContext(ctx context.Context, i *Store) context.Context {
	return context.WithValue(ctx, inspecting{}, i)
}

// FromContext returns what [NewContext] was given; nil: nothing.
func FromContext(ctx context.Context) *Store {
	i, _ := ctx.Value(inspecting{}).(*Store)
	return i
}

// Recall returns the answer to a text; a nil Store has none.
func (i *Store) Recall(text string) (a Answer, ok bool) {
	if i != nil {
		i.mu.Lock()
		defer i.mu.Unlock()
		a, ok = i.answers[text]
	}
	return a, ok
}

// Keep keeps the answer to a text.
func (i *Store) Keep(text string, a Answer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.answers == nil {
		i.answers = map[string]Answer{}
	}
	i.answers[text] = a
}

// Size is about how many bytes i keeps.
func (i *Store) Size() (bytes int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, a := range i.answers {
		for _, some := range a.some {
			bytes += cap(some)
		}
	}
	return bytes
}

// Add packs a row.
func (a *Answer) Add(values []driver.Value) error {
	n := len(a.some) - 1
	if n < 0 || len(a.some[n]) > 1<<16 {
		a.some, n = append(a.some, nil), n+1
	}
	to := a.some[n]
	if a.last == nil {
		a.last = make([]sql.NullString, len(values))
	}
	for i, v := range values {
		var text sql.NullString
		if err := text.Scan(v); err != nil {
			return err
		}
		switch {
		case !text.Valid:
			to = append(to, isNull)
		case text == a.last[i]:
			to = append(to, isSame)
		default:
			to = append(binary.AppendUvarint(to, uint64(len(text.String))+firstLength), text.String...)
		}
		a.last[i] = text
	}
	a.some[n] = to
	return nil
}

// Each calls row for each row.
func (a Answer) Each(row func(values []driver.Value) error) error {
	before := make([]driver.Value, len(a.last))
	for _, rest := range a.some {
		for len(rest) > 0 {
			values := make([]driver.Value, len(a.last))
			for i := range values {
				n, size := binary.Uvarint(rest)
				rest = rest[size:]
				switch n {
				case isNull:
				case isSame:
					values[i] = before[i]
				default:
					values[i], rest = string(rest[:n-firstLength]), rest[n-firstLength:]
				}
			}
			if err := row(values); err != nil {
				return err
			}
			before = values
		}
	}
	return nil
}
