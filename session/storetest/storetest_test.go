package storetest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/session"
)

// broken is a store in memory with methods that replace its own.
type broken struct {
	session.MemoryStore
	load    func(b *broken, ctx context.Context, id string) (session.Record, error)
	save    func(b *broken, ctx context.Context, r session.Record) error
	journal func(b *broken, ctx context.Context, id string) (session.Journal, error)
	list    func(b *broken, ctx context.Context, f session.Filter) ([]session.Summary, error)
	remove  func(b *broken, ctx context.Context, id string) error
	last    session.Record
}

func (b *broken) Load(ctx context.Context, id string) (session.Record, error) {
	if b.load != nil {
		return b.load(b, ctx, id)
	}
	return b.MemoryStore.Load(ctx, id)
}

func (b *broken) Save(ctx context.Context, r session.Record) error {
	if b.save != nil {
		return b.save(b, ctx, r)
	}
	return b.MemoryStore.Save(ctx, r)
}

func (b *broken) Journal(ctx context.Context, id string) (session.Journal, error) {
	if b.journal != nil {
		return b.journal(b, ctx, id)
	}
	return b.MemoryStore.Journal(ctx, id)
}

func (b *broken) List(ctx context.Context, f session.Filter) ([]session.Summary, error) {
	if b.list != nil {
		return b.list(b, ctx, f)
	}
	return b.MemoryStore.List(ctx, f)
}

func (b *broken) Delete(ctx context.Context, id string) error {
	if b.remove != nil {
		return b.remove(b, ctx, id)
	}
	return b.MemoryStore.Delete(ctx, id)
}

// lines is a journal that breaks a rule.
type lines struct {
	session.Journal
	broken func(line []byte) []byte
}

func (l lines) Append(line []byte) error { return l.Journal.Append(l.broken(line)) }

func withLines(change func(line []byte) []byte) *broken {
	return &broken{journal: func(b *broken, ctx context.Context, id string) (session.Journal, error) {
		j, err := b.MemoryStore.Journal(ctx, id)
		return lines{j, change}, err
	}}
}

// Each store breaks one rule, and the parts that must see it do. A suite that lets one of them pass shows nothing.
func TestConformanceFindsBrokenStores(t *testing.T) {
	tests := []struct {
		why   string
		store *broken
		part  string
	}{
		{"drops a member", &broken{save: func(b *broken, ctx context.Context, r session.Record) error {
			r.Config = ""
			return b.MemoryStore.Save(ctx, r)
		}}, "round_trip"},
		{"keeps the revision", &broken{load: func(b *broken, ctx context.Context, id string) (session.Record, error) {
			r, err := b.MemoryStore.Load(ctx, id)
			r.Revision--
			return r, err
		}}, "round_trip"},
		{"shares the record", &broken{
			save: func(b *broken, ctx context.Context, r session.Record) error {
				err := b.MemoryStore.Save(ctx, r)
				b.last, b.last.Revision = r, r.Revision+1
				return err
			},
			load: func(b *broken, ctx context.Context, id string) (session.Record, error) { return b.last, nil },
		}, "copies"},
		{"invents sessions", &broken{load: func(b *broken, ctx context.Context, id string) (session.Record, error) {
			r, err := b.MemoryStore.Load(ctx, id)
			if errors.Is(err, session.ErrNotFound) {
				return session.New(id, day), nil
			}
			return r, err
		}}, "not_found"},
		{"looks for any id", &broken{load: func(b *broken, ctx context.Context, id string) (session.Record, error) {
			r, err := b.MemoryStore.Load(ctx, id)
			if errors.Is(err, session.ErrInvalidID) {
				return r, session.ErrNotFound
			}
			return r, err
		}}, "ids"},
		{"the last save wins", &broken{save: func(b *broken, ctx context.Context, r session.Record) error {
			err := b.MemoryStore.Save(ctx, r)
			if errors.Is(err, session.ErrConflict) {
				now, _ := b.MemoryStore.Load(ctx, r.ID)
				r.Revision = now.Revision
				return b.MemoryStore.Save(ctx, r)
			}
			return err
		}}, "conflict"},
		{"all saves win", &broken{save: func(b *broken, ctx context.Context, r session.Record) error {
			if err := b.MemoryStore.Save(ctx, r); !errors.Is(err, session.ErrConflict) {
				return err
			}
			return nil
		}}, "parallel_saves"},
		{"another error", &broken{save: func(b *broken, ctx context.Context, r session.Record) error {
			if b.MemoryStore.Save(ctx, r) != nil {
				return errors.New("no")
			}
			return nil
		}}, "refused_records"},
		{"changes lines", withLines(bytes.ToUpper), "journal"},
		{"takes two lines", withLines(func(line []byte) []byte { return bytes.ReplaceAll(line, []byte("\n"), nil) }),
			"journal"},
		{"drops long lines", withLines(func(line []byte) []byte { return line[:min(len(line), 300)] }), "parallel_lines"},
		{"no limit", &broken{list: func(b *broken, ctx context.Context, f session.Filter) ([]session.Summary, error) {
			f.Limit = -1
			return b.MemoryStore.List(ctx, f)
		}}, "list"},
		{"lists other scopes", &broken{list: func(b *broken, ctx context.Context, f session.Filter) ([]session.Summary,
			error) {
			f.Every = true
			return b.MemoryStore.List(ctx, f)
		}}, "list"},
		{"cuts the list before the scope",
			&broken{list: func(b *broken, ctx context.Context, f session.Filter) ([]session.Summary, error) {
				all, err := b.MemoryStore.List(ctx, session.Filter{Every: true, Limit: f.Limit})
				return f.Apply(all), err
			}}, "list"},
		{"oldest first", &broken{list: func(b *broken, ctx context.Context, f session.Filter) ([]session.Summary, error) {
			all, err := b.MemoryStore.List(ctx, f)
			slices.Reverse(all)
			return all, err
		}}, "list"},
		{"keeps deleted sessions", &broken{remove: func(b *broken, ctx context.Context, id string) error {
			_, err := b.MemoryStore.Load(ctx, id)
			return err
		}}, "delete"},
		{"goes on without a context", &broken{save: func(b *broken, ctx context.Context, r session.Record) error {
			return b.MemoryStore.Save(context.WithoutCancel(ctx), r)
		}}, "cancelled"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			i := slices.IndexFunc(parts(), func(p part) bool { return p.name == tt.part })
			if err := parts()[i].check(t.Context(), tt.store); err == nil {
				t.Errorf("the part %s sees nothing", tt.part)
			} else {
				t.Log(err)
			}
		})
	}
}

// The test of a store of your own has one line.
func ExampleConformance() {
	_ = func(t *testing.T) {
		Conformance(t, func(t *testing.T) session.Store { return &session.MemoryStore{} })
	}
	// Output:
}
