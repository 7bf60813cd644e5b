package sqlite

import (
	"context"
	"errors"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// What looking for misread names may cost: names that are tried one by one, and bytes that are compiled for them.
// SQLite compiles a list of 4,500 such names (27 KB) in 60 ms.
const (
	maxMisread      = 64
	maxMisreadBytes = 256 << 10
)

// Misread returns the names that SQLite takes for strings: "x" where no column x is in reach. It never does so with
// `x`, so each name is compiled that way.
func (d Dialect) Misread(ctx context.Context, h exec.Held, s *sqltext.Statement, names []sqltext.ColumnRef) ([]sqltext.ColumnRef, error) {
	names = names[:min(len(names), maxMisread, max(1, maxMisreadBytes/len(s.SQL())))]
	// Mostly no name is misread, and one compilation shows it.
	unknown, err := rejects(ctx, h, d.asNames(s, names...))
	if err != nil || !unknown {
		return nil, err
	}
	var misread []sqltext.ColumnRef
	for _, c := range names {
		unknown, err := rejects(ctx, h, d.asNames(s, c))
		if err != nil {
			return nil, err
		}
		if unknown {
			misread = append(misread, c)
		}
	}
	return misread, nil
}

// rejects reports whether s does not compile, because a name is unknown.
func rejects(ctx context.Context, h exec.Held, s *sqltext.Statement) (bool, error) {
	_, err := h.Analyze(ctx, s)
	if errors.As(err, new(*exec.InvalidError)) {
		return true, nil
	}
	return false, err
}

// asNames writes names, which are in text order, in backticks.
func (d Dialect) asNames(s *sqltext.Statement, names ...sqltext.ColumnRef) *sqltext.Statement {
	var b strings.Builder
	sql, done := s.SQL(), 0
	for t := range s.Tokens() {
		if len(names) == 0 {
			break
		}
		if t.Pos != names[0].Pos {
			continue
		}
		b.WriteString(sql[done:t.Pos])
		b.WriteString("`" + strings.ReplaceAll(names[0].Column, "`", "``") + "`")
		done = t.Pos + len(t.Text)
		names = names[1:]
	}
	b.WriteString(sql[done:])
	return d.Text().Parse(b.String())
}
