package guard

import (
	"cmp"
	"context"
	"database/sql/driver"

	"github.com/texttosql/texttosql/internal/driverrows"
	"github.com/texttosql/texttosql/internal/inspection"
)

// Inspect runs a query of a catalog as [QueryEach] does, on a driver connection inside sql.Conn.Raw. While exec reads
// a catalog, each text runs once. Its values are texts.
func Inspect(ctx context.Context, driverConn any, text string, row func(scan func(dest ...any) error) error,
	args ...any) error {
	i := inspection.FromContext(ctx)
	if i == nil {
		return driverrows.Scan(ctx, driverConn, text, row, args...)
	}
	scanned := func(values []driver.Value) error {
		return row(func(dest ...any) error { return driverrows.Assign(values, dest) })
	}
	if known, ok := i.Recall(text); ok {
		return known.Each(scanned)
	}
	var all inspection.Answer
	err := driverrows.Each(ctx, driverConn, text, args, func(values []driver.Value) error {
		return cmp.Or(all.Add(values), scanned(values))
	})
	if err == nil {
		i.Keep(text, all)
	}
	return err
}

// QueryOnce returns the rows of several queries of a catalog, in one request. While exec reads a catalog, each text
// runs once. known reports whether the rows of some text were stored already.
func QueryOnce[Row ~[]string](ctx context.Context, texts []string,
	ask func(texts []string) ([][]Row, error)) (results [][]Row, known bool, err error) {
	i := inspection.FromContext(ctx)
	results = make([][]Row, len(texts))
	var missing []string
	var at []int
	for n, text := range texts {
		a, ok := i.Recall(text)
		if !ok {
			missing, at = append(missing, text), append(at, n)
			continue
		}
		known = true
		_ = a.Each(func(values []driver.Value) error {
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
		var all inspection.Answer
		for _, row := range rows {
			values := make([]driver.Value, len(row))
			for j, v := range row {
				values[j] = v
			}
			_ = all.Add(values) // texts
		}
		if i != nil {
			i.Keep(missing[k], all)
		}
	}
	return results, known, nil
}
