package guard

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"sync"
)

// Inspection keeps what an engine answered while a catalog was read, so that for another policy nothing is asked again: the
// answers are those of the whole database. The zero Inspection is empty. Safe for concurrent use.
type Inspection struct {
	mu      sync.Mutex
	answers map[string]answer // by the text that was asked
}

// answer is the rows of one answer, some after others: each value with its length and 1 in front, 0 for NULL. A large schema
// has millions.
type answer struct {
	columns int
	some    [][]byte
}

type inspecting struct{}

// Inspecting returns a context in which [Inspect] and [Recall] know what i keeps.
func Inspecting(ctx context.Context, i *Inspection) context.Context {
	return context.WithValue(ctx, inspecting{}, i)
}

func (i *Inspection) recall(text string) (a answer, ok bool) {
	if i != nil {
		i.mu.Lock()
		defer i.mu.Unlock()
		a, ok = i.answers[text]
	}
	return a, ok
}

func (i *Inspection) keep(text string, a answer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.answers == nil {
		i.answers = map[string]answer{}
	}
	i.answers[text] = a
}

// Size is about how many bytes i keeps.
func (i *Inspection) Size() (bytes int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, a := range i.answers {
		for _, some := range a.some {
			bytes += cap(some)
		}
	}
	return bytes
}

// add packs a row.
func (a *answer) add(values []driver.Value) error {
	n := len(a.some) - 1
	if n < 0 || len(a.some[n]) > 1<<16 {
		a.some, n = append(a.some, nil), n+1
	}
	to := a.some[n]
	for _, v := range values {
		if v == nil {
			to = append(to, 0)
			continue
		}
		text, ok := v.(string)
		if !ok {
			var s sql.NullString
			if err := s.Scan(v); err != nil {
				return err
			}
			text = s.String
		}
		to = append(binary.AppendUvarint(to, uint64(len(text))+1), text...)
	}
	a.columns, a.some[n] = len(values), to
	return nil
}

// each calls row for each row.
func (a answer) each(row func(values []driver.Value) error) error {
	for _, rest := range a.some {
		for len(rest) > 0 {
			values := make([]driver.Value, a.columns)
			for i := range values {
				n, size := binary.Uvarint(rest)
				if rest = rest[size:]; n > 0 {
					values[i], rest = string(rest[:n-1]), rest[n-1:]
				}
			}
			if err := row(values); err != nil {
				return err
			}
		}
	}
	return nil
}

// Inspect is [EachRaw] for a text of a catalog: in the context of [Inspecting] it is asked once. Its values are texts.
func Inspect(ctx context.Context, driverConn any, text string, row func(scan func(dest ...any) error) error, args ...any) error {
	i, _ := ctx.Value(inspecting{}).(*Inspection)
	if i == nil {
		return EachRaw(ctx, driverConn, text, row, args...)
	}
	scanned := func(values []driver.Value) error {
		return row(func(dest ...any) error { return assign(values, dest) })
	}
	if known, ok := i.recall(text); ok {
		return known.each(scanned)
	}
	var all answer
	err := each(ctx, driverConn, text, args, func(values []driver.Value) error {
		return cmp.Or(all.add(values), scanned(values))
	})
	if err == nil {
		i.keep(text, all)
	}
	return err
}

// Recall returns the rows of each text of a catalog, asked for together: in the context of [Inspecting] each is asked once.
// known reports whether any was known.
func Recall[Row ~[]string](ctx context.Context, texts []string, ask func(texts []string) ([][]Row, error)) (results [][]Row, known bool, err error) {
	i, _ := ctx.Value(inspecting{}).(*Inspection)
	results = make([][]Row, len(texts))
	var missing []string
	var at []int
	for n, text := range texts {
		a, ok := i.recall(text)
		if !ok {
			missing, at = append(missing, text), append(at, n)
			continue
		}
		known = true
		_ = a.each(func(values []driver.Value) error {
			row := make(Row, len(values))
			for j, v := range values {
				row[j], _ = v.(string)
			}
			results[n] = append(results[n], row)
			return nil
		})
	}
	if len(missing) == 0 {
		return results, known, nil
	}
	found, err := ask(missing)
	if err != nil {
		return nil, known, err
	}
	for k, rows := range found {
		results[at[k]] = rows
		var all answer
		for _, row := range rows {
			values := make([]driver.Value, len(row))
			for j, v := range row {
				values[j] = v
			}
			_ = all.add(values) // texts
		}
		if i != nil {
			i.keep(missing[k], all)
		}
	}
	return results, known, nil
}
