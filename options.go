package texttosql

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// Option is an option of New: it applies to every question. New skips a nil Option, and rejects
// one that is given twice.
type Option interface{ configure(*config) }

// option is an option of New with the name of its function.
type option struct {
	name string
	set  func(*config)
}

func (o option) configure(c *config) {
	if slices.Contains(c.given, o.name) {
		c.fail(o.name, "it is given twice")
	}
	c.given = append(c.given, o.name)
	o.set(c)
}

// AskOption is an option of one question, for Ask, Generate and other calls. Each call documents the options it
// accepts; any other is a *strategy.ConfigError.
//
// An AskOption is also an Option: given to New, it applies to every question that does not set its own. New rejects
// WithScope, WithID, WithEvidence and WithUser, which belong to one question. A nil AskOption is skipped, and one
// that is given twice is rejected.
type AskOption interface {
	Option
	extend(*asking)
}

// askOption is an option of one question. Without set it belongs to a call only.
type askOption struct {
	option
	ask func(*asking)
}

func (o askOption) configure(c *config) {
	if o.set == nil {
		c.fail(o.name, "it belongs to one question: give it to Ask")
		return
	}
	o.option.configure(c)
}

func (o askOption) extend(a *asking) {
	a.note(o.name)
	o.ask(a)
}

// asking is one question with the options that belong to it alone.
type asking struct {
	Question
	progress      func(Progress) // nil: the engine's
	user          string         // who confirms an answer
	withoutMemory bool
	withoutRows   bool                     // Generate
	scope         *exec.Scope              // nil: none
	policy        *exec.Policy             // narrows the engine's; nil: it holds
	recall        *memory.RetrievedLessons // the lessons of its conversation; nil: recall them from the store
	talk          *talk                    // data of its conversation; nil: it has none
	given         []string                 // names of its options
	misplaced     string                   // the error of its options; "": none
	day           string                   // the day for prompts; "": the clock's day
}

// note writes down an option of the question.
func (a *asking) note(name string) {
	if slices.Contains(a.given, name) {
		a.misplaced = name + " is given twice"
	}
	a.given = append(a.given, name)
}

// configure makes asking an option of this package's own calls.
func (a asking) configure(*config) {}

// extend takes the place of all that other options said.
func (a asking) extend(to *asking) { *to = a }

// options are the fields of a Question, each as the option of its name.
func (q Question) options() (opts []AskOption) {
	if q.ID != "" {
		opts = append(opts, WithID(q.ID))
	}
	if q.Evidence != "" {
		opts = append(opts, WithEvidence(q.Evidence))
	}
	if q.Samples != 0 {
		opts = append(opts, WithSamples(q.Samples))
	}
	return opts
}

// config is what the options say. Every option adds its own errors, validate the others.
type config struct {
	strategy         strategy.Strategy
	samples          int
	models           []llm.Model
	second           llm.Model
	dialect          exec.Dialect
	exec             exec.Config
	budget           llm.Budget
	retry            llm.Retry
	schema           *schema.Schema
	descriptions     schema.Descriptions
	instructions     string
	knowledge        *knowledge.Model // nil: none
	exemplars        []memory.Exemplar
	confirmed        *memory.VerifiedAnswers
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
	keep             trace.Sensitivity
	clock            func() time.Time // nil: no prompt says which day it is
	seed             int64
	given            []string // names of the options
	errs             []error
}

// fail adds an error of an option. The option then leaves its value as it was, so that no other check trips over it.
func (c *config) fail(field, format string, args ...any) {
	c.errs = append(c.errs, &strategy.ConfigError{Field: "texttosql: " + field, Problem: fmt.Sprintf(format, args...)})
}

// tooShort adds an error about a duration that is not 0 and below 1 ms: 30 is 30 ns.
func (c *config) tooShort(field, part string, d time.Duration) (short bool) {
	if short = d > 0 && d < time.Millisecond; short {
		c.fail(field, "%s: %d is %d ns, and the least is 1 ms: write 30*time.Second", part, d, d)
	}
	return short
}

// WithStrategy sets the strategy that answers questions. Default: strategy.Consensus{}.
func WithStrategy(s strategy.Strategy) Option {
	return option{"WithStrategy", func(c *config) {
		if s == nil {
			c.fail("WithStrategy", "the strategy is nil")
			return
		}
		c.strategy = s
	}}
}

// WithSamples sets the number of samples per question, up to 10,000; 0: the default. The documentation of a strategy
// defines a sample and the default number. New fails if the strategy does not use samples.
//
// Given to Ask or Generate, it overrides the number given to New for that question. 0 is the same as leaving it out.
func WithSamples(n int) AskOption {
	return askOption{option{"WithSamples", func(c *config) {
		if n < 0 || n > fields.MaxSamples {
			c.fail("WithSamples", "%d is not in 0..%d", n, fields.MaxSamples)
			return
		}
		c.samples = n
	}}, func(a *asking) { a.Samples = n }}
}

// WithModels adds models to the one given to New. Each needs its own name (llm.Named). Samples use the models in
// turn, New's model first.
func WithModels(models ...llm.Model) Option {
	return option{"WithModels", func(c *config) { c.models = append(c.models, models...) }}
}

// WithSecondOpinion calls another model about an answer of the level agreed, because all samples of one model share its
// habits. It makes one call with the plain prompt of strategy.Direct, and a second one if the result differs.
//
// If the result is equal, the confidence is higher, and the closing line begins with "Two models agree.". If its two
// statements agree with each other instead, the confidence is lower, with the warning "second-opinion", and a
// conversation asks the user. If the model fails, nothing changes.
//
// The provider of m receives the prompt: question, schema and stored values. The budget and Result.Usage count its
// calls. Both models need their own names (llm.Named). m should be about as good as the first model:
// docs/lab/votes.md has figures. With WithoutExecution it does nothing. Default: none.
func WithSecondOpinion(m llm.Model) Option {
	return option{"WithSecondOpinion", func(c *config) {
		if m == nil {
			c.fail("WithSecondOpinion", "the model is nil")
			return
		}
		c.second = m
	}}
}

// WithDialect names the engine of the database. New recognises SQLite; every other engine must be named.
//
// Use inside if a tracing library wraps the driver. It receives the connection that the driver gave to database/sql,
// and returns the connection of the engine's own driver. With inside, d may be nil: the inner connection determines
// the dialect.
func WithDialect(d exec.Dialect, inside ...func(driverConn any) any) Option {
	return option{"WithDialect", func(c *config) {
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
	}}
}

// WithLimits limits what statements may use: time, rows, bytes, connections. Fields that are 0 keep their defaults. A
// Timeout below 1 ms is an error. An answer with more rows is cut: Result.Rows.Truncated.
func WithLimits(l exec.Limits) Option {
	return option{"WithLimits", func(c *config) {
		c.tooShort("WithLimits", "Candidate.Timeout", l.Candidate.Timeout)
		c.tooShort("WithLimits", "Answer.Timeout", l.Answer.Timeout)
		c.tooShort("WithLimits", "Stream.Timeout", l.Stream.Timeout)
		c.exec.Limits = l
	}}
}

// WithBudget limits the model calls of each question. Limits and prices must be finite and not negative, and Money
// needs a price for every model. Prices (llm.ReadPrices) without limits make Result.Usage report the money spent. A
// question that spends its budget ends with the best answer so far, or with an error that matches ErrBudget. InFlight
// limits the calls at the same time.
func WithBudget(b llm.Budget) Option {
	return option{"WithBudget", func(c *config) {
		before := len(c.errs)
		if b.Calls < 0 || b.Tokens < 0 || !(b.Money >= 0) || b.Timeout < 0 || b.ReasoningTokens < 0 || b.InFlight < 0 {
			c.fail("WithBudget", "a limit is negative or no number")
		}
		c.tooShort("WithBudget", "Timeout", b.Timeout)
		for _, name := range slices.Sorted(maps.Keys(b.Prices)) {
			p := b.Prices[name]
			if !(min(p.Prompt, p.Completion, p.Cached, p.CacheWrite) >= 0) ||
				math.IsInf(max(p.Prompt, p.Completion, p.Cached, p.CacheWrite), 1) {
				c.fail("WithBudget", "the price of %q is negative or no number", name)
			}
		}
		if len(c.errs) == before {
			c.budget = b
		}
	}}
}

// WithRetry replaces the default llm.Retry{} that wraps every model. Use llm.Retry{Attempts: 1} for a model that
// retries by itself. A negative field and a duration under 1 ms are errors.
func WithRetry(r llm.Retry) Option {
	return option{"WithRetry", func(c *config) {
		if r.Attempts < 0 || min(r.Base, r.Max, r.GiveUp) < 0 {
			c.fail("WithRetry", "a field is negative")
			return
		}
		if c.tooShort("WithRetry", "Base", r.Base) || c.tooShort("WithRetry", "Max", r.Max) ||
			c.tooShort("WithRetry", "GiveUp", r.GiveUp) {
			return
		}
		c.retry = r
	}}
}

// WithSchema uses s instead of inspecting the database: use it for your own view of the schema, or if inspection is
// too expensive. Items that the policy denies are removed from s too. The guard still uses the database's own schema.
func WithSchema(s *schema.Schema) Option {
	return option{"WithSchema", func(c *config) {
		if s == nil || len(s.Tables) == 0 {
			c.fail("WithSchema", "the schema has no tables")
			return
		}
		c.schema = s
	}}
}

// WithDescriptions describes tables and columns in prose. Every prompt has the descriptions. Ready and the log warn
// about names that do not exist.
func WithDescriptions(d schema.Descriptions) Option {
	return option{"WithDescriptions", func(c *config) { c.descriptions = d }}
}

// WithInstructions adds rules of your program to every system message. The text is trusted and applies to all
// questions. At most 16 KiB.
func WithInstructions(text string) Option {
	return option{"WithInstructions", func(c *config) {
		if len(text) > maxEvidence {
			c.fail("WithInstructions", "%d bytes are over the limit of %d", len(text), maxEvidence)
		}
		c.instructions = text
	}}
}

// WithKnowledge adds what people know about the database: metrics, relationships, words and instructions. New does
// not check it. First check it and remove the faults (knowledge.Model.Check, Without).
//
// Prompts show the parts that the question touches, within 1,000 tokens. If a schema does not fit into a prompt, the
// words of terms and metrics also help to choose tables. Every second sample of Consensus and SelfConsistency asks
// for a metric request. It is compiled from the definitions and votes like any other candidate; Result.Grounds names
// the metric of the answer. A metric over a table or column that the policy denies is not shown, not compiled and not
// named.
func WithKnowledge(m knowledge.Model) Option {
	return option{"WithKnowledge", func(c *config) { c.knowledge = &m }}
}

// WithMemory sets the memory of solved questions: pools of exemplars, a store of confirmed answers, lessons. Without
// it, confirmed answers live in the memory of the Engine.
//
// Ask, Generate and a Conversation accept only memory.Options{Off: true}: that question is answered
// without learned material.
func WithMemory(m memory.Options) AskOption {
	return askOption{option{"WithMemory", func(c *config) { c.remember(m) }}, func(a *asking) {
		a.withoutMemory = m.Off
		if len(m.Exemplars) > 0 || m.VerifiedAnswers != nil || m.Lessons != nil || m.Profiles != nil {
			a.misplaced = "WithMemory of one question has Off alone: the rest is for New"
		}
	}}
}

func (c *config) remember(m memory.Options) {
	for i, p := range m.Exemplars {
		if p.SQL == "" || p.Question == "" && !p.Past {
			c.fail("WithMemory", "exemplar %d needs a question and SQL, a past one SQL", i)
		}
	}
	c.exemplars, c.lessons, c.withoutMemory, c.exec.Profiles = m.Exemplars, m.Lessons, m.Off, m.Profiles
	if m.VerifiedAnswers != nil {
		c.confirmed, c.forgetful = m.VerifiedAnswers, false
	}
}

// WithClarifyBelow lets the user choose if the answers disagree. It is for strategies that vote: all strategies that
// sample a strategy.Pipeline do.
//
// If the best answer has less than share of the samples and there is another answer, Ask and Generate fail with a
// *session.QuestionError (errors.As). Its options are the first three answers of the vote with their SQL and first
// rows. No judge is called then. Early stops never change this decision: sampling continues until it is certain.
//
// On recorded answers a share of 0.6 made Consensus ask about 14 to 42 % of the questions, and 3 to 11 points more
// answers were right. share is in 0..1; 0, the default, never asks.
func WithClarifyBelow(share float64) Option {
	return option{"WithClarifyBelow", func(c *config) {
		if !(share >= 0 && share <= 1) {
			c.fail("WithClarifyBelow", "%v is not in 0..1", share)
			return
		}
		c.askBelow = share
	}}
}

// WithRefuseBelow refuses questions that the data cannot answer. If the score of Result.Answerable is lower, Ask and
// Generate fail with an *UnanswerableError. The error has the words without a match in the data, the nearest names in
// it, and the answer as a guess. If there are two or more things to choose from, a conversation asks the user instead
// (a session.QuestionError of the kind "meaning").
//
// score is in 0..1; 0, the default, never refuses. On recorded votes 0.2 refused at most 4 of 100 answerable
// questions, and 65 of 100 unanswerable ones: docs/lab/answerable.md. Choose it with your own questions.
func WithRefuseBelow(score float64) Option {
	return option{"WithRefuseBelow", func(c *config) {
		if !(score >= 0 && score <= 1) {
			c.fail("WithRefuseBelow", "%v is not in 0..1", score)
			return
		}
		c.refuseBelow = score
	}}
}

// WithoutExecution prevents every model statement from running. Candidates are only planned and vote by their plans.
// A judge sees no rows, and Ask returns none. Your own strategies and checks receive a database that refuses to run a
// statement (exec.DB.WithoutExecution). The library's own statements, which profile, sample and look up values, still
// run. New refuses an exec.RunCheck or an exec.SuspiciousResultCheck in Pipeline.Checks: they need rows.
func WithoutExecution() Option {
	return option{"WithoutExecution", func(c *config) { c.withoutExecution = true }}
}

// WithoutValues keeps stored values out of every prompt: no profile, no value look-ups, no rows for a judge, masked
// error messages.
func WithoutValues() Option {
	return option{"WithoutValues", func(c *config) { c.withoutValues = true }}
}

// WithSummary lets the first model write Result.Summary, in the language of the question. It costs one more call for
// each answer of at most 50 rows, and it sends these rows to the model. A sentence with a figure that is not in the
// rows is dropped, and the rules of Result.Summary replace it. They also write it if the last row before a limit ties
// with the row after it. With WithoutValues or WithoutExecution it is an error.
func WithSummary() Option { return option{"WithSummary", func(c *config) { c.headline = true }} }

// WithProgress calls f with every step of a question, in the order of the steps. A nil f is not called.
//
// Given to New, it applies to every question; given to Ask or Generate, it replaces New's for that question.
// Calls for one question never overlap; calls for several questions may. A slow f delays only its own
// question: a step waits for f up to 100 ms, and Ask waits for all of its calls. If f panics, the question
// fails with a *strategy.PanicError.
func WithProgress(f func(Progress)) AskOption {
	return askOption{option{"WithProgress", func(c *config) { c.progress = f }}, func(a *asking) { a.progress = f }}
}

// WithLogger writes one record per question and per statement of Query and Stream, one per warning (Warn) and one per
// step (Debug), with the context of the question. With a nil logger it writes nothing.
//
// The record of a question has its outcome and the first failure. The outcome is "answered", "degraded" (the warning
// "provider-failed") or the class of the error (failure.Of). The level is Info. It is Warn for a degraded answer, and
// if more time, money, a higher limit, a free database or a provider is needed. It is Error if no question can be
// answered until somebody acts: a wrong key, a database that is gone, a panic.
//
// Records hold counts, durations, fingerprints, an id (from WithID, the conversation, or generated) and a hash of the
// scope's key. They also hold the reason why a step failed, but not the parts of it in which the engine repeats a
// statement. They never hold the question's text. They hold SQL, prompts and rows only if WithTraceContent allows it.
func WithLogger(l *slog.Logger) Option { return option{"WithLogger", func(c *config) { c.logger = l }} }

// WithTraceContent lets traces store and show private values: trace.PrivateSQL, PrivatePrompts, PrivateReplies,
// PrivateRows, PrivateScopes. Without it a trace holds SQL for the caller only, and hashes and lengths of the rest.
func WithTraceContent(kinds trace.Sensitivity) Option {
	return option{"WithTraceContent", func(c *config) { c.keep = kinds }}
}

// WithSeed sends seeds with samples: base, base+1, … . Not every provider uses them. It also seeds the choice of
// exemplars. 0 sends no seeds.
func WithSeed(base int64) Option { return option{"WithSeed", func(c *config) { c.seed = base }} }

// WithClock sets the clock for the day, weekday and time zone in prompts. Without the day a model reads "last month"
// as a month from its training data. Default: time.Now. A clock in another zone is
//
//	texttosql.WithClock(func() time.Time { return time.Now().In(berlin) })
//
// A question keeps the day on which it began, even if its conversation is resumed on another day. A batch keeps the
// day of its first question; to resume one from a recording, use WithClock(player.Now). With a nil clock no prompt
// has the day: requests then equal those that were recorded without it.
func WithClock(now func() time.Time) Option {
	return option{"WithClock", func(c *config) { c.clock = now }}
}

// validate checks what a single option cannot, and joins the errors of all.
func (c *config) validate() error {
	names, models := map[string]bool{}, c.models
	if c.second != nil { // replies are recorded by the name of their model
		models = append(slices.Clone(models), c.second)
	}
	for i, m := range models {
		switch name := llm.NameOf(m); {
		case m == nil:
			c.fail("New", "model %d is nil: look at the error of what made it; most often a key is not set, "+
				"such as OPENAI_API_KEY", i)
		case len(models) > 1 && name == "":
			c.fail("New", "model %d has no name: with several models each needs one (llm.Named)", i)
		case len(models) > 1 && names[name]:
			c.fail("New", "two models are called %q: give each a name of its own (llm.Named)", name)
		default:
			if v, ok := m.(interface{ Validate() error }); ok {
				if err := v.Validate(); err != nil {
					c.fail("New", "model %d: %v", i, err)
				}
			}
			if i < len(c.models) { // those that the strategy has
				names[name] = true
			}
			_, ok := c.budget.Prices[name]
			if _, all := c.budget.Prices[""]; c.budget.Money > 0 && !ok && !all {
				c.fail("WithBudget", "Money needs Prices, and there is none for the model %q; the entry \"\" holds for every model",
					name)
			}
		}
	}
	if err := c.repeats(c.samples); err != nil {
		c.errs = append(c.errs, err)
	}
	if p, ok := c.strategy.(strategy.Pipeline); ok {
		c.errs = append(c.errs, unknownVariant(p, c.samples, names), tooHeavy(p.Voter, names))
		if c.withoutExecution {
			c.failIdle(p.Checks)
		}
	}
	if c.headline && (c.withoutValues || c.withoutExecution) {
		c.fail("WithSummary", "it shows the model rows, which WithoutValues and WithoutExecution keep from it")
	}
	if v, ok := c.strategy.(interface{ ValidateModels(n int) error }); ok {
		if err := v.ValidateModels(len(c.models)); err != nil {
			c.errs = append(c.errs, err)
		}
	}
	if v, ok := c.strategy.(interface{ Validate(samples int) error }); ok {
		if err := v.Validate(c.samples); err != nil {
			c.errs = append(c.errs, err)
		}
	}
	return errors.Join(c.errs...)
}

// failIdle refuses checks of rows where no statement runs.
func (c *config) failIdle(checks []exec.Check) {
	for _, check := range checks {
		switch check.(type) {
		case exec.RunCheck, exec.SuspiciousResultCheck:
			c.fail("WithoutExecution", "%T in Pipeline.Checks needs rows, and no statement runs: leave it out, "+
				"or give exec.PlanChecks()", check)
		}
	}
}

// unknownVariant refuses a strategy.Variant of a model that is not there. Otherwise its samples would fail at every
// question.
func unknownVariant(p strategy.Pipeline, samples int, names map[string]bool) error {
	v, ok := p.Prompter.(interface {
		Asks(sample int) (model string, temperature *float64)
	})
	if !ok {
		return nil
	}
	n := min(cmp.Or(samples, p.Sampler.Samples, 1), fields.MaxSamples)
	if all, ok := p.Prompter.(strategy.RotatePrompts); ok {
		n = len(all)
	}
	for i := range n {
		if model, _ := v.Asks(i); model != "" && !names[model] {
			known := slices.Sorted(maps.Keys(names))
			return &strategy.ConfigError{Field: "strategy: Variant.Model",
				Problem: fmt.Sprintf("no model is called %q; the models are %q", model, known)}
		}
	}
	return nil
}

// tooHeavy refuses a vote.Majority whose Weight gives a model more than MaxWeight. Otherwise the vote would fail at
// every question.
func tooHeavy(v strategy.Voter, names map[string]bool) error {
	m, ok := v.(vote.Majority)
	if pointer, is := v.(*vote.Majority); is && pointer != nil {
		m, ok = *pointer, true
	}
	if !ok || m.Weight == nil {
		return nil
	}
	most := cmp.Or(m.MaxWeight, 1)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if w, ok := weightOf(m, name); ok && w > most {
			return &strategy.ConfigError{Field: "vote: Majority.Weight", Problem: fmt.Sprintf(
				"it gives the model %q %v, above the MaxWeight of %v: set Majority.MaxWeight to the greatest weight", name, w,
				most)}
		}
	}
	return nil
}

// weightOf returns the weight of a vote of which only the model is known. ok is false for a Weight that panics without
// the rest.
func weightOf(m vote.Majority, model string) (weight float64, ok bool) {
	defer func() { ok = recover() == nil }()
	return m.Weight(vote.Candidate{Model: model}), true
}

// repeats rejects several samples that would be identical: with one prompt and one model, at temperature 0. It knows
// a strategy.Pipeline whose prompts do not differ by sample. A model with a setting for its thinking effort gives
// different samples at any temperature.
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
		Problem: fmt.Sprintf("%d samples of one prompt and one model at temperature 0 are one and the same: "+
			"give a temperature, such as 0.7, or take one sample", n)}
}

// Question is one question of [Engine.AskQuestion] or a batch.
type Question struct {
	ID       string `json:"id,omitempty"`       // as of WithID
	Text     string `json:"question"`           // the question, at most 8 KiB
	Evidence string `json:"evidence,omitempty"` // as of WithEvidence
	Samples  int    `json:"samples,omitempty"`  // overrides WithSamples; 0: does not
}

// WithID sets the caller's name for a question or statement; Progress and log records have it.
// Default: a generated one.
func WithID(id string) AskOption {
	return askOption{option{name: "WithID"}, func(a *asking) { a.ID = id }}
}

// WithEvidence defines for one question the meaning of a word or the computation of a figure: prose, at most 16 KiB.
func WithEvidence(text string) AskOption {
	return askOption{option{name: "WithEvidence"}, func(a *asking) { a.Evidence = text }}
}

// WithUser names the person who confirms an answer. Confirm stores the name, see memory.Exemplar.By.
func WithUser(name string) AskOption {
	return askOption{option{name: "WithUser"}, func(a *asking) { a.user = name }}
}

// newQuestion is for calls that heed every option.
func newQuestion(text string, opts []AskOption) asking {
	a := asking{Question: Question{Text: text}}
	for _, opt := range opts {
		if opt != nil {
			opt.extend(&a)
		}
	}
	return a
}

// heeding is newQuestion for a call that heeds WithScope, WithPolicy and more, by their names.
func heeding(call, text string, opts []AskOption, more ...string) (asking, error) {
	a := newQuestion(text, opts)
	if a.misplaced != "" {
		return a, &strategy.ConfigError{Field: "texttosql: " + call, Problem: a.misplaced}
	}
	for _, name := range a.given {
		if slices.Contains(append(more, "WithScope", "WithPolicy"), name) {
			continue
		}
		problem := name + " does nothing here"
		if call == "AskAll" {
			problem = name + " is set for each Question"
		}
		return a, &strategy.ConfigError{Field: "texttosql: " + call, Problem: problem}
	}
	return a, nil
}

// wordless reports whether a text has no letter and no digit.
func wordless(text string) bool {
	return !strings.ContainsFunc(words.Clean(text), func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r)
	})
}

// task is the question for a strategy; samples is the engine's number of them.
func (q Question) task(samples int) strategy.Task {
	return strategy.Task{Question: q.Text, Evidence: q.Evidence, Samples: cmp.Or(q.Samples, samples)}
}

func (q Question) validate() error {
	switch {
	case len(q.Text) > maxQuestion:
		return &InputError{Field: "question", Bytes: len(q.Text), Limit: maxQuestion}
	case len(q.Evidence) > maxEvidence:
		return &InputError{Field: "evidence", Bytes: len(q.Evidence), Limit: maxEvidence}
	case wordless(q.Text):
		return strategy.ErrEmptyQuestion
	case q.Samples < 0 || q.Samples > fields.MaxSamples:
		return &strategy.ConfigError{Field: "texttosql: WithSamples", Problem: fmt.Sprintf("%d is not in 0..%d", q.Samples,
			fields.MaxSamples)}
	}
	return nil
}

// takes says why a question cannot be asked; nil: it can.
func (e *Engine) takes(ctx context.Context, q asking) error {
	if e == nil {
		return errNoEngine
	}
	if e.hasNoModel() && !e.peopleKnow(ctx) {
		return ErrNoModel
	}
	if q.user != "" {
		q.misplaced = "WithUser does nothing here: it is for Confirm"
	}
	if q.misplaced != "" {
		return &strategy.ConfigError{Field: "texttosql: Ask", Problem: q.misplaced}
	}
	if err := q.validate(); err != nil || q.Samples == 0 {
		return err
	}
	return e.repeats(q.Samples)
}

// NewScope returns an exec.Scope with these Params and a Key derived from them. Equal parameters give equal keys, also
// in another process; different parameters give different keys. The Key says nothing of Settings: give a scope with
// Settings a Key of your own.
func NewScope(params map[string]any) exec.Scope {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value := params[name]
		if plain, err := driver.DefaultParameterConverter.ConvertValue(value); err == nil {
			value = plain // an int and an int64 are the same
		}
		fmt.Fprintf(h, "%q %T %#[2]v ", name, value)
	}
	return exec.Scope{Key: hex.EncodeToString(h.Sum(nil)[:16]), Params: maps.Clone(params)}
}

// WithScope asks a question for a tenant or a user. The rules of Policy.Rows get their parameters from s. The
// question reads only the rows that they allow, in prompts, candidates and the answer.
//
// If the policy has Rows, Shared or Settings, a question needs a scope with its Key, parameters and settings.
// Otherwise it fails with an error that matches exec.ErrNoScope. Without such rules, and unless the dialect runs as the
// user of a scope, every scope is refused with exec.ErrNoRules.
//
// Stored data belongs to s.Key: profiles, samples, confirmed answers, lessons, conversations. Data that was stored
// without a scope is not used under one. Exemplars of WithMemory and manual lessons without a scope belong to the
// program, and every scope may see them. A question sees everything that was learned under its Key. Give scopes with
// different rights different keys, as NewScope does. A known Key with other Params or Settings is refused.
func WithScope(s exec.Scope) AskOption {
	return askOption{option{name: "WithScope"}, func(a *asking) {
		s.Params, s.Settings = maps.Clone(s.Params), maps.Clone(s.Settings)
		a.scope = &s
	}}
}

// WithPolicy restricts what a statement may read. Denied tables and columns are not shown to a model, not sampled and
// not readable. Policy.And joins two policies.
//
// Given to New, it applies to every question. Given for one question, p narrows the policy of that question: see
// exec.DB.For. The database is not inspected again for each question. A Conversation that is opened again no longer
// has p: see Engine.For.
func WithPolicy(p exec.Policy) AskOption {
	return askOption{option{"WithPolicy", func(c *config) { c.exec.Policy = p }}, func(a *asking) { a.policy = &p }}
}

// Telemetry follows questions and statements while they run. The module otel implements it for OpenTelemetry. Safe
// for concurrent use.
type Telemetry interface {
	// Follow is called for each span of a trace: see trace.Tracer.
	Follow(ctx context.Context, s *trace.Span) (work context.Context, ended func())
	// Ended is called once for each root span that Follow was called for, with the result that the caller gets. The
	// Result does not change during the call.
	Ended(r *Result, err error)
}

// WithTelemetry calls t for every question of Ask, Generate and a conversation, and for every statement of Query. A
// nil t is not called. A slow t slows the answers.
func WithTelemetry(t Telemetry) Option {
	return option{"WithTelemetry", func(c *config) { c.telemetry = t }}
}

// Progress is one step of a question, as WithProgress reports it.
type Progress struct {
	Question string      // the question's text; "" for Query
	ID       string      // the id of WithID, or a generated one
	Step     Step        // name of the span: see Step
	Kind     string      // "started", "ended", "happened" (an event) or "warned"
	Message  string      // the name of the event, the text of the warning, or the reason of a step that failed
	Span     *trace.Span // the span of the step, only to be read; a slow callback may see later changes in it
}

// Step names a part of a question.
type Step string

// The steps of every strategy, of the database and of the model.
const (
	StepQuestion  Step = "question"   // all of it
	StepSchema    Step = "schema"     // reads the catalog and loads what was learned
	StepProfile   Step = "profile"    // reads values of tables
	StepLink      Step = "link"       // chooses the tables that the question needs
	StepSample    Step = "sample"     // one reply, and its statement
	StepModelCall Step = "model call" // one call of a model
	StepCheck     Step = "check"      // examines one statement
	StepQuery     Step = "exec.query" // one statement runs
	StepRepair    Step = "repair"     // fixes a statement that failed
	StepVote      Step = "vote"       // counts the samples
	StepJudge     Step = "judge"      // a model chooses between the first answers
	StepRows      Step = "rows"       // reads the rows of the answer
	StepStatement Step = "statement"  // all of a Query
)
