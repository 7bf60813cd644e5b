package replay

import (
	"math"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/stats"
	"github.com/texttosql/texttosql/vote"
)

// LevelFigures tell how often the answers of a level are right. The JSON keys are documented in the help of the
// program.
type LevelFigures struct {
	Level string `json:"level"`
	N     int    `json:"n"`
	Right int    `json:"right"`
}

// Levels counts the answers of Consensus in all pools by their level.
func Levels(pools []Pool) ([]LevelFigures, error) {
	list := []LevelFigures{
		{Level: string(vote.LevelAgreed)}, {Level: string(vote.LevelCheck)}, {Level: string(vote.LevelUnsure)},
		{Level: string(vote.LevelSingle)},
	}
	for _, p := range pools {
		decisions, err := decide(p)
		if err != nil {
			return nil, err
		}
		for _, d := range decisions {
			for i := range list {
				if list[i].Level == string(d.Ballot.Level()) {
					list[i].N++
					list[i].Right += int(d.Score)
				}
			}
		}
	}
	return list, nil
}

// decide returns the answers of Consensus to the questions of a pool, in their order.
func decide(p Pool) (list []Decision, err error) {
	consensus, err := VoterNamed("consensus")
	if err != nil {
		return nil, err
	}
	elect, err := consensus.start(p, Settings{})
	if err != nil {
		return nil, err
	}
	for _, q := range p.Questions {
		d, err := elect(q)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// SecondFigures tell what the statements of a second pool are worth as a second opinion on the agreed answers of the
// first. The JSON keys are documented in the help of the program.
type SecondFigures struct {
	First       string `json:"first"`
	Second      string `json:"second"`
	N           int    `json:"n"` // questions of both pools
	Agreed      int    `json:"agreed"`
	AgreedRight int    `json:"agreed_right"`
	Equal       int    `json:"equal"` // agreed answers with the result of the second model's first statement
	EqualRight  int    `json:"equal_right"`
	// agreed answers that both statements of the second model differ from, alike
	Doubted    int            `json:"doubted"`
	DoubtRight int            `json:"doubted_right"`
	Before     *eval.Estimate `json:"auroc_before,omitempty"`
	After      *eval.Estimate `json:"auroc_after,omitempty"`
}

// SecondOpinions compares each pool with each other pool that has 20 of its questions, as WithSecondOpinion does. raise
// is the part of what the confidence lacks to 1 that an equal result adds.
func SecondOpinions(pools []Pool, raise float64, b stats.Bootstrap) (list []SecondFigures, err error) {
	for i, first := range pools {
		decisions, err := decide(first)
		if err != nil {
			return nil, err
		}
		for j, second := range pools {
			if i == j {
				continue
			}
			if f, ok := opinions(first, decisions, second, raise, b); ok {
				list = append(list, f)
			}
		}
	}
	return list, nil
}

// opinions compares the answers of one pool with the statements of another one.
func opinions(first Pool, decisions []Decision, second Pool, raise float64, b stats.Bootstrap) (f SecondFigures,
	ok bool) {
	f = SecondFigures{First: first.Name, Second: second.Name}
	theirs := map[string]*Question{}
	for _, q := range second.Questions {
		theirs[q.ID] = q
	}
	var before, after []eval.Outcome
	for i, q := range first.Questions {
		other := theirs[q.ID]
		if other == nil || len(other.Candidates) < 2 || len(decisions[i].Ballot.Clusters) == 0 {
			continue
		}
		f.N++
		d := decisions[i]
		right := d.Score == 1
		outcome := eval.Outcome{Question: q.ID, Template: q.Template, Score: d.Score, Confidence: d.Ballot.Confidence}
		before = append(before, outcome)
		if d.Ballot.Level() == vote.LevelAgreed {
			outcome.Confidence = f.compare(q.Candidates[d.Ballot.Clusters[0].Best], other, right, d.Ballot.Confidence, raise)
		}
		after = append(after, outcome)
	}
	if f.N < 20 {
		return f, false
	}
	if e, ok := stats.AUROC(b, before); ok {
		f.Before = &e
	}
	if e, ok := stats.AUROC(b, after); ok {
		f.After = &e
	}
	return f, true
}

// compare counts one agreed answer, and returns its confidence after the second opinion.
func (f *SecondFigures) compare(ours vote.Candidate, other *Question, right bool, confidence, raise float64) float64 {
	one := 0
	if right {
		one = 1
	}
	f.Agreed++
	f.AgreedRight += one
	first, second := other.Candidates[0], other.Candidates[1]
	switch {
	case first.Fingerprint == "":
		return confidence
	case first.Fingerprint == ours.Fingerprint:
		f.Equal++
		f.EqualRight += one
		return confidence + (1-confidence)*raise
	case second.Fingerprint == first.Fingerprint:
		f.Doubted++
		f.DoubtRight += one
		return confidence * math.Exp(-0.5)
	}
	return confidence
}
