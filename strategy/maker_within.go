package strategy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
)

// LockMode says how the projection of MAKER may use the agreed tables.
type LockMode uint8

// The modes.
const (
	LockWithin LockMode = iota // any of them: what the first phase chose too much is undone
	LockExact                  // all of them
	LockNone                   // the agreed tables are advice, as published
)

// FindingOutside is the finding of WithinScope.
const FindingOutside = "outside-scope"

// WithinScope is a check that finds statements which read a table outside of
// Scope, or with LockExact leave one of its tables out. What lies under a view of
// the scope may be read. The engine says what a statement reads.
type WithinScope struct {
	Scope Scope    // the agreed tables
	Lock  LockMode // how they may be used
}

// Check implements exec.Check.
func (w WithinScope) Check(ctx context.Context, db *exec.DB, c *exec.Checked) error {
	if w.Lock == LockNone {
		return nil
	}
	if c.Analysis == nil {
		a, err := db.Analyze(ctx, c.SQL)
		if err != nil {
			return err
		}
		c.Analysis = &a
	}
	s, err := db.Schema(ctx)
	if err != nil {
		return err
	}
	allowed, err := w.allowed(ctx, db, s)
	if err != nil {
		return err
	}
	read := tablesRead(s, db, *c.Analysis)
	var outside, unused []string
	for _, t := range read {
		if !slices.Contains(allowed, t) {
			outside = append(outside, t.String())
		}
	}
	for _, t := range slices.Compact(slices.Clone(w.Scope.Tables)) {
		if w.Lock == LockExact && !slices.Contains(read, t) {
			unused = append(unused, t.String())
		}
	}
	switch {
	case len(outside) > 0:
		c.Findings = append(c.Findings, exec.Finding{Rule: FindingOutside, Detail: "reads " + strings.Join(outside, ", ") + ", which is not among the agreed tables"})
	case len(unused) > 0:
		c.Findings = append(c.Findings, exec.Finding{Rule: FindingOutside, Detail: "does not read " + strings.Join(unused, ", ")})
	}
	return nil
}

// allowed lists the tables of the scope and what its views read.
func (w WithinScope) allowed(ctx context.Context, db *exec.DB, s *schema.Schema) ([]TableName, error) {
	allowed := slices.Clone(w.Scope.Tables)
	for _, t := range w.Scope.Tables {
		if found, ok := s.Lookup(t.Schema, t.Name); !ok || found.Kind != schema.View {
			continue
		}
		a, err := db.Analyze(ctx, "SELECT * FROM "+t.quoted(db.Dialect()))
		if err != nil {
			return nil, fmt.Errorf("strategy: reading view %s: %w", t, err)
		}
		allowed = append(allowed, tablesRead(s, db, a)...)
	}
	return allowed, nil
}

func tablesRead(s *schema.Schema, db *exec.DB, a exec.Analysis) []TableName {
	var read []TableName
	for _, t := range a.TablesOf(s, db.Dialect()) {
		read = append(read, TableName{t.Schema, t.Table})
	}
	return read
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
