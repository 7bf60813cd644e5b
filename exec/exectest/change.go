package exectest

import (
	"context"
	"database/sql"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// Changes (API is not stable) holds the changes of a test to a dialect, for example to count its calls, to remove a
// check or to break a rule. A nil field changes nothing. Open, Read, Confirm, Explain, Run and Close are called in
// place of the dialect's own functions, and their last parameter calls these.
type Changes struct {
	Language func(l *exec.Language)
	Config   func(c *exec.GuardConfig)
	Open     func(ctx context.Context, conn *sql.Conn, open func() (exec.GuardedConn, error)) (exec.GuardedConn, error)
	Version  func(version string) string // changes the version of an opened connection, of a catalog and of Conn.Version
	Catalog  func(c *exec.Catalog)
	Read     func(s *exec.Statement, read func() (*guard.Names, error)) (*guard.Names, error)
	Confirm  func(s *exec.Statement, confirm func() (guard.EngineReport, error)) (guard.EngineReport, error)
	Explain  func(s *exec.Statement, explain func() (exec.Plan, error)) (exec.Plan, error)
	Run      func(ctx context.Context, s *exec.Statement, b exec.Bounds, run func() (*exec.Rows, error)) (*exec.Rows,
		error)
	Close  func(drop bool, close func(drop bool) error) error
	Sample func(s *exec.RowSample) // changes the row samples of a dialect that is an exec.Sampler
}

// Change (API is not stable) returns d with changes. It is an [exec.Sampler] if d is one.
func Change(d exec.Dialect, c Changes) exec.Dialect {
	if s, ok := d.(exec.Sampler); ok {
		return changedSampler{changed{d, c}, s}
	}
	return changed{d, c}
}

type changed struct {
	exec.Dialect
	changes Changes
}

func (d changed) Language() exec.Language {
	l := d.Dialect.Language()
	if d.changes.Language != nil {
		d.changes.Language(&l)
	}
	return l
}

func (d changed) Guard(config exec.GuardConfig) (exec.Open, error) {
	c := d.changes
	if c.Config != nil {
		c.Config(&config)
	}
	open, err := d.Dialect.Guard(config)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, conn *sql.Conn, timeout time.Duration) (o exec.GuardedConn, err error) {
		if c.Open != nil {
			o, err = c.Open(ctx, conn, func() (exec.GuardedConn, error) { return open(ctx, conn, timeout) })
		} else {
			o, err = open(ctx, conn, timeout)
		}
		if err != nil {
			return o, err
		}
		if c.Version != nil && o.Version != "" {
			o.Version = c.Version(o.Version)
		}
		o.Conn = changedConn{o.Conn, c}
		return o, nil
	}, nil
}

type changedSampler struct {
	changed
	sampler exec.Sampler
}

func (d changedSampler) SampleRows(
	ctx context.Context, run func(ctx context.Context, sql string, rows int) (*result.Table, error), t schema.Table,
	o exec.SampleOptions,
) (exec.RowSample, error) {
	s, err := d.sampler.SampleRows(ctx, run, t, o)
	if d.changes.Sample != nil {
		d.changes.Sample(&s)
	}
	return s, err
}

type changedConn struct {
	exec.Conn
	changes Changes
}

func (c changedConn) Version(ctx context.Context) (string, error) {
	v, err := c.Conn.Version(ctx)
	if c.changes.Version != nil {
		v = c.changes.Version(v)
	}
	return v, err
}

func (c changedConn) Catalog(ctx context.Context) (*exec.Catalog, error) {
	found, err := c.Conn.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	if c.changes.Version != nil {
		found.Version = c.changes.Version(found.Version)
	}
	if c.changes.Catalog != nil {
		c.changes.Catalog(found)
	}
	return found, nil
}

func (c changedConn) Read(ctx context.Context, s *exec.Statement) (*guard.Names, error) {
	if c.changes.Read != nil {
		return c.changes.Read(s, func() (*guard.Names, error) { return c.Conn.Read(ctx, s) })
	}
	return c.Conn.Read(ctx, s)
}

func (c changedConn) Confirm(ctx context.Context, s *exec.Statement) (guard.EngineReport, error) {
	if c.changes.Confirm != nil {
		return c.changes.Confirm(s, func() (guard.EngineReport, error) { return c.Conn.Confirm(ctx, s) })
	}
	return c.Conn.Confirm(ctx, s)
}

func (c changedConn) Explain(ctx context.Context, s *exec.Statement) (exec.Plan, error) {
	if c.changes.Explain != nil {
		return c.changes.Explain(s, func() (exec.Plan, error) { return c.Conn.Explain(ctx, s) })
	}
	return c.Conn.Explain(ctx, s)
}

func (c changedConn) Run(ctx context.Context, s *exec.Statement, b exec.Bounds) (*exec.Rows, error) {
	if c.changes.Run != nil {
		return c.changes.Run(ctx, s, b, func() (*exec.Rows, error) { return c.Conn.Run(ctx, s, b) })
	}
	return c.Conn.Run(ctx, s, b)
}

func (c changedConn) Close(drop bool) error {
	if c.changes.Close != nil {
		return c.changes.Close(drop, c.Conn.Close)
	}
	return c.Conn.Close(drop)
}
