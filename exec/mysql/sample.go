package mysql

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// SampleRows reads the first rows of t in the order of its primary key, or as the table itself is stored. With Spread, a
// long table whose primary key is one integer is read in several places, as guard.SampleRows does it.
func (d Dialect) SampleRows(ctx context.Context, run guard.Runner, t schema.Table, o exec.SampleOptions) (exec.RowSample, error) {
	name := t.TableName().Quoted(d.Language())
	s := guard.Sampled{From: name + " AS t", Counted: name + " AS t"}
	var key []string
	for _, column := range t.PrimaryKey {
		key = append(key, "t."+quote(column))
	}
	switch c, _ := t.Column(strings.Join(t.PrimaryKey, "")); {
	case len(key) > 0:
		s.From += " FORCE INDEX (PRIMARY)"
		s.Order = " ORDER BY " + strings.Join(key, ", ")
		if len(key) == 1 && c != nil && strings.Contains(c.Type, "int") {
			s.Key = key[0]
		}
	case t.Kind == schema.BaseTable:
		s.From += " USE INDEX ()" // or a covering index might be read in place of the table, in its own order
	}
	columns := make([]string, len(o.Columns))
	for i, name := range o.Columns {
		columns[i] = "t." + quote(name)
		if c, ok := t.Column(name); ok && o.Cut > 0 && long.MatchString(c.Type) {
			columns[i] = fmt.Sprintf("LEFT(%s, %d)", columns[i], o.Cut)
		}
	}
	s.List = strings.Join(columns, ", ")
	return guard.SampleRows(ctx, run, s, o)
}

// long matches the types of texts and blobs, which LEFT keeps as what they are.
var long = regexp.MustCompile("char|text|blob|binary")
