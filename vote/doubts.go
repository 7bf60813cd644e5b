package vote

import (
	"slices"

	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// Rule is one reason to doubt an answer: a statement or its result does not fit
// the question. A broken rule is a finding on the candidate, never a veto.
//
// Rules are plain values: make your own, drop or weigh those of [DefaultRules].
// Safe for concurrent use where Broken is.
type Rule struct {
	Name   string  // stable: it names the finding
	Source string  // why anyone should believe in it
	Weight float64 // what one broken rule counts; 0: 1; negative: nothing, a finding for information

	// ReadsWords: the rule reads the words of the question, so it is silent when
	// the question is in no language of Doubts.Languages.
	ReadsWords bool
	// OnResult: the verdict depends on the question and the result alone, so that
	// candidates with equal results agree on it. It is silent without a result.
	OnResult bool

	// Broken says whether the rule is broken, and what is wrong in a few words
	// for a person ("more columns than asked"). It holds no stored value. A rule
	// with nil is silent.
	Broken func(RuleInput) (detail string, broken bool)
}

// weight returns what the rule counts.
func (r Rule) weight() float64 {
	switch {
	case r.Weight == 0:
		return 1
	case r.Weight > 0:
		return r.Weight
	}
	return 0
}

// RuleInput is what a rule may look at. There is no right answer in it.
type RuleInput struct {
	Question Question        // as Doubts.Read read it
	SQL      string          // the statement
	Outline  sqltext.Outline // of SQL
	Dialect  sqltext.Dialect // that SQL is written in
	Table    *result.Table   // nil when the statement was not executed

	// Lookup and SchemaWord are those of Doubts; nil when the user gave none.
	Lookup     Lookup
	SchemaWord func(word string) bool // see Lookup
}

// Lookup reports whether a text value is stored in a column, or with column ""
// in any. A column is meant by its name, in whatever table; fold compares without
// case. known is false where it cannot be told.
//
// exec.DB.Probe can answer it; nothing here runs a statement.
type Lookup func(column, value string, fold bool) (stored, known bool)

// Doubts finds the broken rules of candidates. The same Doubts run at inference,
// where the table is at hand, and in replay. The zero Doubts is the default: the
// rules of [DefaultRules] for English questions. It reads no data but the result.
//
// The method is ours: a count of simple doubts, each worth the same, travels
// between benchmarks where fitted weights of many features did not.
//
// Doubts is plain data; With, Without and Weigh return copies. Safe for
// concurrent use where its functions are.
type Doubts struct {
	Rules     []Rule          // nil: DefaultRules
	Languages []Language      // nil: English
	Dialect   sqltext.Dialect // the zero Dialect is SQLite

	// Lookup serves the rules on values (ValueRules); SchemaWord tells them
	// which lower-case words name a table or column.
	Lookup     Lookup
	SchemaWord func(word string) bool // see Lookup
}

// Find returns the findings of the broken rules for a candidate and its result,
// in the order of the rules. t is nil when the candidate was not executed. A
// caller with many candidates for a question reads it once and calls About.
func (d Doubts) Find(question, evidence string, c Candidate, t *result.Table) []Finding {
	return d.About(d.Read(question, evidence), c, t)
}

// About is Find for a question that was read.
func (d Doubts) About(q Question, c Candidate, t *result.Table) []Finding {
	if c.SQL == "" {
		return nil
	}
	in := RuleInput{Question: q, SQL: c.SQL, Dialect: d.Dialect, Table: t, Lookup: d.Lookup, SchemaWord: d.SchemaWord}
	outlined := false
	var findings []Finding
	for _, r := range d.rules() {
		if r.Broken == nil || r.ReadsWords && q.Language == "" || r.OnResult && t == nil {
			continue
		}
		if !r.OnResult && !outlined {
			in.Outline, outlined = d.Dialect.Outline(c.SQL), true
		}
		if detail, broken := r.Broken(in); broken {
			findings = append(findings, Finding{Rule: r.Name, Detail: detail, Doubt: r.weight()})
		}
	}
	return findings
}

// Read reads a question for [Doubts.About].
func (d Doubts) Read(question, evidence string) Question {
	q := Question{Text: question, Evidence: evidence}
	q.tokens = tokenize(question)
	q.words = words(q.tokens)
	outside := words(tokenize(withoutQuoted(question)))
	languages := d.Languages
	if languages == nil {
		languages = []Language{English()}
	}
	for i := range languages {
		if languages[i].speaks(outside) {
			q.read(&languages[i])
			break
		}
	}
	return q
}

// Spread returns by how much the doubts of two candidates with equal results can
// differ: the weights of the rules that look at the SQL, added up. It is
// [Tally.MaxDoubt] for votes by result.
func (d Doubts) Spread() float64 {
	sum := 0.0
	for _, r := range d.rules() {
		if !r.OnResult {
			sum += r.weight()
		}
	}
	return sum
}

// With returns a copy with rules added, in place of those of the same name.
func (d Doubts) With(rules ...Rule) Doubts {
	d.Rules = slices.Clone(d.rules())
	for _, r := range rules {
		if at := slices.IndexFunc(d.Rules, func(x Rule) bool { return x.Name == r.Name }); at >= 0 {
			d.Rules[at] = r
		} else {
			d.Rules = append(d.Rules, r)
		}
	}
	return d
}

// Without returns a copy without the rules of these names.
func (d Doubts) Without(names ...string) Doubts {
	d.Rules = slices.DeleteFunc(slices.Clone(d.rules()), func(r Rule) bool { return slices.Contains(names, r.Name) })
	return d
}

// Weigh returns a copy in which the rule of that name counts weight; 0 makes its
// findings mere information. A name that no rule has changes nothing.
func (d Doubts) Weigh(name string, weight float64) Doubts {
	d.Rules = slices.Clone(d.rules())
	if weight == 0 {
		weight = -1
	}
	for i := range d.Rules {
		if d.Rules[i].Name == name {
			d.Rules[i].Weight = weight
		}
	}
	return d
}

func (d Doubts) rules() []Rule {
	if d.Rules == nil {
		return DefaultRules()
	}
	return d.Rules
}

// DefaultRules returns the rules that need nothing but question, statement and
// result, in the order of their findings.
func DefaultRules() []Rule { return slices.Concat(ResultRules(), StatementRules()) }

// withoutQuoted blanks out what stands in quotation marks.
func withoutQuoted(s string) string {
	out := []byte(s)
	for _, q := range sqltext.Quotations(s) {
		for i := q.From; i < q.To; i++ {
			out[i] = ' '
		}
	}
	return string(out)
}
