package strategy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/findings"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/vote"
)

// doubleCounting are the findings about sums of a candidate that count rows several times.
func (a *Checker) doubleCounting(c vote.Candidate) (found []vote.Finding) {
	if c.Statement == nil || a.env.Schema == nil {
		return nil
	}
	has := func(t sqlshape.TableRef, column string) bool {
		stored, ok := a.env.Schema.Lookup(t.Schema, t.Name)
		if !ok {
			return false
		}
		_, ok = stored.Column(column)
		return ok
	}
	for _, r := range c.Statement.Repeated(a.env.keysOf, has) {
		found = append(found, vote.Finding{Rule: findings.DoubleCounting,
			Detail: fmt.Sprintf("%s may count a row of %s several times: once for each row of %s",
				prompttext.Comment(r.Item), prompttext.Comment(r.Table.Name), prompttext.Comment(r.By.Name))})
	}
	return found
}

// keysOf are the keys of a table: those of the schema, and of what people know.
func (e *Env) keysOf(t sqlshape.TableRef) (keys [][]string) {
	if stored, ok := e.Schema.Lookup(t.Schema, t.Name); ok {
		keys = slices.Clone(stored.Unique)
		if len(stored.PrimaryKey) > 0 {
			keys = append(keys, stored.PrimaryKey)
		}
	}
	if e.Knowledge == nil {
		return keys
	}
	for _, known := range e.Knowledge.Tables {
		source := known.Source
		if source == "" {
			source = known.Name
		}
		if strings.EqualFold(source[strings.LastIndexByte(source, '.')+1:], t.Name) {
			keys = append(keys, known.Keys...)
		}
	}
	return keys
}
