package vote

import "strings"

// ResultRules returns the rules on results: empty, any_null, how_many,
// superlative, echo.
func ResultRules() []Rule {
	return []Rule{
		{
			Name:     "empty",
			Source:   "people rarely ask for what is not there; where they do, the other answers are empty too",
			OnResult: true,
			Broken: func(in RuleInput) (string, bool) {
				return "no rows", in.Table.Empty() && !in.Table.Truncated
			},
		},
		{
			Name:     "any_null",
			Source:   "a NULL in an answer is mostly an outer join, or an aggregate over nothing, that was not asked for",
			OnResult: true,
			Broken:   anyNull,
		},
		{
			Name:       "how_many",
			Source:     "a question for one number has an answer of one row",
			ReadsWords: true,
			OnResult:   true,
			Broken: func(in RuleInput) (string, bool) {
				return "one number asked, not one row", in.Question.HowMany && !in.Question.Each && len(in.Table.Rows) != 1
			},
		},
		{
			Name:       "superlative",
			Source:     "the most, first or best of something that is asked for in the singular is one row",
			ReadsWords: true,
			OnResult:   true,
			Broken: func(in RuleInput) (string, bool) {
				q := in.Question
				return "one extreme asked, several rows", q.Superlative && q.Single && !q.Each && !q.TopN && len(in.Table.Rows) > 1
			},
		},
		{
			Name:     "echo",
			Source:   "a column that repeats a word of the question tells nothing",
			OnResult: true,
			Broken:   echo,
		},
	}
}

func anyNull(in RuleInput) (string, bool) {
	for _, row := range in.Table.Rows {
		for _, v := range row {
			if v == nil {
				return "a value is NULL", true
			}
		}
	}
	return "", false
}

func echo(in RuleInput) (string, bool) {
	t := in.Table
	if len(t.Rows) == 0 {
		return "", false
	}
	for col, v := range t.Rows[0] {
		s, ok := v.(string)
		if !ok || len(s) <= 2 || !strings.Contains(in.Question.Text, s) {
			continue
		}
		constant := true
		for _, row := range t.Rows[1:] {
			if col >= len(row) || row[col] != v {
				constant = false
				break
			}
		}
		if constant {
			return "a column repeats the question", true
		}
	}
	return "", false
}
