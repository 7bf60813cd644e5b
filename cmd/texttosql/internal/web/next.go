package web

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/summary"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/sqltext"
)

// maxNext is how many questions are offered behind an answer.
const maxNext = 3

// next makes questions that may come behind an answer, of its statement and the schema alone: the same by month and by
// a category that its tables have and it does not use, and what share of the whole each group has.
func (s *Server) next(res *texttosql.Result) (all []string) {
	if s.DB == nil || res.SQL == "" || res.Rows == nil {
		return nil
	}
	known, err := s.Engine.Schema(context.WithoutCancel(s.ctx))
	if err != nil {
		return nil
	}
	statement := s.DB.Language().Text.Parse(res.SQL)
	used := map[string]bool{}
	for _, c := range statement.Columns() {
		used[strings.ToLower(c.Column)] = true
	}
	add := func(question string) {
		if question = visible(question); len(all) < maxNext && len(question) < 120 && !slices.Contains(all, question) {
			all = append(all, question)
		}
	}
	charts := series(res.Rows.Shown(), asked{})
	outline := statement.Outline()
	if len(charts) > 0 && charts[0].Kind == "bars" && addsUp(outline) {
		add("What share of the total does each have?")
	}
	for _, t := range tablesOf(statement, known) {
		if at := event(t); at != "" && !used[strings.ToLower(at)] && len(outline.Aggregates) > 0 {
			add("And by month?")
		}
		if by := column(t, sorts, nil); by != "" && !used[strings.ToLower(by)] {
			add("And for each " + said(by) + "?")
		}
	}
	if many, sure := subject(statement, known); sure && res.Rows.Truncated {
		add("How many " + many + " are there?")
	}
	return all
}

// unasked are the questions that a conversation has not had, in these words or in others.
func unasked(all []string, r session.Record) []string {
	return slices.DeleteFunc(all, func(question string) bool {
		return slices.ContainsFunc(r.Turns, func(t session.Turn) bool {
			had := strings.ToLower(t.Text)
			core := strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(question), "and "), "?")
			return strings.Contains(had, core) || strings.Contains(core, "share") && shared.MatchString(had)
		})
	})
}

var shared = regexp.MustCompile(`\b(share|percent\w*|part|proportion)\b|%`)

// addsUp reports whether the values of groups are parts of a whole: all of them are sums or counts, and none is a
// quotient or of different values.
func addsUp(of sqlshape.Outline) bool {
	return len(of.Aggregates) > 0 && !slices.ContainsFunc(of.Aggregates, func(name string) bool {
		return name != "SUM" && name != "COUNT" && name != "TOTAL"
	}) && !slices.ContainsFunc(of.Items, func(it sqlshape.SelectItem) bool {
		return len(it.Aggregates) > 0 && noPart.MatchString(it.Text)
	})
}

var noPart = regexp.MustCompile(`(?i)/|\bdistinct\b`)

// tablesOf are the tables that a statement reads.
func tablesOf(statement *sqltext.Statement, known *schema.Schema) (read []schema.Table) {
	for _, t := range known.Tables {
		if slices.ContainsFunc(statement.Tables(), func(r sqlshape.TableRef) bool {
			return strings.EqualFold(r.Name, t.Name)
		}) {
			read = append(read, t)
		}
	}
	return read
}

// subject is what the only table of a statement holds, as a plural.
func subject(statement *sqltext.Statement, known *schema.Schema) (many string, sure bool) {
	if all := tablesOf(statement, known); len(all) == 1 {
		return summary.Plural(all[0].Name)
	}
	return "", false
}
