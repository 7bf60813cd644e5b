package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/result"
)

// traps is the verb traps.
type traps struct {
	Data string   `required:"" default:"${data}" placeholder:"DIR" help:"Folder of evaluation data (default: TEXTTOSQL_DATA)."`
	Pool []string `sep:"none" placeholder:"NAME" help:"Pool to read; may be repeated. Default: the reference pools."`
	Show string   `placeholder:"RULE" help:"Write the statements on which a rule fires."`
	onServer
}

// Help is the part of --help that explains words and keys.
func (traps) Help() string {
	return `Runs every gold and every distinct recorded answer of the pools with exec.SuspiciousResultCheck and exec.ResultWarnings. A line of the table is a rule:
  golds       golds on which it fires
  answers     distinct answers on which it fires; right: of these; share: right as a share
  half 0, 1   the weight as a doubt that each half of the questions (by a hash) asks for: the logarithm of the
              odds of being right of all answers over those of the answers on which it fires, one of each added`
}

// trapCount is what a rule did in one half of the questions.
type trapCount struct{ golds, fires, right int }

// Run counts.
func (v *traps) Run(p *program) error {
	if err := v.check(); err != nil {
		return err
	}
	folder, err := pools.OpenFolder(v.Data)
	if err != nil {
		return err
	}
	questions, answers := map[string]eval.Question{}, map[string]map[string]bool{}
	names := distinct(v.Pool)
	if len(names) == 0 {
		names = pools.Pools()
	}
	for _, name := range names {
		pool, err := folder.Pool(name)
		if err != nil {
			p.note("left out: %v", err)
			continue
		}
		for i, q := range pool.Questions {
			if questions[q.Key()] = q; answers[q.Key()] == nil {
				answers[q.Key()] = map[string]bool{}
			}
			for _, a := range pool.Answers[i] {
				answers[q.Key()][a.SQL] = true
			}
		}
	}
	databases := databases{folder: folder, on: v.onServer}
	defer databases.close()
	var (
		mu     sync.Mutex
		counts = map[string]*[2]trapCount{}
	)
	group, ctx := errgroup.WithContext(p.ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	bar := newProgress(p.err, "examining answers", len(questions))
	for _, key := range slices.Sorted(maps.Keys(questions)) {
		q := questions[key]
		env, err := databases.env(ctx, q.DB)
		if err != nil {
			p.note("left out: %v", err)
			continue
		}
		group.Go(func() error {
			defer bar.step(len(questions))
			found := v.look(ctx, p, env.DB, q, slices.Sorted(maps.Keys(answers[key])))
			mu.Lock()
			defer mu.Unlock()
			h := fnv.New32()
			h.Write([]byte(key))
			for rule, c := range found {
				if counts[rule] == nil {
					counts[rule] = &[2]trapCount{}
				}
				into := &counts[rule][h.Sum32()%2]
				into.golds, into.fires, into.right = into.golds+c.golds, into.fires+c.fires, into.right+c.right
			}
			return ctx.Err()
		})
	}
	err = group.Wait()
	bar.done()
	if err != nil {
		return err
	}
	return v.print(p, counts)
}

// all counts all golds and answers.
const all = "all"

// look counts what fires on one question.
func (v *traps) look(ctx context.Context, p *program, db *exec.DB, q eval.Question,
	texts []string) map[string]trapCount {
	found := map[string]trapCount{}
	traps := []exec.Check{exec.ReadOnly{}, exec.RunCheck{}, exec.SuspiciousResultCheck{},
		exec.ResultWarnings{Unlimited: doubt.Rules{}.Read(q.Text, q.Evidence).Unlimited()}}
	gold, err := db.Examine(ctx, q.Gold, traps...)
	if err != nil || gold.Table.Truncated {
		return found
	}
	note := func(c exec.Checked, count func(*trapCount)) {
		rules := []string{all}
		for _, f := range c.Findings {
			if !slices.Contains([]string{checks.NoTable, checks.Empty, checks.AllNull, checks.Absent}, f.Rule) {
				rules = append(rules, f.Rule)
			}
		}
		for _, rule := range rules {
			one := found[rule]
			count(&one)
			if found[rule] = one; rule == v.Show {
				p.note("%+v\t%s\t%s\t%s", one, q.DB, q.Text, c.SQL)
			}
		}
	}
	note(gold, func(c *trapCount) { c.golds++ })
	for _, text := range texts {
		checked, err := db.Examine(ctx, text, traps...)
		if err != nil {
			continue
		}
		right := (result.Equality{Set: true}).Equal(gold.Table, checked.Table)
		note(checked, func(c *trapCount) {
			if c.fires++; right {
				c.right++
			}
		})
	}
	return found
}

func (v *traps) print(p *program, counts map[string]*[2]trapCount) error {
	odds := func(c trapCount) float64 { return float64(c.right+1) / float64(c.fires-c.right+1) }
	var rows [][]string
	for _, rule := range slices.Sorted(maps.Keys(counts)) {
		c := *counts[rule]
		golds, fires, right := c[0].golds+c[1].golds, c[0].fires+c[1].fires, c[0].right+c[1].right
		row := []string{strings.TrimPrefix(rule, checks.Odd), strconv.Itoa(golds), strconv.Itoa(fires), strconv.Itoa(right),
			fmt.Sprintf("%.0f %%", 100*float64(right)/float64(max(fires, 1)))}
		for half := range c {
			row = append(row, fmt.Sprintf("%.1f", math.Log(odds(counts[all][half])/odds(c[half]))))
		}
		rows = append(rows, row)
	}
	return table(p.out, []string{"rule", "golds", "answers", "right", "share", "half 0", "half 1"}, rows)
}
