package result

import (
	"cmp"
	"context"
	"errors"
	"iter"
)

// Stream is the rows of a statement while they are read, for results that are too large for a [Table]: no more than a few
// hundred rows are in memory at a time, however many there are.
//
// Whoever has a Stream ranges over Rows, once, or calls Close. Not safe for concurrent use.
type Stream struct {
	Columns []string // names, in column order
	Types   []Type   // as Table.Types

	batches chan [][]any
	cancel  context.CancelFunc
	ended   chan struct{}
	err     error // of what makes the rows; for readers behind ended
}

// NewStream starts produce in a goroutine, and returns the rows that it gives to its [Sink] once it gave their head. An error
// before that is the error of NewStream. The context of produce ends with ctx, and as soon as nobody wants more rows; then, and
// where produce returns, the goroutine ends.
func NewStream(ctx context.Context, produce func(ctx context.Context, to *Sink) error) (*Stream, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &Stream{batches: make(chan [][]any), cancel: cancel, ended: make(chan struct{})}
	to := &Sink{ctx: ctx, stream: s, begun: make(chan struct{})}
	go func() {
		defer close(s.ended)
		if s.err = produce(ctx, to); s.err == nil {
			s.err = to.flush()
		}
	}()
	select {
	case <-to.begun:
		return s, nil
	case <-s.ended:
		cancel()
		if to.headed {
			return s, nil
		}
		return nil, cmp.Or(s.err, errHeadless)
	}
}

// Rows gives the rows in their order, each with one value for each column, which the caller may keep. An error is the last
// thing that it gives: a *exec.LimitError, or that of ctx, say. The rows before it are right, and not all. A loop that ends early
// ends the statement.
func (s *Stream) Rows() iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		defer s.Close()
		for {
			select {
			case batch := <-s.batches:
				for _, row := range batch {
					if !yield(row, nil) {
						return
					}
				}
			case <-s.ended:
				if s.err != nil {
					yield(nil, s.err)
				}
				return
			}
		}
	}
}

// Close ends the statement and waits for its end. It may be called more than once.
func (s *Stream) Close() {
	s.cancel()
	<-s.ended
}

// Sink is where the rows of a [Stream] come from. Head is called once, before the first row.
type Sink struct {
	ctx    context.Context
	stream *Stream
	begun  chan struct{}
	headed bool
	batch  [][]any
	size   int
}

// What is handed over at a time.
const (
	batchRows  = 256
	batchBytes = 256 << 10
)

var (
	errBegun    = errors.New("result: the stream has begun already")
	errHeadless = errors.New("result: the stream has no columns")
)

// Head tells the columns and their types.
func (k *Sink) Head(columns []string, types []Type) error {
	if k.headed {
		return errBegun
	}
	k.headed = true
	k.stream.Columns, k.stream.Types = columns, types
	close(k.begun)
	return nil
}

// Row gives one row, which the sink keeps. It waits until somebody wants it, or until the context ends, whose error it returns.
func (k *Sink) Row(row []any) error {
	k.batch = append(k.batch, row)
	for _, v := range row {
		switch v := v.(type) {
		case string:
			k.size += len(v)
		case []byte:
			k.size += len(v)
		case Decimal:
			k.size += len(v)
		}
	}
	if len(k.batch) < batchRows && k.size < batchBytes {
		return nil
	}
	return k.flush()
}

func (k *Sink) flush() error {
	if len(k.batch) == 0 {
		return nil
	}
	select {
	case k.stream.batches <- k.batch:
		k.batch, k.size = nil, 0
		return nil
	case <-k.ctx.Done():
		return k.ctx.Err()
	}
}
