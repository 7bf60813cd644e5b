package replay

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/answerable"
	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/lab/stats"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// Scored is a question whose recorded votes were scored.
type Scored struct {
	Outcome    eval.Outcome // of the question: its score is 1 if the data can answer it
	Answerable bool
	Text       string  // the reply that most samples share, as Fold writes it
	Right      *bool   // whether it is right; nil: nobody knows
	Equal      float64 // the share of that text among the samples, as they were replied
	Score      answerable.Answerable
	Features   answerable.Features
}

// Scorer scores recorded votes.
type Scorer struct {
	Folder    *pools.Folder
	Run       bool // each distinct statement is run; else it is planned only
	databases map[string]*exec.DB
	handles   []*sql.DB
}

// Close closes the databases.
func (s *Scorer) Close() error {
	var errs []error
	for _, h := range s.handles {
		errs = append(errs, h.Close())
	}
	return errors.Join(errs...)
}

func (s *Scorer) database(id string) (*exec.DB, error) {
	if db := s.databases[id]; db != nil {
		return db, nil
	}
	path, err := s.Folder.Database(id)
	if err != nil {
		return nil, err
	}
	handle, err := files.OpenReadOnly(path)
	if err != nil {
		return nil, err
	}
	s.handles = append(s.handles, handle)
	db, err := exec.New(handle, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		return nil, err
	}
	if s.databases == nil {
		s.databases = map[string]*exec.DB{}
	}
	s.databases[id] = db
	return db, nil
}

// Score scores a question by the replies of its samples.
func (s *Scorer) Score(ctx context.Context, q eval.Question, replies []string) (Scored, error) {
	db, err := s.database(q.DB)
	if err != nil {
		return Scored{}, err
	}
	known, err := db.Schema(ctx)
	if err != nil {
		return Scored{}, err
	}
	env := &strategy.Env{DB: db, Schema: known, WithoutExecution: !s.Run}
	examiner := strategy.NewChecker(ctx, env, strategy.Task{Question: q.Text, Evidence: q.Evidence}, env.Checks(), nil)
	defer examiner.Close()
	text := db.Language().Text
	asked := answerable.Question{Text: q.Text, Evidence: q.Evidence, Schema: known, Dialect: text}
	seen, counts, most := map[string]vote.Candidate{}, map[string]int{}, ""
	for i, reply := range replies {
		c, ok := seen[reply]
		if !ok {
			if c, err = examiner.Examine(ctx, i, "", llm.Response{Text: reply}); err != nil {
				return Scored{}, err
			}
			seen[reply] = c
		}
		c.Sample = i
		asked.Candidates = append(asked.Candidates, c)
		key := Fold(reply)
		if counts[key]++; counts[key] > counts[most] {
			most = key
		}
	}
	outcome := eval.Outcome{Question: q.Key(), Database: q.DB}
	if q.Gold != "" {
		outcome.Template = text.Parse(q.Gold).Template()
	}
	return Scored{
		Outcome: outcome, Text: most, Equal: float64(counts[most]) / float64(len(replies)),
		Score: asked.Answerable(), Features: asked.Features(),
	}, nil
}

// Fold is a reply in lower case, with one blank for all white space.
func Fold(reply string) string { return strings.ToLower(strings.Join(strings.Fields(reply), " ")) }

// Refitted returns the score of each question by weights that were fitted on the questions of the other folds: a
// logistic regression in which both kinds of questions weigh the same. Questions whose golds have one template are in
// one fold.
func Refitted(all []Scored, folds int) []float64 {
	outcomes := make([]eval.Outcome, len(all))
	for i, s := range all {
		outcomes[i] = s.Outcome
	}
	of, scores := stats.Folds(outcomes, stats.ByTemplate, folds), make([]float64, len(all))
	for fold := range folds {
		var others []Scored
		for i, s := range all {
			if of[i] != fold {
				others = append(others, s)
			}
		}
		w := fit(others)
		for i, s := range all {
			if of[i] == fold {
				scores[i] = w.at(s.Features)
			}
		}
	}
	return scores
}

// weights are those of answerable.Features, and that of nothing.
type weights [5]float64

func inputs(f answerable.Features) weights {
	return weights{f.Texts, f.Compiles, f.Coverage, f.Beyond, 1}
}

func (w weights) at(f answerable.Features) float64 {
	x := 0.0
	for i, v := range inputs(f) {
		x += w[i] * v
	}
	return 1 / (1 + math.Exp(-x))
}

// steps and rate are those of gradient descent; decay keeps the weight of a rare feature small.
const (
	steps = 4000
	rate  = 1.0
	decay = 0.002
)

func fit(all []Scored) (w weights) {
	can := 0.0
	for _, s := range all {
		can += s.Outcome.Score
	}
	n := float64(len(all))
	for range steps {
		var slope weights
		for _, s := range all {
			share := 0.5 / (n - can)
			if s.Answerable {
				share = 0.5 / can
			}
			off := share * (w.at(s.Features) - s.Outcome.Score)
			for i, v := range inputs(s.Features) {
				slope[i] += off * v
			}
		}
		for i := range w {
			w[i] -= rate * slope[i]
			if i < len(w)-1 {
				w[i] -= rate * decay * w[i]
			}
		}
	}
	return w
}

// Reliability is the score RS of TrustSQL (arXiv 2403.15879) for wrong answers that cost so much, in hundredths:
// answered and right 1, refused though it cannot be answered 1, refused though it can 0, any other answer -cost. A
// question is answered from a threshold on, the best one for these questions, or never; answered is the share.
// Questions nobody knows the right answer of do not count.
func Reliability(all []Scored, scores []float64, cost float64) (score, answered float64) {
	var known []int
	for i, s := range all {
		if !s.Answerable || s.Right != nil {
			known = append(known, i)
		}
	}
	slices.SortStableFunc(known, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	total := 0.0
	for _, i := range known {
		if !all[i].Answerable {
			total++
		}
	}
	best, at := total, 0
	for n, i := range known {
		switch s := all[i]; {
		case s.Answerable && *s.Right:
			total++
		case s.Answerable:
			total -= cost
		default:
			total -= cost + 1
		}
		end := n == len(known)-1 || scores[known[n+1]] != scores[i]
		if end && total > best {
			best, at = total, n+1
		}
	}
	n := float64(max(len(known), 1))
	return 100 * best / n, float64(at) / n
}
