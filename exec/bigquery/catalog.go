package bigquery

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/bigquery"
	"golang.org/x/sync/errgroup"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// ref names a table.
type ref struct {
	dataset
	name string
}

func (r ref) compare(o ref) int {
	return cmp.Or(strings.Compare(r.project, o.project), strings.Compare(r.dataset.name, o.dataset.name),
		strings.Compare(r.name, o.name))
}

// table is what the API told of a table. It does not change.
type table struct {
	ref
	schema  string // "dataset", or "project.dataset" of another project
	kind    bigquery.TableType
	columns []column
	parts   map[string][]int // folded part of a name: the columns that have it
	query   string           // of a view
	view    *named           // what query names; nil: it is no view, or cannot be read
	refused error            // why it may not be read
	shown   schema.Table     // for prompts
	sum     string           // of all that a guard or a prompt makes of it
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

// fold makes names equal that the service takes for the same.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// schemaName is how schemas and policies call a dataset.
func (c *connector) schemaName(d dataset) string {
	if d.project == c.client.Project() {
		return d.name
	}
	return d.project + "." + d.name
}

// table reads what the API told.
func (s *store) table(c *connector, r ref, m *bigquery.TableMetadata) *table {
	t := &table{ref: r, schema: c.schemaName(r.dataset), kind: m.Type, parts: map[string][]int{}, query: m.ViewQuery}
	t.columns = columnsOf(m.Schema, nil, false)
	for i, column := range t.columns {
		for _, part := range column.path {
			t.parts[fold(part)] = append(t.parts[fold(part)], i)
		}
	}
	if m.MaterializedView != nil {
		t.query = m.MaterializedView.Query
	}
	switch m.Type {
	case bigquery.RegularTable, bigquery.ExternalTable, bigquery.Snapshot:
	case bigquery.ViewTable, bigquery.MaterializedView:
		var err error
		if t.view, err = viewOf(t.query, m.UseLegacySQL, s.added); err != nil {
			t.refused = guard.Refuse("table", "the view %s may not be read: %v", t.name, err)
		}
	default:
		t.refused = guard.Refuse("table", "%s is a %s", t.name, m.Type)
	}
	if len(t.columns) == 0 && s.strict {
		t.refused = guard.Refuse("table", "the service does not tell the columns of %s", t.name)
	}
	t.shown = c.shown(t, m)
	text, _ := json.Marshal([]any{t.shown, t.kind, t.query, m.UseLegacySQL}) // nothing in it has no JSON
	t.sum = fmt.Sprintf("%x", sha256.Sum256(text))
	return t
}

// viewOf reads the text of a view as a statement.
func viewOf(text string, legacy bool, added map[string]bool) (*named, error) {
	switch {
	case text == "":
		return nil, errors.New("its text is not shown to this account")
	case legacy:
		return nil, errors.New("it is written in legacy SQL")
	}
	s, err := Dialect{}.Language().Text.Check(text)
	if err != nil {
		return nil, err
	}
	return read(s, added, false)
}

// shown writes a table as a schema has it. What partitions and clusters it stands in its description. BigQuery knows
// keys, which it does not enforce, and no unique constraints.
func (c *connector) shown(t *table, m *bigquery.TableMetadata) schema.Table {
	out := schema.Table{Name: t.name, Kind: "table", Columns: []schema.Column{}}
	if t.dataset != c.datasets[0] {
		out.Schema = t.schema
	}
	if m.Type == bigquery.ViewTable || m.Type == bigquery.MaterializedView {
		out.Kind = "view"
	}
	for _, col := range t.columns {
		out.Columns = append(out.Columns, schema.Column{
			Name: col.name, Type: typeName(col.field), NotNull: !col.null && !col.field.Repeated,
			Default: col.field.DefaultValueExpression, Description: described(col.field),
		})
	}
	if k := m.TableConstraints; k != nil {
		if k.PrimaryKey != nil {
			out.PrimaryKey = k.PrimaryKey.Columns
		}
		for _, f := range k.ForeignKeys {
			to := dataset{f.ReferencedTable.ProjectID, f.ReferencedTable.DatasetID}
			key := schema.ForeignKey{RefTable: f.ReferencedTable.TableID}
			if to != t.dataset {
				key.RefSchema = c.schemaName(to)
			}
			for _, r := range f.ColumnReferences {
				key.Columns = append(key.Columns, r.ReferencingColumn)
				key.RefColumns = append(key.RefColumns, r.ReferencedColumn)
			}
			out.ForeignKeys = append(out.ForeignKeys, key)
		}
	}
	parts := []string{m.Description, partitioned(m)}
	if m.Clustering != nil && len(m.Clustering.Fields) > 0 {
		parts = append(parts, "Clustered by "+strings.Join(m.Clustering.Fields, ", ")+".")
	}
	out.Description = joined(parts, " ")
	return out
}

// partitioned tells what makes a statement on a table cheap.
func partitioned(m *bigquery.TableMetadata) string {
	by, need := "", "."
	switch {
	case m.TimePartitioning != nil:
		by = "_PARTITIONTIME"
		if m.TimePartitioning.Field != "" {
			by = m.TimePartitioning.Field
		}
		by += " (" + strings.ToLower(string(m.TimePartitioning.Type)) + ")"
	case m.RangePartitioning != nil:
		by = m.RangePartitioning.Field
	}
	if m.RequirePartitionFilter {
		need = ", and a filter on that is required."
	}
	if by == "" {
		return ""
	}
	return "Partitioned by " + by + need
}

// described is the description of a field, and of those in a repeated record.
func described(f *bigquery.FieldSchema) string {
	parts := []string{f.Description}
	if f.Repeated && f.Type == bigquery.RecordFieldType {
		for _, field := range f.Schema {
			if text := described(field); text != "" {
				parts = append(parts, field.Name+": "+text)
			}
		}
	}
	return joined(parts, "; ")
}

func joined(parts []string, by string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), by)
}

// store keeps what was learnt of the tables for one DB.
type store struct {
	added  map[string]bool // functions of the policy
	strict bool            // the policy denies columns

	mu    sync.Mutex
	known map[ref]seen
	asked time.Time // when known had all tables
	round time.Time // when a look at all tables began that is not over; zero: there is none
	all   *snapshot // of known; nil where it changed
}

type seen struct {
	*table
	asked time.Time
}

// snapshot is all tables at a time, sorted.
type snapshot struct {
	version string
	all     []*table
}

const (
	strictAge = time.Second // how old a table of a statement may be where a policy denies columns
	roundAge  = time.Minute // how long a look that was broken off may be continued, or Config.Refresh
)

// current returns all tables. Those of the suspects are looked at again, and all where that was longer ago than
// Config.Refresh: a table takes one request, which is free.
func (s *store) current(ctx context.Context, c *connector, suspects []ref) (*snapshot, error) {
	s.mu.Lock()
	now := time.Now()
	since, whole := now.Add(-strictAge), now.Sub(s.asked) >= c.config.Refresh
	if whole {
		if s.round.IsZero() || now.Sub(s.round) > max(roundAge, c.config.Refresh) {
			s.round = now
		}
		since = s.round
	}
	s.mu.Unlock()
	if whole {
		var err error
		if suspects, err = c.names(ctx); err != nil {
			return nil, err
		}
	}
	if _, err := s.look(ctx, c, suspects, since); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if whole {
		there := map[ref]bool{}
		for _, r := range suspects {
			there[r] = true
		}
		maps.DeleteFunc(s.known, func(r ref, _ seen) bool { return !there[r] })
		s.asked, s.round, s.all = since, time.Time{}, nil
	}
	if s.all == nil {
		s.all = newSnapshot(slices.Collect(maps.Values(s.known)))
	}
	return s.all, nil
}

func newSnapshot(tables []seen) *snapshot {
	slices.SortFunc(tables, func(a, b seen) int {
		return cmp.Or(strings.Compare(a.schema, b.schema), strings.Compare(a.name, b.name))
	})
	out, sum := &snapshot{}, sha256.New()
	for _, t := range tables {
		out.all = append(out.all, t.table)
		sum.Write([]byte(t.sum))
	}
	out.version = fmt.Sprintf("%.16x", sum.Sum(nil))
	return out
}

// names lists the tables of all datasets.
func (c *connector) names(ctx context.Context) (refs []ref, err error) {
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
	return refs, nil
}

// look gets tables, some at the same time: the service allows 100 requests a second. Those that were asked for since a
// time are not asked for again. One that is not there, or that the account may not see, is nil.
func (s *store) look(ctx context.Context, c *connector, refs []ref, since time.Time) ([]*table, error) {
	found := make([]*table, len(refs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i, r := range refs {
		group.Go(func() (err error) {
			found[i], err = s.get(ctx, c, r, since)
			return err
		})
	}
	return found, group.Wait()
}

func (s *store) get(ctx context.Context, c *connector, r ref, since time.Time) (*table, error) {
	s.mu.Lock()
	old, ok := s.known[r]
	s.mu.Unlock()
	if ok && !old.asked.Before(since) {
		return old.table, nil
	}
	asked := time.Now()
	in := c.client.DatasetInProject(r.project, r.dataset.name)
	meta, err := in.Table(r.name).Metadata(ctx, bigquery.WithMetadataView(bigquery.BasicMetadataView))
	var answer *googleapi.Error
	if errors.As(err, &answer) &&
		(answer.Code == http.StatusNotFound || answer.Code == http.StatusForbidden && reasonOf(answer) == "accessDenied") {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.known, r)
		s.all = nil
		return nil, nil
	}
	if err != nil {
		return nil, unblamed(err)
	}
	t := s.table(c, r, meta)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[r] = (seen{t, asked}); !ok || old.sum != t.sum {
		s.all = nil
	}
	return t, nil
}
