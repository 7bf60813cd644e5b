package vote

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

// ErrNoVote says that no candidate had a vote. The error that wraps it tells how
// many abstained and the first reasons; the ballot has them all.
var ErrNoVote = errors.New("vote: no vote")

// Ballot is a counted vote. The zero Ballot has no vote.
//
// Numbers that name candidates are indices into the list that was counted.
// Encoding it to JSON gives the same bytes for the same vote.
type Ballot struct {
	Drawn     int          `json:"drawn"`               // candidates counted, abstaining ones included
	Voted     int          `json:"voted"`               // candidates that did not abstain
	Clusters  []Cluster    `json:"clusters"`            // the winner first
	Abstained []Abstention `json:"abstained,omitempty"` // candidates without a vote

	// Confidence is the winner's, in 0..1, or what Majority.Calibrate makes of
	// it; 0 without a vote. It is
	//
	//	((1 − split) × credit + Prior) ÷ (credit of all clusters + 2·Prior) × e^(−doubt/2)
	//	credit = weight ÷ mean weight × e^(−doubt)
	//
	// so without doubts, Prior and split it is the share. A rival that nobody would
	// believe takes little from the winner, a unanimous but doubtful answer is not
	// sure, and with a Prior neither is one that few votes agree on. Statements of
	// the winner's plan that answer something else do not speak for it.
	//
	// docs/votes.md has its AUROC against being right, beside that of the share.
	Confidence float64 `json:"confidence"`
	// Weak says that the winner's share is below Majority.MinShare: ask a judge,
	// draw more, or abstain.
	Weak bool `json:"weak,omitempty"`
	// Overruled says that a judge chose the winner against the count.
	Overruled bool `json:"overruled,omitempty"`
}

// Cluster is a group of equal candidates.
type Cluster struct {
	Key     string  `json:"key"`               // what its members have in common
	Members []int   `json:"members"`           // by draw
	Best    int     `json:"best"`              // the member that represents it
	SQL     string  `json:"sql"`               // of Best
	Weight  float64 `json:"weight"`            // of its members; the number of members where votes are equal
	Share   float64 `json:"share"`             // Weight ÷ the weight of all votes, in 0..1
	Split   float64 `json:"split,omitempty"`   // part of Weight that answers something else than Best; 0 where the key is not the plan
	Support float64 `json:"support,omitempty"` // weight of the other clusters × their overlap; 0 without Majority.Overlap
	Doubt   float64 `json:"doubt"`             // weighted mean over the members of what their findings add up to
	Score   float64 `json:"score"`             // what clusters are ordered by: ln(share) − Penalty × doubt
	Doubts  []Doubt `json:"doubts,omitempty"`  // the rules that its members broke

	Confidence float64 `json:"confidence"` // the ballot's, if this cluster is the answer
}

// Doubt is one broken rule of a cluster.
type Doubt struct {
	Rule   string  `json:"rule"`             // the name of the rule
	Detail string  `json:"detail,omitempty"` // of the first member that broke it
	Doubt  float64 `json:"doubt"`            // its part of the cluster's doubt
}

// Abstention is a candidate without a vote.
type Abstention struct {
	Candidate int    `json:"candidate"` // its index among those counted
	Why       string `json:"why"`       // in one line
}

// Winner returns the cluster that won, or ErrNoVote with what is known of why
// there is none.
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

// noVote wraps ErrNoVote with the first reasons.
func (b Ballot) noVote() error {
	if b.Drawn == 0 {
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
		reasons = append(reasons, oneLine(a.Why))
	}
	if len(b.Abstained) == b.Drawn && len(seen) == 1 && seen[noWeight] {
		return fmt.Errorf("%w: Majority.Weight is 0 for each of %d candidates, as with a Panel whose Weights are empty or name none of their models", ErrNoVote, b.Drawn)
	}
	if len(reasons) == 0 {
		return fmt.Errorf("%w: none of %d candidates was counted", ErrNoVote, b.Drawn)
	}
	return fmt.Errorf("%w: %d of %d candidates abstained: %s", ErrNoVote, len(b.Abstained), b.Drawn, strings.Join(reasons, "; "))
}

// oneLine is a reason as an error tells it: databases and models wrote parts of it.
func oneLine(why string) string {
	const most = 200
	why = strings.Join(strings.Fields(sqltext.CleanText(strings.Join(strings.Fields(why), " "))), " ")
	if runes := []rune(why); len(runes) > most {
		why = string(runes[:most]) + "…"
	}
	return why
}

// Explain says in one line why the winner won:
//
//	9 of 12 draws, 1 doubt: more columns than asked
//	7 of 12 draws (61 % of the weight, 2 abstained), no doubt
func (b Ballot) Explain() string {
	if len(b.Clusters) == 0 {
		return strings.TrimPrefix(b.noVote().Error(), "vote: ")
	}
	w := b.Clusters[0]
	var s strings.Builder
	fmt.Fprintf(&s, "%d of %d %s", len(w.Members), b.Drawn, plural("draw", b.Drawn))
	var notes []string
	if plain := float64(len(w.Members)) / float64(max(b.Voted, 1)); w.Share < plain-0.005 || w.Share > plain+0.005 {
		notes = append(notes, fmt.Sprintf("%.0f %% of the weight", 100*w.Share))
	}
	if len(b.Abstained) > 0 {
		notes = append(notes, fmt.Sprintf("%d abstained", len(b.Abstained)))
	}
	if len(notes) > 0 {
		s.WriteString(" (" + strings.Join(notes, ", ") + ")")
	}
	// A rule that few members broke is no word about the answer.
	var details []string
	for _, d := range w.Doubts {
		if 2*d.Doubt < w.Doubts[0].Doubt {
			break // they are sorted
		}
		detail := d.Detail
		if detail == "" {
			detail = d.Rule
		}
		details = append(details, detail)
	}
	n := strings.TrimSuffix(strconv.FormatFloat(w.Doubt, 'f', 1, 64), ".0")
	if n == "0" {
		s.WriteString(", no doubt")
	} else {
		word := "doubts"
		if n == "1" {
			word = "doubt"
		}
		s.WriteString(", " + n + " " + word + ": " + strings.Join(details, "; "))
	}
	if w.Split > 0 {
		fmt.Fprintf(&s, "; %.0f %% of these votes are for another answer of the same plan", 100*w.Split)
	}
	if b.Overruled {
		s.WriteString("; a judge chose it over the count")
	}
	return s.String()
}

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
