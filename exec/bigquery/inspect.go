package bigquery

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"cloud.google.com/go/bigquery"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/schema"
)

// heldBy is the connection that the catalog is read with.
func heldBy(q bridge.Queryer) (*held, error) {
	h, ok := q.(*held)
	if !ok {
		return nil, &exec.UnguardedError{
			Reason: fmt.Sprintf("the catalog is read by a %T", q), Remedy: "read the schema by exec.DB.Schema on a pool of bigquery.Open",
		}
	}
	return h, nil
}

// DefaultSchema returns the default dataset, with its project where that is not the client's.
func (Dialect) DefaultSchema(_ context.Context, q bridge.Queryer) (string, error) {
	h, err := heldBy(q)
	if err != nil {
		return "", err
	}
	return h.service.schemaName(h.service.datasets[0]), nil
}

// Version returns a hash of what the datasets have, rows aside. Within Config.Refresh it asks for nothing, and then for
// each table once, which costs no money: a table takes one request, and the answers of 16 are waited for at once.
func (Dialect) Version(ctx context.Context, q bridge.Queryer) (string, error) {
	h, err := heldBy(q)
	if err != nil {
		return "", err
	}
	tables, err := h.guard.snapshot(ctx, h.service)
	if err != nil {
		return "", unblamed(err)
	}
	sum := sha256.New()
	e := json.NewEncoder(sum)
	for _, t := range tables {
		if err := e.Encode([]any{h.service.schemaOf(t), t.meta.Type, t.meta.ViewQuery}); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%.16x", sum.Sum(nil)), nil
}

// Inspect reads tables, views and columns out of what the API told. It asks for nothing that Version asked for.
//
// A field of a record is a column of its own, "address.city". A record that is repeated is one column, whose description
// names its fields. What partitions and clusters a table stands in the description of the table. BigQuery knows keys,
// which it does not enforce, and no unique constraints.
func (Dialect) Inspect(ctx context.Context, q bridge.Queryer) (*schema.Schema, error) {
	h, err := heldBy(q)
	if err != nil {
		return nil, err
	}
	tables, err := h.guard.snapshot(ctx, h.service)
	if err != nil {
		return nil, unblamed(err)
	}
	s := &schema.Schema{Dialect: Dialect{}.Name(), Tables: make([]schema.Table, 0, len(tables))}
	for _, t := range tables {
		s.Tables = append(s.Tables, h.service.schemaOf(t))
	}
	return s, nil
}

// schemaOf writes a table as a schema has it.
func (c *connector) schemaOf(t *table) schema.Table {
	out := schema.Table{Name: t.name, Kind: schema.BaseTable, Columns: []schema.Column{}}
	if t.dataset != c.datasets[0] {
		out.Schema = t.schema
	}
	if t.meta.Type == bigquery.ViewTable || t.meta.Type == bigquery.MaterializedView {
		out.Kind = schema.View
	}
	for _, col := range t.columns {
		out.Columns = append(out.Columns, schema.Column{
			Name: col.name, Type: typeName(col.field), NotNull: !col.null && !col.field.Repeated,
			Default: col.field.DefaultValueExpression, Description: described(col.field),
		})
	}
	if k := t.meta.TableConstraints; k != nil {
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
				key.Columns, key.RefColumns = append(key.Columns, r.ReferencingColumn), append(key.RefColumns, r.ReferencedColumn)
			}
			out.ForeignKeys = append(out.ForeignKeys, key)
		}
	}
	out.Description = strings.Join(append(nonempty(t.meta.Description), layout(t.meta)...), " ")
	return out
}

// described is the description of a field, and of those in a repeated record.
func described(f *bigquery.FieldSchema) string {
	parts := nonempty(f.Description)
	if f.Repeated && f.Type == bigquery.RecordFieldType {
		for _, field := range f.Schema {
			if text := described(field); text != "" {
				parts = append(parts, field.Name+": "+text)
			}
		}
	}
	return strings.Join(parts, "; ")
}

func nonempty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// layout tells what makes a statement on a table cheap.
func layout(m *bigquery.TableMetadata) (out []string) {
	by, need := "", ""
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
		need = ", and a filter on that is required"
	}
	if by != "" {
		out = append(out, "Partitioned by "+by+need+".")
	}
	if m.Clustering != nil && len(m.Clustering.Fields) > 0 {
		out = append(out, "Clustered by "+strings.Join(m.Clustering.Fields, ", ")+".")
	}
	return out
}
