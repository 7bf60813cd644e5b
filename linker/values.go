package linker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// Values finds the stored values that a question names.
//
// It compares the words of the question with the texts in profiled tables, ignoring case, accents, hyphens and the
// plural. A word that is also the name of a table or a column counts as a text only if it is quoted, or capitalised
// inside the sentence.
//
// It also looks up pieces of the question that look like a value, of up to four words. Such a piece is quoted, in
// capitals, a capitalised word inside the sentence, or a number of three digits or more. With more than 40 tables it
// searches only those that the Index ranks first. Text is looked up in text columns, numbers in numeric columns, by
// equality with a bound parameter. A look-up that fails counts as not found; the first failure is in the notes. If a
// look-up takes over a second, its table is not searched again. After the third such table the search ends.
//
// The links keep the whole schema and have the matches, so that a prompt can show them. With Choose they name only
// the tables and columns with a match, for a Union with other linkers. Without a DB it does not look up values. If
// values may not be used, it finds nothing. Safe for concurrent use.
type Values struct {
	Probes int  // look-ups at most; 0 means 200
	Choose bool // link the tables and columns that hold a match, instead of keeping the whole schema
}

// maxSlowTables is how many tables may be too slow before Values gives up.
const maxSlowTables = 3

// Link finds the values. It fails only when ctx ends.
func (l Values) Link(ctx context.Context, in Input) (schema.Links, error) {
	links := schema.Links{Whole: !l.Choose}
	if err := in.needs("Values"); err != nil {
		return links, err
	}
	if in.WithoutValues {
		return links, ctx.Err()
	}
	places := in.waves(askedTables, askedTables)[0].places
	if in.DB != nil {
		var err error
		if links, err = l.lookUp(ctx, in, places); err != nil {
			return links, err
		}
	}
	for _, v := range in.named(places) {
		if !matches(links, v) {
			table := schema.TableName{Schema: v.Schema, Name: v.Table}
			links = merge(links, l.found(table, v.Column, v.Value, strings.ToLower(v.Value)))
		}
	}
	return links, ctx.Err()
}

// named returns the stored texts that the question names. A single word that is the name of a table or a column means
// the name, unless it is quoted or has a capital inside of the sentence.
func (in Input) named(places []int) []snapshot.Stored {
	names, marked := map[string]bool{}, map[string]bool{}
	part := *in.Schema
	part.Tables = nil
	for _, i := range places {
		t := &in.Schema.Tables[i]
		part.Tables = append(part.Tables, *t)
		names[strings.Join(words.Stems(t.Name), " ")] = true
		for _, c := range t.Columns {
			names[strings.Join(words.Stems(c.Name), " ")] = true
		}
	}
	for _, s := range spans(in.Question, in.Schema, nil) {
		marked[strings.ToLower(s.text)] = true
	}
	return slices.DeleteFunc(in.Snapshot.Words(&part).Named(in.Question), func(v snapshot.Stored) bool {
		return names[strings.Join(words.Stems(v.Value), " ")] && !marked[strings.ToLower(v.Value)]
	})
}

// matches reports whether links have a value already.
func matches(links schema.Links, v snapshot.Stored) bool {
	return slices.ContainsFunc(links.Tables, func(t schema.TableLink) bool {
		return sameTable(t.Schema, t.Table, v.Schema, v.Table) &&
			slices.ContainsFunc(t.Values, func(m schema.ValueMatch) bool {
				return m.Column == v.Column && m.Value == v.Value
			})
	})
}

// found is the link of a value that a column holds.
func (l Values) found(table schema.TableName, column string, value any, span string) schema.Links {
	link := table.Link(column)
	link.Score, link.Values = 2, []schema.ValueMatch{{Column: column, Value: value, Span: span}}
	return schema.Links{Whole: !l.Choose, Tables: []schema.TableLink{link}}
}

// lookUp looks the spans up.
func (l Values) lookUp(ctx context.Context, in Input, places []int) (schema.Links, error) {
	links := schema.Links{Whole: !l.Choose}
	runner, err := in.DB.Runner(exec.Bounds{Timeout: time.Second})
	if err != nil {
		return links, err
	}
	defer runner.Close()
	left := cmp.Or(max(l.Probes, 0), 200)
	var failed error
	slow := map[int]bool{} // numbers of tables
search:
	for _, s := range spans(in.Question, in.Schema, places) {
		for _, i := range places {
			t := &in.Schema.Tables[i]
			for j := range t.Columns {
				c := &t.Columns[j]
				value, ok := s.valueFor(c)
				if !ok || c.Sensitive || t.Kind == "view" || slow[i] {
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
					links.Notes = append(links.Notes, fmt.Sprintf("%d tables were too slow to look for values in: no more were tried",
						len(slow)))
					break search
				}
				if found {
					links = merge(links, l.found(t.TableName(), c.Name, value, s.text))
				}
			}
		}
	}
	if failed != nil {
		links.Notes = append(links.Notes, fmt.Sprintf("some value look-ups failed: %v", failed))
	}
	return links, nil
}
