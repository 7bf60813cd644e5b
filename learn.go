package texttosql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/background"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// Confirm stores a question with SQL that a person has found to be the right answer. Prompts of later questions show
// it as an exemplar: Consensus, SelfConsistency and Direct show up to three, and Shots changes the number. See
// memory.Options. Confirmed exemplars come before configured ones. It also helps to find the tables for the words of
// later questions, from the next question on.
//
// The SQL passes the checks of Check first. If the guard refuses it or the engine rejects it, it is not stored, and
// Confirm returns that error. A question that is confirmed again replaces its answer. If statements may run, it runs
// for one row, to see whether it returns a value. The share of confirmed answers without a value determines how much
// an empty answer is doubted (doubt.Rules.EmptyAnswerRate).
//
// The error is memory.ErrNotPersisted if New received no memory.Options.VerifiedAnswers: the answer is lost when the
// program ends.
//
// The stored text goes into prompts of later questions of the same scope. The options are WithScope, WithPolicy and
// WithUser (the person who confirms). Whoever may call Confirm decides which text models see.
func (e *Engine) Confirm(ctx context.Context, question, sql string, opts ...AskOption) error {
	q, err := heeding("Confirm", question, opts, "WithUser")
	if err == nil {
		err = q.validate()
	}
	if err != nil {
		return err
	}
	e, err = e.within(q)
	if err != nil {
		return err
	}
	verdict, err := e.Check(ctx, sql)
	if err != nil {
		return fmt.Errorf("texttosql: confirming an answer: %w", err)
	}
	pair := memory.Exemplar{Scope: e.ScopeKey(), Question: strings.TrimSpace(question), SQL: verdict.SQL, By: q.user,
		Valueless: e.valueless(ctx, verdict.SQL)}
	if e.clock != nil {
		at := e.clock().Round(0)
		pair.At = &at
	}
	_, err = patiently(ctx, e.atAnswers, func() (none struct{}, err error) { return none, e.confirmed.Add(pair) })
	if err == nil && e.forgetful {
		return memory.ErrNotPersisted
	}
	return err
}

// valueless reports whether a statement has no rows or nothing but NULL; nil where that cannot be told.
func (e *Engine) valueless(ctx context.Context, sql string) *bool {
	t, err := e.db.QueryWithin(ctx, sql, exec.Bounds{Rows: 1})
	if err != nil {
		return nil
	}
	none := !t.Truncated && (t.Empty() || t.AllNull())
	return &none
}

// emptyShare estimates how often a right answer has no value; 0 where nobody looked.
func emptyShare(confirmed []memory.Exemplar) float64 {
	empty, known := 0, 0
	for _, p := range confirmed {
		if p.Valueless == nil {
			continue
		}
		known++
		if *p.Valueless {
			empty++
		}
	}
	if known == 0 {
		return 0
	}
	return doubt.Rules{}.LearnEmptyRate(empty, known)
}

// peopleSaid are the statements that people found right: those of the knowledge that the policy allows, then the
// confirmed answers of the scope.
func (e *Engine) peopleSaid(ctx context.Context, env *strategy.Env, q asking) (list []knowledge.VerifiedQuery,
	err error) {
	if env.Knowledge != nil {
		list = append(list, env.Knowledge.VerifiedQueries...)
	}
	learned, err := e.learn(ctx, env.Snapshot, q)
	for _, p := range learned.confirmed {
		if p.Evidence == "" {
			list = append(list, knowledge.VerifiedQuery{Question: p.Question, SQL: p.SQL, VerifiedBy: p.By,
				VerifiedAt: day(p.At)})
		}
	}
	return list, err
}

// peopleKnow reports whether people said of any question what answers it.
func (e *Engine) peopleKnow(ctx context.Context) bool {
	confirmed, err := patiently(ctx, e.atAnswers, e.confirmed.Pairs)
	return err != nil || len(confirmed) > 0 || e.knowledge != nil && len(e.knowledge.VerifiedQueries) > 0
}

// day is a date as a person reads it; "" of none.
func day(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.Format(time.DateOnly)
}

// verified answers a question that a verified one is, word for word but for parameters whose values are stored.
// Evidence and corrections may change what the words mean, so questions with any go to the models.
func (a *answering) verified(ctx context.Context) error {
	if len(a.task.Corrections) > 0 || a.q.Evidence != "" {
		return nil
	}
	var m knowledge.Model
	if a.env.Knowledge != nil {
		m = *a.env.Knowledge
	}
	language := a.db.Language()
	for _, v := range a.people {
		if len(v.Params) == 0 && !mayBe(v.Question, a.q.Text) {
			continue
		}
		v = v.Parameterized(a.env.Schema, language.Text)
		values, ok := v.Match(a.q.Text)
		if !ok {
			continue
		}
		stored, err := a.stored(ctx, m, a.env.Schema, v, values)
		if err != nil {
			return err
		}
		sql, werr := m.Statement(v, values, language.Name)
		if !stored || werr != nil {
			continue
		}
		if _, err := a.db.Examine(ctx, sql, exec.PlanChecks()...); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			continue // the database is another one since
		}
		g := v.ProvenanceOf("verified", values)
		a.out, a.res.Grounds = &strategy.Outcome{SQL: sql, Confidence: 1}, []knowledge.Provenance{g}
		a.out.Note("the question is %s, and no model was asked", g)
		return nil
	}
	return nil
}

// mayBe is a quick look at whether a question is another one but for some constants: a third of its words stand in
// front and behind.
func mayBe(verified, question string) bool {
	known, asked := words.Of(verified), words.Of(question)
	same := 0
	for same < min(len(known), len(asked)) && known[same] == asked[same] {
		same++
	}
	for i := 1; i <= min(len(known), len(asked))-same && known[len(known)-i] == asked[len(asked)-i]; i++ {
		same++
	}
	return 3*same >= len(known)
}

// stored reports whether every parameter has its default, or a value that its column holds.
func (e *Engine) stored(ctx context.Context, m knowledge.Model, s *schema.Schema, v knowledge.VerifiedQuery,
	values map[string]string) (bool, error) {
	for _, p := range v.Params {
		text, given := values[p.Name]
		if !given || text == p.Default {
			continue
		}
		column, ok := m.Stored(s, p.Column)
		if !ok {
			return false, nil
		}
		holds, err := e.holds(ctx, column, text)
		if err != nil || !holds {
			return false, err
		}
	}
	return true, nil
}

// holds reports whether a column holds a text, or the number that it is. The error is ctx.Err(): what cannot be looked
// up is not held.
func (e *Engine) holds(ctx context.Context, c schema.ColumnName, text string) (bool, error) {
	candidates := []any{text}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		candidates = []any{n, text}
	}
	for _, value := range candidates {
		if ok, err := e.db.Probe(ctx, c.Table.Schema, c.Table.Name, c.Column, value); ok && err == nil {
			return true, nil
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	return false, nil
}

// nearestVerified is how many verified questions an answer is compared with.
const nearestVerified = 10

// likeVerified raises the confidence of an answer that has the shape of a verified one, and says which. A contradiction
// of the question counts more than the shape.
func (a *answering) likeVerified(ctx context.Context, winner *sqltext.Statement) {
	if len(a.res.contradictions) > 0 {
		return
	}
	if verified, ok := a.verifiedShape(ctx, winner); ok {
		a.res.Grounds, a.res.Confidence = append(a.res.Grounds, verified), raised(a.res.Confidence)
	}
}

// verifiedShape finds a verified query with the shape of the answer (sqltext.Statement.Template) among those whose
// questions are nearest. false: there is none.
func (a *answering) verifiedShape(ctx context.Context, answer *sqltext.Statement) (knowledge.Provenance, bool) {
	if len(a.out.Candidates) == 0 || len(a.people) == 0 {
		return knowledge.Provenance{}, false
	}
	pool := &memory.Pool{}
	for i, v := range a.people {
		if !v.Logical {
			pool.Pairs = append(pool.Pairs, memory.Exemplar{ID: strconv.Itoa(i), Question: v.Question, SQL: v.SQL})
		}
	}
	near, err := memory.Similar{Pool: pool, K: nearestVerified, WithoutValues: a.env.WithoutValues}.Pick(ctx, a.env.Schema,
		a.q.Text)
	if err != nil {
		return knowledge.Provenance{}, false
	}
	shape := answer.Template()
	for _, p := range near {
		i, _ := strconv.Atoi(p.ID)
		if templateOf(answer.Dialect(), a.people[i]) == shape {
			return a.people[i].ProvenanceOf("confirmed-by", nil), true
		}
	}
	return knowledge.Provenance{}, false
}

// templateOf is the template of a verified query, its parameters as constants.
func templateOf(d sqltext.Dialect, v knowledge.VerifiedQuery) string {
	sql := v.SQL
	for _, p := range v.Params {
		sql = strings.ReplaceAll(sql, ":"+p.Name, "''")
	}
	return d.Parse(sql).Template()
}

// raised is the confidence of an answer that has the shape of a verified one: half of what it lacks is gained. All 15
// such answers of the recorded votes on EHRSQL were right, of the others .601: the direction is sure, the size is not.
func raised(confidence float64) float64 { return confidence + (1-confidence)/2 }

// withheld are the names of the tables that the policy denies, folded.
func (e *Engine) withheld(ctx context.Context) (map[string]bool, error) {
	tables, err := e.db.Withheld(ctx)
	denied := map[string]bool{}
	for _, t := range tables {
		denied[schema.FoldCase(t.Name)] = true
	}
	return denied, err
}

// recall returns the lessons that a question may be shown, without those that name what its policy denies. nil: none.
func (e *Engine) recall(ctx context.Context, q asking) (*memory.RetrievedLessons, error) {
	r, err := e.learnedFor(ctx, q)
	if r == nil || len(r.Lessons) == 0 {
		return r, err
	}
	denied, err := e.denied(ctx)
	if err != nil {
		return nil, err
	}
	r.Lessons = slices.DeleteFunc(r.Lessons, func(l memory.Lesson) bool {
		return denied(strings.Join(append(slices.Clone(l.Tables), l.Table, l.From, l.To, l.Text, l.SQL), " "))
	})
	return r, nil
}

// denied returns what reports whether a text names a table or a column that the policy denies.
func (e *Engine) denied(ctx context.Context) (func(text string) bool, error) {
	policy := e.db.Policy()
	if !policy.Restricts() {
		return func(string) bool { return false }, nil
	}
	withheld, err := e.withheld(ctx)
	return func(text string) bool {
		words := strings.FieldsFunc(text, func(c rune) bool {
			return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
		})
		return policy.Mentions(text) || slices.ContainsFunc(words, func(word string) bool {
			return withheld[schema.FoldCase(word)]
		})
	}, err
}

// learnedFor returns the lessons that the session of a question kept, or else those of the store. nil: none.
func (e *Engine) learnedFor(ctx context.Context, q asking) (*memory.RetrievedLessons, error) {
	switch {
	case e.lessons == nil || e.forgets(q) || q.Text == "":
		return nil, nil
	case q.recall != nil:
		return q.recall, nil
	}
	live, err := e.db.Schema(ctx)
	if err != nil {
		return nil, err
	}
	r, err := patiently(ctx, e.atLessons, func() (*memory.RetrievedLessons, error) {
		return e.lessons.Recall(memory.Episode{Question: q.Text, Owner: e.ScopeKey(), Declared: cmp.Or(e.schema, live),
			Live: live},
			func(sql string) error {
				_, err := e.db.Examine(ctx, sql, exec.ReadOnly{})
				return err
			})
	})
	if err != nil {
		return nil, err
	}
	for _, w := range r.Warnings {
		trace.FromContext(ctx).Warn("lesson-unusable", w)
	}
	return r, ctx.Err()
}

// forgets reports whether a question is answered without what was learned.
func (e *Engine) forgets(q asking) bool { return e.withoutMemory || q.withoutMemory }

// nameable returns the tables that a correction may name: those of prompts, and those of the database that a declared
// schema lacks. They differ where a user says what a table is called now.
func (e *Engine) nameable(ctx context.Context) (*schema.Schema, error) {
	known, err := e.Schema(ctx)
	if err != nil || e.schema == nil {
		return known, err
	}
	live, err := e.db.Schema(ctx)
	if err != nil {
		return nil, err
	}
	all := *known
	all.Tables = slices.Clip(all.Tables)
	for _, t := range live.Tables {
		if _, ok := known.Lookup(t.Schema, t.Name); !ok {
			all.Tables = append(all.Tables, t)
		}
	}
	return &all, nil
}

// maxAttempts is how many rejected statements of a question teach something.
const maxAttempts = 20

// learnFrom learns from one question of a session that came to its end. ep says what the session knows of it; the rest
// is found out here, from out and the engine, which says what a rejected statement lacks and what the answer reads.
func (e *Engine) learnFrom(ctx context.Context, ep memory.Episode, out *strategy.Outcome) (memory.LearnResult, error) {
	if e.lessons == nil || e.withoutMemory {
		return ep.Before, nil
	}
	live, err := e.db.Schema(ctx)
	if err != nil {
		return ep.Before, err
	}
	ep.Live, ep.Declared, ep.Dialect, ep.Owner = live, e.schema, e.db.Language().Text, e.ScopeKey()
	var tried []string
	try := func(sql string) {
		if sql != "" && sql != ep.SQL && len(tried) < maxAttempts && !slices.Contains(tried, sql) {
			tried = append(tried, sql)
		}
	}
	if out != nil {
		for _, s := range out.Steps {
			if s.Status == "rejected" {
				try(s.SQL)
			}
		}
		for _, c := range out.Candidates {
			if c.Rejected != "" {
				try(c.SQL)
			}
		}
	}
	for _, sql := range tried {
		a := struct{ SQL, Missing string }{SQL: sql}
		_, err := e.db.Examine(ctx, sql, exec.ReadOnly{})
		var invalid *exec.InvalidError
		if errors.As(err, &invalid) && invalid.Fault == "schema" {
			a.Missing = invalid.Name
		}
		if err != nil {
			ep.Attempts = append(ep.Attempts, a)
		}
	}
	if ep.Completed {
		c, err := e.db.Examine(ctx, ep.SQL, exec.ReadOnly{})
		if err != nil {
			return ep.Before, fmt.Errorf("texttosql: learning from an answer: %w", err)
		}
		for _, t := range c.Analysis.TablesOf(live) {
			name := schema.TableName{Schema: t.Schema, Name: t.Table}
			ep.Tables = append(ep.Tables, name)
			for _, column := range t.Columns {
				ep.Columns = append(ep.Columns, schema.ColumnName{Table: name, Column: column})
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return ep.Before, err
	}
	learned, err := patiently(ctx, e.atLessons, func() (memory.LearnResult, error) { return e.lessons.Learn(ep) })
	if err != nil {
		return ep.Before, err
	}
	return learned, nil
}

// atOnce is how many calls of a store of memory run at a time, and so how many go on when one hangs and their questions
// have left.
const atOnce = 32

// patiently makes a call of memory, whose stores have no contexts, and leaves it when ctx ends. room has a place for
// each call that runs; nil: there is no store.
func patiently[T any](ctx context.Context, room chan struct{}, call func() (T, error)) (value T, err error) {
	if room == nil {
		return call()
	}
	select {
	case room <- struct{}{}:
	case <-ctx.Done():
		return value, ctx.Err()
	}
	work := background.NewWork[T](nil)
	go func() {
		defer func() { <-room }()
		defer work.End()
		work.Value, work.Err = call()
	}()
	value, err, left := work.Wait(ctx, 100*time.Millisecond)
	if left {
		err = ctx.Err()
	}
	return value, err
}

// Permitted returns the pairs whose statements name no table and no column that the policy of the engine denies. It is
// for programs that show confirmed answers to a person or a client. It may return pairs itself.
func (e *Engine) Permitted(ctx context.Context, pairs []memory.Exemplar) ([]memory.Exemplar, error) {
	if e == nil {
		return nil, errNoEngine
	}
	policy := e.db.Policy()
	if len(pairs) == 0 || !policy.Restricts() {
		return pairs, nil
	}
	live, err := e.db.Schema(ctx)
	if err != nil {
		return nil, err
	}
	denied, err := e.withheld(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range live.Tables { // one of several schemas may be read
		delete(denied, schema.FoldCase(t.Name))
	}
	h := withheldNames{policy, live, denied, e.narrowed}
	return slices.DeleteFunc(slices.Clone(pairs), func(p memory.Exemplar) bool {
		return h.in(e.db.Language().Text.Parse(p.SQL)) ||
			e.narrowed && (policy.Mentions(p.Question) || policy.Mentions(p.SQL))
	}), nil
}

// withheldNames are the tables and columns that a policy denies.
type withheldNames struct {
	policy   exec.Policy
	live     *schema.Schema  // what may be read
	tables   map[string]bool // that may not be read, folded
	narrowed bool
}

// in reports whether a statement names one of them.
func (h withheldNames) in(s *sqltext.Statement) bool {
	base := slices.DeleteFunc(slices.Clone(s.Tables()), func(t sqlshape.TableRef) bool { return !t.Base() })
	return slices.ContainsFunc(base, func(t sqlshape.TableRef) bool {
		return h.tables[schema.FoldCase(t.Name)] ||
			(t.Schema != "" || h.narrowed) && !h.policy.AllowsTable(t.Schema, t.Name)
	}) || slices.ContainsFunc(s.Columns(), func(c sqlshape.ColumnRef) bool { return h.hasColumn(c, base) })
}

// hasColumn reports whether a column may be one of them. base are the tables of the statement. A column that no table
// of its own FROM has is of a query in it, or of the query around it, and so of any table.
func (h withheldNames) hasColumn(c sqlshape.ColumnRef, base []sqlshape.TableRef) bool {
	denies := func(t sqlshape.TableRef) bool {
		return !h.policy.AllowsColumn(cmp.Or(t.Schema, h.live.Default), t.Name, c.Column)
	}
	owns := func(t sqlshape.TableRef) bool {
		table, ok := h.live.Lookup(t.Schema, t.Name)
		if ok {
			_, ok = table.Column(c.Column)
		}
		return ok
	}
	owned := slices.ContainsFunc(c.Scope, owns)
	switch {
	case c.Operand && !owned && h.tables[schema.FoldCase(c.Column)]: // SQLite's x IN hidden names a table
		return true
	case !slices.ContainsFunc(base, denies):
		return false
	case c.Table != "" && c.Qualifier != "":
		return denies(sqlshape.TableRef{Schema: c.Schema, Name: c.Table})
	}
	return c.Qualifier != "" || !owned || slices.ContainsFunc(c.Scope, denies)
}

// shownExemplars are the configured exemplars that a policy lets prompts show. With many it takes seconds to find out.
var shownExemplars = &snapshot.Derived[struct{}, []memory.Exemplar]{
	Reach: snapshot.OfPolicy, Size: func(_ struct{}, pairs []memory.Exemplar) int { return 150 * len(pairs) },
}

// described is the schema that prompts are written from: the part that the policy allows, with descriptions.
type described struct {
	schema    *schema.Schema
	unknown   []string         // described names that do not exist
	knowledge *knowledge.Model // the part that speaks of schema; nil: there is none
}

// descriptions are what is described of a schema of the database, by what the tables are called.
var descriptions = &snapshot.Derived[namesOf, described]{
	Reach: snapshot.OfPolicy, Needed: true,
	Size: func(of namesOf, d described) (bytes int) {
		if of.live == d.schema {
			return 0
		}
		for i := range d.schema.Tables {
			bytes += 400 + 150*len(d.schema.Tables[i].Columns)
		}
		return bytes
	},
}

type namesOf struct {
	live  *schema.Schema
	names string // see snapshot.Key
}

// snapshot returns the present state of the database, with the schema described and called as lessons tell.
func (e *Engine) snapshot(ctx context.Context, lessons *memory.RetrievedLessons) (s *snapshot.Snapshot, d described,
	err error) {
	if s, err = e.db.Snapshot(ctx); err != nil {
		return nil, d, err
	}
	base := e.named(s.Schema, lessons)
	if d, err = descriptions.Of(ctx, s, namesOf{s.Schema, base.names}, func(ctx context.Context) (described, error) {
		return e.describe(ctx, base)
	}); err != nil {
		return nil, d, err
	}
	return s.Named(base.names, d.schema), d, nil
}

// named is the schema of the database or the declared one, by its names.
type named struct {
	names   string
	schema  *schema.Schema
	known   *schema.Schema // where lessons tell the names of the database
	unknown []string       // described names that the declared schema lacks
}

// named returns the schema that the one of prompts is made of: that of the database or the declared one, with the names
// of the database as far as r tells them.
func (e *Engine) named(live *schema.Schema, r *memory.RetrievedLessons) named {
	switch {
	case e.schema == nil && len(e.descriptions) == 0:
		return named{schema: live}
	case e.schema == nil:
		return named{names: "described", schema: live}
	case r == nil || r.Map(e.schema, live) == e.schema:
		return named{names: "declared", schema: e.schema}
	}
	declared, unknown := e.schema.Describe(e.descriptions)
	mapped := r.Map(declared, live)
	return named{names: mapped.Fingerprint(), schema: mapped, known: mapped, unknown: unknown}
}

// describe restricts a schema to what the policy allows, and describes it.
func (e *Engine) describe(ctx context.Context, of named) (d described, err error) {
	d.schema = of.schema
	if e.schema != nil {
		if d.schema, err = e.db.Permitted(ctx, of.schema); err != nil {
			return d, err
		}
		if e.db.Scoped() { // its profile may be of the rows of others
			d.schema = unprofiled(d.schema)
		}
	}
	if len(e.descriptions) > 0 {
		d.schema, d.unknown = d.schema.Describe(e.descriptions)
		if of.known != nil { // names of either schema are known
			d.unknown = slices.DeleteFunc(d.unknown, func(name string) bool { return !slices.Contains(of.unknown, name) })
		}
	}
	if len(d.unknown) > 0 && !e.narrowed {
		e.db.Warn(trace.Warning{Code: "unknown-description", Message: "descriptions of names that do not exist: " +
			strings.Join(d.unknown, ", ")})
	}
	if e.knowledge != nil {
		d.knowledge = new(e.knowledge.Restrict(d.schema))
	}
	return d, nil
}

// unprofiled returns a copy of a schema without what profiles tell of rows.
func unprofiled(s *schema.Schema) *schema.Schema {
	out := *s
	out.Tables = slices.Clone(s.Tables)
	for i := range out.Tables {
		t := &out.Tables[i]
		t.Rows, t.RowsAtLeast, t.Columns = nil, false, slices.Clone(t.Columns)
		for j := range t.Columns {
			t.Columns[j].Profile = nil
		}
	}
	return &out
}

// learned is what one state of the confirmed answers tells.
type learned struct {
	confirmed  []memory.Exemplar // those of the scope that the policy allows
	pool       *memory.Pool      // the solved questions that strategies may show
	past       []memory.Exemplar // what was asked before
	emptyShare float64           // strategy.Env.EmptyAnswerRate
}

// answers are what confirmed and configured answers tell, by the state of the confirmed ones.
var answers = &snapshot.Derived[answersOf, learned]{Size: func(_ answersOf, l learned) int {
	return 1000 * len(l.past)
}}

// answersOf is a list of confirmed answers, those of all scopes.
type answersOf struct {
	first *memory.Exemplar
	n     int
}

// learn returns what confirmed and configured answers tell. It is the same as long as nothing was confirmed, so that
// the pool is indexed once.
func (e *Engine) learn(ctx context.Context, s *snapshot.Snapshot, q asking) (learned, error) {
	var confirmed []memory.Exemplar
	if !e.forgets(q) {
		var err error
		if confirmed, err = patiently(ctx, e.atAnswers, e.confirmed.Pairs); err != nil {
			return learned{}, err
		}
	}
	of := answersOf{n: len(confirmed)}
	if of.n > 0 {
		of.first = &confirmed[0]
	}
	return answers.Of(ctx, s, of, func(ctx context.Context) (learned, error) {
		scope := e.ScopeKey()
		kept, err := e.Permitted(ctx, slices.DeleteFunc(slices.Clone(confirmed), func(p memory.Exemplar) bool {
			return p.Scope != scope
		}))
		if err != nil {
			return learned{}, err
		}
		shown, err := shownExemplars.Of(ctx, s, struct{}{}, func(ctx context.Context) ([]memory.Exemplar, error) {
			return e.Permitted(ctx, e.exemplars)
		})
		if err != nil {
			return learned{}, err
		}
		shown = slices.DeleteFunc(slices.Clone(shown), func(p memory.Exemplar) bool {
			return p.Scope != "" && p.Scope != scope
		})
		solved := slices.DeleteFunc(slices.Clone(shown), func(p memory.Exemplar) bool { return p.Past })
		return learned{kept, &memory.Pool{Pairs: slices.Concat(kept, solved)}, slices.Concat(shown, kept),
			emptyShare(kept)}, nil
	})
}
