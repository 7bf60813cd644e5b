package doubt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

var (
	denies = compile(`(?i)\b(?:never|without|not|neither|nor|except(?:ing)?|excluding|excluded?|other than|
		besides|apart from|\pL+n['’]t|nobody|no one|nothing|(?:all|any\pL+|every\pL+) but|(?:have|has|had|with|
		are|is|who) no|with none|have none|none of)\b`)
	// allows are phrases that deny nothing.
	allows = compile(`(?i)\b(?:not only|whether or not|if not|or not|not (?:less|more|fewer|later|earlier) than|
		no (?:less|more|fewer|later|earlier|longer)(?: than)?|not just|even (?:if|when|those) .*\b(?:never|not|
		no|none|without)\b|including (?:\pL+ ){0,3}(?:without|with no|with none|have no|had no|never)|
		also (?:\pL+ ){0,3}(?:without|with no|with none|have no)|without (?:repetition|duplicat\w+|repeat\w*|
		counting twice)|not \w+ yet, or|do(?:n['’]t| not) (?:show|list|include|count|need|want|repeat)|
		can['’]?t|doesn['’]t matter|isn['’]t it|other than that|not sure|don['’]t know|no matter|not null)\b`)
	unWord = compile(`(?i)\bun(\pL{4,})`)
)

// negation looks for a part that the question excludes and the statement does not.
func (h *held) negation() string {
	for _, c := range h.constant {
		text := strings.ToLower(strings.Trim(c.text, "%"))
		if c.equal() && !c.number && text != "" && (h.hasPhrase("outside "+text) || h.hasPhrase("outside of "+text)) {
			return fmt.Sprintf("The question says outside %s, the statement keeps %s.", c.text, c.text)
		}
	}
	text := withoutTax.ReplaceAllString(allows.ReplaceAllString(h.Question.Text, " "), " ")
	word := denies.FindString(text)
	if word == "" {
		word = h.unWord(text)
	}
	if word == "" || denies.MatchString(allows.ReplaceAllString(h.Question.Evidence, " ")) {
		return ""
	}
	excluded, careless := h.excludes()
	if slices.ContainsFunc(h.constant, func(c constant) bool { return h.listsOthers(c.column) }) {
		excluded = true
	}
	switch {
	case !excluded && !careless:
		return fmt.Sprintf("The question says %s, the statement excludes nothing.", strings.ToLower(word))
	case strings.EqualFold(word, "never") && !excluded:
		return "The question says never, the statement asks for one that is not."
	}
	return ""
}

// unWord is a word like unpaid, of which the statement has the other part: paid.
func (h *held) unWord(text string) string {
	for _, m := range unWord.FindAllStringSubmatch(text, -1) {
		part := strings.ToLower(m[1])[:4]
		begins := func(name string) bool {
			return slices.ContainsFunc(words.OfName(name), func(w string) bool {
				return len(w) >= 4 &&
					strings.HasPrefix(w, part)
			})
		}
		if slices.ContainsFunc(h.columns, func(c sqlshape.ColumnRef) bool { return begins(c.Column) }) {
			return m[0]
		}
	}
	return ""
}

// excludes reports whether the statement leaves something out; careless says that it does so by an inequality
// alone, which keeps
// rows of things that have others, too. A filter on the state of rows that the question does not name is none.
func (h *held) excludes() (excluded, careless bool) {
	several := len(h.tables) > 1
	for i := range h.tokens {
		w, before := h.word(i), h.word(i-1)
		switch {
		case w == "EXCEPT" || w == "MINUS" || w == "INTERSECT", w == "HAVING", w == "NOT" &&
			before != "IS", w == "CASE", w == "FALSE":
			excluded = true
		case w == "NULL" && before == "IS", w == "ISNULL", w == "<>", w == "!=":
			c := h.columnBefore(h.tokens[i].Pos)
			if careful.MatchString(c.Column) && !h.verbalized(c.Column) && !h.namesState(i) {
				continue
			}
			if (w == "<>" || w == "!=") && several {
				careless = true
			} else {
				excluded = true
			}
		case h.tokens[i].Kind == sqltext.Number && (w == "0" || w == "-1"), h.tokens[i].Kind == sqltext.String &&
			denying.MatchString(h.tokens[i].Text):
			excluded = true
		case w == "<" || w == "<=" || w == ">":
			careless = true
		}
	}
	return excluded, careless || excluded
}

// listsOthers reports whether a statement keeps all stored texts of a column but those that the question names: IN ('done',
// 'withdrawn') for "not open".
func (h *held) listsOthers(of sqlshape.ColumnRef) bool {
	t, column := h.home(of)
	if t == nil || column.Profile == nil || int64(len(column.Profile.Top)) != column.Profile.Distinct {
		return false
	}

	left := 0
	for _, stored := range column.Profile.Top {
		text, ok := stored.Value.(string)
		if !ok {
			return false
		}

		kept := slices.ContainsFunc(h.constant, func(c constant) bool {
			home, same := h.home(c.column)
			return home == t && same == column && c.equal() && c.text == text
		})
		if kept {
			continue
		}
		if !h.named(text) {
			return false
		}
		left++
	}
	return left > 0
}

// denying are texts that say no.
var denying = compile(`(?i)^['"](?:[-%]|n|no|f|false|0|none|n/a)?['"]$|\b(?:not?|non|un\w+|in\w+|never|none)\b|
		^'(?:un|non|in|dis|no[-_ ])`)

// verbalized reports whether the question has a word of a column: not shipped and shipped_at, undeleted and
// deleted_at.
func (h *held) verbalized(column string) bool {
	return slices.ContainsFunc(words.OfName(column), func(w string) bool {
		return !general[w] && (h.related(w) || strings.Contains(h.asked, "un"+w[:min(4, len(w))]) ||
			strings.Contains(h.asked, "in"+w))
	})
}

// namesState reports whether the question names the constant behind the operator at token i.
func (h *held) namesState(i int) bool {
	return i+1 < len(h.tokens) && h.tokens[i+1].Kind == sqltext.String &&
		h.named(h.Statement.Dialect().Value(h.tokens[i+1]))
}

var bothOf = compile(`(?i)\bboth\b.*\band\b|\band also\b|\b(?:with|includ\w+|contain\w*|tagged|have|has|had|
		use[sd]?|bought|take[ns]?|took|speak|offer|like) .*\bas well as\b`)

// both looks for two things that one has to have and of which the statement takes either.
func (h *held) both() string {
	if !bothOf.MatchString(h.Question.Text) || h.Statement.Uses("INTERSECT") || h.Statement.Uses("HAVING") ||
		h.Statement.Uses("CASE") || len(h.outline.Aggregates) > 0 || len(h.outline.GroupBy) > 0 {
		return ""
	}
	seen := map[string]bool{}
	for _, t := range h.Statement.Tables() {
		if seen[strings.ToLower(t.Name)] {
			return "" // by two rows of one table
		}
		seen[strings.ToLower(t.Name)] = true
	}
	var last constant
	for _, c := range h.constant {
		if !c.equal() || !h.named(c.text) {
			continue
		}
		if last.text != "" && strings.EqualFold(last.column.Column, c.column.Column) && (c.op == "IN" ||
			h.word(c.at-2) != "AND" && h.Statement.Uses("OR")) {
			return fmt.Sprintf("The question says both %s and %s, the statement takes either.", last.text, c.text)
		}
		last = c
	}
	return ""
}

var withNone = compile(`(?i)\b(?:including (?:\pL+ ){0,3}(?:without|with no|with none|have no|had no|with zero|
		never)|even (?:if|those|the ones) .*\b(?:no|none|without|not|never)\b|(?:with|including) zeros?\b|
		zeros? included|also (?:\pL+ ){0,2}(?:without|with no)|none included|0 if (?:none|there)|also (?:if|
		when) (?:they|it) ha\w+ no)`)

// including looks for rows without a partner that the question wants kept.
func (h *held) including() string {
	outer := false
	for _, s := range h.selects {
		for i, join := range s.Joined {
			outer = outer || strings.HasPrefix(join, "LEFT") || strings.HasPrefix(join, "RIGHT") ||
				strings.HasPrefix(join, "FULL")
			if strings.HasPrefix(join, "LEFT") && i < len(s.Tables) && h.everyOne() && h.filters(s, s.Tables[i]) {
				return fmt.Sprintf("The question asks for all of them, the condition on %s drops those without.",
					s.Tables[i].Name)
			}
		}
	}
	if outer || len(h.outline.SetOps) > 0 || len(h.tables) < 2 && len(h.Statement.Tables()) < 2 {
		return ""
	}
	if m := withNone.FindString(h.Question.Text); m != "" && !h.scalar() {
		return fmt.Sprintf("The question says %s, the join keeps only those with.", strings.ToLower(m))
	}
	if h.everyOne() {
		return h.dropsSome()
	}
	return ""
}

// everyOne reports whether the question asks for all there are, or for each.
func (h *held) everyOne() bool {
	return h.Question.Has("all *", "every *", "each *") && !h.Question.Has("at all", "in all")
}

// filters reports whether the WHERE of a SELECT asks for a value of a table.
func (h *held) filters(s sqlshape.Select, t sqlshape.TableRef) bool {
	upper := strings.ToUpper(s.Where)
	if s.Where == "" || strings.Contains(upper, "IS NULL") || strings.Contains(upper, " OR ") ||
		strings.Contains(upper, "COALESCE") {
		return false
	}
	return slices.ContainsFunc(h.columns, func(c sqlshape.ColumnRef) bool {
		return inWhere(s, c.Pos) && c.Qualifier != "" &&
			(strings.EqualFold(c.Qualifier, t.Alias) || strings.EqualFold(c.Qualifier, t.Name))
	})
}
