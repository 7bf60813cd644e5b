package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/schema"
)

var (
	rows     = &snapshot.Derived[string, string]{}
	texts    = &snapshot.Derived[string, string]{Reach: snapshot.OfPolicy}
	catalog  = &snapshot.Derived[string, string]{Reach: snapshot.OfDatabase, Needed: true}
	large    = &snapshot.Derived[int, int]{Size: func(_, bytes int) int { return bytes }}
	anywhere = &snapshot.Derived[int, int]{Reach: snapshot.OfVersions, Size: large.Size}
	needed   = &snapshot.Derived[int, int]{Size: large.Size, Needed: true}
)

func fixed(text string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return text, nil }
}

// TestReach: who shares a part that another one derived, and who must not.
func TestReach(t *testing.T) {
	key := snapshot.Key{Database: "d", Policy: "p", Scope: "a", Version: "1", Names: "n"}
	with := func(change func(*snapshot.Key)) snapshot.Key { k := key; change(&k); return k }
	for _, tt := range []struct {
		why                  string
		by                   snapshot.Key
		rows, texts, catalog bool
	}{
		{"the same snapshot", key, true, true, true},
		{"another scope reads other rows", with(func(k *snapshot.Key) { k.Scope = "b" }), false, true, true},
		{"no scope is not every scope", with(func(k *snapshot.Key) { k.Scope = "" }), false, true, true},
		{"another policy sees other tables", with(func(k *snapshot.Key) { k.Policy = "q" }), false, false, true},
		{"other names and descriptions", with(func(k *snapshot.Key) { k.Names = "m" }), false, false, true},
		{"another version", with(func(k *snapshot.Key) { k.Version = "2" }), false, false, false},
		{"another database", with(func(k *snapshot.Key) { k.Database = "e" }), false, false, false},
	} {
		var store snapshot.Store
		first, other := store.At(key, nil), store.At(tt.by, nil)
		for _, kind := range []*snapshot.Derived[string, string]{rows, texts, catalog} {
			if _, err := kind.Of(t.Context(), first, "x", fixed("first")); err != nil {
				t.Fatal(err)
			}
		}
		got := map[string]bool{}
		for name, kind := range map[string]*snapshot.Derived[string, string]{"rows": rows, "texts": texts,
			"catalog": catalog} {
			part, err := kind.Of(t.Context(), other, "x", fixed("other"))
			if got[name] = part == "first"; err != nil {
				t.Fatal(err)
			}
			if part, _ := kind.Of(t.Context(), other, "y", fixed("of another")); part != "of another" {
				t.Errorf("%s: %s is of something else, and shared", tt.why, name)
			}
		}
		if diff := cmp.Diff(map[string]bool{"rows": tt.rows, "texts": tt.texts, "catalog": tt.catalog}, got); diff != "" {
			t.Errorf("%s: shared (-want +got):\n%s", tt.why, diff)
		}
	}
}

// TestNamed: what a snapshot is called in another way, or for somebody else, is another snapshot.
func TestNamed(t *testing.T) {
	var store snapshot.Store
	live, shown := &schema.Schema{Default: "live"}, &schema.Schema{Default: "shown"}
	s := store.At(snapshot.Key{Database: "d", Policy: "p", Version: "1"}, live)
	named := s.Named("described", shown)
	want := snapshot.Key{Database: "d", Policy: "p", Version: "1", Names: "described"}
	if named.Key != want || named.Schema != shown || s.Key.Names != "" || s.Schema != live {
		t.Error(named.Key, s.Key)
	}
	if same := s.As("p", ""); same.Key != s.Key || same.Schema != live {
		t.Error("for the same policy and scope:", same.Key)
	}
	want = snapshot.Key{Database: "d", Policy: "q", Scope: "a", Version: "1"}
	if other := s.As("q", "a"); other.Key != want || other.Schema != nil {
		t.Error("another one's schema came along:", other.Key)
	}
}

// TestSingleFlight: a part is computed once for all who ask at the same time.
func TestSingleFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			store snapshot.Store
			calls atomic.Int64
			group sync.WaitGroup
		)
		s, ready := store.At(snapshot.Key{}, nil), make(chan struct{})
		for range 20 {
			group.Go(func() {
				part, err := rows.Of(t.Context(), s, "x", func(context.Context) (string, error) {
					calls.Add(1)
					<-ready
					return "once", nil
				})
				if part != "once" || err != nil {
					t.Error(part, err)
				}
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := rows.Of(ctx, s, "x", fixed("nobody's"))
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error("a caller waits longer than its context:", err)
		}
		close(ready)
		group.Wait()
		if calls.Load() != 1 {
			t.Error(calls.Load(), "times")
		}
	})
}

// TestFailed: an error is the caller's own, nothing is kept of it, and a panic leaves nobody waiting.
func TestFailed(t *testing.T) {
	var store snapshot.Store
	s, failed := store.At(snapshot.Key{}, nil), errors.New("failed")
	if _, err := rows.Of(t.Context(), s, "x", func(context.Context) (string, error) {
		return "half", failed
	}); !errors.Is(err, failed) {
		t.Error(err)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = rows.Of(t.Context(), s, "x", func(context.Context) (string, error) { panic("broken") })
	}()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rows.Of(over, s, "x", fixed("late")); !errors.Is(err, context.Canceled) {
		t.Error("computed for a context that ended:", err)
	}
	if part, ok := rows.Known(s, "x"); ok {
		t.Error("kept:", part)
	}
	if part, err := rows.Of(t.Context(), s, "x", fixed("whole")); part != "whole" || err != nil {
		t.Error(part, err)
	}
	rows.Forget(s, "x")
	if part, ok := rows.Known(s, "x"); ok {
		t.Error("kept after Forget:", part)
	}
}

// TestBound: what was not used for the longest time goes first; what the snapshot in use needs stays and does not
// count.
func TestBound(t *testing.T) {
	const room = 10_000
	store := snapshot.Store{Bytes: room}
	a, b := store.At(snapshot.Key{Scope: "a", Version: "1"}, nil), store.At(snapshot.Key{Scope: "b", Version: "1"}, nil)
	kept := func(s *snapshot.Snapshot) (list []int) {
		for i := range 6 {
			if _, ok := large.Known(s, i); ok {
				list = append(list, i)
			}
		}
		return list
	}
	for i := range 5 {
		large.Keep(a, i, 2000)
		large.Known(a, 0) // is used all the time
	}
	if diff := cmp.Diff([]int{0, 2, 3, 4}, kept(a)); diff != "" {
		t.Errorf("of five that are too many (-want +got):\n%s", diff)
	}
	needed.Keep(a, 0, 50*room)
	if diff := cmp.Diff([]int{0, 2, 3, 4}, kept(a)); diff != "" {
		t.Errorf("beside what is needed (-want +got):\n%s", diff)
	}
	large.Keep(a, 5, 2000)
	if _, ok := needed.Known(a, 0); !ok {
		t.Error("what the snapshot in use needs is gone")
	}
	large.Keep(b, 0, 3*room)
	if _, ok := needed.Known(a, 0); ok || kept(a) != nil || len(kept(b)) != 1 {
		t.Error("a snapshot that is not in use stays, or one that is in use has no room:", kept(a), kept(b))
	}
	needed.Keep(a, 0, 50*room)
	anywhere.Keep(store.At(snapshot.Key{}, nil), 0, room)
	if _, ok := needed.Known(a, 0); !ok {
		t.Error("what a snapshot needs is gone for a part of no version")
	}
	store.Drop(func(snapshot.Key) bool { return true })
	if store.Size() != 0 {
		t.Error(store.Size(), "bytes of nothing")
	}
}

// TestNone: without a snapshot everything is computed anew.
func TestNone(t *testing.T) {
	for _, want := range []string{"first", "second"} {
		if part, err := rows.Of(t.Context(), nil, "x", fixed(want)); part != want || err != nil {
			t.Error(part, err)
		}
		rows.Keep(nil, "x", want)
	}
	if part, ok := rows.Known(nil, "x"); ok {
		t.Error(part)
	}
}

// TestManyAtOnce: 500 callers of 20 scopes, in a store that is too small, see what is theirs and nothing else.
func TestManyAtOnce(t *testing.T) {
	store := snapshot.Store{Bytes: 5000}
	var group sync.WaitGroup
	for i := range 500 {
		group.Go(func() {
			scope := fmt.Sprint(i % 20)
			s := store.At(snapshot.Key{Database: "d", Version: fmt.Sprint(i / 400), Scope: scope}, nil)
			for j := range 20 {
				part, err := rows.Of(t.Context(), s, fmt.Sprint(j%7), fixed("rows of "+scope))
				if part != "rows of "+scope || err != nil {
					t.Error(scope, part, err)
				}
			}
			if i%50 == 0 {
				store.Drop(func(k snapshot.Key) bool { return k.Version == "0" })
			}
		})
	}
	group.Wait()
	if size := store.Size(); size > 5000+512 {
		t.Error(size, "bytes are kept")
	}
}
