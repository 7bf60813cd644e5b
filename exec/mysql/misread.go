package mysql

import (
	"context"
	"errors"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

var _ exec.Misreader = Dialect{}

// What looking for misread names may cost: names that are tried one by one.
const maxMisread = 16

// Misread returns the names in double quotes that a column in reach has. The server takes every text in double quotes
// for a string, unless ANSI_QUOTES is on, so SELECT "name" FROM t gives the word name in each row. Each is compiled in
// backquotes. A text that no column is named after may well be meant as one, so it is not returned.
func (d Dialect) Misread(ctx context.Context, h exec.Held, s *sqltext.Statement, names []sqltext.ColumnRef) (misread []sqltext.ColumnRef, err error) {
	if !s.Dialect().DoubleQuotedStrings {
		return nil, nil
	}
	for _, name := range names[:min(len(names), maxMisread)] {
		for t := range s.Tokens() {
			if t.Pos != name.Pos {
				continue
			}
			text := s.SQL()[:t.Pos] + d.Quote(name.Column) + s.SQL()[t.Pos+len(t.Text):]
			checked, err := s.Dialect().Check(text)
			if err != nil {
				break
			}
			switch _, err := h.Analyze(ctx, checked); {
			case err == nil:
				misread = append(misread, name)
			case !errors.As(err, new(*exec.InvalidError)) && !errors.As(err, new(*exec.RefusedError)):
				return nil, err
			}
			break
		}
	}
	return misread, nil
}
