package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/examples/evaluate/internal/page"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/strategy/qasql"
	"github.com/texttosql/texttosql/vote"
)

// live is the verb run.
type live struct {
	Data        string  `default:"${data}" placeholder:"DIR" help:"Folder of evaluation data (default: TEXTTOSQL_DATA)."`
	Dataset     string  `placeholder:"NAME" help:"Dataset of the folder, or a file of one."`
	DB          string  `name:"db" placeholder:"FILE" help:"A SQLite file of yours, in place of --data; needs --questions."`
	Questions   string  `placeholder:"FILE" help:"Questions about --db with their golds, in place of --dataset."`
	Strategy    string  `required:"" placeholder:"NAME" help:"How questions are answered; the names are above."`
	Model       string  `required:"" placeholder:"SPEC" help:"${specs}."`
	Samples     int     `placeholder:"N" help:"Samples a question; 0: the strategy's default."`
	Exemplars   string  `placeholder:"FILE|train" help:"Solved questions, a file of them or train: petsql shows nine with each question, direct and react three, staged3 three in its baseline. None: zero-shot."`
	Leaky       bool    `help:"Show exemplars too that are nearly the question or have its gold. The output says UNGUARDED."`
	Judge       string  `enum:"model,none,gold" default:"model" help:"Judge of qasql: the model, none, or gold, which knows the right answer."`
	MinShare    float64 `placeholder:"X" help:"qasql asks its judge if the largest answer has less than this share of the votes; 0: of all."`
	Limit       int     `placeholder:"N" help:"Only the first N questions; 0: all."`
	Concurrency int     `default:"4" placeholder:"N" help:"Questions at a time."`
	Out         string  `placeholder:"FILE" help:"Append a line for each finished question, and skip those that are there."`
	Manifest    string  `placeholder:"FILE" help:"Of an adapter's training data, as export wrote it: the run warns if it asks otherwise."`
	access      `embed:""`
	Latency     bool   `help:"Let recorded calls take as long as the folder's latencies say."`
	Seed        uint64 `default:"1" help:"Seed of the intervals."`
	Rounds      int    `default:"2000" help:"Rounds of the bootstrap."`
	JSON        bool   `name:"json" help:"JSON lines instead of a table."`
	HTML        string `name:"html" placeholder:"FILE" help:"Also write a page with charts."`
}

// Help is the part of --help that explains words and keys.
func (live) Help() string {
	text := "Strategies:\n\n"
	for _, s := range strategies() {
		text += fmt.Sprintf("  %-20s %s\n", s.name, s.about)
	}
	return text + `
Models:

  pool:NAME[,NAME…]   recorded: the stored answers of a pool, a sample each, in stored order; several
                      pools are several models that take turns. Only questions that all of them
                      answer are asked. A repair or a judge gets no answer; strategies go on. Not for
                      maker, whose steps nobody recorded.
  phases:NAME[,NAME…] simulated: as pool:, and each step of maker gets the part of a stored answer
                      that the step is about; NAME?keep=scope samples the later steps from answers
                      that read the tables agreed on. Not a measure of what steps do to a model.
  traj:NAME           recorded: the stored walks of a run of react, or of the runs NAME_seed…, a sample each, step by
                      step. Only for react and react-document. A walk whose statement runs here and failed there, or
                      the other way round, has a warning. With --mysql.
  replay:FILE         a recording of package llm/replay
  openai:NAME (OPENAI_API_KEY, OPENAI_BASE_URL), ollama:NAME (OLLAMA_HOST),
  anthropic:NAME (ANTHROPIC_API_KEY)

qasql reads the descriptions beside a database, NAME_description or database_description in the form of
BIRD. Under pools its linker asks no model, pool i answers context i, and contexts without a pool, or
that need descriptions where there are none, are left out; those descriptions also stand for a model's.

--exemplars train is the folder's questions/NAME_train.jsonl, or else the dataset's questions about other
databases. Guarded, the default: no exemplar has the question's gold, values aside, or asks the same but
for names and values. An exemplar with the very same question is never shown.

--db FILE --questions FILE is for a database of your own. The questions are JSON lines, a JSON list or CSV with a line
of names: question and gold (or sql, query), and where you have them id, evidence and difficulty.

A run that was interrupted goes on with the same command and --out. Questions that a provider or a
budget failed are not finished and asked again; here they count as wrong. The exit status is 1 when
all failed. Questions without database, stored answer or a gold that runs are told and not asked.

JSON: a line for each question as it is finished (and so in --out, which score reads):
  v (1), run, dataset, qid, db_id, sql, confidence, ex, va (1 or 0), calls, prompt_tokens,
  completion_tokens, tokens_known, latency_s, saved (samples not needed), error, model_kind,
  template (of the gold), contract (prompt, schema, scorer, limits: what compare holds equal)
and the last line, for all:
  n, ex, va        questions, and the means over all of them; ex compares sets of rows
  ci               95 % interval of ex
  calls, tokens    sums; tokens_known is false where some were estimated (4 characters a token)
  sec              wall time of the questions, added up; p50_s, p95_s: half and 95 % took at most as long
  auroc            of the confidence against being right, null where it cannot be told
  failed           questions that got no answer because something was down; they count as wrong
  left_out         questions that were not asked: no database or a damaged one, no stored answer, a
                   gold that fails
  judged           of qasql: questions whose judge was asked; judge_calls: how often; overruled: answers
                   that it changed; clusters: different answers, added up; rejected: candidates without a
                   vote; refined_right: those that failed first and came out right; auroc_ballot: of the
                   ballot's confidence, which the line of a question has as ballot_confidence
  contexts         of qasql, each: name, left_out (questions without it), tokens of its prompt in the mean
                   (estimated), candidates that vote, right ones, wins (questions whose answer it wrote)
  exemplars        "zero-shot", or the pool of --exemplars and whether it was guarded
  model_kind       "recorded", "simulated", "replayed" or "live"; strategy, model, dataset as they were given`
}

// summary is the last line.
type summary struct {
	N           int        `json:"n"`
	EX          float64    `json:"ex"`
	VA          float64    `json:"va"`
	CI          [2]float64 `json:"ci"`
	Calls       int        `json:"calls"`
	Tokens      int        `json:"tokens"`
	TokensKnown bool       `json:"tokens_known"`
	Sec         float64    `json:"sec"`
	P50         float64    `json:"p50_s"`
	P95         float64    `json:"p95_s"`
	AUROC       *float64   `json:"auroc"`
	AUROCBallot *float64   `json:"auroc_ballot,omitempty"`
	Failed      int        `json:"failed"`
	LeftOut     int        `json:"left_out"`
	Exemplars   string     `json:"exemplars"`
	Kind        string     `json:"model_kind"`
	Strategy    string     `json:"strategy"`
	Model       string     `json:"model"`
	Dataset     string     `json:"dataset"`
	*Figures
}

// giveUp bounds the questions that may fail before the first answer. After that, the fault is probably one of all
// questions.
const giveUp = 5

// Run runs the strategy.
func (l *live) Run(p *program) error {
	if l.Rounds < 1 || l.Concurrency < 1 || l.Samples < 0 || l.Limit < 0 {
		return errors.New("--rounds and --concurrency must be at least 1, --samples and --limit not negative")
	}
	if err := canWritePage(l.HTML); err != nil {
		return err
	}
	chosen, err := strategyNamed(l.Strategy)
	if err != nil {
		return err
	}
	if _, stepwise := chosen.strategy.(maker.Strategy); stepwise && strings.HasPrefix(l.Model, "pool:") {
		return fmt.Errorf("strategy %s asks for a statement step by step, and pools hold whole ones: give --model phases:%s, which simulates the steps",
			chosen.name, strings.TrimPrefix(l.Model, "pool:"))
	}
	_, loop := chosen.strategy.(agent.ReAct)
	if walks := strings.HasPrefix(l.Model, "traj:"); walks && !loop || loop && (strings.HasPrefix(l.Model, "pool:") || strings.HasPrefix(l.Model, "phases:")) {
		return fmt.Errorf("strategy %s and model %s do not go together: react and react-document take steps, which traj: has, and the other strategies whole answers",
			chosen.name, l.Model)
	}
	folder, find, dataset, err := l.open(p)
	if err != nil {
		return err
	}
	source, err := newSource(folder, l.Model, l.Latency, p.getenv)
	if err != nil {
		return err
	}
	var shown *exemplars
	if l.Exemplars != "" {
		if shown, err = openExemplars(p.ctx, l.Exemplars, l.Leaky, folder, find, dataset); err != nil {
			return err
		}
	} else if l.Leaky {
		return errors.New("--leaky needs --exemplars")
	}
	store := l.store(find, l.Concurrency)
	defer store.Close()
	scorer := &eval.Scorer{Store: store, Metrics: []eval.Metric{eval.EX{}, eval.VA{}}}
	if chosen, err = l.judged(p, chosen, scorer); err != nil {
		return err
	}
	questions, left, err := l.choose(p, folder, dataset, source, scorer)
	if err != nil {
		return err
	}
	if len(questions) == 0 {
		return fmt.Errorf("no question of %s can be asked", l.Dataset)
	}
	asker := &asker{folder: find, source: source, strategy: chosen, exemplars: shown, samples: l.Samples, access: l.access, scorer: scorer, program: p}
	defer asker.close()
	// Wrong settings end the run here, and not at every question.
	if _, err := asker.engine(p.ctx, questions[0].DB); err != nil {
		return err
	}
	name := fmt.Sprintf("%s %s", chosen.name, l.Model)
	if l.Samples > 0 {
		name += fmt.Sprintf(" n=%d", l.Samples)
	}
	if l.Judge != "model" {
		name += " judge=" + l.Judge
	}
	if l.MinShare > 0 {
		name += fmt.Sprintf(" min-share=%g", l.MinShare)
	}
	if shown != nil {
		name += " exemplars=" + shown.String()
	}
	log, err := openJournal(l.Out, name, dataset.Name)
	if err != nil {
		return err
	}
	t := newTally(p, l, questions, log)
	if err := cmp.Or(asker.sameContracts(p.ctx, l.Out, questions, log), asker.fits(p, l.Manifest, questions)); err != nil {
		return errors.Join(err, log.close())
	}
	err = t.all(p.ctx, func(ctx context.Context, q eval.Question) (finished, error) {
		f, err := asker.ask(ctx, q)
		f.Run, f.Dataset, f.Kind = name, dataset.Name, source.kind
		f.Template = eval.GoldTemplate(sqltext.SQLite(), q.Gold)
		if err != nil {
			return f, err
		}
		v, err := scorer.Score(ctx, q, f.SQL)
		if err != nil {
			return f, err
		}
		if v.Fault != "" {
			return f, fmt.Errorf("it cannot be scored: %s", v.Fault)
		}
		f.EX, f.VA = int(v.Scores[0]), int(v.Scores[1])
		return f, nil
	})
	if err := errors.Join(err, log.close()); err != nil {
		return err
	}
	s := t.summary(l, source.kind)
	s.LeftOut, s.Exemplars = left, shown.String()
	shown.tell(p, source.kind)
	if err := l.print(p, s); err != nil {
		return err
	}
	if l.HTML != "" {
		if err := writePage(l.HTML, t.page(p, s)); err != nil {
			return err
		}
	}
	if s.Failed == s.N {
		return fmt.Errorf("all %d questions failed, the last one with: %w", s.N, t.last)
	}
	return nil
}

// choose returns the questions to ask and the number of those left out, which it reports. Nobody should pay for an
// answer that cannot be judged.
func (l *live) choose(p *program, folder *eval.Folder, dataset *eval.Dataset, source *source, scorer *eval.Scorer) (list []eval.Question, left int, err error) {
	var faults []eval.Verdict
	unknown := 0
	for _, q := range dataset.Questions {
		if l.Limit > 0 && len(list) == l.Limit {
			break
		}
		if !source.knows(q) {
			unknown++
			continue
		}
		fault, err := scorer.Fault(p.ctx, q)
		if err != nil {
			return nil, 0, err
		}
		if fault != "" {
			faults = append(faults, eval.Verdict{Question: q, Fault: fault})
			continue
		}
		list = append(list, q)
	}
	if unknown > 0 {
		p.note("left out: questions that %s has no answer to: %d", l.Model, unknown)
	}
	if len(faults) > 0 {
		p.note("left out: questions that cannot be judged: %d", len(faults))
		p.tellFaults(faults, datasetFile(folder, l.Dataset))
	}
	return list, unknown + len(faults), nil
}

func (l *live) print(p *program, s summary) error {
	if l.JSON {
		return jsonLines(p.out, []summary{s})
	}
	auroc := "–"
	if s.AUROC != nil {
		auroc = share(*s.AUROC)
	}
	tokens := strconv.Itoa(s.Tokens)
	if !s.TokensKnown {
		tokens = "about " + tokens
	}
	err := table(p.out,
		[]string{"strategy", "model", "kind", "n", "ex", "95 %", "va", "calls", "tokens", "sec", "auroc", "failed", "exemplars"},
		[][]string{{
			s.Strategy, s.Model, s.Kind, strconv.Itoa(s.N), share(s.EX), share(s.CI[0]) + " to " + share(s.CI[1]), share(s.VA),
			strconv.Itoa(s.Calls), tokens, strconv.FormatFloat(s.Sec, 'f', 1, 64), auroc, strconv.Itoa(s.Failed), s.Exemplars,
		}})
	if err != nil || s.Figures == nil {
		return err
	}
	return s.Figures.print(p)
}

// tally collects finished questions.
type tally struct {
	program   *program
	live      *live
	log       *journal
	questions []eval.Question
	bar       *progress

	done   map[string]finished // by question
	failed int
	last   error // the error of the question that failed last
	right  int
	calls  int
	tokens int
}

func newTally(p *program, l *live, questions []eval.Question, log *journal) *tally {
	t := &tally{program: p, live: l, log: log, questions: questions, done: make(map[string]finished)}
	resumed := 0
	for _, q := range questions {
		if f, ok := log.finished[q.ID]; ok {
			t.add(f)
			resumed++
		}
	}
	if resumed > 0 {
		p.note("%s: %d of %d questions are finished", l.Out, resumed, len(questions))
	}
	t.bar = newProgress(p.err, "", len(questions))
	t.bar.jump(resumed)
	return t
}

func (t *tally) add(f finished) {
	t.done[f.ID] = f
	t.right += f.EX
	t.calls += f.Calls
	t.tokens += f.PromptTokens + f.CompletionTokens
}

// all asks the unfinished questions, several at a time. It reports a question that fails and goes on. An error that
// affects all questions ends it.
func (t *tally) all(ctx context.Context, ask func(context.Context, eval.Question) (finished, error)) error {
	type outcome struct {
		question eval.Question
		finished finished
		err      error
	}
	var open []eval.Question
	for _, q := range t.questions {
		if _, ok := t.done[q.ID]; !ok {
			open = append(open, q)
		}
	}
	outcomes := make(chan outcome)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group errgroup.Group // a failed question must not cancel the others
	group.SetLimit(t.live.Concurrency)
	go func() {
		defer close(outcomes)
		for _, q := range open {
			group.Go(func() error {
				if ctx.Err() != nil {
					return nil // the question was never asked
				}
				f, err := ask(ctx, q)
				outcomes <- outcome{q, f, err}
				return nil
			})
		}
		group.Wait()
	}()
	var stopped error
	answered := len(t.done)
	for o := range outcomes {
		switch {
		case ctx.Err() != nil && o.err != nil:
			continue // the question was cancelled in flight
		case o.err != nil:
			t.failed++
			t.last = o.err
			t.program.note("question %s: %v", o.question.ID, o.err)
			if answered == 0 && t.failed >= giveUp && stopped == nil {
				stopped = fmt.Errorf("the first %d questions failed, the last one with: %w", t.failed, o.err)
				cancel()
			}
		default:
			answered++
			t.add(o.finished)
			if err := t.keep(o.finished); err != nil && stopped == nil {
				stopped = err
				cancel()
			}
		}
		t.bar.say(fmt.Sprintf("ex %s, %d calls, %d tokens", share(float64(t.right)/float64(answered+t.failed)), t.calls, t.tokens))
		t.bar.step(len(t.questions))
	}
	t.bar.done()
	if stopped != nil {
		return stopped
	}
	if err := t.program.ctx.Err(); err != nil {
		if t.live.Out != "" {
			t.program.note("%d of %d questions are finished; the same command goes on with the rest", len(t.done), len(t.questions))
		}
		return err
	}
	return nil
}

// keep writes a finished question to the journal, and shows it.
func (t *tally) keep(f finished) error {
	if err := t.log.keep(f); err != nil {
		return err
	}
	if t.live.JSON {
		return jsonLines(t.program.out, []finished{f})
	}
	return nil
}

// outcomes returns the questions in the form that the statistics take. A failed question is wrong.
func (t *tally) outcomes() []eval.Outcome {
	var list []eval.Outcome
	for _, q := range t.questions {
		f := t.done[q.ID]
		list = append(list, eval.Outcome{
			Question: q.Key(), Database: q.DB, Difficulty: q.Difficulty,
			Score: float64(f.EX), Confidence: f.Confidence,
		})
	}
	return list
}

func (t *tally) summary(l *live, kind string) summary {
	n := float64(len(t.questions))
	outcomes := t.outcomes()
	mean := eval.Bootstrap{Rounds: l.Rounds, Seed: l.Seed}.Mean(outcomes)
	s := summary{
		N: len(t.questions), EX: float64(t.right) / n, CI: [2]float64{mean.Low, mean.High},
		Calls: t.calls, Tokens: t.tokens, TokensKnown: true, Failed: t.failed,
		Kind: kind, Strategy: l.Strategy, Model: l.Model, Dataset: l.Dataset,
	}
	var list []finished
	var wall time.Duration
	var times []float64
	valid := 0
	for _, q := range t.questions {
		f, ok := t.done[q.ID]
		if !ok {
			continue
		}
		valid += f.VA
		s.TokensKnown = s.TokensKnown && f.TokensKnown
		wall += time.Duration(f.Sec * float64(time.Second))
		list, times = append(list, f), append(times, f.Sec)
	}
	s.VA, s.Sec, s.Figures = float64(valid)/n, wall.Seconds(), addUp(list)
	if slices.Sort(times); len(times) > 0 {
		s.P50, s.P95 = times[(len(times)-1)/2], times[(95*len(times)+99)/100-1]
	}
	if a, ok := eval.AUROC(outcomes); ok {
		s.AUROC = &a
	}
	if s.Figures != nil {
		for i, q := range t.questions {
			if f := t.done[q.ID].Figures; f != nil {
				outcomes[i].Confidence = f.BallotConfidence
			}
		}
		if a, ok := eval.AUROC(outcomes); ok {
			s.AUROCBallot = &a
		}
	}
	return s
}

// page shows the figures of the run.
func (t *tally) page(p *program, s summary) page.Page {
	outcomes := t.outcomes()
	n := float64(s.N)
	doc := page.Page{
		Title:   s.Strategy + " on " + s.Dataset,
		Intro:   fmt.Sprintf("Model %s, of kind %s; exemplars: %s. Right means: the rows are the gold's, compared as sets.", s.Model, s.Kind, s.Exemplars),
		Command: p.command(),
		Facts: []page.Fact{
			{Name: "Right", Value: percent(s.EX), Note: fmt.Sprintf("%s to %s", percent(s.CI[0]), percent(s.CI[1]))},
			{Name: "Runs", Value: percent(s.VA)},
			{Name: "Calls", Value: strconv.FormatFloat(float64(s.Calls)/n, 'f', 1, 64), Note: "a question"},
			{Name: "Tokens", Value: strconv.FormatFloat(float64(s.Tokens)/n, 'f', 0, 64), Note: "a question"},
			{Name: "Seconds", Value: strconv.FormatFloat(s.Sec/n, 'f', 2, 64), Note: "a question"},
		},
		Figures: []page.Figure{
			reliability("the confidence", outcomes),
			page.Risk("Risk and coverage", "How many answers are wrong if only the surest are given.", []page.Curve{riskCurve(s.Strategy, outcomes)}),
			rateBars("By database", "", outcomes, eval.ByDatabase),
		},
	}
	var costs []page.Point
	byCalls := map[int][]eval.Outcome{}
	for i, q := range t.questions {
		calls := t.done[q.ID].Calls
		byCalls[calls] = append(byCalls[calls], outcomes[i])
	}
	for _, calls := range slices.Sorted(maps.Keys(byCalls)) {
		list := byCalls[calls]
		mean := eval.Bootstrap{Rounds: t.live.Rounds, Seed: t.live.Seed}.Mean(list)
		costs = append(costs, page.Point{Name: fmt.Sprintf("%d calls (%d)", calls, len(list)), Cost: float64(calls), Right: mean.Value, Low: mean.Low, High: mean.High})
	}
	doc.Figures = append([]page.Figure{page.CostChart("Accuracy against cost", "Questions by the calls they took, with their number: an early stop asks more of what is hard.", "calls a question", costs)}, doc.Figures...)
	table := page.Table{Title: "Questions", Columns: []string{"question", "database", "right", "runs", "confidence", "calls", "tokens", "seconds", "statement or reason"}}
	for _, q := range t.questions {
		f, ok := t.done[q.ID]
		if !ok {
			table.Rows = append(table.Rows, []string{q.ID, q.DB, "–", "–", "–", "–", "–", "–", "failed"})
			continue
		}
		table.Rows = append(table.Rows, []string{
			q.ID, q.DB, strconv.Itoa(f.EX), strconv.Itoa(f.VA), strconv.FormatFloat(f.Confidence, 'f', 2, 64), strconv.Itoa(f.Calls),
			strconv.Itoa(f.PromptTokens + f.CompletionTokens), strconv.FormatFloat(f.Sec, 'f', 2, 64), f.SQL + f.Error,
		})
	}
	doc.Tables = append(doc.Tables, table)
	return doc
}

// named is a strategy of the command line.
type named struct {
	name, about string
	strategy    strategy.Strategy
}

func strategies() []named {
	return []named{
		{"direct", "one greedy sample, checked", strategy.Direct{}},
		{"self-consistency", "samples of one prompt, majority by result, stopped when decided", strategy.SelfConsistency{}},
		{"consensus", "the default: three prompt forms, values, doubts, repair, judge", strategy.Consensus{}},
		{"consensus-ahead3", "consensus that also stops when 3 votes ahead", strategy.Consensus{Stop: vote.AheadBy(aheadBy).Every(4)}},
		{"plan-vote", "samples of one prompt, majority by plan (M7)", planvote.Plain{}},
		{"augmented-plan-vote", "plan-vote on a schema with sample rows (M10)", planvote.Augmented{}},
		{"execution-feedback", "rounds of augmented-plan-vote that see what failed (M12)", planvote.Feedback{}},
		{"maker", "consensus on tables, then filters, then the statement (M15)", maker.Strategy{}},
		{"maker-compat", "maker as published", maker.Strategy{}.Published()},
		{"petsql", "two rounds: a first statement links the schema, then every model votes", petsql.Strategy{}},
		{"petsql-compat", "petsql with its published prompt", petsql.Strategy{}.Published()},
		{"qasql", "five views of the schema, each refined, and a judge (QA-SQL)", qasql.Strategy{}},
		{"qasql-document", "qasql as its document has it: one call of the judge, no last resort",
			qasql.Strategy{Judge: strategy.Rubric{Votes: 1}, WithoutLastResort: true}},
		{"staged0", "the first statement that runs, of three steps of one sample", agent.Staged{}},
		{"staged1", "staged0, and forms of a statement that break fewer checks", agent.Staged{Stage: 1}},
		{"staged2", "staged1, and four samples a step, doubts before votes", agent.Staged{Stage: 2}},
		{"staged3", "staged2, and a repair where nothing runs, and a baseline", agent.Staged{Stage: 3}},
		{"react", "the tool loop: thought, action and observation until a statement runs", agent.ReAct{}},
		{"react-document", "react as published: until a second statement runs, or finish", agent.ReAct{}.Published()},
	}
}

// aheadBy is the recommended lead.
const aheadBy = 3

func strategyNamed(name string) (named, error) {
	var names []string
	for _, s := range strategies() {
		if s.name == name {
			return s, nil
		}
		names = append(names, s.name)
	}
	return named{}, fmt.Errorf("strategy %q: unknown; want one of %s", name, strings.Join(names, ", "))
}
