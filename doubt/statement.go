package doubt

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/vote"
)

// statementRules are the rules on the SQL.
func statementRules() []Rule {
	return []Rule{
		{
			Name: "more_columns", ReadsWords: true, Form: true,
			Source:   "people name what they want to see; who asks for records, or who somebody is, names no column",
			Possible: func(q QuestionFeatures, c vote.Candidate) bool { return manyColumns(q, c.Columns) },
			Broken:   moreColumns,
		},
		{
			Name: "star", ReadsWords: true, Form: true,
			Source:   "people name what they want to see; * is for who asks for everything, or for records",
			Possible: func(q QuestionFeatures, _ vote.Candidate) bool { return !q.Everything && !q.Open },
			Broken: func(in Input) (string, bool) {
				_, all := in.records()
				return "all columns selected, some asked", in.Outline.Star && !all && !in.Question.Everything
			},
		},
		{
			Name: "sum", ReadsWords: true,
			Source:   "a total is a SUM or a COUNT; seen to help in one template family only, so report it apart",
			Possible: func(q QuestionFeatures, _ vote.Candidate) bool { return q.Sum },
			Broken: func(in Input) (string, bool) {
				return "a total asked, nothing added up", in.Question.Sum && !in.calls("SUM", "COUNT", "TOTAL") &&
					!in.ownTotal()
			},
		},
		{
			Name:   "group_bare",
			Source: "a number a group without the group tells nobody what it is of",
			Broken: groupBare,
		},
		{
			Name: "count_top", ReadsWords: true,
			Source:   "a number of things answers a question that asks for one",
			Possible: func(q QuestionFeatures, _ vote.Candidate) bool { return !asksNumber(q) },
			Broken: func(in Input) (string, bool) {
				return "a count selected that was not asked for", !asksNumber(in.Question) && idleCount(in)
			},
		},
	}
}

// ownTotal reports whether a total may stand in a column: in the only row, or in rows of one table that the total
// chooses, or that show it beside another thing that is asked for.
func (in Input) ownTotal() bool {
	q, o := in.Question, in.Outline
	if item := in.totalTaken(); item != "" {
		return q.Has("average/avg/mean") == (item == "AVG")
	}
	if q.Each || len(o.Aggregates) > 0 {
		return false
	}
	if in.Table != nil && len(in.Table.Rows) == 1 && !o.Limit {
		return true
	}
	beside := len(o.Items) > 1 && len(q.Phrases)+len(q.Theirs) > 1
	return len(in.Statement.Tables()) == 1 &&
		slices.ContainsFunc(in.Statement.Columns(), func(c sqlshape.ColumnRef) bool {
			return named(c.Column, "total", "sum", "overall") && (c.Operand || beside)
		})
}

// totalTaken is the aggregate, or the ORDER of a top list, of a column of totals that the question names with its
// thing, as "lowest order total" does, or of which it asks for the average; "": none.
func (in Input) totalTaken() string {
	for _, m := range ofTotal.FindAllStringSubmatch(in.Statement.SQL(), -1) {
		for _, t := range in.Statement.Tables() {
			if strings.EqualFold(m[1], "ORDER") && !in.Outline.Limit {
				continue
			}
			if strings.EqualFold(m[1], "AVG") || in.Question.Has(nounOf(t.Name)+" total/totals") {
				return strings.ToUpper(m[1])
			}
		}
	}
	return ""
}

// ofTotal finds an aggregate, or an order, of a column of totals.
var ofTotal = compile(`(?i)\b(AVG|MIN|MAX|ORDER)\s*(?:\(|BY)\s*(?:\w+\.)?(?:\w+_)?total(?:_\w+)?\b`)

// asksNumber reports whether a count may be what the question asks for.
func asksNumber(q QuestionFeatures) bool { return q.Count || q.Each || q.Sum || q.Open }

// idleCount reports whether a count is selected that neither ranks nor filters groups and is no part of a rate.
func idleCount(in Input) bool {
	o := in.Outline
	used := len(o.GroupBy) > 0 && (o.Having || in.Question.Sorted && len(o.OrderBy) > 0)
	return !used && slices.ContainsFunc(o.Items, func(item sqlshape.SelectItem) bool {
		return slices.Contains(item.Aggregates, "COUNT") && !strings.Contains(item.Text, "/")
	})
}

func moreColumns(in Input) (string, bool) {
	q := in.Question
	if in.Table == nil || !manyColumns(q, len(in.Table.Columns)) {
		return "", false
	}
	// Of orders and their totals an answer shows a key or a name beside the total; of orders alone, what it likes.
	asked, all := in.records()
	asked += q.Columns
	if twoNames(in.Outline.Items) && !q.Has("first/last/middle/forename/forenames/surname/surnames/given/family") {
		asked++
	}
	return "more columns than asked", !all && len(in.Table.Columns) > asked
}

// records counts the tables that the statement reads among the things that the question asks for: records, of which it
// leaves open what to show. all reports that it asks for nothing but these, a person, or yes or no.
func (in Input) records() (n int, all bool) {
	for _, thing := range in.Question.Things {
		if slices.ContainsFunc(in.Statement.Tables(), func(t sqlshape.TableRef) bool { return nounOf(t.Name) == thing }) {
			n++
		}
	}
	return n, in.Question.Open || n > 0 && n == len(in.Question.Things)
}

// manyColumns reports whether n is more columns than the question names.
func manyColumns(q QuestionFeatures, n int) bool {
	return q.Columns > 0 && !q.Everything && n > q.Columns
}

// twoNames reports whether the name of a person is selected in two columns. That is one thing for a person who asks for
// a name.
func twoNames(items []sqlshape.SelectItem) bool {
	var named []string
	for _, item := range items {
		named = append(named, words.OfName(item.Column)...)
	}
	return share(named, strings.Fields("first fore forename firstname fname given")) &&
		share(named, strings.Fields("last sur surname lastname lname family"))
}

func groupBare(in Input) (string, bool) {
	o := in.Outline
	// A column, or an expression over one, may be the group.
	group := func(item sqlshape.SelectItem) bool { return len(item.Aggregates) == 0 }
	grouped := len(o.GroupBy) > 0 && len(o.Aggregates) > 0 && !o.Star
	return "numbers of groups without the groups", grouped && !slices.ContainsFunc(o.Items, group)
}
