// Package ossie reads semantic models of Apache Ossie (before: OSI, Open Semantic Interchange), as JSON. Package
// knowledge/yaml converts YAML into JSON.
//
//	m, err := ossie.Read(file)
//
// Datasets become tables, fields become columns, and primary_key and unique_keys become keys. A relationship keeps
// its name, so a request can choose it. If an expression has several dialects, the reader takes ANSI_SQL, otherwise
// the first. Other dialects and custom extensions have a line in Lost. If [knowledge.Model] cannot compile a metric,
// Unsupported has the reason.
package ossie

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/knowledge"
)

type file struct {
	Models   []model         `json:"semantic_model"`
	Ontology json.RawMessage `json:"ontology"`
}

type model struct {
	Name          string
	Context       context `json:"ai_context"`
	Datasets      []dataset
	Relationships []struct {
		Name, From, To string
		FromColumns    []string `json:"from_columns"`
		ToColumns      []string `json:"to_columns"`
	}
	Metrics    []metric
	Extensions []struct {
		Vendor string `json:"vendor_name"`
	} `json:"custom_extensions"`
}

type dataset struct {
	Name, Source, Description string
	PrimaryKey                []string   `json:"primary_key"`
	UniqueKeys                [][]string `json:"unique_keys"`
	Context                   context    `json:"ai_context"`
	Fields                    []field
}

type field struct {
	Name, Description, Label string
	Expression               expression
	Context                  context `json:"ai_context"`
	Dimension                *struct {
		IsTime bool `json:"is_time"`
	}
}

type metric struct {
	Name, Description string
	Expression        expression
	Context           context `json:"ai_context"`
}

type expression struct {
	Dialects []struct{ Dialect, Expression string }
}

// context is what a file says for a model: an object, or a text.
type context struct {
	Instructions string
	Synonyms     []string
}

// UnmarshalJSON reads either form.
func (c *context) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &c.Instructions)
	}
	type plain context
	return json.Unmarshal(data, (*plain)(c))
}

// Read reads a file of semantic models. All models of one file become one model.
func Read(in io.Reader) (knowledge.Model, error) {
	var f file
	if err := knowledge.Decode("ossie", in, &f); err != nil {
		return knowledge.Model{}, err
	}
	if len(f.Models) == 0 {
		problem := "the file has no semantic_model"
		if f.Ontology != nil {
			problem = "the file is an ontology, which has no tables and metrics: a file with semantic_model is needed"
		}
		return knowledge.Model{}, &fileerr.Knowledge{Format: "ossie", Problem: problem}
	}
	var r reader
	for i := range f.Models {
		r.model(&f.Models[i])
	}
	return r.out.Settled(), nil
}

type reader struct{ out knowledge.Model }

func (r *reader) lose(format string, args ...any) {
	r.out.Lost = append(r.out.Lost, fmt.Sprintf(format, args...))
}

func (r *reader) model(m *model) {
	r.instructions("", m.Context)
	for i := range m.Datasets {
		r.table(&m.Datasets[i])
	}
	for _, rel := range m.Relationships {
		out := knowledge.Relationship{Name: rel.Name, From: rel.From, To: rel.To}
		if len(rel.FromColumns) != len(rel.ToColumns) {
			r.lose("relationship %s: it has %d columns on one side and %d on the other", rel.Name, len(rel.FromColumns),
				len(rel.ToColumns))
			continue
		}
		for i, column := range rel.FromColumns {
			out.On = append(out.On, [2]string{column, rel.ToColumns[i]})
		}
		r.out.Relationships = append(r.out.Relationships, out)
	}
	for i := range m.Metrics {
		r.metric(m, &m.Metrics[i])
	}
	for _, x := range m.Extensions {
		r.lose("model %s: the extension of %s", m.Name, x.Vendor)
	}
}

// instructions stores the instructions about a thing.
func (r *reader) instructions(of string, c context) {
	if c.Instructions != "" {
		r.out.Instructions = append(r.out.Instructions, of+c.Instructions)
	}
}

func (r *reader) table(d *dataset) {
	t := knowledge.Table{Name: d.Name, Subject: knowledge.Subject{Description: d.Description,
		Synonyms: d.Context.Synonyms}}
	if d.Source != d.Name {
		t.Source = d.Source
	}
	r.instructions(d.Name+": ", d.Context)
	if len(d.PrimaryKey) > 0 {
		t.Keys = append(t.Keys, d.PrimaryKey)
	}
	for _, key := range d.UniqueKeys {
		if !slices.ContainsFunc(t.Keys, func(k []string) bool { return slices.Equal(k, key) }) {
			t.Keys = append(t.Keys, key)
		}
	}
	for _, f := range d.Fields {
		c := knowledge.Column{Name: f.Name, Subject: knowledge.Subject{Description: f.Description,
			Synonyms: f.Context.Synonyms}}
		if f.Label != "" && f.Label != f.Name {
			c.Synonyms = append(slices.Clip(c.Synonyms), f.Label)
		}
		r.instructions(d.Name+"."+f.Name+": ", f.Context)
		if expr := r.expression("field "+d.Name+"."+f.Name, f.Expression); expr != f.Name {
			c.Expr = expr
		}
		if f.Dimension != nil && f.Dimension.IsTime && t.Time == "" {
			t.Time = f.Name
		}
		t.Columns = append(t.Columns, c)
	}
	r.out.Tables = append(r.out.Tables, t)
}

// expression takes one of the dialects.
func (r *reader) expression(of string, e expression) string {
	taken := 0
	for i, d := range e.Dialects {
		if d.Dialect == "ANSI_SQL" {
			taken = i
		}
	}
	if len(e.Dialects) == 0 {
		return ""
	}
	for i, d := range e.Dialects {
		if i != taken {
			r.lose("%s: its expression in %s", of, d.Dialect)
		}
	}
	return strings.TrimSpace(e.Dialects[taken].Expression)
}

func (r *reader) metric(m *model, x *metric) {
	out := knowledge.Metric{Name: x.Name, Subject: knowledge.Subject{Description: x.Description,
		Synonyms: x.Context.Synonyms}}
	r.instructions("metric "+x.Name+": ", x.Context)
	out.Expr = r.expression("metric "+x.Name, x.Expression)
	if len(m.Datasets) == 1 { // columns need no qualifier then
		if expr, err := knowledge.Qualified(m.Datasets[0].Name, out.Expr); err == nil {
			out.Expr = expr
		}
	}
	r.out.Metrics = append(r.out.Metrics, out)
}
