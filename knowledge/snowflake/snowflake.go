// Package snowflake reads semantic views and semantic models of Snowflake (Cortex Analyst), as JSON. A YAML text
// becomes JSON by knowledge/yaml.
//
//	m, err := snowflake.Read(file)
//
// Logical tables become tables; Source is schema and table, without the database. Dimensions, time dimensions, facts
// and measures become columns; a measure with a default aggregation is a metric, too. Metrics of tables and of the
// model become metrics, filters become terms, and verified queries keep their SQL, which names the logical columns. A
// relationship that is neither many to one nor one to one, and search services, have a line in Lost.
package snowflake

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/knowledge"
)

type file struct {
	Tables        []table
	Relationships []relationship
	Metrics       []field
	Verified      []verified `json:"verified_queries"`
	Instructions  string     `json:"custom_instructions"`
	Modules       struct {
		SQL        string `json:"sql_generation"`
		Categories string `json:"question_categorization"`
	} `json:"module_custom_instructions"`
}

type table struct {
	Name, Description string
	Synonyms          []string
	Base              struct{ Schema, Table, Definition string } `json:"base_table"`
	PrimaryKey        columns                                    `json:"primary_key"`
	UniqueKeys        []columns                                  `json:"unique_keys"`
	Dimensions        []field
	Times             []field `json:"time_dimensions"`
	Facts, Measures   []field
	Metrics, Filters  []field
}

type columns struct{ Columns []string }

type field struct {
	Name, Expr, Description string
	Synonyms                []string
	Samples                 []any  `json:"sample_values"`
	Aggregation             string `json:"default_aggregation"`
	Search                  string `json:"cortex_search_service_name"`
	Service                 any    `json:"cortex_search_service"`
}

type relationship struct {
	Name  string
	Left  string `json:"left_table"`
	Right string `json:"right_table"`
	On    []struct {
		Left  string `json:"left_column"`
		Right string `json:"right_column"`
	} `json:"relationship_columns"`
	Type string `json:"relationship_type"`
}

type verified struct {
	Name, Question, SQL string
	By                  string `json:"verified_by"`
	At                  any    `json:"verified_at"`
}

// Read reads a semantic model.
func Read(in io.Reader) (knowledge.Model, error) {
	var f file
	if err := knowledge.Decode("snowflake", in, &f); err != nil {
		return knowledge.Model{}, err
	}
	if f.Tables == nil {
		return knowledge.Model{},
			&fileerr.Knowledge{Format: "snowflake", Problem: "the file has no tables: a semantic model has"}
	}
	var r reader
	for i := range f.Tables {
		r.table(&f.Tables[i])
	}
	for i := range f.Relationships {
		r.relationship(&f.Relationships[i])
	}
	for _, list := range append(f.metrics(), f.Metrics) {
		for _, m := range list {
			r.named = append(r.named, m.Name)
		}
	}
	for i := range f.Tables {
		r.metrics(&f.Tables[i])
	}
	for _, m := range f.Metrics {
		r.metric("", m, m.Expr)
	}
	for _, v := range f.Verified {
		r.out.VerifiedQueries = append(r.out.VerifiedQueries, knowledge.VerifiedQuery{
			Name: v.Name, Question: v.Question, SQL: strings.TrimSuffix(strings.TrimSpace(v.SQL), ";"),
			VerifiedBy: v.By, VerifiedAt: moment(v.At), Logical: true,
		})
	}
	for _, text := range []string{f.Instructions, f.Modules.SQL, f.Modules.Categories} {
		if text != "" {
			r.out.Instructions = append(r.out.Instructions, text)
		}
	}
	return r.out.Settled(), nil
}

// moment writes the seconds since 1970, or whatever stands there.
func moment(at any) string {
	switch at := at.(type) {
	case float64:
		return time.Unix(int64(at), 0).UTC().Format(time.DateOnly)
	case string:
		return at
	}
	return ""
}

// metrics are those of the tables.
func (f *file) metrics() (lists [][]field) {
	for _, t := range f.Tables {
		lists = append(lists, t.Metrics)
	}
	return lists
}

type reader struct {
	out   knowledge.Model
	named []string // the metrics of the file
}

func (r *reader) lose(format string, args ...any) {
	r.out.Lost = append(r.out.Lost, fmt.Sprintf(format, args...))
}

func (r *reader) table(s *table) {
	t := knowledge.Table{Name: s.Name, Subject: knowledge.Subject{Description: s.Description, Synonyms: s.Synonyms}}
	if source := cmp.Or(s.Base.Definition, strings.Trim(s.Base.Schema+"."+s.Base.Table, ".")); source != s.Name {
		t.Source = source
	}
	for _, key := range append([]columns{s.PrimaryKey}, s.UniqueKeys...) {
		if len(key.Columns) > 0 && !slices.ContainsFunc(t.Keys, func(k []string) bool {
			return slices.Equal(k, key.Columns)
		}) {
			t.Keys = append(t.Keys, key.Columns)
		}
	}
	for _, list := range [][]field{s.Dimensions, s.Times, s.Facts, s.Measures} {
		for _, f := range list {
			c := knowledge.Column{Name: f.Name, Subject: knowledge.Subject{Description: f.Description, Synonyms: f.Synonyms}}
			if f.Expr != "" && !strings.EqualFold(f.Expr, f.Name) {
				c.Expr = f.Expr
			}
			for _, v := range f.Samples {
				c.Values = append(c.Values, fmt.Sprint(v))
			}
			t.Columns = append(t.Columns, c)
			if f.Search != "" || f.Service != nil {
				r.lose("column %s.%s: its search service", s.Name, f.Name)
			}
		}
	}
	if len(s.Times) > 0 {
		t.Time = s.Times[0].Name
	}
	r.out.Tables = append(r.out.Tables, t)
	for _, f := range s.Filters {
		expr, err := knowledge.Qualified(s.Name, f.Expr)
		if err != nil {
			r.lose("filter %s of %s: %v", f.Name, s.Name, err)
			continue
		}
		words := append([]string{strings.ReplaceAll(f.Name, "_", " ")}, f.Synonyms...)
		r.out.Terms = append(r.out.Terms, knowledge.Term{Words: words, Expr: expr, Description: f.Description})
	}
}

func (r *reader) relationship(s *relationship) {
	kind := strings.ToLower(cmp.Or(s.Type, "many_to_one"))
	if kind != "many_to_one" && kind != "one_to_one" {
		r.lose("relationship %s: it is %s", s.Name, s.Type)
		return
	}
	out := knowledge.Relationship{Name: s.Name, From: s.Left, To: s.Right}
	var left []string
	for _, pair := range s.On {
		out.On = append(out.On, [2]string{pair.Left, pair.Right})
		left = append(left, pair.Left)
	}
	r.out.Relationships = append(r.out.Relationships, out)
	if kind == "one_to_one" {
		i := slices.IndexFunc(r.out.Tables, func(t knowledge.Table) bool { return t.Name == s.Left })
		if i >= 0 && !slices.ContainsFunc(r.out.Tables[i].Keys, func(k []string) bool { return slices.Equal(k, left) }) {
			r.out.Tables[i].Keys = append(r.out.Tables[i].Keys, left)
		}
	}
}

// metrics adds the metrics of a table, and its measures with their aggregation.
func (r *reader) metrics(s *table) {
	for _, m := range append(slices.Clone(s.Facts), s.Measures...) {
		if m.Aggregation != "" {
			form := "%s(%s)"
			if name := strings.ToLower(m.Aggregation); name == "count_distinct" {
				m.Aggregation, form = "COUNT", "%s(DISTINCT %s)"
			} else if name == "average" {
				m.Aggregation = "AVG"
			}
			r.metric(s.Name, m, fmt.Sprintf(form, strings.ToUpper(m.Aggregation),
				knowledge.Table{Name: s.Name}.ColumnName(m.Name)))
		}
	}
	for _, m := range s.Metrics {
		r.metric(s.Name, m, m.Expr)
	}
}

// metric adds a metric. What it names as table.metric is {metric}.
func (r *reader) metric(table string, m field, expr string) {
	out := knowledge.Metric{Name: m.Name, Subject: knowledge.Subject{Description: m.Description, Synonyms: m.Synonyms}}
	if r.has(m.Name) {
		out.Name = strings.Trim(table+"_"+m.Name, "_")
	}
	var err error
	out.Expr, err = knowledge.Rename(expr, func(qualifier, name string) string {
		qualifier = cmp.Or(qualifier, table)
		isColumn := slices.ContainsFunc(r.out.Tables, func(t knowledge.Table) bool {
			return strings.EqualFold(t.Name, qualifier) &&
				slices.ContainsFunc(t.Columns, func(c knowledge.Column) bool { return strings.EqualFold(c.Name, name) })
		})
		switch {
		case !isColumn && slices.Contains(r.named, name):
			return "{" + name + "}"
		case qualifier == "":
			return name
		}
		return knowledge.Table{Name: qualifier}.ColumnName(name)
	})
	if err != nil {
		out.Expr, out.Unsupported = expr, err.Error()
	}
	r.out.Metrics = append(r.out.Metrics, out)
}

func (r *reader) has(metric string) bool {
	return slices.ContainsFunc(r.out.Metrics, func(m knowledge.Metric) bool { return m.Name == metric })
}
