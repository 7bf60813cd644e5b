package eval

import (
	"context"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/vote"
)

// Plan returns the engine's plan of a statement; ok is false where it has none,
// because it does not compile or may not run. A plan is asked for each time.
func (s *Store) Plan(ctx context.Context, db, sql string) (plan exec.Plan, ok bool, err error) {
	d, err := s.database(ctx, db)
	if err != nil {
		return plan, false, err
	}
	return s.explain(ctx, d, sql)
}

func (s *Store) explain(ctx context.Context, d *database, sql string) (plan exec.Plan, ok bool, err error) {
	release, err := s.enter(ctx, 1, "for")
	if err != nil {
		return plan, false, err
	}
	defer release()
	plan, err = d.explain(ctx, sql, s.bounds)
	switch {
	case err == nil:
		return plan, true, nil
	case exec.IsRejection(err) && ctx.Err() == nil:
		return plan, false, nil
	}
	return plan, false, d.unreadable(ctx, err)
}

// planned is what a vote needs of a plan.
type planned struct {
	signature string
	cost      float64
}

// CandidateOptions says what [Store.Candidates] finds out about candidates beyond
// their results.
type CandidateOptions struct {
	Plans  bool         // plan signatures and costs; each costs one EXPLAIN
	Doubts *doubt.Rules // rules to hold against each candidate; nil: none
}

// Candidates returns what voters need to know of the answers to a question, in
// the order of the answers, which is that of the samples. Each distinct statement
// runs once. A statement without a result is a candidate that may not vote, and
// one whose result was cut at a limit says so.
//
// The fingerprints are those of package strategy: bags, and for Sequence
// sequences, of rows with floats to vote.Digits. Previews are left out, and so are
// the findings of checks, which rules on them would read (doubt.Checked).
func (s *Store) Candidates(ctx context.Context, q Question, answers []Answer, o CandidateOptions) ([]vote.Candidate, error) {
	var about doubt.Reading
	if o.Doubts != nil {
		about = o.Doubts.Read(q.Text, q.Evidence)
	}
	known := map[*entry]vote.Candidate{}
	out := make([]vote.Candidate, len(answers))
	for i, a := range answers {
		e, t, err := s.fetch(ctx, q.DB, a.SQL)
		if err != nil {
			return nil, err
		}
		c, ok := known[e]
		if !ok {
			if c, err = s.candidate(ctx, e, t, o, about, a.SQL); err != nil {
				return nil, err
			}
			known[e] = c
		}
		c.SQL, c.Sample, c.Model = a.SQL, i, a.Model
		if c.Model == "" {
			c.Model = a.Run
		}
		out[i] = c
	}
	return out, nil
}

func (s *Store) candidate(ctx context.Context, e *entry, t *result.Table, o CandidateOptions, about doubt.Reading, sql string) (c vote.Candidate, err error) {
	x := e.execution
	c.SQL, c.Rows, c.Columns = sql, x.Rows, x.Columns
	if x.Status == StatusTooLarge {
		c.Truncated = x.Rows > 0
	}
	if !x.OK() && !c.Truncated {
		c.Rejected, c.Invalid = x.Err, x.Status == StatusError
		return c, nil
	}
	if o.Plans {
		if c.Plan, c.Cost, err = s.planOf(ctx, e); err != nil {
			return c, err
		}
	}
	if x.OK() {
		c.Empty, c.AllNull, c.Zero = x.Empty(), x.AllNull, x.Zero
		rows := result.Equality{Digits: vote.Digits}
		sequence := result.Equality{Mode: result.Ordered, Digits: vote.Digits}
		if t == nil && o.Doubts != nil {
			if t, err = s.table(ctx, e); err != nil {
				return c, err
			}
		}
		if c.Fingerprint, err = s.fingerprint(ctx, e, t, rows); err != nil {
			return c, err
		}
		if c.Sequence, err = s.fingerprint(ctx, e, t, sequence); err != nil {
			return c, err
		}
	}
	if o.Doubts != nil {
		c.Findings = o.Doubts.About(about, c, t)
	}
	return c, nil
}

// planOf returns the plan of an entry as votes see it, asked for once.
func (s *Store) planOf(ctx context.Context, e *entry) (string, float64, error) {
	e.mu.Lock()
	p := e.plan
	e.mu.Unlock()
	if p == nil {
		plan, ok, err := s.explain(ctx, e.db, e.sql)
		if err != nil {
			return "", 0, err
		}
		p = &planned{}
		if ok {
			p.signature, p.cost = plan.Signature(), plan.Cost()
		}
		e.mu.Lock()
		e.plan = p
		e.mu.Unlock()
	}
	return p.signature, p.cost, nil
}
