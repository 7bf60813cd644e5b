package pgstore

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/texttosql/texttosql/session"
)

// Config says how a Store works. The zero Config is ready.
type Config struct {
	// Schema is the namespace: the schema of the database that has the tables, which Open makes if it is not there. Stores of
	// different schemas see nothing of each other; give each application, and each database that is asked, one of its own.
	// "" means the first of the search_path, which the DSN may name. Tenants of one application are told apart by exec.Scope.Key.
	Schema string

	// Lease is how long a conversation stays with a process that does not say that it is alive, which is how long a dead one
	// keeps others away; 0 means 15 seconds, less than a second is an error.
	Lease time.Duration
}

// patience bounds the calls that have no context of their own: those of a journal, of lessons and the end of a hold.
const patience = 30 * time.Second

// connections bounds those of a store. Each is held for one change or one reading.
const connections = 8

// largest is how much of a record is read: one byte more than session.Decode takes.
const largest = 1<<20 + 1

// Store keeps sessions and lessons on PostgreSQL. Make one with Open. Safe for concurrent use, also by any number of processes.
type Store struct {
	db      *sql.DB
	schema  string // as SQL; "": that of the search_path
	lease   time.Duration
	process string // names this store in leases
}

// Open connects to PostgreSQL, makes the tables if there are none (Schema), and removes leases that ran out long ago. Close ends
// the connections. Tables of another version are a *VersionError. No error has the password of the DSN.
func Open(ctx context.Context, dsn string, c Config) (*Store, error) {
	if c.Lease != 0 && c.Lease < time.Second {
		return nil, fmt.Errorf("pgstore: Config.Lease is %v: want a second or more", c.Lease)
	}
	if len(c.Schema) > 63 || strings.ContainsRune(c.Schema, 0) { // PostgreSQL would cut it off: two would be one
		return nil, fmt.Errorf("pgstore: Config.Schema %q is not a name of PostgreSQL, which has at most 63 bytes", c.Schema)
	}
	parsed, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("pgstore: the DSN cannot be read: %w", cmp.Or(errors.Unwrap(err), err)) // err itself repeats it
	}
	s := &Store{lease: cmp.Or(c.Lease, 15*time.Second), process: session.NewID()}
	if c.Schema != "" {
		s.schema = pgx.Identifier{c.Schema}.Sanitize()
		parsed.RuntimeParams["search_path"] = s.schema
	}
	s.db = stdlib.OpenDB(*parsed, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'")
		return err
	}))
	s.db.SetMaxOpenConns(connections)
	s.db.SetMaxIdleConns(connections)
	if err := s.setUp(ctx); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// Close ends the connections. Leases that are held run out.
func (s *Store) Close() error { return s.db.Close() }

// change runs do in a transaction, whose commit may fail.
func (s *Store) change(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return told(ctx, err)
	}
	defer tx.Rollback()
	if err = do(tx); err == nil {
		err = tx.Commit()
	}
	return told(ctx, err)
}

// told leaves the errors of a contract as they are and says of others where they come from.
func told(ctx context.Context, err error) error {
	var record *session.RecordError
	var version *VersionError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows), errors.Is(err, session.ErrNotFound):
		return session.ErrNotFound
	case errors.Is(err, session.ErrConflict), errors.Is(err, session.ErrHeld), errors.As(err, &record), errors.As(err, &version):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("pgstore: %w", err)
}

func check(ctx context.Context, id string) error { return errors.Join(ctx.Err(), session.CheckID(id)) }

// decode is session.Decode that names the table of a broken record.
func decode(id string, text []byte) (session.Record, error) {
	r, err := session.Decode(id, text)
	if broken := (*session.RecordError)(nil); errors.As(err, &broken) {
		broken.File = "table texttosql_sessions"
	}
	return r, err
}

// Load is session.Store.Load.
func (s *Store) Load(ctx context.Context, id string) (session.Record, error) {
	if err := check(ctx, id); err != nil {
		return session.Record{}, err
	}
	var text []byte
	if err := s.db.QueryRowContext(ctx, "SELECT substring(record FOR $2) FROM texttosql_sessions WHERE id = $1", id, largest).Scan(&text); err != nil {
		return session.Record{}, told(ctx, err)
	}
	return decode(id, text)
}

// Save is session.Store.Save. While another process holds the session the error is session.ErrConflict.
func (s *Store) Save(ctx context.Context, r session.Record) error {
	text, err := r.Encode()
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return err
	}
	return s.change(ctx, func(tx *sql.Tx) error {
		// The lock keeps a lease that ran out from being taken over before this ends.
		ours := true
		err := tx.QueryRowContext(ctx, "SELECT process = $2 OR until < clock_timestamp() FROM texttosql_leases WHERE session = $1 FOR SHARE",
			r.ID, s.process).Scan(&ours)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if !ours {
			return fmt.Errorf("%w: its lease is that of another process", session.ErrConflict)
		}
		const columns = "(id, state, updated, updated_nanos, record, scope) VALUES ($1, $2, $3, $4, $5, $6)"
		values := []any{r.ID, string(r.State), r.Updated.Unix(), r.Updated.Nanosecond(), text, r.Scope}
		if r.Revision == 0 {
			done, err := tx.ExecContext(ctx, "INSERT INTO texttosql_sessions "+columns+" ON CONFLICT DO NOTHING", values...)
			if err != nil || affected(done) == 1 {
				return err
			}
		}
		var stored []byte
		err = tx.QueryRowContext(ctx, "SELECT substring(record FOR $2) FROM texttosql_sessions WHERE id = $1 FOR NO KEY UPDATE", r.ID, largest).Scan(&stored)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("%w: it is not there", session.ErrConflict)
		}
		if err != nil {
			return err
		}
		now, err := decode(r.ID, stored)
		if err != nil {
			return err
		}
		if now.Revision != r.Revision {
			return fmt.Errorf("%w: it has revision %d, not %d", session.ErrConflict, now.Revision, r.Revision)
		}
		_, err = tx.ExecContext(ctx, "UPDATE texttosql_sessions SET state = $2, updated = $3, updated_nanos = $4, record = $5, scope = $6 WHERE id = $1", values...)
		return err
	})
}

func affected(r sql.Result) int64 {
	n, _ := r.RowsAffected() // pgx knows it
	return n
}

// List is session.Store.List. With a limit it stops at the last summary that it gives: broken records behind it are not told.
func (s *Store) List(ctx context.Context, f session.Filter) ([]session.Summary, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	states := make([]string, len(f.States))
	for i := range states {
		states[i] = string(f.States[i])
	}
	limit := cmp.Or(f.Limit, 10)
	for read := limit; ; read *= 2 { // once more where broken records took the place of others
		all, broken, n, err := s.list(ctx, f, states, read)
		if err != nil {
			return nil, told(ctx, err)
		}
		if limit < 0 || n < read || len(all) >= limit {
			return f.Apply(all), errors.Join(broken...)
		}
	}
}

// list reads the first n records of a list, all if limit is negative.
func (s *Store) list(ctx context.Context, f session.Filter, states []string, limit int) (all []session.Summary, broken []error, n int, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id, substring(record FOR $3) FROM texttosql_sessions
		WHERE (cardinality($1::text[]) = 0 OR state = ANY ($1)) AND ($4 OR scope = $5)
		ORDER BY updated DESC, updated_nanos DESC, id LIMIT CASE WHEN $2 > 0 THEN $2::bigint END`, states, limit, largest, f.Every, f.Scope)
	if err != nil {
		return nil, nil, 0, err
	}
	defer rows.Close()
	for ; rows.Next(); n++ {
		var id string
		var text []byte
		if err := rows.Scan(&id, &text); err != nil {
			return nil, nil, n, err
		}
		if r, err := decode(id, text); err != nil {
			broken = append(broken, err)
		} else {
			all = append(all, r.Summary())
		}
	}
	return all, broken, n, rows.Err()
}

// Delete is session.Store.Delete. It removes a broken record too, and the lease of whoever works on the session.
func (s *Store) Delete(ctx context.Context, id string) error {
	if err := check(ctx, id); err != nil {
		return err
	}
	return s.change(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM texttosql_leases WHERE session = $1", id); err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, "DELETE FROM texttosql_sessions WHERE id = $1", id)
		if err == nil && affected(done) == 0 {
			err = session.ErrNotFound
		}
		return err
	})
}

// Hold is session.Holder.Hold: a lease that is renewed until release. A lease that cannot be renewed in time is whoever's comes next,
// and then Save returns session.ErrConflict here.
func (s *Store) Hold(ctx context.Context, id string) (release func(), err error) {
	if err := check(ctx, id); err != nil {
		return nil, err
	}
	hold := session.NewID()
	done, err := s.db.ExecContext(ctx, `INSERT INTO texttosql_leases VALUES ($1, $2, $3, clock_timestamp() + make_interval(secs => $4))
		ON CONFLICT (session) DO UPDATE SET process = excluded.process, hold = excluded.hold, until = excluded.until
		WHERE texttosql_leases.until < clock_timestamp()`, id, s.process, hold, s.lease.Seconds())
	if err != nil {
		return nil, told(ctx, err)
	}
	if affected(done) == 0 {
		return nil, session.ErrHeld
	}
	kept, end := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	group.Go(func() { s.renew(kept, id, hold) })
	return sync.OnceFunc(func() {
		end()
		group.Wait()
		bounded, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		s.db.ExecContext(bounded, "DELETE FROM texttosql_leases WHERE session = $1 AND hold = $2", id, hold) // else it runs out
	}), nil
}

// renew renews a lease until ctx ends or the lease is another one's.
func (s *Store) renew(ctx context.Context, id, hold string) {
	each := time.NewTicker(s.lease / 3)
	defer each.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-each.C:
		}
		bounded, cancel := context.WithTimeout(ctx, s.lease/3)
		done, err := s.db.ExecContext(bounded, `UPDATE texttosql_leases SET until = clock_timestamp() + make_interval(secs => $3)
			WHERE session = $1 AND hold = $2`, id, hold, s.lease.Seconds())
		cancel()
		if err == nil && affected(done) == 0 {
			return
		}
	}
}

// Journal is session.Store.Journal. It holds nothing open.
func (s *Store) Journal(ctx context.Context, id string) (session.Journal, error) {
	if err := check(ctx, id); err != nil {
		return nil, err
	}
	var there bool
	err := s.db.QueryRowContext(ctx, "SELECT true FROM texttosql_sessions WHERE id = $1", id).Scan(&there)
	return &journal{s: s, id: id}, told(ctx, err)
}

type journal struct {
	s      *Store
	id     string
	closed atomic.Bool
}

func (j *journal) open() error {
	if j.closed.Load() {
		return fmt.Errorf("pgstore: the journal is closed: %w", fs.ErrClosed)
	}
	return nil
}

// Append is session.Journal.Append.
func (j *journal) Append(line []byte) error {
	line = bytes.TrimSuffix(line, []byte("\n"))
	if len(line) == 0 || bytes.IndexByte(line, '\n') >= 0 {
		return errors.New("pgstore: a line of the journal is empty or has a line end inside")
	}
	if err := j.open(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	done, err := j.s.db.ExecContext(ctx, `INSERT INTO texttosql_journal (session, line)
		SELECT id, $2 FROM texttosql_sessions WHERE id = $1 FOR KEY SHARE`, j.id, line)
	if err == nil && affected(done) == 0 {
		return session.ErrNotFound
	}
	return told(ctx, err)
}

// Read is session.Journal.Read.
func (j *journal) Read() ([]byte, error) {
	if err := j.open(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var text []byte
	err := j.s.db.QueryRowContext(ctx, `SELECT (SELECT string_agg(line || '\x0a', '' ORDER BY n) FROM texttosql_journal WHERE session = id)
		FROM texttosql_sessions WHERE id = $1`, j.id).Scan(&text)
	return text, told(ctx, err)
}

// Close is session.Journal.Close.
func (j *journal) Close() error {
	j.closed.Store(true)
	return nil
}
