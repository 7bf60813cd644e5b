package linker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// noVerdict is the code of the warning that a model could not say whether a question needs a table.
const noVerdict = "no-verdict"

// leastUnverified is the score of words that keep a table which the model failed on.
const leastUnverified = 0.5

// verdicts is what a judge of tables (MapReduce, PerTable) found out about a question.
type verdicts struct {
	// Tables are in the schema's order: those asked about that a prompt may show, and those that a correction keeps. Each
	// has its Table, whether it is Relevant, the Score that decides, the Lexical one of its words, the Model's (nil: not
	// asked) with its Reason, the components that it Matched, its Columns, how many were Omitted, and the Problem of a
	// call.
	Tables   []tableVerdict `json:"tables"`
	NotAsked int            `json:"not_asked,omitempty"` // tables that the model was not asked about
	Links    schema.Links   `json:"links"`               // the linked tables
}

// tableVerdict is what words and a model say of one table.
type tableVerdict struct {
	Table schema.TableName `json:"table"`
	// of MapReduce, the table is linked; of PerTable, the verdict of the table alone
	Relevant bool     `json:"relevant"`
	Score    float64  `json:"score"`             // what decides, 0..1; of PerTable how sure the verdict is
	Lexical  float64  `json:"lexical"`           // the score of the words and values alone, 0..1
	Model    *float64 `json:"model,omitempty"`   // the model's, 0..1; nil: not asked, or it failed
	Reason   string   `json:"reason,omitempty"`  // the model's, in one line of at most 200 characters
	Matched  []string `json:"matched,omitempty"` // components that the model says the table is for
	// columns that the model says the question needs; only those that exist
	Columns []string `json:"columns,omitempty"`
	Omitted int      `json:"omitted,omitempty"` // columns that the prompt had no room for
	Problem string   `json:"problem,omitempty"` // what the model failed with: the words of the table decided
}

// judge asks a model about each table of a question, in waves. T is the JSON object of a reply.
type judge[T reply] struct {
	Input
	model      llm.Model
	workers    int    // most calls at once
	most       int    // tables asked about at most, in all waves together; 0: all
	perCall    int    // tables of a call at most; 0: see perCall
	components string // parts of the question, whose words count as its own
	overruled  bool   // words that few tables have overrule the model
	// texts writes a table, once for each call about it, and part one table of several, with so many bytes beside it.
	texts   func(ctx context.Context, t *judged) ([]string, error)
	part    func(ctx context.Context, t *judged, beside int) (string, error)
	limit   int                                            // tokens of a request about several
	request func(rules callRules, text string) llm.Request // makes the request from a text
	skips   func(t *judged) bool                           // says that words alone judge a table; nil: they do of none
	heard   func(t *judged, reply T)                       // told of each reply as it arrives; nil: nobody is

	verdicts
	tables []judged // that a prompt may show, in the order of the schema
	found  schema.Links
	waves  []wave // that were not made yet
	asked  int    // tables of the waves that were made
	alike  int    // tables of these waves' families that nobody asks about
}

// judged is a table with what words and the model say of it.
type judged struct {
	tableVerdict
	of      *schema.Table
	hit     tableHit
	isAsked bool
	stays   bool
}

// reply is the JSON object that a model says of one table.
type reply interface {
	check() error // says what is wrong with it
	said() said
	properties() string // its JSON schema's
}

// said is what a reply says, whatever its form.
type said struct {
	relevant         bool
	score            float64
	reason           any
	columns, matched []string
}

// run asks about one wave after the other until stands says so, or a budget is spent behind the first wave: that is the
// error spent, and what is known by then decides.
func (j *judge[T]) run(ctx context.Context, stands func() bool) (spent, err error) {
	found, err := Values{Choose: true}.Link(ctx, j.Input)
	if cerr := ctx.Err(); cerr != nil {
		return nil, cerr
	}
	j.Links.Notes = append(j.Links.Notes, found.Notes...)
	if err != nil {
		j.Links.Notes = append(j.Links.Notes, fmt.Sprintf("stored values could not be looked up: %v", err))
	}
	j.Schema, _ = j.Schema.Presentable()
	j.tables = make([]judged, len(j.Schema.Tables))
	for i := range j.tables {
		t := &j.Schema.Tables[i]
		j.tables[i] = judged{tableVerdict: tableVerdict{Table: t.TableName()}, of: t}
	}
	per, size := perCall(j.Schema, j.perCall, j.most)
	j.perCall, j.found, j.waves = per, found, j.Input.waves(j.most, size)
	return j.goOn(ctx, stands)
}

// goOn asks about the waves that are left, until stands says so.
func (j *judge[T]) goOn(ctx context.Context, stands func() bool) (spent, err error) {
	for len(j.waves) > 0 {
		w := j.waves[0]
		j.waves = j.waves[1:]
		wave := make([]*judged, len(w.places))
		for k, i := range w.places {
			wave[k] = &j.tables[i]
		}
		err := j.ask(ctx, wave, j.found)
		if j.asked > 0 && errors.Is(err, llm.ErrBudget) {
			j.waves = nil
			return err, nil
		}
		j.asked, j.alike = j.asked+len(wave), j.alike+w.alike
		if err != nil || stands() {
			return nil, err
		}
	}
	return nil, nil
}

// lacking puts those of the tables that are left first that words of what is missing find.
func (j *judge[T]) lacking(what string) {
	in := j.Input
	in.Evidence += "\n" + what
	_, size := perCall(j.Schema, j.perCall, j.most)
	before, left := j.waves, map[int]bool{}
	for _, w := range before {
		for _, i := range w.places {
			left[i] = true
		}
	}
	j.waves = nil
	for _, w := range append(in.waves(0, size), before...) { // of a family, other tables may be chosen than before
		var places []int
		for _, i := range w.places {
			if left[i] {
				places = append(places, i)
				left[i] = false
			}
		}
		if places != nil {
			j.waves = append(j.waves, wave{places: places})
		}
	}
}

// tell tells how many tables were not asked about, where there are some, as a warning and a note of links.
func (j *judge[T]) tell(ctx context.Context) {
	total := len(j.tables)
	j.NotAsked = total - j.asked
	trace.FromContext(ctx).Set("asked", j.asked)
	trace.FromContext(ctx).Set("not_asked", j.NotAsked)
	if j.NotAsked == 0 {
		return
	}
	parts := []string{fmt.Sprintf("%d of %d tables were asked about", j.asked, total)}
	if j.alike > 0 {
		parts = append(parts, fmt.Sprintf("%d are alike and share one entry", j.alike))
	}
	if rest := j.NotAsked - j.alike; rest > 0 {
		parts = append(parts, fmt.Sprintf("%d were not", rest))
	}
	j.warn(ctx, "tables-not-asked", strings.Join(parts, "; "))
}

// warn tells of a problem in the trace and in the links.
func (j *judge[T]) warn(ctx context.Context, code, text string) {
	trace.FromContext(ctx).Warn(code, text)
	j.Links.Notes = append(j.Links.Notes, text)
}

// ask judges the tables of a wave. It fails if more than half of those asked about fail, if a budget is spent, and with
// ctx.Err(). No goroutine outlives it if none outlives the calls of the model.
func (j *judge[T]) ask(ctx context.Context, wave []*judged, found schema.Links) error {
	j.match(wave, found)
	asked := slices.DeleteFunc(slices.Clone(wave), func(t *judged) bool {
		return len(t.of.Columns) == 0 || j.skips != nil && j.skips(t)
	})
	errs, spans := make([]error, len(asked)), make([]*trace.Span, len(asked))
	var group errgroup.Group
	group.SetLimit(j.workers)
	for from := 0; from < len(asked) && ctx.Err() == nil; from += j.perCall {
		list := asked[from:min(from+j.perCall, len(asked))]
		group.Go(func() error {
			within := ctx
			for i, t := range slices.Backward(list) { // the calls stand in the span of the first
				attr := trace.Attr{Key: "table", Value: trace.PrivateSQL.Secret(t.Table.String())}
				within, spans[from+i] = trace.FromContext(ctx).StartAt(ctx, j.asked+from+i, "table", attr)
			}
			for i, err := range j.askAll(within, list) {
				errs[from+i] = err
				if spans[from+i].Fail(err); ctx.Err() != nil {
					spans[from+i].Cancelled()
				}
				spans[from+i].End()
			}
			return nil
		})
	}
	group.Wait() // the errors are in errs
	if err := cmp.Or(ctx.Err(), fatal(errs)); err != nil {
		return err
	}
	for _, t := range wave {
		t.isAsked, t.Score = true, t.Lexical
	}
	for i, t := range asked {
		j.decide(ctx, t, errs[i], spans[i])
	}
	return nil
}

// fatal is the error of a wave: a spent budget, or that of more than half of its tables.
func fatal(errs []error) error {
	failed, first := 0, error(nil)
	for _, err := range errs {
		if errors.Is(err, llm.ErrBudget) {
			return err
		}
		if err != nil {
			failed, first = failed+1, cmp.Or(first, err)
		}
	}
	if 2*failed > len(errs) {
		return fmt.Errorf("linker: the model failed on %d of %d tables: %w", failed, len(errs), first)
	}
	return nil
}

// decide completes the verdict on a table: by what the model said, or by the words where it failed.
func (j *judge[T]) decide(ctx context.Context, t *judged, err error, span *trace.Span) {
	if err != nil {
		t.Problem, t.Relevant = redact.Line(err.Error()), t.Lexical >= leastUnverified
		j.warn(ctx, noVerdict, fmt.Sprintf("the model did not judge the table %s, its words do: %s", t.Table, t.Problem))
		return
	}
	t.Score = *t.Model
	span.Set("relevant", t.Relevant)
	span.Set("score", t.Score)
	span.Set("matched", trace.PrivateReplies.Secret(strings.Join(t.Matched, "\n")))
	if j.overruled {
		t.Score = max(t.Score, t.hit.rare)
	}
}

// askAll asks about several tables by one call. Where its reply cannot be used, it asks about each alone, unless the
// reply about the first cannot be used either. There is an error for each.
func (j *judge[T]) askAll(ctx context.Context, list []*judged) []error {
	errs := make([]error, len(list))
	if len(list) == 1 {
		errs[0] = j.askOne(ctx, list[0])
		return errs
	}
	err := j.askTogether(ctx, list)
	unread := errors.As(err, new(*llm.ReplyError))
	for i, t := range list {
		if errs[i] = err; unread {
			errs[i] = j.askOne(ctx, t)
		}
		if i == 0 && unread && errs[i] != nil {
			err, unread = errs[i], false
		}
	}
	return errs
}

// askOne makes the calls about a table, one after the other.
func (j *judge[T]) askOne(ctx context.Context, t *judged) error {
	texts, err := j.texts(ctx, t)
	if err != nil {
		return err
	}
	var replies []T
	for _, text := range texts {
		reply, err := llm.Ask(ctx, j.model, j.request(aboutOne, text), T.check)
		if err != nil {
			return err
		}
		if replies = append(replies, reply); j.heard != nil {
			j.heard(t, reply)
		}
	}
	for _, reply := range replies {
		t.read(reply.said())
	}
	t.Columns = inOrder(t.of, t.Columns)
	return nil
}

// read takes over what the reply about a table, or a part of it, says. The best part decides.
func (t *judged) read(r said) {
	if t.Model == nil || r.score > *t.Model {
		t.Model, t.Relevant, t.Reason = &r.score, r.relevant, reason(r.reason)
	}
	if !r.relevant {
		return
	}
	for _, name := range r.columns {
		if c, ok := named(t.of, name); ok {
			t.Columns = append(t.Columns, c.Name)
		}
	}
	for _, text := range r.matched[:min(len(r.matched), maxComponents)] {
		if text = prompttext.Comment(text); text != "" && !slices.Contains(t.Matched, text) {
			t.Matched = append(t.Matched, text)
		}
	}
}

// reason is a reason of the model as a line.
func reason(given any) string {
	text, _ := given.(string)
	return prompttext.Comment(text)
}

// named returns the column that a reply names, which may write quotes, or the table and a dot before it.
func named(t *schema.Table, name string) (*schema.Column, bool) {
	if c, ok := t.Column(name); ok {
		return c, true
	}
	return t.Column(strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "\"`[] "))
}

// link links a table with the relevant columns, its hits and its keys, or with all columns if no column is relevant.
func (t *judged) link(relevant []string) schema.TableLink {
	l := schema.TableLink{Schema: t.of.Schema, Table: t.of.Name, Score: t.Score, Values: t.hit.values}
	if len(relevant) == 0 {
		return l
	}
	wanted := slices.Concat(relevant, t.hit.columns, t.of.PrimaryKey)
	for _, k := range t.of.ForeignKeys {
		wanted = append(wanted, k.Columns...)
	}
	l.Columns = inOrder(t.of, wanted)
	return l
}

// inOrder returns those columns of t that names has, as t writes them.
func inOrder(t *schema.Table, names []string) (ordered []string) {
	wanted := map[string]bool{}
	for _, name := range names {
		if c, ok := t.Column(name); ok {
			wanted[c.Name] = true
		}
	}
	for _, c := range t.Columns {
		if wanted[c.Name] {
			ordered = append(ordered, c.Name)
		}
	}
	return ordered
}

// renderer writes tables for a prompt about them: without stored values, in the dialect of the database.
func (in Input) renderer() schema.Renderer {
	r := schema.Renderer{WithoutValues: true}
	if in.DB != nil {
		r.Names = in.DB.Language().PromptQuoter()
	}
	return r
}

// maxReplyTokens bounds a reply.
const maxReplyTokens = 1024

// greedy is a request for a JSON object at temperature 0, which it says. seed may be nil.
func greedy(seed func(int) *int, purpose, rules, text string) llm.Request {
	zero := 0.0
	req := llm.Request{
		Messages: []llm.Message{{Role: llm.System, Text: rules}, {Role: llm.User, Text: text}},
		Purpose:  purpose, Temperature: &zero, MaxTokens: new(maxReplyTokens),
	}
	if seed != nil {
		req.Seed = seed(0)
	}
	return req
}
