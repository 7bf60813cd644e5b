package session

import (
	"context"
	"errors"
)

// Within returns the part of a store that belongs to a scope, by its exec.Scope.Key; "": to none. For it the others are not
// there, and one cannot be saved (ErrNotFound). Filter.Scope and Filter.Every of its lists do nothing. It is for programs
// that read a store themselves: a Conversation looks at the scope of its record.
func Within(store Store, scope string) Store { return &part{store, scope} }

type part struct {
	Store
	scope string
}

// mine reports that a session of another scope is not there. One that was not saved yet is nobody's.
func (p *part) mine(ctx context.Context, id string) error {
	_, err := p.Load(ctx, id)
	return err
}

func (p *part) Load(ctx context.Context, id string) (Record, error) {
	r, err := p.Store.Load(ctx, id)
	if err == nil && r.Scope != p.scope {
		return Record{}, ErrNotFound
	}
	return r, err
}

func (p *part) Save(ctx context.Context, r Record) error {
	if r.Scope != p.scope {
		return ErrNotFound
	}
	if r.Revision > 0 {
		if err := p.mine(ctx, r.ID); err != nil {
			return err
		}
	}
	return p.Store.Save(ctx, r)
}

func (p *part) Journal(ctx context.Context, id string) (Journal, error) {
	if err := p.mine(ctx, id); err != nil {
		return nil, err
	}
	return p.Store.Journal(ctx, id)
}

func (p *part) List(ctx context.Context, f Filter) ([]Summary, error) {
	f.Scope, f.Every = p.scope, false
	return p.Store.List(ctx, f)
}

func (p *part) Delete(ctx context.Context, id string) error {
	if err := p.mine(ctx, id); err != nil {
		return err
	}
	return p.Store.Delete(ctx, id)
}

// Hold is that of the store, where it is a Holder.
func (p *part) Hold(ctx context.Context, id string) (func(), error) {
	if err := p.mine(ctx, id); err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	if h, ok := p.Store.(Holder); ok {
		return h.Hold(ctx, id)
	}
	return func() {}, nil
}
