// Package answerable tells whether the data can answer a question: another matter than whether an answer is right.
//
// A model that is asked about humidity in a database without humidity writes a statement all the same. Two signs give
// it away. The samples disagree in their text and do not compile, and the statement that wins leaves words of the
// question without a name or a constant. [Question.Features] measures both, and [Question.Answerable] makes one score
// of them.
//
// The package asks no model and runs no statement. docs/lab/answerable.md has what the score is worth. Safe for
// concurrent use.
package answerable

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

// Answerable says whether the data can answer a question. It is no confidence: a question that the data can answer may
// have got a wrong answer.
type Answerable struct {
	Score float64  // 0..1; low: the data has nothing for the question
	Unmet []string // the words of the question that nothing stands for, as they were asked

	nearest func() []string // computed once; nil: there is nothing to compute
}

// Nearest returns what the data has in place of the unmet words: columns, metrics, terms and verified questions, the
// nearest first, at most 5. The first call reads all names of the schema.
func (a Answerable) Nearest() []string {
	if a.nearest == nil {
		return nil
	}
	return a.nearest()
}

// record is an Answerable as JSON.
type record struct {
	Score   float64  `json:"score"`
	Unmet   []string `json:"unmet,omitempty"`
	Nearest []string `json:"nearest,omitempty"`
}

// MarshalJSON writes the members score, unmet and nearest.
func (a Answerable) MarshalJSON() ([]byte, error) {
	return json.Marshal(record{a.Score, a.Unmet, a.Nearest()})
}

// UnmarshalJSON reads the text of MarshalJSON.
func (a *Answerable) UnmarshalJSON(text []byte) error {
	var r record
	err := json.Unmarshal(text, &r)
	*a = Answerable{Score: r.Score, Unmet: r.Unmet, nearest: func() []string { return r.Nearest }}
	return err
}

// Question is a question with what was written for it.
type Question struct {
	Text       string             // the question
	Evidence   string             // what was said with it; words that it explains are not unmet
	Candidates []vote.Candidate   // the samples, refused ones included
	SQL        string             // the answer, one of Candidates; "": the statement that most samples share
	Schema     *schema.Schema     // the part that may be read; nil: nothing is known of it
	Profiled   *schema.Schema     // Schema with the profiles whose stored texts count; nil: those of Schema
	Snapshot   *snapshot.Snapshot // has the texts that Schema stores; nil: those of its profiles
	Knowledge  *knowledge.Model   // the part that may be read; nil: nothing
	Dialect    sqltext.Dialect
}

// Features are what a score is made of, each in 0..1.
type Features struct {
	// samples that share the text of the answer, blanks and letter case apart ÷ all samples; see Question.Features
	Texts    float64
	Compiles float64 // samples that passed the checks ÷ all samples
	Coverage float64 // words of the question that the answer accounts for; see Question.Features
	Beyond   float64 // 1: the question asks for what no statement makes, such as a forecast or a picture; else 0
}

// The weights of Features, of a logistic regression on 486 recorded votes of EHRSQL: docs/lab/answerable.md.
const (
	weightTexts, weightCompiles, weightCoverage, weightBeyond = 3.8, 0.9, 6.2, -2.0
	weightNone                                                = -6.9
)

// Score is the probability that the data can answer the question, where half of all questions can be answered.
func (f Features) Score() float64 {
	x := weightNone + weightTexts*f.Texts + weightCompiles*f.Compiles + weightCoverage*f.Coverage + weightBeyond*f.Beyond
	return 1 / (1 + math.Exp(-x))
}

// Answerable scores the question, to four digits, and says what is unmet. Without a candidate the score is 0.
func (q Question) Answerable() Answerable {
	r := q.read()
	a := Answerable{Score: math.Round(r.features.Score()*1e4) / 1e4, Unmet: r.unmet}
	if len(q.Candidates) == 0 {
		a.Score = 0
	}
	if len(r.unmet) > 0 {
		a.nearest = sync.OnceValue(func() []string { return q.nearest(r) })
	}
	return a
}

// Features measures the question.
//
// Texts is the share of the samples with the text of the answer. Where the answer was executed and has a value, it is
// at least 0.8 × the share with its result.
//
// Coverage is (a + 0.8·b + 0.5) ÷ (n + 1) for n words with a meaning of their own. The answer accounts for a of them by
// its tables, columns and constants, or by the words of people for these, and by the metrics it was compiled from.
// b more words name something else of the database. A constant that no row has accounts for nothing. Numbers are words.
// A question in a language other than English has the mean, 0.75.
func (q Question) Features() Features { return q.read().features }

// reading is what was found out about a question.
type reading struct {
	features Features
	unmet    []string
	named    wordList   // the words of the schema
	also     vocabulary // the words of what belongs to the question: its evidence, knowledge and stored texts
}

// knows reports whether there is something for a word.
func (r *reading) knows(word string) bool { return r.named.has(word) || r.also.has(word) }

// stored returns the stored texts that the question names.
func (q *Question) stored() []snapshot.Stored {
	if q.Schema == nil {
		return nil
	}
	return q.Snapshot.Words(cmp.Or(q.Profiled, q.Schema)).Named(q.Text)
}

func (q *Question) read() reading {
	best, texts := q.answer()
	r := reading{features: Features{Texts: texts, Compiles: q.compiles(), Coverage: 0.75}}
	if !english(q.Text) {
		return r
	}
	asked, stored := content(q.Text), q.stored()
	answer := vocabulary{}
	r.named, r.also = q.schemaWords(), q.ownWords()
	for _, s := range stored {
		r.also.text(s.Value)
	}
	if best != nil {
		q.accounts(answer, best, stored)
	}
	covered, known := 0, 0
	for _, w := range asked {
		switch {
		case answer.has(w.stem):
			covered++
		case r.knows(w.stem):
			known++
		case !isNumber(w.stem):
			r.unmet = append(r.unmet, w.text)
		}
	}
	r.features.Coverage = (float64(covered) + 0.8*float64(known) + 0.5) / float64(len(asked)+1)
	if slices.ContainsFunc(words.Of(q.Text), func(w string) bool { return beyond[words.Stem(w)] }) {
		r.features.Beyond = 1
	}
	return r
}

// answer finds the candidate behind the answer: that of SQL, else one of the text that most of the sound candidates
// share, else most of all. best is nil where no candidate has a statement. share is the part of the samples that have
// its text. Compiled statements and those of a model never have one text, so those of the other kind do not count.
func (q *Question) answer() (best *vote.Candidate, share float64) {
	counts := map[string]int{}
	sound := slices.ContainsFunc(q.Candidates, passed)
	for i := range q.Candidates {
		c := &q.Candidates[i]
		if c.SQL == "" || sound && !passed(*c) {
			continue
		}
		text := words.Fold(c.SQL)
		counts[text]++
		if best == nil || counts[text] > counts[words.Fold(best.SQL)] {
			best = c
		}
	}
	if best == nil {
		return nil, 0
	}
	if i := slices.IndexFunc(q.Candidates, func(c vote.Candidate) bool { return c.SQL == q.SQL }); i >= 0 && q.SQL != "" {
		best = &q.Candidates[i]
	}
	all, results := 0, 0
	for _, c := range q.Candidates {
		if c.SQL == "" || (c.Metrics == nil) == (best.Metrics == nil) {
			all++
		}
		if c.Fingerprint != "" && c.Fingerprint == best.Fingerprint && !c.Empty && !c.AllNull && !c.Zero {
			results++
		}
	}
	share = float64(counts[words.Fold(best.SQL)]) / float64(all)
	return best, max(share, 0.8*float64(results)/float64(len(q.Candidates)))
}

// passed reports whether a candidate is a statement that passed the checks.
func passed(c vote.Candidate) bool { return c.SQL != "" && c.Rejected == "" }

// compiles is the share of the samples that passed the checks.
func (q *Question) compiles() float64 {
	n := 0
	for _, c := range q.Candidates {
		if passed(c) {
			n++
		}
	}
	return float64(n) / float64(max(len(q.Candidates), 1))
}

// accounts adds the words that a statement stands for. Names that the schema does not have are made up: those of
// aliases, and of statements that the database does not take.
func (q *Question) accounts(v vocabulary, c *vote.Candidate, stored []snapshot.Stored) {
	s := c.Parsed(q.Dialect)
	var tables []*schema.Table
	for _, t := range s.Tables() {
		if q.Schema != nil && t.Base() {
			if found, ok := q.Schema.Lookup(t.Schema, t.Name); ok {
				tables = append(tables, found)
				v.name(found.Name)
			}
		}
	}
	for _, x := range s.Columns() {
		for _, t := range tables {
			if column, ok := t.Column(x.Column); ok {
				v.name(column.Name)
				v.column(column)
				v.values(stored, t.TableName(), column.Name)
			}
		}
	}
	if !slices.ContainsFunc(c.Findings, func(f vote.Finding) bool { return f.Rule == checks.Absent }) {
		for _, l := range s.Literals() {
			v.text(l.Value)
		}
	}
	if q.Knowledge != nil {
		v.knowledge(q.Knowledge, q.Text, s, c.Metrics)
	}
}

// ownWords are the words of the evidence and of the knowledge.
func (q *Question) ownWords() vocabulary {
	v := vocabulary{}
	v.text(q.Evidence)
	if q.Knowledge == nil {
		return v
	}
	v.said(q.Knowledge, func(string) bool { return true })
	for _, x := range q.Knowledge.Metrics {
		v.about(x.Name, x.Subject)
	}
	for _, t := range q.Knowledge.Terms {
		v.text(strings.Join(t.Words, " "))
	}
	return v
}

// vocabulary is a set of words in their basic form.
type vocabulary map[string]bool

func (v vocabulary) name(name string) {
	for _, w := range words.Stems(name) {
		v[w] = true
	}
}

func (v vocabulary) text(text string) {
	for _, w := range words.Of(text) {
		if !words.IsPlain(w) {
			v[words.Stem(w)] = true
		}
	}
}

// column adds the words of a column, its description and its values.
func (v vocabulary) column(c *schema.Column) {
	for _, text := range []string{c.Title, c.Description, c.Values, c.Described} {
		v.text(text)
	}
}

// values adds the words of those stored texts that a column has.
func (v vocabulary) values(stored []snapshot.Stored, table schema.TableName, column string) {
	for _, s := range stored {
		if s.Schema == table.Schema && s.Table == table.Name && s.Column == column {
			v.text(s.Value)
		}
	}
}

// about adds what people call a thing, and what they say of it.
func (v vocabulary) about(name string, a knowledge.Subject) {
	v.name(name)
	v.text(a.Description)
	v.text(strings.Join(a.Synonyms, " "))
}

// said adds what people say of the tables and columns whose names are used.
func (v vocabulary) said(m *knowledge.Model, used func(name string) bool) {
	for _, t := range m.Tables {
		if !used(t.Name) && !used(t.Source) {
			continue
		}
		v.about(t.Name, t.Subject)
		for _, c := range t.Columns {
			if used(c.Name) || used(c.Expr) {
				v.about(c.Name, c.Subject)
			}
		}
	}
}

// knowledge adds the words of people for what a statement names: tables, columns, the metrics that it was compiled
// from, and the terms that it uses.
func (v vocabulary) knowledge(m *knowledge.Model, question string, s *sqltext.Statement, metrics []string) {
	v.said(m, func(name string) bool {
		return slices.ContainsFunc(s.Tables(), func(t sqlshape.TableRef) bool { return strings.EqualFold(t.Name, name) }) ||
			slices.ContainsFunc(s.Columns(), func(c sqlshape.ColumnRef) bool { return strings.EqualFold(c.Column, name) })
	})
	for _, x := range m.Metrics {
		if slices.Contains(metrics, x.Name) {
			v.about(x.Name, x.Subject)
		}
	}
	used := m.TermsIn(question, s)
	for _, t := range m.Terms {
		if slices.ContainsFunc(used, func(g knowledge.Provenance) bool { return g.Name == t.Words[0] }) {
			v.text(strings.Join(t.Words, " "))
		}
	}
}

// has reports whether a word is there, or one that begins like it: diagnosed and diagnoses.
func (v vocabulary) has(word string) bool {
	if v[word] {
		return true
	}
	for w := range v {
		if related(word, w) {
			return true
		}
	}
	return false
}

// beginning is how many letters related words share at least.
const beginning = 4

// related reports whether two words share a beginning that is most of the shorter one.
func related(a, b string) bool {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n >= beginning && 5*n >= 3*min(len(a), len(b))
}
