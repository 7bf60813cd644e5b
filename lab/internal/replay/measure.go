package replay

import (
	"fmt"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/stats"
)

// AllPools is the name of all pools together.
const AllPools = "all"

// Line holds the figures of one voter in one pool. The JSON keys are documented in the help of the program and must not
// change.
type Line struct {
	Pool  string `json:"pool"`
	Voter string `json:"voter"`
	N     int    `json:"n"` // questions
	K     int    `json:"k"` // most candidates of a question

	Left   int `json:"left_out"`                 // questions with answers that N leaves out
	Failed int `json:"pools_left_out,omitempty"` // pools that a line of all pools leaves out

	Right float64 `json:"right"` // right answers; may be a fraction for the voter one

	EX float64    `json:"ex"` // Right ÷ N
	CI [2]float64 `json:"ci"` // 95 % interval of EX, from resampled questions

	Calls int     `json:"calls"`      // samples of all questions
	Mean  float64 `json:"calls_mean"` // samples a question
	Saved float64 `json:"saved"`      // the part of the samples that was not needed

	AUROC   *float64    `json:"auroc"` // of the confidence; null without one
	AUROCCI *[2]float64 `json:"auroc_ci,omitempty"`

	// Share of wrong answers in the surer half, and how much lower it is than that of all answers, each with its 95 %
	// interval.
	Risk50      *float64    `json:"risk50,omitempty"`
	Risk50CI    *[2]float64 `json:"risk50_ci,omitempty"`
	Reduction   *float64    `json:"risk50_reduction,omitempty"`
	ReductionCI *[2]float64 `json:"risk50_reduction_ci,omitempty"`

	Versus *Versus `json:"versus,omitempty"` // against the voter result
	Fits   string  `json:"fitted,omitempty"` // how the voter was fitted
	Kind   string  `json:"model_kind"`       // "recorded"

	Outcomes []eval.Outcome `json:"-"`
}

// Versus is a paired comparison with naive majority by result.
type Versus struct {
	Voter      string     `json:"voter"`
	Difference float64    `json:"difference"`     // difference of EX
	CI         [2]float64 `json:"ci"`             // 95 %, from resampled questions
	ByTemplate [2]float64 `json:"ci_by_template"` // 95 %, from resampled templates of golds
	Better     int        `json:"better"`         // questions right here and wrong there
	Worse      int        `json:"worse"`
	MidP       float64    `json:"mid_p"` // p value of McNemar's test; a question counts once for each of its pools
}

// outcome returns a decision in the form that the statistics take.
func (q *Question) outcome(pool string, d Decision) eval.Outcome {
	return eval.Outcome{
		Pool: pool, Question: q.ID, Template: q.Template, Database: q.Database, Difficulty: q.Difficulty,
		Score: d.Score, Confidence: d.Confidence,
	}
}

// Measure lets voters vote on pools. The lines are ordered by pool, then by voter. The lines of all pools together come
// last, if there are several pools or were to be. step is called after each voter in each pool; it may be nil.
func Measure(pools []Pool, voters []Voter, s Settings, boot stats.Bootstrap, step func()) ([]Line, error) {
	together := make([]Line, len(voters))
	for i, v := range voters {
		together[i] = Line{Pool: AllPools, Voter: v.Name, Failed: s.Failed}
	}
	var lines []Line
	for _, p := range pools {
		first := len(lines)
		for i, v := range voters {
			l, err := measure(p, v, s)
			if err != nil {
				return nil, fmt.Errorf("voter %s: %w", v.Name, err)
			}
			lines = append(lines, l)
			together[i].join(l)
			if step != nil {
				step()
			}
		}
		finish(lines[first:], voters, s, boot)
	}
	if len(pools)+s.Failed > 1 {
		finish(together, voters, s, boot)
		lines = append(lines, together...)
	}
	return lines, nil
}

// measure lets one voter vote in one pool, without statistics. Saved of its line holds all samples.
func measure(p Pool, v Voter, s Settings) (Line, error) {
	l := Line{Pool: p.Name, Voter: v.Name, Left: p.Without}
	elect, err := v.start(p, s)
	if err != nil {
		return l, err
	}
	for _, q := range p.Questions {
		d, err := elect(q)
		if err != nil {
			return l, err
		}
		l.N++
		l.K = max(l.K, len(q.Candidates))
		l.Right += d.Score
		l.Calls += d.Calls
		l.Saved += float64(len(q.Candidates))
		l.Outcomes = append(l.Outcomes, q.outcome(p.Name, d))
	}
	return l, nil
}

func (l *Line) join(other Line) {
	l.N += other.N
	l.Left += other.Left
	l.K = max(l.K, other.K)
	l.Right += other.Right
	l.Calls += other.Calls
	l.Saved += other.Saved
	l.Outcomes = append(l.Outcomes, other.Outcomes...)
}

// finish turns sums into figures, and compares each line with that of the voter result.
func finish(lines []Line, voters []Voter, s Settings, boot stats.Bootstrap) {
	var naive []eval.Outcome
	for _, l := range lines {
		if l.Voter == "result" {
			naive = l.Outcomes
		}
	}
	for i := range lines {
		l := &lines[i]
		n := float64(max(l.N, 1))
		mean := boot.Mean(l.Outcomes)
		l.EX, l.CI = l.Right/n, [2]float64{mean.Low, mean.High}
		if l.Saved > 0 {
			l.Saved = 1 - float64(l.Calls)/l.Saved
		}
		l.Mean = float64(l.Calls) / n
		l.Kind = "recorded"
		if voters[i].Fits {
			l.Fits = fmt.Sprintf("%d folds by template", s.folds())
		}
		if voters[i].Name != "one" && voters[i].Name != "any" {
			l.AUROC, l.AUROCCI = figure(stats.AUROC(boot, l.Outcomes))
			l.Risk50, l.Risk50CI = figure(stats.Risk(boot, l.Outcomes, 0.5))
			l.Reduction, l.ReductionCI = figure(stats.RiskReduction(boot, l.Outcomes, 0.5))
		}
		if naive != nil && l.Voter != "result" {
			l.Versus = versus(naive, l.Outcomes, boot)
		}
	}
}

// figure returns an estimate with its interval, or nil without one.
func figure(e eval.Estimate, ok bool) (value *float64, interval *[2]float64) {
	if !ok {
		return nil, nil
	}
	return &e.Value, &[2]float64{e.Low, e.High}
}

func versus(naive, outcomes []eval.Outcome, boot stats.Bootstrap) *Versus {
	pairs, err := stats.Pairs(naive, outcomes)
	if err != nil {
		return nil // both lists hold the same questions
	}
	byQuestion := stats.Difference(boot, pairs)
	boot.Unit = stats.ByTemplate
	byTemplate := stats.Difference(boot, pairs)
	v := &Versus{
		Voter: "result", Difference: byQuestion.Value,
		CI: [2]float64{byQuestion.Low, byQuestion.High}, ByTemplate: [2]float64{byTemplate.Low, byTemplate.High},
		MidP: stats.NewMcNemar(pairs).MidP(),
	}
	for _, p := range pairs {
		switch {
		case p.B.Score > p.A.Score:
			v.Better++
		case p.B.Score < p.A.Score:
			v.Worse++
		}
	}
	return v
}
