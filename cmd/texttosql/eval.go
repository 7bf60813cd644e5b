package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/evalbounds"
	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/leakguard"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/memory"
)

// evaluate is the verb that scores questions with golds.
type evaluate struct {
	setup.Asking `embed:""`
	JSON         bool    `name:"json" help:"Write a JSON line for each question and one for all."`
	MinEX        float64 `name:"min-ex" placeholder:"SHARE" help:"End with code 1 if EX is below this share, 0 to 1: for CI."`
	MostWrong    int     `default:"-1" placeholder:"N" help:"Say from which confidence on at most so many answers are wrong; default: say nothing."`
	Workers      int     `default:"4" placeholder:"N" help:"Questions at a time; default: 4."`
	Questions    string  `arg:"" help:"The file of questions: JSON lines {\"question\", \"sql\"}, a JSON list or CSV; or one of texttosqltest, which says what else is expected."`
}

// Help is the part of --help below the flags.
func (evaluate) Help() string {
	return `EX is the share of questions whose answer has the rows of the right statement, with the interval of 95 % of a bootstrap
over questions. VA is the share whose statement runs. A question without an answer is wrong; one whose right statement has no
result is reported and counts as wrong. An exemplar or a confirmed answer that gives a question away is reported too.

A file of package texttosqltest says for each question what is expected: {"question", "rows", "sql", "reads", "metric", "asks", "refuses", "within",
"calls"}. What is not as expected is printed, and then the exit code is 1.

` + exitHelp
}

// scored is a line of --json about one question.
type scored struct {
	ID       string  `json:"id"`
	Question string  `json:"question"`
	SQL      string  `json:"sql,omitempty"`
	EX       float64 `json:"ex"`
	VA       float64 `json:"va"`
	Error    string  `json:"error,omitempty"` // why there is no answer
	Fault    string  `json:"fault,omitempty"` // why it cannot be scored
}

// total is the last line of --json.
type total struct {
	N          int           `json:"n"`
	EX         eval.Estimate `json:"ex"`
	VA         eval.Estimate `json:"va"`
	Unanswered int           `json:"unanswered"`
	Faults     int           `json:"faults"`
	Leaks      int           `json:"leaks"` // questions that an exemplar gives away
	Calls      int           `json:"calls"`
	Tokens     int           `json:"tokens"`
	Known      bool          `json:"tokens_known"`
	Seconds    float64       `json:"seconds"` // of all questions, added up
}

// databaseID names the one database in the questions.
const databaseID = "db"

// Run scores.
func (v *evaluate) Run(p *program) error {
	if expects(v.Questions) {
		return v.check(p)
	}
	if v.AskBelow == nil { // nobody is there to choose
		v.AskBelow = new(0.0)
	}
	if v.Workers < 1 {
		return &setup.UsageError{Err: errors.New("--workers must be at least 1")}
	}
	dataset, err := v.read()
	if err != nil {
		return &setup.UsageError{Err: err}
	}
	e, err := v.Open(p.ctx, p.getenv, nil)
	if err != nil {
		return err
	}
	defer e.Close()
	db, err := exec.New(e.Pool, e.Dialect, exec.Config{Policy: e.Config.Policy, Limits: exec.Limits{
		Answer: exec.Bounds{Rows: evalbounds.Rows, Bytes: evalbounds.Bytes, Timeout: evalbounds.Timeout},
	}})
	if err != nil {
		return err
	}
	if e.Scope != nil {
		if db, err = db.For(e.Scope, nil); err != nil {
			return err
		}
	}
	store := eval.NewStore(eval.StoreConfig{Dialect: e.Dialect, Workers: v.Workers})
	defer store.Close()
	store.Use(databaseID, db)
	leaks, err := v.leaks(e, dataset)
	if err != nil {
		return err
	}
	if leaks > 0 {
		cli.Say(p.err, "texttosql: an exemplar or a confirmed answer gives %d of the %d questions away\n", leaks,
			len(dataset.Questions))
	}
	var done atomic.Int64
	scorer := &eval.Scorer{Store: store, Metrics: []eval.Metric{eval.EX{}, eval.VA{}}}
	report, err := eval.Run(p.ctx, func(ctx context.Context, q eval.Question) (eval.Answer, error) {
		r, err := e.Generate(ctx, q.Text, texttosql.WithEvidence(q.Evidence))
		if n := done.Add(1); cli.IsTerminal(p.err) {
			fmt.Fprintf(p.err, "\r%d of %d", n, len(dataset.Questions))
		}
		if r == nil {
			return eval.Answer{}, err
		}
		return eval.Answer{SQL: r.SQL, Confidence: r.Confidence, Usage: r.Usage}, err
	}, dataset, scorer)
	if cli.IsTerminal(p.err) {
		fmt.Fprint(p.err, "\r\x1b[K")
	}
	if err != nil {
		return err
	}
	if err := v.write(p, report, leaks); err != nil {
		return err
	}
	if v.MostWrong >= 0 {
		outcomes, err := report.Outcomes(eval.EX{})
		if err != nil {
			return err
		}
		if from, coverage, ok := eval.Threshold(outcomes, v.MostWrong); ok {
			cli.Say(p.err, "from confidence %.3f on, %.0f %% of the questions are answered with at most %d wrong\n", from,
				100*coverage, v.MostWrong)
		} else {
			cli.Say(p.err, "no confidence leaves at most %d wrong\n", v.MostWrong)
		}
	}
	if ex, _ := report.Estimate(eval.EX{}.Name()); ex.Value < v.MinEX && report.Unanswered() < report.N() {
		return &wordedError{fmt.Errorf("EX is %.3f, below --min-ex %.3f", ex.Value, v.MinEX)}
	}
	if faults := report.Faults(); len(faults) > 0 && len(faults) == report.N() {
		why := strings.Split(faults[0].Fault, "): ") // the last part is the database's
		return &wordedError{fmt.Errorf("question %s: its right statement fails: %s", faults[0].Question.ID, why[len(why)-1])}
	}
	if report.Unanswered() == report.N() {
		return &wordedError{fmt.Errorf("none of the %d questions was answered, the last one because: %w", report.N(),
			last(report))}
	}
	return nil
}

// read reads the questions, which must have a text and a gold.
func (v *evaluate) read() (*eval.Dataset, error) {
	dataset, err := eval.ReadDataset(v.Questions)
	if err != nil {
		return nil, err
	}
	questions := slices.Clone(dataset.Questions)
	for i, q := range questions {
		switch {
		case q.Text == "":
			return nil, &fileerr.Questions{File: v.Questions, Line: q.Line, Field: "question", Err: errors.New("missing")}
		case q.Gold == "":
			return nil, &fileerr.Questions{File: v.Questions, Line: q.Line, Field: "sql",
				Err: errors.New("missing: without it no answer can be scored")}
		}
		questions[i].DB = databaseID
		if q.Numbered { // people count from 1
			questions[i].ID = strconv.Itoa(i + 1)
		}
	}
	return eval.NewDataset(dataset.Name, questions)
}

// leaks counts the questions that an exemplar gives away.
func (v *evaluate) leaks(e *setup.Engine, dataset *eval.Dataset) (n int, err error) {
	shown, err := e.Confirmed.PairsOf(e.ScopeKey())
	if v.Exemplars != "" && err == nil {
		var more []memory.Exemplar
		more, err = memory.ReadExemplars(v.Exemplars)
		shown = append(shown, more...)
	}
	guard := leakguard.New(e.Dialect.Language().Text, shown)
	for _, q := range dataset.Questions {
		if leak, _ := guard.Find(memory.Exemplar{Question: q.Text, SQL: q.Gold}); leak != "" {
			n++
		}
	}
	return n, err
}

func (v *evaluate) write(p *program, r *eval.Report, leaks int) error {
	all := total{N: r.N(), Unanswered: r.Unanswered(), Faults: len(r.Faults()), Leaks: leaks, Calls: r.Cost.Usage.Calls,
		Tokens: r.Cost.Usage.PromptTokens + r.Cost.Usage.CompletionTokens, Known: r.Cost.Usage.Known,
		Seconds: r.Cost.Wall.Round(time.Millisecond).Seconds()}
	all.EX, _ = r.Estimate(eval.EX{}.Name())
	all.VA, _ = r.Estimate(eval.VA{}.Name())
	width := p.width()
	counts := map[string]int{}
	for _, verdict := range r.Verdicts {
		line := scored{ID: verdict.Question.ID, Question: verdict.Question.Text, SQL: verdict.SQL, Fault: verdict.Fault}
		if len(verdict.Scores) == 2 {
			line.EX, line.VA = verdict.Scores[0], verdict.Scores[1]
		}
		if verdict.Err != nil {
			line.Error = p.line(verdict.Err)
		}
		became := verdictOf(line)
		counts[became]++
		if v.JSON {
			if err := p.json(line); err != nil {
				return err
			}
			continue
		}
		if became != isRight {
			about := strings.TrimSpace(cmp.Or(line.Fault, line.Error, words.Line(line.SQL)))
			cli.Say(p.out, "%s: %s: %s\n   %s\n", line.ID, became, textformat.Hanging(line.Question, width, 3),
				textformat.Hanging(about, width, 3))
		}
	}
	if v.JSON {
		return p.json(all)
	}
	_, err := fmt.Fprintf(p.out, `EX %.3f (95 %%: %.3f to %.3f), VA %.3f of %d %s
%d right, %d wrong, %d without an answer, %d that cannot be scored
%s, %.1f s
`, all.EX.Value, all.EX.Low, all.EX.High, all.VA.Value, all.N, words.Plural("question", all.N),
		counts[isRight], counts[isWrong], counts[noAnswer], counts[unscored], cli.Cost(r.Cost.Usage), all.Seconds)
	return err
}

// The verdicts about an answer, as they are printed.
const (
	isRight  = "right"
	isWrong  = "wrong"
	noAnswer = "no answer"
	unscored = "cannot be scored"
)

func verdictOf(s scored) string {
	switch {
	case s.Fault != "":
		return unscored
	case s.Error != "":
		return noAnswer
	case s.EX == 0:
		return isWrong
	}
	return isRight
}

// last returns the error of the last question.
func last(r *eval.Report) error {
	for _, v := range slices.Backward(r.Verdicts) {
		switch {
		case v.Err != nil:
			return cli.Brief(v.Err)
		case v.Fault != "":
			return errors.New(v.Fault)
		}
	}
	return errors.New("the file has no question")
}
