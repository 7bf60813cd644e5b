package strategy

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

// The findings of Probing, one for each literal that was looked up.
const (
	FindingStored  = "literal-stored"  // the column holds the value
	FindingMissing = "literal-missing" // it does not
)

// Probing is a check that looks up whether the literals of a statement are
// stored in the columns they are compared with: strategy M13 of galah92/egtts.
// Each one becomes a finding, FindingStored or FindingMissing; StoredShare,
// MoreStored and ProbedVote make something of them.
//
// Looked up are strings behind =, <>, IN (each member), NOT IN, IS and a LIKE
// without wildcards, in either order of the operands, where the text and the
// schema tell one column. Left out are numbers, dates, strings of digits,
// patterns, and what cannot be looked up within a second or at all: it counts
// neither way. A value that differs in case is another value, unless the column's
// collation says otherwise.
//
// A *Probing remembers its look-ups, so that candidates share them: make one for
// each question. It never shows a stored value to anybody. Safe for concurrent
// use.
//
// With Compat it probes as published: in the first table that has a column of
// the literal's name, the first member of an IN alone, and a failed look-up
// counts as stored.
type Probing struct {
	Compat bool // as published: see above

	mu   sync.Mutex
	memo map[probe]bool
}

// probe is one look-up.
type probe struct{ schema, table, column, value string }

// maxProbes bounds the look-ups of one statement: an IN list may be long.
const maxProbes = 50

// Check implements exec.Check.
func (p *Probing) Check(ctx context.Context, db *exec.DB, c *exec.Checked) error {
	s, err := db.Schema(ctx)
	if err != nil {
		return err
	}
	probes := literalProbes(s, db.Dialect().Text(), c.SQL)
	if p.Compat {
		probes = compatProbes(s, db.Dialect().Text(), c.SQL)
	}
	for _, q := range probes[:min(len(probes), maxProbes)] {
		stored, err := p.look(ctx, db, q)
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		if err != nil {
			if !p.Compat {
				continue
			}
			stored = true
		}
		rule := FindingMissing
		if stored {
			rule = FindingStored
		}
		c.Findings = append(c.Findings, exec.Finding{Rule: rule, Detail: q.table + "." + q.column})
	}
	return nil
}

func (p *Probing) look(ctx context.Context, db *exec.DB, q probe) (bool, error) {
	p.mu.Lock()
	stored, known := p.memo[q]
	p.mu.Unlock()
	if known {
		return stored, nil
	}
	stored, err := db.Probe(ctx, q.schema, q.table, q.column, q.value)
	if err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.memo == nil {
		p.memo = map[probe]bool{}
	}
	p.memo[q] = stored
	return stored, nil
}

// literalProbes lists what there is to look up in sql, each once, in text order.
func literalProbes(s *schema.Schema, d sqltext.Dialect, sql string) []probe {
	var probes []probe
	for _, c := range d.Comparisons(sql) {
		switch c.Op {
		case "=", "<>", "IN", "NOT IN", "IS", "IS NOT", "LIKE", "NOT LIKE":
		default:
			continue
		}
		t, column := exec.ColumnOf(s, c.ColumnRef)
		if t == nil {
			continue
		}
		for _, lit := range c.Literals {
			if lit.Kind == sqltext.QuotedName && exec.HasColumn(s, c.Scope, lit.Value) {
				continue // a column, not a string
			}
			if lit.Kind != sqltext.String && lit.Kind != sqltext.QuotedName || !worthProbing(lit.Value, strings.HasSuffix(c.Op, "LIKE")) {
				continue
			}
			if q := (probe{t.Schema, t.Name, column, lit.Value}); !slices.Contains(probes, q) {
				probes = append(probes, q)
			}
		}
	}
	return probes
}

// worthProbing reports whether a string is worth looking up: no number, no date, no
// pattern.
func worthProbing(value string, like bool) bool {
	if like && strings.ContainsAny(value, "%_") {
		return false
	}
	return strings.ContainsFunc(value, func(r rune) bool { return !strings.ContainsRune("0123456789-/:. TZ+", r) })
}

// StoredShare is the part of a candidate's literals that Probing found stored,
// in 0..1; ok is false where none was looked up.
func StoredShare(c vote.Candidate) (share float64, ok bool) {
	stored, probed := 0, 0
	for _, f := range c.Findings {
		switch f.Rule {
		case FindingStored:
			stored++
			probed++
		case FindingMissing:
			probed++
		}
	}
	if probed == 0 {
		return 0, false
	}
	return float64(stored) / float64(probed), true
}

// MoreStored is a tie rule for vote.Majority: the candidate of which more
// literals are stored goes first. One without a look-up counts as all stored.
func MoreStored(a, b vote.Candidate) int { return cmp.Compare(missingShare(a), missingShare(b)) }

func missingShare(c vote.Candidate) float64 {
	share, ok := StoredShare(c)
	if !ok {
		return 0
	}
	return 1 - share
}

// ProbedVote is a Voter that lets absent literals cost votes: the score of M13,
// votes − Penalty × (1 − stored share of the representative), over the leading
// clusters. Others keep their places.
type ProbedVote struct {
	Voter    Voter   // counts the votes; nil: vote.Majority
	Clusters int     // how many compete; 0 means 3
	Penalty  float64 // votes; 0 means 2
}

// Validate refuses numbers out of range, and what Voter refuses.
func (v ProbedVote) Validate() error {
	return errors.Join(inRange("ProbedVote", number("Clusters", v.Clusters), number("Penalty", v.Penalty)), validVoter(v.Voter))
}

// Count counts and then orders the leading clusters by score.
func (v ProbedVote) Count(candidates []vote.Candidate) (vote.Ballot, error) {
	if err := v.Validate(); err != nil {
		return vote.Ballot{Drawn: len(candidates)}, err
	}
	voter := v.Voter
	if voter == nil {
		voter = vote.Majority{}
	}
	b, err := voter.Count(candidates)
	if err != nil {
		return b, err
	}
	top := b.Clusters[:min(cmp.Or(v.Clusters, 3), len(b.Clusters))]
	for i := range top {
		c := &top[i]
		c.Score = c.Weight - cmp.Or(v.Penalty, 2)*missingShare(candidates[c.Best])
	}
	slices.SortStableFunc(top, func(x, y vote.Cluster) int { return cmp.Compare(y.Score, x.Score) })
	b.Confidence = top[0].Confidence
	return b, nil
}
