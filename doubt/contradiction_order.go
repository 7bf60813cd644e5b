package doubt

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
)

// Superlatives, by what they ask for.
var (
	notUtmost = compile(`(?i)\b(?:at (?:most|least)|most recent(?:ly)?|longest[- ]serving|longest ago|
		least recent(?:ly)?|most of|almost|last names?|first names?)\b`)
	utmost = map[string]*regexp.Regexp{
		"highest": compile(`(?i)\b(?:top|highest|most|largest|greatest|biggest|maximum|max|longest|heaviest|
		tallest|richest|priciest|dearest|best[- ](?:paid|rated|selling))\b`),
		"lowest": compile(`(?i)\b(?:lowest|least|fewest|smallest|minimum|min|shortest|lightest|cheapest|
		poorest)\b`),
		"latest":   compile(`(?i)\b(?:latest|newest|most recent(?:ly)?|youngest)\b`),
		"earliest": compile(`(?i)\b(?:earliest|oldest|longest[- ]serving|longest ago|least recent(?:ly)?)\b`),
	}
	ranked = compile(`(?i)rank|position|place|standing|order|grade|priority|league|tier`)
	aged   = compile(`(?i)(?:^|_)age(?:_|$)|Age$`)
)

// fromTo finds an order of both ends, of which the first counts: newest to oldest.
var fromTo = compile(`(?i)\b(\pL+est|most \pL+) to (?:the )?(?:\pL+est|least \pL+)\b`)

var (
	// endOf finds who did something first or last, and when: "the last to join", "who joined first", "when did Ann last
	// order".
	endOf = compile(`\b(first|last) (?:\pL+ ){0,2}to \pL+|\b(?:who|which) (?:\pL+ )?\pL+ed (first|last)(?:$|
		[?.,])|^when (?:was|were|did|has|have) (?:[\pL\pN]+ ){0,4}(first|last)\b|\b(first|last) \pL+ (?:of|for|
		by|from|per) (?:each|every)\b`)
	bothEnds   = compile(`\bfirst\b.*\blast\b|\blast\b.*\bfirst\b`)
	ordinal    = compile(`\b(?:first|last|second|third)\b`)
	descending = compile(`\bdescending\b|\bin desc|\bz (?:to|-) ?a\b|\bz-a\b|\breverse alphabetical`)
	// fromEnd finds an order by the end at which it begins: "from short to long".
	fromEnd = compile(`\b(?:from )?(?:(low|short|small|cheap|few|light|weak|slow|poor|bad)|(high|long|large|big|
		expensive|many|heavy|strong|fast|rich|good)|(old)|(new)) to (?:low|short|small|cheap|few|light|weak|
		slow|poor|bad|high|long|large|big|expensive|many|heavy|strong|fast|rich|good|old|new)\b`)
	ends = []string{"lowest", "highest", "earliest", "latest"}
)

// lastFew finds a number of things at one end: "the last five orders".
var lastFew = compile(`\b(first|last) <number> (\pL+)`)

// endFirst finds the end of an order that stands first: "newest bookings first".
var endFirst = compile(`\b(?:\pL+est|most recent)(?: \pL+){0,3} first(?:$|[,.?!])`)

// severalEnds reports whether first and last may be of two things, or of a name or a period.
func (h *held) severalEnds() bool {
	return bothEnds.MatchString(h.asked) || relative.MatchString(h.asked) || strings.Contains(h.asked, "first name") ||
		strings.Contains(h.asked, "last name")
}

// askedEnd returns the end of an order that the question asks for, and the word by which it does; "": none, or several.
func (h *held) askedEnd() (asked, word string) {
	text := notUtmost.ReplaceAllStringFunc(h.Question.Text, func(s string) string {
		if utmost["latest"].MatchString(s) || utmost["earliest"].MatchString(s) {
			return s[strings.LastIndexAny(s, " -")+1:] // read below
		}
		return " "
	})
	text, question := fromTo.ReplaceAllString(text, "$1"), fromTo.ReplaceAllString(h.Question.Text, "$1")
	for _, kind := range []string{"highest", "lowest", "latest", "earliest"} {
		of := text
		if kind == "latest" || kind == "earliest" {
			of = question
		}
		if found := utmost[kind].FindString(of); found != "" {
			if asked != "" {
				return "", ""
			}
			asked, word = kind, found
		}
	}

	m := lastFew.FindStringSubmatch(h.asked)
	if m != nil && asked == "" && h.inNames(m[3]) && !bothEnds.MatchString(h.asked) {
		return map[string]string{"first": "earliest", "last": "latest"}[m[1]], m[0]
	}
	names := strings.NewReplacer("first name", "", "last name", "").Replace(endFirst.ReplaceAllString(h.asked, ""))
	end := endOf.FindStringSubmatch(h.asked)
	begins := fromEnd.FindStringSubmatch(h.asked)
	switch {
	case asked != "":
	case end != nil && (end[3]+end[4] == "" || !h.severalEnds()):
		return map[string]string{"first": "earliest", "last": "latest"}[end[1]+end[2]+end[3]+end[4]], cmp.Or(end[3]+end[4], end[0])
	case descending.MatchString(h.asked):
		asked, word = "highest", "descending"
	case begins != nil:
		asked, word = ends[slices.IndexFunc(begins[1:], func(w string) bool { return w != "" })], begins[0]
	}
	if ordinal.MatchString(names) {
		return "", ""
	}
	return asked, word
}

// direction compares highest and lowest, latest and earliest with the order of the statement, or its MAX and MIN.
func (h *held) direction() string {
	asked, word := h.askedEnd()
	if asked == "" || strings.Contains(h.asked, "rank") {
		return ""
	}

	column, descends, ok := h.ordered()
	named := column.Column != ""
	if word == "descending" && (!ok || h.ofTime(column)) || strings.EqualFold(word, "top") && named {
		return ""
	}
	if !ok || column.Column == "" && (asked == "latest" || asked == "earliest") {
		return ""
	}
	isTime, isAge := h.ofTime(column), aged.MatchString(column.Column)
	up := asked == "highest"
	switch {
	case ranked.MatchString(column.Column) && !isTime:
		return ""
	case asked == "latest" || asked == "earliest":
		if !isTime && !isAge {
			return ""
		}
		up = (asked == "latest") != isAge
	case isTime && column.Column != "":
		return ""
	}
	if up == descends {
		return ""
	}
	return fmt.Sprintf("The question says %s, the statement takes the other end: %s.", strings.ToLower(word),
		map[bool]string{true: "the highest first", false: "the lowest first"}[descends])
}

// ordered returns the column by which the outer query orders and cuts off, and whether it takes the highest
// first. column
// is zero for what is computed.
func (h *held) ordered() (column sqlshape.ColumnRef, descends, ok bool) {
	o := h.outline
	if at := slices.IndexFunc(h.selects, func(s sqlshape.Select) bool {
		return s.Nested && len(s.OrderBy) > 0 &&
			s.Limit != ""
	}); !o.Limit && at >= 0 {
		o = sqlshape.Outline{OrderBy: h.selects[at].OrderBy, Items: h.selects[at].Items, Limit: true}
	}
	if len(o.OrderBy) > 0 && (o.Limit || endFirst.MatchString(h.asked) || fromTo.MatchString(h.asked) ||
		descending.MatchString(h.asked) || fromEnd.MatchString(h.asked)) {
		term := strings.ToUpper(o.OrderBy[0])
		term = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(term, "NULLS LAST"), "NULLS FIRST"))
		descends = strings.HasSuffix(term, " DESC")
		name := strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(term, " DESC"), " ASC"))
		for _, item := range o.Items {
			if item.Alias != "" && strings.EqualFold(item.Alias, name) {
				if item.Column == "" {
					return column, descends, !strings.ContainsAny(item.Text, "-/")
				}
				name = strings.ToUpper(item.Text)
			}
		}
		if !strings.Contains(name, "(") {
			name = name[strings.LastIndex(name, ".")+1:]
		}
		if strings.ContainsAny(name, "()-+/*0123456789") {
			return column, descends, (strings.HasPrefix(name, "COUNT(") || strings.HasPrefix(name, "SUM(")) &&
				!strings.ContainsAny(name, "-/")
		}
		for _, c := range h.columns {
			if strings.EqualFold(c.Column, strings.Trim(name, "\"`[]")) {
				return c, descends, true
			}
		}
		return column, descends, false
	}
	most, least := slices.Contains(o.Functions, "MAX"), slices.Contains(o.Functions, "MIN")
	if most == least || o.Limit || len(o.OrderBy) > 0 {
		return column, false, false
	}
	for i := range h.tokens {
		if w := h.word(i); (w == "MAX" || w == "MIN") && h.word(i+1) == "(" {
			end := h.tokens[i+1].Pos
			column = h.columnBehind(end)
			return column, most, column.Column != "" &&
				!strings.ContainsAny(h.Statement.SQL()[end+1:column.Pos], "()")
		}
	}
	return column, false, false
}
