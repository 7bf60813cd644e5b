package pools

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/vote"
)

// Labelled is one calibration question: what each model answered, and whether it
// was right. It must be none of the questions that are voted on later.
type Labelled struct {
	ID         string           // unique among the questions of a fit
	Database   string           // its id; templates of two databases are two
	Template   string           // of its gold, see GoldTemplate; "" where it is unknown
	Grade      string           // of difficulty, as the vote will see it: sqltext.Dialect.Hardness of a first answer
	Candidates []vote.Candidate // of all models, with Model set
	Right      []bool           // of Candidates
}

// PanelFit finds out whether weights or panels of models are worth having: the
// fitting tool of PET-SQL's difficulty-aware vote, for which the paper has none.
//
// Fit compares equal votes, weights by accuracy (petsql.WeightsFromLabels) and
// panels of several sizes (petsql.PanelFromLabels) by cross-validation: each is
// fitted on all folds but one and votes on that one, questions of one template
// together. Equal votes are recommended unless another way beats the better of
// equal votes and, for a panel, weights by at least one question, 1 % of them, and
// more than half a standard error of the difference, by template.
// In large pools of similar models nothing does; in small ones of unequal models
// ties decide, and weights and panels pay. The zero PanelFit is ready to use.
//
// To measure the choice itself, fit on some questions and score on others.
type PanelFit struct {
	Folds int   // 0 means 5
	Sizes []int // models of a panel; nil means 3, 5, 7 and 9; those not below the number of models are left out
}

// Ways of voting that are compared.
const (
	WayEqual   = "equal"   // every vote counts 1
	WayWeights = "weights" // votes by accuracy of their model
	WayPanel   = "panel"   // some models only; with their number behind: "panel 5"
)

// PanelChoice is what PanelFit found out. Weights and Panel are those of
// petsql.Strategy: at most one is set, none where equal votes are best.
type PanelChoice struct {
	N       int             `json:"n"`                 // questions
	Folds   int             `json:"folds"`             // of the cross-validation
	Ways    []WayRight      `json:"ways"`              // every alternative, as it was compared
	Best    string          `json:"best"`              // the recommended way
	Weights *petsql.Weights `json:"weights,omitempty"` // where Best is WayWeights, fitted on all questions
	Panel   *petsql.Panel   `json:"panel,omitempty"`   // where Best is a panel, fitted on all questions
}

// WayRight is how often a way of voting was right in cross-validation.
type WayRight struct {
	Way   string `json:"way"`   // WayEqual, WayWeights or WayPanel with its size
	Right int    `json:"right"` // questions, each voted on by a fit that had not seen it
}

// String is a line for a person.
func (c PanelChoice) String() string {
	var parts []string
	for _, w := range c.Ways {
		parts = append(parts, fmt.Sprintf("%s %d", w.Way, w.Right))
	}
	return fmt.Sprintf("%s, of %d questions in %d folds: %s", c.Best, c.N, c.Folds, strings.Join(parts, ", "))
}

// Fit chooses. Fewer questions than folds, candidates of one model alone, and a
// question with another number of labels than of candidates are errors. The same
// questions give the same choice; of ways that are right equally often the first
// of Ways wins.
func (f PanelFit) Fit(questions []Labelled) (PanelChoice, error) {
	folds := cmp.Or(f.Folds, 5)
	if folds < 2 || len(questions) < folds {
		return PanelChoice{}, fmt.Errorf("pools: %d questions are too few to fit a panel in %d folds", len(questions), folds)
	}
	models := map[string]bool{}
	outcomes := make([]eval.Outcome, len(questions))
	for i, q := range questions {
		if len(q.Candidates) != len(q.Right) {
			return PanelChoice{}, fmt.Errorf("pools: question %s has %d candidates and %d labels", q.ID, len(q.Candidates), len(q.Right))
		}
		for _, c := range q.Candidates {
			models[c.Model] = true
		}
		outcomes[i] = eval.Outcome{Question: q.ID, Database: q.Database, Template: q.Template}
	}
	if len(models) < 2 {
		return PanelChoice{}, errors.New("pools: a panel needs candidates of two models or more")
	}
	ways := []way{{name: WayEqual}, {name: WayWeights}}
	sizes := f.Sizes
	if sizes == nil {
		sizes = []int{3, 5, 7, 9}
	}
	for _, m := range sizes {
		if m > 0 && m < len(models) {
			ways = append(ways, way{WayPanel, m})
		}
	}
	units := make([]string, len(questions))
	for i, o := range outcomes {
		units[i] = eval.ByTemplate(o)
	}
	choice := PanelChoice{N: len(questions), Folds: folds}
	fold := eval.Folds(outcomes, eval.ByTemplate, folds)
	right := make([][]bool, len(ways)) // by way and question
	for w, one := range ways {
		right[w] = make([]bool, len(questions))
		for k := range folds {
			var fit []Labelled
			for i, q := range questions {
				if fold[i] != k {
					fit = append(fit, q)
				}
			}
			voter := newWayVoter(one, fit)
			for i, q := range questions {
				if fold[i] == k {
					right[w][i] = voter.right(q)
				}
			}
		}
		choice.Ways = append(choice.Ways, WayRight{one.String(), count(right[w])})
	}
	best := ways[recommended(right, units)]
	choice.Best = best.String()
	final := newWayVoter(best, questions)
	choice.Weights, choice.Panel = final.weights, final.panel
	return choice, nil
}

// recommended is the place of the best way by the rule of PanelFit; the first is
// equal votes, the second weights.
func recommended(right [][]bool, unit []string) int {
	base := 0
	if count(right[1]) > count(right[0]) {
		base = 1
	}
	best := 0
	if beats(right[1], right[0], unit) {
		best = 1
	}
	for w := 2; w < len(right); w++ {
		// A larger panel has to be better than a smaller one, not equal.
		if beats(right[w], right[base], unit) && count(right[w]) > count(right[best]) {
			best = w
		}
	}
	return best
}

// beats reports whether a is right more often than b by one question, by 1 % of
// them, and by more than half a standard error of the difference. That error is
// the root of the summed squares of the differences by unit: questions of one
// template are right or wrong together. The best of several ways looks better than
// it is: without the last condition the choice lost 1.6 points on the 50 runs of
// ClassicModels; with a whole standard error small pools gained half as much
// (TestPanelPools).
func beats(a, b []bool, unit []string) bool {
	more := 0
	net := map[string]int{}
	for i := range a {
		if a[i] != b[i] {
			if a[i] {
				more++
				net[unit[i]]++
			} else {
				more--
				net[unit[i]]--
			}
		}
	}
	square := 0
	for _, n := range net {
		square += n * n
	}
	return more >= 1 && float64(more) >= 0.01*float64(len(a)) && float64(more) > math.Sqrt(float64(square))/2
}

func count(right []bool) (n int) {
	for _, r := range right {
		if r {
			n++
		}
	}
	return n
}

// Right reports whether the choice elects a right answer to q, which no fit has
// seen.
func (c PanelChoice) Right(q Labelled) bool {
	return wayVoter{weights: c.Weights, panel: c.Panel}.right(q)
}

// way is a way of voting that is compared.
type way struct {
	name string // one of the constants
	size int    // models of a panel; 0 for the other ways
}

// String is the way as PanelChoice names it.
func (w way) String() string {
	if w.size == 0 {
		return w.name
	}
	return fmt.Sprintf("%s %d", w.name, w.size)
}

// wayVoter is one way of voting, fitted.
type wayVoter struct {
	weights *petsql.Weights
	panel   *petsql.Panel
}

func newWayVoter(of way, fit []Labelled) wayVoter {
	switch of.name {
	case WayEqual:
		return wayVoter{}
	case WayWeights:
		w := petsql.WeightsFromLabels(recordsOf(fit))
		return wayVoter{weights: &w}
	default:
		byGrade := map[string][]Labelled{}
		for _, q := range fit {
			byGrade[q.Grade] = append(byGrade[q.Grade], q)
		}
		graded := map[string]map[string]petsql.Record{}
		for grade, questions := range byGrade {
			graded[grade] = recordsOf(questions)
		}
		p := petsql.PanelFromLabels(of.size, graded)
		return wayVoter{panel: &p}
	}
}

// recordsOf counts how often each model was right.
func recordsOf(questions []Labelled) map[string]petsql.Record {
	records := map[string]petsql.Record{}
	for _, q := range questions {
		for i, c := range q.Candidates {
			r := records[c.Model]
			r.Asked++
			if q.Right[i] {
				r.Right++
			}
			records[c.Model] = r
		}
	}
	return records
}

// right votes on q as petsql.Strategy does: ties go to the model of the greater
// weight, and where the panel has no vote, everyone votes.
func (v wayVoter) right(q Labelled) bool {
	weight := func(vote.Candidate) float64 { return 1 }
	switch {
	case v.weights != nil:
		weight = v.weights.Weight
	case v.panel != nil:
		weight = v.panel.Weight(q.Grade)
	}
	order := make([]int, len(q.Candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weight(q.Candidates[b]), weight(q.Candidates[a])) })
	candidates := make([]vote.Candidate, len(order))
	for place, i := range order {
		candidates[place] = q.Candidates[i]
		candidates[place].Sample = place // the last tie goes to the earliest sample
	}
	ballot, err := vote.Majority{Weight: weight}.Count(candidates)
	if err != nil {
		ballot, err = vote.Majority{}.Count(candidates)
	}
	return err == nil && q.Right[order[ballot.Clusters[0].Best]]
}
