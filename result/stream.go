package result

import (
	"cmp"
	"context"
	"errors"
	"iter"
)

// Stream returns the rows of a statement while they are read, for results that are too large for a [Table]. At most a
// few hundred rows are in memory at a time.
//
// Range over Rows, once, or call Close. A Stream is not safe for concurrent use.
type Stream struct {
	Columns []string // names, in column order
	Types   []Type   // as Table.Types

	batches chan [][]any
	cancel  context.CancelFunc
	ended   chan struct{}
	err     error // the error of produce; read it after ended
}

// NewStream starts produce in a goroutine. It returns the rows that produce writes to its [RowWriter] as soon as Head
// was called. An error before that is the error of NewStream. The context of produce ends with ctx, or when no more
// rows are wanted. The goroutine ends when produce returns.
func NewStream(ctx context.Context, produce func(ctx context.Context, to *RowWriter) error) (*Stream, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &Stream{batches: make(chan [][]any), cancel: cancel, ended: make(chan struct{})}
	to := &RowWriter{ctx: ctx, stream: s, begun: make(chan struct{})}
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

// Rows returns the rows in their order, each with one value for each column. The caller may keep them. An error comes
// last: for example a *exec.LimitError, or the error of ctx. The rows before it are right, but incomplete. A loop that
// stops early ends the statement.
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

// RowWriter receives the rows of a [Stream]. Call Head once, before the first row.
type RowWriter struct {
	ctx    context.Context
	within context.Context // of Within; nil: none
	stream *Stream
	begun  chan struct{}
	headed bool
	batch  [][]any
	size   int
}

// Sizes of the batches in which rows are sent.
const (
	batchRows  = 256
	batchBytes = 256 << 10
)

var (
	errBegun    = errors.New("result: the stream has begun already")
	errHeadless = errors.New("result: the stream has no columns")
)

// Head sets the columns and their types.
func (k *RowWriter) Head(columns []string, types []Type) error {
	if k.headed {
		return errBegun
	}
	k.headed = true
	k.stream.Columns, k.stream.Types = columns, types
	close(k.begun)
	return nil
}

// Row sends one row, in batches. It stores the row: do not change it afterwards. When a batch is full, Row waits until
// the reader takes it. If the context or the one of Within ends first, Row returns its error.
func (k *RowWriter) Row(row []any) error {
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

// Within sets a further context whose end ends the wait of Row, for a statement with a time limit of its own. With
// context.Background only the context of the stream ends it, as at first. The last rows, which are sent after produce,
// need that.
func (k *RowWriter) Within(ctx context.Context) { k.within = ctx }

func (k *RowWriter) flush() error {
	if len(k.batch) == 0 {
		return nil
	}
	within := cmp.Or(k.within, k.ctx)
	select {
	case k.stream.batches <- k.batch:
		k.batch, k.size = make([][]any, 0, batchRows), 0
		return nil
	case <-k.ctx.Done():
		return k.ctx.Err()
	case <-within.Done():
		return within.Err()
	}
}
