package llm

import (
	"cmp"
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/texttosql/texttosql/trace"
)

// Cache remembers replies in memory and forgets the least recently used first.
//
// The key of a reply is the name of the model, what was sent ([Request.Hash]) and the index of the sample. So a sample
// never becomes a copy of another one. Errors are not remembered. Equal calls that are in flight at the same time are
// all made. A cached reply costs nothing: its Usage is zero and known. Its span has cached=true; it is a span of its
// own, or that of a [Trace] around the cache.
//
// The zero Cache holds up to 1,024 replies in up to 16 MiB.
type Cache struct {
	Entries int // 0 means 1,024; less than 0: no cache
	Bytes   int // the most bytes of reply texts; 0 means 16 MiB; less than 0: no cache
}

// Middleware returns a middleware whose models share one cache. Models without a name would get the replies of one
// another, so name them ([Named]). Safe for concurrent use.
func (c Cache) Middleware() Middleware {
	if c.Entries < 0 || c.Bytes < 0 {
		return func(next Model) Model { return next }
	}
	c.Entries, c.Bytes = cmp.Or(c.Entries, 1024), cmp.Or(c.Bytes, 16<<20)
	replies := &lru{limit: c, byKey: make(map[cacheKey]*list.Element)}
	return func(next Model) Model {
		return Wrap(next, func(ctx context.Context, req Request) (Response, error) {
			if ctx.Err() != nil {
				return Response{}, ctx.Err()
			}
			key := keyOf(NameOf(next), req)
			if resp, ok := replies.get(key); ok {
				resp.Usage = Usage{Known: true}
				if outer := trace.From(ctx); outer.Name() == spanName { // a Trace stands around this cache
					outer.Set("cached", true)
					return resp, nil
				}
				_, span := trace.StartAt(ctx, req.Sample, spanName, trace.Attr{Key: "purpose", Value: req.Purpose},
					trace.Attr{Key: "sample", Value: req.Sample}, trace.Attr{Key: "cached", Value: true})
				span.End()
				return resp, nil
			}
			resp, err := next.Complete(ctx, req)
			if err == nil {
				replies.put(key, resp)
			}
			return resp, err
		})
	}
}

type cacheKey [sha256.Size]byte

func keyOf(model string, req Request) cacheKey {
	return req.sum(string(binary.AppendVarint([]byte(model), int64(req.Sample))))
}

type lru struct {
	limit Cache

	mu    sync.Mutex
	order list.List // its values are *entry; the most recently used one comes first
	byKey map[cacheKey]*list.Element
	bytes int
}

type entry struct {
	key  cacheKey
	resp Response
}

func (c *lru) get(key cacheKey) (Response, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return Response{}, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry).resp, true
}

func (c *lru) put(key cacheKey, resp Response) {
	if len(resp.Text) > c.limit.Bytes {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		// An equal call ended first. Its reply stays, so that later calls agree.
		c.order.MoveToFront(e)
		return
	}
	c.byKey[key] = c.order.PushFront(&entry{key, resp})
	c.bytes += len(resp.Text)
	for c.order.Len() > c.limit.Entries || c.bytes > c.limit.Bytes {
		oldest := c.order.Remove(c.order.Back()).(*entry)
		delete(c.byKey, oldest.key)
		c.bytes -= len(oldest.resp.Text)
	}
}
