package replay

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/contradict"
	"github.com/texttosql/texttosql/internal/egtts"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// goldBounds are wider than those of candidates, because a gold is trusted and must run.
var goldBounds = exec.Bounds{Rows: 200_000, Bytes: 64 << 20, Timeout: 10 * time.Second}

// Loader turns pools of recorded answers into pools of candidates.
type Loader struct {
	Folder *pools.Folder
	// Open opens the database of a SQLite file for reading, in the dialect Dialect; nil: the file.
	Open    func(path string) (*sql.DB, error)
	Dialect exec.Dialect
	// Step is called for each examined question with their total number; nil: no calls. Its calls may overlap.
	Step func(total int)
}

// Loaded is the result of a Loader.
type Loaded struct {
	Pools  []Pool  // pools that can vote, in the order of the names
	Failed []error // one for each other pool, with its name, and with the line that cannot be read
	// questions without a verdict, once for all pools: the gold has no result, or the database is damaged
	Faults []eval.Verdict
}

// Load examines the answers of the named pools. It extracts, plans, runs and doubts each distinct answer to a question
// once, however many pools have it, and keeps a fingerprint of its result.
//
// A fault leaves out as little as possible: a pool that does not exist or whose file is broken, or a question whose
// gold does not run or whose database cannot be read. No part of a broken file is used, because it would be another
// pool under the same name. The error is that of ctx.
func (l Loader) Load(ctx context.Context, names []string) (Loaded, error) {
	if l.Open == nil {
		l.Open, l.Dialect = files.OpenReadOnly, sqlite.Dialect{}
	}
	var (
		out       Loaded
		raw       []*pools.Pool
		order     []*asked
		questions = make(map[string]*asked)
	)
	for _, name := range names {
		p, err := l.Folder.Pool(name)
		if err != nil {
			if !strings.Contains(err.Error(), name) {
				err = fmt.Errorf("pool %s: %w", name, err)
			}
			out.Failed = append(out.Failed, err)
			continue
		}
		raw = append(raw, p)
		for j, q := range p.Questions {
			a := questions[q.Key()]
			if a == nil {
				a = &asked{Question: q, answers: make(map[string]*answer)}
				questions[q.Key()] = a
				order = append(order, a)
			}
			for _, text := range p.Answers[j] {
				a.add(text.SQL)
			}
		}
	}
	if err := l.examine(ctx, order); err != nil {
		return out, err
	}
	for _, a := range order {
		if a.fault != nil {
			out.Faults = append(out.Faults, eval.Verdict{Question: a.Question, Answered: true, Fault: a.fault.Error()})
		}
	}
	for _, p := range raw {
		if pool := pool(p, questions, l.Dialect.Language().Text); len(pool.Questions) > 0 {
			out.Pools = append(out.Pools, pool)
		} else {
			out.Failed = append(out.Failed, fmt.Errorf("pool %s: no question can be judged: %s", p.Name,
				strings.Join(pool.LeftOut, "; ")))
		}
	}
	return out, nil
}

// asked is one question with all answers to it.
type asked struct {
	eval.Question
	texts   []string // distinct, in order of appearance
	answers map[string]*answer
	fault   error // why the answers cannot be judged; nil: they can
	empty   bool  // the gold has no value
}

func (a *asked) add(text string) {
	if _, ok := a.answers[text]; !ok {
		a.answers[text] = nil
		a.texts = append(a.texts, text)
	}
}

// examine fills in the answers of questions, several questions at a time. It opens every database once. A broken
// database is a fault of its questions.
func (l Loader) examine(ctx context.Context, questions []*asked) error {
	type database struct {
		*exec.DB
		path    string
		err     error
		profile func() (*schema.Schema, error) // with the profiles of all tables
	}
	databases := make(map[string]*database)
	for _, q := range questions {
		if databases[q.DB] != nil {
			continue
		}
		d := &database{}
		databases[q.DB] = d
		if d.path, d.err = l.Folder.Database(q.DB); d.err != nil {
			continue
		}
		handle, err := l.Open(d.path)
		if err != nil {
			d.err = err
			continue
		}
		defer handle.Close()
		d.DB, d.err = exec.New(handle, l.Dialect, exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}})
		d.profile = sync.OnceValues(func() (*schema.Schema, error) { return profiled(ctx, d.DB) })
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, q := range questions {
		group.Go(func() error {
			d := databases[q.DB]
			err := d.err
			if err == nil {
				err = q.examine(ctx, d.DB, d.profile)
			}
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case d.path == "": // the error says that the path is unknown
				q.fault = err
			case err != nil:
				q.fault = &eval.DatabaseError{ID: q.DB, Path: d.path, Err: err}
			}
			if l.Step != nil {
				l.Step(len(questions))
			}
			return nil
		})
	}
	return group.Wait()
}

// examine runs the gold and every distinct answer once, as strategy.Checker does for a live question.
func (a *asked) examine(ctx context.Context, db *exec.DB, profile func() (*schema.Schema, error)) error {
	if strings.TrimSpace(a.Gold) == "" {
		a.fault = errors.New("there is no gold")
		return nil
	}
	table, err := db.QueryWithin(ctx, a.Gold, goldBounds)
	switch {
	case err != nil && exec.IsRejection(err):
		a.fault = fmt.Errorf("the gold does not run: %w", err)
		return nil
	case err != nil:
		return err
	case table.Truncated:
		a.fault = errors.New("the gold has more rows than can be compared")
		return nil
	}
	gold := rowsOf(table)
	a.empty = table.Empty() || table.AllNull()
	known, err := profile()
	if err != nil {
		return err
	}
	held := contradict.Answer{Schema: known, Values: (*snapshot.Snapshot)(nil).Words(known)}

	var (
		seen      answer // what the last checks noted about the statement
		published = egtts.PublishedProbing()
	)
	checks := append(exec.PlanChecks(), exec.CheckFunc(func(ctx context.Context, s *exec.Runner, c *exec.Checked) error {
		seen.planned = planned{compiles: true, strict: c.Plan.Signature(), cost: c.Plan.Cost()}
		seen.compat.signature, seen.compat.cost = egtts.PublishedSignature(*c.Plan)
		probed := exec.Checked{SQL: c.SQL, Statement: c.Statement}
		err := published.Check(ctx, s, &probed)
		for _, f := range probed.Findings {
			seen.compat.findings = append(seen.compat.findings, vote.Finding{Rule: f.Rule})
		}
		return err
	}), &egtts.Probing{}, exec.RunCheck{}, exec.SuspiciousResultCheck{}, exec.CheckFunc(func(ctx context.Context,
		run *exec.Runner, c *exec.Checked) error {
		seen.rows = rowsOf(c.Table)
		held := held
		held.Statement, held.Table = c.Statement, c.Table
		held.Query = func(sql string) *result.Table {
			t, err := run.Query(ctx, sql)
			if err != nil {
				return nil
			}
			return t
		}
		seen.contradicts = doubt.Rules{}.Read(a.Text, a.Evidence).Contradictions(held)
		return nil
	}))
	examiner := strategy.NewChecker(ctx, &strategy.Env{DB: db},
		strategy.Task{Question: a.Text, Evidence: a.Evidence}, checks, &doubt.Rules{})
	defer examiner.Close()
	bySQL := make(map[string]answer) // replies with the same statement share one check
	for i, text := range a.texts {
		seen = answer{}
		c, err := examiner.Examine(ctx, i, "", llm.Response{Text: text})
		if err != nil {
			return err
		}
		known, ok := bySQL[c.SQL]
		if !ok {
			known = seen
			bySQL[c.SQL] = known
		}
		one := known
		c.Preview, c.Statement = "", nil // a judge reads previews; statements are read again where they count
		one.candidate = c
		one.right = one.rows != "" && one.rows == gold
		a.answers[text] = &one
	}
	return nil
}

// profiled is the schema of a database with profiles.
func profiled(ctx context.Context, db *exec.DB) (*schema.Schema, error) {
	whole, err := db.Schema(ctx)
	if err != nil {
		return nil, err
	}
	return db.Profile(ctx, whole, exec.ProfileOptions{})
}

// rowsOf names the rows of a result as a set, as BIRD's scorer compares them. All results without rows are equal,
// whatever their columns. "" stands for unknown rows.
func rowsOf(t *result.Table) string {
	if t != nil && t.Empty() {
		return "no rows"
	}
	rows, _ := result.Equality{Set: true}.Fingerprint(t)
	return rows
}

// pool makes the candidates of one pool.
func pool(raw *pools.Pool, questions map[string]*asked, dialect sqltext.Dialect) Pool {
	p := Pool{Name: raw.Name, Without: raw.LeftOut.NoDatabase}
	golds, unreadable := 0, 0
	for i, q := range raw.Questions {
		a := questions[q.Key()]
		var database *eval.DatabaseError
		switch {
		case errors.As(a.fault, &database):
			unreadable++
			continue
		case a.fault != nil:
			golds++
			continue
		}
		one := &Question{
			ID: q.Key(), Database: q.DB, Difficulty: q.Difficulty, Template: dialect.Parse(q.Gold).Template(),
			reading: doubt.Rules{}.Read(q.Text, q.Evidence), empty: a.empty,
		}
		for sample, text := range raw.Answers[i] {
			known := a.answers[text.SQL]
			c := known.candidate
			c.Sample, c.Model = sample, text.Run
			one.Candidates = append(one.Candidates, c)
			one.answers = append(one.answers, known)
		}
		one.Grade = grade(one.Candidates, dialect)
		p.Samples = max(p.Samples, len(one.Candidates))
		p.Questions = append(p.Questions, one)
	}
	if text := raw.LeftOut.String(); text != "" {
		p.LeftOut = append(p.LeftOut, text)
	}
	if golds > 0 {
		p.LeftOut = append(p.LeftOut, fmt.Sprintf("questions whose gold does not run: %d", golds))
	}
	if unreadable > 0 {
		p.LeftOut = append(p.LeftOut, fmt.Sprintf("questions whose database cannot be read: %d", unreadable))
	}
	p.Without += golds + unreadable
	return p
}

// grade returns the hardness of the first statement. A panel knows nothing else about how difficult a question is.
func grade(candidates []vote.Candidate, dialect sqltext.Dialect) string {
	for _, c := range candidates {
		if c.SQL != "" {
			return dialect.Parse(c.SQL).Hardness()
		}
	}
	return ""
}
