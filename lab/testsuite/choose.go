package testsuite

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// The weights of the choice. A gold that is not blind on a replica counts as much as eight mutants that the replica
// kills. Each earlier replica that did the same leaves a quarter of the value.
const (
	seeingWeight = 8
	fullValue    = 1 << 20
)

// choose picks draws, one after the other: always the draw with the greatest gain, the lowest on a tie.
func (w *workshop) choose() []int {
	seen := make([]int, len(w.trials))
	killed := make([][]int, len(w.trials))
	for n, t := range w.trials {
		killed[n] = make([]int, len(t.mutants))
	}
	var chosen []int
	for len(chosen) < cmp.Or(w.Replicas, defaultReplicas) {
		best, most := -1, -1
		for i, l := range w.looks {
			if l == nil || slices.Contains(chosen, i) {
				continue
			}
			if gain := w.gain(l, seen, killed); gain > most {
				best, most = i, gain
			}
		}
		if best < 0 {
			break
		}
		chosen = append(chosen, best)
		for n := range w.trials {
			if w.looks[best].seeing[n] {
				seen[n]++
			}
			for i, k := range w.looks[best].kills[n] {
				if k {
					killed[n][i]++
				}
			}
		}
	}
	slices.Sort(chosen)
	return chosen
}

// gain returns what a look adds. seen and killed count for each gold and mutant the chosen draws that reached it.
func (w *workshop) gain(l *look, seen []int, killed [][]int) int {
	worth := func(times int) int { return fullValue >> (2 * times) }
	sum := 0
	for n, t := range w.trials {
		if l.seeing[n] && t.blind {
			sum += seeingWeight * worth(seen[n])
		}
		for i, k := range l.kills[n] {
			if k {
				sum += worth(killed[n][i])
			}
		}
	}
	return sum
}

// manifest describes the suite of the chosen draws.
func (w *workshop) manifest(chosen []int) *Manifest {
	m := &Manifest{
		Version: manifestVersion, Seed: w.Seed, Base: w.content, Draws: len(w.looks), Golds: len(w.trials), Rejected: w.rejected,
		Replicas: []Replica{}, Blind: []string{}, Excluded: []string{}, Survivors: []Mutant{},
	}
	for place, draw := range chosen {
		l := w.looks[draw]
		r := Replica{
			File: fmt.Sprintf("replica-%02d.sqlite", place+1), Draw: draw, Content: l.content, Operations: l.operations,
			Failing: []string{}, Unstable: []string{},
		}
		for n, t := range w.trials {
			switch {
			case t.excluded:
			case l.failing[n]:
				r.Failing = append(r.Failing, t.gold.ID)
			case l.unstable[n]:
				r.Unstable = append(r.Unstable, t.gold.ID)
			}
		}
		m.Replicas = append(m.Replicas, r)
	}
	for n, t := range w.trials {
		if t.excluded {
			m.Excluded = append(m.Excluded, t.gold.ID)
			continue
		}
		sees := func(draw int) bool { return w.looks[draw].seeing[n] }
		switch {
		case t.blind && !slices.ContainsFunc(chosen, sees):
			m.Blind = append(m.Blind, t.gold.ID)
		case t.blind:
			m.BaseOnly++
		}
		for i, mutant := range t.mutants {
			switch {
			case !t.decided[i]:
				m.Undecided++
				continue
			case t.killed[i]:
				m.Killed++
				m.OnBase++
			case slices.ContainsFunc(chosen, func(draw int) bool { return w.looks[draw].kills[n][i] }):
				m.Killed++
			default:
				m.Survivors = append(m.Survivors, mutant)
			}
			m.Mutants++
		}
	}
	return m
}
