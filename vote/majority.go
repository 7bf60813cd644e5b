package vote

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/texttosql/texttosql/sqltext"
)

// greatestWeight keeps sums of weights far from where floats end.
const greatestWeight = 1e12

// Majority elects the largest group of equal candidates. It is the self-consistency of Wang et al. (ICLR 2023) on
// results instead of final answers; the doubts are our addition.
//
// Two candidates are equal if Key gives them the same string. A candidate that is rejected, or for which Key reports
// false, abstains. Clusters are ordered by
//
//	score = ln(share) − Penalty × doubt
//
// where share is the cluster's weight ÷ the weight of all votes, and doubt is the mean over its members of the Doubt
// of their findings. Scores are rounded to 1e-9. Ties go to a cluster with a metric (Candidate.Metrics), then to Tie,
// then to the cluster with the earliest sample. So equal input gives equal output, whatever the order of the list.
//
// A Majority is plain data. It calls no model and runs no SQL. Safe for concurrent use if its functions are.
type Majority struct {
	Key func(Candidate) (key string, ok bool) // nil: ByResult

	// Weight returns the weight of a candidate's vote, from 0 to 1e12; nil: 1. Count returns an error for any other
	// weight. A candidate of weight 0 does not vote.
	Weight func(Candidate) float64

	// Penalty is the cost of one doubt, in ln(votes): at 1 a broken rule costs a factor of 2.7. At 0 doubts change
	// only the confidence, not the winner.
	Penalty float64

	// Tie orders the representatives of two clusters with the same score: negative if a goes first. nil: PreferRows.
	Tie func(a, b Candidate) int

	// MinShare, in 0..1, marks the ballot as weak if the winner's share is below it. 0: never.
	MinShare float64

	// Prior is the number of votes that the confidence assumes for the winner and also against it: see Ballot. With 1
	// it is Laplace's rule of succession, so 5 of 5 votes give less confidence than 77 of 77.
	Prior float64

	// Missing is the number of planned samples that are not among the candidates because their calls failed. Like
	// statements that fail, they count against the confidence from the fourth on for each vote.
	Missing int

	// Calibrate returns the chance of being right for a raw confidence (see Ballot). nil: no change.
	Calibrate func(float64) float64

	// MaxWeight and MaxDoubt limit the effect of a vote still to come: see the fields of State. Count does not use
	// them. MaxWeight 0 means 1. MaxDoubt is the spread of the rules that doubt candidates (doubt.Rules.Spread); it
	// is required if Penalty is set.
	MaxWeight, MaxDoubt float64

	// MaxExtraDoubt is MaxDoubt for the votes that join a candidate: how much more a vote with the same key can be
	// doubted. MaxDoubt then applies to a vote without any candidate yet. nil: MaxDoubt for all.
	MaxExtraDoubt func(Candidate) float64

	// Dialect is the dialect of candidates without a Statement. The zero Dialect is SQLite.
	Dialect sqltext.Dialect
}

// PreferRows is the default tie rule: a result with a value goes before one that is empty or all NULL. Use it only
// for ties, because many questions have an empty answer.
func PreferRows(a, b Candidate) int {
	switch x, y := a.valueless(), b.valueless(); {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}

// Ties returns a tie rule that applies rules one after the other, until one of them decides. Without rules the
// earliest sample wins.
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

// Count counts the votes of candidates. The ballot has every cluster, best first, and every abstention with its
// reason, also if the error is ErrNoVote because there was no vote. Other errors name a wrong field of m, as Validate
// does, or the candidate with a wrong weight.
func (m Majority) Count(candidates []Candidate) (Ballot, error) {
	b := Ballot{Sampled: len(candidates), Missing: m.Missing, Prior: m.Prior, Calibrated: m.Calibrate != nil}
	b.Clusters = make([]Cluster, 0, 4) // [] in JSON, not null
	if err := m.Validate(); err != nil {
		return b, err
	}
	slips, repeats := m.Missing, 0
	places, replies := make(map[string]int), make(map[int]bool)
	var votes []ballotPaper
	for _, i := range bySample(candidates) {
		c := &candidates[i]
		key, w, why, err := m.voteOf(i, c)
		if err != nil {
			return b, err
		}
		if why != "" {
			b.Abstained = append(b.Abstained, Abstention{Candidate: i, Why: why})
			switch {
			case why == noWeight: // who gives no weight asks for no vote
			case c.Invalid:
				slips++
			default:
				b.Against++
			}
			continue
		}
		at, seen := places[key]
		if !seen {
			at = len(b.Clusters)
			places[key] = at
			b.Clusters = append(b.Clusters, Cluster{Key: key, Members: make([]int, 0, 8)})
		}
		votes = append(votes, ballotPaper{at, i, w})
		if c.ReplyGroup > 0 && replies[c.ReplyGroup] {
			b.Clusters[at].Repeated++
			repeats++
		}
		replies[c.ReplyGroup] = true
		b.Voted++
	}
	if b.Voted == 0 {
		return b, b.noVote()
	}
	for _, v := range votes {
		b.Clusters[v.cluster].add(v.candidate, candidates[v.candidate].Findings, v.weight, len(b.Clusters) > 1)
	}
	total := b.weight()
	for i := range b.Clusters {
		c := &b.Clusters[i]
		c.settle()
		c.Share = c.Weight / total
		c.Score = math.Log(c.Share) - m.Penalty*c.Doubt
		c.Best = m.best(candidates, c.Members)
		c.SQL = candidates[c.Best].SQL
		// Any other key says which answers are equal.
		if plan, ok := ByPlan(candidates[c.Best]); ok && c.Key == plan {
			c.Split = m.split(candidates, c.Members, c.Best)
		}
	}
	m.order(candidates, b.Clusters)
	b.Against += float64(max(0, slips+repeats-slipsPerReply*(b.Voted-repeats)))
	m.settleConfidence(&b)
	b.Weak = b.Clusters[0].Share < m.MinShare-1e-9
	return b, nil
}

// ballotPaper is the vote of one candidate.
type ballotPaper struct {
	cluster, candidate int
	weight             float64
}

// order sorts clusters, best first. They come in the order of their first samples, which stays where nothing else
// decides.
func (m *Majority) order(candidates []Candidate, clusters []Cluster) {
	tie := m.Tie
	if tie == nil {
		tie = PreferRows
	}
	slices.SortStableFunc(clusters, func(x, y Cluster) int {
		a, b := candidates[x.Best], candidates[y.Best]
		if c := cmp.Compare(round9(y.Score), round9(x.Score)); c != 0 {
			return c
		}
		if (a.Metrics != nil) != (b.Metrics != nil) {
			if a.Metrics != nil {
				return -1
			}
			return 1
		}
		return tie(a, b)
	})
}

// bySample returns the indices of candidates in the order of their samples.
func bySample(candidates []Candidate) []int {
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(candidates[i].Sample, candidates[j].Sample) })
	return order
}

// noWeight is why a candidate of weight 0 has no vote.
const noWeight = "its weight is 0"

// voteOf returns what candidate i votes for and with which weight, or why it does not vote.
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
	switch weight = m.weight(c); {
	case !(weight >= 0 && weight <= greatestWeight):
		return "", 0, "", fmt.Errorf("vote: weight of candidate %d is %v, not a number from 0 to %v", i, weight,
			greatestWeight)
	case weight == 0:
		return "", 0, noWeight, nil
	}
	return key, weight, "", nil
}

func (m *Majority) weight(c *Candidate) float64 {
	if m.Weight == nil {
		return 1
	}
	return m.Weight(*c)
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

// round9 makes scores comparable that differ in the last bits only, because their sums were made in another order.
func round9(x float64) float64 { return math.Round(x * 1e9) }

// add adds a member with its findings. Doubt and Doubts hold weighted sums until settle. The form of an answer counts
// only beside another one.
func (c *Cluster) add(member int, findings []Finding, weight float64, rivalled bool) {
	c.Members = append(c.Members, member)
	c.Weight += weight
	for _, f := range findings {
		if !f.weighs() || f.Form && !rivalled {
			continue
		}
		c.Doubt += weight * f.Doubt
		at := slices.IndexFunc(c.Doubts, func(d Finding) bool { return d.Rule == f.Rule })
		if at < 0 {
			at = len(c.Doubts)
			c.Doubts = append(c.Doubts, Finding{Rule: f.Rule, Detail: f.Detail})
		}
		c.Doubts[at].Doubt += weight * f.Doubt
	}
}

// settle turns weighted sums into means, the greatest doubt first.
func (c *Cluster) settle() {
	c.Doubt /= c.Weight
	for i := range c.Doubts {
		c.Doubts[i].Doubt /= c.Weight
	}
	slices.SortStableFunc(c.Doubts, func(a, b Finding) int { return cmp.Compare(round9(b.Doubt), round9(a.Doubt)) })
}

// slipsPerReply is how many invalid statements for each reply behind it do not count against the answer. On recorded
// answers smaller numbers told right from wrong worse.
const slipsPerReply = 3

// settleConfidence fills in the confidence of every cluster: see Ballot.
func (m Majority) settleConfidence(b *Ballot) {
	all, mean := b.Against+2*m.Prior, b.weight()/float64(b.Voted)
	for i := range b.Clusters {
		all += b.Clusters[i].credit(mean)
	}
	for i := range b.Clusters {
		c := &b.Clusters[i]
		x := 0.0
		if all > 0 { // 0 only for doubts beyond the range of float64
			x = ((1-c.Split)*c.credit(mean) + m.Prior) / all * math.Exp(-c.Doubt/2)
		}
		if m.Calibrate != nil {
			x = m.Calibrate(x)
		}
		if x > 0 { // a NaN of Calibrate leaves 0
			c.Confidence = min(x, 1)
		}
	}
	b.Confidence = b.Clusters[0].Confidence
}

// Validate reports the wrong fields of m: a number below 0, NaN or infinite, a MinShare above 1, a MaxWeight above
// 1e12, and a Penalty without MaxDoubt. Count and State validate m themselves.
func (m Majority) Validate() error {
	var errs []error
	for _, f := range []struct {
		name    string
		x, most float64
		want    string
	}{
		{"Penalty", m.Penalty, math.MaxFloat64, "a number from 0 up"},
		{"Prior", m.Prior, math.MaxFloat64, "a number from 0 up"},
		{"Missing", float64(m.Missing), math.MaxFloat64, "a number from 0 up"},
		{"MaxWeight", m.MaxWeight, greatestWeight, "in 0..1e+12"},
		{"MaxDoubt", m.MaxDoubt, math.MaxFloat64, "a number from 0 up"},
		{"MinShare", m.MinShare, 1, "in 0..1"},
	} {
		if !(f.x >= 0 && f.x <= f.most) {
			errs = append(errs, fmt.Errorf("vote: Majority.%s is %v, not %s", f.name, f.x, f.want))
		}
	}
	if m.Penalty > 0 && m.MaxDoubt == 0 {
		errs = append(errs, errors.New("vote: Majority.Penalty needs MaxDoubt: set it to the Spread of the doubt rules"))
	}
	return errors.Join(errs...)
}
