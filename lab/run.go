package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/lab/stats"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/threephase"
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
	Exemplars   string  `placeholder:"FILE|train|random" help:"Solved questions, a file of them, train or random: petsql shows nine with each question, direct and react three, staged3 three in its baseline. None: zero-shot."`
	Judge       string  `enum:"model,none,gold" default:"model" help:"Judge of qasql: the model, none, or gold, which knows the right answer."`
	MinShare    float64 `placeholder:"X" help:"qasql asks its judge if the largest answer has less than this share of the votes; 0: of all."`
	Limit       int     `placeholder:"N" help:"Only the first N questions; 0: all."`
	Draw        uint64  `placeholder:"SEED" help:"Ask in the order of a draw, of which every beginning is a fair sample; 0: of the file."`
	Concurrency int     `default:"4" placeholder:"N" help:"Questions at a time."`
	Record      string  `placeholder:"DIR" help:"Answer from the recordings of the folder, ask --model for the rest, and record that there."`
	Second      string  `placeholder:"SPEC" help:"Another model, for a second opinion where all samples agree."`
	SecondTape  string  `name:"second-record" placeholder:"DIR" help:"As --record, for the other model."`
	Out         string  `placeholder:"FILE" help:"Append a line for each finished question, and skip those that are there."`
	Knowledge   string  `placeholder:"FILE" help:"What people know of the database, as JSON: metrics, words, relationships."`
	Clarify     float64 `name:"clarify-below" placeholder:"X" help:"Ask back where the best answer has less than this share of the samples; 0: never."`
	Ungraded    bool    `help:"Ask questions that have no gold, too. Nothing judges their answers: they count as wrong."`
	Manifest    string  `placeholder:"FILE" help:"Of an adapter's training data, as export wrote it: the run warns if it asks otherwise."`
	access      `embed:""`
	Prices      string `placeholder:"FILE" help:"A price list, as the command of the SDK reads it: what the questions cost."`
	Seed        uint64 `default:"1" help:"Seed of the intervals."`
	Rounds      int    `default:"2000" help:"Rounds of the bootstrap."`
	JSON        bool   `name:"json" help:"JSON lines instead of a table."`
}

// Help is the part of --help that explains words and keys.
func (live) Help() string {
	return "Strategies:\n\n" + presetsHelp() + `
Of a question that is not clear threephase takes the likeliest reading.

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
  replay:FILE         a recording of package llm/replay, or a folder of --record
  openai:NAME (OPENAI_API_KEY, OPENAI_BASE_URL), ollama:NAME (OLLAMA_HOST),
  anthropic:NAME (ANTHROPIC_API_KEY)

qasql reads the descriptions beside a database, NAME_description or database_description in the form of
BIRD. Under pools its linker asks no model, pool i answers context i, and contexts without a pool, or
that need descriptions where there are none, are left out; those descriptions also stand for a model's.

--exemplars train is the folder's questions/NAME_train.jsonl, or else the dataset's questions about other
databases; random is the same, and a draw chooses of it. No exemplar has the question's gold, values aside,
or asks the same but for names and values. An exemplar with the very same question is never shown.

--db FILE --questions FILE is for a database of your own. The questions are JSON lines, a JSON list or CSV with a line
of names: question and gold (or sql, query), and where you have them id, evidence and difficulty.

A run that was interrupted goes on with the same command and --out. Questions that a provider or a
budget failed are not finished and asked again; here they count as wrong. The exit status is 1 when
all failed. Questions without database, stored answer or a gold that runs are told and not asked.

JSON: a line for each question as it is finished (and so in --out, which score reads):
  v (1), run, dataset, qid, db_id, sql, confidence, ex, va (1 or 0), calls, prompt_tokens,
  completion_tokens, tokens_known, latency_s, saved (samples not needed), error, model_kind,
  level (of the confidence), doubts (rules that the answer breaks), repairs, overruled (by a judge),
  asked (true: the answer is a question back), answerable (the score of Result.Answerable),
  second (of --second: "equal" where its first statement has the same result, "differs" where two have another one, alike),
  template (of the gold), contract (prompt, schema, scorer, limits: what compare holds equal)
and the last line, for all:
  n, ex, va        questions, and the means over all of them; ex compares sets of rows
  asked            questions that were answered by a question back
  ci               95 % interval of ex
  calls, tokens    sums; tokens_known is false where some were estimated (4 characters a token)
  money            what they cost by --prices, in its unit; only with it (also of a question)
  sec              wall time of the questions, added up; p50_s, p95_s: half and 95 % took at most as long
  auroc, auroc_ci  of the confidence against being right, and its 95 % interval; null where it cannot be told
  brier, ece       of the confidence: mean square error, and mean distance from the frequency in ten bins
  answered         n, ex, auroc, auroc_ci, brier and ece of the questions that have a statement. Without one the confidence
                   is 0, which helps a strategy that answers less
  levels           of the confidence, each: questions (n) and right ones
  second           what the other model says, each: questions (n) and right ones
  failed           questions that got no answer because something was down; they count as wrong
  left_out         questions that were not asked: no database or a damaged one, no stored answer, a
                   gold that fails
  judged           of qasql: questions whose judge was asked; judge_calls: how often; overruled: answers
                   that it changed; clusters: different answers, added up; rejected: candidates without a
                   vote; refined_right: those that failed first and came out right; ballot: auroc, auroc_ci,
                   brier and ece of the ballot's confidence, a question's ballot_confidence
  contexts         of qasql, each: name, left_out (questions without it), tokens of its prompt in the mean
                   (estimated), candidates that vote, right ones, wins (questions whose answer it wrote)
  voters           of petsql, by grade of the first statement (Spider hardness) and model: votes (its statements that
                   have one), right, and wins (votes for the winner)
  exemplars        "zero-shot", or the pool of --exemplars, guarded
  model_kind       "recorded", "simulated", "replayed" or "live"; strategy, model, dataset as they were given`
}

// sureness is how well confidences fit what was right.
type sureness struct {
	AUROC   *float64    `json:"auroc"`
	AUROCCI *[2]float64 `json:"auroc_ci"`
	Brier   float64     `json:"brier"`
	ECE     float64     `json:"ece"`
}

func surenessOf(outcomes []eval.Outcome, boot stats.Bootstrap) sureness {
	s := sureness{Brier: stats.Brier(outcomes), ECE: stats.ECE(stats.Reliability(outcomes, 10))}
	if area, ok := stats.AUROC(boot, outcomes); ok {
		s.AUROC, s.AUROCCI = &area.Value, &[2]float64{area.Low, area.High}
	}
	return s
}

// levelFigures are of the questions whose answer has a level of confidence.
type levelFigures struct {
	N     int `json:"n"`
	Right int `json:"right"`
}

// answeredFigures are of the questions that have a statement.
type answeredFigures struct {
	N  int     `json:"n"`
	EX float64 `json:"ex"`
	sureness
}

// summary is the last line.
type summary struct {
	N           int        `json:"n"`
	EX          float64    `json:"ex"`
	VA          float64    `json:"va"`
	Asked       int        `json:"asked,omitempty"`
	CI          [2]float64 `json:"ci"`
	Calls       int        `json:"calls"`
	Tokens      int        `json:"tokens"`
	TokensKnown bool       `json:"tokens_known"`
	Money       float64    `json:"money,omitempty"`
	Sec         float64    `json:"sec"`
	P50         float64    `json:"p50_s"`
	P95         float64    `json:"p95_s"`
	sureness
	Answered  *answeredFigures            `json:"answered,omitempty"`
	Levels    map[vote.Level]levelFigures `json:"levels,omitempty"`
	Second    map[string]levelFigures     `json:"second,omitempty"`
	Ballot    *sureness                   `json:"ballot,omitempty"`
	Failed    int                         `json:"failed"`
	LeftOut   int                         `json:"left_out"`
	Exemplars string                      `json:"exemplars"`
	Kind      string                      `json:"model_kind"`
	Strategy  string                      `json:"strategy"`
	Model     string                      `json:"model"`
	Dataset   string                      `json:"dataset"`
	*Figures
	Voters []voterFigures `json:"voters,omitempty"`
}

// Run runs the strategy.
func (l *live) Run(p *program) error {
	if l.Rounds < 1 || l.Concurrency < 1 || l.Samples < 0 || l.Limit < 0 {
		return errors.New("--rounds and --concurrency must be at least 1, --samples and --limit not negative")
	}
	if err := l.check(); err != nil {
		return err
	}
	chosen, err := strategyNamed(l.Strategy)
	if err != nil {
		return err
	}
	if _, stepwise := chosen.Strategy.(maker.Strategy); stepwise && strings.HasPrefix(l.Model, "pool:") {
		return fmt.Errorf("strategy %s asks for a statement step by step, and pools hold whole ones: "+
			"give --model phases:%s, which simulates the steps",
			chosen.Name, strings.TrimPrefix(l.Model, "pool:"))
	}
	provider, _, _ := strings.Cut(l.Model, ":")
	if _, phases := chosen.Strategy.(threephase.Strategy); phases && slices.Contains([]string{"pool", "phases", "traj"},
		provider) {
		return fmt.Errorf("strategy %s asks about tables before it asks for a statement, and %s has nothing of that: "+
			"give a live model or a recording (replay:FILE)",
			chosen.Name, l.Model)
	}
	_, loop := chosen.Strategy.(agent.ReAct)
	if walks := strings.HasPrefix(l.Model, "traj:"); walks && !loop || loop &&
		(strings.HasPrefix(l.Model, "pool:") || strings.HasPrefix(l.Model, "phases:")) {
		return fmt.Errorf("strategy %s and model %s do not go together: react and react-document take steps, which traj: "+
			"has, and the other strategies whole answers",
			chosen.Name, l.Model)
	}
	folder, find, dataset, err := l.open(p)
	if err != nil {
		return err
	}
	source, err := newSource(folder, l.Model, l.Record, p.getenv)
	if err != nil {
		return err
	}
	second, err := secondModel(l.Second, l.SecondTape, p.getenv)
	if err != nil {
		return err
	}
	var shown *exemplars
	if l.Exemplars != "" {
		if shown, err = openExemplars(p.ctx, l.Exemplars, folder, find, l.onServer, dataset); err != nil {
			return err
		}
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
	prices, err := l.prices()
	if err != nil {
		return err
	}
	known, err := l.known()
	if err != nil {
		return err
	}
	asker := &asker{second: second, clarify: l.Clarify, knowledge: known, prices: prices, folder: find, source: source,
		strategy: chosen, exemplars: shown, samples: l.Samples, access: l.access, scorer: scorer, program: p}
	defer asker.close()
	// Wrong settings end the run here, and not at every question.
	if _, err := asker.engine(p.ctx, questions[0].DB); err != nil {
		return err
	}
	name := fmt.Sprintf("%s %s", chosen.Name, l.Model)
	if l.Samples > 0 {
		name += fmt.Sprintf(" n=%d", l.Samples)
	}
	if l.Judge != "model" {
		name += " judge=" + l.Judge
	}
	if l.Clarify > 0 {
		name += fmt.Sprintf(" clarify-below=%g", l.Clarify)
	}
	if l.Second != "" {
		name += " second=" + l.Second
	}
	if l.Knowledge != "" {
		name += " knowledge=" + l.Knowledge
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
	t := newCollector(p, l, questions, log)
	if err := cmp.Or(asker.sameContracts(p.ctx, l.Out, questions, log), asker.fits(p, l.Manifest, questions)); err != nil {
		return errors.Join(err, log.close())
	}
	err = t.all(p.ctx, func(ctx context.Context, q eval.Question) (finished, error) {
		f, err := asker.ask(ctx, q)
		f.Run, f.Dataset, f.Kind = name, dataset.Name, source.kind
		f.Template = l.dialect().Language().Text.Parse(q.Gold).Template()
		if err != nil || q.Gold == "" {
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
	if s.Failed == s.N {
		return fmt.Errorf("all %d questions failed, the last one with: %w", s.N, t.last)
	}
	return nil
}

// prices reads the price list; nil without one.
func (l *live) prices() (map[string]llm.Price, error) {
	if l.Prices == "" {
		return nil, nil
	}
	f, err := os.Open(l.Prices)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return llm.ReadPrices(f)
}

// known reads what people know; the zero Model without a file.
func (l *live) known() (m knowledge.Model, err error) {
	if l.Knowledge == "" {
		return m, nil
	}
	f, err := os.Open(l.Knowledge)
	if err != nil {
		return m, err
	}
	defer f.Close()
	return knowledge.Read(f)
}

// choose returns the questions to ask and the number of those left out, which it reports. Nobody should pay for an
// answer that cannot be judged.
func (l *live) choose(p *program, folder *pools.Folder, dataset *eval.Dataset, source *source,
	scorer *eval.Scorer) (list []eval.Question, left int, err error) {
	var faults []eval.Verdict
	unknown, questions := 0, dataset.Questions
	if l.Draw > 0 {
		questions = drawn(questions, l.Draw)
	}
	for _, q := range questions {
		if l.Limit > 0 && len(list) == l.Limit {
			break
		}
		if !source.knows(q) {
			unknown++
			continue
		}
		if q.Gold == "" && l.Ungraded {
			list = append(list, q)
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
		[]string{"strategy", "model", "kind", "n", "ex", "95 %", "va", "calls", "tokens", "sec", "auroc", "failed",
			"exemplars"},
		[][]string{{
			s.Strategy, s.Model, s.Kind, strconv.Itoa(s.N), share(s.EX), share(s.CI[0]) + " to " + share(s.CI[1]), share(s.VA),
			strconv.Itoa(s.Calls), tokens, strconv.FormatFloat(s.Sec, 'f', 1, 64), auroc, strconv.Itoa(s.Failed), s.Exemplars,
		}})
	if err == nil && len(s.Voters) > 0 {
		fmt.Fprintln(p.out)
		err = printVoters(p, s.Voters)
	}
	if err != nil || s.Figures == nil {
		return err
	}
	return s.Figures.print(p)
}
