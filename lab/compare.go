package main

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/stats"
)

// comparison is the verb compare.
type comparison struct {
	A      string `arg:"" help:"A file of run --out."`
	B      string `arg:"" help:"Another one, about the same questions."`
	Metric string `enum:"ex,va" default:"ex" help:"ex: right answers; va: statements that run."`
	Seed   uint64 `default:"1" help:"Seed of the intervals."`
	Rounds int    `default:"10000" help:"Rounds of the bootstrap."`
	JSON   bool   `name:"json" help:"A JSON line instead of a table."`
}

// Help is the part of --help that explains refusals and keys.
func (comparison) Help() string {
	return `Each question is compared with itself. Two runs whose prompt contract, schema, scorer or limits differ are
refused, and so are two that do not have the same questions: a question that failed in one is in no file, run its
command again. Models, strategies and exemplars may differ, that is what is compared.

JSON:
  a, b            the runs
  metric, n       what is compared, over how many questions
  difference      B − A, of the means
  ci              95 % interval of it, questions drawn with replacement
  ci_by_template  the same, questions with one gold but for its values drawn as one
  better, worse   questions on which B scored more, and less
  mid_p           McNemar's mid-p of them, two-sided`
}

// compared is the line of --json.
type compared struct {
	A            string     `json:"a"`
	B            string     `json:"b"`
	Metric       string     `json:"metric"`
	N            int        `json:"n"`
	Difference   float64    `json:"difference"`
	CI           [2]float64 `json:"ci"`
	CIByTemplate [2]float64 `json:"ci_by_template"`
	Better       int        `json:"better"`
	Worse        int        `json:"worse"`
	MidP         float64    `json:"mid_p"`
}

// Run compares the files.
func (c *comparison) Run(p *program) error {
	if c.Rounds < 1 {
		return errors.New("--rounds must be at least 1")
	}
	a, err := c.read(c.A)
	if err != nil {
		return err
	}
	b, err := c.read(c.B)
	if err != nil {
		return err
	}
	if a.dataset != b.dataset {
		return &stats.ContractError{A: a.Name, B: b.Name,
			Fields: []string{fmt.Sprintf("dataset: %q, %q", a.dataset, b.dataset)}}
	}
	// first: without the same databases the contracts differ too
	if _, err := stats.Pairs(a.Outcomes, b.Outcomes); err != nil {
		return fmt.Errorf("%w; a question that failed is not in its file: run the command of that file again", err)
	}
	r, err := stats.Compare(a.Condition, b.Condition, stats.Bootstrap{Rounds: c.Rounds, Seed: c.Seed})
	if err != nil {
		return err
	}
	line := compared{
		A: a.Name, B: b.Name, Metric: c.Metric, N: r.Difference.N, Difference: r.Difference.Value,
		CI:           [2]float64{r.Difference.Low, r.Difference.High},
		CIByTemplate: [2]float64{r.ByTemplate.Low, r.ByTemplate.High},
		Better:       r.McNemar.OnlyB, Worse: r.McNemar.OnlyA, MidP: r.MidP,
	}
	if c.JSON {
		return jsonLines(p.out, []compared{line})
	}
	interval := func(low, high float64) string { return points(low) + " to " + points(high) }
	err = table(p.out, []string{"run", c.Metric, "95 %"}, [][]string{
		{"A " + a.Name, share(r.A.Value), share(r.A.Low) + " to " + share(r.A.High)},
		{"B " + b.Name, share(r.B.Value), share(r.B.Low) + " to " + share(r.B.High)},
	})
	if err != nil {
		return err
	}
	return table(p.out, []string{"n", "B − A", "95 %", "by template", "better", "worse", "mid-p"}, [][]string{{
		strconv.Itoa(line.N), points(line.Difference), interval(line.CI[0], line.CI[1]),
		interval(line.CIByTemplate[0], line.CIByTemplate[1]),
		strconv.Itoa(line.Better), strconv.Itoa(line.Worse), strconv.FormatFloat(line.MidP, 'g', 3, 64),
	}})
}

// condition is a file of run --out.
type condition struct {
	stats.Condition
	dataset string
}

func (c *comparison) read(path string) (condition, error) {
	fail := func(n int, format string, args ...any) (condition, error) {
		return condition{}, fmt.Errorf("%s: line %d: %w", path, n, fmt.Errorf(format, args...))
	}
	file, err := os.Open(path)
	if err != nil {
		return condition{}, err
	}
	defer file.Close()
	var all condition
	contracts := map[string]stats.Contract{} // by database
	seen := map[string]bool{}
	r := bufio.NewReader(file)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			if len(line) > 0 {
				return fail(n, "it is cut: run the command of this file again, which goes on with it")
			}
			break
		}
		if err != nil {
			return condition{}, err
		}
		f, err := readFinished(line)
		key := f.DB + "\x00" + f.ID
		switch {
		case err != nil:
			return fail(n, "%w", err)
		case f.Contract == (stats.Contract{}):
			return fail(n, "it has no contract: an older version wrote it, make the run anew")
		case n > 1 && (f.Run != all.Name || f.Dataset != all.dataset):
			return fail(n, "of the run %q about %q, and before of %q about %q: a file is one run", f.Run, f.Dataset, all.Name,
				all.dataset)
		case contracts[f.DB] != (stats.Contract{}) && contracts[f.DB] != f.Contract:
			return fail(n, "its contract differs from that of earlier lines about %s", f.DB)
		case seen[key]:
			return fail(n, "question %s stands here twice", f.ID)
		}
		seen[key] = true
		all.Name, all.dataset, contracts[f.DB] = f.Run, f.Dataset, f.Contract
		score := f.EX
		if c.Metric == "va" {
			score = f.VA
		}
		all.Outcomes = append(all.Outcomes, eval.Outcome{
			Question: f.DB + "/" + f.ID, Template: f.Template, Database: f.DB, Score: float64(score), Confidence: f.Confidence,
		})
	}
	if len(all.Outcomes) == 0 {
		return condition{}, fmt.Errorf("%s: no finished question", path)
	}
	all.Contract = joined(contracts)
	return all, nil
}

// joined is the contract of a run over several databases: a field that differs between them is a hash of all.
func joined(by map[string]stats.Contract) (all stats.Contract) {
	field := func(of func(stats.Contract) string) string {
		var values []string
		for _, db := range slices.Sorted(maps.Keys(by)) {
			values = append(values, of(by[db]))
		}
		if slices.Max(values) == slices.Min(values) {
			return values[0]
		}
		return fmt.Sprintf("%.8x", sha256.Sum256([]byte(strings.Join(values, "\n"))))
	}
	all.Prompt = field(func(c stats.Contract) string { return c.Prompt })
	all.Schema = field(func(c stats.Contract) string { return c.Schema })
	all.Scorer = field(func(c stats.Contract) string { return c.Scorer })
	all.Limits = field(func(c stats.Contract) string { return c.Limits })
	return all
}
