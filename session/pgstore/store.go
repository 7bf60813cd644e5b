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

// Config configures a Store. The zero Config is ready to use.
type Config struct {
	// Schema is the database schema with the tables; Open creates it if it does not exist. Stores of different
	// schemas do not see each other's data. Give each application, and each database that answers questions, its own
	// schema. "" means the first of the search_path, which the DSN may name. exec.Scope.Key separates the tenants of
	// one application.
	Schema string

	// Lease is how long a conversation belongs to a process that does not renew its lease. So a dead process blocks
	// others for at most this time. 0 means 15 seconds; less than a second is an error.
	Lease time.Duration

	// Connections limits the connections of the Store. Each is held for one change or one read; a connection that is
	// idle for a minute is closed. 0 means 8; negative is an error.
	Connections int
}

var (
	// patience limits calls that have no context of their own: calls of a journal, of lessons, of answers, and the end of
	// a hold.
	patience = 30 * time.Second
	// saving is how long a call of a journal may take when its caller has gone: a reply is paid for.
	saving = 5 * time.Second
)

// errSlow is the error of a call that needed more than patience. It does not match context.DeadlineExceeded, because
// the caller set no deadline.
var errSlow = errors.New("pgstore: the server did not answer within 30s")

// bounded returns the context of a call that gets no context.
func bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), patience, errSlow)
}

// largest is how much of a record is read: one byte more than session.Record.Decode takes.
const largest = 1<<20 + 1

// storedText is the SQL of a record with its changes. Its second parameter is largest.
const storedText = `substring(whole FOR $2) || coalesce((SELECT string_agg(line, '' ORDER BY n) FROM texttosql_changes WHERE session = id), '')`

// Store stores sessions, lessons and verified answers on PostgreSQL. Create one with Open. Safe for concurrent use,
// also by any number of processes.
type Store struct {
	db      *sql.DB
	schema  string // quoted as SQL; "": the first of the search_path
	lease   time.Duration
	process string // names this store in leases
}

// Open connects to PostgreSQL, creates the tables if there are none (Schema), upgrades tables of an earlier version,
// and removes leases that ran out long ago. Close the Store to end the connections. Tables of a later version are an
// error with advice. No error contains the password of the DSN.
func Open(ctx context.Context, dsn string, c Config) (*Store, error) {
	if c.Lease != 0 && c.Lease < time.Second {
		return nil, fmt.Errorf("pgstore: Config.Lease is %v: want a second or more", c.Lease)
	}
	if c.Connections < 0 {
		return nil, fmt.Errorf("pgstore: Config.Connections is %d: want 0 or more", c.Connections)
	}
	if len(c.Schema) > 63 || strings.ContainsRune(c.Schema, 0) { // PostgreSQL would cut it off: two would be one
		return nil, fmt.Errorf("pgstore: Config.Schema %q is not a name of PostgreSQL, which has at most 63 bytes", c.Schema)
	}
	parsed, err := pgx.ParseConfig(dsn)
	if err != nil {
		// err itself repeats it
		return nil, fmt.Errorf("pgstore: the DSN cannot be read: %w", cmp.Or(errors.Unwrap(err), err))
	}
	s := &Store{lease: cmp.Or(c.Lease, 15*time.Second), process: session.NewID()}
	if c.Schema != "" {
		s.schema = pgx.Identifier{c.Schema}.Sanitize()
		parsed.RuntimeParams["search_path"] = s.schema
	}
	s.db = stdlib.OpenDB(*parsed, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SELECT set_config('synchronous_commit', 'on', false) "+
			"WHERE current_setting('synchronous_commit') = 'off'")
		return err
	}))
	s.db.SetMaxOpenConns(cmp.Or(c.Connections, 8))
	s.db.SetMaxIdleConns(cmp.Or(c.Connections, 8))
	s.db.SetConnMaxIdleTime(time.Minute)
	if err := s.setUp(ctx); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// Close ends the connections. Leases that it holds run out.
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
	var other *versionError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows), errors.Is(err, session.ErrNotFound):
		return session.ErrNotFound
	case errors.Is(err, session.ErrConflict), errors.Is(err, session.ErrLocked), errors.As(err, &record),
		errors.As(err, &other):
		return err
	case context.Cause(ctx) == errSlow:
		return errSlow
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("pgstore: %w", err)
}

func check(ctx context.Context, id string) error { return errors.Join(ctx.Err(), session.CheckID(id)) }

// decode is session.Record.Decode that names the table of a broken record.
func decode(id string, stored []byte) (session.Record, error) {
	var r session.Record
	err := r.Decode(id, stored)
	return r, named(err)
}

// named adds the table to the error about a broken record.
func named(err error) error {
	if broken := (*session.RecordError)(nil); errors.As(err, &broken) {
		broken.File = "table texttosql_sessions"
	}
	return err
}

// Load is session.Store.Load.
func (s *Store) Load(ctx context.Context, id string) (session.Record, error) {
	if err := check(ctx, id); err != nil {
		return session.Record{}, err
	}
	var stored []byte
	err := s.db.QueryRowContext(ctx, "SELECT "+storedText+" FROM texttosql_sessions WHERE id = $1", id,
		largest).Scan(&stored)
	if err != nil {
		return session.Record{}, told(ctx, err)
	}
	return decode(id, stored)
}

// Save implements session.Store. While another process holds the session, the error is session.ErrConflict.
func (s *Store) Save(ctx context.Context, r session.Record) error {
	if err := check(ctx, r.ID); err != nil {
		return err
	}
	return s.change(ctx, func(tx *sql.Tx) error {
		// The lock keeps a lease that ran out from being taken over before this ends.
		ours := true
		err := tx.QueryRowContext(ctx, "SELECT process = $2 OR until < clock_timestamp() FROM texttosql_leases "+
			"WHERE session = $1 FOR SHARE",
			r.ID, s.process).Scan(&ours)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if !ours {
			return fmt.Errorf("%w: its lease is that of another process", session.ErrConflict)
		}
		var there bool
		err = tx.QueryRowContext(ctx, "SELECT true FROM texttosql_sessions WHERE id = $1 FOR NO KEY UPDATE",
			r.ID).Scan(&there)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		var stored []byte
		if there { // a statement after the lock sees all changes
			if err = tx.QueryRowContext(ctx, "SELECT "+storedText+" FROM texttosql_sessions WHERE id = $1", r.ID,
				largest).Scan(&stored); err != nil {
				return err
			}
		}
		next, whole, err := r.Encode(stored)
		if err != nil {
			return named(err)
		}
		return write(ctx, tx, r, next, whole)
	})
}

// write stores a text of session.Record.Encode, and the columns of lists.
func write(ctx context.Context, tx *sql.Tx, r session.Record, next []byte, whole bool) error {
	set := []any{r.ID, string(r.State), r.Updated.Unix(), r.Updated.Nanosecond(), r.Scope}
	if !whole {
		_, err := tx.ExecContext(ctx, "INSERT INTO texttosql_changes (session, line) VALUES ($1, $2)", r.ID, next)
		if err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE texttosql_sessions SET state = $2, updated = $3, updated_nanos = $4, "+
				"scope = $5 WHERE id = $1", set...)
		}
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM texttosql_changes WHERE session = $1", r.ID)
	if err != nil {
		return err
	}
	done, err := tx.ExecContext(ctx,
		`INSERT INTO texttosql_sessions (id, state, updated, updated_nanos, scope, whole) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (id) DO UPDATE SET state = $2, updated = $3, updated_nanos = $4, scope = $5, whole = $6 WHERE $7`, append(set, next, r.Revision > 0)...)
	if err == nil && affected(done) == 0 {
		err = fmt.Errorf("%w: another process began it", session.ErrConflict)
	}
	return err
}

func affected(r sql.Result) int64 {
	n, _ := r.RowsAffected() // pgx knows it
	return n
}

// List implements session.Store. With a limit it stops at the last summary that it returns and does not report broken
// records after it.
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
func (s *Store) list(ctx context.Context, f session.Filter, states []string, limit int) (all []session.Summary,
	broken []error, n int, err error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id, "+storedText+` FROM texttosql_sessions
		WHERE (cardinality($1::text[]) = 0 OR state = ANY ($1)) AND ($4 OR scope = $5)
		ORDER BY updated DESC, updated_nanos DESC, id LIMIT CASE WHEN $3 > 0 THEN $3::bigint END`, states, largest, limit, f.Every, f.Scope)
	if err != nil {
		return nil, nil, 0, err
	}
	defer rows.Close()
	for ; rows.Next(); n++ {
		var id string
		var stored []byte
		if err := rows.Scan(&id, &stored); err != nil {
			return nil, nil, n, err
		}
		if r, err := decode(id, stored); err != nil {
			broken = append(broken, err)
		} else {
			all = append(all, r.Summary())
		}
	}
	return all, broken, n, rows.Err()
}

// Delete implements session.Store. It also removes a broken record, and the lease of a process
// that works on the session.
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

// Lock implements session.Locker. It takes a lease and renews it until release. If it cannot renew the lease in time,
// the next process may take it; then Save returns session.ErrConflict here.
func (s *Store) Lock(ctx context.Context, id string) (release func(), err error) {
	if err := check(ctx, id); err != nil {
		return nil, err
	}
	hold := session.NewID()
	done, err := s.db.ExecContext(ctx,
		`INSERT INTO texttosql_leases VALUES ($1, $2, $3, clock_timestamp() + make_interval(secs => $4))
		ON CONFLICT (session) DO UPDATE SET process = excluded.process, hold = excluded.hold, until = excluded.until
		WHERE texttosql_leases.until < clock_timestamp()`, id, s.process, hold, s.lease.Seconds())
	if err != nil {
		return nil, told(ctx, err)
	}
	if affected(done) == 0 {
		return nil, session.ErrLocked
	}
	kept, end := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	group.Go(func() { s.renew(kept, id, hold) })
	return sync.OnceFunc(func() {
		end()
		group.Wait()
		// a lease that stays runs out
		bounded, cancel := context.WithTimeout(context.Background(), min(patience, s.lease/3))
		defer cancel()
		s.db.ExecContext(bounded, "DELETE FROM texttosql_leases WHERE session = $1 AND hold = $2", id, hold)
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
		done, err := s.db.ExecContext(bounded,
			`UPDATE texttosql_leases SET until = clock_timestamp() + make_interval(secs => $3)
			WHERE session = $1 AND hold = $2`, id, hold, s.lease.Seconds())
		cancel()
		if err == nil && affected(done) == 0 {
			return
		}
	}
}

// Journal implements session.Store. It holds no connection open. When ctx has ended, its calls have 5 seconds each.
func (s *Store) Journal(ctx context.Context, id string) (session.Journal, error) {
	if err := check(ctx, id); err != nil {
		return nil, err
	}
	var there bool
	err := s.db.QueryRowContext(ctx, "SELECT true FROM texttosql_sessions WHERE id = $1", id).Scan(&there)
	return &journal{caller: ctx, s: s, id: id}, told(ctx, err)
}

type journal struct {
	caller context.Context // of Journal
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

// bounded returns the context of a call.
func (j *journal) bounded() (context.Context, context.CancelFunc) {
	ctx, cancel := bounded()
	late := saving
	stop := context.AfterFunc(j.caller, func() { time.AfterFunc(late, cancel) })
	return ctx, func() { stop(); cancel() }
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
	ctx, cancel := j.bounded()
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
	ctx, cancel := j.bounded()
	defer cancel()
	var text []byte
	err := j.s.db.QueryRowContext(ctx,
		`SELECT (SELECT string_agg(line || '\x0a', '' ORDER BY n) FROM texttosql_journal WHERE session = id)
		FROM texttosql_sessions WHERE id = $1`, j.id).Scan(&text)
	return text, told(ctx, err)
}

// Close is session.Journal.Close.
func (j *journal) Close() error {
	j.closed.Store(true)
	return nil
}
