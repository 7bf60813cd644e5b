package egtts

import (
	"cmp"
	"context"
	"sync"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/vote"
)

// The findings of Probing, one for each literal that was looked up.
const (
	findingStored  = "literal-stored"  // the column holds the value
	findingMissing = "literal-missing" // it does not
)

// Probing is a check that looks up whether the literals of a statement are stored in the columns they are compared
// with: strategy M13 of galah92/egtts. Each one becomes a finding, "literal-stored" or "literal-missing"; MoreStored
// and the vote of M13 make something of them.
//
// Looked up are strings behind =, <>, IN (each member), NOT IN, IS and a LIKE without wildcards, in either order of the
// operands, where the text and the schema tell one column. Left out are numbers, dates, strings of digits, patterns,
// and what cannot be looked up within a second or at all: it counts neither way. A value that differs in case is
// another value, unless the column's collation says otherwise.
//
// A *Probing remembers its look-ups, so that candidates share them: make one for each question. It never shows a stored
// value to anybody. Safe for concurrent use.
type Probing struct {
	Published bool // the form of M13 as published; see PublishedProbing

	mu   sync.Mutex
	memo map[checks.TextLiteral]bool
}

// maxProbes bounds the look-ups of one statement: an IN list may be long.
const maxProbes = 50

// Check implements exec.Check.
func (p *Probing) Check(ctx context.Context, s *exec.Runner, c *exec.Checked) error {
	known, err := s.Schema(ctx)
	if err != nil {
		return err
	}
	probes := checks.TextLiterals(known, c.Statement)
	if p.Published {
		probes = publishedProbes(known, c.Statement)
	}
	for _, q := range probes[:min(len(probes), maxProbes)] {
		stored, err := p.look(ctx, s, q)
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		if err != nil && !p.Published {
			continue
		}
		rule := findingMissing
		if stored || err != nil {
			rule = findingStored
		}
		c.Findings = append(c.Findings, vote.Finding{Rule: rule, Detail: q.Table + "." + q.Column})
	}
	return nil
}

func (p *Probing) look(ctx context.Context, s *exec.Runner, q checks.TextLiteral) (bool, error) {
	p.mu.Lock()
	stored, known := p.memo[q]
	p.mu.Unlock()
	if known {
		return stored, nil
	}
	stored, err := s.Probe(ctx, q.Schema, q.Table, q.Column, q.Value)
	if err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.memo == nil {
		p.memo = map[checks.TextLiteral]bool{}
	}
	p.memo[q] = stored
	return stored, nil
}

// MissingShare is the part of a candidate's literals that Probing did not find, in 0..1, and how many were looked up; 0
// where none was.
func MissingShare(c vote.Candidate) (share float64, probed int) {
	missing := 0
	for _, f := range c.Findings {
		if f.Rule == findingMissing {
			missing++
		}
		if f.Rule == findingMissing || f.Rule == findingStored {
			probed++
		}
	}
	return float64(missing) / float64(max(probed, 1)), probed
}

// MoreStored is a tie rule for vote.Majority: the candidate of which more literals are stored goes first. One without a
// look-up counts as all stored.
func MoreStored(a, b vote.Candidate) int {
	x, _ := MissingShare(a)
	y, _ := MissingShare(b)
	return cmp.Compare(x, y)
}
