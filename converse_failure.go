package texttosql

import (
	"errors"
	"slices"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// maxAttempt bounds what a record keeps of a statement that was tried, in bytes.
const maxAttempt = 4 << 10

// attempts lists the statements that were tried, each once, with what was wrong with it.
func attempts(res *Result) []session.Attempt {
	if res == nil {
		return nil
	}
	var all []session.Attempt
	add := func(sql, problem string) {
		a := session.Attempt{SQL: words.Cut(sql, maxAttempt), Error: strategy.ErrorLine(llm.Scrub(problem), false)}
		if sql != "" && len(all) < maxAttempts && !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	for _, s := range res.Steps {
		add(s.SQL, s.Problem)
	}
	for _, c := range res.Candidates {
		add(c.SQL, c.Rejected)
	}
	return all
}

// tables returns the tables that the linker chose; nil: all.
func tables(res *Result) []schema.TableName {
	if res == nil || res.Links.Whole {
		return nil
	}
	var names []schema.TableName
	for _, t := range res.Links.Tables {
		names = append(names, t.Name())
	}
	return names
}

// failure is what a session keeps of an error that ended a question.
func (s *Conversation) failure(r *session.Record, res *Result, err error) *session.Failure {
	var f session.Failure
	if told := interface{ Summary() session.Failure }(nil); errors.As(err, &told) {
		f = told.Summary()
	} else {
		f = session.Failure{Tables: tables(res), Attempts: attempts(res)}
		f.Iterations = len(f.Attempts)
		if advice := Failure(err).Advice; advice != "" {
			f.Recommendations = []string{advice}
		}
	}
	f.Question, f.Corrections = r.Turns[r.Turn()].Text, r.Corrected()
	f.Error, f.Message = strategy.ErrorLine(llm.Scrub(err.Error()), false), Failure(err).Message
	if f.Corrections >= s.mostCorrections() {
		f.Recommendations = append(f.Recommendations, "All corrections of this question are used: ask it in other words, or write the SQL by hand.")
	}
	return &f
}
