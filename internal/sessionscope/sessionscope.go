// Package sessionscope gives the part of a store of conversations that belongs to one scope.
package sessionscope

import (
	"context"
	"errors"

	"github.com/texttosql/texttosql/session"
)

// Of returns the part of a store that belongs to a scope, by its exec.Scope.Key; "": to none. For it the others are not
// there, and one cannot be saved (session.ErrNotFound). Filter.Scope and Filter.Every of its lists do nothing. It is
// for programs that read a store themselves: a Conversation looks at the scope of its record.
func Of(store session.Store, scope string) session.Store { return &part{store, scope} }

type part struct {
	session.Store
	scope string
}

// mine reports that a session of another scope is not there. One that was not saved yet is nobody's.
func (p *part) mine(ctx context.Context, id string) error {
	_, err := p.Load(ctx, id)
	return err
}

func (p *part) Load(ctx context.Context, id string) (session.Record, error) {
	r, err := p.Store.Load(ctx, id)
	if err == nil && r.Scope != p.scope {
		return session.Record{}, session.ErrNotFound
	}
	return r, err
}

func (p *part) Save(ctx context.Context, r session.Record) error {
	if r.Scope != p.scope {
		return session.ErrNotFound
	}
	if r.Revision > 0 {
		if err := p.mine(ctx, r.ID); err != nil {
			return err
		}
	}
	return p.Store.Save(ctx, r)
}

func (p *part) Journal(ctx context.Context, id string) (session.Journal, error) {
	if err := p.mine(ctx, id); err != nil {
		return nil, err
	}
	return p.Store.Journal(ctx, id)
}

func (p *part) List(ctx context.Context, f session.Filter) ([]session.Summary, error) {
	f.Scope, f.Every = p.scope, false
	all, err := p.Store.List(ctx, f)
	if p.scope != "" { // a record that cannot be read does not tell whose it is
		err = withoutRecords(err)
	}
	return all, err
}

// withoutRecords returns an error of List without those about single records.
func withoutRecords(err error) error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var rest []error
		for _, one := range many.Unwrap() {
			rest = append(rest, withoutRecords(one))
		}
		return errors.Join(rest...)
	}
	if errors.As(err, new(*session.RecordError)) {
		return nil
	}
	return err
}

func (p *part) Delete(ctx context.Context, id string) error {
	if err := p.mine(ctx, id); err != nil {
		return err
	}
	return p.Store.Delete(ctx, id)
}

// Lock calls Lock of the store, where it is a Locker.
func (p *part) Lock(ctx context.Context, id string) (func(), error) {
	if err := p.mine(ctx, id); err != nil && !errors.Is(err, session.ErrNotFound) {
		return nil, err
	}
	if h, ok := p.Store.(session.Locker); ok {
		return h.Lock(ctx, id)
	}
	return func() {}, nil
}
