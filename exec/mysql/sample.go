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
	s := guard.NewSampled(t.TableName().Quoted(d.Language()), t, o, quote, func(kind, column string) string {
		if !long.MatchString(kind) {
			return column
		}
		return fmt.Sprintf("LEFT(%s, %d)", column, o.Cut)
	})
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
	return guard.SampleRows(ctx, run, s, o)
}

// long matches the types of texts and blobs, which LEFT keeps as what they are.
var long = regexp.MustCompile("char|text|blob|binary")
