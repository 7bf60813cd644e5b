// Package snapshot keeps what is known of a database, so that it has one owner.
//
// A [Snapshot] is the state of one database as one caller may see it: under one policy, for one scope, at one version
// of its schema. Its [Key] says which. It does not change: another version is another Snapshot, and another caller has
// another key.
//
// A package that computes something of a snapshot declares a [Derived] part: the catalog, the schema, rows for prompts,
// texts, an index. The part is computed when it is first asked for, once, and all who ask for it share it. How far it
// is shared, its Reach says: a part that may hold values of rows belongs to a scope and is never seen by another.
//
// One [Store] keeps the parts of all snapshots of a database: under one lock and within one bound in bytes. The package
// asks nothing of a database and of a model.
package snapshot

import (
	"cmp"
	"context"

	"github.com/texttosql/texttosql/schema"
)

// Key says which state of which database a Snapshot is, and who may see it. Equal keys are the same state.
type Key struct {
	Database string // what a connection sees: exec.GuardedConn.Place
	Policy   string // tells policies apart; "": that of the database
	Scope    string // tells scopes apart, with their parameters and settings; "": there is none
	Version  string // of the schema, see exec.Catalog
	Names    string // tells apart how prompts call and describe the tables; "": as the database does
}

// Reach says which snapshots share a part. The zero Reach shares the least.
type Reach int

// The reaches.
const (
	OfScope    Reach = iota // nothing is shared: it may depend on rows, or on what a scope was told
	OfPolicy                // it is the same for all scopes of a policy
	OfDatabase              // it is the same for all policies and scopes, and whatever the tables are called
	OfVersions              // it is the same for all versions of the database, too
)

// within is the part of a key that a reach heeds.
func (k Key) within(r Reach) Key {
	if r >= OfPolicy {
		k.Scope = ""
	}
	if r >= OfDatabase {
		k.Policy, k.Names = "", ""
	}
	if r >= OfVersions {
		k.Version = ""
	}
	return k
}

// Snapshot is one state of a database. [Store.At] makes one. It is immutable and safe for concurrent use; a nil one
// keeps nothing.
type Snapshot struct {
	Key    Key
	Schema *schema.Schema // the tables that may be read, as prompts show them; nil where only other parts are asked for
	// Hidden names the columns that may not be read for their names alone, as table.column; nil where nobody said it
	Hidden func() []string

	store *Store
}

// Named returns the snapshot in which s is the schema, which calls and describes the tables in another way. names tells
// it from other ways; with "" it is that of the database.
func (s *Snapshot) Named(names string, shown *schema.Schema) *Snapshot {
	named := *s
	named.Key.Names, named.Schema = names, shown
	return &named
}

// As returns the snapshot as another policy and scope of the same database have it, without its schema.
func (s *Snapshot) As(policy, scope string) *Snapshot {
	key := s.Key
	key.Policy, key.Scope = policy, scope
	if key == s.Key {
		return s
	}
	return s.store.At(key, nil)
}

// For returns the snapshot if shown outlives the question: it is Schema, or a part that is a schema. It returns nil for
// a schema that was made for one question. No later question could find a part under the address of such a schema.
func (s *Snapshot) For(shown *schema.Schema) *Snapshot {
	if s == nil || shown == s.Schema || s.store.has(shown) {
		return s
	}
	return nil
}

// Derived is a kind of part that a package computes of snapshots: a T for each K, which says of what; struct{} where
// there is one for each snapshot. It is declared once, as a variable of the package: its address tells kinds apart.
type Derived[K comparable, T any] struct {
	Reach Reach
	// Size estimates the bytes of a part, with what it alone refers to. nil: 256.
	Size func(K, T) int
	// Needed says that no question can be asked without the part. It goes when its snapshot is not in use any more,
	// whatever its size.
	Needed bool
}

// Of returns a part, and has derive compute it if it is not kept. One caller computes it at a time; the others wait for
// it, no longer than their contexts, and share it. What derive returns is not changed by anybody. After an error
// nothing is kept, and the next caller computes it. A nil s keeps nothing.
func (d *Derived[K, T]) Of(ctx context.Context, s *Snapshot, k K, derive func(context.Context) (T, error)) (part T,
	err error) {
	if s == nil {
		return derive(ctx)
	}
	at := s.place(d, d.Reach, k)
	kept := s.store.find(at, true)
	if kept.made {
		return kept.value.(T), nil
	}
	if err := cmp.Or(ctx.Err(), kept.turn.Acquire(ctx, 1)); err != nil {
		return part, err
	}
	defer kept.turn.Release(1)
	if now := s.store.find(at, false); now.made {
		return now.value.(T), nil
	}
	if part, err = derive(ctx); err == nil {
		d.Keep(s, k, part)
	}
	return part, err
}

// Known returns a part that is kept.
func (d *Derived[K, T]) Known(s *Snapshot, k K) (part T, ok bool) {
	if s == nil {
		return part, false
	}
	if kept := s.store.find(s.place(d, d.Reach, k), false); kept.made {
		return kept.value.(T), true
	}
	return part, false
}

// Keep keeps a part that was computed, in place of one that is kept.
func (d *Derived[K, T]) Keep(s *Snapshot, k K, part T) {
	if s == nil {
		return
	}
	size := 256
	if d.Size != nil {
		size = d.Size(k, part)
	}
	s.store.keep(s.Key, s.place(d, d.Reach, k), part, cmp.Or(size, 1), d.Needed)
}

// Forget drops a part.
func (d *Derived[K, T]) Forget(s *Snapshot, k K) {
	s.store.forget(s.place(d, d.Reach, k))
}

// place is where a part stands in the store.
func (s *Snapshot) place(kind any, r Reach, k any) place {
	return place{s.Key.within(r), kind, k}
}
