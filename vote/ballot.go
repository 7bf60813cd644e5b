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

// ErrNoVote reports that no candidate had a vote. The error that wraps it has the number of abstentions and the first
// reasons; the ballot has all reasons.
var ErrNoVote = errors.New("vote: no vote")

// Ballot is a counted vote. The zero Ballot has no vote. Numbers that name candidates are indices into the counted
// list. Equal votes have equal JSON.
type Ballot struct {
	Sampled   int          `json:"sampled"`             // candidates counted, including abstaining ones
	Voted     int          `json:"voted"`               // candidates that did not abstain
	Clusters  []Cluster    `json:"clusters"`            // the winner first
	Abstained []Abstention `json:"abstained,omitempty"` // candidates without a vote

	// Confidence is the winner's confidence, in 0..1; 0 without a vote. It is the value of this formula, or of
	// Majority.Calibrate for it:
	//
	//	((1 − split) × credit + Prior) ÷ (credit of all clusters + Against + 2·Prior) × e^(−doubt/2)
	//	credit = weight × (1 − repeated ÷ members) ÷ mean weight × e^(−doubt)
	//
	// Without doubts, abstentions, Prior and split it equals the share. A doubted rival takes little from the winner,
	// and a unanimous but doubted answer has less confidence. With a Prior, few votes give less confidence than many.
	Confidence float64 `json:"confidence"`

	// Against counts against every answer: 1 for each abstention. Up to three invalid statements, failed samples and
	// repeated replies for each other reply do not count, because an error in one statement means little for the
	// others.
	Against float64 `json:"against,omitempty"`
	Missing int     `json:"missing,omitempty"` // Majority.Missing
	Prior   float64 `json:"prior,omitempty"`   // Majority.Prior

	Calibrated bool `json:"calibrated,omitempty"` // Majority.Calibrate computed Confidence from the formula

	// Second is the name of a second model whose statement has the winner's result; "": no second model was called,
	// or its result differs.
	Second string `json:"second,omitempty"`

	// Weak reports that the winner's share is below Majority.MinShare: call a judge, take more samples, or abstain.
	Weak bool `json:"weak,omitempty"`

	// Overruled reports that a judge or a correction chose the winner against the count.
	Overruled bool `json:"overruled,omitempty"`
}

// Cluster is a group of equal candidates. One member, Best, represents it.
//
// Members may have different results, as equal plans may. Best then has the most frequent result; if members did not
// run, it has the most frequent normalised text. If more than half of these have a top-level ORDER BY, Best has the
// most frequent sequence of rows. Among these it has the most frequent text, ignoring blanks and the case of letters;
// then the lowest Cost, the shortest SQL, and the earliest sample. If the result has no value, Best has the most
// frequent text of the most frequent plan instead.
type Cluster struct {
	Key     string    `json:"key"`              // the common key of its members
	Members []int     `json:"members"`          // the members in the order of samples
	Best    int       `json:"best"`             // the member that represents it
	SQL     string    `json:"sql"`              // the SQL of Best
	Weight  float64   `json:"weight"`           // sum of its members' weights; their number if votes are equal
	Share   float64   `json:"share"`            // Weight ÷ the weight of all votes, in 0..1
	Split   float64   `json:"split,omitempty"`  // part of Weight with another answer than Best; 0 unless keys are plans
	Doubt   float64   `json:"doubt"`            // weighted mean over the members of the sum of their findings
	Score   float64   `json:"score"`            // orders the clusters: ln(share) − Penalty × doubt
	Doubts  []Finding `json:"doubts,omitempty"` // broken rules, each with its part of Doubt and the first member's Detail

	// members with a repeated ReplyGroup: they vote, without more confidence
	Repeated   int     `json:"repeated,omitempty"`
	Confidence float64 `json:"confidence"` // the ballot's confidence if this cluster is the answer
}

// Abstention is a candidate without a vote.
type Abstention struct {
	Candidate int    `json:"candidate"` // its index among those counted
	Why       string `json:"why"`       // one line
}

// Winner returns the cluster that won. If there is none, the error wraps ErrNoVote with the known reasons.
func (b Ballot) Winner() (Cluster, error) {
	if len(b.Clusters) == 0 {
		return Cluster{}, b.noVote()
	}
	return b.Clusters[0], nil
}

// RunnerUp returns the second cluster; ok is false if there is none.
func (b Ballot) RunnerUp() (c Cluster, ok bool) {
	if len(b.Clusters) < 2 {
		return Cluster{}, false
	}
	return b.Clusters[1], true
}

// Disputed reports whether a person should choose: there are two clusters or more, and the winner has less than the
// share below, in 0..1, of the samples. Abstaining samples count as samples; candidates of weight 0 do not. below 0
// means never. A ballot with Voted 0 is not disputed.
func (b Ballot) Disputed(below float64) bool {
	if len(b.Clusters) < 2 || b.Voted == 0 {
		return false
	}
	return b.Clusters[0].Share*float64(b.Voted) < below*float64(b.requested()-b.Missing)-1e-9
}

// Overrule makes cluster i the winner, against the count. The others keep their order, and the ballot gets the
// confidence of cluster i. If i names no cluster, or the winner, Overrule changes nothing.
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
		return fmt.Errorf("%w: Majority.Weight is 0 for each of %d candidates, as with weights that name none of their "+
			"models", ErrNoVote, b.Sampled)
	case len(reasons) == 0:
		return fmt.Errorf("%w: none of %d candidates was counted", ErrNoVote, b.Sampled)
	}
	return fmt.Errorf("%w: %d of %d candidates abstained: %s", ErrNoVote, len(b.Abstained), b.Sampled,
		strings.Join(reasons, "; "))
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

// Explain returns one line about why the winner won. It names every factor of the confidence:
//
//	9 of 12 samples, 1 doubt: more columns than asked; 1 vote for and 1 against are added
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
	s.WriteString(b.rivals())
	if b.Against > 0 && b.Against != float64(len(b.Abstained)) {
		fmt.Fprintf(&s, "; %s against it for abstentions, failures and repeated replies", inVotes(b.Against))
	}
	if b.Prior > 0 {
		fmt.Fprintf(&s, "; %s for and %s against are added", inVotes(b.Prior), number(b.Prior))
	}
	if b.Calibrated {
		s.WriteString("; calibrated")
	}
	if b.Overruled {
		s.WriteString("; chosen against the count")
	}
	return s.String()
}

// rivals says how little the votes for other answers count; "": they count as much as they are.
func (b *Ballot) rivals() string {
	votes, credit, mean := 0.0, 0.0, b.weight()/float64(b.Voted)
	for _, c := range b.Clusters[1:] {
		votes, credit = votes+c.Weight/mean, credit+c.credit(mean)
	}
	switch all := inVotes(votes); {
	case votes-credit <= 0.05:
		return ""
	case all == "1 vote":
		return "; the vote for another answer is doubted or repeated and counts as " + number(credit)
	default:
		return "; the " + all + " for other answers are doubted or repeated and count as " + number(credit)
	}
}

// number writes a count of votes with one decimal at most.
func number(x float64) string { return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0") }

func inVotes(x float64) string {
	if n := number(x); n != "1" {
		return n + " votes"
	}
	return "1 vote"
}

// weight returns the weight of all votes.
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
