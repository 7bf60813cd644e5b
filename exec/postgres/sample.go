package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

const (
	// sampleLeast is how many rows a spread sample is chosen from, however few they are: TABLESAMPLE SYSTEM takes whole
	// blocks, which hold a hundred rows each.
	sampleLeast = 2000
	// sampleTries bounds the statements that look for the length of a table. Each tries a tenth of the share before.
	sampleTries = 8
)

// SampleRows reads the first rows of t in the order in which the engine scans it.
//
// With Spread, a table longer than Rows is read by TABLESAMPLE SYSTEM, which reads some of its blocks and no others, and
// chooses them by Seed. The share is found by counting rows of smaller and smaller samples, none of more than twice the
// rows that are needed, so a table of any length costs the same. Where the sample has less than half of Rows, or the
// engine cannot sample the relation (views, foreign tables), the first rows are taken. It does not use the statistics of
// ANALYZE: they may be missing or old, and Profile promises what it saw.
func (d Dialect) SampleRows(ctx context.Context, run guard.Runner, t schema.Table, o exec.SampleOptions) (exec.RowSample, error) {
	out := exec.RowSample{Rows: [][]any{}}
	s := sampler{run: run, from: t.TableName().Quoted(d.Language()) + " AS t"}
	if o.Count > 0 {
		n, err := s.count(ctx, "", o.Count+1)
		if err != nil {
			return exec.RowSample{}, err
		}
		out.Count, out.CountAtLeast = min(n, o.Count), n > o.Count
	}
	if len(o.Columns) == 0 {
		return out, nil
	}
	columns := d.columnList(t, o)
	if o.Spread && t.Kind == schema.BaseTable && (o.Count == 0 || out.CountAtLeast || out.Count > int64(o.Rows)) {
		rows, err := s.spread(ctx, d, columns, o, out)
		if err != nil && !errors.As(err, new(*exec.InvalidError)) {
			return exec.RowSample{}, err
		}
		if err == nil && len(rows) >= max(1, o.Rows/2) {
			out.Rows = rows
			return out, nil
		}
	}
	first, err := run(ctx, fmt.Sprintf("SELECT %s FROM %s LIMIT %d", strings.Join(columns, ", "), s.from, o.Rows+1), o.Rows)
	if err != nil {
		return exec.RowSample{}, err
	}
	out.Rows = append(out.Rows, first.Rows...)
	out.Complete = o.Count > 0 && !out.CountAtLeast && out.Count == int64(len(out.Rows))
	return out, nil
}

// sampler reads one table.
type sampler struct {
	run  guard.Runner
	from string
}

// count counts rows up to limit.
func (s sampler) count(ctx context.Context, sample string, limit int64) (int64, error) {
	rows, err := s.run(ctx, fmt.Sprintf("SELECT pg_catalog.count(*) FROM (SELECT 1 FROM %s%s LIMIT %d) AS n", s.from, sample, limit), 1)
	if err != nil {
		return 0, err
	}
	if len(rows.Rows) == 1 {
		if n, ok := rows.Rows[0][0].(int64); ok {
			return n, nil
		}
	}
	return 0, fmt.Errorf("postgres: counting the rows of %s: no number came back", s.from)
}

// spread reads rows from all over a long table.
func (s sampler) spread(ctx context.Context, d Dialect, columns []string, o exec.SampleOptions, known exec.RowSample) ([][]any, error) {
	want := int64(max(o.Rows, sampleLeast))
	of := func(percent float64) string {
		return fmt.Sprintf(" TABLESAMPLE SYSTEM (%.6f) REPEATABLE (%d)", min(percent, 100), o.Seed%(1<<31))
	}
	percent, found := 100., known.Count
	if known.Count == 0 || known.CountAtLeast {
		var err error
		for try := 0; ; try++ {
			if found, err = s.count(ctx, of(percent), 2*want+1); err != nil {
				return nil, err
			}
			if found <= 2*want || try == sampleTries {
				break
			}
			percent /= 10
		}
	}
	percent *= float64(want) / float64(max(found, 1))
	inner := fmt.Sprintf("SELECT %s FROM %s%s LIMIT %d", strings.Join(columns, ", "), s.from, of(percent), 2*want)
	step := min(found, want) / int64(o.Rows)
	if step < 2 {
		rows, err := s.run(ctx, inner, o.Rows)
		if err != nil {
			return nil, err
		}
		return rows.Rows, nil
	}
	// Every so many rows of more than are asked for.
	names := make([]string, len(o.Columns))
	for i := range names {
		names[i] = fmt.Sprintf("s.c%d", i+1)
		columns[i] += fmt.Sprintf(" AS c%d", i+1)
	}
	rows, err := s.run(ctx, fmt.Sprintf("SELECT %s FROM (SELECT %s, pg_catalog.row_number() OVER () AS n FROM %s%s LIMIT %d) AS s WHERE s.n %% %d = %d LIMIT %d",
		strings.Join(names, ", "), strings.Join(columns, ", "), s.from, of(percent), 2*want, step, 1+o.Seed%uint64(step-1), o.Rows), o.Rows)
	for i := range columns {
		columns[i] = strings.TrimSuffix(columns[i], fmt.Sprintf(" AS c%d", i+1))
	}
	if err != nil {
		return nil, err
	}
	return rows.Rows, nil
}

// columnList writes the columns to read. Long texts and blobs are cut by the engine where their type keeps its meaning.
func (d Dialect) columnList(t schema.Table, o exec.SampleOptions) []string {
	columns := make([]string, len(o.Columns))
	for i, name := range o.Columns {
		columns[i] = "t." + d.Language().Quote(name)
		c, ok := t.Column(name)
		if o.Cut <= 0 || !ok {
			continue
		}
		kind, _, _ := strings.Cut(c.Type, "(")
		switch {
		case kind == "bytea":
			columns[i] = fmt.Sprintf("pg_catalog.substring(%s, 1, %d)", columns[i], o.Cut)
		case kind == "text" || kind == "character varying":
			columns[i] = fmt.Sprintf("pg_catalog.left(%s, %d)", columns[i], o.Cut)
		case kind == "json" || kind == "jsonb" || strings.HasSuffix(kind, "[]"):
			columns[i] = fmt.Sprintf("pg_catalog.left(%s::text, %d)", columns[i], o.Cut)
		}
	}
	return columns
}
