package main

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// costLine is what the rules cost on one database.
type costLine struct {
	DB       string  `json:"db"`
	N        int     `json:"n"`
	Hand50   float64 `json:"rules_hand_p50"`
	Hand95   float64 `json:"rules_hand_p95"`
	Open     int     `json:"unfenced_n"`
	Open50   float64 `json:"unfenced_p50"`
	Open95   float64 `json:"unfenced_p95"`
	Shut50   float64 `json:"fenced_p50"`
	Shut95   float64 `json:"fenced_p95"`
	M        int     `json:"m"`
	Copy50   float64 `json:"rules_copy_p50"`
	Copy95   float64 `json:"rules_copy_p95"`
	Filter50 float64 `json:"hand_copy_p50"`
	Filter95 float64 `json:"hand_copy_p95"`

	toHand, toCopy, filter, open, shut []float64
}

func printCosts(p *program, lines []costLine) error {
	var rows [][]string
	f := func(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }
	for _, l := range lines {
		rows = append(rows, []string{l.DB, strconv.Itoa(l.N), f(l.Hand50), f(l.Hand95), strconv.Itoa(l.Open), f(l.Open50),
			f(l.Open95), f(l.Shut50), f(l.Shut95), strconv.Itoa(l.M), f(l.Copy50), f(l.Copy95), f(l.Filter50), f(l.Filter95)})
	}
	return table(p.out, []string{"db", "n", "rules÷hand p50", "p95", "unfenced", "p50", "p95", "fenced p50", "p95", "m",
		"rules÷copy p50", "p95", "hand÷copy p50", "p95"}, rows)
}

// rounds is how often a statement is timed; the shortest time counts.
const rounds = 9

// cost times statements with the rules, with the same conditions written by hand, and on the copy, in turns.
func (b *rowsBase) cost(ctx context.Context, statements []ruledStatement) (costLine, error) {
	line := costLine{DB: b.id}
	var runners []*exec.Runner
	for _, db := range []*exec.DB{b.ruled, b.whole, b.copied} {
		r, err := db.Runner(within)
		if err != nil {
			return line, err
		}
		defer r.Close()
		runners = append(runners, r)
	}
	for _, s := range statements {
		hand, ok := b.byHand(s.text)
		texts := []string{s.text, cmp.Or(hand, s.text), s.text}
		best, err := fastest(ctx, runners, texts)
		if ctx.Err() != nil {
			return line, ctx.Err()
		}
		if err != nil {
			continue
		}
		line.toCopy = append(line.toCopy, float64(best[0])/float64(best[2]))
		if !ok {
			continue
		}
		ratio := float64(best[0]) / float64(best[1])
		line.toHand, line.filter = append(line.toHand, ratio), append(line.filter, float64(best[1])/float64(best[2]))
		if _, unfenced, _ := ruledQuery(ctx, runners[0], s.text); unfenced {
			line.open = append(line.open, ratio)
		} else {
			line.shut = append(line.shut, ratio)
		}
	}
	line.sum()
	return line, nil
}

// withAll adds a line for all databases, where there are several.
func withAll(lines []costLine) []costLine {
	if len(lines) < 2 {
		return lines
	}
	all := costLine{DB: "all"}
	for _, l := range lines {
		all.toHand, all.toCopy, all.filter = append(all.toHand, l.toHand...), append(all.toCopy, l.toCopy...),
			append(all.filter, l.filter...)
		all.open, all.shut = append(all.open, l.open...), append(all.shut, l.shut...)
	}
	all.sum()
	return append(lines, all)
}

// sum computes the shares of the ratios.
func (l *costLine) sum() {
	at := func(list []float64, share float64) float64 {
		if len(list) == 0 {
			return 0
		}
		slices.Sort(list)
		return list[min(int(share*float64(len(list))), len(list)-1)]
	}
	l.N, l.Hand50, l.Hand95 = len(l.toHand), at(l.toHand, .5), at(l.toHand, .95)
	l.Open, l.Open50, l.Open95 = len(l.open), at(l.open, .5), at(l.open, .95)
	l.Shut50, l.Shut95 = at(l.shut, .5), at(l.shut, .95)
	l.M, l.Copy50, l.Copy95 = len(l.toCopy), at(l.toCopy, .5), at(l.toCopy, .95)
	l.Filter50, l.Filter95 = at(l.filter, .5), at(l.filter, .95)
}

// fastest returns the shortest time of each text on its runner.
func fastest(ctx context.Context, runners []*exec.Runner, texts []string) (best [3]time.Duration, err error) {
	for range rounds {
		for i, r := range runners {
			took, err := r.Time(ctx, texts[i])
			if err != nil {
				return best, err
			}
			if best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return best, nil
}

var plainWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// notByHand are words of statements to which a person would not just add a condition.
var notByHand = regexp.MustCompile(`(?i)\b(?:left|right|full|outer|natural|using|union|except|intersect|with)\b`)

// byHand adds the conditions of the rules to the WHERE clause of a statement that has one SELECT and inner joins only.
func (b *rowsBase) byHand(text string) (string, bool) {
	text = strings.TrimRight(strings.TrimSpace(text), "; \n")
	if notByHand.MatchString(text) || strings.Count(strings.ToLower(text), "select") != 1 {
		return "", false
	}
	l := b.whole.Language()
	s := l.Text.Parse(text)
	var conditions []string
	for _, t := range s.Tables() {
		i := slices.IndexFunc(b.schema.Tables, func(o schema.Table) bool { return schema.EqualFold(o.Name, t.Name) })
		if i < 0 || b.rules[b.schema.Tables[i].Name].text == "" {
			return "", false
		}
		conditions = append(conditions, b.rules[b.schema.Tables[i].Name].written(l.Quote(cmp.Or(t.Alias, t.Name))+"."))
	}
	depth, where, end := 0, -1, len(text)
	for t := range s.Tokens() {
		word := strings.ToLower(t.Text)
		switch {
		case word == "(":
			depth++
		case word == ")":
			depth--
		case depth > 0 || t.Kind != sqltext.Word:
		case word == "where":
			where = t.Pos + len(word)
		case word == "group" || word == "order" || word == "limit" || word == "having":
			end = min(end, t.Pos)
		}
	}
	all := strings.Join(conditions, " AND ")
	switch {
	case all == "":
		return "", false
	case where < 0:
		return fmt.Sprintf("%s WHERE %s %s", text[:end], all, text[end:]), true
	}
	return fmt.Sprintf("%s (%s) AND %s %s", text[:where], text[where:end], all, text[end:]), true
}
