package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/lab/stats"
	"github.com/texttosql/texttosql/linker"
)

// termsLine is what words say of the tables of a gold, with something beside the question or without.
type termsLine struct {
	Dataset   string         `json:"dataset"`
	Beside    string         `json:"beside"`
	N         int            `json:"n"`
	TableFull float64        `json:"table_full"`
	Interval  stats.Interval `json:"interval"`
	Gain      *eval.Estimate `json:"gain,omitempty"`
	Kept      float64        `json:"tables_kept"`
	First     float64        `json:"first_full"`
	FirstGain *eval.Estimate `json:"first_gain,omitempty"`
	Terms     float64        `json:"terms"`
}

// The things that stand beside a question.
const (
	besideNothing  = "nothing"
	besideTerms    = "terms of other questions"
	besideShifted  = "their words for other columns" // the control: as many terms, each for the column of another one
	besideEvidence = "its own evidence"
)

// terms compares what words keep without evidence, with terms that people wrote for other questions of the database, and with the
// question's own evidence.
func (l *link) terms(ctx context.Context, p *program, questions []*linked) error {
	var lines []termsLine
	var without [2][]eval.Outcome // of the first line: all that words keep, the best tables alone
	found := map[string][]mined{}
	for _, x := range questions {
		found[x.DB] = append(found[x.DB], x.mine()...)
	}
	for _, beside := range []string{besideNothing, besideTerms, besideShifted, besideEvidence} {
		line := termsLine{Dataset: l.Dataset, Beside: beside, N: len(questions)}
		var outcomes [2][]eval.Outcome
		full, tables := 0., 0.
		for _, x := range questions {
			in := x.input()
			in.WithoutValues = true
			if beside != besideEvidence {
				in.Evidence = ""
			}
			if beside == besideTerms || beside == besideShifted {
				in.Knowledge = x.model(found[x.DB], beside == besideShifted)
				line.Terms += float64(len(in.Knowledge.Terms)) / float64(len(questions))
			}
			for i, l := range []linker.Lexical{{}, {Tables: firstTables, Fill: true}} {
				links, err := l.Link(ctx, in)
				if err != nil {
					return err
				}
				shown, _ := x.env.Schema.Restrict(links)
				score := whole(x.among(shown.Tables), len(x.tables))
				outcomes[i] = append(outcomes[i], eval.Outcome{Question: x.ID, Database: x.DB, Score: score})
				if i == 1 {
					line.First += score / float64(line.N)
					continue
				}
				full += score
				line.Kept, tables = line.Kept+float64(len(shown.Tables)), tables+float64(len(x.env.Schema.Tables))
			}
		}
		line.TableFull, line.Kept, line.Interval = full/float64(line.N), line.Kept/tables, stats.Wilson(int(full), line.N, .95)
		if beside == besideNothing {
			without = outcomes
		} else {
			for i, gain := range []**eval.Estimate{&line.Gain, &line.FirstGain} {
				pairs, err := stats.Pairs(without[i], outcomes[i])
				if err != nil {
					return err
				}
				*gain = new(stats.Difference(eval.Bootstrap{}, pairs))
			}
		}
		lines = append(lines, line)
	}
	if l.JSON {
		return jsonLines(p.out, lines)
	}
	var rows [][]string
	for _, t := range lines {
		rows = append(rows, []string{
			t.Beside, strconv.Itoa(t.N), share(t.TableFull), share(t.Interval.Low) + " to " + share(t.Interval.High), gained(t.Gain), share(t.Kept),
			share(t.First), gained(t.FirstGain), fmt.Sprintf("%.0f", t.Terms),
		})
	}
	return table(p.out, []string{
		"beside the question", "n", "all tables", "95 %", "gain in points", "tables kept", fmt.Sprint("in the best ", firstTables), "gain in points", "terms",
	}, rows)
}

// firstTables is how many tables are kept where each line keeps as many.
const firstTables = 3

func gained(e *eval.Estimate) string {
	if e == nil {
		return "–"
	}
	return fmt.Sprintf("%s (%s to %s)", points(e.Value), points(e.Low), points(e.High))
}

// mined is a term that the evidence of a question tells.
type mined struct {
	of   *linked
	term knowledge.Term
}

// model has every table of the schema by its name, and the terms that the evidence of other questions tells. Where they are shifted,
// each has the column of the term that is half of them away.
func (x *linked) model(all []mined, shifted bool) *knowledge.Model {
	m := &knowledge.Model{}
	for _, t := range x.env.Schema.Tables {
		m.Tables = append(m.Tables, knowledge.Table{Name: t.Name})
	}
	for _, f := range all {
		if f.of != x && f.of.Text != x.Text && f.of.Evidence != x.Evidence {
			m.Terms = append(m.Terms, f.term)
		}
	}
	if !shifted {
		return m
	}
	right := slices.Clone(m.Terms)
	for i := range m.Terms {
		m.Terms[i].Expr = right[(i+len(right)/2)%len(right)].Expr
	}
	return m
}

// saying parts a clause of evidence into the words and what they stand for: "female refers to gender = 'F'".
var saying = regexp.MustCompile(`(?i)^(.+?)(?:\s+(?:refers? to|means?|stands? for|represents?(?: for)?|contains?|` +
	`(?:is|are|can be|could be) (?:presented|represented|found|calculated|computed)(?: (?:by|as|in|with))?)\s+|\s*=\s*)(.+)$`)

// mine reads the evidence of a question: each clause whose one half names columns that its gold reads, and whose other half says
// in words what they are.
func (x *linked) mine() (list []mined) {
	for clause := range strings.FieldsFuncSeq(x.Evidence, func(r rune) bool { return r == ';' || r == '\n' }) {
		halves := saying.FindStringSubmatch(strings.TrimSpace(clause))
		if halves == nil {
			continue
		}
		said, columns := halves[1], x.columnsIn(halves[2])
		if len(columns) == 0 { // "A3 stands for region names"
			said, columns = halves[2], x.columnsIn(halves[1])
		}
		for _, c := range columns {
			expr := strconv.Quote(c[0]) + "." + strconv.Quote(c[1])
			list = append(list, mined{x, knowledge.Term{Words: []string{said}, Expr: expr}})
		}
	}
	return list
}

// columnsIn are the columns of the gold that a text names.
func (x *linked) columnsIn(text string) (found [][2]string) {
	for _, t := range x.env.Schema.Tables {
		for _, c := range t.Columns {
			named := regexp.MustCompile(`(?i)(^|[^\w])` + regexp.QuoteMeta(c.Name) + `($|[^\w])`)
			if x.columns[t.Name+"."+c.Name] && named.MatchString(text) {
				found = append(found, [2]string{t.Name, c.Name})
			}
		}
	}
	return found
}

// checkTerms refuses what the comparison of terms does not heed.
func (l *link) checkTerms() error {
	if l.Terms && (l.pool() != "" || l.Columns) {
		return errors.New("--terms compares words alone: leave --presql, --verdicts and --columns out")
	}
	return nil
}
