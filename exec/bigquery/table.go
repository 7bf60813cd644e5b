package bigquery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"
	"golang.org/x/sync/errgroup"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/reads"
	"github.com/texttosql/texttosql/schema"
)

// ref names a table.
type ref struct {
	dataset
	name string
}

// table is what the API told of a table, and what a policy makes of it. It does not change.
type table struct {
	ref
	schema  string // as schema.Table has it: "dataset", or "project.dataset" of another project
	meta    *bigquery.TableMetadata
	asked   time.Time
	columns []column
	allowed bool
	reads   *reads.Relation
	view    *named // what a view names; nil for a table
	refused error  // why a view may not be read
}

// column is a column as a schema has it: a field that is no record, or repeated.
type column struct {
	name  string // "address.city" in a record
	path  []string
	field *bigquery.FieldSchema
	null  bool
}

// columnsOf writes out the fields of records that are not repeated.
func columnsOf(s bigquery.Schema, before []string, null bool) (out []column) {
	for _, f := range s {
		c := column{path: append(slices.Clip(before), f.Name), field: f, null: null || !f.Required}
		c.name = strings.Join(c.path, ".")
		if f.Type == bigquery.RecordFieldType && !f.Repeated {
			out = append(out, columnsOf(f.Schema, c.path, c.null)...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// schemaName is how schemas and policies call a dataset.
func (c *connector) schemaName(d dataset) string {
	if d.project == c.client.Project() {
		return d.name
	}
	return d.project + "." + d.name
}

// resolve makes the table of a name of a statement. ok is false where no dataset of the Config can have it.
func (c *connector) resolve(names []string) (r ref, ok bool) {
	n := len(names)
	r = ref{c.datasets[0], names[n-1]}
	switch {
	case n == 2:
		r.dataset = dataset{c.client.Project(), names[0]}
	case n > 2:
		r.dataset = dataset{strings.Join(names[:n-2], "."), names[n-2]}
	}
	return r, slices.Contains(c.datasets, r.dataset) && r.name != ""
}

// get returns a table that was asked for less than age ago, or asks for it. A table that is not there, or that the
// account may not see, is nil.
func (g *guard) get(ctx context.Context, c *connector, r ref, age time.Duration) (*table, error) {
	g.mu.Lock()
	old := g.tables[r]
	g.mu.Unlock()
	if old != nil && time.Since(old.asked) < age {
		return old, nil
	}
	start := time.Now()
	meta, err := c.client.DatasetInProject(r.project, r.dataset.name).Table(r.name).Metadata(ctx, bigquery.WithMetadataView(bigquery.BasicMetadataView))
	var answer *googleapi.Error
	switch {
	case errors.As(err, &answer) && (answer.Code == http.StatusNotFound || answer.Code == http.StatusForbidden && reasonOf(answer) == "accessDenied"):
		g.mu.Lock()
		delete(g.tables, r)
		g.mu.Unlock()
		return nil, nil
	case err != nil:
		return nil, err
	}
	t := &table{ref: r, schema: c.schemaName(r.dataset)}
	if old != nil && old.meta.ETag != "" && old.meta.ETag == meta.ETag && old.meta.LastModifiedTime.Equal(meta.LastModifiedTime) {
		*t = *old
	} else {
		t.fill(meta, g)
	}
	t.asked = start
	g.mu.Lock()
	g.tables[r] = t
	g.mu.Unlock()
	return t, nil
}

// fill reads what the API told.
func (t *table) fill(meta *bigquery.TableMetadata, g *guard) {
	t.meta, t.columns = meta, columnsOf(meta.Schema, nil, false)
	p := g.config.Policy
	t.allowed = p.AllowsTable(t.schema, t.name)
	parts := map[string]bool{} // part of a column's name: whether it may not be read
	for _, c := range t.columns {
		denied := !p.AllowsColumn(t.schema, t.name, c.name)
		for _, part := range c.path {
			parts[schema.Fold(part)] = parts[schema.Fold(part)] || denied
		}
	}
	var all []string
	for part := range parts {
		all = append(all, part)
	}
	t.reads = reads.NewRelation(t.schema, t.name, all, func(name string) bool { return parts[name] })
	text, legacy := meta.ViewQuery, meta.ViewQuery != "" && meta.UseLegacySQL
	if meta.MaterializedView != nil {
		text = meta.MaterializedView.Query
	}
	if len(t.columns) == 0 && len(p.DenyColumns) > 0 {
		t.refused = &exec.RefusedError{Reason: exec.ReasonTable, Detail: "the service does not tell the columns of " + t.name}
		return
	}
	switch meta.Type {
	case bigquery.RegularTable, bigquery.ExternalTable, bigquery.Snapshot:
	case bigquery.ViewTable, bigquery.MaterializedView:
		t.view, t.refused = g.viewOf(t, text, legacy)
	default:
		t.refused = &exec.RefusedError{Reason: exec.ReasonTable, Detail: fmt.Sprintf("%s is a %s", t.name, meta.Type)}
	}
}

// viewOf reads the text of a view as a statement.
func (g *guard) viewOf(t *table, text string, legacy bool) (*named, error) {
	refused := func(why string) error {
		return &exec.RefusedError{Reason: exec.ReasonTable, Detail: fmt.Sprintf("the view %s may not be read: %s", t.name, why)}
	}
	if legacy {
		return nil, refused("it is written in legacy SQL")
	}
	if text == "" {
		return nil, refused("its text is not shown to this account")
	}
	s, err := Dialect{}.Text().Check(text)
	if err != nil {
		return nil, refused(err.Error())
	}
	n, err := read(s, g.added, false)
	if err != nil {
		return nil, refused(err.Error())
	}
	return n, nil
}

// all lists the tables of all datasets, sorted. It asks for those that are older than age.
func (g *guard) all(ctx context.Context, c *connector, age time.Duration) ([]*table, error) {
	var refs []ref
	for _, d := range c.datasets {
		it := c.client.DatasetInProject(d.project, d.name).Tables(ctx)
		it.PageInfo().MaxSize = 1000
		for {
			t, err := it.Next()
			if errors.Is(err, iterator.Done) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("bigquery: listing the tables of %s: %w", c.schemaName(d), err)
			}
			refs = append(refs, ref{d, t.TableID})
		}
	}
	found, err := g.each(ctx, c, refs, age)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(t *table) bool { return t == nil })
	slices.SortFunc(found, func(a, b *table) int {
		if a.schema != b.schema {
			return strings.Compare(a.schema, b.schema)
		}
		return strings.Compare(a.name, b.name)
	})
	return slices.CompactFunc(found, func(a, b *table) bool { return a.ref == b.ref }), nil
}

// each gets tables, some at the same time: the service allows 100 requests a second.
func (g *guard) each(ctx context.Context, c *connector, refs []ref, age time.Duration) ([]*table, error) {
	found := make([]*table, len(refs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i, r := range refs {
		group.Go(func() (err error) {
			found[i], err = g.get(ctx, c, r, age)
			return err
		})
	}
	return found, group.Wait()
}
