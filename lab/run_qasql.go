package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/qasql"
)

// judged is a qasql with the judge of --judge and the share of --min-share.
func (l *live) judged(p *program, chosen preset, scorer *eval.Scorer) (preset, error) {
	s, ok := chosen.Strategy.(qasql.Strategy)
	switch {
	case !ok && (l.Judge != "model" || l.MinShare != 0):
		return chosen, fmt.Errorf("--judge and --min-share are for qasql, not for strategy %s", chosen.Name)
	case !ok:
		return chosen, nil
	}
	s.MinShare = l.MinShare
	switch l.Judge {
	case "none":
		s.WithoutJudge = true
	case "gold":
		s.Judge = knowing{scorer}
	default:
		if provider, _, _ := strings.Cut(l.Model, ":"); provider == "pool" || provider == "phases" {
			p.note("%s cannot judge, so the vote always stands: --judge none or gold says what to measure", l.Model)
		}
	}
	chosen.Strategy = s
	return chosen, nil
}

// asking is the question that a strategy works on, in its context.
type asking struct {
	eval.Question
	judged int // times that a knowing judge was asked
}

type askingKey struct{}

// knowing is a judge that knows the gold.
type knowing struct{ scorer *eval.Scorer }

// Choose returns the first option that is right.
func (k knowing) Choose(ctx context.Context, _ *strategy.Env, in strategy.JudgeInput) (strategy.Verdict, error) {
	q := ctx.Value(askingKey{}).(*asking)
	q.judged++
	for i, option := range in.Options {
		v, err := k.scorer.Score(ctx, q.Question, option.SQL)
		if err != nil {
			return strategy.Verdict{Choice: -1}, err
		}
		if v.Scores[0] == 1 {
			return strategy.Verdict{Choice: i}, nil
		}
	}
	return strategy.Verdict{Choice: -1}, nil
}

// described gives a qasql the descriptions that stand beside a database, in the form of BIRD. Under pools it also takes
// their texts for those of a model, since recorded answers depend on no prompt and only tokens do, and as many contexts
// as there are pools, so that pool i answers context i. Other strategies are as they were, without descriptions.
func (a *asker) described(s strategy.Strategy, database, path string) (strategy.Strategy, schema.Descriptions, error) {
	p, ok := s.(qasql.Strategy)
	if !ok {
		return s, nil, nil
	}
	descriptions, err := readDescriptions(path)
	if err != nil || len(a.source.pools) == 0 {
		return p, descriptions, err
	}
	for name, d := range descriptions {
		d.Described = cmp.Or(d.Text, d.Title)
		descriptions[name] = d
	}
	p.Linker.LexicalOnly = true
	var left []string
	for _, c := range (qasql.Strategy{}).DefaultContexts() {
		oneSource := c.Prompt.WithoutExpertText != c.Prompt.WithoutModelText
		if len(p.Contexts) < len(a.source.pools) && (len(descriptions) > 0 || !oneSource) {
			p.Contexts = append(p.Contexts, c)
		} else {
			left = append(left, c.Name)
		}
	}
	if n := len(a.source.pools); len(p.Contexts) < n {
		return nil, nil,
			fmt.Errorf("%d pools are too many for strategy qasql, which has %d contexts about database %s: give a pool for each",
				n, len(p.Contexts), database)
	}
	if len(left) > 0 {
		a.program.note("left out: contexts without a pool, about database %s: %s", database, strings.Join(left, ", "))
	}
	return p, descriptions, nil
}

// readDescriptions reads the folder NAME_description beside a database, or else database_description; nil if there is
// none.
func readDescriptions(path string) (schema.Descriptions, error) {
	for _, dir := range []string{strings.TrimSuffix(path, filepath.Ext(path)) + "_description",
		filepath.Join(filepath.Dir(path), "database_description")} {
		d, err := eval.ReadBIRD(os.DirFS(dir))
		if !errors.Is(err, fs.ErrNotExist) {
			return d, err
		}
	}
	return nil, nil
}

// Figures are those of a qasql, about one question or added up.
type Figures struct {
	Judged           int              `json:"judged"`
	JudgeCalls       int              `json:"judge_calls"`
	Overruled        int              `json:"overruled"`
	RefinedRight     int              `json:"refined_right"`
	Rejected         int              `json:"rejected"`
	Clusters         int              `json:"clusters"`
	BallotConfidence float64          `json:"ballot_confidence,omitempty"` // not added up
	Contexts         []contextFigures `json:"contexts"`
}

// contextFigures are those of a context.
type contextFigures struct {
	Name       string `json:"name"`
	LeftOut    int    `json:"left_out"`
	Tokens     int    `json:"tokens"` // in a sum: the mean
	Candidates int    `json:"candidates"`
	Right      int    `json:"right"`
	Wins       int    `json:"wins"`
}

// figures returns what a qasql tells about a question, nil for another strategy.
func (a *asker) figures(ctx context.Context, q *asking, r *texttosql.Result) (*Figures, error) {
	report, err := strategy.ReadReport[qasql.Report](r.Report)
	if err != nil {
		return nil, nil
	}
	f := &Figures{JudgeCalls: max(report.JudgeCalls, q.judged), Clusters: report.Clusters,
		BallotConfidence: r.Ballot.Confidence}
	f.Judged = min(f.JudgeCalls, 1)
	if r.Ballot.Overruled {
		f.Overruled = 1
	}
	var asked []string
	for _, c := range (qasql.Strategy{}).DefaultContexts() {
		told := contextFigures{Name: c.Name, LeftOut: 1}
		for _, shown := range report.Contexts {
			switch skipped := shown.Skipped; {
			case shown.Name != c.Name:
			case skipped == "":
				told.LeftOut, told.Tokens, asked = 0, shown.Tokens, append(asked, c.Name)
			case len(a.source.pools) > 0:
				return nil, fmt.Errorf("the context %s is left out (%s), so pools and contexts do not fit: give fewer pools",
					c.Name, skipped)
			}
		}
		f.Contexts = append(f.Contexts, told)
	}
	winner, failed := -1, map[int]bool{}
	if len(r.Ballot.Clusters) > 0 {
		winner = r.Ballot.Clusters[0].Best
	}
	for _, s := range r.Steps {
		failed[s.Sample] = failed[s.Sample] || s.Try == 0 && s.Status != "ok" && s.Status != "suspect"
	}
	for i, c := range r.Candidates {
		if c.Rejected != "" {
			f.Rejected++
			continue
		}
		v, err := a.scorer.Score(ctx, q.Question, c.SQL)
		if err != nil {
			return nil, err
		}
		right := int(v.Scores[0])
		if failed[c.Sample] {
			f.RefinedRight += right
		}
		if c.Sample >= report.Asked { // the last resort
			continue
		}
		of := &f.Contexts[slices.IndexFunc(f.Contexts, func(o contextFigures) bool {
			return o.Name == asked[c.Sample%len(asked)]
		})]
		of.Candidates++
		of.Right += right
		if i == winner {
			of.Wins++
		}
	}
	return f, nil
}

// addUp adds up the figures of questions, nil if there are none.
func addUp(list []finished) *Figures {
	var sum *Figures
	n := 0
	for _, q := range list {
		f := q.Figures
		if f == nil {
			continue
		}
		if n++; sum == nil {
			sum = &Figures{Contexts: make([]contextFigures, len(f.Contexts))}
		}
		sum.Judged += f.Judged
		sum.JudgeCalls += f.JudgeCalls
		sum.Overruled += f.Overruled
		sum.RefinedRight += f.RefinedRight
		sum.Rejected += f.Rejected
		sum.Clusters += f.Clusters
		for i, c := range f.Contexts {
			of := &sum.Contexts[i]
			of.Name = c.Name
			of.LeftOut += c.LeftOut
			of.Tokens += c.Tokens
			of.Candidates += c.Candidates
			of.Right += c.Right
			of.Wins += c.Wins
		}
	}
	for i := 0; n > 0 && i < len(sum.Contexts); i++ {
		c := &sum.Contexts[i]
		c.Tokens /= max(n-c.LeftOut, 1)
	}
	return sum
}

// print writes the figures as two tables.
func (f *Figures) print(p *program) error {
	var rows [][]string
	for _, c := range f.Contexts {
		var row []string
		for _, n := range []int{c.LeftOut, c.Tokens, c.Candidates, c.Right, c.Wins} {
			row = append(row, strconv.Itoa(n))
		}
		rows = append(rows, append([]string{c.Name}, row...))
	}
	var all []string
	for _, n := range []int{f.Judged, f.JudgeCalls, f.Overruled, f.RefinedRight, f.Rejected, f.Clusters} {
		all = append(all, strconv.Itoa(n))
	}
	fmt.Fprintln(p.out)
	if err := table(p.out, []string{"judged", "judge calls", "overruled", "refined right", "rejected", "clusters"},
		[][]string{all}); err != nil {
		return err
	}
	fmt.Fprintln(p.out)
	return table(p.out, []string{"context", "left out", "tokens", "candidates", "right", "wins"}, rows)
}
