package session

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
)

// MemoryStore stores sessions in memory, for tests and for conversations that need not outlive the process. The zero
// MemoryStore is ready. Safe for concurrent use. Do not copy it after its first use.
type MemoryStore struct {
	mu  sync.Mutex
	all map[string]*kept
}

// kept is a session in memory. Its record is encoded, so that no caller shares it.
type kept struct {
	record  []byte
	journal []byte
}

// find returns the session of that id, or ErrNotFound.
func (m *MemoryStore) find(ctx context.Context, id string) (*kept, error) {
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
func (m *MemoryStore) Load(ctx context.Context, id string) (Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, err := m.find(ctx, id)
	if err != nil {
		return Record{}, err
	}
	return decodeRecord(id, k.record)
}

// Save is Store.Save.
func (m *MemoryStore) Save(ctx context.Context, r Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, err := m.find(ctx, r.ID)
	if errors.Is(err, ErrNotFound) {
		k, err = &kept{}, nil
	}
	if err != nil {
		return err
	}
	text, whole, err := r.Encode(k.record)
	switch {
	case err != nil:
		return err
	case whole:
		k.record = nil
	}
	if m.all == nil {
		m.all = map[string]*kept{}
	}
	k.record, m.all[r.ID] = append(k.record, text...), k
	return nil
}

// Journal is Store.Journal.
func (m *MemoryStore) Journal(ctx context.Context, id string) (Journal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.find(ctx, id); err != nil {
		return nil, err
	}
	return &memoryJournal{m, id}, nil
}

// List is Store.List.
func (m *MemoryStore) List(ctx context.Context, f Filter) ([]Summary, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Summary
	for id, k := range m.all {
		r, err := decodeRecord(id, k.record)
		if err != nil {
			return nil, err
		}
		all = append(all, r.Summary())
	}
	return f.Apply(all), nil
}

// Delete is Store.Delete.
func (m *MemoryStore) Delete(ctx context.Context, id string) error {
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
	m  *MemoryStore
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
