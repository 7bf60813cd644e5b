package doubt

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/contradict"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

var (
	eachOf = compile(`(?i)\b(?:per|(?:for|of|in|by|from|within|did|does) (?:each|every)|each|
		every)\s+((?:\pL+\s+)?\pL+)`)
	byPair = compile(`(?i)\b(?:by|per|(?:for|of|in) each) (\pL+(?: \pL+)?) and (?:by )?(\pL+(?: \pL+)?)(?:$|
		[?.!,]| (?:in|for|of|from|since|during)\b)`)
	groupedBy = compile(`(?i)\b(?:grouped|summari[sz]ed|aggregated|categori[sz]ed|bucketed|segmented|counted) by\b`)
	ofFigure  = compile(`\b(?:rates?|shares?|percentages?|averages?|totals?|numbers?|counts?|sums?|ratios?)\b`)
	notGroup  = compile(`(?i)\b(?:sort\w*|order\w*|rank\w*|divided|followed|written|made|directed|created|
		produced|published|caused|played|owned|paid|sold|bought|sent|led|won|held|run|taught|built|kept|shot|
		\pL{3,}ed|\pL{3,}en) by\b|\bmiles per\b|\bper (?:cent|hour|gallon|capita|second|minute|unit|person|
		day|kg|kilo(?:gram|met(?:er|re))?|gram|tonne?|lit(?:er|re)|km|mile|met(?:er|re)|kwh|piece)\b|
		\b\d+ (?:\pL+ )?per page\b|
		\bby (?:the |our )?\pL+s (?:from|who|that|whose|under|over|above|below|aged|older|younger|without)\b`)
)

// group looks for the rows that each, per and by ask for.
func (h held) group() string {
	text := replace(notGroup, replace(groupedBy, h.Text, "by"), " ")
	if detail := h.grain(text); detail != "" {
		return detail
	}
	o := h.Outline
	grouped := len(o.GroupBy) > 0 || h.Statement.Uses("PARTITION") || h.Statement.Uses("GROUP") || len(o.SetOps) > 0
	grouped = grouped && !(h.asks(bestOfEach) && h.single && limitOf(h.selects[0]) == 1)
	m := eachOf.FindStringSubmatch(text)
	if m == nil {
		m = h.byName(text)
	}
	switch {
	case m == nil || h.unitOf(m[1]):
	case !grouped && !h.asks(yesOrNo) && (len(o.Aggregates) > 0 || o.Limit) && h.Table != nil &&
		(len(h.Table.Rows) == 1 || o.Limit && h.single) && len(o.Items) < 4 && !h.averaged(m[1]):
		return tell("The question asks for each %s, the statement answers for all together.", strings.ToLower(m[1]))
	case len(o.GroupBy) == 1 || h.byKeyAndName():
		if detail := h.otherGroup(m[1]); detail != "" {
			return detail
		}
	}
	m = byPair.FindStringSubmatch(strings.ToLower(text))
	if m != nil && !ofFigure.MatchString(m[2]) && len(o.GroupBy) == 1 && h.single && !o.Limit &&
		len(o.Items)-len(o.Aggregates) < 2 &&
		(!slices.ContainsFunc(o.Items, computes) || h.hasColumn(words.Stem(m[1])) || h.hasColumn(words.Stem(m[2]))) {
		return tell("The question asks by %s and %s, the statement groups by one of them.", m[1], m[2])
	}
	return ""
}

// computes reports whether a term is computed from columns of its row: a month of a time.
func computes(i sqlshape.SelectItem) bool {
	return len(i.Aggregates) == 0 && strings.Contains(i.Text, "(")
}

// unitOf reports whether per and the first word of a noun are a part of a column's name: cents_per_kwh, monthly_price.
func (h held) unitOf(noun string) bool {
	first, _, _ := strings.Cut(strings.ToLower(noun), " ")
	return h.anyMention(func(c mention) bool {
		name := strings.ToLower(c.Column)
		return strings.Contains(name, "per_"+first) || strings.Contains(name, first+"ly")
	})
}

// bestOfEach finds one thing of each group: the best-selling product of each category.
var bestOfEach = compile(`<utmost>\b.* (?:of|for|in) each\b`)

// yesOrNo finds questions that a yes or a no answers for all.
var yesOrNo = compile(`^(?:is|are|was|were|do|does|did|has|have|can)\b`)

var (
	byOne    = compile(`(?i)\bby (?:the )?((?:\pL+ )?\pL+)`)
	byPeriod = compile(`(?i)\b(monthly|yearly|quarterly|weekly|daily|annual) (?:total|totals|sum|sums|count|
		counts|number|average|revenue|sales|turnover|figures|breakdown|amounts?)\b`)
	grains = compile(`(?i)\b(?:per|by|each|every|which|what) (month|year|weekday|day of the week)\b|\b(month|year)ly\b`)
)

// byName finds "by country", where country is a name of the schema or a period.
func (h held) byName(text string) []string {
	m := byOne.FindStringSubmatch(text)
	if m == nil {
		return byPeriod.FindStringSubmatch(text)
	}
	first, _, _ := strings.Cut(m[1], " ")
	if spans[strings.ToLower(first)] || h.inNames(first) && len(h.Aggregates) > 0 &&
		!h.anyMention(func(c mention) bool { // a share by weight
			return c.known != nil && fraction.MatchString(c.known.Type) && named(c.Column, words.Stem(first))
		}) && !h.anyConstant(func(c constant) bool { // shipments by express carriers
		return c.column.known != nil && isYesOrNo(c.column.known) && named(c.column.Column, words.Stem(first))
	}) {
		return m
	}
	return nil
}

var fraction = compile(`(?i)REAL|FLOAT|DOUBLE|NUMERIC|DECIMAL`)

var spans = words.Set("month year quarter week day")

// How statements cut time, in upper case: %M is %m.
var (
	cutsYears  = compile(`%Y|YEAR|1, 4`)
	cutsMonths = compile(`'%Y-%M'|'%M'|'YYYY-MM'|1, 7`)
	cutsDays   = compile(`'%D'|DAYOFMONTH|DAY FROM|'DAY'\s*,`)
	cutsWeeks  = compile(`'%[WU]'|WEEKDAY|DAYOFWEEK|DOW|DAYNAME|TO_CHAR`)
	cutsLess   = compile(`%M|MONTH|%B|'MM|-MM|1, 7|WEEK|%W|\bDATE(?:\b|_)|\bDAY`)
)

// grain compares months and years of the question with those by which the statement groups.
func (h held) grain(text string) string {
	found := grains.FindAllStringSubmatch(strings.ToLower(text), -1)
	if len(found) != 1 || len(h.GroupBy) != 1 {
		return ""
	}
	switch asked := found[0][1] + found[0][2]; {
	case asked == "month" && cutsYears.MatchString(h.upper) && !cutsLess.MatchString(h.upper):
		return "The question asks for each month, the statement groups by year."
	case asked == "year" && cutsMonths.MatchString(h.upper) && !h.writes("'%Y'", "YEAR(", "YEAR FROM") &&
		!strings.Contains(h.asked, "month"):
		return "The question asks for each year, the statement groups by month."
	case strings.Contains(asked, "week") && cutsDays.MatchString(h.upper) && !cutsWeeks.MatchString(h.upper):
		return "The question asks for each weekday, the statement groups by day of the month."
	}
	return ""
}

// averaged reports whether a number a thing is one average: the average per customer. An AVG is one over the rows of
// the things themselves, and where the things are no name of the schema.
func (h held) averaged(thing string) bool {
	first, second, _ := strings.Cut(thing, " ")
	stem := words.Stem(first)
	return h.Has("average", "mean", "avg") && !h.hasColumn(words.Stem(second)) &&
		(h.divides() || slices.Contains(h.Functions, "AVG") && (byNoun(h.tables, stem) != nil || !h.inNames(stem)))
}

// behindNoun are words that end a noun: by restaurant in 2024.
var behindNoun = words.Set(`in for of from since during with at on and or over where that who to before after
	between until last this each by as sorted ordered including excluding without except`)

// byKeyAndName reports whether the groups are things: by the key of a table and then by a name of it.
func (h held) byKeyAndName() bool {
	by := h.groups()
	return len(by) == 2 && by[0].of == by[1].of && by[0].keys() && personal.MatchString(by[1].Column)
}

// otherGroup looks for groups by something else than the question says: by another table, by what several rows of the
// table share, or by another column.
func (h held) otherGroup(noun string) string {
	stem, by := words.Stems(noun), h.groups()
	c := by[len(by)-1]
	if len(stem) == 0 || !h.single || c.of == nil || named(c.known.Name, stem[0]) ||
		slices.Contains(stem[1:], nounOf(c.of.Name)) {
		return ""
	}

	of, one := byNoun(h.tables, stem[0]), len(stem) == 1 || behindNoun[stem[1]]
	unread := of == nil && one && personal.MatchString(c.Column) && !named(c.of.Name, stem[0]) &&
		slices.ContainsFunc(h.Schema.Tables, func(t schema.Table) bool { return slices.Equal(words.Stems(t.Name), stem[:1]) })
	other := c.of.Name + "." + c.known.Name
	switch {
	case unread:
	case of == nil && one && h.hasColumn(stem[0]):
		other = c.known.Name
	case of == nil, c.of == of && !(one && isShared(of, c.known)), refersTo(c.of, c.Column) == of.Name,
		len(h.tables) == 2 && refersToTable(of, c.of): // a table that belongs to one row of the other may name it
		return ""
	}
	return tell("The question asks for each %s, the statement groups by %s.", stem[0], other)
}

// hasColumn reports whether a word is the whole name of a column of the tables that are read, which the statement does
// not mention.
func (h held) hasColumn(stem string) bool {
	return h.anyTable(func(t *schema.Table) bool {
		return anyColumn(t, func(name string) bool {
			return slices.Equal(words.Stems(name), []string{stem}) && !h.uses(t, name)
		})
	})
}

// isShared reports whether several rows of a table have one value of a column which does not name them.
func isShared(t *schema.Table, c *schema.Column) bool {
	p := profileOf(c)
	return p.Distinct < p.Sampled-p.Nulls && !personal.MatchString(c.Name) && !slices.Contains(t.PrimaryKey, c.Name)
}

var (
	differing     = compile(`\b(different|distinct|unique|separate)\b`)
	differentOnes = compile(`\b(?:how many|(?:number|count) of) (?:the )?(?:different|distinct|unique|separate)\b`)
)

// distinct looks for a count of different things that counts each as often as it stands there.
func (h held) distinct() string {
	m := differing.FindString(h.asked)
	grouped := h.Statement.Uses("GROUP")
	if m == "" || !h.Count && !h.HowMany || h.Statement.Uses("DISTINCT") || grouped && !h.asks(differentOnes) ||
		!slices.Contains(h.Aggregates, "COUNT") || len(h.places("COUNT", "(", "*")) > 0 {
		return ""
	}
	if sql := h.countsDistinct(""); (grouped || sql != "" && h.Query != nil) && !h.differs(sql) {
		return ""
	}
	return tell("The question asks for %s ones, the statement counts each as often as it stands there.", m)
}

// countsDistinct is the statement with DISTINCT in its only COUNT of a column, which is column where that is given; "":
// there is none.
func (h held) countsDistinct(column string) string {
	by := map[int]string{}
	for _, i := range h.places("COUNT", "(") {
		name := h.tokens[h.lastPart(min(i+2, len(h.tokens)-1))].Text
		if !uncounted[h.word(i+2)] && (column == "" || strings.EqualFold(name, column)) {
			by[i+1] = "(DISTINCT "
		}
	}
	if len(by) != 1 {
		return ""
	}
	return h.replaced(by)
}

// uncounted are what a COUNT of a column does not begin with.
var uncounted = words.Set("* DISTINCT CASE")

var (
	totalOf   = compile(`\b(?:total|sum of) (\pL+)(?: (\pL+))?`)
	earnings  = compile(`\b(?:income|revenue|turnover|earnings|proceeds)\b`)
	countedBy = compile(`(?i)\bCOUNT\s*\(\s*(?:\w+\.)?(\w+)\s*\)`)
)

// countedMeasure is a column of amounts whose total the question asks for and whose rows the statement counts; "":
// none.
func (h held) countedMeasure() string {
	asked, m := totalOf.FindStringSubmatch(h.asked), countedBy.FindStringSubmatch(h.sql)
	if c := h.countedRows(); c != "" {
		return c
	}
	if m == nil || len(h.Aggregates) != 1 || h.Has("number", "count", "how many") {
		return ""
	}
	if h.asks(earnings) && fraction.MatchString(h.typeOf(m[1])) {
		return m[1]
	}
	if asked == nil {
		return ""
	}
	c := h.find(func(c mention) bool { return strings.EqualFold(c.Column, m[1]) })
	if c.of != nil && !c.ofTime() && !isKey(c.of, c.known.Name) &&
		named(c.known.Name, words.Stems(asked[1]+" "+asked[2])...) {
		return c.known.Name
	}
	return ""
}

var (
	amountPer = compile(`\b(\pL+s) (?:per|by|(?:for|of) each)\b`)
	pieces    = compile(`\bhow many (pieces|units|copies)\b`)
	ofPieces  = compile(`(?i)^(?:quantity|qty|pieces|units|copies)$`)
	numeric   = compile(`(?i)INT|REAL|FLOAT|DOUBLE|NUMERIC|DEC`)
)

// countedRows is a column of amounts that the question asks for, days per employee, while the statement counts rows;
// "": none.
func (h held) countedRows() string {
	each, piece := amountPer.FindStringSubmatch(h.asked), pieces.FindStringSubmatch(h.asked)
	if len(h.Aggregates) != 1 || len(h.places("COUNT", "(", "*")) != 1 || !h.single {
		return ""
	}
	for _, t := range h.tables {
		for _, c := range t.Columns {
			isAsked := each != nil && strings.EqualFold(c.Name, each[1]) && !h.isThing(each[1]) ||
				piece != nil && ofPieces.MatchString(c.Name) && !h.isThing(piece[1])
			if isAsked && numeric.MatchString(c.Type) && !isKey(t, c.Name) && !h.uses(t, c.Name) {
				return c.Name
			}
		}
	}
	return ""
}

// isThing reports whether a table has a word as its noun.
func (h held) isThing(word string) bool {
	return slices.ContainsFunc(h.Schema.Tables, func(t schema.Table) bool { return nounOf(t.Name) == words.Stem(word) })
}

// typeOf is the type of a column that the statement mentions; "": unknown.
func (h held) typeOf(column string) string {
	c := h.find(func(c mention) bool { return c.known != nil && strings.EqualFold(c.Column, column) })
	if c.known == nil {
		return ""
	}
	return c.known.Type
}

// average looks for an average that is computed without one.
func (h held) average() string {
	averages := h.Has("average", "mean", "avg")
	if word := notMean.FindString(h.asked); word != "" && slices.Equal(h.Aggregates, []string{"AVG"}) && h.single &&
		!averages && !h.Has("typical*", "usual*") && h.evidence == "" {
		return tell("The question asks for a %s, the statement takes an average.", word)
	}
	if word := h.averagedEnd(); word != "" {
		return tell("The question asks for the %s, the statement takes an average.", word)
	}
	if word := running.FindString(h.asked); word != "" && h.single && len(h.tables) == 1 && len(h.GroupBy) > 0 &&
		!h.writes("OVER") {
		return tell("The question says %s, the statement adds up each group alone.", word)
	}
	if c := h.countedMeasure(); c != "" {
		return tell("The question asks for the total of %s, the statement counts its rows.", c)
	}
	switch {
	case !averages || strings.Contains(h.evidence, "average") ||
		h.Has("above/below/than average", "above/below/than the average"):
		return ""
	case !h.divides() && !averaging.MatchString(strings.Join(h.Functions, " ")) &&
		!h.anyMention(func(c mention) bool { return named(c.Column, "average", "avg", "mean") && !h.isAlias(c) }):
		return "The question asks for an average, the statement computes none."
	case strings.Count(h.asked, "average") == 1 && !h.asks(ofParts) && len(h.places("AVG", "(")) == 2 &&
		len(h.selects) == 2 &&
		len(h.selects[1].GroupBy) > 0 && len(h.GroupBy) == 0:
		return "The question asks for one average, the statement averages the averages of groups."
	}
	return h.averageOf()
}

// averagedEnd is the superlative of a column, "highest price", of which the statement takes the average; "": none.
func (h held) averagedEnd() string {
	m := utmostOf.FindStringSubmatch(h.asked)
	if m == nil || !slices.Equal(h.Aggregates, []string{"AVG"}) || !h.single || h.Limit || len(h.OrderBy) > 0 && !h.Each ||
		h.Has("average", "mean", "avg", "typical*", "usual*") || h.evidence != "" {
		return ""
	}
	for _, i := range h.places("AVG", "(") {
		if named(h.columnBehind(h.tokens[i].Pos).Column, words.Stems(m[2])...) {
			return m[1]
		}
	}
	return ""
}

var (
	running   = compile(`\b(?:running (?:total|sum|count|balance)|cumulative)\b`)
	notMean   = compile(`\b(?:total|sum|combined|median)\b`)
	utmostOf  = compile(`\b(highest|lowest|largest|smallest|biggest|greatest|maximum|minimum|max|min) ((?:\pL+ )?\pL+)`)
	averaging = compile(`AVG|MEAN|MEDIAN|PERCENTILE`)
	ofParts   = compile(`per | each |over `)
)

var byUnit = compile(`/\s*10+(?:\.0*)?\b`)

// divides reports whether the statement divides, and not only by 100 or 1,000 for another unit.
func (h held) divides() bool { return strings.Contains(byUnit.ReplaceAllString(h.upper, " "), "/") }

var ofOne = compile(`\baverage\b.*\b(?:of an?|per) (\pL+)\b`)

// averageOf looks for an average over the parts of what the question takes the average of: the lines of an order.
func (h held) averageOf() string {
	m := ofOne.FindStringSubmatch(h.asked)
	if m == nil || len(h.tables) != 1 || !h.single || len(h.GroupBy) > 0 || h.writes("/") {
		return ""
	}
	noun, name := words.Stem(m[1]), h.tables[0].Name // order_items
	for _, k := range h.tables[0].ForeignKeys {
		if nounOf(k.RefTable) == noun && nounOf(name) != noun && named(name, noun) {
			return tell("The question asks for the average of one %s, the statement takes one row of %s.", m[1], name)
		}
	}
	return ""
}

// scalar reports whether the outer select list holds a query.
func (h held) scalar() bool {
	return slices.ContainsFunc(h.Items,
		func(i sqlshape.SelectItem) bool { return strings.Contains(strings.ToUpper(i.Text), "SELECT") })
}

// dropsSome looks for a join over a reference that some rows of "all employees" do not have.
func (h held) dropsSome() string {
	if !h.single || h.selects[0].Where != "" || len(h.Aggregates) > 0 {
		return ""
	}
	for _, c := range h.columns {
		if !c.Operand || !hasNulls(c) || refersTo(c.of, c.Column) == "" {
			continue
		}
		if noun := nounOf(c.of.Name); h.Has("all "+noun+"*", "every "+noun, "each "+noun) {
			return tell("The question asks for all, the join drops %s without %s.", c.of.Name, c.known.Name)
		}
	}
	return ""
}

var (
	asksShare = compile(`^(?:(?:what|which)(?:'s| is)? )?(?:the )?(?:share|percentage|proportion|fraction) of\b|
		\b(?:what|which) (?:share|percentage|proportion|fraction)\b|\bhow many percent\b|\bin percent$`)
	countsOnly = compile(`^SELECT COUNT\([^()]*\)(?: AS \w+)?\s+FROM `)
)

// share looks for a share of a whole that the statement has filtered like the part, and of a whole of another time than
// the question names, and for a count in the place of a share.
func (h held) share() string {
	told := h.statedTimes()
	switch {
	case !h.Has("percent*", "share", "proportion", "ratio", "fraction"):
		return ""
	case h.asks(asksShare) && countsOnly.MatchString(h.upper):
		return "The question asks for a share, the statement counts."
	case !h.writes("/"):
		return ""
	case slices.Contains([]any{100.0, int64(100), 1.0}, valueOf(h.Table)) && !h.Statement.Uses("CASE") &&
		!h.writes("FILTER", "SUM(", "COUNTIF", "AVG("):
		return "The part and the whole of the share are filtered in the same way, so that it is 100 %."
	}
	for _, s := range h.selects {
		dated := slices.ContainsFunc(told, func(x stated) bool { return s.Has(h.tokens[x.place].Pos) })
		if !s.Nested || len(s.Items) != 1 || len(s.Items[0].Aggregates) == 0 || s.Where != "" || len(s.GroupBy) > 0 ||
			!slices.ContainsFunc(s.Tables, sqlshape.TableRef.Base) {
			continue
		}
		if len(h.times) == 1 && len(told) > 0 && !dated {
			return tell("The question says %s, the whole of the share is of all times.", h.times[0])
		}
		return h.wholeOf(h.table(s.Tables[0]))
	}
	return ""
}

// shareOf finds the whole of a share: the open tickets in "share of the open tickets that are urgent".
var shareOf = compile(`\b(?:share|percentage|percent|proportion|fraction) of ((?:[\pL\d'-]+ ){1,7}?)(?:is|are|was|
		were|has|have|had|that|who|which)\b`)

// wholeOf looks for a value that the whole of a share should have, which is all rows of a table, and that the statement
// asks of the part alone.
func (h held) wholeOf(t *schema.Table) string {
	m, of, part := shareOf.FindStringSubmatch(h.asked), "", false
	if m == nil {
		return ""
	}
	for _, c := range h.constant {
		switch named := share(stemsOf(m[1]), stemsOf(c.text)); {
		case !c.equal() || c.number || !h.named(c.text):
		case !named:
			part = true
		case t != nil && c.column.of == t:
			of = c.text
		}
	}
	if !part || of == "" {
		return ""
	}
	return tell("The question asks for a share of those with %s, the whole of the share has all.", of)
}

var asksTwice = compile(`(?i)\bhow (?:many|much)\b.*\band (?:how (?:many|much)|what (?:is|are))\b`)

// half looks for one number where the question asks for two.
func (h held) half() string {
	if !h.asks(asksTwice) || h.Table == nil || len(h.Table.Rows) != 1 || len(h.Table.Columns) != 1 {
		return ""
	}
	return "The question asks for two things, the statement answers with one."
}

// join looks for an equality of two columns between which no foreign key stands, in a database that has some.
func (h held) join() string {
	if !slices.ContainsFunc(h.Schema.Tables, func(t schema.Table) bool { return len(t.ForeignKeys) > 0 }) {
		return ""
	}
	for _, cond := range h.Statement.Conditions(nil) {
		if len(cond.Equal) != 2 {
			continue
		}
		a, b := h.mention(cond.Equal[0]), h.mention(cond.Equal[1])
		if a.of == nil || b.of == nil || a.of == b.of {
			continue
		}
		ar, br := refersTo(a.of, a.Column), refersTo(b.of, b.Column)
		linked := refersToColumn(a, b) || refersToColumn(b, a) || ar != "" && ar == br
		ids := strings.EqualFold(a.Column, "id") && strings.EqualFold(b.Column, "id")
		keyed := slices.Contains(a.of.PrimaryKey, a.known.Name) || slices.Contains(b.of.PrimaryKey, b.known.Name)
		tied := refersToTable(a.of, b.of) || refersToTable(b.of, a.of) || ar+br != "" // or astray, to another table
		if !linked && (ids || keyed && tied && !sameEnd(a.known.Name, b.known.Name)) {
			return tell("The statement joins %s.%s with %s.%s, which do not refer to each other.",
				a.of.Name, a.known.Name, b.of.Name, b.known.Name)
		}
	}
	return ""
}

// sameEnd reports whether the name of a column ends with the name of another one, of two words: opponent_team_id and
// team_id.
func sameEnd(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) < len(b) {
		a, b = b, a
	}
	return a == b || strings.HasSuffix(a, b) && len(words.OfName(b)) > 1
}

// refersToColumn reports whether a column refers to another one.
func refersToColumn(a, b mention) bool {
	return slices.ContainsFunc(a.of.ForeignKeys, func(k schema.ForeignKey) bool {
		i := slices.IndexFunc(k.Columns, func(c string) bool { return strings.EqualFold(c, a.Column) })
		return i >= 0 && i < len(k.RefColumns) && b.is(b.of, k.RefColumns[i]) && strings.EqualFold(k.RefTable, b.of.Name)
	})
}

// refersToTable reports whether a table has a foreign key to another one.
func refersToTable(t, other *schema.Table) bool {
	return slices.ContainsFunc(t.ForeignKeys, func(k schema.ForeignKey) bool {
		return strings.EqualFold(k.RefTable, other.Name)
	})
}

// lost looks for a condition of the question before that a follow-up refers to and the statement no longer has.
func (h held) lost() string {
	if len(h.Earlier) == 0 || !h.refers() || h.asks(whole) {
		return ""
	}
	timed := len(h.times) > 0 || aMonth.MatchString(h.timeless) || h.asks(relative)
	before := newHeld(answer{Answer: contradict.Answer{Statement: h.Earlier[len(h.Earlier)-1], Schema: h.Schema}})
	for _, c := range before.constant {
		column := c.column.known
		if column == nil || c.drops() || timed && c.column.ofTime() ||
			careful.MatchString(column.Name) && usual.MatchString(c.text) && !before.Statement.Uses("OR") {
			continue
		}
		same := func(x mention) bool { return strings.EqualFold(x.Column, column.Name) }
		if !h.anyMention(same) && !h.writesConstant(c.text) && !named(column.Name, h.stems...) {
			return tell("The answer before was about %s, this one is not.", c.text)
		}
	}
	left := before.leavesOut()
	if left != "" && h.leavesOut() == "" && len(strings.Fields(h.asked)) <= shortFollowUp && !h.asks(ownCondition) {
		return tell("The statement before has %s, this one does not.", left)
	}
	return ""
}

// shortFollowUp is the most words of a question that names one thing and leaves the rest as it was: "and in Germany?".
const shortFollowUp = 5

// ownCondition finds words of a short question that says itself which rows are meant: "and those who did?".
var ownCondition = compile(`(?i)\b(?:did|do|does|have|has|had|who|with|without|including|everyone)\b`)

// leavesOut is the word by which the statement leaves rows or groups out; "": it has none.
func (h held) leavesOut() string {
	for i := range h.tokens {
		switch w := h.word(i); {
		case w == "HAVING", w == "EXCEPT", w == "NOT" && h.word(i-1) != "IS":
			return w
		case w == "NULL" && h.word(i-1) == "IS" && h.Statement.Uses("LEFT"):
			return "IS NULL"
		}
	}
	return ""
}

// writesConstant reports whether a text is a constant of the statement.
func (h held) writesConstant(text string) bool {
	return h.anyConstant(func(c constant) bool { return c.text == text })
}

var (
	// asksThing is a question for a thing or a person, with the noun that says which.
	asksThing = compile(`(?i)^(?:(?:which|what) (\pL+) (?:is|are|was|were|do|does|did|has|have|had)|who|where|
		when)\b`)
	namedSo = compile(`(?i)\b(?:called|named|titled|whose name)\b`)
)

// conditionOf is the condition in which a constant stands; "": none, as in an order.
func (h held) conditionOf(c constant) string {
	pos := h.tokens[c.at].Pos
	for _, cond := range h.Statement.Conditions(nil) {
		if cond.Pos <= pos && pos < cond.Pos+len(cond.Text) && !cond.Nested {
			return cond.Text
		}
	}
	return ""
}

// echo looks for a statement that returns nothing but constants of its own conditions.
func (h held) echo() string {
	m := asksThing.FindStringSubmatch(h.Text)
	if m == nil || namedSo.MatchString(h.Text) || !h.single || h.Star || len(h.GroupBy) > 0 ||
		h.Statement.Uses("OR") || h.leavesOut() != "" || h.Statement.Uses("CASE") || len(h.Items) == 0 {
		return ""
	}
	noun, said := words.Stem(strings.ToLower(m[1])), ""
	for _, item := range h.Items {
		i := slices.IndexFunc(h.constant, func(c constant) bool {
			return c.op == "=" && h.conditionOf(c) != "" &&
				c.column.known != nil && c.column.writes(item.Text) && h.named(c.text) &&
				nounOf(c.column.of.Name) != noun && nounOf(c.column.Column) != noun
		})
		if i < 0 {
			return ""
		}
		said = h.constant[i].text
	}
	return tell("The statement returns only %s, which the question itself says.", said)
}
