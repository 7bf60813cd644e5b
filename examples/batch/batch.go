package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/replay"
)

// question is a job. Its ID and Key together are asked once.
type question struct {
	ID       string `json:"id" river:"unique"`
	Key      string `json:"key" river:"unique"` // hash of what the answer depends on; add makes it
	Question string `json:"question"`
	Evidence string `json:"evidence,omitempty"`
	// in the job: one process looks for the dead of all queues, by its own settings
	Deadline time.Duration `json:"deadline"`
}

// Kind names the jobs.
func (question) Kind() string { return "question" }

// InsertOpts makes jobs unique: against those that wait, run or are completed, not against cancelled ones.
func (question) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: river.MaxAttemptsDefault, UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

const tables = `
CREATE TABLE IF NOT EXISTS batch_answers (
	id text, key text, queue text NOT NULL,
	sql text NOT NULL, failure text NOT NULL, -- a class of package failure; '': none
	answer json,                              -- texttosql.Result with its rows and its trace
	attempt int NOT NULL, answered timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (id, key)
);
CREATE TABLE IF NOT EXISTS batch_replies ( -- of questions without an answer, lines of llm/replay
	id text, key text, n bigint GENERATED ALWAYS AS IDENTITY, line bytea NOT NULL,
	PRIMARY KEY (id, key, n)
);`

// batch is the questions of one configuration: those that depend on the same are in one queue.
type batch struct {
	pool     *pgxpool.Pool
	depends  string
	queue    string
	deadline time.Duration
	rescue   time.Duration // beyond the deadline
}

// open makes the tables where they are missing.
func open(ctx context.Context, dsn, depends string, deadline time.Duration) (*batch, error) {
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return nil, err
	}
	b := &batch{pool: pool, depends: depends, queue: "q" + hash(depends)[:16], deadline: deadline,
		rescue: 10 * time.Second}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext('batch'))"); err != nil { // one process makes them
			return err
		}
		migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
		if err == nil {
			_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
		}
		if err == nil {
			_, err = tx.Exec(ctx, tables)
		}
		return err
	})
	if err != nil {
		pool.Close()
		return nil, err
	}
	return b, nil
}

func hash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// client is one that works if it has a worker.
func (b *batch) client(w *worker, parallel int) (*river.Client[pgx.Tx], error) {
	c := &river.Config{Logger: slog.New(slog.DiscardHandler)}
	if w != nil {
		c.Workers = river.NewWorkers()
		river.AddWorker(c.Workers, w)
		c.Queues = map[string]river.QueueConfig{b.queue: {MaxWorkers: parallel}}
		c.FetchCooldown = 20 * time.Millisecond
		c.JobTimeout = b.deadline
		c.RescueStuckJobsAfter = b.deadline + b.rescue // sooner, and a question would be two processes' at a time
	}
	return river.NewClient(riverpgxv5.New(b.pool), c)
}

// add adds the questions that have no answer and no job yet, and lets a queue that was paused go on.
func (b *batch) add(ctx context.Context, file io.Reader) (added, known int, err error) {
	c, err := b.client(nil, 0)
	if err != nil {
		return 0, 0, err
	}
	in := json.NewDecoder(file)
	for {
		var keys []string
		all := map[string]question{}
		for len(keys) < 1000 && in.More() {
			var q question
			if err := in.Decode(&q); err != nil || q.ID == "" || q.Question == "" {
				return added, known, fmt.Errorf(`question %d: want {"id": "…", "question": "…"} (%v)`, added+known+len(keys)+1, err)
			}
			q.Deadline, q.Key = b.deadline, hash(b.depends, q.Question, q.Evidence)
			keys = append(keys, q.ID+" "+q.Key)
			all[q.ID+" "+q.Key] = q
		}
		if len(keys) == 0 {
			break
		}
		rows, _ := b.pool.Query(ctx, "SELECT id || ' ' || key FROM batch_answers WHERE id || ' ' || key = ANY ($1) "+
			"AND queue = $2", keys, b.queue)
		answered, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return added, known, err
		}
		for _, key := range answered {
			delete(all, key)
		}
		var jobs []river.InsertManyParams
		for _, key := range keys {
			if q, ok := all[key]; ok {
				jobs = append(jobs, river.InsertManyParams{Args: q, InsertOpts: &river.InsertOpts{Queue: b.queue}})
				delete(all, key)
			}
		}
		before := added
		if len(jobs) > 0 {
			done, err := c.InsertMany(ctx, jobs)
			if err != nil {
				return added, known, err
			}
			for _, d := range done {
				if !d.UniqueSkippedAsDuplicate {
					added++
				}
			}
		}
		known += len(keys) - (added - before)
	}
	err = c.QueueResume(ctx, b.queue, nil)
	if errors.Is(err, rivertype.ErrNotFound) { // nobody worked on it yet
		err = nil
	}
	return added, known, err
}

// errPaused ends the processes that work where a key was refused.
var errPaused = errors.New("the provider refuses the key: set another one, and add the questions again")

// work answers questions until all have an answer or ctx ends. What it has begun it then has 10 seconds to end.
func (b *batch) work(ctx context.Context, engine *texttosql.Engine, parallel int) (err error) {
	c, err := b.client(&worker{b: b, engine: engine}, parallel)
	if err != nil {
		return err
	}
	if err := c.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	defer func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if c.Stop(bounded) != nil {
			err = errors.Join(err, c.StopAndCancel(context.WithoutCancel(ctx)))
		}
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for failed := 0; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		var left, paused bool
		err := b.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM river_job WHERE queue = $1 AND finalized_at IS NULL),
			EXISTS (SELECT FROM river_queue WHERE name = $1 AND paused_at IS NOT NULL)`, b.queue).Scan(&left, &paused)
		switch {
		case err != nil && failed < 60: // a server that starts again
			failed++
		case paused:
			return errPaused
		case err != nil || !left:
			return err
		default:
			failed = 0
		}
	}
}

// worker answers one question at a time; River calls it for several.
type worker struct {
	river.WorkerDefaults[question]
	b      *batch
	engine *texttosql.Engine
}

// Timeout is that of the one who added the question.
func (*worker) Timeout(job *river.Job[question]) time.Duration { return job.Args.Deadline }

// Work asks and keeps what came of it.
func (w *worker) Work(ctx context.Context, job *river.Job[question]) error {
	q := job.Args
	recorded, err := w.b.replies(ctx, q)
	if err != nil {
		return err
	}
	res, err := w.engine.AskQuestion(context.WithValue(ctx, replies{}, recorded),
		texttosql.Question{ID: q.ID, Text: q.Question, Evidence: q.Evidence})
	failed := failure.Of(err).Class
	switch failed {
	case failure.Key:
		// Every other question would end like this one, and be paid for with an attempt.
		c := river.ClientFromContext[pgx.Tx](ctx)
		return river.JobCancel(errors.Join(err, c.QueuePause(context.WithoutCancel(ctx), w.b.queue, nil)))
	case failure.Rate:
		if wait := llm.AsError(err).RetryAfter; wait > 0 {
			return river.JobSnooze(wait)
		}
		return err
	case failure.Cancelled:
		if ctx.Err() != nil { // this process is told to end: that is nobody's failure
			return river.JobSnooze(0)
		}
		return err
	case failure.Internal:
		if res.Rows != nil { // a reply could not be recorded, and the recording is deleted below
			failed = ""
		}
	case failure.Time, failure.Busy, failure.Database:
		return err
	case failure.Provider:
		if llm.AsError(err).Temporary() {
			return err
		}
	}
	var text []byte
	sql := ""
	if res != nil {
		sql = res.SQL
		var bad error
		if text, bad = res.MarshalWithRows(); bad != nil {
			return river.JobCancel(bad)
		}
	}
	return pgx.BeginFunc(ctx, w.b.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx,
			`INSERT INTO batch_answers (id, key, queue, sql, failure, answer, attempt) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT DO NOTHING`, q.ID, q.Key, w.b.queue, sql, string(failed), text, job.Attempt)
		if err == nil {
			_, err = tx.Exec(ctx, "DELETE FROM batch_replies WHERE id = $1 AND key = $2", q.ID, q.Key)
		}
		if err == nil {
			_, err = river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		}
		return err
	})
}

// replies is the key of a question's recording in its context.
type replies struct{}

// replied is a middleware that answers from the recording of the question and adds to it.
func replied(next llm.Model) llm.Model {
	return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
		model := next
		if recorded, ok := ctx.Value(replies{}).([]llm.Middleware); ok {
			model = llm.Chain(next, recorded...)
		}
		return model.Complete(ctx, req)
	})
}

// replies returns the recording of a question: what earlier attempts had replies to, and what writes new ones down.
func (b *batch) replies(ctx context.Context, q question) ([]llm.Middleware, error) {
	rows, _ := b.pool.Query(ctx, "SELECT line FROM batch_replies WHERE id = $1 AND key = $2 ORDER BY n", q.ID, q.Key)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		return nil, err
	}
	recorder := replay.NewRecorder(writer(func(line []byte) error {
		// A reply that was paid for is kept, whoever gave up meanwhile.
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_, err := b.pool.Exec(bounded, "INSERT INTO batch_replies (id, key, line) VALUES ($1, $2, $3)", q.ID, q.Key, line)
		return err
	}))
	if len(lines) == 0 {
		return []llm.Middleware{recorder.Record}, nil
	}
	player, err := replay.NewPlayer(bytes.NewReader(bytes.Join(lines, nil)))
	if err != nil {
		return nil, err
	}
	return []llm.Middleware{player.Or, recorder.Record}, nil
}

type writer func(line []byte) error

func (w writer) Write(line []byte) (int, error) { return len(line), w(line) }

// status tells how far the batch is.
func (b *batch) status(ctx context.Context, out io.Writer) error {
	rows, _ := b.pool.Query(ctx, `SELECT format('%s %s', n, what) FROM (
		SELECT 1 AS place, count(*) AS n, 'jobs ' || state AS what FROM river_job WHERE queue = $1 GROUP BY what
		UNION ALL SELECT 2, count(*), 'answered' FROM batch_answers WHERE queue = $1 AND failure = ''
		UNION ALL SELECT 3, count(*), 'without an answer: ' || failure FROM batch_answers WHERE queue = $1 AND failure <> '' GROUP BY failure) AS t
		ORDER BY place, what`, b.queue)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
	return err
}

// results writes the answers as JSON lines, in the order of their IDs.
func (b *batch) results(ctx context.Context, out io.Writer) error {
	rows, err := b.pool.Query(ctx,
		`SELECT json_build_object('id', id, 'sql', sql, 'failure', failure, 'answer', answer)::text FROM batch_answers
		WHERE queue = $1 ORDER BY id, key`, b.queue)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return rows.Err()
}
