package guard

import (
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

// answer is the rows of one answer: each value with its length and 1 in front, 0 for NULL. A large schema has millions.
type answer struct {
	columns int
	values  string
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

func (i *Inspection) keep(text string, columns int, values []byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.answers == nil {
		i.answers = map[string]answer{}
	}
	i.answers[text] = answer{columns, string(values)}
}

func pack(to []byte, v sql.NullString) []byte {
	if !v.Valid {
		return append(to, 0)
	}
	return append(binary.AppendUvarint(to, uint64(len(v.String))+1), v.String...)
}

// each calls row for each row.
func (a answer) each(row func(values []driver.Value) error) error {
	for rest := a.values; rest != ""; {
		values := make([]driver.Value, a.columns)
		for i := range values {
			n, size := binary.Uvarint([]byte(rest[:min(len(rest), binary.MaxVarintLen64)]))
			if rest = rest[size:]; n > 0 {
				values[i], rest = rest[:n-1], rest[n-1:]
			}
		}
		if err := row(values); err != nil {
			return err
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
	known, ok := i.recall(text)
	if !ok {
		var all []byte
		columns := 0
		err := each(ctx, driverConn, text, args, func(values []driver.Value) error {
			columns = len(values)
			for _, v := range values {
				var text sql.NullString
				if err := text.Scan(v); err != nil {
					return err
				}
				all = pack(all, text)
			}
			return nil
		})
		if err != nil {
			return err
		}
		i.keep(text, columns, all)
		known, _ = i.recall(text)
	}
	return known.each(func(values []driver.Value) error {
		return row(func(dest ...any) error { return assign(values, dest) })
	})
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
		var all []byte
		columns := 0
		for _, row := range rows {
			columns = len(row)
			for _, v := range row {
				all = pack(all, sql.NullString{String: v, Valid: true})
			}
		}
		if i != nil {
			i.keep(missing[k], columns, all)
		}
	}
	return results, known, nil
}
