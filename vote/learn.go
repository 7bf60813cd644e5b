package vote

import "maps"

// LearningRate is the rate to use with [Weights.Disagree] and
// [Weights.Feedback]: a model that is outvoted on a hundred questions keeps 61 %
// of its weight.
const LearningRate = 0.005

// leastWeight is the smallest weight that learning leaves a model, as a share of
// the greatest: nobody is silenced for ever.
const leastWeight = 0.01

// Disagree returns the weights for the next question, learned from a vote without
// any label: the weight of each model of candidates times 1 − rate × the share of
// its candidates that are not in the winning cluster, those that abstained
// included. Weights are scaled so that the greatest stays the greatest it was.
//
// b is the ballot that counted candidates; without a winner nothing changes. w
// itself does not change. A model that is new has the mean weight. rate is taken
// into 0..1.
//
// It feeds on its own verdicts, so rate must be small: at [LearningRate] it stays
// within a point of equal votes, at ten times that it lost up to two
// (docs/petsql.md). It is for streams of questions whose models change; where
// there are labelled questions, [WeightsFromLabels] knows more.
func (w Weights) Disagree(b Ballot, candidates []Candidate, rate float64) Weights {
	return w.learn(b, candidates, rate, "disagreement", true)
}

// Feedback is Disagree with the verdict of the person who asked: was the answer
// right? If it was not, those that voted for it and those that abstained were
// wrong, and of the others nothing is known. It takes a verdict after the vote,
// so it is no way for a label to reach one.
func (w Weights) Feedback(b Ballot, candidates []Candidate, right bool, rate float64) Weights {
	return w.learn(b, candidates, rate, "feedback", right)
}

func (w Weights) learn(b Ballot, candidates []Candidate, rate float64, from string, right bool) Weights {
	out := Weights{Of: maps.Clone(w.Of), From: from, N: w.N + 1}
	if out.Of == nil {
		out.Of = make(map[string]float64)
	}
	if len(b.Clusters) == 0 || !(rate > 0) {
		return out
	}
	wrong := make([]bool, len(candidates)) // by candidate
	for _, i := range b.Clusters[0].Members {
		wrong[i] = true
	}
	if right {
		for i := range wrong {
			wrong[i] = !wrong[i]
		}
	}
	for _, a := range b.Abstained {
		wrong[a.Candidate] = true
	}
	type count struct{ wrong, asked int }
	counts := map[string]count{}
	for i, c := range candidates {
		n := counts[c.Model]
		n.asked++
		if wrong[i] {
			n.wrong++
		}
		counts[c.Model] = n
		if _, known := w.Of[c.Model]; !known {
			out.Of[c.Model] = w.Mean()
		}
	}
	rate = min(rate, 1)
	greatest := out.Max()
	for name, n := range counts {
		out.Of[name] *= 1 - rate*float64(n.wrong)/float64(n.asked)
	}
	if now := out.Max(); now > 0 {
		for name, x := range out.Of {
			out.Of[name] = max(x/now, leastWeight) * greatest
		}
	}
	return out
}
