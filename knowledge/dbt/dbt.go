// Package dbt reads the semantic manifest of dbt, which "dbt parse" writes to target/semantic_manifest.json.
//
//	m, err := dbt.Read(file)
//
// A semantic model becomes a table. Its primary and unique entities are keys. Its foreign entities are relationships
// to every table that has the entity as a key; two tables with one primary entity are one to one. Dimensions become
// columns. Measures and simple metrics become aggregates; ratio and derived metrics become {name}. Source is schema
// and alias, without the name of the database.
//
// If a [knowledge.Model] cannot express a metric, Unsupported has the reason. Examples are cumulative and conversion
// metrics, offsets, percentiles and medians, measures that are not additive, filters of a part, and joins to the time
// spine. Validity and saved queries have a line in Lost.
package dbt

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/knowledge"
)

type manifest struct {
	Models  []semanticModel         `json:"semantic_models"`
	Metrics []metric                `json:"metrics"`
	Saved   []struct{ Name string } `json:"saved_queries"`
}

type semanticModel struct {
	Name, Description string
	PrimaryEntity     string `json:"primary_entity"`
	Relation          struct {
		Alias  string
		Schema string `json:"schema_name"`
	} `json:"node_relation"`
	Defaults *struct {
		Time string `json:"agg_time_dimension"`
	}
	Entities   []entity
	Dimensions []dimension
	Measures   []measure
}

type entity struct{ Name, Type, Expr string }

// isKey reports whether no two rows share the entity.
func (e *entity) isKey() bool { return e.Type == "primary" || e.Type == "unique" }

type dimension struct {
	Name, Description, Expr string
	Params                  *struct {
		Grain    string `json:"time_granularity"`
		Validity any    `json:"validity_params"`
	} `json:"type_params"`
}

type measure struct {
	Name, Agg, Expr string
	NonAdditive     any `json:"non_additive_dimension"`
}

type metric struct {
	Name, Description, Label, Type string
	Params                         struct {
		Measure                *input
		Numerator, Denominator *input
		Expr                   string
		Metrics                []input
	} `json:"type_params"`
	Filter filter
}

// input is a measure or a metric as a part of a metric.
type input struct {
	Name, Alias string
	Filter      filter
	Window      any      `json:"offset_window"`
	ToGrain     any      `json:"offset_to_grain"`
	TimeSpine   bool     `json:"join_to_timespine"`
	Fill        *float64 `json:"fill_nulls_with"`
}

type filter struct {
	Filters []struct {
		SQL string `json:"where_sql_template"`
	} `json:"where_filters"`
}

// Read reads a semantic manifest.
func Read(in io.Reader) (knowledge.Model, error) {
	var r reader
	if err := knowledge.Decode("dbt", in, &r.file); err != nil {
		return knowledge.Model{}, err
	}
	if r.file.Models == nil {
		return knowledge.Model{},
			&fileerr.Knowledge{Format: "dbt", Problem: "the file has no semantic_models: target/semantic_manifest.json has"}
	}
	for i := range r.file.Models {
		r.table(&r.file.Models[i])
	}
	r.relationships()
	for i := range r.file.Metrics {
		r.metric(&r.file.Metrics[i])
	}
	for _, s := range r.file.Saved {
		r.out.Lost = append(r.out.Lost, "saved query "+s.Name)
	}
	return r.out.Settled(), nil
}

type reader struct {
	file manifest
	out  knowledge.Model
}

// table adds a semantic model; its table has the index of the model.
func (r *reader) table(m *semanticModel) {
	t := knowledge.Table{Name: m.Name, Subject: knowledge.Subject{Description: m.Description}}
	if source := strings.Trim(m.Relation.Schema+"."+m.Relation.Alias, "."); source != m.Name {
		t.Source = source
	}
	for _, d := range m.Dimensions {
		c := knowledge.Column{Name: d.Name, Expr: d.Expr, Subject: knowledge.Subject{Description: d.Description}}
		if strings.EqualFold(c.Expr, c.Name) {
			c.Name, c.Expr = cmp.Or(d.Expr, d.Name), ""
		}
		t.Columns = append(t.Columns, c)
		if d.Params != nil && d.Params.Validity != nil {
			r.out.Lost = append(r.out.Lost, fmt.Sprintf("table %s: the validity that %s tells", m.Name, d.Name))
		}
	}
	for _, e := range m.Entities {
		if !e.isColumn() {
			t.Columns = append(t.Columns, knowledge.Column{Name: e.Name, Expr: e.Expr})
		}
		if e.isKey() {
			t.Keys = append(t.Keys, []string{e.column()})
		} else if e.Type == "natural" {
			r.out.Lost = append(r.out.Lost, fmt.Sprintf("table %s: the natural entity %s is not a key", m.Name, e.Name))
		}
	}
	if m.Defaults != nil {
		t.Time = m.Defaults.Time
	}
	r.out.Tables = append(r.out.Tables, t)
}

func (e *entity) expr() string { return cmp.Or(e.Expr, e.Name) }

// column is the column that holds an entity.
func (e *entity) column() string {
	if e.isColumn() {
		return e.expr()
	}
	return e.Name
}

// isColumn reports whether the entity is a column, and no expression of others.
func (e *entity) isColumn() bool {
	columns := knowledge.Column{Expr: e.expr()}.Reads()
	return len(columns) == 1 && columns[0] == e.expr()
}

// relationships adds the ways between models that share an entity.
func (r *reader) relationships() {
	for i, from := range r.file.Models {
		for _, e := range from.Entities {
			for j, to := range r.file.Models {
				k := slices.IndexFunc(to.Entities, func(x entity) bool { return x.Name == e.Name && x.isKey() })
				if i == j || k < 0 || e.Type == "natural" || e.isKey() && j < i { // one to one: once
					continue
				}
				r.relationship(e.Name, knowledge.Relationship{
					From: from.Name, To: to.Name, On: [][2]string{{e.column(), to.Entities[k].column()}},
				})
			}
		}
	}
}

// relationship adds a way. Where it is not the first between its tables, the entity is its name, if nothing has that
// name.
func (r *reader) relationship(entity string, x knowledge.Relationship) {
	second, taken := false, false
	for _, other := range r.out.Relationships {
		second = second || other.From == x.From && other.To == x.To
		taken = taken || other.Name == entity
	}
	for _, t := range r.out.Tables {
		taken = taken || t.Name == entity
	}
	if second && !taken {
		x.Name = entity
	}
	r.out.Relationships = append(r.out.Relationships, x)
}
