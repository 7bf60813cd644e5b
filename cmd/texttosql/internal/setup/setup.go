package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/providers"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session/pgstore"
	"github.com/texttosql/texttosql/trace"
)

// wholeCell is the most bytes of a value that is written whole.
const wholeCell = 64 << 20

// Database are the flags that name a database and bound what is read of it.
type Database struct {
	DB           []string      `name:"db" short:"d" sep:"none" placeholder:"DB" help:"The database: a SQLite file or a DSN; default: TEXTTOSQL_DSN."`
	Policy       []string      `sep:"none" placeholder:"FILE" help:"What may be read, as JSON: {\"DenyColumns\": [\"users.password\"]}."`
	Scope        string        `placeholder:"FILE" help:"Whose rows are read, where the policy has rules about rows, as JSON: {\"Key\": \"acme\", \"Params\": {\"tenant\": 42}}."`
	Limits       string        `placeholder:"FILE" help:"What statements may take, as JSON: {\"Answer\": {\"Rows\": 500, \"Timeout\": \"10s\"}}."`
	Rows         int           `placeholder:"N" help:"Most rows of an answer; default: 1000."`
	Timeout      time.Duration `placeholder:"TIME" help:"Most time of a statement; default: 3s for one that is compared, 30s for one whose rows are shown."`
	Knowledge    string        `placeholder:"FILE" help:"Metrics, words and relationships of the database; see texttosql knowledge."`
	Descriptions []string      `sep:"none" placeholder:"FILE" help:"What tables and columns mean, as texttosql describe writes it or as CSV."`
	Whole        bool          `kong:"-"` // long values are not cut
}

// Spending are the flags that bound what models cost.
type Spending struct {
	Budget string        `placeholder:"FILE" help:"What it may cost, as JSON: {\"Calls\": 20, \"Timeout\": \"2m\"}."`
	Prices string        `placeholder:"FILE" help:"What a million tokens of each model cost, as JSON; see docs/cost.md."`
	Calls  int           `placeholder:"N" help:"Most model calls."`
	Tokens int           `placeholder:"N" help:"Most tokens, of prompts and replies together."`
	Within time.Duration `placeholder:"TIME" help:"Most time of the model calls."`
}

// Read returns the budget of the file, with what the other flags say in its place.
func (s Spending) Read() (llm.Budget, error) {
	b, err := read("budget", s.Budget, ReadBudget)
	if err == nil && s.Prices != "" {
		b.Prices, err = read("prices", s.Prices, llm.ReadPrices)
	}
	b.Calls, b.Tokens, b.Timeout = cmp.Or(s.Calls, b.Calls), cmp.Or(s.Tokens, b.Tokens), cmp.Or(s.Within, b.Timeout)
	if err == nil && (b.Calls < 0 || b.Tokens < 0 || b.Timeout < 0) {
		err = &UsageError{errors.New("--calls, --tokens and --within must not be negative")}
	}
	return b, err
}

// Models are the flags that name models.
type Models struct {
	Model []string `short:"m" predictor:"model" sep:"none" placeholder:"SPEC" help:"The model, PROVIDER:NAME; again for several; default: TEXTTOSQL_MODEL."`
}

// Asking are the flags of a verb that asks a model about a database.
type Asking struct {
	Database      `embed:"" group:"The database"`
	Models        `embed:"" group:"The model"`
	Strategy      string   `short:"s" predictor:"strategy" default:"consensus" placeholder:"NAME" help:"How questions are answered; default: consensus."`
	Samples       int      `short:"n" placeholder:"N" help:"Samples of a question; default: the strategy's."`
	AskBelow      *float64 `placeholder:"SHARE" help:"Ask back where the best answer has less than this share of the votes, 0 to 1; default: 0.6; 0: never."`
	Second        string   `predictor:"model" placeholder:"MODEL" help:"Ask a second model about answers on which all samples agree; its provider sees the prompt."`
	RefuseBelow   *float64 `placeholder:"MIN" help:"Refuse what the data cannot answer: questions with a lower score, 0 to 1."`
	Spending      `embed:"" group:"What it may cost"`
	Exemplars     string `placeholder:"FILE" help:"Solved questions to show, JSON lines {\"question\", \"sql\"}."`
	Lessons       string `placeholder:"FILE" help:"Keep what is learned in this file, or on PostgreSQL (postgres://…), and show it as advice."`
	Confirmed     string `placeholder:"FILE" help:"Keep confirmed answers in this file, or on PostgreSQL (postgres://…), and show them as examples."`
	WithoutValues bool   `help:"Show the model no stored value."`
	KeptProfiles  bool   `default:"true" negatable:"" help:"Keep what was seen of the values of a database file until it changes, in the user's folder; default: keep it."`
	// the file of confirmed answers where --confirmed names none; nil: they end with the program
	Beside   func(*Opened) (string, error) `kong:"-"`
	Headline bool                          `help:"Have the model say in a sentence what was found: one call more, which shows it the rows."`
}

// askBelow is the share of the votes below which a person is asked, unless a flag says another one.
const askBelow = 0.6

// Engine is what the flags make. Close ends it.
type Engine struct {
	*texttosql.Engine
	*Opened
	Confirmed *memory.VerifiedAnswers
	Lessons   *memory.Lessons  // nil without --lessons
	Budget    llm.Budget       // of a question
	Warnings  []trace.Warning  // what an operator should know: see texttosql.Engine.Ready
	Asked     []string         // names of the models
	shared    []*pgstore.Store // of lessons and confirmed answers
	profiles  *profiles        // nil: none are kept
}

// Close closes the database and the files.
func (e *Engine) Close() error { return errors.Join(e.closeKept(), e.Opened.Close()) }

// openKept opens a file that a flag names, or PostgreSQL in its place, until Close.
func openKept[T any](
	ctx context.Context, e *Engine, flag, place string, file func(string) (T, error),
	shared func(*pgstore.Store) (T, error),
) (opened T, err error) {
	if IsShared(place) {
		var store *pgstore.Store
		if store, err = OpenShared(ctx, flag, place); err != nil {
			return opened, err
		}
		e.shared = append(e.shared, store)
		opened, err = shared(store)
	} else {
		opened, err = file(place)
	}
	if err != nil {
		err = &UsageError{fmt.Errorf("--%s: %w", flag, err)}
	}
	return opened, err
}

// confirmBeside opens the file of confirmed answers that no flag names. Where there cannot be one, they end with the
// program, and a warning says so.
func (e *Engine) confirmBeside(find func(*Opened) (string, error), o *Opened) (notes []trace.Warning, err error) {
	file, err := find(o)
	if err == nil {
		var kept *memory.VerifiedAnswers
		if kept, err = memory.OpenVerifiedAnswers(file); err == nil {
			e.Confirmed = kept
			return
		}
	}
	if broken := (*fileerr.Memory)(nil); errors.As(err, &broken) {
		return nil, &UsageError{err}
	}
	return []trace.Warning{{Code: "confirmed-answers", Message: fmt.Sprintf("they end with the program: %v", err)}}, nil
}

// closeKept closes what is kept beside the database.
func (e *Engine) closeKept() error {
	if e.profiles != nil {
		e.profiles.Close()
	}
	err := e.Confirmed.Close()
	for _, store := range e.shared {
		err = errors.Join(err, store.Close())
	}
	return err
}

// DSN returns the value of --db, else of TEXTTOSQL_DSN.
func (d Database) DSN(getenv func(string) string) string {
	return strings.TrimSpace(cmp.Or(last(d.DB), getenv("TEXTTOSQL_DSN")))
}

func last(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// Named is one of several databases of a command line.
type Named struct {
	Name string // "" of the only one
	Database
}

// named is "NAME=REST", where REST is what a flag takes.
var named = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]{0,31})=(.+)$`)

// Each returns the databases of --db NAME=DSN, --policy NAME=FILE and --descriptions NAME=FILE; without a name a file
// holds for all of them.
func (d Database) Each(getenv func(string) string) (all []Named, err error) {
	dsns := d.DB
	if len(dsns) == 0 {
		dsns = []string{d.DSN(getenv)}
	}
	for _, dsn := range dsns {
		n := Named{Database: d}
		n.DB = []string{dsn}
		m := named.FindStringSubmatch(dsn)
		// "host=…" is a DSN of PostgreSQL
		if _, err := os.Stat(dsn); err != nil && m != nil && !kinds[0].is.MatchString(dsn) {
			n.Name, n.DB = m[1], []string{m[2]}
		}
		n.Policy, n.Descriptions = of(n.Name, d.Policy), of(n.Name, d.Descriptions)
		all = append(all, n)
	}
	for _, flag := range [][]string{d.Policy, d.Descriptions} {
		for _, value := range flag {
			m := named.FindStringSubmatch(value)
			if m != nil && !slices.ContainsFunc(all, func(n Named) bool { return n.Name == m[1] }) {
				return nil, &UsageError{fmt.Errorf("%s: no --db has the name %q", value, m[1])}
			}
		}
	}
	return all, nil
}

// of returns the value of a flag for a database: the one with its name, else the last one without.
func of(name string, values []string) (found []string) {
	for _, value := range values {
		m := named.FindStringSubmatch(value)
		switch {
		case m != nil && m[1] == name:
			return []string{m[2]}
		case m == nil:
			found = []string{value}
		}
	}
	return found
}

// Open opens the database, and returns the options that its flags name.
func (d Database) Open(ctx context.Context, getenv func(string) string) (*Opened, []texttosql.Option, error) {
	if d.DSN(getenv) == "" {
		return nil, nil, ErrNoDatabase
	}
	if len(d.DB) > 1 {
		return nil, nil, &UsageError{errors.New("--db is given twice: this verb asks one database; serve-mcp takes several")}
	}
	policy, err := read("policy", last(d.Policy), exec.ReadPolicy)
	scope, scopeErr := read("scope", d.Scope, readScope)
	limits, limitsErr := read("limits", d.Limits, ReadLimits)
	told, toldErr := read("descriptions", last(d.Descriptions), schema.ReadDescriptions)
	known, knownErr := knowledge.Model{}, error(nil)
	if d.Knowledge != "" {
		known, knownErr = ReadKnowledge(d.Knowledge, "")
	}
	if err := cmp.Or(err, scopeErr, limitsErr, toldErr, knownErr); err != nil {
		return nil, nil, err
	}
	if d.Rows < 0 || d.Timeout < 0 {
		return nil, nil, &UsageError{errors.New("--rows and --timeout must not be negative")}
	}
	limits.Answer.Rows, limits.Answer.Timeout = cmp.Or(d.Rows, limits.Answer.Rows),
		cmp.Or(d.Timeout, limits.Answer.Timeout)
	limits.Candidate.Timeout = cmp.Or(limits.Candidate.Timeout, d.Timeout)
	limits.Stream.Timeout = cmp.Or(d.Timeout, limits.Stream.Timeout)
	opened, err := Open(ctx, d.DSN(getenv))
	if err != nil {
		return nil, nil, err
	}
	if d.Whole && opened.Engine != "sqlite" { // there the limit holds for what a statement computes too
		limits.Stream.CellBytes = cmp.Or(limits.Stream.CellBytes, wholeCell)
		limits.Answer.CellBytes = cmp.Or(limits.Answer.CellBytes, wholeCell)
	}
	opened.Pool.SetMaxIdleConns(cmp.Or(limits.Connections, 4))
	opened.Config, opened.Scope = exec.Config{Policy: policy, Limits: limits}, scope
	options := []texttosql.Option{
		texttosql.WithDialect(opened.Dialect), texttosql.WithPolicy(policy), texttosql.WithLimits(limits),
		texttosql.WithDescriptions(told.Descriptions),
	}
	if d.Knowledge != "" {
		options = append(options, texttosql.WithKnowledge(known))
	}
	return opened, options, nil
}

// Engine opens the database for a verb that asks no model. More options come after those of the flags.
func (d Database) Engine(ctx context.Context, getenv func(string) string, more ...texttosql.Option) (*Engine, error) {
	opened, options, err := d.Open(ctx, getenv)
	if err != nil {
		return nil, err
	}
	return build(ctx, opened, &Engine{Confirmed: &memory.VerifiedAnswers{}}, []llm.Model{texttosql.NoModel},
		append(options, more...))
}

// Open opens the models, the files and the database. Every model is wrapped in wrap, the first outermost. More options
// come after those of the flags.
func (a Asking) Open(ctx context.Context, getenv func(string) string, wrap []llm.Middleware,
	more ...texttosql.Option) (*Engine, error) {
	models, err := a.Models.Open(getenv, wrap...)
	if err != nil {
		return nil, err
	}
	if a.Second != "" {
		second, err := Models{Model: []string{a.Second}}.Open(getenv, wrap...)
		if err != nil {
			return nil, err
		}
		more = append(more, texttosql.WithSecondOpinion(second[0]))
	}
	return a.open(ctx, getenv, models, more)
}

// OpenWithout is Open without a model: the engine runs statements and gives what is known of questions that people
// answered.
func (a Asking) OpenWithout(ctx context.Context, getenv func(string) string, more ...texttosql.Option) (*Engine,
	error) {
	return a.open(ctx, getenv, []llm.Model{texttosql.NoModel}, more)
}

func (a Asking) open(ctx context.Context, getenv func(string) string, models []llm.Model,
	more []texttosql.Option) (*Engine, error) {
	e := &Engine{Confirmed: &memory.VerifiedAnswers{}}
	for _, m := range models {
		e.Asked = append(e.Asked, llm.NameOf(m))
	}
	var remembers memory.Options
	options, err := a.options(ctx, e, &remembers)
	if err != nil {
		e.closeKept()
		return nil, err
	}
	opened, about, err := a.Database.Open(ctx, getenv)
	if err != nil {
		e.closeKept()
		return nil, err
	}
	var notes []trace.Warning
	if a.Confirmed == "" && a.Beside != nil {
		if notes, err = e.confirmBeside(a.Beside, opened); err != nil {
			return nil, errors.Join(err, opened.Close(), e.closeKept())
		}
		remembers.VerifiedAnswers = e.Confirmed
	}
	if folder := State(getenv, "profiles"); folder != "" && a.KeptProfiles && !a.WithoutValues {
		if e.profiles = openProfiles(folder, opened.Engine, opened.Place); e.profiles != nil {
			remembers.Profiles = e.profiles
		}
	}
	options = append(options, texttosql.WithMemory(remembers))
	if e, err = build(ctx, opened, e, models, append(append(about, options...), more...)); err != nil {
		return nil, err
	}
	e.Warnings = append(e.Warnings, notes...)
	if e.profiles != nil && e.profiles.note != "" {
		e.Warnings = append(e.Warnings, trace.Warning{Code: "stored-file", Message: e.profiles.note})
	}
	return e, nil
}

func build(ctx context.Context, opened *Opened, e *Engine, models []llm.Model, options []texttosql.Option) (_ *Engine,
	err error) {
	e.Opened = opened
	e.Engine, err = texttosql.New(opened.Pool, models[0], append(options, texttosql.WithModels(models[1:]...))...)
	if err == nil && opened.Scope != nil {
		e.Engine, err = As(e.Engine, opened.Scope)
	}
	if err == nil { // where each user has a schema, there is none to be ready before --scopes tells who asks
		root := trace.Tracer{}.New("ready")
		if err = e.Engine.Ready(trace.NewContext(ctx, root)); errors.Is(err, exec.ErrNoScope) {
			err = nil
		}
		root.End()
		fewSamples := func(w trace.Warning) bool { return w.Code == "few-samples" } // the closing line of an answer says it
		e.Warnings = slices.DeleteFunc(root.Warnings(), fewSamples)
	}
	if err != nil {
		if strings.Contains(err.Error(), "if the file is there, SQLite") { // it has been looked at
			err = errors.New("the file is there, but SQLite cannot open its WAL on a read-only disk: add ?immutable=1 to --db")
		}
		return nil, errors.Join(fmt.Errorf("database %s: %w", opened.Place, err), e.Close())
	}
	return e, nil
}

// Named reports whether a model is named.
func (m Models) Named(getenv func(string) string) bool {
	return len(m.Model) > 0 || getenv("TEXTTOSQL_MODEL") != ""
}

// Open makes the models, each wrapped in wrap, the first outermost. It makes no connection.
func (m Models) Open(getenv func(string) string, wrap ...llm.Middleware) (models []llm.Model, err error) {
	specs := m.Model
	if spec := getenv("TEXTTOSQL_MODEL"); len(specs) == 0 && spec != "" {
		specs = []string{spec}
	}
	if len(specs) == 0 {
		return nil, &UsageError{errors.New("no model is named: give --model or TEXTTOSQL_MODEL, " +
			"as openai:gpt-4o-mini or ollama:qwen2.5-coder")}
	}
	for _, spec := range specs {
		m, err := providers.Model(spec, getenv)
		if err != nil {
			return nil, &UsageError{err}
		}
		models = append(models, llm.Chain(m, wrap...))
	}
	return models, nil
}

// options reads the files of the flags. What is remembered goes into remembers.
func (a Asking) options(ctx context.Context, e *Engine, remembers *memory.Options) (_ []texttosql.Option, err error) {
	preset, err := presetNamed(a.Strategy)
	if err != nil {
		return nil, &UsageError{err}
	}
	if e.Budget, err = a.Spending.Read(); err != nil {
		return nil, err
	}
	options := []texttosql.Option{texttosql.WithStrategy(preset.Strategy), texttosql.WithBudget(e.Budget)}
	share := askBelow
	if a.AskBelow != nil {
		share = *a.AskBelow
	}
	if !(share >= 0 && share <= 1) {
		return nil, &UsageError{fmt.Errorf("--ask-below %v: want 0 to 1", share)}
	}
	options = append(options, texttosql.WithClarifyBelow(share))
	if a.Headline {
		if a.WithoutValues {
			return nil, &UsageError{errors.New("--headline shows the model rows, which --without-values keeps from it")}
		}
		options = append(options, texttosql.WithSummary())
	}
	if score := a.RefuseBelow; score != nil {
		if !(*score >= 0 && *score <= 1) {
			return nil, &UsageError{fmt.Errorf("--refuse-below %v: want 0 to 1", *score)}
		}
		options = append(options, texttosql.WithRefuseBelow(*score))
	}
	if a.Samples != 0 {
		options = append(options, texttosql.WithSamples(a.Samples))
	}
	if a.WithoutValues {
		options = append(options, texttosql.WithoutValues())
	}
	if a.Exemplars != "" {
		if remembers.Exemplars, err = memory.ReadExemplars(a.Exemplars); err != nil {
			return nil, &UsageError{fmt.Errorf("--exemplars: %w", err)}
		}
	}
	if a.Lessons != "" {
		e.Lessons, err = openKept(ctx, e, "lessons", a.Lessons, func(file string) (*memory.Lessons, error) {
			return memory.OpenLessons(file)
		},
			func(s *pgstore.Store) (*memory.Lessons, error) { return memory.LessonsOn(s.Lessons("lessons")) })
		if err != nil {
			return nil, err
		}
		remembers.Lessons = e.Lessons
	}
	if a.Confirmed != "" {
		e.Confirmed, err = openKept(ctx, e, "confirmed", a.Confirmed, memory.OpenVerifiedAnswers,
			func(s *pgstore.Store) (*memory.VerifiedAnswers, error) {
				return memory.VerifiedAnswersOn(s.VerifiedAnswers("confirmed"))
			})
		if err != nil {
			return nil, err
		}
	}
	remembers.VerifiedAnswers = e.Confirmed
	return options, nil
}

// Help explains what --strategy and --model take, in lines of width characters; 0: of any.
func Help(width int) string {
	var text strings.Builder
	line := func(name, about string) {
		const column = 23
		fmt.Fprintf(&text, "  %-*s%s\n", column-2, name, textformat.Hanging(about, width, column))
	}
	text.WriteString("Strategies:\n\n")
	for _, p := range Presets() {
		line(p.Name, p.About)
	}
	text.WriteString("\nModels, with the variables that they read:\n\n")
	for _, p := range providers.All() {
		line(p.Name+":NAME", strings.Join(p.Variables, ", "))
	}
	line("replay:FILE", "a recording of package llm/replay: no call is made")
	return text.String()
}
