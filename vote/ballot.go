package vote

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// ErrNoVote says that no candidate had a vote. The error that wraps it tells how many abstained and the first reasons;
// the ballot has all reasons.
var ErrNoVote = errors.New("vote: no vote")

// Ballot is a counted vote. The zero Ballot has no vote. Numbers that name candidates are indices into the list that
// was counted. Its JSON is the same for the same vote.
type Ballot struct {
	Sampled   int          `json:"sampled"`             // candidates counted, abstaining ones included
	Voted     int          `json:"voted"`               // candidates that did not abstain
	Clusters  []Cluster    `json:"clusters"`            // the winner first
	Abstained []Abstention `json:"abstained,omitempty"` // candidates without a vote

	// Confidence is that of the winner, in 0..1; 0 without a vote. It is, or
	// Majority.Calibrate makes it of,
	//
	//	((1 − split) × credit + Prior) ÷ (credit of all clusters + Against + 2·Prior) × e^(−doubt/2)
	//	credit = weight × (1 − repeated ÷ members) ÷ mean weight × e^(−doubt)
	//
	// Without doubts, abstentions, Prior and split that is the share. A rival that is
	// doubted takes little from the winner, and a unanimous but doubted answer is not
	// sure. With a Prior, few votes are less sure than many.
	Confidence float64 `json:"confidence"`

	// Against counts against every answer: 1 for each abstention. Invalid statements, failed samples and repeated
	// replies count only beyond three for each other reply, because a slip in one statement says little about the others.
	Against float64 `json:"against,omitempty"`
	Missing int     `json:"missing,omitempty"` // that of the Majority
	Prior   float64 `json:"prior,omitempty"`   // that of the Majority

	Calibrated bool `json:"calibrated,omitempty"` // Majority.Calibrate made the confidence of what the formula gives

	// Weak says that the winner's share is below Majority.MinShare: ask a judge, take more samples, or abstain.
	Weak bool `json:"weak,omitempty"`

	// Overruled says that a judge or a correction chose the winner against the count.
	Overruled bool `json:"overruled,omitempty"`
}

// Cluster is a group of equal candidates. One member, Best, represents it.
//
// Where members have different results, as equal plans may, Best is one of those with the most frequent result; where
// they were not run, with the most frequent normalised text. If more than half of these have a top-level ORDER BY, it
// is one of those with the most frequent sequence of rows. Among these it is the one with the lowest Cost, then the
// shortest SQL, then the earliest sample. A result without a value is represented by the most frequent text of its most
// frequent plan instead.
type Cluster struct {
	Key     string  `json:"key"`              // what its members have in common
	Members []int   `json:"members"`          // the members in the order of samples
	Best    int     `json:"best"`             // the member that represents it
	SQL     string  `json:"sql"`              // that of Best
	Weight  float64 `json:"weight"`           // weights of its members, added up; their number where votes are equal
	Share   float64 `json:"share"`            // Weight ÷ the weight of all votes, in 0..1
	Split   float64 `json:"split,omitempty"`  // part of Weight that answers something else than Best; 0 where the key is not the plan
	Doubt   float64 `json:"doubt"`            // weighted mean over the members of what their findings add up to
	Score   float64 `json:"score"`            // what clusters are ordered by: ln(share) − Penalty × doubt
	Doubts  []Doubt `json:"doubts,omitempty"` // the rules that its members broke

	Repeated   int     `json:"repeated,omitempty"` // members that repeat the ReplyGroup of another one: they vote, and add no confidence
	Confidence float64 `json:"confidence"`         // that of the ballot, if this cluster is the answer
}

// Doubt is one rule that members of a cluster broke.
type Doubt struct {
	Rule   string  `json:"rule"`             // name of the rule
	Detail string  `json:"detail,omitempty"` // the detail as the first member that broke the rule has it
	Doubt  float64 `json:"doubt"`            // part of the cluster's doubt
}

// Abstention is a candidate without a vote.
type Abstention struct {
	Candidate int    `json:"candidate"` // its index among those counted
	Why       string `json:"why"`       // one line
}

// Winner returns the cluster that won. Without one the error wraps ErrNoVote and says what is known of why.
func (b Ballot) Winner() (Cluster, error) {
	if len(b.Clusters) == 0 {
		return Cluster{}, b.noVote()
	}
	return b.Clusters[0], nil
}

// RunnerUp returns the second cluster; ok is false when there is none.
func (b Ballot) RunnerUp() (c Cluster, ok bool) {
	if len(b.Clusters) < 2 {
		return Cluster{}, false
	}
	return b.Clusters[1], true
}

// Disputed reports whether a person should choose: there are two clusters or more, and the winner holds less than the
// share below, in 0..1, of the samples. Samples that abstained count as such; candidates of weight 0 are no samples.
// below 0: never. A ballot that leaves Voted 0 is not disputed.
func (b Ballot) Disputed(below float64) bool {
	if len(b.Clusters) < 2 || b.Voted == 0 {
		return false
	}
	samples := b.Sampled
	for _, a := range b.Abstained {
		if a.Why == noWeight {
			samples--
		}
	}
	return b.Clusters[0].Share*float64(b.Voted) < below*float64(samples)-1e-9
}

// Overrule makes cluster i the winner, against the count. The others keep their order, and the ballot gets the
// confidence of cluster i. An i that names no cluster, or the winner, changes nothing.
func (b *Ballot) Overrule(i int) {
	if i <= 0 || i >= len(b.Clusters) {
		return
	}
	chosen := b.Clusters[i]
	// A copy: another Ballot may share the list.
	b.Clusters = slices.Insert(slices.Delete(slices.Clone(b.Clusters), i, i+1), 0, chosen)
	b.Confidence = chosen.Confidence
	b.Overruled = true
}

// noVote wraps ErrNoVote with the first reasons.
func (b Ballot) noVote() error {
	if b.Sampled == 0 {
		return fmt.Errorf("%w: no candidate", ErrNoVote)
	}
	var reasons []string
	seen := make(map[string]bool)
	for _, a := range b.Abstained {
		if seen[a.Why] {
			continue
		}
		seen[a.Why] = true
		if len(reasons) == 3 {
			reasons = append(reasons, "…")
			break
		}
		reasons = append(reasons, words.Short(words.Line(a.Why), 200)) // databases and models wrote parts of it
	}
	switch {
	case len(b.Abstained) == b.Sampled && len(seen) == 1 && seen[noWeight]:
		return fmt.Errorf("%w: Majority.Weight is 0 for each of %d candidates, as with weights that name none of their models", ErrNoVote, b.Sampled)
	case len(reasons) == 0:
		return fmt.Errorf("%w: none of %d candidates was counted", ErrNoVote, b.Sampled)
	}
	return fmt.Errorf("%w: %d of %d candidates abstained: %s", ErrNoVote, len(b.Abstained), b.Sampled, strings.Join(reasons, "; "))
}

// From these confidences on an answer is sure, or to be checked, in [InWords].
const (
	surely = 0.85
	maybe  = 0.60
)

// InWords is a confidence for a person: "Sure" from 0.85 on, "Check this" from 0.60 on, else "Not sure".
func InWords(confidence float64) string {
	switch {
	case confidence >= surely:
		return "Sure"
	case confidence >= maybe:
		return "Check this"
	}
	return "Not sure"
}

// Summary says in plain words how sure the winner is, [InWords] first. [Ballot.Explain] has the factors.
//
//	Check this: 6 of 7 votes agree (2 samples gave no usable statement). Confidence 0.70.
//	Not sure: nothing confirms the only vote. Doubted: more columns than asked. Confidence 0.41.
func (b Ballot) Summary() string {
	if len(b.Clusters) == 0 {
		return "No answer: " + strings.TrimPrefix(b.noVote().Error(), "vote: ") + "."
	}
	w := b.Clusters[0]
	word, how := InWords(b.Confidence), fmt.Sprintf("%d of %d votes agree", len(w.Members), b.Voted)
	switch {
	case b.Overruled:
		how = fmt.Sprintf("chosen over the count, by which it has %d of %d votes", len(w.Members), b.Voted)
	case b.Voted == 1:
		how = "nothing confirms the only vote"
	}
	var without []string
	if n := len(b.Abstained); n > 0 {
		without = append(without, fmt.Sprintf("%d %s gave no usable statement", n, words.Plural("sample", n)))
	}
	if b.Missing > 0 {
		without = append(without, fmt.Sprintf("%d gave no reply", b.Missing))
	}
	if len(without) > 0 {
		how += " (" + strings.Join(without, ", ") + ")"
	}
	if details := w.doubts(); len(details) > 0 {
		how += ". Doubted: " + strings.Join(details, "; ")
	}
	return fmt.Sprintf("%s: %s. Confidence %.2f.", word, how, b.Confidence)
}

// doubts are the rules that most members broke, in words.
func (c Cluster) doubts() (details []string) {
	for _, d := range c.Doubts {
		if 2*d.Doubt < c.Doubts[0].Doubt {
			break // a rule that few members broke says nothing about the answer; Doubts are sorted
		}
		details = append(details, cmp.Or(d.Detail, d.Rule))
	}
	return details
}

// Explain says in one line why the winner won, and names every factor of its confidence:
//
//	9 of 12 samples, 1 doubt: more columns than asked; 1 vote either way taken for granted
//	5 of 9 samples, no doubt; the 4 votes for other answers are doubted or repeated and count as 0.2
//	1 of 12 samples (11 abstained), no doubt; a single vote, nothing confirms it
func (b Ballot) Explain() string {
	if len(b.Clusters) == 0 {
		return strings.TrimPrefix(b.noVote().Error(), "vote: ")
	}
	w := b.Clusters[0]
	var s strings.Builder
	fmt.Fprintf(&s, "%d of %d %s", len(w.Members), b.Sampled, words.Plural("sample", b.Sampled))
	var notes []string
	if plain := float64(len(w.Members)) / float64(max(b.Voted, 1)); w.Share < plain-0.005 || w.Share > plain+0.005 {
		notes = append(notes, fmt.Sprintf("%.0f %% of the weight", 100*w.Share))
	}
	if len(b.Abstained) > 0 {
		notes = append(notes, fmt.Sprintf("%d abstained", len(b.Abstained)))
	}
	if b.Missing > 0 {
		notes = append(notes, fmt.Sprintf("%d more gave no reply", b.Missing))
	}
	if len(notes) > 0 {
		s.WriteString(" (" + strings.Join(notes, ", ") + ")")
	}
	details := w.doubts()
	number := func(x float64) string { return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0") }
	plural := func(x float64) string { return number(x) + " " + words.Plural("vote", int(math.Ceil(x))) }
	switch n := number(w.Doubt); n {
	case "0":
		s.WriteString(", no doubt")
	case "1":
		s.WriteString(", 1 doubt: " + strings.Join(details, "; "))
	default:
		s.WriteString(", " + n + " doubts: " + strings.Join(details, "; "))
	}
	switch replies := len(w.Members) - w.Repeated; {
	case replies > 1:
	case w.Repeated > 0:
		s.WriteString("; one reply made all of these votes, nothing confirms it")
	default:
		s.WriteString("; a single vote, nothing confirms it")
	}
	if w.Split > 0 {
		fmt.Fprintf(&s, "; %.0f %% of these votes are for another answer of the same plan", 100*w.Split)
	}
	if w.Repeated > 0 && len(w.Members) > w.Repeated+1 {
		fmt.Fprintf(&s, "; repeated replies made %d of these votes, which add no confidence", w.Repeated)
	}
	votes, credit, mean := 0.0, 0.0, b.weight()/float64(b.Voted)
	for _, c := range b.Clusters[1:] {
		votes, credit = votes+c.Weight/mean, credit+c.credit(mean)
	}
	if votes-credit > 0.05 {
		fmt.Fprintf(&s, "; the %s for other answers are doubted or repeated and count as %s", plural(votes), number(credit))
	}
	if b.Against > 0 && b.Against != float64(len(b.Abstained)) {
		fmt.Fprintf(&s, "; %s against it for abstentions, failures and repeated replies", plural(b.Against))
	}
	if b.Prior > 0 {
		fmt.Fprintf(&s, "; %s either way taken for granted", plural(b.Prior))
	}
	if b.Calibrated {
		s.WriteString("; calibrated")
	}
	if b.Overruled {
		s.WriteString("; chosen against the count")
	}
	return s.String()
}

// weight is that of all votes.
func (b *Ballot) weight() (total float64) {
	for _, c := range b.Clusters {
		total += c.Weight
	}
	return total
}

// credit is what the votes of c count in a confidence, where an average vote weighs mean.
func (c *Cluster) credit(mean float64) float64 {
	replies := 1 - float64(c.Repeated)/float64(len(c.Members))
	return c.Weight * replies / mean * math.Exp(-c.Doubt)
}
