package texttosql

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// Option is an option of New: it holds for every question. New skips a nil Option.
type Option interface{ configure(*config) }

type option func(*config)

func (o option) configure(c *config) { o(c) }

// AskOption is an option of one question, given to Ask, Generate and the other calls that take it; their docs say which they heed,
// and one that they cannot heed is a *strategy.ConfigError. It is an Option too: given to New, it holds for every question that does
// not have its own. WithScope and a Question belong to one question and are refused by New. A nil AskOption is skipped.
type AskOption interface {
	Option
	extend(*asking)
}

// askOption belongs to one question.
type askOption struct {
	name string
	f    func(*asking)
}

func (o askOption) configure(c *config) { c.fail(o.name, "it belongs to one question: give it to Ask") }
func (o askOption) extend(a *asking) {
	o.f(a)
	a.given = append(a.given, o.name)
}

// asking is one question with the options that belong to it alone.
type asking struct {
	Question
	progress      func(Progress) // nil: the engine's
	withoutMemory bool
	withoutRows   bool           // Generate
	scope         *Scope         // nil: none
	policy        *exec.Policy   // narrows the engine's; nil: it holds
	recall        *memory.Recall // what its conversation kept; nil: that of the store
	talk          *talk          // what a conversation adds; nil: it stands alone
	given         []string       // names of its options
	misplaced     string         // what is wrong with its options; "": nothing
	day           string         // which day it is, for prompts (llm.DayLine); "": that of the clock
}

// extend makes a question of this package, with all of its options, one option of it.
func (a asking) extend(to *asking) { *to = a }

// config is what the options say. Every option adds its own errors, validate the others.
type config struct {
	strategy         strategy.Strategy
	samples          int
	models           []llm.Model
	dialect          exec.Dialect
	exec             exec.Config
	budget           llm.Budget
	retry            llm.Retry
	schema           *schema.Schema
	descriptions     schema.Descriptions
	instructions     string
	knowledge        *knowledge.Model // nil: none
	exemplars        []memory.Pair
	confirmed        *memory.Confirmed
	forgetful        bool            // nobody gave confirmed
	lessons          *memory.Lessons // nil: none
	withoutMemory    bool
	askBelow         float64
	refuseBelow      float64
	withoutExecution bool
	withoutValues    bool
	headline         bool
	progress         func(Progress)
	logger           *slog.Logger
	telemetry        Telemetry // nil: none
	keep             trace.Private
	clock            func() time.Time // nil: no prompt says which day it is
	seed             int64
	errs             []error
}

// fail adds an error of an option. The option then leaves its value as it was, so that no other check trips over it.
func (c *config) fail(field, format string, args ...any) {
	c.errs = append(c.errs, &strategy.ConfigError{Field: "texttosql: " + field, Problem: fmt.Sprintf(format, args...)})
}

// WithStrategy chooses how questions are answered. Default: strategy.Consensus{}.
func WithStrategy(s strategy.Strategy) Option {
	return option(func(c *config) {
		if s == nil {
			c.fail("WithStrategy", "the strategy is nil")
			return
		}
		c.strategy = s
	})
}

// WithSamples sets the number of samples a question, up to 10,000; 0: the default. The strategy's doc says what a sample is and how many
// it takes by default. New fails for a strategy that takes none.
//
// Given to Ask or Generate, it overrides the number given to New for that question. 0 is as if it were not given.
func WithSamples(n int) AskOption {
	return samples(n)
}

type samples int

func (n samples) configure(c *config) {
	if n < 0 || n > strategy.MaxSamples {
		c.fail("WithSamples", "%d is not in 0..%d", n, strategy.MaxSamples)
		return
	}
	c.samples = int(n)
}

func (n samples) extend(a *asking) {
	a.Samples = int(n)
	a.given = append(a.given, "WithSamples")
}

// WithModels adds models to the one given to New. Each needs a name of its own (llm.Named). Samples are spread over the
// models in order, New's model first.
func WithModels(models ...llm.Model) Option {
	return option(func(c *config) { c.models = append(c.models, models...) })
}

// WithDialect names the engine of the database. New recognises SQLite; every other engine must be named.
//
// inside is for a wrapped driver, as tracing libraries make them: it gets the connection that the driver gave to database/sql, and
// returns the connection of the engine's own driver inside. With it d may be nil: that connection tells the dialect then.
func WithDialect(d exec.Dialect, inside ...func(driverConn any) any) Option {
	return option(func(c *config) {
		if d == nil && len(inside) == 0 {
			c.fail("WithDialect", "the dialect is nil")
			d = sqlite.Dialect{} // no second error about the driver
		}
		if d != nil {
			c.dialect = d
		}
		for _, unwrap := range inside {
			c.exec.Unwrap = unwrap
		}
	})
}

// WithLimits bounds what statements may take: time, rows, bytes, connections. Fields that are 0 keep their defaults.
func WithLimits(l exec.Limits) Option { return option(func(c *config) { c.exec.Limits = l }) }

// WithBudget bounds the model calls of each question. Limits and prices must be finite and not negative, and Money needs
// a price for every model. Prices (llm.ReadPrices) alone make Result.Usage say what was paid. A question that spends its budget ends
// with the best answer it has, or with an error that matches ErrBudget. InFlight bounds the calls at the same time.
func WithBudget(b llm.Budget) Option {
	return option(func(c *config) {
		before := len(c.errs)
		if b.Calls < 0 || b.Tokens < 0 || !(b.Money >= 0) || b.Time < 0 || b.Room < 0 || b.InFlight < 0 {
			c.fail("WithBudget", "a limit is negative or no number")
		}
		for _, name := range slices.Sorted(maps.Keys(b.Prices)) {
			p := b.Prices[name]
			if !(min(p.Prompt, p.Completion, p.Cached, p.CacheWrite) >= 0) || math.IsInf(max(p.Prompt, p.Completion, p.Cached, p.CacheWrite), 1) {
				c.fail("WithBudget", "the price of %q is negative or no number", name)
			}
		}
		if len(c.errs) == before {
			c.budget = b
		}
	})
}

// WithRetry replaces the default llm.Retry{} that wraps every model. Use llm.Retry{Attempts: 1} for a model that
// retries by itself.
func WithRetry(r llm.Retry) Option {
	return option(func(c *config) {
		if r.Attempts < 0 || r.Base < 0 || r.Max < 0 {
			c.fail("WithRetry", "a field is negative")
			return
		}
		c.retry = r
	})
}

// WithSchema uses s instead of inspecting the database: for a view of your own, or where inspection is too dear. What
// the policy denies is left out of s too. The guard still goes by the database's own schema.
func WithSchema(s *schema.Schema) Option {
	return option(func(c *config) {
		if s == nil || len(s.Tables) == 0 {
			c.fail("WithSchema", "the schema has no tables")
			return
		}
		c.schema = s
	})
}

// WithDescriptions says in prose what tables and columns mean. Every prompt carries it. A warning of
// Ready and of the log lists the names that do not exist.
func WithDescriptions(d schema.Descriptions) Option {
	return option(func(c *config) { c.descriptions = d })
}

// WithInstructions adds rules of the embedding program to every system message: text that is trusted and holds for all
// questions. At most 16 KiB.
func WithInstructions(text string) Option {
	return option(func(c *config) {
		if len(text) > maxEvidence {
			c.fail("WithInstructions", "%d bytes are over the limit of %d", len(text), maxEvidence)
		}
		c.instructions = text
	})
}

// WithKnowledge gives what people know of the database beside its schema: metrics, relationships, words and instructions. Check it
// first, and leave out what does not hold (knowledge.Model.Check, Without): New checks nothing.
//
// Prompts show what the question touches, within 1,000 tokens. Words of terms and metrics count as words of their tables
// where a schema is over the budget of a prompt. Every second sample of Consensus and SelfConsistency asks for a metric
// request, which is compiled from the definitions and votes as any other candidate; Result.Grounds says which metric the answer
// stands on. A metric over a table or column that the policy denies is not shown, not compiled and not named.
func WithKnowledge(m knowledge.Model) Option {
	return option(func(c *config) { c.knowledge = &m })
}

// WithMemory says what is remembered of solved questions: pools of exemplars, a store of confirmed answers, lessons. Given twice, the
// exemplars are those of both. Without it, confirmed answers live in the memory of the Engine.
//
// Given to Ask, Generate or a Conversation, only memory.Options{Off: true} is heeded: that question is answered without what was
// learned.
func WithMemory(m memory.Options) AskOption { return remembered(m) }

type remembered memory.Options

func (m remembered) configure(c *config) {
	for i, p := range m.Exemplars {
		if p.SQL == "" || p.Question == "" && !p.Past {
			c.fail("WithMemory", "exemplar %d needs a question and SQL, a past one SQL", i)
		}
	}
	c.exemplars = append(c.exemplars, m.Exemplars...)
	c.lessons = cmp.Or(m.Lessons, c.lessons)
	c.withoutMemory = c.withoutMemory || m.Off
	if m.Profiles != nil {
		c.exec.Profiles = m.Profiles
	}
	if m.Confirmed != nil {
		c.confirmed, c.forgetful = m.Confirmed, false
	}
}

func (m remembered) extend(a *asking) {
	a.withoutMemory = m.Off
	a.given = append(a.given, "WithMemory")
	if len(m.Exemplars) > 0 || m.Confirmed != nil || m.Lessons != nil || m.Profiles != nil {
		a.misplaced = "WithMemory of one question has Off alone: the rest is for New"
	}
}

// WithAskBelow lets the user choose where the answers disagree. It is for strategies that vote, as all do that sample a
// strategy.Pipeline.
//
// Where the best answer holds less than share of the samples and there is another answer, Ask and Generate fail with a
// *session.QuestionError (errors.As). Its options are the first three answers of the vote with their SQL and first rows.
// No judge is asked then, and early stops never change whether the user is asked: a sampling that could end early goes
// on until that is certain. On recorded answers a share of 0.6 asked about 8 to 41 % of the questions and made 4 to 16
// points more right. share is in 0..1; 0, the default, never asks.
func WithAskBelow(share float64) Option {
	return option(func(c *config) {
		if !(share >= 0 && share <= 1) {
			c.fail("WithAskBelow", "%v is not in 0..1", share)
			return
		}
		c.askBelow = share
	})
}

// WithRefuseBelow refuses questions that the data cannot answer: where Result.Answerable has a lower score, Ask and Generate
// fail with an *UnanswerableError, which has the words that nothing stands for, what there is instead, and the answer as a
// guess. A conversation asks back instead, where there are two or more things to choose from (session.KindMeaning).
//
// score is in 0..1; 0, the default, never refuses. On recorded votes 0.2 refused at most 4 of 100 questions that the data answers,
// and 65 of 100 that it does not: docs/lab/answerable.md. Choose it on questions of your own.
func WithRefuseBelow(score float64) Option {
	return option(func(c *config) {
		if !(score >= 0 && score <= 1) {
			c.fail("WithRefuseBelow", "%v is not in 0..1", score)
			return
		}
		c.refuseBelow = score
	})
}

// WithoutExecution keeps every statement of a model from running. Candidates are planned only, votes go by plan, no
// rows reach a judge, and Ask gives no rows. Strategies and checks of your own get a database that refuses to run a
// statement (exec.DB.WithoutExecution). The library's own statements, which profile, sample and look up values, still
// run.
func WithoutExecution() Option { return option(func(c *config) { c.withoutExecution = true }) }

// WithoutValues keeps stored values out of every prompt: no profile, no value look-ups, no rows for a judge, masked
// error messages.
func WithoutValues() Option { return option(func(c *config) { c.withoutValues = true }) }

// WithHeadline has the first model write Result.Found, in the language of the question: one call more for each answer of at most
// meaning.MaxRows rows, which are sent to it. A sentence with a figure that does not stand in the rows is dropped, and the rules
// of meaning.Found say it then. Beside WithoutValues or WithoutExecution it is an error.
func WithHeadline() Option { return option(func(c *config) { c.headline = true }) }

// WithProgress calls f with every step of a question, in the order of the steps. nil: nobody is told.
//
// Given to New, it holds for every question; given to Ask or Generate, for that question, in place of New's. Calls for
// one question never overlap, calls for several questions may. A slow f delays its own question and no other: a step
// waits for f up to 100 ms, and Ask for all of its calls. If f panics, the question fails with a *strategy.PanicError.
func WithProgress(f func(Progress)) AskOption {
	return progress(f)
}

type progress func(Progress)

func (f progress) configure(c *config) { c.progress = f }
func (f progress) extend(a *asking) {
	a.progress = f
	a.given = append(a.given, "WithProgress")
}

// WithLogger writes one record a question or statement of Query, one a warning (Warn) and one a step (Debug), with the
// context of the question. nil: nothing is written.
//
// The record of a question has its outcome, "answered" or the class of the error (Failure), and the first failure. It is
// Info; Warn where more time, money or a provider is wanting; Error where nothing is answered until somebody changes
// something: a wrong key, a database that is gone, a panic.
//
// Records hold counts, durations, fingerprints, an id (Question.ID, that of the conversation, or one that is made), the hash of the
// scope's key, and the reason why a step failed, without what the engine repeats of statements. They never hold the question's text. They hold SQL, prompts and rows only as
// WithReveal allows.
func WithLogger(l *slog.Logger) Option { return option(func(c *config) { c.logger = l }) }

// WithReveal lets traces keep and show private values: trace.PrivateSQL, PrivatePrompts, PrivateReplies, PrivateRows.
// Without it a trace holds SQL for the caller's eyes, and hashes and lengths of the rest.
func WithReveal(kinds trace.Private) Option { return option(func(c *config) { c.keep = kinds }) }

// WithSeed sends seeds with samples: base, base+1, … . Not every provider honours them. It also seeds the choice of
// exemplars. 0 sends none.
func WithSeed(base int64) Option { return option(func(c *config) { c.seed = base }) }

// WithClock sets the clock by which prompts say which day it is, with its weekday and time zone (llm.DayLine): without it a
// model takes "last month" for one of its training. Default: time.Now. A clock in another zone is
//
//	texttosql.WithClock(func() time.Time { return time.Now().In(berlin) })
//
// A question keeps the day on which it began, also when its conversation is resumed on another day. A batch keeps the day of
// its first question; one that is resumed from a recording gets WithClock(player.Now). With nil no prompt says the day:
// requests then equal those that were recorded without it.
func WithClock(now func() time.Time) Option { return option(func(c *config) { c.clock = now }) }

// validate checks what a single option cannot, and joins the errors of all.
func (c *config) validate() error {
	names := map[string]bool{}
	for i, m := range c.models {
		switch name := llm.NameOf(m); {
		case m == nil:
			c.fail("New", "model %d is nil: look at the error of what made it; most often a key is not set, such as OPENAI_API_KEY", i)
		case len(c.models) > 1 && name == "":
			c.fail("New", "model %d has no name: with several models each needs one (llm.Named)", i)
		case len(c.models) > 1 && names[name]:
			c.fail("New", "two models are called %q: give each a name of its own (llm.Named)", name)
		default:
			if v, ok := m.(interface{ Validate() error }); ok {
				if err := v.Validate(); err != nil {
					c.fail("New", "model %d: %v", i, err)
				}
			}
			names[name] = true
			_, ok := c.budget.Prices[name]
			if _, all := c.budget.Prices[""]; c.budget.Money > 0 && !ok && !all {
				c.fail("WithBudget", "Money needs Prices, and there is none for the model %q; the entry \"\" holds for every model", name)
			}
		}
	}
	if err := c.repeats(c.samples); err != nil {
		c.errs = append(c.errs, err)
	}
	if c.headline && (c.withoutValues || c.withoutExecution) {
		c.fail("WithHeadline", "it shows the model rows, which WithoutValues and WithoutExecution keep from it")
	}
	if v, ok := c.strategy.(interface{ ValidateModels(n int) error }); ok {
		if err := v.ValidateModels(len(c.models)); err != nil {
			c.errs = append(c.errs, err)
		}
	}
	if v, ok := c.strategy.(strategy.Validator); ok {
		if err := v.Validate(c.samples); err != nil {
			c.errs = append(c.errs, err)
		}
	}
	return errors.Join(c.errs...)
}

// repeats refuses several samples that would be one: of one prompt and one model, at temperature 0. It knows a strategy.Pipeline
// whose prompts do not differ by sample. A model that is told how hard to think samples its thoughts at any temperature.
func (c *config) repeats(samples int) error {
	p, ok := c.strategy.(strategy.Pipeline)
	if prompt, plain := p.Prompter.(strategy.Prompt); !ok || p.Prompter != nil && (!plain || prompt.Shots > 0) {
		return nil
	}
	n := cmp.Or(samples, p.Sampler.Samples, 1)
	if n == 1 || len(c.models) > 1 || p.Sampler.Temperature > 0 || p.Sampler.Effort != "" {
		return nil
	}
	return &strategy.ConfigError{Field: "strategy: Sampler.Temperature",
		Problem: fmt.Sprintf("%d samples of one prompt and one model at temperature 0 are one and the same: give a temperature, such as 0.7, or take one sample", n)}
}
