package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Memory keeps sessions in memory, for tests and for conversations that need not survive the process. The zero Memory
// is ready. Safe for concurrent use. Do not copy it after its first use.
type Memory struct {
	mu  sync.Mutex
	all map[string]*kept
}

// kept is a session in memory. Its record is encoded, so that no caller shares it.
type kept struct {
	record  []byte
	journal []byte
}

// find returns the session of that id, or ErrNotFound.
func (m *Memory) find(ctx context.Context, id string) (*kept, error) {
	if err := errors.Join(ctx.Err(), CheckID(id)); err != nil {
		return nil, err
	}
	k := m.all[id]
	if k == nil {
		return nil, ErrNotFound
	}
	return k, nil
}

// Load is Store.Load.
func (m *Memory) Load(ctx context.Context, id string) (Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, err := m.find(ctx, id)
	if err != nil {
		return Record{}, err
	}
	return Decode(id, k.record)
}

// Save is Store.Save.
func (m *Memory) Save(ctx context.Context, r Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, err := m.find(ctx, r.ID)
	if errors.Is(err, ErrNotFound) {
		k, err = &kept{}, nil
	}
	if err != nil {
		return err
	}
	text, err := r.Encode()
	if err != nil {
		return err
	}
	if err := unchanged(r, k.record); err != nil {
		return err
	}
	if m.all == nil {
		m.all = map[string]*kept{}
	}
	k.record, m.all[r.ID] = text, k
	return nil
}

// unchanged returns an error that matches ErrConflict if stored is not the revision that r was made from.
func unchanged(r Record, stored []byte) error {
	var now Record
	if stored != nil {
		var err error
		if now, err = Decode(r.ID, stored); err != nil {
			return err
		}
	}
	if now.Revision != r.Revision {
		return fmt.Errorf("%w: it has revision %d, not %d", ErrConflict, now.Revision, r.Revision)
	}
	return nil
}

// Journal is Store.Journal.
func (m *Memory) Journal(ctx context.Context, id string) (Journal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.find(ctx, id); err != nil {
		return nil, err
	}
	return &memoryJournal{m, id}, nil
}

// List is Store.List.
func (m *Memory) List(ctx context.Context, f Filter) ([]Summary, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Summary
	for id, k := range m.all {
		r, err := Decode(id, k.record)
		if err != nil {
			return nil, err
		}
		all = append(all, r.Summary())
	}
	return f.Apply(all), nil
}

// Delete is Store.Delete.
func (m *Memory) Delete(ctx context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.find(ctx, id)
	if err == nil {
		delete(m.all, id)
	}
	return err
}

// memoryJournal is the journal of a session in memory.
type memoryJournal struct {
	m  *Memory
	id string
}

// Append is Journal.Append.
func (j *memoryJournal) Append(line []byte) error {
	line, err := wholeLine(line)
	if err != nil {
		return err
	}
	j.m.mu.Lock()
	defer j.m.mu.Unlock()
	k := j.m.all[j.id]
	if k == nil {
		return ErrNotFound
	}
	k.journal = append(k.journal, line...)
	return nil
}

// Read is Journal.Read.
func (j *memoryJournal) Read() ([]byte, error) {
	j.m.mu.Lock()
	defer j.m.mu.Unlock()
	k := j.m.all[j.id]
	if k == nil {
		return nil, ErrNotFound
	}
	return slices.Clone(k.journal), nil
}

// Close is Journal.Close.
func (j *memoryJournal) Close() error { return nil }

// wholeLine returns line with one line end.
func wholeLine(line []byte) ([]byte, error) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	if len(line) == 0 || bytes.IndexByte(line, '\n') >= 0 {
		return nil, errors.New("session: a line of the journal is empty or has a line end inside")
	}
	return append(slices.Clip(line), '\n'), nil
}
