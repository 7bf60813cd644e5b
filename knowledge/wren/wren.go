// Package wren reads the compiled MDL of WrenAI (mdl.json, or target/mdl.json of a project).
//
//	m, err := wren.Read(file)
//
// Models become tables: Source is schema and table, or the refSql. Calculated columns over their own table become
// columns with an expression. Relationships keep their names; ONE_TO_MANY is reversed. Measures of cubes become
// metrics.
//
// MDL rules about rows and columns are NOT enforced: each has a line in Lost. Use a policy of package exec instead.
// Views, calculated columns over other tables, and relationships other than equal columns also have a line in Lost.
package wren

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/knowledge"
)

type mdl struct {
	Models        []model
	Relationships []relationship
	Cubes         []cube
	Views         []struct{ Name string }
	Properties    properties
}

type model struct {
	Name       string
	RefSQL     string `json:"refSql"`
	BaseObject string
	Reference  struct{ Schema, Table string } `json:"tableReference"`
	Columns    []column
	PrimaryKey key
	UniqueKeys []key
	Properties properties
	Rules      []struct{ Name string } `json:"rowLevelAccessControls"`
}

type column struct {
	Name, Relationship, Expression string
	Rule                           *struct{ Name string } `json:"columnLevelAccessControl"`
	Properties                     properties
}

type relationship struct {
	Name, JoinType, Condition string
	Models                    []string
}

type cube struct {
	Name, BaseObject string
	Measures         []struct {
		Name, Expression, Description string
		Properties                    properties
	}
}

// properties are free; two of them say what a thing means.
type properties map[string]any

func (p properties) about() knowledge.Subject {
	description, _ := p["description"].(string)
	about := knowledge.Subject{Description: description}
	if name, _ := p["displayName"].(string); name != "" {
		about.Synonyms = []string{name}
	}
	return about
}

// key is a column or a list of columns.
type key []string

// UnmarshalJSON reads either form.
func (k *key) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		if *k = nil; one != "" {
			*k = key{one}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(k))
}

// Read reads a compiled MDL.
func Read(in io.Reader) (knowledge.Model, error) {
	var f mdl
	if err := knowledge.Decode("wren", in, &f); err != nil {
		return knowledge.Model{}, err
	}
	if f.Models == nil {
		return knowledge.Model{},
			&fileerr.Knowledge{Format: "wren", Problem: "the file has no models: a compiled mdl.json has"}
	}
	var r reader
	if about := f.Properties.about(); about.Description != "" {
		r.out.Instructions = append(r.out.Instructions, about.Description)
	}
	for i := range f.Models {
		r.table(&f.Models[i])
	}
	for i := range f.Relationships {
		r.relationship(&f.Relationships[i])
	}
	for i := range f.Cubes {
		r.cube(&f.Cubes[i])
	}
	for _, v := range f.Views {
		r.lose("view %s", v.Name)
	}
	return r.out.Settled(), nil
}

type reader struct{ out knowledge.Model }

func (r *reader) lose(format string, args ...any) {
	r.out.Lost = append(r.out.Lost, fmt.Sprintf(format, args...))
}

func (r *reader) table(m *model) {
	t := knowledge.Table{Name: m.Name, Subject: m.Properties.about()}
	source := strings.Trim(m.Reference.Schema+"."+m.Reference.Table, ".")
	if source = cmp.Or(source, m.RefSQL, m.BaseObject); source != m.Name {
		t.Source = source
	}
	for _, k := range append([]key{m.PrimaryKey}, m.UniqueKeys...) {
		if len(k) > 0 {
			t.Keys = append(t.Keys, k)
		}
	}
	for _, c := range m.Columns {
		if c.Rule != nil {
			r.lose("column rule %s of %s.%s is NOT in force: deny the column in the policy", c.Rule.Name, m.Name, c.Name)
		}
		if c.Relationship != "" {
			continue // it is in Relationships
		}
		out := knowledge.Column{Name: c.Name, Subject: c.Properties.about()}
		if c.Expression != "" && c.Expression != c.Name {
			if out.Expr = c.Expression; !isOwn(c.Expression) {
				r.lose("column %s.%s: %s reads another table", m.Name, c.Name, c.Expression)
				continue
			}
		}
		t.Columns = append(t.Columns, out)
	}
	for _, rule := range m.Rules {
		r.lose("row rule %s of %s is NOT in force: give the policy a rule about the rows", rule.Name, m.Name)
	}
	r.out.Tables = append(r.out.Tables, t)
}

// isOwn reports whether an expression names columns of its own table only.
func isOwn(expr string) bool {
	own := true
	_, err := knowledge.Rename(expr, func(table, name string) string {
		own = own && table == ""
		return name
	})
	return own && err == nil
}

// equality is table.column = table.column, in quotes of any engine or none.
var (
	reference = `["` + "`" + `]?(\w+)["` + "`" + `]?\.["` + "`" + `]?(\w+)["` + "`" + `]?`
	equality  = regexp.MustCompile(`^\(?\s*` + reference + `\s*=\s*` + reference + `\s*\)?$`)
	and       = regexp.MustCompile(`(?i)\s+and\s+`)
)

func (r *reader) relationship(x *relationship) {
	if len(x.Models) != 2 || x.JoinType == "MANY_TO_MANY" {
		r.lose("relationship %s: %s", x.Name, x.JoinType)
		return
	}
	out := knowledge.Relationship{Name: x.Name, From: x.Models[0], To: x.Models[1]}
	if x.JoinType == "ONE_TO_MANY" {
		out.From, out.To = out.To, out.From
	}
	var from []string
	for _, term := range and.Split(strings.TrimSpace(x.Condition), -1) {
		found := equality.FindStringSubmatch(term)
		switch {
		case found != nil && found[1] == out.From && found[3] == out.To:
			out.On = append(out.On, [2]string{found[2], found[4]})
		case found != nil && found[1] == out.To && found[3] == out.From:
			out.On = append(out.On, [2]string{found[4], found[2]})
		default:
			r.lose("relationship %s: its condition is no equality of columns: %s", x.Name, x.Condition)
			return
		}
		from = append(from, out.On[len(out.On)-1][0])
	}
	if x.JoinType == "ONE_TO_ONE" {
		r.key(out.From, from)
	}
	r.out.Relationships = append(r.out.Relationships, out)
}

// key makes columns a key of a table, if they are none yet.
func (r *reader) key(table string, columns []string) {
	for i := range r.out.Tables {
		t := &r.out.Tables[i]
		if t.Name != table {
			continue
		}
		for _, k := range t.Keys {
			if slices.Equal(k, columns) {
				return
			}
		}
		t.Keys = append(t.Keys, columns)
	}
}

func (r *reader) cube(c *cube) {
	for _, m := range c.Measures {
		out := knowledge.Metric{Name: m.Name, Subject: m.Properties.about()}
		out.Description = cmp.Or(m.Description, out.Description)
		var err error
		if out.Expr, err = knowledge.Qualified(c.BaseObject, m.Expression); err != nil {
			out.Expr, out.Unsupported = m.Expression, err.Error()
		}
		for _, other := range r.out.Metrics {
			if other.Name == out.Name {
				out.Name = c.Name + "_" + out.Name
			}
		}
		r.out.Metrics = append(r.out.Metrics, out)
	}
}
