package exec

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/trace"
)

// Query runs one statement of untrusted origin within Limits.Answer.
//
// The text check comes first; the statement then runs alone on a guarded
// connection. It returns a *RefusedError or an *InvalidError when the statement
// did not run, and a *LimitError when it ran into a limit that leaves no result.
// A result cut at the limit on rows or bytes is no error: the table says that it
// is truncated. The text is never changed to hold a LIMIT of ours. An empty
// result is a table with columns and no rows.
//
// Values come as the engine stores them; text is neither trimmed nor escaped, so
// whoever shows it in HTML, CSV or a terminal escapes it there.
func (db *DB) Query(ctx context.Context, sql string) (*result.Table, error) {
	return db.QueryWithin(ctx, sql, db.limits.Answer)
}

// QueryWithin is [DB.Query] with bounds of its own. Zero fields of b are those
// of Limits.Answer; CellBytes cannot rise above the larger of Limits.Candidate
// and Limits.Answer, for which the guard was made.
func (db *DB) QueryWithin(ctx context.Context, sql string, b Bounds) (*result.Table, error) {
	if db.lookOnly {
		return nil, ErrNoExecution
	}
	return db.run(ctx, sql, b)
}

// run is QueryWithin, also of a DB without execution: for statements of ours.
func (db *DB) run(ctx context.Context, sql string, b Bounds) (*result.Table, error) {
	ctx, span := trace.Start(ctx, "exec.query", trace.Attr{Key: "sql", Value: trace.SQL(sql)})
	defer span.End()
	t, err := db.query(ctx, sql, b)
	if err != nil {
		span.Fail(err)
		return nil, err
	}
	span.Set("rows", len(t.Rows))
	if t.Truncated {
		span.Set("truncated", true)
	}
	return t, nil
}

// query is run without a span of its own.
func (db *DB) query(ctx context.Context, sql string, b Bounds) (*result.Table, error) {
	b, err := db.bounds(b)
	if err != nil {
		return nil, err
	}
	var t *result.Table
	err = db.generated(ctx, sql, b.Timeout, func(ctx context.Context, h Held, sql string) (err error) {
		t, err = read(ctx, h, sql, b)
		return err
	})
	return t, err
}

// bounds fills in and checks the bounds of one call.
func (db *DB) bounds(b Bounds) (Bounds, error) {
	if err := b.validate("Bounds"); err != nil {
		return b, err
	}
	b = b.or(db.limits.Answer)
	b.CellBytes = min(b.CellBytes, max(db.limits.Candidate.CellBytes, db.limits.Answer.CellBytes))
	return b, nil
}

// read runs one statement on a held connection and keeps what b allows. It reads
// one row more than b.Rows, so that Truncated is exact.
func read(ctx context.Context, h Held, sql string, b Bounds, args ...any) (*result.Table, error) {
	rows, err := h.QueryContext(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, h.Classify(err)
	}
	if len(names) == 0 {
		// A driver that found nothing to run says so by a result without columns.
		return nil, &InvalidError{Fault: FaultCompile, Message: "the statement has no result columns"}
	}
	if len(names) > b.Columns {
		return nil, &LimitError{Limit: "columns", Max: fmt.Sprint(b.Columns)}
	}

	t := &result.Table{Columns: names, Rows: [][]any{}}
	reader := newReader(len(names), b)
	for rows.Next() {
		if len(t.Rows) == b.Rows {
			t.Truncated = true
			break
		}
		row, err := reader.read(rows)
		if err != nil {
			return nil, h.Classify(err)
		}
		if row == nil {
			t.Truncated, t.TooLarge = true, true
			break
		}
		t.Rows = append(t.Rows, row)
	}
	if err := rows.Err(); err != nil {
		return nil, h.Classify(err)
	}
	if err := rows.Close(); err != nil {
		return nil, h.Classify(err)
	}
	return t, nil
}
