package snapshot

import (
	"cmp"
	"container/list"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/texttosql/texttosql/schema"
)

// Store keeps the parts of the snapshots of one database. Those that were not used for the longest time go first. The
// zero Store is empty and ready for use. Safe for concurrent use.
type Store struct {
	// Bytes bounds the parts that are kept, beside those that are Needed for the snapshot in use; 0 means 128 MiB. Set it
	// before the first use.
	Bytes int64

	mu     sync.Mutex
	parts  map[place]*list.Element // of *part
	used   list.List               // the one used last is the first
	size   int64
	needed map[Key]int64 // bytes of the parts that are Needed, by the key that they heed

	schemas map[*schema.Schema]int // how many parts are a schema
}

// defaultBytes holds the rows, texts and indexes of some hundred scopes, or the schemas of some policies at 10,000
// tables.
const defaultBytes = 128 << 20

// place is the key of a part: the snapshot, as far as the part heeds it, its kind, and of what it is.
type place struct {
	Key
	kind, of any
}

// part is one part. Whoever computes it has turn.
type part struct {
	place
	value  any
	made   bool
	needed bool
	size   int64
	turn   *semaphore.Weighted
}

// overhead is what a part takes in the store.
const overhead = 256

// At returns the snapshot of a key, with its schema; nil where only other parts are asked for.
func (s *Store) At(k Key, shown *schema.Schema) *Snapshot { return &Snapshot{k, shown, nil, s} }

// Drop drops the parts of all snapshots that old reports.
func (s *Store) Drop(old func(Key) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, e := range s.parts {
		if old(at.Key) {
			s.remove(e)
		}
	}
}

// Size returns the bytes of all parts, as their packages estimate them.
func (s *Store) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// find returns the part at a place as it is now. add: one that is not there is added, to be computed.
func (s *Store) find(at place, add bool) part {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.parts[at]
	switch {
	case e != nil:
		s.used.MoveToFront(e)
	case add:
		e = s.add(at)
	default:
		return part{}
	}
	return *e.Value.(*part)
}

func (s *Store) add(at place) *list.Element {
	if s.parts == nil {
		s.parts, s.needed, s.schemas = map[place]*list.Element{}, map[Key]int64{}, map[*schema.Schema]int{}
	}
	e := s.used.PushFront(&part{place: at, size: overhead, turn: semaphore.NewWeighted(1)})
	s.parts[at] = e
	s.size += overhead
	return e
}

// keep keeps the value of a part, for a snapshot that is in use.
func (s *Store) keep(inUse Key, at place, value any, size int, needed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.parts[at]
	if e == nil {
		e = s.add(at)
	}
	p := e.Value.(*part)
	s.count(p, -1)
	p.value, p.made, p.needed, p.size = value, true, needed, int64(size)+overhead
	s.count(p, 1)
	s.trim(inUse, e)
}

// count adds a part to the sums of the store, or with -1 takes it out of them.
func (s *Store) count(p *part, by int) {
	bytes := int64(by) * p.size
	s.size += bytes
	if p.needed {
		if s.needed[p.Key] += bytes; s.needed[p.Key] == 0 {
			delete(s.needed, p.Key)
		}
	}
	if shown, ok := p.value.(*schema.Schema); ok {
		if s.schemas[shown] += by; s.schemas[shown] == 0 {
			delete(s.schemas, shown)
		}
	}
}

// has reports whether a schema is a part.
func (s *Store) has(shown *schema.Schema) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.schemas[shown] > 0
}

// trim drops what was not used for the longest time until the rest is within the bound. What the snapshot in use needs
// stays and does not count, and so does the part that was just kept.
func (s *Store) trim(inUse Key, kept *list.Element) {
	over := s.size - cmp.Or(s.Bytes, defaultBytes)
	stays := map[Key]bool{}
	for k, bytes := range s.needed {
		// Of a part without a version it is not known which snapshot is in use.
		if stays[k] = inUse.Version == "" || k == inUse || k == inUse.within(OfPolicy) ||
			k == inUse.within(OfDatabase); stays[k] {
			over -= bytes
		}
	}
	for e := s.used.Back(); e != nil && over > 0; {
		p, next := e.Value.(*part), e.Prev()
		if e != kept && !(p.needed && stays[p.Key]) {
			s.remove(e)
			over -= p.size
		}
		e = next
	}
}

func (s *Store) remove(e *list.Element) {
	p := e.Value.(*part)
	s.used.Remove(e)
	delete(s.parts, p.place)
	s.count(p, -1)
}

// forget drops a part.
func (s *Store) forget(at place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.parts[at]; e != nil {
		s.remove(e)
	}
}
