package guard

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/texttosql/texttosql/internal/sampling"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// sampleParts is the number of places of a long table that a spread sample comes from.
const sampleParts = 20

// runner runs a statement under guard and limits.
type runner = func(ctx context.Context, sql string, rows int) (*result.Table, error)

// Sampled describes how an engine reads the table of a sample. [NewSampled] fills in the first three fields.
type Sampled struct {
	From    string // the text after FROM
	Counted string // the same, if the engine may use any index
	List    string // the columns to read
	Key     string // an integer that finds rows quickly; "": there is none, or it may not exist
	Order   string // the text after From that orders the first rows: " ORDER BY …" or nothing

	Count    string // the function that counts rows; "": count
	Numbered bool   // LIMIT … OFFSET finds rows quickly, and counting all rows costs nothing
	// Hint returns the text after SELECT for reading rows from a start; if rows is 0, for counting. nil: no text.
	Hint func(start, rows int64) string
	// Spread reads rows from all parts of a long table in the engine's own way; nil: by Key. known has the number of
	// rows, if it was requested. If it reads less than half of exec.SampleOptions.Rows, the first rows are taken.
	Spread func(ctx context.Context, known sampling.Rows) ([][]any, error)
}

// NewSampled writes the columns of o for a table with alias t. cut writes an expression for the start of a column. It
// returns the column itself if the engine cannot cut its type. nil: the engine cuts no column.
func NewSampled(table string, t schema.Table, o sampling.Options, quote func(string) string,
	cut func(kind, column string) string) Sampled {
	columns := make([]string, len(o.Columns))
	for i, name := range o.Columns {
		columns[i] = "t." + quote(name)
		if c, ok := t.Column(name); ok && cut != nil && o.Cut > 0 {
			columns[i] = cut(c.Type, columns[i])
		}
	}
	return Sampled{From: table + " AS t", Counted: table + " AS t", List: strings.Join(columns, ", ")}
}

// SampleRows reads the first rows of t. With Spread, it reads a table longer than o.Rows in 20 places, a twentieth of
// o.Rows in each. The places are spaced evenly between the smallest and the largest key, or between the first and the
// last row if rows are Numbered. The first place is the start of the table. If o.Rows is under 20, each row is read at
// a random place in its part. Gaps in the keys make the sample smaller. If it has less than half of o.Rows, or t has no
// key, the first rows are taken.
func SampleRows(
	ctx context.Context, run func(ctx context.Context, sql string, rows int) (*result.Table, error), t Sampled,
	o sampling.Options,
) (sampling.Rows, error) {
	out, total := sampling.Rows{Rows: [][]any{}}, int64(0)
	if o.Count > 0 || t.Numbered && o.Spread {
		var err error
		if total, err = t.CountRows(ctx, run, "", o.Count+1); err != nil {
			return sampling.Rows{}, err
		}
		if o.Count > 0 {
			out.Count, out.CountAtLeast = min(total, o.Count), total > o.Count
		}
	}
	if len(o.Columns) == 0 {
		return out, nil
	}
	if o.Spread && (o.Count == 0 || out.CountAtLeast || out.Count > int64(o.Rows)) {
		rows, err := t.spread(ctx, run, o, out, total)
		if err != nil {
			return sampling.Rows{}, err
		}
		if len(rows) >= max(1, o.Rows/2) {
			out.Rows = rows
			return out, nil
		}
	}
	rows, err := t.read(ctx, run, fmt.Sprintf("%s LIMIT %d", t.Order, o.Rows+1), 0, int64(o.Rows+1), o)
	if err != nil {
		return sampling.Rows{}, err
	}
	out.Rows = append(out.Rows, rows...)
	out.Complete = o.Count > 0 && !out.CountAtLeast && out.Count == int64(len(out.Rows))
	return out, nil
}

// read reads rows of a table, o.Rows at most.
func (t Sampled) read(ctx context.Context, run runner, behind string, start, rows int64, o sampling.Options) ([][]any,
	error) {
	found, err := run(ctx, "SELECT "+t.hint(start, rows)+t.List+" FROM "+t.From+behind, min(int(rows), o.Rows))
	if err != nil {
		return nil, err
	}
	sampling.Truncate(found.Rows, o.Cut)
	return found.Rows, nil
}

func (t Sampled) hint(start, rows int64) string {
	if t.Hint == nil {
		return ""
	}
	return t.Hint(start, rows)
}

// spread reads rows from all over a table.
func (t Sampled) spread(ctx context.Context, run runner, o sampling.Options, known sampling.Rows,
	total int64) (rows [][]any, err error) {
	if t.Spread != nil {
		rows, err = t.Spread(ctx, known)
		sampling.Truncate(rows, o.Cut)
		return rows, err
	}
	low, high, ok := int64(0), total-1, total > int64(o.Rows)
	if !t.Numbered {
		low, high, ok = keyRange(ctx, run, t)
	}
	if !ok {
		return nil, nil
	}
	for _, p := range spread(low, high, o) {
		behind := fmt.Sprintf(" LIMIT %d OFFSET %d", p.rows, p.low)
		if !t.Numbered {
			behind = p.where(t.Key)
		}
		part, err := t.read(ctx, run, behind, p.low, int64(p.rows), o)
		if err != nil {
			return nil, err
		}
		rows = append(rows, part...)
	}
	return rows, nil
}

// CountRows counts the rows of a table, up to limit. sample is the text after the table.
func (t Sampled) CountRows(
	ctx context.Context, run func(ctx context.Context, sql string, rows int) (*result.Table, error), sample string,
	limit int64,
) (int64, error) {
	text := fmt.Sprintf("SELECT %s%s(*) FROM (SELECT 1 FROM %s%s LIMIT %d) AS n", t.hint(0, 0), cmp.Or(t.Count, "count"),
		t.Counted, sample, limit)
	rows, err := run(ctx, text, 1)
	if err != nil {
		return 0, err
	}
	if len(rows.Rows) == 1 {
		if n, ok := rows.Rows[0][0].(int64); ok {
			return n, nil
		}
	}
	return 0, fmt.Errorf("exec: counting the rows of %s: no number came back", t.Counted)
}

// keyRange returns the smallest and the largest key. ok is false if they are not int64.
func keyRange(ctx context.Context, run runner, t Sampled) (low, high int64, ok bool) {
	if t.Key == "" {
		return 0, 0, false
	}
	// Two queries, because SQLite would read every row for min and max in one.
	rows, err := run(ctx, fmt.Sprintf("SELECT (SELECT min(%[1]s) FROM %[2]s), (SELECT max(%[1]s) FROM %[2]s)", t.Key,
		t.From), 1)
	if err != nil || len(rows.Rows) != 1 {
		return 0, 0, false
	}
	low, lowOK := rows.Rows[0][0].(int64)
	high, highOK := rows.Rows[0][1].(int64)
	return low, high, lowOK && highOK
}

// part is a range of keys, both ends included, and the rows to read from it.
type part struct {
	low, high int64
	rows      int
}

func (p part) where(key string) string {
	return fmt.Sprintf(" WHERE %[1]s BETWEEN %[2]d AND %[3]d ORDER BY %[1]s LIMIT %[4]d", key, p.low, p.high, p.rows)
}

// spread divides the keys from low to high into parts. Each begins at a random place, so that data written in a rhythm
// is not met at the same beat each time. Only the first of many begins at low, the smallest value of most keys.
func spread(low, high int64, o sampling.Options) []part {
	var (
		random = rand.New(rand.NewPCG(o.Seed, 0))
		// The distance of two int64 fits an uint64.
		span  = uint64(high) - uint64(low)
		n     = uint64(min(sampleParts, o.Rows))
		width = span/n + 1
		parts = make([]part, 0, n)
	)
	if n < sampleParts && width > 1 && (span+1)%n > 0 {
		width-- // the last part takes the rest, so that four keys are three parts
	}
	for i := range n {
		offset := i * width
		if offset > span || offset/width != i {
			break
		}
		last := min(offset+width-1, span)
		if last < offset || i == n-1 {
			last = span
		}
		rows := o.Rows / int(n)
		if i < uint64(o.Rows)%n {
			rows++
		}
		start := offset
		if room := last - offset + 1; (i > 0 || n < sampleParts) && room > uint64(rows) {
			start += random.Uint64N(room - uint64(rows) + 1)
		}
		parts = append(parts, part{low: low + int64(start), high: low + int64(last), rows: rows})
	}
	return parts
}
