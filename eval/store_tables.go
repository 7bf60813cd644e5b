package eval

import (
	"container/list"
	"sync"

	"github.com/texttosql/texttosql/result"
)

// tableCache keeps the tables that were used last, within a number of bytes.
type tableCache struct {
	mu         sync.Mutex
	left, most int
	order      list.List // of *kept, the one used last in front
	byEntry    map[*entry]*list.Element
}

type kept struct {
	entry *entry
	table *result.Table
	bytes int
}

func (c *tableCache) get(e *entry) *result.Table {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.byEntry[e]
	if at == nil {
		return nil
	}
	c.order.MoveToFront(at)
	return at.Value.(*kept).table
}

// put keeps a table, unless it is nil or would push out all others.
func (c *tableCache) put(e *entry, t *result.Table) {
	if t == nil {
		return
	}
	n := tableBytes(t)
	if n > c.most/2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byEntry == nil {
		c.byEntry = map[*entry]*list.Element{}
	}
	if c.byEntry[e] != nil {
		return
	}
	c.byEntry[e] = c.order.PushFront(&kept{e, t, n})
	for c.left -= n; c.left < 0; {
		last := c.order.Back()
		old := c.order.Remove(last).(*kept)
		delete(c.byEntry, old.entry)
		c.left += old.bytes
	}
}

// tableBytes estimates the memory of a table.
func tableBytes(t *result.Table) int {
	n := 200 + 24*len(t.Rows)
	for _, name := range t.Columns {
		n += 16 + len(name)
	}
	for _, row := range t.Rows {
		for _, v := range row {
			n += 24 // the interface and what a number is boxed in
			switch v := v.(type) {
			case string:
				n += 8 + len(v)
			case []byte:
				n += 16 + len(v)
			}
		}
	}
	return n
}
