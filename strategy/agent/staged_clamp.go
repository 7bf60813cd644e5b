package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// clamp is a change to a statement that a question may want.
type clamp struct {
	name string
	make func(*sqltext.Statement) sqlshape.Rewrite // the zero Rewrite: it does not apply
}

// clamps are those of a question. ORDER BY goes with LIMIT: alone it changes no bag of rows.
func clamps(q doubt.QuestionFeatures, c contract, values []string) (list []clamp) {
	if len(values) > 0 {
		list = append(list, clamp{"stored_value", func(s *sqltext.Statement) sqlshape.Rewrite {
			return sqlshape.Rewrite{Texts: otherCase(s, values)}
		}})
	}
	if q.Language == "" {
		return list
	}
	if !q.Sorted {
		list = append(list, clamp{"without_limit", func(s *sqltext.Statement) sqlshape.Rewrite {
			o := s.Outline()
			return sqlshape.Rewrite{NoLimit: o.Limit, NoOrder: o.Limit}
		}})
	}
	switch q.Asks {
	case "value":
		list = append(list, clamp{"without_group", func(s *sqltext.Statement) sqlshape.Rewrite {
			o := s.Outline()
			kept := slices.DeleteFunc(slices.Clone(o.Items), func(item sqlshape.SelectItem) bool { return item.Column != "" })
			if len(o.GroupBy) == 0 || o.Having || len(o.Aggregates) == 0 {
				return sqlshape.Rewrite{}
			}
			return sqlshape.Rewrite{NoGroup: true, NoOrder: true, Items: texts(kept)}
		}})
	case "groups":
		list = append(list, clamp{"group_key", func(s *sqltext.Statement) sqlshape.Rewrite {
			o := s.Outline()
			missing := slices.DeleteFunc(slices.Clone(o.GroupBy), func(key string) bool {
				return slices.ContainsFunc(o.Items, func(item sqlshape.SelectItem) bool {
					return item.Text == key || item.Alias == key
				})
			})
			if len(missing) < len(o.GroupBy) || len(missing) == 0 || len(o.Aggregates) < len(o.Items) {
				return sqlshape.Rewrite{}
			}
			return sqlshape.Rewrite{Items: append(missing, texts(o.Items)...)}
		}})
	}
	if c != nil {
		list = append(list, clamp{"projection", func(s *sqltext.Statement) sqlshape.Rewrite {
			return sqlshape.Rewrite{Items: c.project(s.Outline().Items)}
		}})
	}
	return list
}

// otherCase are the text literals of a statement that are a stored value in letters of another case, with that value.
func otherCase(s *sqltext.Statement, values []string) map[string]string {
	texts := map[string]string{}
	for _, l := range s.Literals() {
		for _, v := range values {
			if l.Kind == sqlshape.String && l.Value != v && strings.EqualFold(l.Value, v) && !slices.Contains(values, l.Value) {
				texts[l.Value] = v
			}
		}
	}
	return texts
}

// caseRule doubts such a literal, which most engines tell from the value.
func caseRule(values []string) doubt.Rule {
	return doubt.Rule{
		Name: "value_case", Weight: 1,
		Source: "who names a value as it is stored wants it compared so",
		Broken: func(in doubt.Input) (string, bool) {
			return "a value that the question names has letters of another case", len(otherCase(in.Statement, values)) > 0
		},
	}
}

func texts(items []sqlshape.SelectItem) (list []string) {
	for _, item := range items {
		list = append(list, item.Text)
	}
	return list
}

// form is a statement of a sample, or a variant of it.
type form struct {
	vote.Candidate
	variant string // the clamps that made it; "": as it was written
}

// forms are a candidate and what clamps make of it, each alone and on top of those before it.
func (l *ladder) forms(ctx context.Context, c vote.Candidate) ([]form, error) {
	all := []form{{Candidate: c}}
	seen := map[string]bool{c.SQL: true}
	for _, clamp := range l.clamps {
		for _, f := range slices.Clone(all) {
			statement := f.Parsed(l.env.DB.Language().Text)
			sql, changed := statement.Rewrite(clamp.make(statement))
			if !changed || seen[sql] {
				continue
			}
			seen[sql] = true
			made, err := l.examiner.ExamineSQL(ctx, c.Sample, c.Model, sql)
			if err != nil {
				return all, cmp.Or(ctx.Err(), error(&strategy.DatabaseError{Err: err}))
			}
			if made.Rejected == "" {
				made.ReplyGroup = c.ReplyGroup
				all = append(all, form{made, join(f.variant, clamp.name)})
			}
		}
	}
	return all, ctx.Err()
}

func join(a, b string) string { return strings.TrimPrefix(a+"+"+b, "+") }

// clamp puts the least doubted form in the place of each candidate of a step that runs. A variant must be doubted less
// than what was written.
func (l *ladder) clamp(ctx context.Context, step []vote.Candidate) error {
	ctx, span := trace.Start(ctx, "clamp")
	defer span.End()
	for i, c := range step {
		if c.Rejected != "" {
			continue
		}
		forms, err := l.forms(ctx, c)
		best := slices.MinFunc(forms, func(a, b form) int { return cmp.Compare(penalty(a.Candidate), penalty(b.Candidate)) })
		if best.variant != "" {
			best.Findings = append(slices.Clip(best.Findings), vote.Finding{Rule: "clamped", Detail: best.variant})
			l.clamped[c.Sample] = true
		}
		step[i] = best.Candidate
		for _, f := range forms {
			told := formReport{Sample: c.Sample, Variant: f.variant, SQL: f.SQL, Penalty: penalty(f.Candidate), Rows: f.Rows,
				Chosen: f.variant == best.variant}
			l.report.Forms = append(l.report.Forms, told)
			span.Event("form", trace.Attr{Key: "sample", Value: told.Sample}, trace.Attr{Key: "variant", Value: told.Variant},
				trace.Attr{Key: "sql", Value: trace.PrivateSQL.Secret(f.SQL)}, trace.Attr{Key: "rows", Value: f.Rows},
				trace.Attr{Key: "penalty", Value: told.Penalty}, trace.Attr{Key: "chosen", Value: told.Chosen})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
