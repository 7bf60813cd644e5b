package main

import (
	"context"
	"database/sql"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/strategy"
)

// finder finds a database by its id: an *pools.Folder, or oneDatabase.
type finder interface {
	Database(id string) (path string, err error)
}

// oneDatabase is the path of the only database.
type oneDatabase string

// Database returns the path, whatever the id.
func (path oneDatabase) Database(string) (string, error) { return string(path), nil }

// databases opens each database once. The zero value with a folder is ready. Not safe for concurrent use.
type databases struct {
	folder finder
	on     onServer
	opened map[string]openedDatabase
}

type openedDatabase struct {
	handle *sql.DB
	env    *strategy.Env
	err    error
}

// env returns the Env of a database, without a model. A database that cannot be used is an *eval.DatabaseError.
func (d *databases) env(ctx context.Context, id string) (*strategy.Env, error) {
	o, ok := d.opened[id]
	if !ok {
		o.err = o.open(ctx, d, id)
		if d.opened == nil {
			d.opened = make(map[string]openedDatabase)
		}
		d.opened[id] = o
	}
	return o.env, o.err
}

func (o *openedDatabase) open(ctx context.Context, d *databases, id string) error {
	path, err := d.folder.Database(id)
	if err != nil {
		return err
	}
	fault := func(err error) error { return &eval.DatabaseError{ID: id, Path: path, Err: err} }
	if o.handle, err = d.on.open(path); err != nil {
		return fault(err)
	}
	db, err := exec.New(o.handle, d.on.dialect(), exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}})
	if err != nil {
		return err
	}
	s, err := db.Snapshot(ctx)
	if err != nil {
		return fault(err)
	}
	o.env = &strategy.Env{DB: db, Schema: s.Schema, Snapshot: s}
	return nil
}

func (d *databases) close() {
	for _, o := range d.opened {
		if o.handle != nil {
			o.handle.Close()
		}
	}
}
