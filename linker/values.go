package linker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
)

// Values finds the stored values that a question names.
//
// It looks up pieces of the question that look like a value: quoted, in capitals, a capitalised word inside the
// sentence, a number of three digits or more; up to four words. Of over 40 tables it looks into those that the Index puts
// first. Text is looked up in text columns, numbers in numeric
// columns, by equality with a bound parameter, each by one Probe of an exec.Runner. A look-up that fails counts as not
// found; the first failure is in the notes. A table in which a look-up takes over a second is not looked into again,
// and after the third such table the search ends.
//
// The links keep the whole schema and carry the matches, for a prompt to show. With Choose they name what holds a
// match, for a Union with other linkers. Without a DB, and if values may not be used, it finds nothing. Safe for
// concurrent use.
type Values struct {
	Probes int  // look-ups at most; 0 means 200
	Choose bool // link the tables and columns that hold a match, instead of keeping the whole schema
}

// maxSlowTables is how many tables may be too slow before Values gives up.
const maxSlowTables = 3

// Link looks the spans up. It fails only when ctx ends.
func (l Values) Link(ctx context.Context, in Input) (schema.Links, error) {
	links := schema.Links{Whole: !l.Choose}
	if err := in.needs("Values"); err != nil {
		return links, err
	}
	if in.DB == nil || in.WithoutValues {
		return links, ctx.Err()
	}
	runner, err := in.DB.Runner(exec.Bounds{Timeout: time.Second})
	if err != nil {
		return links, err
	}
	defer runner.Close()
	left := cmp.Or(max(l.Probes, 0), 200)
	var failed error
	slow := map[int]bool{} // numbers of tables
	places := in.waves(askedTables)[0].places
search:
	for _, s := range spans(in.Question, in.Schema, places) {
		for _, i := range places {
			t := &in.Schema.Tables[i]
			for j := range t.Columns {
				c := &t.Columns[j]
				value, ok := s.valueFor(c)
				if !ok || c.Sensitive || t.Kind == schema.View || slow[i] {
					continue
				}
				if left == 0 {
					links.Notes = append(links.Notes, "the limit on value look-ups was reached")
					break search
				}
				left--
				found, err := runner.Probe(ctx, t.Schema, t.Name, c.Name, value)
				if cerr := ctx.Err(); cerr != nil {
					return links, cerr
				}
				failed = cmp.Or(failed, err)
				if limit := (*exec.LimitError)(nil); errors.As(err, &limit) && limit.Limit == "time" {
					slow[i] = true
				}
				if len(slow) == maxSlowTables {
					links.Notes = append(links.Notes, fmt.Sprintf("%d tables were too slow to look for values in: no more were tried", len(slow)))
					break search
				}
				if found {
					links = merge(links, schema.Links{Whole: links.Whole, Tables: []schema.TableLink{{
						Schema: t.Schema, Table: t.Name, Columns: []string{c.Name}, Score: 2,
						Values: []schema.ValueMatch{{Column: c.Name, Value: value, Span: s.text}},
					}}})
				}
			}
		}
	}
	if failed != nil {
		links.Notes = append(links.Notes, fmt.Sprintf("some value look-ups failed: %v", failed))
	}
	return links, nil
}
