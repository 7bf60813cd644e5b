package linker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// noVerdict is the code of the warning that a model could not say whether a question needs a table.
const noVerdict = "no-verdict"

// leastUnverified is the score of words that keep a table which the model failed on.
const leastUnverified = 0.5

// Verdicts is what a judge of tables (MapReduce, PerTable) found out about a question.
type Verdicts struct {
	// Tables are in the schema's order: those asked about that a prompt may show, and those that a correction keeps.
	Tables   []TableVerdict `json:"tables"`
	NotAsked int            `json:"not_asked,omitempty"` // tables that the model was not asked about
	Links    schema.Links   `json:"links"`               // the linked tables
}

// TableVerdict is what words and a model say of one table.
type TableVerdict struct {
	Table    schema.TableName `json:"table"`
	Relevant bool             `json:"relevant"`          // of MapReduce, the table is linked; of PerTable, the verdict of the table alone
	Score    float64          `json:"score"`             // what decides, 0..1; of PerTable how sure the verdict is
	Lexical  float64          `json:"lexical"`           // the score of the words and values alone, 0..1
	Model    *float64         `json:"model,omitempty"`   // the model's, 0..1; nil: not asked, or it failed
	Reason   string           `json:"reason,omitempty"`  // the model's, in one line of at most 200 characters
	Matched  []string         `json:"matched,omitempty"` // components that the model says the table is for
	Columns  []string         `json:"columns,omitempty"` // columns that the model says the question needs; only those that exist
	Omitted  int              `json:"omitted,omitempty"` // columns that the prompt had no room for
	Problem  string           `json:"problem,omitempty"` // what the model failed with: the words of the table decided
}

// judge asks a model about each table of a question, in waves. T is the JSON object of a reply.
type judge[T reply] struct {
	Input
	model      llm.Model
	workers    int    // most calls at once
	most       int    // tables asked about at most, in all waves together; 0: all
	components string // parts of the question, whose words count as its own
	overruled  bool   // words that few tables have overrule the model
	// texts writes a table, once for each call about it.
	texts   func(ctx context.Context, t *judged) ([]string, error)
	request func(table string) llm.Request // makes the request from a text
	skips   func(t *judged) bool           // says that words alone judge a table; nil: they do of none
	heard   func(t *judged, reply T)       // told of each reply as it arrives; nil: nobody is

	Verdicts
	tables []judged // that a prompt may show, in the order of the schema
	asked  int      // tables of the waves that were made
	alike  int      // tables of these waves' families that nobody asks about
}

// judged is a table with what words and the model say of it.
type judged struct {
	TableVerdict
	of      *schema.Table
	hit     tableHit
	isAsked bool
	stays   bool
}

// reply is the JSON object that a model says of one table.
type reply interface {
	check() error // says what is wrong with it
	said() said
}

// said is what a reply says, whatever its form.
type said struct {
	relevant         bool
	score            float64
	reason           any
	columns, matched []string
}

// run asks about one wave after the other until stands says so, or a budget is spent behind the first wave: that is the error
// spent, and what is known by then decides.
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
		j.tables[i] = judged{TableVerdict: TableVerdict{Table: t.TableName()}, of: t}
	}
	defer j.tell(ctx)
	for n, w := range j.waves(j.most) {
		wave := make([]*judged, len(w.places))
		for k, i := range w.places {
			wave[k] = &j.tables[i]
		}
		err := j.ask(ctx, wave, found)
		if n > 0 && errors.Is(err, llm.ErrBudget) {
			return err, nil
		}
		j.asked, j.alike = j.asked+len(wave), j.alike+w.alike
		if err != nil || stands() {
			return nil, err
		}
	}
	return nil, nil
}

// tell tells how many tables were not asked about, where there are some, as a warning and a note of links.
func (j *judge[T]) tell(ctx context.Context) {
	total := len(j.tables)
	j.NotAsked = total - j.asked
	trace.From(ctx).Set("asked", j.asked)
	trace.From(ctx).Set("not_asked", j.NotAsked)
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
	trace.From(ctx).Warn(code, text)
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
	for i, t := range asked {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			attr := trace.Attr{Key: "table", Value: trace.SQL(t.Table.String())}
			within, span := trace.StartAt(ctx, j.asked+i, "table", attr)
			defer span.End()
			errs[i], spans[i] = j.askOne(within, t), span
			if span.Fail(errs[i]); ctx.Err() != nil {
				span.Cancelled()
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
		t.Problem, t.Relevant = llm.Scrub(err.Error()), t.Lexical >= leastUnverified
		j.warn(ctx, noVerdict, fmt.Sprintf("the model did not judge the table %s, its words do: %s", t.Table, t.Problem))
		return
	}
	t.Score = *t.Model
	span.Set("relevant", t.Relevant)
	span.Set("score", t.Score)
	span.Set("matched", trace.Secret{Kind: trace.PrivateReplies, Text: strings.Join(t.Matched, "\n")})
	if j.overruled {
		t.Score = max(t.Score, t.hit.rare)
	}
}

// askOne makes the calls about a table, one after the other.
func (j *judge[T]) askOne(ctx context.Context, t *judged) error {
	texts, err := j.texts(ctx, t)
	if err != nil {
		return err
	}
	var replies []T
	for _, text := range texts {
		reply, err := llm.Ask(ctx, j.model, j.request(text), T.check)
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
		if text = schema.Comment(text); text != "" && !slices.Contains(t.Matched, text) {
			t.Matched = append(t.Matched, text)
		}
	}
}

// reason is a reason of the model as a line.
func reason(given any) string {
	text, _ := given.(string)
	return schema.Comment(text)
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
		r.Names = exec.Names{Dialect: in.DB.Dialect()}
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
