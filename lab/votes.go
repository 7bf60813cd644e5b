package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/internal/replay"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/lab/stats"
)

// votes is the verb votes.
type votes struct {
	Data   string   `required:"" default:"${data}" placeholder:"DIR" help:"Folder of evaluation data (default: TEXTTOSQL_DATA)."`
	Pool   []string `sep:"none" placeholder:"NAME" help:"Pool to replay; may be repeated. Default: the reference pools."`
	Wide   bool     `help:"Also every other pool of four or more samples."`
	Voter  []string `sep:"none" placeholder:"NAME" help:"Voter to use; may be repeated. Default: the first list above."`
	Only   []string `sep:"none" placeholder:"NAME" help:"Database to replay; may be repeated. Default: all."`
	Except []string `sep:"none" placeholder:"NAME" help:"Database to leave out; may be repeated."`
	Seed   uint64   `default:"1" help:"Seed of the intervals."`
	Rounds int      `default:"2000" help:"Rounds of the bootstrap."`
	Folds  int      `default:"5" help:"Folds of fitted voters."`
	Rules  bool     `help:"Also what each rule of the doubts does to consensus."`
	Looks  bool     `help:"Also what stop rules do that are asked less often."`
	Second bool     `help:"Also how often each level is right, and what a second model's opinion is worth."`
	JSON   bool     `name:"json" help:"JSON lines instead of tables."`
	// Reliability is of consensus, whose confidence the library reports.
	Reliability string `placeholder:"FILE" help:"Also a picture (SVG) of how often consensus is right, by its confidence."`
	onServer    `embed:""`
}

// Help is the part of --help that explains words and keys.
func (votes) Help() string {
	text := `Pools are named DATASET/all, DATASET/RUN, DATASET/RUN,RUN (as spider_dev/all), bird_minidev/RUN,
samples/RUN or classicmodels/PREFIX; NAME?first=N has the first N runs of NAME. Each stored answer is one sample, in stored order; it is extracted, guarded,
planned and run as a live sample would be. An answer is right when its rows are the gold's as a set
(execution accuracy as BIRD has it). Figures so made are "recorded": true for these questions and
answers, and nothing else.

Voters (fitted ones are fitted on other questions than they vote on, by template; where a pool has
but one template there are none, and they vote as consensus does):
`
	for _, v := range replay.Voters() {
		text += fmt.Sprintf("  %-21s %s", v.Name, v.About)
		if v.Fits {
			text += " (fitted)"
		}
		text += "\n"
	}
	text += "\nBy name only, strategies by plan, and looking literals up:\n\n"
	for _, v := range replay.Plans() {
		text += fmt.Sprintf("  %-21s %s\n", v.Name, v.About)
	}
	return text + `
What cannot be used is left out, told on standard error with file and line, and counted: a question
whose gold does not run or whose database cannot be read, and a pool that is not there or whose file
is broken. The exit status is 1 when no pool is left, or one that was asked for by --pool is not.

JSON: a line for each pool and voter, and for all pools together with "pool": "all".
  pool, voter  names
  n, k         questions; most answers a question
  left_out     questions with answers that are not in n: their database is missing or damaged, or
               their gold does not run; pools_left_out (in lines of "all"): pools that cannot be used
  right, ex    right answers, and their share (a fraction only for "one")
  ci           95 % interval of ex, questions sampled again (a question of several pools as one)
  calls        samples for all questions; calls_mean a question; saved is the part of all stored
               samples that was not needed
  auroc        of the confidence against being right, null where there is none; auroc_ci its interval
  risk50       share of wrong answers in the surer half of the questions; risk50_ci its interval
  risk50_reduction  by how much that is below the share of wrong answers among all questions;
               risk50_reduction_ci its interval: above 0, the confidence is worth something
  versus       against the voter result: difference, ci, ci_by_template (templates of golds sampled
               again), better and worse questions, mid_p of McNemar's test
  fitted       how, for a voter that was; model_kind is "recorded"
With --rules also a line for each pool and rule:
  pool, rule, candidates (that may vote), fires (of them), fires_right, winners (of consensus that
  break it), winner_right, n, right (of consensus), without (right when the rule is left out),
  leaving_out (the difference: negative where the rule helps)
With --looks also a line for each voter and stop that is asked after every so many samples, over the
pools with 8 answers and more:
  voter, stop, order (file, or turn: models in turn), every, calls (part of all samples, mean of the
  pools), looks (waves of samples a question), changed (questions with another winner than the full vote),
  lost (right answers fewer than the full vote), n
With --second a line for each level of consensus: level, n, right; and one for each pair of pools with 20 questions in common, whose
names show whether they are of two models:
  first, second, n, agreed, agreed_right
  equal, equal_right      agreed answers with the result of the second pool's first statement, and how many of them are right
  doubted, doubted_right  those that the second pool's first two statements differ from, alike
  auroc_before, auroc_after
and one for one model and several, and the leader's share of the votes, of questions with exactly one right answer among the best two:
  models, below, leader_right, second_right`
}

// Run replays the pools.
func (v *votes) Run(p *program) error {
	if v.Rounds < 1 || v.Folds < 2 {
		return fmt.Errorf("--rounds must be at least 1 and --folds at least 2")
	}
	if err := v.check(); err != nil {
		return err
	}
	folder, err := pools.OpenFolder(v.Data)
	if err != nil {
		return err
	}
	names := distinct(v.Pool)
	if len(names) == 0 {
		names = pools.Pools()
	}
	if v.Wide {
		names = distinct(append(names, widePools()...))
	}
	voters, err := votersNamed(distinct(v.Voter))
	if err != nil {
		return err
	}

	bar := newProgress(p.err, "examining answers", -1)
	loaded, err := replay.Loader{Folder: folder, Open: v.open, Dialect: v.dialect(), Step: bar.step}.Load(p.ctx, names)
	bar.done()
	if err != nil {
		return err
	}
	loaded.Pools = replay.About(loaded.Pools, v.Only, v.Except)
	pools := loaded.Pools
	if len(pools) == 0 {
		return noneLeft(p, loaded.Failed)
	}
	v.tell(p, folder, loaded)
	bar = newProgress(p.err, "voting", len(pools)*len(voters))
	lines, err := replay.Measure(pools, voters, replay.Settings{Folds: v.Folds, Failed: len(loaded.Failed)},
		stats.Bootstrap{Rounds: v.Rounds, Seed: v.Seed}, func() { bar.step(len(pools) * len(voters)) })
	bar.done()
	if err != nil {
		return err
	}
	if v.Reliability != "" {
		if err := writeReliability(v.Reliability, lines, "consensus"); err != nil {
			return err
		}
	}
	var rules []replay.RuleFigures
	if v.Rules {
		if rules, err = replay.Rules(pools); err != nil {
			return err
		}
	}
	var looks []replay.LookFigures
	if v.Looks {
		if looks, err = replay.Looks(pools); err != nil {
			return err
		}
	}
	if err := v.print(p, lines, rules, looks); err != nil {
		return err
	}
	if v.Second {
		if err := v.printSecond(p, pools); err != nil {
			return err
		}
	}
	if len(v.Pool) > 0 && len(loaded.Failed) > 0 {
		return fmt.Errorf("%d of the %d pools asked for are left out", len(loaded.Failed), len(names))
	}
	return nil
}

// tell says what is left out.
func (v *votes) tell(p *program, folder *pools.Folder, loaded replay.Loaded) {
	for _, err := range loaded.Failed {
		p.note("left out: %v", err)
	}
	voted, without := 0, 0
	for _, pool := range loaded.Pools {
		for _, text := range pool.LeftOut {
			p.note("%s: left out: %s", pool.Name, text)
		}
		voted += len(pool.Questions)
		without += pool.Without
	}
	p.tellFaults(loaded.Faults, datasetFile(folder, ""))
	if n := len(loaded.Failed); n+without > 0 {
		p.note("in all: pools %d, questions %d; left out: pools %d, questions %d", len(loaded.Pools), voted, n, without)
	}
}

// fourExperts are systems that answer most of Spider alike.
const fourExperts = "spider_dev/dail_sql/DAIL-SQL+GPT-4,dail_sql/DAIL-SQL+GPT-4+self-consistency," +
	"dail_sql/graphix_result,c3sql/predicted_sql"

// widePools are the pools with at least four samples that pools.Pools leaves out.
func widePools() []string {
	return []string{
		"classicmodels/llama_qlora_k3", "classicmodels/qwen_qlora_k3", "classicmodels/llama_react_k3",
		"samples/spider_samples", "samples/spider_samples_lp", "samples/spider_samples_gpt_4o",
		"samples/spider_samples_gpt_3_5_turbo",
		"samples/bird_samples", "samples/bird_samples_gpt_4_1_mini",
		"samples/deepseek_chat_k=4", "samples/deepseek_chat_k=5", "samples/deepseek_chat_k=8", "samples/deepseek_chat_k=12",
		"samples/deepseek_chat_k=22", "samples/deepseek_chat_k=35",
		"samples/grok-4-1-fast-non-reasoning_k=4", "samples/grok-4-1-fast-non-reasoning_k=5",
		"samples/grok-4-1-fast-non-reasoning_k=8",
		"samples/grok-4-1-fast-non-reasoning_k=22", "samples/grok-4-1-fast-non-reasoning_k=35",
		"bird_minidev/all", fourExperts,
	}
}

// noneLeft is the error of a command without a usable pool. It has one line for each pool if there are several.
func noneLeft(p *program, failed []error) error {
	if len(failed) == 1 {
		return failed[0]
	}
	for _, err := range failed {
		p.note("left out: %v", err)
	}
	return fmt.Errorf("none of the %d pools can be used", len(failed))
}

// distinct drops repeated names, which would count twice.
func distinct(names []string) []string {
	var list []string
	for _, name := range names {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// votersNamed returns the voters of these names, or all voters for no names.
func votersNamed(names []string) ([]replay.Voter, error) {
	if len(names) == 0 {
		return replay.Voters(), nil
	}
	var list []replay.Voter
	for _, name := range names {
		v, err := replay.VoterNamed(name)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (v *votes) print(p *program, lines []replay.Line, rules []replay.RuleFigures, looks []replay.LookFigures) error {
	if v.JSON {
		if !slices.ContainsFunc(lines, func(l replay.Line) bool { return l.Pool == replay.AllPools }) {
			// A table of one pool need not show it twice, unless "all" was asked for.
			for _, l := range slices.Clone(lines) {
				l.Pool = replay.AllPools
				lines = append(lines, l)
			}
		}
		return errors.Join(jsonLines(p.out, lines), jsonLines(p.out, rules), jsonLines(p.out, looks))
	}
	heads, rows := votesTable(lines)
	err := table(p.out, heads, rows)
	if len(rules) > 0 {
		fmt.Fprintln(p.out)
		heads, rows = rulesTable(rules)
		err = errors.Join(err, table(p.out, heads, rows))
	}
	if len(looks) > 0 {
		fmt.Fprintln(p.out)
		heads, rows = looksTable(looks)
		err = errors.Join(err, table(p.out, heads, rows))
	}
	return err
}

// raised is the part of what an agreed answer lacks to 1 that an equal second opinion adds
// (texttosql.WithSecondOpinion).
const raised = 0.15

func (v *votes) printSecond(p *program, pools []replay.Pool) error {
	levels, err := replay.Levels(pools)
	if err != nil {
		return err
	}
	seconds, err := replay.SecondOpinions(pools, raised, stats.Bootstrap{Rounds: v.Rounds, Seed: v.Seed})
	if err != nil {
		return err
	}
	pairs, err := replay.Pairs(pools)
	if err != nil {
		return err
	}
	if v.JSON {
		return errors.Join(jsonLines(p.out, levels), jsonLines(p.out, seconds), jsonLines(p.out, pairs))
	}

	var rows [][]string
	for _, l := range levels {
		rows = append(rows, []string{l.Level, strconv.Itoa(l.N), strconv.Itoa(l.Right),
			share(float64(l.Right) / float64(max(l.N, 1)))})
	}
	fmt.Fprintln(p.out)
	if err := table(p.out, []string{"level", "n", "right", "share"}, rows); err != nil {
		return err
	}

	rows = nil
	for _, f := range pairs {
		rows = append(rows, []string{f.Models, share(f.Below), strconv.Itoa(f.Leader), strconv.Itoa(f.Second)})
	}
	fmt.Fprintln(p.out)
	if err := table(p.out, []string{"models", "share below", "only the leader is right", "only the runner-up"},
		rows); err != nil {
		return err
	}

	rows = nil
	of := func(right, n int) string { return fmt.Sprintf("%d of %d", right, n) }
	auroc := func(e *eval.Estimate) string {
		if e == nil {
			return "–"
		}
		return share(e.Value)
	}
	for _, s := range seconds {
		rows = append(rows, []string{s.First, s.Second, strconv.Itoa(s.N), of(s.AgreedRight, s.Agreed),
			of(s.EqualRight, s.Equal), of(s.DoubtRight, s.Doubted), auroc(s.Before), auroc(s.After)})
	}
	fmt.Fprintln(p.out)
	return table(p.out, []string{"first", "second", "n", "right of agreed", "of equal", "of doubted", "auroc", "with it"},
		rows)
}

func looksTable(looks []replay.LookFigures) (heads []string, rows [][]string) {
	heads = []string{"voter", "stop", "order", "asked every", "calls", "looks", "other winner", "points lost"}
	for _, w := range looks {
		rows = append(rows, []string{
			w.Voter, w.Stop, w.Order, strconv.Itoa(w.Every), fmt.Sprintf("%.1f %%", 100*w.Calls),
			strconv.FormatFloat(w.Looks, 'f', 2, 64),
			strconv.Itoa(w.Changed), strconv.FormatFloat(100*float64(w.Lost)/float64(max(w.N, 1)), 'f', 2, 64),
		})
	}
	return heads, rows
}

func votesTable(lines []replay.Line) (heads []string, rows [][]string) {
	heads = []string{"pool", "voter", "n", "k", "right", "ex", "95 %", "calls", "a question", "saved", "auroc", "risk50",
		"points", "95 %", "by template"}
	for _, l := range lines {
		row := []string{
			l.Pool, l.Voter, strconv.Itoa(l.N), strconv.Itoa(l.K), strconv.FormatFloat(l.Right, 'f', rightPlaces(l), 64),
			share(l.EX), share(l.CI[0]) + " to " + share(l.CI[1]),
			strconv.Itoa(l.Calls), strconv.FormatFloat(l.Mean, 'f', 1, 64), fmt.Sprintf("%.0f %%", 100*l.Saved),
			"–", "–", "–", "–", "–",
		}
		if l.Fits != "" {
			row[1] += " *"
		}
		if l.AUROC != nil {
			row[10] = share(*l.AUROC)
		}
		if l.Risk50 != nil {
			row[11] = share(*l.Risk50)
		}
		if l.Versus != nil {
			row[12] = points(l.Versus.Difference)
			row[13] = points(l.Versus.CI[0]) + " to " + points(l.Versus.CI[1])
			row[14] = points(l.Versus.ByTemplate[0]) + " to " + points(l.Versus.ByTemplate[1])
		}
		rows = append(rows, row)
	}
	return heads, rows
}

// rightPlaces shows a fraction only for a mean of answers.
func rightPlaces(l replay.Line) int {
	if l.Right != float64(int(l.Right)) {
		return 1
	}
	return 0
}

func rulesTable(rules []replay.RuleFigures) (heads []string, rows [][]string) {
	heads = []string{"pool", "rule", "fires", "of candidates", "right then", "winners", "right then", "of all winners",
		"leaving it out"}
	rate := func(right, n int) string {
		if n == 0 {
			return "–"
		}
		return share(float64(right) / float64(n))
	}
	for _, r := range rules {
		rows = append(rows, []string{
			r.Pool, r.Rule, strconv.Itoa(r.Fires), strconv.Itoa(r.Candidates), rate(r.FiresRight, r.Fires),
			strconv.Itoa(r.Winners), rate(r.WinnersWhen, r.Winners), rate(r.Right, r.Questions),
			fmt.Sprintf("%+d", r.Difference),
		})
	}
	return heads, rows
}
