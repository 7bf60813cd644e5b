package replay

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/examples/internal/cli"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// sketchRows is how many rows of a result the soft vote compares.
const sketchRows = 64

// goldBounds are wider than those of candidates: a gold is ours and must run.
var goldBounds = exec.Bounds{Rows: 200_000, Bytes: 64 << 20, Timeout: 10 * time.Second}

// Loader makes pools of recorded answers into pools of candidates.
type Loader struct {
	Folder *eval.Folder
	// Step is told how many of the questions are examined; nil: nobody is. Its
	// calls may overlap.
	Step func(total int)
}

// Load examines the answers of the named pools. Each distinct answer to a
// question is extracted, planned, run and doubted once, however many pools have
// it, and its result is dropped at once: what stays is a fingerprint and a
// sample.
//
// The error names the file and the line that cannot be read, or the pool that
// does not exist. Answers that belong to nothing, and questions whose gold does
// not run, are left out: see Pool.LeftOut.
func (l Loader) Load(ctx context.Context, names []string) ([]Pool, error) {
	raw := make([]*eval.Pool, len(names))
	questions := make(map[string]*asked)
	var order []*asked
	for i, name := range names {
		var err error
		if raw[i], err = l.Folder.Pool(name); err != nil {
			return nil, err
		}
		for j, q := range raw[i].Questions {
			a := questions[q.Key()]
			if a == nil {
				a = &asked{Question: q, answers: make(map[string]*answer)}
				questions[q.Key()] = a
				order = append(order, a)
			}
			for _, text := range raw[i].Answers[j] {
				a.add(text.SQL)
			}
		}
	}
	if err := l.examine(ctx, order); err != nil {
		return nil, err
	}
	pools := make([]Pool, len(names))
	for i, p := range raw {
		pools[i] = pool(l.Folder, p, questions)
	}
	return pools, nil
}

// asked is one question with all that was ever answered to it.
type asked struct {
	eval.Question
	texts   []string // distinct, in order of appearance
	answers map[string]*answer
	failed  error // why the gold does not run
}

func (a *asked) add(text string) {
	if _, ok := a.answers[text]; !ok {
		a.answers[text] = nil
		a.texts = append(a.texts, text)
	}
}

// examine fills in the answers of questions, several at a time. Every database
// is opened once.
func (l Loader) examine(ctx context.Context, questions []*asked) error {
	databases := make(map[string]*exec.DB)
	for _, q := range questions {
		if databases[q.DB] != nil {
			continue
		}
		path, err := l.Folder.Database(q.DB)
		if err != nil {
			return err
		}
		handle, closeDB, err := cli.OpenReadOnly(path)
		if err != nil {
			return err
		}
		defer closeDB()
		if databases[q.DB], err = exec.New(handle, sqlite.Dialect{}, exec.Config{}); err != nil {
			return fmt.Errorf("database %s: %w", path, err)
		}
	}
	group, ctx := errgroup.WithContext(ctx) // one broken database ends it all
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, q := range questions {
		group.Go(func() error {
			if err := q.examine(ctx, databases[q.DB]); err != nil {
				return fmt.Errorf("question %s: %w", q.Key(), err)
			}
			if l.Step != nil {
				l.Step(len(questions))
			}
			return nil
		})
	}
	return group.Wait()
}

// examine runs the gold and every distinct answer once, as strategy.Admission
// does for a live question.
func (a *asked) examine(ctx context.Context, db *exec.DB) error {
	if strings.TrimSpace(a.Gold) == "" {
		a.failed = errors.New("there is no gold")
		return nil
	}
	table, err := db.QueryWithin(ctx, a.Gold, goldBounds)
	switch {
	case err != nil && exec.IsRejection(err):
		a.failed = err
		return nil
	case err != nil:
		return err
	case table.Truncated:
		a.failed = errors.New("the gold has more rows than can be compared")
		return nil
	}
	gold := rowsOf(table)

	var seen answer // what the last check saw of the statement before it
	checks := append(exec.DefaultChecks(), exec.CheckFunc(func(_ context.Context, _ *exec.DB, c *exec.Checked) error {
		seen = answer{rows: rowsOf(c.Table), compat: c.Plan.CompatSignature(), cost: c.Plan.CompatCost()}
		seen.candidate.Sketch = result.Equality{Digits: strategy.VoteDigits}.Sketch(c.Table, sketchRows)
		return nil
	}))
	admission := strategy.NewAdmission(ctx, &strategy.Env{DB: db},
		strategy.Task{Question: a.Text, Evidence: a.Evidence}, checks, &vote.Doubts{})
	defer admission.Close()
	bySQL := make(map[string]answer) // two replies may hold one statement, which is checked once
	for i, text := range a.texts {
		seen = answer{}
		c, err := admission.Admit(ctx, i, "", llm.Response{Text: text})
		if err != nil {
			return err
		}
		known, ok := bySQL[c.SQL]
		if !ok {
			known = seen
			bySQL[c.SQL] = known
		}
		one := known
		c.Sketch, c.Preview = known.candidate.Sketch, "" // only a judge reads previews
		one.candidate = c
		one.right = one.rows != "" && one.rows == gold
		a.answers[text] = &one
	}
	return nil
}

// rowsOf names the rows of a result as a set, as BIRD's scorer compares them: no
// rows are no rows, whatever the columns. "" stands for unknown rows.
func rowsOf(t *result.Table) string {
	if t != nil && t.Empty() {
		return "no rows"
	}
	rows, _ := result.Equality{Mode: result.Set}.Fingerprint(t)
	return rows
}

// pool makes the candidates of one pool.
func pool(folder *eval.Folder, raw *eval.Pool, questions map[string]*asked) Pool {
	p := Pool{Name: raw.Name}
	failed, first := 0, ""
	for i, q := range raw.Questions {
		a := questions[q.Key()]
		if a.failed != nil {
			if failed++; failed == 1 {
				first = fmt.Sprintf("%s:%d, question %s: %v", folder.Path("questions", "questions_"+q.Dataset+".jsonl.gz"), q.Line, q.ID, a.failed)
			}
			continue
		}
		one := &Question{
			ID: q.Key(), Database: q.DB, Difficulty: q.Difficulty, Template: eval.GoldTemplate(sqltext.SQLite(), q.Gold),
		}
		for draw, text := range raw.Answers[i] {
			known := a.answers[text.SQL]
			c := known.candidate
			c.Draw, c.Model, c.Position = draw, text.Run, position(text)
			one.Candidates = append(one.Candidates, c)
			one.answers = append(one.answers, known)
		}
		one.Grade = grade(one.Candidates)
		p.Draws = max(p.Draws, len(one.Candidates))
		p.Questions = append(p.Questions, one)
	}
	if text := raw.LeftOut.String(); text != "" {
		p.LeftOut = append(p.LeftOut, text)
	}
	if failed > 0 {
		p.LeftOut = append(p.LeftOut, fmt.Sprintf("questions whose gold does not run: %d (first: %s)", failed, first))
	}
	p.LeftOut = slices.Clip(p.LeftOut)
	return p
}

// position is the place of an answer in a reply that lists several different
// ones; runs that were asked so are named …_k=NUMBER.
func position(a eval.Answer) int {
	n, err := strconv.Atoi(a.Sample)
	if err != nil || !strings.Contains(a.Run, "_k=") {
		return 0
	}
	return n
}

// grade is the hardness of the first statement that there is: all that a panel
// knows of how difficult a question is.
func grade(candidates []vote.Candidate) string {
	for _, c := range candidates {
		if c.SQL != "" {
			return string(sqltext.SQLite().Hardness(c.SQL))
		}
	}
	return ""
}
