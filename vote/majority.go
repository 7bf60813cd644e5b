package vote

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/texttosql/texttosql/sqltext"
)

// Majority elects the largest group of equal candidates.
//
// Two candidates are equal when Key gives them the same string. A candidate that
// is rejected, or for which Key reports false, abstains. Clusters are ordered by
// score, highest first:
//
//	score = ln(share) − Penalty × doubt
//
// where share is the cluster's weight ÷ the weight of all votes and doubt the
// mean over its members of the Doubt of their findings. With Penalty 0 that is
// the order by weight. Scores are compared after rounding to 1e-9. Ties go to
// Tie, then to the cluster whose first member was drawn first, so equal input
// gives equal output, whatever the order of the list.
//
// A cluster is represented by one member. Where members have different results,
// as equal plans may, those with the most votes for theirs are asked; where they
// were not run, those of the most frequent normalised text. If more than half of
// them have a top-level ORDER BY only those count, and among them those with the
// most frequent row sequence; then the lowest Cost, the shortest SQL, the
// earliest draw.
//
// The rule is the self-consistency of Wang et al. (ICLR 2023) on results instead
// of final answers; doubts are ours. It calls no model and runs no SQL. A
// Majority is plain data; safe for concurrent use where its functions are.
type Majority struct {
	Key Key // nil: ByResult

	// Weight is what a candidate's vote counts, from 0 to 1e12. nil: 1. Any other
	// weight is an error of Count; a weight of 0 is no vote.
	Weight func(Candidate) float64

	// Penalty is how much one doubt costs, in ln(votes): at 1 a broken rule
	// costs a factor of 2.7. 0: doubts do not change the winner, only the
	// confidence. Negative or NaN is an error of Count.
	Penalty float64

	// Tie orders the representatives of two clusters with the same score:
	// negative when a goes first. nil: PreferRows. Earliest leaves ties to the
	// draw.
	Tie func(a, b Candidate) int

	// DemoteEmpty puts clusters whose representative has no rows or only NULL
	// behind all others, whatever their votes. Right answers may well be empty: it
	// won 2 and 3 of 99 questions on two pools and lost 11 of 496 on another
	// (docs/plans.md), so it is for databases where none should be. No vote is
	// decided before its last draw then: one result with rows can still win.
	DemoteEmpty bool

	// MinShare, in 0..1, marks the ballot as weak when the winner's share is
	// below it. 0: any lead will do.
	MinShare float64

	// Overlap, in 0..1, is how much two unequal candidates support one another;
	// RowOverlap compares their rows. nil: not at all. With it a cluster's score
	// counts its weight plus that of the others, each times the overlap of the
	// representatives: a minimum Bayes risk decision instead of a majority.
	Overlap func(a, b Candidate) float64

	// Prior is how many votes for the winner, and how many against it, the
	// confidence takes for granted: see Ballot. With 1 it is the rule of
	// succession of Laplace, by which 5 of 5 votes say less than 77 of 77. 0: none,
	// so that without doubts the confidence is the share. Negative or NaN is an
	// error of Count.
	Prior float64

	// Calibrate turns the raw confidence (see Ballot) into the chance of being
	// right; Calibration.At is one. nil: no change.
	Calibrate func(float64) float64

	// MaxWeight and MaxDoubt bound what a vote still to come can bring, for the
	// stop rules: see the fields of Tally. Count uses neither. MaxWeight 0 is 1,
	// MaxDoubt 0 is that of the default doubt rules. Below 0, NaN, infinity and a
	// MaxWeight above 1e12 are errors of Count.
	MaxWeight, MaxDoubt float64

	// Dialect reads the SQL for its ORDER BY. The zero Dialect is SQLite.
	Dialect sqltext.Dialect
}

// PreferRows is the default tie rule: a result with a value in it goes before
// one that is empty or all NULL. Only as a tie rule does that help: many
// questions have an empty answer.
func PreferRows(a, b Candidate) int {
	return cmp.Compare(rank(a), rank(b))
}

func rank(c Candidate) int {
	if c.Empty || c.AllNull {
		return 1
	}
	return 0
}

// Earliest is the tie rule that has no opinion: the earliest draw wins.
func Earliest(Candidate, Candidate) int { return 0 }

// Ties asks tie rules one after the other, until one has an opinion.
func Ties(rules ...func(a, b Candidate) int) func(a, b Candidate) int {
	return func(a, b Candidate) int {
		for _, rule := range rules {
			if c := rule(a, b); c != 0 {
				return c
			}
		}
		return 0
	}
}

// Count counts the votes of candidates. The ballot has every cluster, best
// first, and every abstention with its reason, also when the error is not nil:
// ErrNoVote when nobody voted. Other errors name a field of m that is wrong, or
// the candidate with a wrong weight.
func (m Majority) Count(candidates []Candidate) (Ballot, error) {
	b := Ballot{Drawn: len(candidates), Clusters: make([]Cluster, 0, 4)} // [] in JSON, not null
	if err := m.validate(); err != nil {
		return b, err
	}

	total := 0.0
	index := make(map[string]int)
	for _, i := range byDraw(candidates) {
		c := &candidates[i]
		k, w, why, err := m.voteOf(i, c)
		if err != nil {
			return b, err
		}
		if why != "" {
			b.Abstained = append(b.Abstained, Abstention{Candidate: i, Why: why})
			continue
		}
		at, seen := index[k]
		if !seen {
			at = len(b.Clusters)
			index[k] = at
			b.Clusters = append(b.Clusters, Cluster{Key: k, Members: make([]int, 0, 8)})
		}
		cl := &b.Clusters[at]
		cl.Members = append(cl.Members, i)
		cl.Weight += w
		cl.add(c.Findings, w)
		total += w
		b.Voted++
	}
	if b.Voted == 0 {
		return b, b.noVote()
	}

	for i := range b.Clusters {
		cl := &b.Clusters[i]
		cl.Share = cl.Weight / total
		cl.settle()
		cl.Best = m.best(candidates, cl.Members)
		// Any other key says which answers are equal.
		if plan, ok := ByPlan(candidates[cl.Best]); ok && cl.Key == plan {
			cl.Split = m.split(candidates, cl.Members, cl.Best)
		}
		cl.SQL = candidates[cl.Best].SQL
	}
	m.score(candidates, b.Clusters, total)

	tie := m.Tie
	if tie == nil {
		tie = PreferRows
	}
	// Clusters stand in the order of their first draws, which a stable sort
	// keeps where nothing else decides.
	slices.SortStableFunc(b.Clusters, func(x, y Cluster) int {
		if m.DemoteEmpty {
			if c := PreferRows(candidates[x.Best], candidates[y.Best]); c != 0 {
				return c
			}
		}
		if c := cmp.Compare(round9(y.Score), round9(x.Score)); c != 0 {
			return c
		}
		return tie(candidates[x.Best], candidates[y.Best])
	})

	m.settleConfidence(b.Clusters, total/float64(b.Voted))
	b.Confidence = b.Clusters[0].Confidence
	b.Weak = b.Clusters[0].Share < m.MinShare-1e-9
	return b, nil
}

// byDraw returns the indices of candidates in the order of their draws.
func byDraw(candidates []Candidate) []int {
	order := make([]int, len(candidates))
	sorted := true
	for i := range order {
		order[i] = i
		sorted = sorted && (i == 0 || candidates[i-1].Draw <= candidates[i].Draw)
	}
	if !sorted {
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(candidates[i].Draw, candidates[j].Draw) })
	}
	return order
}

// noWeight is why a candidate of weight 0 has no vote.
const noWeight = "its weight is 0"

// voteOf returns what candidate i votes for and with which weight, or why it does
// not vote.
func (m *Majority) voteOf(i int, c *Candidate) (key string, weight float64, why string, err error) {
	if c.Rejected != "" {
		return "", 0, c.Rejected, nil
	}
	k := m.Key
	if k == nil {
		k = ByResult
	}
	key, ok := k(*c)
	if !ok {
		return "", 0, noKey(c), nil
	}
	if m.Weight == nil {
		return key, 1, "", nil
	}
	weight = m.Weight(*c)
	switch {
	case !(weight >= 0 && weight <= greatestWeight):
		return "", 0, "", fmt.Errorf("vote: weight of candidate %d is %v, not a number from 0 to %v", i, weight, greatestWeight)
	case weight == 0:
		return "", 0, noWeight, nil
	}
	return key, weight, "", nil
}

// round9 makes scores comparable that differ in the last bits only, because
// their sums were made in another order.
func round9(x float64) float64 { return math.Round(x * 1e9) }

// score fills in the clusters' scores and, with Overlap, their support.
func (m Majority) score(candidates []Candidate, clusters []Cluster, total float64) {
	for i := range clusters {
		cl := &clusters[i]
		share := cl.Share
		if m.Overlap != nil {
			for j := range clusters {
				if i != j {
					o := m.Overlap(candidates[cl.Best], candidates[clusters[j].Best])
					if o > 0 { // NaN is no support
						cl.Support += min(o, 1) * clusters[j].Weight
					}
				}
			}
			share += cl.Support / total
		}
		cl.Score = math.Log(share) - m.Penalty*cl.Doubt
	}
}

// add takes the findings of one more member in. Doubt and Doubts hold weighted
// sums until settle.
func (cl *Cluster) add(findings []Finding, weight float64) {
	for _, f := range findings {
		if !f.weighs() {
			continue
		}
		cl.Doubt += weight * f.Doubt
		at := slices.IndexFunc(cl.Doubts, func(d Doubt) bool { return d.Rule == f.Rule })
		if at < 0 {
			at = len(cl.Doubts)
			cl.Doubts = append(cl.Doubts, Doubt{Rule: f.Rule, Detail: f.Detail})
		}
		cl.Doubts[at].Doubt += weight * f.Doubt
	}
}

// settle turns weighted sums into means, the greatest doubt first.
func (cl *Cluster) settle() {
	cl.Doubt /= cl.Weight
	for i := range cl.Doubts {
		cl.Doubts[i].Doubt /= cl.Weight
	}
	slices.SortStableFunc(cl.Doubts, func(a, b Doubt) int { return cmp.Compare(round9(b.Doubt), round9(a.Doubt)) })
}

// settleConfidence fills in the confidence of every cluster: see Ballot. mean is
// the weight of an average vote.
func (m Majority) settleConfidence(clusters []Cluster, mean float64) {
	credit := func(c *Cluster) float64 { return c.Weight / mean * math.Exp(-c.Doubt) }
	total := 0.0
	for i := range clusters {
		total += credit(&clusters[i])
	}
	for i := range clusters {
		c := &clusters[i]
		x := 0.0
		if all := total + 2*m.Prior; all > 0 { // 0 only for doubts beyond the range of float64
			x = ((1-c.Split)*credit(c) + m.Prior) / all * math.Exp(-c.Doubt/2)
		}
		if m.Calibrate != nil {
			x = m.Calibrate(x)
		}
		if x > 0 { // a NaN of Calibrate leaves 0
			c.Confidence = min(x, 1)
		}
	}
}

// noKey says why a candidate that was not rejected has no key.
func noKey(c *Candidate) string {
	switch ran := c.Fingerprint != "" || c.Truncated; {
	case c.SQL == "":
		return "no SQL"
	case !ran && c.Plan == "":
		return "nothing to vote with: neither executed nor explained"
	case !ran:
		return "nothing to vote with: not executed"
	case c.Plan == "":
		return "nothing to vote with: not explained"
	}
	return "its key has no vote for it"
}

func (m Majority) validate() error {
	var errs []error
	if !(m.Penalty >= 0) || math.IsInf(m.Penalty, 1) {
		errs = append(errs, fmt.Errorf("vote: Majority.Penalty is %v, not a number from 0 up", m.Penalty))
	}
	if !(m.Prior >= 0) || math.IsInf(m.Prior, 1) {
		errs = append(errs, fmt.Errorf("vote: Majority.Prior is %v, not a number from 0 up", m.Prior))
	}
	if !(m.MaxWeight >= 0 && m.MaxWeight <= greatestWeight) {
		errs = append(errs, fmt.Errorf("vote: Majority.MaxWeight is %v, not in 0..%v", m.MaxWeight, greatestWeight))
	}
	if !(m.MaxDoubt >= 0) || math.IsInf(m.MaxDoubt, 1) {
		errs = append(errs, fmt.Errorf("vote: Majority.MaxDoubt is %v, not a number from 0 up", m.MaxDoubt))
	}
	if !(m.MinShare >= 0 && m.MinShare <= 1) {
		errs = append(errs, fmt.Errorf("vote: Majority.MinShare is %v, not in 0..1", m.MinShare))
	}
	return errors.Join(errs...)
}
