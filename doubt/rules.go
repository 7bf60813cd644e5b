package doubt

import (
	"slices"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

// Rule is one reason to doubt an answer: a statement or its result does not fit the question. A broken rule is a
// finding on the candidate, never a veto. Rules are plain values: make your own, change or drop those of [Default].
// Safe for concurrent use where Broken is.
type Rule struct {
	Name   string  // stable name of the finding
	Source string  // why anyone should believe in the rule
	Weight float64 // doubt of one broken rule; 0: 1; negative: none, the finding is information

	// ReadsWords says that the rule reads the words of the question. It is then silent when the question is in no
	// language of Rules.Languages.
	ReadsWords bool
	// OnResult says that the verdict depends on the question and the result alone, so that candidates with equal
	// results agree on it. It is silent without a result.
	OnResult bool

	// Possible reports whether a statement with the result of c can break the rule at all. A vote stops sooner where
	// few rules can be broken: see Rules.SpreadAbout. nil: every statement can.
	Possible func(q QuestionFeatures, c vote.Candidate) bool

	// Broken reports whether the rule is broken, and what is wrong in a few words for a person ("more columns than
	// asked"), without a stored value. A rule with nil is silent.
	Broken func(Input) (detail string, broken bool)
}

// silent reports whether no candidate can break the rule.
func (r Rule) silent(q QuestionFeatures) bool {
	return r.Broken == nil || r.ReadsWords && q.Language == ""
}

// Input is what a rule may look at. It has no right answer.
type Input struct {
	Question  QuestionFeatures   // the question as Rules.Read read it
	Statement *sqltext.Statement // the statement of the candidate
	Outline   sqltext.Outline    // the outline of Statement; zero for a rule with OnResult
	Table     *result.Table      // nil when the statement was not executed
	Findings  []vote.Finding     // the findings of the candidate so far, as its checks left them
}

// Rules finds the broken rules of candidates, live and in replay. The zero Rules has the rules of [Default] and reads
// English. It is plain data; With and Without return copies. Safe for concurrent use where its functions are.
type Rules struct {
	List      []Rule          // nil: Default
	Languages []Language      // nil: English
	Dialect   sqltext.Dialect // reads the SQL of candidates without a Statement; the zero Dialect is SQLite

	// EmptyAnswerRate is how often the right answer to a question of this application has no value: no rows, or nothing but
	// NULL. The rule empty weighs 1 − ½ ln(EmptyAnswerRate ÷ 0.05), in 0..3, unless it has a Weight. 0: it is learned from
	// confirmed answers where the strategy has some (see EmptyAnswerRate), else 0.05.
	EmptyAnswerRate float64
}

// Find returns the findings of the broken rules for a candidate and its result, in the order of the rules. t is nil
// when the candidate was not executed. With several candidates for a question, read it once and call About.
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
			findings = append(findings, vote.Finding{Rule: rule.Name, Detail: detail, Doubt: r.weight(rule)})
		}
	}
	return findings
}

// Read reads a question and its evidence for [Rules.About].
func (r Rules) Read(question, evidence string) QuestionFeatures {
	q := QuestionFeatures{Text: question, Evidence: evidence, tokens: tokenize(question)}
	q.words = unmarked(q.tokens)
	unquoted := []byte(question)
	for _, quoted := range words.Quotations(question) {
		for i := quoted.From; i < quoted.To; i++ {
			unquoted[i] = ' '
		}
	}
	languages := r.Languages
	if languages == nil {
		languages = english
	}
	outside := unmarked(tokenize(string(unquoted)))
	if i := slices.IndexFunc(languages, func(l Language) bool { return l.speaks(outside) }); i >= 0 {
		q.read(&languages[i])
	}
	return q
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

// Spread returns by how much the doubts of two candidates with equal results can differ: the weights of the rules on
// the SQL, added up. It is [vote.Majority].MaxDoubt for votes by result.
func (r Rules) Spread() float64 {
	return r.spread(func(Rule) bool { return true })
}

// SpreadAbout is Spread for one question and the candidates with the result of c, which can break fewer rules. It is
// [vote.Majority].MaxExtraDoubt for votes by result.
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

// With returns a copy with rules added. A rule replaces one of the same name.
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

// Without returns a copy without the rules of these names.
func (r Rules) Without(names ...string) Rules {
	r.List = slices.DeleteFunc(slices.Clone(r.list()), func(rule Rule) bool { return slices.Contains(names, rule.Name) })
	return r
}

func (r Rules) list() []Rule {
	if r.List == nil {
		return Default()
	}
	return r.List
}

// Default returns the rules that need nothing but question, statement, result and the findings of checks: on the result
// (empty, any_null, how_many), on the SQL (more_columns, star, sum, negation, group_bare, count_top), and those of
// Checked.
func Default() []Rule { return slices.Concat(resultRules(), statementRules(), Checked()) }
