package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// costLine is what the rules cost on one database.
type costLine struct {
	DB       string  `json:"db"`
	N        int     `json:"n"`
	Hand50   float64 `json:"rules_hand_p50"`
	Hand95   float64 `json:"rules_hand_p95"`
	M        int     `json:"m"`
	Copy50   float64 `json:"rules_copy_p50"`
	Copy95   float64 `json:"rules_copy_p95"`
	Filter50 float64 `json:"hand_copy_p50"`
	Filter95 float64 `json:"hand_copy_p95"`
}

func printCosts(p *program, lines []costLine) error {
	var rows [][]string
	f := func(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }
	for _, l := range lines {
		rows = append(rows, []string{l.DB, strconv.Itoa(l.N), f(l.Hand50), f(l.Hand95), strconv.Itoa(l.M), f(l.Copy50), f(l.Copy95), f(l.Filter50), f(l.Filter95)})
	}
	return table(p.out, []string{"db", "n", "rules÷hand p50", "p95", "m", "rules÷copy p50", "p95", "hand÷copy p50", "p95"}, rows)
}

// rounds is how often a statement is timed; the shortest time counts.
const rounds = 9

// cost times statements with the rules, with the same conditions written by hand, and on the copy, in turns.
func (b *rowsBase) cost(ctx context.Context, statements []string) (costLine, error) {
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
	var toHand, toCopy, filter []float64
	for _, text := range statements {
		hand, ok := b.byHand(text)
		texts := []string{text, hand, text}
		var best [3]time.Duration
		failed := false
		for range rounds {
			for i, r := range runners {
				if i == 1 && !ok {
					continue
				}
				took, err := r.Time(ctx, texts[i])
				if ctx.Err() != nil {
					return line, ctx.Err()
				}
				if failed = err != nil; failed {
					break
				}
				if best[i] == 0 || took < best[i] {
					best[i] = took
				}
			}
			if failed {
				break
			}
		}
		if failed {
			continue
		}
		toCopy = append(toCopy, float64(best[0])/float64(best[2]))
		if ok {
			toHand, filter = append(toHand, float64(best[0])/float64(best[1])), append(filter, float64(best[1])/float64(best[2]))
		}
	}
	at := func(list []float64, share float64) float64 {
		if len(list) == 0 {
			return 0
		}
		slices.Sort(list)
		return list[min(int(share*float64(len(list))), len(list)-1)]
	}
	line.N, line.Hand50, line.Hand95 = len(toHand), at(toHand, .5), at(toHand, .95)
	line.M, line.Copy50, line.Copy95 = len(toCopy), at(toCopy, .5), at(toCopy, .95)
	line.Filter50, line.Filter95 = at(filter, .5), at(filter, .95)
	return line, nil
}

var plainWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// notByHand are words of statements to which a person would not just add a condition.
var notByHand = regexp.MustCompile(`(?i)\b(?:left|right|full|outer|natural|using|union|except|intersect|with)\b`)

// byHand adds the conditions of the rules to the WHERE clause of a statement that has one SELECT and inner joins only.
func (b *rowsBase) byHand(text string) (string, bool) {
	d := b.whole.Language().Text
	text = strings.TrimRight(strings.TrimSpace(text), "; \n")
	if notByHand.MatchString(text) || strings.Count(strings.ToLower(text), "select") != 1 {
		return "", false
	}
	tokens := []sqltext.Token{}
	for t := range d.Tokens(text) {
		if strings.TrimSpace(t.Text) != "" {
			tokens = append(tokens, t)
		}
	}
	word := func(i int) string {
		if i >= len(tokens) || tokens[i].Kind != sqltext.Word {
			return ""
		}
		return strings.ToLower(tokens[i].Text)
	}
	var conditions []string
	depth, inFrom, expect, where, end := 0, false, false, -1, len(text)
	for i := 0; i < len(tokens); i++ {
		switch tokens[i].Text {
		case "(":
			depth++
			if expect {
				return "", false
			}
		case ")":
			depth--
		}
		if depth > 0 {
			continue
		}
		switch w := word(i); {
		case w == "from":
			inFrom, expect = true, true
		case w == "where":
			inFrom, where = false, tokens[i].Pos+len("where")
		case w == "group" || w == "order" || w == "limit" || w == "having":
			inFrom = false
			end = min(end, tokens[i].Pos)
		case inFrom && (w == "join" || tokens[i].Text == ","):
			expect = true
		case expect && w != "inner" && w != "cross":
			expect = false
			name := strings.Trim(tokens[i].Text, "\"`[]'")
			prefix := tokens[i].Text
			if word(i+1) == "as" {
				i++
			}
			if next := word(i + 1); next != "" && !slices.Contains([]string{"join", "inner", "cross", "on", "where", "group", "order", "limit", "having"}, next) {
				i++
				prefix = tokens[i].Text
			}
			found := false
			for table, r := range b.rules {
				if strings.EqualFold(table, name) {
					conditions, found = append(conditions, r.written(prefix+".")), true
				}
			}
			if !found {
				return "", false
			}
		}
	}
	if len(conditions) == 0 {
		return "", false
	}
	all := strings.Join(conditions, " AND ")
	if where < 0 {
		return fmt.Sprintf("%s WHERE %s %s", text[:end], all, text[end:]), true
	}
	return fmt.Sprintf("%s (%s) AND %s %s", text[:where], text[where:end], all, text[end:]), true
}
