package doubt

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

// Asked returns rules that hold the shape of a statement and of its result against what the question asks for
// (QuestionFeatures.Asks): value_rows, no_aggregate, no_group, no_order, limit and aggregate. They are no part of Default; their
// weights are those of agent.Staged, with which they come.
func Asked() []Rule {
	const source = "the checks of an agent's ladder; see docs/lab/agent.md for what they are worth"
	rule := func(name, asks string, weight float64, detail string, broken func(Input) bool) Rule {
		return Rule{
			Name: name, ReadsWords: true, Weight: weight, Source: source,
			Possible: func(q QuestionFeatures, _ vote.Candidate) bool { return asks == "" || q.Asks == asks },
			Broken: func(in Input) (string, bool) {
				return detail, (asks == "" || in.Question.Asks == asks) && broken(in)
			},
		}
	}
	rows := rule("value_rows", "value", 2, "one number asked, not one row", func(in Input) bool { return len(in.Table.Rows) != 1 })
	rows.OnResult = true
	return []Rule{
		rows,
		rule("no_aggregate", "value", 3, "one number asked, nothing aggregated", func(in Input) bool {
			return !in.calls("COUNT", "SUM", "TOTAL", "AVG", "MIN", "MAX")
		}),
		rule("no_group", "groups", 3, "numbers by group asked, nothing grouped", func(in Input) bool {
			return !in.Statement.Uses("GROUP") && !in.Statement.Uses("OVER") && !in.Statement.Uses("DISTINCT")
		}),
		rule("no_order", "ranking", 3, "a ranking asked, nothing ordered", func(in Input) bool {
			return !in.Statement.Uses("ORDER") && !in.calls("MIN", "MAX")
		}),
		rule("limit", "", 2, "rows cut off that were not said to be too many", func(in Input) bool {
			return in.Outline.Limit && !in.Question.Sorted
		}),
		rule("aggregate", "list", 1, "a list asked, aggregated to one row", func(in Input) bool {
			return len(in.Outline.Aggregates) > 0 && len(in.Outline.GroupBy) == 0
		}),
	}
}

// calls reports whether the statement calls one of these functions, which are in upper case.
func (in Input) calls(functions ...string) bool {
	return slices.ContainsFunc(in.Outline.Functions, func(f string) bool { return slices.Contains(functions, f) })
}

// Absent returns a rule that a value which the question names stands in the statement: in one of its texts, whatever
// the case, or as a number. It is called value_absent and weighs 2.
func Absent(value string) Rule {
	return Rule{
		Name: "value_absent", Weight: 2,
		Source: "who names a value wants it used",
		Broken: func(in Input) (string, bool) {
			for t := range in.Statement.Tokens() {
				// SQLite takes "x" for a text where no column is called so.
				written := t.Kind == sqltext.String || t.Kind == sqltext.Number || t.Kind == sqltext.QuotedName
				if written && strings.Contains(strings.ToLower(in.Statement.Dialect().Value(t)), strings.ToLower(value)) {
					return "", false
				}
			}
			return "a value that the question names is not used", true
		},
	}
}

// numeral is a number of three digits or more, with or without commas.
var numeral = regexp.MustCompile(`^(?:\d{1,3}(?:,\d{3})+|\d{3,})$`)

// Numbers are the numbers of three digits or more that the question names, without commas, each once.
func (q QuestionFeatures) Numbers() (numbers []string) {
	for run := range strings.FieldsFuncSeq(q.Text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.Nd) && !strings.ContainsRune("_.,", r) }) {
		n := strings.Trim(run, ".,")
		if plain := strings.ReplaceAll(n, ",", ""); numeral.MatchString(n) && !slices.Contains(numbers, plain) {
			numbers = append(numbers, plain)
		}
	}
	return numbers
}
