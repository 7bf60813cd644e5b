package doubt

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// The readers of this file find mistakes that another statement proves.

// union looks for equal rows, or equal figures, that the statement drops before it adds up.
func (h held) union() string {
	by := map[int]string{}
	for i := range h.tokens {
		switch {
		case h.word(i) == "UNION" && h.word(i+1) != "ALL" && h.word(i+1) != "DISTINCT" && len(h.Aggregates) > 0 &&
			!slices.Contains(h.SetOps, "UNION"):
			by[i] = "UNION ALL"
		case h.stand(i-2, "SUM", "(", "DISTINCT"), h.stand(i-2, "AVG", "(", "DISTINCT"):
			by[i] = ""
		}
	}
	switch {
	case len(by) == 0 || !h.differs(h.replaced(by)):
		return ""
	case h.Statement.Uses("UNION"):
		return "UNION drops equal rows before they are added up."
	}
	return "Equal figures are added up once only."
}

// nullFirst looks for a top list that begins with rows without the figure by which it is ordered.
func (h held) nullFirst() string {
	if !h.single || h.Table == nil {
		return ""
	}
	s := h.selects[0]
	column, descends, ok := h.ordered()
	if !ok || column.known == nil || limitOf(s) == 0 || len(s.OrderBy) == 0 || len(s.GroupBy) > 0 || s.Distinct ||
		column.known.NotNull || column.known.Profile != nil && column.known.Profile.Nulls == 0 {
		return ""
	}
	name, from := strings.TrimSpace(directions.ReplaceAllString(s.OrderBy[0], "")), s.From+whereOf(s)
	if slices.ContainsFunc(s.Items, func(i sqlshape.SelectItem) bool { return strings.EqualFold(i.Alias, name) }) {
		return ""
	}
	first := h.run("SELECT %s FROM %s ORDER BY %s LIMIT 1", name, from, s.OrderBy[0])
	if first == nil || len(first.Rows) != 1 || first.Rows[0][0] != nil ||
		!h.some("SELECT 1 FROM (SELECT %s AS figure FROM %s) AS figures WHERE figure IS NOT NULL LIMIT 1", name, from) {
		return ""
	}
	return tell("Rows without %s stand before the %s one.", column.Column, endIn(descends))
}

var directions = compile(`(?i)(?:\s+(?:ASC|DESC|NULLS\s+(?:FIRST|LAST)))+\s*$`)

func whereOf(s sqlshape.Select) string {
	if s.Where == "" {
		return ""
	}
	return " WHERE (" + s.Where + ")"
}

// several looks for a query in the place of one value that has several rows.
func (h held) several() string {
	for _, s := range h.selects {
		at := h.tokenAt(s.Pos)
		single := s.Limit == "" && len(s.Items) == 1 && len(s.Items[0].Aggregates) == 0 &&
			!strings.Contains(s.Items[0].Text, "(")
		if !s.Nested || !single || s.Compound || h.word(at-1) != "(" || !oneValued[h.word(at-2)] {
			continue
		}
		if n, _ := countIn(h.run("SELECT count(*) FROM (%s) AS several", s.Text)); n > 1 {
			return tell("A query in the place of one value has %d rows, and only one of them counts.", n)
		}
	}
	return ""
}

// oneValued are comparisons with one value.
var oneValued = words.Set("= < > <= >= <>")

// ofEach finds a figure that is asked of each of the things in front of it.
var ofEach = compile(`\band (?:their|the|its) (?:\pL+ )?(?:number|count|total|sum|average)\b`)

// homonym looks for groups by a name that two rows of the table share.
func (h held) homonym() string {
	if !h.single || len(h.GroupBy) == 0 || len(h.Aggregates) == 0 {
		return ""
	}
	t, names := h.groupNames()
	if t == nil {
		return ""
	}
	noun := nounOf(t.Name)
	if !h.Has("per/each/every/by/which/all/what "+noun+"/"+noun+"s") && !h.asks(ofEach) ||
		!h.repeats(h.quotedTable(t)+" WHERE "+names[0]+" IS NOT NULL", strings.Join(names, ", ")) {
		return ""
	}
	return tell("The question asks for each %s, and several %s share one %s, by which the statement groups.",
		noun, t.Name, strings.Trim(names[0], "\"`"))
}

// repeats reports whether several rows have one value.
func (h held) repeats(from, by string) bool {
	return h.some("SELECT 1 FROM %s GROUP BY %s HAVING count(*) > 1 LIMIT 1", from, by)
}

// groupNames returns the table, and its columns, by whose names alone the outer query groups; nil where it groups by
// something else.
func (h held) groupNames() (of *schema.Table, names []string) {
	for _, c := range h.groups() {
		if c.of == nil || of != nil && c.of != of || len(c.of.PrimaryKey) != 1 || !personal.MatchString(c.Column) {
			return nil, nil
		}
		of, names = c.of, append(names, h.quoted(c.known.Name))
	}
	return of, names
}

var personal = compile(`(?i)name|title|label`)

func (h held) quoted(name string) string {
	mark := `"`
	if h.Statement.Dialect().Backslash || h.Statement.Dialect().RawStrings {
		mark = "`"
	}
	return mark + strings.ReplaceAll(name, mark, mark+mark) + mark
}

func (h held) quotedTable(t *schema.Table) string {
	if t.Schema == "" {
		return h.quoted(t.Name)
	}
	return h.quoted(t.Schema) + "." + h.quoted(t.Name)
}

var averagedOf = compile(`(?i)\b(AVG|SUM)\s*\(\s*(CASE\s+WHEN\s+)?(\w+)\.(\w+)`)

// repeated looks for an average, or a count by CASE, of rows of a table that a join repeats and that the question
// counts once.
func (h held) repeated() string {
	if !h.single || len(h.selects[0].Tables) < 2 || len(h.selects[0].GroupBy) > 0 {
		return ""
	}
	s := h.selects[0]
	for _, m := range averagedOf.FindAllStringSubmatch(s.Text, -1) {
		at := slices.IndexFunc(s.Tables, func(r sqlshape.TableRef) bool {
			return strings.EqualFold(cmp.Or(r.Alias, r.Name), m[3])
		})
		if at < 0 || strings.EqualFold(m[1], "SUM") && m[2] == "" {
			continue
		}
		t := h.table(s.Tables[at])
		if t != nil && len(t.PrimaryKey) == 1 && h.countsOne(t, m[2] != "") &&
			h.repeats(s.From+whereOf(s), m[3]+"."+h.quoted(t.PrimaryKey[0])) {
			return tell("The join repeats rows of %s, and each counts as often as it stands there.", t.Name)
		}
	}
	return ""
}

// countsOne reports whether the question takes each row of a table once: the average of an order, how many orders.
func (h held) countsOne(t *schema.Table, counts bool) bool {
	noun := nounOf(t.Name)
	if counts {
		return h.Has("how many "+noun+"*", "number of "+noun+"*")
	}
	return h.Has("of/per a/an "+noun, "per/each/average "+noun+"*", "of a/an * "+noun, "of all "+noun+"*")
}

var (
	called = compile(`(?i)\b(?:contain\w*|includ\w*|start\w*|begin\w*|end\w*|like|part of|somewhere|have .* in|
		with .* in|substring|match\w*)\b`)
	spelling = compile(`^[\pL][\pL\s.'-]*$`)
)

// text looks for stored texts that differ from a constant in case, in accents and blanks only, and for patterns that
// match more than the value that the question names.
func (h held) text() string {
	for _, c := range h.constant {
		if c.column.of == nil || c.number || c.opAt < 0 || h.word(c.opAt-1) == ")" || h.word(c.opAt+1) == "(" {
			continue
		}
		column, inner := c.column.known.Name, strings.Trim(c.text, "%")
		switch {
		case c.op == "=" && spelling.MatchString(c.text) && h.named(c.text):
			if other := h.spelledOtherwise(c); other != "" {
				how := " in other letters than"
				if strings.TrimSpace(other) == strings.TrimSpace(c.text) {
					how = ", with other blanks than"
				}
				return tell("%s.%s also holds %q%s %q.", c.column.of.Name, column, other, how, c.text)
			}
		case c.op == "LIKE" && strings.Contains(inner, "_") && strings.Contains(h.asked, strings.ToLower(inner)) &&
			!h.Statement.Uses("ESCAPE"):
			return tell("The _ of %q stands for any letter in the pattern of the statement.", inner)
		case c.op == "LIKE" && c.text != inner && !strings.ContainsAny(inner, "%_") && !h.asks(called) && h.Language != "":
			name, exact := h.quoted(column), h.literal(inner)
			from := h.quotedTable(c.column.of) + " WHERE "
			if h.some("SELECT 1 FROM %s lower(%s) = lower(%s) LIMIT 1", from, name, exact) &&
				h.some("SELECT 1 FROM %s %s LIKE %s AND lower(%[2]s) <> lower(%[4]s) LIMIT 1", from, name,
					h.literal(c.text), exact) {
				return tell("The question says %s, the pattern of the statement matches other values of %s, too.", inner, column)
			}
		}
	}
	return ""
}

// spelledOtherwise is a stored value that differs from a constant in case, accents and blanks only; "": none.
func (h held) spelledOtherwise(c constant) string {
	if h.Values == nil {
		return ""
	}
	for _, v := range h.Values.Named(c.text + ", " + strings.ToUpper(c.text) + ", " + strings.ToLower(c.text)) {
		ofColumn := v.Schema == c.column.of.Schema && v.Table == c.column.of.Name && v.Column == c.column.known.Name
		if ofColumn && !h.writesConstant(v.Value) && sameLetters(strings.TrimSpace(v.Value), c.text) {
			return v.Value
		}
	}
	return ""
}

// sameLetters reports whether two texts differ in case and in letters with accents only.
func sameLetters(a, b string) bool {
	return slices.EqualFunc([]rune(strings.ToLower(a)), []rune(strings.ToLower(b)), func(x, y rune) bool {
		return x == y || max(x, y) > unicode.MaxASCII
	})
}

// literal writes a text as the database reads it.
func (h held) literal(text string) string {
	if h.Statement.Dialect().Backslash {
		text = strings.ReplaceAll(text, `\`, `\\`)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// months looks for months of several years in one row.
func (h held) months() string {
	if len(h.times) > 0 || len(h.statedTimes()) > 0 || h.writes("%Y") || h.asks(relative, birthday) ||
		h.Has("each year", "per year", "every year", "season*", "over the years", "of the year") {
		return ""
	}
	at := h.places("STRFTIME", "(", "'%M'")
	if len(at) == 2 && h.filtersAt(at[0]) && h.filtersAt(at[1]) { // the months of two columns are compared
		return ""
	}
	for _, i := range at {
		c := h.columnBehind(h.tokens[i].Pos)
		if c.of == nil || h.Statement.Dialect().Value(h.tokens[i+2]) != "%m" {
			continue
		}
		years, _ := countIn(h.run("SELECT count(DISTINCT strftime('%%Y', %s)) FROM %s",
			h.quoted(c.known.Name), h.quotedTable(c.of)))
		if years > 1 {
			return tell("A month of the answer is that of %d years together.", years)
		}
	}
	return ""
}

// nulls looks for rows that an inequality or a sum leaves out because a value is missing, where the question leaves out
// none.
func (h held) nulls() string {
	if h.writes(" NULL") {
		return ""
	}
	for _, c := range h.constant {
		if hasNulls(c.column) && unequal[c.op] && len(h.tables) == 1 && h.asks(denies) && h.named(c.text) {
			return tell("Rows without %s are not in the answer, though they are not %s.", c.column.known.Name, c.text)
		}
	}
	if len(h.Aggregates) == 0 {
		return ""
	}
	for _, c := range h.columns {
		at := h.tokenAt(c.Pos)
		if !hasNulls(c) || at < 0 || c.ofTime() {
			continue
		}
		end := h.lastPart(at)
		by := map[int]string{end: h.tokens[end].Text + ", 0)"}
		by[at] = "coalesce(" + cmp.Or(by[at], h.tokens[at].Text)
		if (adding[h.word(at-1)] || adding[h.word(end+1)]) && h.differs(h.replaced(by)) {
			return tell("Rows without %s add nothing to the sum.", c.known.Name)
		}
	}
	return ""
}

var adding = words.Set("+ -")

// hasNulls reports whether rows have no value in a column.
func hasNulls(c mention) bool { return c.known != nil && profileOf(c.known).Nulls > 0 }

// alias looks for a group by a name that is both a column and the alias of an expression over it, of which an engine
// takes the column.
func (h held) alias() string {
	for _, item := range h.Items {
		stands := func(c mention) bool {
			return strings.EqualFold(c.Column, item.Alias) && strings.Contains(item.Text, c.Column)
		}
		if item.Alias == "" || item.Column != "" || !h.anyMention(stands) {
			continue
		}
		for _, i := range h.places("GROUP", "BY", strings.ToUpper(item.Alias)) {
			if h.changes(i+2, item.Text) {
				return tell("The statement groups by the column %s and not by what it shows under that name.", item.Alias)
			}
		}
	}
	return ""
}

// ties looks for a number of rows by ROW_NUMBER that leaves out an equal row.
func (h held) ties() string {
	at := h.places("ROW_NUMBER")
	if len(at) != 1 || !h.changes(at[0], "RANK") {
		return ""
	}
	return "Of rows that are equal in the order one is shown and another is not."
}

// spellings looks for a count of different texts that differ in case and blanks only.
func (h held) spellings() string {
	if len(h.Aggregates) != 1 || len(h.columns) != 1 {
		return ""
	}
	c := h.columns[0]
	at := h.tokenAt(c.Pos)
	if c.known == nil || h.word(at-1) != "DISTINCT" || h.word(at+1) != ")" || !textual.MatchString(c.known.Type) ||
		!h.changes(at, "lower(trim("+h.tokens[at].Text+"))") {
		return ""
	}
	return tell("Some values of %s differ in case or blanks only and count twice.", c.known.Name)
}

var textual = compile(`(?i)TEXT|CHAR`)

// typed looks for a part of a date, which is a text to SQLite, that is compared with a number: no row is equal.
func (h held) typed() string {
	m := partIsNumber.FindStringSubmatch(h.upper)
	if m == nil {
		return ""
	}
	return tell("A text is compared with the number %s, and no text is equal to a number.", m[1])
}

var partIsNumber = compile(`(?:^|[^(+\s])\s*STRFTIME\((?:[^()]|\([^()]*\))*\)\s*
	(?:[=<>!]+|LIKE|BETWEEN)\s*(\d+(?:\.\d+)?)`)
