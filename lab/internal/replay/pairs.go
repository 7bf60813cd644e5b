package replay

// PairFigures count questions of which exactly one of the two best answers of Consensus is right: what a judge of the
// two could win or lose. The JSON keys are documented in the help of the program.
type PairFigures struct {
	Models string  `json:"models"`       // "one" or "several"
	Below  float64 `json:"below"`        // the leader's share of the votes is below this, and not below the line before
	Leader int     `json:"leader_right"` // the leader is right
	Second int     `json:"second_right"` // the runner-up is right
}

// Pairs counts the pairs of all pools, by the number of models and the leader's share.
func Pairs(pools []Pool) (list []PairFigures, err error) {
	for _, models := range []string{"one", "several"} {
		for _, below := range []float64{0.6, 0.8, 1} {
			list = append(list, PairFigures{Models: models, Below: below})
		}
	}
	for _, p := range pools {
		decisions, err := decide(p)
		if err != nil {
			return nil, err
		}
		for i, q := range p.Questions {
			clusters := decisions[i].Ballot.Clusters
			if len(clusters) < 2 {
				continue
			}
			leader, second := q.right(clusters[0].Best), q.right(clusters[1].Best)
			if leader == second {
				continue
			}
			line := &list[lineOf(q, clusters[0].Share)]
			if leader {
				line.Leader++
			} else {
				line.Second++
			}
		}
	}
	return list, nil
}

// lineOf is the place of a question in the list of Pairs.
func lineOf(q *Question, share float64) int {
	line := 0
	for _, c := range q.Candidates {
		if modelOf(c.Model) != modelOf(q.Candidates[0].Model) {
			line = 3
		}
	}
	switch {
	case share >= 0.8:
		line += 2
	case share >= 0.6:
		line++
	}
	return line
}
