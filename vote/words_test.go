package vote

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
)

// TestBallotWords records what is said of every vote of one to three samples: for a, for a with a doubt (A), for a by a
// reply that was given before (r), for b (B with a doubt), one that has no rows (0), and one that is no vote (-).
func TestBallotWords(t *testing.T) {
	candidate := func(kind byte) Candidate {
		doubt := []Finding{{Rule: "star", Detail: "all columns selected", Doubt: 1}}
		switch kind {
		case 'A':
			return Candidate{SQL: "a", Fingerprint: "a", Findings: doubt}
		case 'r':
			return Candidate{SQL: "a", Fingerprint: "a", ReplyGroup: 1}
		case 'B':
			return Candidate{SQL: "b", Fingerprint: "b", Findings: doubt}
		case '0':
			return Candidate{SQL: "c", Fingerprint: "c", Empty: true}
		case '-':
			return Candidate{SQL: "d", Rejected: "no such table: d"}
		}
		return Candidate{SQL: string(kind), Fingerprint: string(kind)}
	}
	var b strings.Builder
	var votes func(chosen string, rest string)
	votes = func(chosen string, rest string) {
		if chosen != "" {
			var candidates []Candidate
			for i := range len(chosen) {
				c := candidate(chosen[i])
				c.Sample = i
				candidates = append(candidates, c)
			}
			for _, m := range []Majority{{}, {Penalty: 1, MaxDoubt: 1, Prior: 1, MinShare: 0.6}} {
				ballot, err := m.Count(slices.Clone(candidates))
				fmt.Fprintf(&b, "%s | %s | %s | %.3f %v\n", chosen, ballot.Explain(), ballot.Closing(), ballot.Confidence, err)
			}
		}
		for i := range len(rest) {
			if len(chosen) < 3 {
				votes(chosen+rest[i:i+1], rest[i:])
			}
		}
	}
	votes("", "aArbB0-")
	golden.Check(t, "words.golden", b.String())
}
