package doubt

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

// Rule is one reason to doubt an answer: a statement or its result does not fit the question. A broken rule
// adds a finding to the candidate and never rejects it. Rules are plain values: write your own, or change or
// drop the default ones, which Rules{}.With().List returns. Safe for concurrent use if Broken is.
type Rule struct {
	Name   string  // stable name of the finding
	Source string  // why anyone should believe in the rule
	Weight float64 // doubt that a broken rule adds; 0 means 1; negative: it adds none, the finding only informs

	// ReadsWords marks a rule that reads the words of the question. It finds nothing if the question is in no
	// language of Rules.Languages.
	ReadsWords bool
	// OnResult marks a rule whose verdict depends only on the question and the result. Candidates with equal
	// results then have the same verdict. The rule finds nothing without a result.
	OnResult bool

	// Form marks a rule about how an answer is written, not about its meaning: see [vote.Finding].
	Form bool

	// Possible reports whether any statement with the result of c can break the rule. A vote stops earlier if
	// few rules can be broken: see Rules.SpreadAbout. nil: every statement can break it.
	Possible func(q QuestionFeatures, c vote.Candidate) bool

	// Broken reports whether the rule is broken. The detail tells a person the problem in a few words ("more
	// columns than asked") and contains no stored value. A rule with a nil Broken finds nothing.
	Broken func(Input) (detail string, broken bool)
}

// silent reports whether no candidate can break the rule.
func (r Rule) silent(q QuestionFeatures) bool {
	return r.Broken == nil || r.ReadsWords && q.Language == ""
}

// Input is the input of a rule. It does not contain the right answer.
type Input struct {
	Question  QuestionFeatures   // the question as Rules.Read read it
	Statement *sqltext.Statement // the statement of the candidate
	Outline   sqlshape.Outline   // the outline of Statement; zero for a rule with OnResult
	Table     *result.Table      // nil when the statement was not executed
	Findings  []vote.Finding     // the findings that the checks added to the candidate so far
}

// Rules finds the broken rules of candidates, in production and in replay. The zero Rules has the default rules and
// reads English. It is plain data; With and Without return copies. Safe for concurrent use if its functions are.
type Rules struct {
	// List has the rules. nil means the default rules. They need only the question, the statement, the result
	// and the findings of checks. Those on the result are empty, any_null and how_many; those on the SQL are
	// more_columns, star, sum, group_bare and count_top. The rules of OfChecks follow.
	List      []Rule
	Languages []Language      // nil: English
	Dialect   sqltext.Dialect // the dialect of candidates without a Statement; the zero Dialect is SQLite

	// EmptyAnswerRate is the share of questions of this application whose right answer has no value: no rows, or only
	// NULL. The rule empty weighs 1 − ½ ln(EmptyAnswerRate ÷ 0.05), in 0..3, unless it has a Weight. 0 means: learn
	// the rate from confirmed answers if the strategy has some (see LearnEmptyRate), otherwise use 0.05.
	EmptyAnswerRate float64
}

// Find returns the findings of the broken rules for a candidate and its result, in the order of the rules. t is nil
// if the candidate was not executed. With several candidates for one question, call Read once and then About.
func (r Rules) Find(question, evidence string, c vote.Candidate, t *result.Table) []vote.Finding {
	return r.About(r.Read(question, evidence), c, t)
}

// About is Find for a question that was read.
func (r Rules) About(q QuestionFeatures, c vote.Candidate, t *result.Table) []vote.Finding {
	if c.SQL == "" {
		return nil
	}
	in := Input{Question: q, Statement: c.Parsed(r.Dialect), Table: t, Findings: c.Findings}
	outlined := false
	var findings []vote.Finding
	for _, rule := range r.list() {
		if rule.silent(q) || rule.OnResult && t == nil {
			continue
		}
		if !rule.OnResult && !outlined {
			in.Outline, outlined = in.Statement.Outline(), true
		}
		if detail, broken := rule.Broken(in); broken {
			form := rule.Form || rule.Name == "empty" && in.foreseen()
			findings = append(findings, vote.Finding{Rule: rule.Name, Detail: detail, Doubt: r.weight(rule), Form: form})
		}
	}
	return findings
}

// Read reads a question and its evidence for [Rules.About].
func (r Rules) Read(question, evidence string) QuestionFeatures {
	q := QuestionFeatures{Text: question, Evidence: evidence, tokens: tokenize(question)}
	q.words = unmarked(q.tokens)
	languages := r.Languages
	if languages == nil {
		languages = english
	}
	outside := unmarked(tokenize(unquoted(question, " ")))
	if i := slices.IndexFunc(languages, func(l Language) bool { return l.speaks(outside) }); i >= 0 {
		q.read(&languages[i])
	}
	return q
}

// unquoted is a text with a mark in place of every byte of its quotations.
func unquoted(text, mark string) string {
	for _, q := range words.Quotations(text) {
		text = text[:q.From] + strings.Repeat(mark, q.To-q.From) + text[q.To:]
	}
	return text
}

// weight returns what a broken rule counts.
func (r Rules) weight(rule Rule) float64 {
	if rule.Weight == 0 && rule.Name == "empty" {
		return r.emptyWeight()
	}
	if rule.Weight == 0 {
		return 1
	}
	return max(rule.Weight, 0)
}

// Spread returns the largest possible difference between the doubts of two candidates with equal results: the
// sum of the weights of the rules on the SQL. Use it as [vote.Majority].MaxDoubt for votes by result.
func (r Rules) Spread() float64 {
	return r.spread(func(Rule) bool { return true })
}

// SpreadAbout is Spread for one question and the candidates with the result of c, which can break fewer rules.
// Use it as [vote.Majority].MaxExtraDoubt for votes by result.
func (r Rules) SpreadAbout(q QuestionFeatures, c vote.Candidate) float64 {
	return r.spread(func(rule Rule) bool { return !rule.silent(q) && (rule.Possible == nil || rule.Possible(q, c)) })
}

func (r Rules) spread(of func(Rule) bool) float64 {
	sum := 0.0
	for _, rule := range r.list() {
		if !rule.OnResult && of(rule) {
			sum += r.weight(rule)
		}
	}
	return sum
}

// OfChecks returns a copy that has only the rules on findings of the checks of package exec: division,
// unjoined, or_and, bare_column, null_in_list, date, constant (see exec.DefaultChecks), name_as_string,
// no_table, absent_value. A strategy.Pipeline without rules uses these, because they report mistakes and do not
// depend on the question.
func (r Rules) OfChecks() Rules {
	r.List = checkedRules()
	return r
}

// With returns a copy with rules added. A rule replaces an existing one with the same name.
func (r Rules) With(rules ...Rule) Rules {
	r.List = slices.Clone(r.list())
	for _, rule := range rules {
		if at := slices.IndexFunc(r.List, func(x Rule) bool { return x.Name == rule.Name }); at >= 0 {
			r.List[at] = rule
		} else {
			r.List = append(r.List, rule)
		}
	}
	return r
}

// Without returns a copy without the named rules.
func (r Rules) Without(names ...string) Rules {
	r.List = except(r.list(), func(rule Rule) bool { return slices.Contains(names, rule.Name) })
	return r
}

func (r Rules) list() []Rule {
	if r.List == nil {
		return defaultRules()
	}
	return r.List
}

// defaultRules are the rules that need nothing but question, statement, result and the findings of checks: on the
// result (empty, any_null, how_many), on the SQL (more_columns, star, sum, group_bare, count_top), and checkedRules.
func defaultRules() []Rule { return slices.Concat(resultRules(), statementRules(), checkedRules()) }
