package doubt

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
)

// Superlatives, by what they ask for.
var (
	notUtmost = compile(`(?i)\b(?:at (?:most|least)|most recent(?:ly)?|longest[- ](?:serving|standing)|longest ago|
		least recent(?:ly)?|most of|almost|last names?|first names?)\b`)
	latest   = compile(`(?i)\b(?:latest|newest|most recent(?:ly)?|youngest)\b`)
	earliest = compile(`(?i)\b(?:earliest|oldest|longest[- ](?:serving|standing)|longest ago|least recent(?:ly)?)\b`)
	utmost   = []struct {
		end    string
		form   *regexp.Regexp
		ofTime bool
	}{
		{"highest", compile(`(?i)\b(?:top|highest|most|largest|greatest|biggest|maximum|max|longest|heaviest|
			tallest|richest|priciest|dearest|best[- ](?:paid|rated|selling))\b`), false},
		{"lowest", compile(`(?i)\b(?:lowest|least|fewest|smallest|minimum|min|shortest|lightest|cheapest|
			poorest|bottom <number>|worst[- ](?:paid|rated|selling))\b`), false},
		{"latest", latest, true},
		{"earliest", earliest, true},
	}
	ranked = compile(`(?i)rank|position|place|standing|order|grade|priority|league|tier`)
	aged   = compile(`(?i)(?:^|_)age(?:_|$)|Age$`)
)

// topOf finds a top that only says how many: top 5 cheapest.
var topOf = compile(`\btop(?: <number>)? (<utmost>\b)`)

// fromTo finds an order of both ends, of which the first counts: newest to oldest.
var fromTo = compile(`(?i)\b(\pL+est|most \pL+) to (?:the )?(?:\pL+est|least \pL+)\b`)

var (
	// endOf finds who did something first or last, and when: "the last to join", "who joined first", "when did Ann last
	// order".
	endOf = compile(`\b(first|last) (?:\pL+ ){0,2}to \pL+|\b(?:who|which) (?:\pL+ )?\pL+ed (first|last)(?:$|
		[?.,])|^when (?:was|were|did|has|have) (?:[\pL\pN]+ ){0,4}(first|last)\b|\b(first|last) (?:\pL+ ){1,2}?(?:per|
		(?:of|for|
		by|from) (?:each|every)|who|that)\b|\b(?:their|his|her|its) (first|last) \pL+`)
	ofName     = compile(`(?:first|last) name`)
	bothEnds   = compile(`\bfirst\b.*\blast\b|\blast\b.*\bfirst\b`)
	ordinal    = compile(`\b(?:first|last|second|third)\b`)
	descending = compile(`\bdescending\b|\bin desc|\bz (?:to|-) ?a\b|\bz-a\b|\breverse alphabetical`)
	// fromEnd finds an order by the end at which it begins: "from short to long".
	fromEnd = compile(`\b(?:from )?(?:(low|short|small|cheap|few|light|weak|slow|poor|bad)|(high|long|large|big|
		expensive|many|heavy|strong|fast|rich|good)|(old)|(new)) to (?:low|short|small|cheap|few|light|weak|
		slow|poor|bad|high|long|large|big|expensive|many|heavy|strong|fast|rich|good|old|new)\b|
		\b(ascending|in asc|a(?: to |-)z)\b`)
	ends      = []string{"lowest", "highest", "earliest", "latest", "lowest"}
	endOfTime = words.Pairs("first earliest last latest")
)

// lastFew finds a number of things at one end: "the last five orders".
var lastFew = compile(`\b(first|last) <number> (\pL+)`)

// endFirst finds the end of an order that stands first: "newest bookings first".
var endFirst = compile(`\b(?:\pL+est|most recent)(?: \pL+){0,3} first(?:$|[,.?!])`)

// utmostEnd returns the end of an order that a superlative asks for, and the superlative; several: there are such of
// several ends.
func (h held) utmostEnd() (asked, word string, several bool) {
	text := notUtmost.ReplaceAllStringFunc(h.asked, func(s string) string {
		if latest.MatchString(s) || earliest.MatchString(s) {
			return s[strings.LastIndexAny(s, " -")+1:] // read below
		}
		return " "
	})
	text = replace(topOf, text, "$2")
	for _, u := range utmost {
		of := text
		if u.ofTime {
			of = h.asked
		}
		if found := u.form.FindString(replace(fromTo, of, "$1")); found != "" {
			several = asked != ""
			asked, word = u.end, found
		}
		if several {
			break
		}
	}
	return asked, word, several
}

// askedEnd returns the end of an order that the question asks for, and the word by which it does; "": none, or several.
func (h held) askedEnd() (asked, word string) {
	asked, word, several := h.utmostEnd()
	few, end, begins := lastFew.FindStringSubmatch(h.asked), endOf.FindStringSubmatch(h.asked),
		fromEnd.FindStringSubmatch(h.asked)
	switch {
	case several:
		return "", ""
	case asked != "":
	case few != nil && h.inNames(few[3]) && !h.asks(bothEnds):
		return endOfTime[few[1]], few[0]
	case end != nil && (end[3]+end[4]+end[5] == "" || !h.asks(bothEnds, relative, ofName)):
		return endOfTime[strings.Join(end[1:], "")], cmp.Or(end[3]+end[4]+end[5], end[0])
	case h.asks(descending):
		asked, word = "highest", "descending"
	case begins != nil:
		asked, word = ends[slices.IndexFunc(begins[1:], func(w string) bool { return w != "" })], begins[0]
	}
	if ordinal.MatchString(replace(ofName, replace(endFirst, h.asked, ""), "")) {
		return "", ""
	}
	return asked, word
}

// direction compares highest and lowest, latest and earliest with the order of the statement, or its MAX and MIN.
func (h held) direction() string {
	asked, word := h.askedEnd()
	if asked == "" || strings.Contains(h.asked, "rank") {
		return h.sorted()
	}

	column, descends, ok := h.ordered()
	isTime, isAge := column.ofTime(), aged.MatchString(column.Column)
	if !ok || word == "descending" && isTime ||
		(word == "top" || strings.HasPrefix(word, "bottom")) && column.Column != "" ||
		ranked.MatchString(column.Column) && !isTime {
		return ""
	}
	up := asked == "highest"
	switch {
	case asked == "latest" || asked == "earliest":
		if !isTime && !isAge {
			return ""
		}
		up = (asked == "latest") != isAge
	case isTime:
		return h.uncounted()
	}
	if up == descends {
		return ""
	}
	return tell("The question says %s, the statement takes the other end: the %s first.", word, endIn(descends))
}

// sortedBy finds the column by which rows shall be sorted.
var sortedBy = compile(`\b(?:sort|sorted|order|ordered) by (?:the |their )?(\pL+)(?:$|[,.?!]| (?:in |asc|desc))`)

// sorted compares the column by which rows shall be sorted with the one column by which the statement does.
func (h held) sorted() string {
	m := sortedBy.FindStringSubmatch(h.asked)
	if m == nil || !h.single || len(h.OrderBy) != 1 {
		return ""
	}

	stem, by := words.Stem(m[1]), directions.ReplaceAllString(h.OrderBy[0], "")
	c := h.find(func(c mention) bool { return c.known != nil && c.writes(by) })
	isColumn := func(name string) bool { return slices.Equal(words.Stems(name), []string{stem}) }
	if c.known == nil || !anyColumn(c.of, isColumn) || named(c.Column, stem) || named(c.of.Name, stem) ||
		slices.ContainsFunc(h.Items, func(i sqlshape.SelectItem) bool { return strings.EqualFold(i.Alias, by) }) {
		return ""
	}
	return differ("sorted by "+m[1], "sorts by "+c.Column)
}

// mostOf finds the things of which something has the most.
var mostOf = compile(`\b(most|fewest|least) (?:(?:active|cancell?ed|closed|completed|current|different|distinct|new|open|
		paid|shipped|unpaid) )?(\pL+s)\b`)

// uncounted looks for an order by a time where the question asks which has the most rows of a table.
func (h held) uncounted() string {
	m := mostOf.FindStringSubmatch(h.asked)
	if m == nil || byNoun(h.tables, nounOf(m[2])) == nil || len(h.Aggregates) > 0 || h.Statement.Uses("GROUP") {
		return ""
	}
	return tell("The question asks for the %s %s, the statement counts none.", m[1], m[2])
}

// endIn is the end at which an order begins.
func endIn(descends bool) string {
	if descends {
		return "highest"
	}
	return "lowest"
}

// ordered returns the column by which the outer query orders and cuts off, and whether it takes the highest first.
// column is zero for what is computed.
func (h held) ordered() (column mention, descends, ok bool) {
	o := h.Outline
	if at := slices.IndexFunc(h.selects, func(s sqlshape.Select) bool {
		return s.Nested && len(s.OrderBy) > 0 && s.Limit != ""
	}); !o.Limit && at >= 0 {
		o = sqlshape.Outline{OrderBy: h.selects[at].OrderBy, Items: h.selects[at].Items, Limit: true}
	}
	if ranks := numberedRows.FindAllStringSubmatch(h.sql, 2); !o.Limit && len(ranks) == 1 &&
		h.anyConstant(func(c constant) bool {
			return c.number && strings.EqualFold(c.column.Column, ranks[0][2]) && keepsFirst[c.op]
		}) {
		o.OrderBy, o.Limit = ranks[0][1:2], true
	}
	switch most, least := slices.Contains(o.Functions, "MAX"), slices.Contains(o.Functions, "MIN"); {
	case len(o.OrderBy) > 0 && (o.Limit || h.asks(endFirst, fromTo, descending, fromEnd)):
		return h.orderedBy(o)
	case most == least || o.Limit || h.ranks():
		return column, false, false
	default:
		return h.extreme(most)
	}
}

var (
	// numberedRows finds a window that numbers rows in an order, of which a condition keeps some.
	numberedRows = compile(`(?i)\b(?:ROW_NUMBER|RANK|DENSE_RANK)\s*\(\s*\)\s*OVER\s*\((?:\s*PARTITION\s+BY\s+[^()]+?)?\s*
		ORDER\s+BY\s+([^(),]+?)\s*(?:,[^()]*)?\)\s*(?:AS\s+)?(\w+)`)
	keepsFirst = words.Set("= <= <")
	// ofUtmost is the highest, or the lowest, value of a column.
	ofUtmost = compile(`(?i)^(?:MAX|MIN)\s*\(\s*(?:\w+\.)?(\w+)\s*\)$`)
)

// ranks reports whether the outer query orders by a figure that is not the highest, or lowest, value of a column.
func (h held) ranks() bool {
	return slices.ContainsFunc(h.OrderBy, func(term string) bool {
		term = strings.TrimSpace(directions.ReplaceAllString(term, ""))
		for n, item := range h.Items {
			if strings.EqualFold(item.Alias, term) || term == strconv.Itoa(n+1) {
				term = item.Text
				break
			}
		}
		return strings.Contains(term, "(") && !ofUtmost.MatchString(term)
	})
}

// orderedBy is ordered for the first term of an ORDER BY.
func (h held) orderedBy(o sqlshape.Outline) (column mention, descends, ok bool) {
	name := strings.ToUpper(directions.ReplaceAllString(o.OrderBy[0], ""))
	descends = strings.Contains(strings.ToUpper(directions.FindString(o.OrderBy[0])), "DESC")
	for _, item := range o.Items {
		if !strings.EqualFold(item.Alias, name) {
			continue
		}
		if item.Column == "" && !ofUtmost.MatchString(item.Text) {
			return column, descends, !strings.ContainsAny(item.Text, "-/")
		}
		name = strings.ToUpper(item.Text)
	}
	name = ofUtmost.ReplaceAllString(name, "$1")
	if !strings.Contains(name, "(") {
		name = name[strings.LastIndex(name, ".")+1:]
	}
	if strings.ContainsAny(name, "()-+/*0123456789") {
		counts := strings.HasPrefix(name, "COUNT(") || strings.HasPrefix(name, "SUM(")
		return column, descends, counts && !strings.ContainsAny(name, "-/")
	}
	column = h.find(func(c mention) bool { return strings.EqualFold(c.Column, strings.Trim(name, "\"`[]")) })
	return column, descends, column.Column != ""
}

// extreme is ordered for a MAX or a MIN.
func (h held) extreme(most bool) (column mention, descends, ok bool) {
	at := append(h.places("MAX", "("), h.places("MIN", "(")...)
	if len(at) == 0 {
		return column, false, false
	}
	end := h.tokens[slices.Min(at)+1].Pos
	column = h.columnBehind(end)
	return column, most, column.Column != "" && !strings.ContainsAny(h.sql[end+1:column.Pos], "()-")
}
