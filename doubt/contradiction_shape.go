package doubt

import (
	"fmt"
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
	notGroup = compile(`(?i)\b(?:sort\w*|order\w*|rank\w*|divided|followed|written|made|directed|created|
		produced|published|caused|played|owned|paid|sold|bought|sent|led|won|held|run|taught|built|kept|shot|
		\pL{3,}ed|\pL{3,}en) by\b|\bmiles per\b|\bper (?:cent|hour|gallon|capita|second|minute|unit|person|
		day)\b`)
)

// group looks for the rows that each, per and by ask for.
func (h *held) group() string {
	text := notGroup.ReplaceAllString(h.Question.Text, " ")
	o := h.outline
	grouped := len(o.GroupBy) > 0 || h.Statement.Uses("PARTITION") || h.Statement.Uses("GROUP") || len(o.SetOps) > 0
	m := eachOf.FindStringSubmatch(text)
	if m == nil {
		m = h.byName(text)
	}
	if detail := h.grain(text); detail != "" {
		return detail
	}
	switch {
	case m == nil:
	case h.unitOf(m[1]):
	case !grouped && (len(o.Aggregates) > 0 || o.Limit) && h.Table != nil && (len(h.Table.Rows) == 1 || o.Limit &&
		len(h.selects) == 1) && len(o.Items) < 4 && !h.averaged(m[1]):
		return fmt.Sprintf("The question asks for each %s, the statement answers for all together.",
			strings.ToLower(m[1]))
	case len(o.GroupBy) == 1 || h.byKeyAndName():
		if detail := h.otherGroup(m[1]); detail != "" {
			return detail
		}
	}
	if m := byPair.FindStringSubmatch(text); m != nil && len(o.GroupBy) == 1 && len(o.SetOps) == 0 &&
		len(h.selects) == 1 && !o.Limit {
		if shown := len(o.Items) - len(o.Aggregates); shown < 2 && !strings.Contains(o.GroupBy[0], "(") {
			return fmt.Sprintf("The question asks by %s and %s, the statement groups by one of them.",
				strings.ToLower(m[1]), strings.ToLower(m[2]))
		}
	}
	return ""
}

// unitOf reports whether per and the first word of a noun are a part of a column's name: cents_per_kwh.
func (h *held) unitOf(noun string) bool {
	first, _, _ := strings.Cut(strings.ToLower(noun), " ")
	return slices.ContainsFunc(h.columns, func(c sqlshape.ColumnRef) bool {
		return strings.Contains(strings.ToLower(c.Column), "per_"+first)
	})
}

var (
	byOne    = compile(`(?i)\bby (?:the )?((?:\pL+ )?\pL+)`)
	byPeriod = compile(`(?i)\b(monthly|yearly|quarterly|weekly|daily|annual) (?:total|totals|sum|sums|count|
		counts|number|average|revenue|sales|turnover|figures|breakdown|amounts?)\b`)
	grains = compile(`(?i)\b(?:per|by|each|every) (month|year|weekday|day of the week)\b|\b(month|year)ly\b`)
)

// byName finds "by country", where country is a name of the schema or a period.
func (h *held) byName(text string) []string {
	m := byOne.FindStringSubmatch(text)
	if m == nil {
		return byPeriod.FindStringSubmatch(text)
	}
	first, _, _ := strings.Cut(m[1], " ")
	if slices.Contains([]string{"month", "year", "quarter", "week", "day"}, strings.ToLower(first)) ||
		h.inNames(first) && len(h.outline.Aggregates) > 0 {
		return m
	}
	return nil
}

// How statements cut time, in upper case: %M is %m.
var (
	cutsYears  = compile(`%Y|YEAR|1, 4`)
	cutsMonths = compile(`'%Y-%M'|'%M'|'YYYY-MM'|1, 7`)
	cutsDays   = compile(`'%D'|DAYOFMONTH|DAY FROM|'DAY'\s*,`)
	cutsWeeks  = compile(`'%[WU]'|WEEKDAY|DAYOFWEEK|DOW|DAYNAME|TO_CHAR`)
	cutsLess   = compile(`%M|MONTH|%B|'MM|-MM|1, 7|WEEK|%W|\bDATE(?:\b|_)|\bDAY`)
)

// grain compares months and years of the question with those by which the statement groups.
func (h *held) grain(text string) string {
	m := grains.FindStringSubmatch(text)
	if m == nil || len(h.outline.GroupBy) != 1 || len(grains.FindAllString(text, -1)) > 1 {
		return ""
	}
	asked := strings.ToLower(m[1] + m[2])
	switch {
	case asked == "month" && cutsYears.MatchString(h.upper) && !cutsLess.MatchString(h.upper):
		return "The question asks for each month, the statement groups by year."
	case asked == "year" && cutsMonths.MatchString(h.upper) && !strings.Contains(h.asked, "month"):
		return "The question asks for each year, the statement groups by month."
	case strings.Contains(asked, "week") && cutsDays.MatchString(h.upper) && !cutsWeeks.MatchString(h.upper):
		return "The question asks for each weekday, the statement groups by day of the month."
	}
	return ""
}

// averaged reports whether a number a thing is one average: the average per customer. An AVG is one over the rows of the
// things themselves, and where the things are no name of the schema.
func (h *held) averaged(thing string) bool {
	if !h.Question.Has("average", "mean", "avg") {
		return false
	}
	if h.divides() {
		return true
	}

	first, _, _ := strings.Cut(thing, " ")
	stem := words.Stem(strings.ToLower(first))
	rows := slices.ContainsFunc(h.tables, func(t *schema.Table) bool { return nounOf(t.Name) == stem })
	return slices.Contains(h.outline.Functions, "AVG") && (rows || !h.inNames(stem))
}

// behindNoun are words that end a noun: by restaurant in 2024.
var behindNoun = words.Set("in for of from since during with at on and or over where that who to before after between until last this " +
	"each by as sorted ordered including excluding without except")

// byKeyAndName reports whether the groups are things: by the key of a table and then by a name of it.
func (h *held) byKeyAndName() bool {
	if len(h.outline.GroupBy) != 2 {
		return false
	}
	var of [2]*schema.Table
	for i, term := range h.outline.GroupBy {
		at := strings.LastIndex(h.Statement.SQL(), "GROUP BY")
		at += strings.Index(h.Statement.SQL()[max(at, 0):], term)
		for _, c := range h.columns {
			t, column := h.home(c)
			if c.Pos != at || t == nil {
				continue
			}
			isKey := slices.Equal(t.PrimaryKey, []string{column.Name})
			if i == 0 && isKey || i == 1 && personal.MatchString(column.Name) {
				of[i] = t
			}
		}
	}
	return of[0] != nil && of[0] == of[1]
}

// otherGroup looks for groups by something else than the question says: by another table, by what several rows of the table share,
// or by another column.
func (h *held) otherGroup(noun string) string {
	stem := words.Stems(noun)
	if len(stem) == 0 || len(h.selects) != 1 {
		return ""
	}
	of := slices.IndexFunc(h.tables, func(t *schema.Table) bool { return nounOf(t.Name) == stem[0] })
	unread := of < 0 && (len(stem) == 1 || behindNoun[stem[1]]) &&
		slices.ContainsFunc(h.Schema.Tables, func(t schema.Table) bool { return slices.Equal(words.Stems(t.Name), stem[:1]) })
	term := h.outline.GroupBy[len(h.outline.GroupBy)-1]
	at := strings.LastIndex(h.Statement.SQL(), term)
	for _, c := range h.columns {
		t, column := h.home(c)
		if c.Pos != at || t == nil || slices.Contains(words.Stems(column.Name), stem[0]) ||
			slices.Contains(stem[1:], nounOf(t.Name)) {
			continue
		}
		if unread && personal.MatchString(column.Name) && !slices.Contains(words.Stems(t.Name), stem[0]) {
			return fmt.Sprintf("The question asks for each %s, the statement groups by %s.%s.", stem[0], t.Name, column.Name)
		}
		switch one := len(stem) == 1 || behindNoun[stem[1]]; {
		case of < 0 && !(one && h.hasColumn(stem[0]) && nounOf(t.Name) != stem[0]):
			continue
		case of < 0:
			return fmt.Sprintf("The question asks for each %s, the statement groups by %s.", stem[0], column.Name)
		case t == h.tables[of] && !(one && isShared(t, column)), refersTo(t, column.Name) == h.tables[of].Name:
			continue
		}
		// A table that belongs to one row of the other may name it.
		if slices.ContainsFunc(h.tables[of].ForeignKeys,
			func(k schema.ForeignKey) bool { return k.RefTable == t.Name && len(h.tables) == 2 }) {
			continue
		}
		return fmt.Sprintf("The question asks for each %s, the statement groups by %s.%s.", stem[0], t.Name,
			column.Name)
	}
	return ""
}

// hasColumn reports whether a word is the whole name of a column of the tables that are read, which the statement does not mention.
func (h *held) hasColumn(stem string) bool {
	return slices.ContainsFunc(h.tables, func(t *schema.Table) bool {
		return slices.ContainsFunc(t.Columns, func(c schema.Column) bool {
			return slices.Equal(words.Stems(c.Name), []string{stem}) && !h.uses(t, c.Name)
		})
	})
}

// isShared reports whether several rows of a table have one value of a column which does not name them.
func isShared(t *schema.Table, c *schema.Column) bool {
	p := c.Profile
	return p != nil && p.Distinct > 0 && p.Distinct < p.Sampled-p.Nulls && !personal.MatchString(c.Name) && !slices.Contains(t.PrimaryKey, c.Name)
}

var differing = compile(`(?i)\b(different|distinct|unique|separate)\b`)

// distinct looks for a count of different things that counts each as often as it stands there.
func (h *held) distinct() string {
	m := differing.FindString(h.Question.Text)
	if m == "" || !h.Question.Count && !h.Question.HowMany || h.Statement.Uses("DISTINCT") ||
		h.Statement.Uses("GROUP") || !slices.Contains(h.outline.Aggregates, "COUNT") {
		return ""
	}
	if sql := h.countsDistinct(""); sql != "" && h.Query != nil && !h.differs(sql) {
		return ""
	}
	if strings.Contains(strings.ReplaceAll(h.upper, " ", ""), "COUNT(*)") {
		return ""
	}
	return fmt.Sprintf("The question asks for %s ones, the statement counts each as often as it stands there.",
		strings.ToLower(m))
}

// countsDistinct is the statement with DISTINCT in its only COUNT of a column, which is column where that is
// given; "": there
// is none.
func (h *held) countsDistinct(column string) string {
	by := map[int]string{}
	for i := range h.tokens {
		if h.word(i) == "COUNT" && h.word(i+1) == "(" && h.word(i+2) != "*" && h.word(i+2) != "DISTINCT" &&
			h.word(i+2) != "CASE" {
			end := i + 2
			for h.word(end+1) == "." {
				end += 2
			}
			if column == "" || strings.EqualFold(h.tokens[end].Text, column) {
				by[i+1] = "(DISTINCT "
			}
		}
	}
	if len(by) != 1 {
		return ""
	}
	return h.replaced(by)
}

var (
	totalOf   = compile(`\b(?:total|sum of) (\pL+)(?: (\pL+))?`)
	countedBy = compile(`(?i)\bCOUNT\s*\(\s*(?:\w+\.)?(\w+)\s*\)`)
)

// countedMeasure is a column of amounts whose total the question asks for and whose rows the statement counts; "":
// none.
func (h *held) countedMeasure() string {
	asked, m := totalOf.FindStringSubmatch(h.asked), countedBy.FindStringSubmatch(h.Statement.SQL())
	if asked == nil || m == nil || len(h.outline.Aggregates) != 1 || h.Question.Has("number", "count", "how many") {
		return ""
	}
	of := slices.IndexFunc(h.columns, func(c sqlshape.ColumnRef) bool { return strings.EqualFold(c.Column, m[1]) })
	if of < 0 || h.ofTime(h.columns[of]) {
		return ""
	}
	t, column := h.home(h.columns[of])
	named := func(w string) bool { return slices.Contains(words.Stems(asked[1]+" "+asked[2]), w) }
	if t == nil || slices.Contains(t.PrimaryKey, column.Name) || refersTo(t, column.Name) != "" ||
		!slices.ContainsFunc(words.Stems(column.Name), named) {
		return ""
	}
	return column.Name
}

// average looks for an average that is computed without one.
func (h *held) average() string {
	if h.Question.Sum && slices.Equal(h.outline.Aggregates, []string{"AVG"}) && len(h.selects) == 1 &&
		!h.Question.Has("average", "mean", "avg", "typical*", "usual*") && h.evidence == "" {
		return "The question asks for a total, the statement takes an average."
	}
	if c := h.countedMeasure(); c != "" {
		return fmt.Sprintf("The question asks for the total of %s, the statement counts its rows.", c)
	}
	if !h.Question.Has("average", "mean", "avg") || strings.Contains(h.evidence, "average") ||
		h.Question.Has("above/below/than average", "above/below/than the average") {
		return ""
	}
	averages := slices.Contains(h.outline.Functions, "AVG") || h.divides() ||
		slices.ContainsFunc(h.outline.Functions, func(f string) bool {
			return strings.Contains(f, "AVG") || strings.Contains(f, "MEAN") || strings.Contains(f, "MEDIAN") ||
				strings.Contains(f, "PERCENTILE")
		})
	named := slices.ContainsFunc(h.columns, func(c sqlshape.ColumnRef) bool {
		w := words.Stems(c.Column)
		return slices.Contains(w, "average") || slices.Contains(w, "avg") || slices.Contains(w, "mean")
	})
	if !averages && !named {
		return "The question asks for an average, the statement computes none."
	}
	if strings.Count(h.asked, "average") == 1 && !strings.Contains(h.asked, "per ") &&
		!strings.Contains(h.asked, " each ") && !strings.Contains(h.asked, "over ") &&
		strings.Count(strings.ReplaceAll(h.upper, " ", ""), "AVG(") == 2 && len(h.selects) == 2 &&
		len(h.selects[1].GroupBy) > 0 && len(h.selects[0].GroupBy) == 0 {
		return "The question asks for one average, the statement averages the averages of groups."
	}
	return h.averageOf()
}

var byUnit = compile(`/\s*10+(?:\.0*)?\b`)

// divides reports whether the statement divides, and not only by 100 or 1,000 for another unit.
func (h *held) divides() bool { return strings.Contains(byUnit.ReplaceAllString(h.upper, " "), "/") }

var ofOne = compile(`(?i)\baverage\b.*\b(?:of an?|per) (\pL+)\b`)

// averageOf looks for an average over the parts of what the question takes the average of: the lines of an order.
func (h *held) averageOf() string {
	m := ofOne.FindStringSubmatch(h.Question.Text)
	if m == nil || len(h.tables) != 1 || len(h.selects) != 1 || len(h.outline.GroupBy) > 0 ||
		strings.Contains(h.upper, "/") {
		return ""
	}
	for _, k := range h.tables[0].ForeignKeys {
		noun, parts := words.Stem(m[1]), words.Stems(h.tables[0].Name)
		part := nounOf(h.tables[0].Name) != noun && slices.Contains(parts, noun) // order_items
		if len(k.Columns) == 1 && nounOf(k.RefTable) == noun && part {
			return fmt.Sprintf("The question asks for the average of one %s, the statement takes one row of %s.", m[1], h.tables[0].Name)
		}
	}
	return ""
}

// scalar reports whether the outer select list holds a query.
func (h *held) scalar() bool {
	return slices.ContainsFunc(h.outline.Items,
		func(i sqlshape.SelectItem) bool { return strings.Contains(strings.ToUpper(i.Text), "SELECT") })
}

// dropsSome looks for a join over a reference that some rows of "all employees" do not have.
func (h *held) dropsSome() string {
	if len(h.selects) != 1 || h.selects[0].Where != "" || len(h.outline.Aggregates) > 0 {
		return ""
	}
	for _, c := range h.columns {
		t, column := h.home(c)
		if t == nil || column.NotNull || refersTo(t, column.Name) == "" || column.Profile == nil ||
			column.Profile.Nulls == 0 || !c.Operand {
			continue
		}
		if noun := nounOf(t.Name); h.Question.Has("all "+noun+"*", "every "+noun, "each "+noun) {
			return fmt.Sprintf("The question asks for all, the join drops %s without %s.", t.Name, column.Name)
		}
	}
	return ""
}

var (
	asksShare = compile(`^(?:(?:what|which)(?:'s| is)? )?(?:the )?(?:share|percentage|proportion|fraction) of\b|
		\b(?:what|which) (?:share|percentage|proportion|fraction)\b|\bhow many percent\b|\bin percent$`)
	countsOnly = compile(`^SELECT COUNT\([^()]*\)(?: AS \w+)?\s+FROM `)
)

// share looks for a share of a whole that the statement has filtered like the part, and of a whole of another
// time than the question names, and for a count in the place of a share.
func (h *held) share() string {
	if !h.Question.Has("percent*", "share", "proportion", "ratio", "fraction") {
		return ""
	}
	if asksShare.MatchString(h.asked) && countsOnly.MatchString(h.upper) && len(h.outline.Items) == 1 {
		return "The question asks for a share, the statement counts."
	}
	if !strings.Contains(h.upper, "/") {
		return ""
	}
	if t := h.Table; t != nil && len(t.Rows) == 1 && len(t.Rows[0]) == 1 && isHundred(t.Rows[0][0]) {
		return "The part and the whole of the share are filtered in the same way, so that it is 100 %."
	}
	told := h.statedTimes()
	if len(h.times) != 1 || len(told) == 0 {
		return ""
	}
	for _, s := range h.selects {
		counts := len(s.Items) == 1 && len(s.Items[0].Aggregates) > 0
		dated := slices.ContainsFunc(told, func(x stated) bool { return s.Has(h.tokens[x.place].Pos) })
		if s.Nested && counts && s.Where == "" && len(s.GroupBy) == 0 && !dated &&
			slices.ContainsFunc(s.Tables, sqlshape.TableRef.Base) {
			return fmt.Sprintf("The question says %s, the whole of the share is of all times.", h.times[0])
		}
	}
	return ""
}

func isHundred(v any) bool { return v == 100.0 || v == int64(100) || v == 1.0 }

var asksTwice = compile(`(?i)\bhow (?:many|much)\b.*\band (?:how (?:many|much)|what (?:is|are))\b`)

// half looks for one number where the question asks for two.
func (h *held) half() string {
	if !asksTwice.MatchString(h.Question.Text) || h.Table == nil || len(h.Table.Rows) != 1 || len(h.Table.Columns) != 1 {
		return ""
	}
	return "The question asks for two things, the statement answers with one."
}

// join looks for an equality of two columns between which no foreign key stands, in a database that has some.
func (h *held) join() string {
	keys := slices.ContainsFunc(h.Schema.Tables, func(t schema.Table) bool { return len(t.ForeignKeys) > 0 })
	if !keys {
		return ""
	}
	for _, cond := range h.Statement.Conditions(nil) {
		if len(cond.Equal) != 2 {
			continue
		}
		at, a := h.home(cond.Equal[0])
		bt, b := h.home(cond.Equal[1])
		if at == nil || bt == nil || at == bt || h.linked(at, a.Name, bt, b.Name) {
			continue
		}
		ids := strings.EqualFold(a.Name, "id") && strings.EqualFold(b.Name, "id")
		astray := refersTo(at, a.Name) != "" || refersTo(bt, b.Name) != "" // to another table
		keyed := slices.Contains(at.PrimaryKey, a.Name) || slices.Contains(bt.PrimaryKey, b.Name)
		if ids || !sameEnd(a.Name, b.Name) && keyed && (h.tied(at, bt) || astray) {
			return fmt.Sprintf("The statement joins %s.%s with %s.%s, which do not refer to each other.",
				at.Name, a.Name, bt.Name, b.Name)
		}
	}
	return ""
}

// sameEnd reports whether the name of a column ends with the name of another one, of two words:
// opponent_team_id and team_id.
func sameEnd(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) < len(b) {
		a, b = b, a
	}
	return a == b || strings.HasSuffix(a, b) && len(words.OfName(b)) > 1
}

// linked reports whether one of two columns refers to the other, or both to the same one.
func (h *held) linked(at *schema.Table, a string, bt *schema.Table, b string) bool {
	refers := func(t *schema.Table, column string, to *schema.Table, other string) bool {
		return slices.ContainsFunc(t.ForeignKeys, func(k schema.ForeignKey) bool {
			i := slices.IndexFunc(k.Columns, func(c string) bool { return strings.EqualFold(c, column) })
			return i >= 0 && strings.EqualFold(k.RefTable, to.Name) && i < len(k.RefColumns) &&
				strings.EqualFold(k.RefColumns[i], other)
		})
	}
	ar, br := refersTo(at, a), refersTo(bt, b)
	return refers(at, a, bt, b) || refers(bt, b, at, a) || ar != "" && ar == br
}

// tied reports whether a foreign key stands between two tables.
func (h *held) tied(a, b *schema.Table) bool {
	to := func(t, other *schema.Table) bool {
		return slices.ContainsFunc(t.ForeignKeys,
			func(k schema.ForeignKey) bool { return strings.EqualFold(k.RefTable, other.Name) })
	}
	return to(a, b) || to(b, a)
}

// lost looks for a condition of the question before that a follow-up refers to and the statement no longer has.
func (h *held) lost() string {
	text := h.Question.Text
	if len(h.Earlier) == 0 || !referring.MatchString(text) || whole.MatchString(text) {
		return ""
	}
	timed := len(h.times) > 0 || aMonth.MatchString(h.timeless) || relative.MatchString(text)
	before := newHeld(answer{Answer: contradict.Answer{Statement: h.Earlier[len(h.Earlier)-1], Schema: h.Schema}})
	for _, c := range before.constant {
		t, column := before.home(c.column)
		if t == nil || c.op == "" || strings.HasPrefix(c.op, "NOT") || c.op == "<>" || c.op == "!=" || timed &&
			before.ofTime(c.column) || careful.MatchString(column.Name) && !before.answer.Statement.Uses("OR") &&
			usual.MatchString(c.text) {
			continue
		}
		same := func(x sqlshape.ColumnRef) bool { return strings.EqualFold(x.Column, column.Name) }
		kept := slices.ContainsFunc(h.columns, same) || h.writesConstant(c.text)
		if !kept && h.says(words.Stems(column.Name)...) {
			continue
		}
		if !kept {
			return fmt.Sprintf("The question before says %s, and the statement no longer does.", c.text)
		}
	}
	return ""
}

// writesConstant reports whether a text is a constant of the statement.
func (h *held) writesConstant(text string) bool {
	return slices.ContainsFunc(h.constant, func(c constant) bool { return c.text == text })
}
