package doubt

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// The readers of this file find mistakes that another statement proves.

// union looks for equal rows, or equal figures, that the statement drops before it adds up.
func (h *held) union() string {
	by := map[int]string{}
	for i := range h.tokens {
		switch w := h.word(i); {
		case w == "UNION" && h.word(i+1) != "ALL" && h.word(i+1) != "DISTINCT" && len(h.outline.Aggregates) > 0 &&
			!slices.Contains(h.outline.SetOps, "UNION"):
			by[i] = "UNION ALL"
		case w == "DISTINCT" && h.word(i-1) == "(" && (h.word(i-2) == "SUM" || h.word(i-2) == "AVG"):
			by[i] = ""
		}
	}
	if len(by) == 0 || !h.differs(h.replaced(by)) {
		return ""
	}
	if h.Statement.Uses("UNION") {
		return "UNION drops equal rows before they are added up."
	}
	return "Equal figures are added up once only."
}

// nullFirst looks for a top list that begins with rows without the figure by which it is ordered.
func (h *held) nullFirst() string {
	if len(h.selects) != 1 || len(h.outline.OrderBy) == 0 || h.Table == nil {
		return ""
	}
	s := h.selects[0]
	limit := limitsTo.FindStringSubmatch(strings.TrimSpace(s.Limit))
	column, descends, ok := h.ordered()
	if limit == nil || !ok || column.Column == "" || len(s.GroupBy) > 0 || s.Distinct {
		return ""
	}
	name := strings.TrimSpace(directions.ReplaceAllString(s.OrderBy[0], ""))
	order := "SELECT " + name + " FROM " + s.From + whereOf(s.Where) + " ORDER BY " + s.OrderBy[0] + " LIMIT 1"
	_, found := h.home(column)
	if found == nil || found.NotNull || found.Profile != nil && found.Profile.Nulls == 0 ||
		slices.ContainsFunc(s.Items, func(i sqlshape.SelectItem) bool { return strings.EqualFold(i.Alias, name) }) {
		return ""
	}
	t := h.run(order)
	if t == nil || len(t.Rows) != 1 || t.Rows[0][0] != nil ||
		!h.some("SELECT 1 FROM "+s.From+whereOf(s.Where)+andOf(s.Where)+name+" IS NOT NULL LIMIT 1") {
		return ""
	}
	end := map[bool]string{true: "highest", false: "lowest"}[descends]
	return fmt.Sprintf("Rows without %s stand before the %s one.", column.Column, end)
}

var directions = compile(`(?i)(?:\s+(?:ASC|DESC|NULLS\s+(?:FIRST|LAST)))+\s*$`)

func whereOf(conditions string) string {
	if conditions == "" {
		return ""
	}
	return " WHERE (" + conditions + ")"
}

func andOf(conditions string) string {
	if conditions == "" {
		return " WHERE "
	}
	return " AND "
}

// several looks for a query in the place of one value that has several rows.
func (h *held) several() string {
	for _, s := range h.selects {
		at := slices.IndexFunc(h.tokens, func(t sqltext.Token) bool { return t.Pos == s.Pos })
		single := s.Limit == "" && len(s.Items) == 1 && len(s.Items[0].Aggregates) == 0 &&
			!strings.Contains(s.Items[0].Text, "(")
		if !s.Nested || at < 2 || !single || s.Compound || h.word(at-1) != "(" ||
			!slices.Contains([]string{"=", "<", ">", "<=", ">=", "<>"}, h.word(at-2)) {
			continue
		}
		if t := h.run("SELECT count(*) FROM (" + s.Text + ") AS several"); t != nil && len(t.Rows) == 1 {
			if n, ok := t.Rows[0][0].(int64); ok && n > 1 {
				return fmt.Sprintf("A query in the place of one value has %d rows, and only one of them counts.", n)
			}
		}
	}
	return ""
}

// ofEach finds a figure that is asked of each of the things in front of it.
var ofEach = compile(`\band (?:their|the|its) (?:\pL+ )?(?:number|count|total|sum|average)\b`)

// homonym looks for groups by a name that two rows of the table share.
func (h *held) homonym() string {
	if len(h.selects) != 1 || len(h.outline.GroupBy) == 0 || len(h.outline.Aggregates) == 0 {
		return ""
	}
	t, names := h.groupNames()
	if t == nil {
		return ""
	}
	noun := nounOf(t.Name)
	if !h.Question.Has("per/each/every/by/which/all/what "+noun+"/"+noun+"s") && !ofEach.MatchString(h.asked) {
		return ""
	}
	list := strings.Join(names, ", ")
	named := " WHERE " + names[0] + " IS NOT NULL GROUP BY " + list
	if !h.some("SELECT 1 FROM " + h.quotedTable(t) + named + " HAVING count(*) > 1 LIMIT 1") {
		return ""
	}
	return fmt.Sprintf("The question asks for each %s, and several %s share one %s, by which the statement groups.",
		noun, t.Name, strings.Trim(names[0], "\"`"))
}

// groupNames returns the table, and its columns, by whose names alone the outer query groups; nil where it
// groups by something
// else.
func (h *held) groupNames() (of *schema.Table, names []string) {
	from := strings.LastIndex(h.upper, "GROUP BY")
	for _, c := range h.columns {
		t, column := h.home(c)
		plain := slices.ContainsFunc(h.outline.GroupBy, func(g string) bool {
			return strings.EqualFold(g, c.Column) || strings.EqualFold(g, c.Qualifier+"."+c.Column)
		})
		if c.Pos < from || !plain {
			continue
		}
		if t == nil || of != nil && t != of || len(t.PrimaryKey) != 1 || !personal.MatchString(column.Name) {
			return nil, nil
		}
		if of = t; !slices.Contains(names, h.quoted(column.Name)) {
			names = append(names, h.quoted(column.Name))
		}
	}
	if len(names) != len(h.outline.GroupBy) {
		return nil, nil
	}
	return of, names
}

var personal = compile(`(?i)name|title|label`)

func (h *held) quoted(name string) string {
	if h.Statement.Dialect().Backslash || h.Statement.Dialect().RawStrings {
		return "`" + strings.ReplaceAll(name, "`", "``") + "`"
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func (h *held) quotedTable(t *schema.Table) string {
	if t.Schema == "" {
		return h.quoted(t.Name)
	}
	return h.quoted(t.Schema) + "." + h.quoted(t.Name)
}

var averagedOf = compile(`(?i)\b(AVG|SUM)\s*\(\s*(CASE\s+WHEN\s+)?(\w+)\.(\w+)`)

// repeated looks for an average, or a count by CASE, of rows of a table that a join repeats and that the
// question counts once.
func (h *held) repeated() string {
	if len(h.selects) != 1 || len(h.selects[0].Tables) < 2 {
		return ""
	}
	s := h.selects[0]
	for _, m := range averagedOf.FindAllStringSubmatch(s.Text, -1) {
		at := slices.IndexFunc(s.Tables, func(r sqlshape.TableRef) bool {
			return strings.EqualFold(r.Alias, m[3]) || r.Alias == "" && strings.EqualFold(r.Name, m[3])
		})
		if at < 0 || strings.EqualFold(m[1], "SUM") && m[2] == "" {
			continue
		}
		t, ok := h.Schema.Lookup(s.Tables[at].Schema, s.Tables[at].Name)
		if !ok || len(t.PrimaryKey) != 1 || len(s.GroupBy) > 0 || !h.countsOne(t, m[2] != "") {
			continue
		}
		each := " GROUP BY " + m[3] + "." + h.quoted(t.PrimaryKey[0])
		if h.some("SELECT 1 FROM " + s.From + whereOf(s.Where) + each + " HAVING count(*) > 1 LIMIT 1") {
			return fmt.Sprintf("The join repeats rows of %s, and each counts as often as it stands there.", t.Name)
		}
	}
	return ""
}

// countsOne reports whether the question takes each row of a table once: the average of an order, how many orders.
func (h *held) countsOne(t *schema.Table, counts bool) bool {
	noun := nounOf(t.Name)
	if counts {
		return h.Question.Has("how many "+noun+"*", "number of "+noun+"*")
	}
	return h.Question.Has("of/per a/an "+noun, "per/each/average "+noun+"*", "of a/an * "+noun, "of all "+noun+"*")
}

var (
	called = compile(`(?i)\b(?:contain\w*|includ\w*|start\w*|begin\w*|end\w*|like|part of|somewhere|have .* in|
		with .* in|substring|match\w*)\b`)
	spelling = compile(`^[\pL][\pL\s.'-]*$`)
)

// text looks for stored texts that differ from a constant in case, in accents and blanks only, and for
// patterns that match more
// than the value that the question names.
func (h *held) text() string {
	for _, c := range h.constant {
		t, column := h.home(c.column)
		if t == nil || c.number || !h.bare(c) {
			continue
		}
		name, from := h.quoted(column.Name), h.quotedTable(t)
		inner := strings.Trim(c.text, "%")
		switch {
		case c.op == "=" && spelling.MatchString(c.text) && h.named(c.text):
			if other := h.alike(t, column.Name, c.text); other != "" {
				return fmt.Sprintf("%s.%s also holds %q in other letters than %q.", t.Name, column.Name, other, c.text)
			}
		case c.op == "LIKE" && strings.Contains(inner, "_") &&
			strings.Contains(h.asked, strings.ToLower(inner)) && !h.Statement.Uses("ESCAPE"):
			return fmt.Sprintf("The _ of %q stands for any letter in the pattern of the statement.", inner)
		case c.op == "LIKE" && c.text != inner && !strings.ContainsAny(inner, "%_") &&
			!called.MatchString(h.Question.Text) && h.Question.Language != "":
			exact := h.some("SELECT 1 FROM " + from + " WHERE lower(" + name + ") = lower(" + literal(inner) + ") LIMIT 1")
			if exact && h.some("SELECT 1 FROM "+from+" WHERE "+name+" LIKE "+literal(c.text)+" AND lower("+name+") <> lower("+literal(inner)+") LIMIT 1") {
				return fmt.Sprintf("The question says %s, the pattern of the statement matches other values of %s, too.", inner, column.Name)
			}
		}
	}
	return ""
}

// alike is a stored value of a column that differs from a text in case, accents and blanks only; "": none.
func (h *held) alike(t *schema.Table, column, text string) string {
	if h.Values == nil {
		return ""
	}
	for _, v := range h.Values.Named(text + ", " + strings.ToUpper(text) + ", " + strings.ToLower(text)) {
		ofColumn := v.Schema == t.Schema && v.Table == t.Name && v.Column == column
		if ofColumn && !h.writesConstant(v.Value) && sameLetters(strings.TrimSpace(v.Value), text) {
			return v.Value
		}
	}
	return ""
}

// sameLetters reports whether two texts differ in case and in letters with accents only.
func sameLetters(a, b string) bool {
	return slices.EqualFunc([]rune(strings.ToLower(a)), []rune(strings.ToLower(b)), func(x, y rune) bool {
		return x == y || max(x, y) > unicode.MaxASCII && unicode.IsLetter(x) && unicode.IsLetter(y)
	})
}

// bare reports whether nothing stands around the column of a constant.
func (h *held) bare(c constant) bool {
	at := h.operator(c.at)
	return at > 0 && h.tokens[at-1].Pos+len(h.tokens[at-1].Text) >= c.column.Pos && h.word(at-1) != ")" &&
		h.word(at+1) != "("
}

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// months looks for months of several years in one row.
func (h *held) months() string {
	if len(h.times) > 0 || len(h.statedTimes()) > 0 ||
		h.Question.Has("each year", "per year", "every year", "season*", "over the years", "of the year") {
		return ""
	}
	for i, t := range h.tokens {
		if t.Kind != sqltext.String || h.Statement.Dialect().Value(t) != "%m" || h.word(i-1) != "(" ||
			h.word(i-2) != "STRFTIME" {
			continue
		}
		c := h.columnBehind(t.Pos)
		home, column := h.home(c)
		if home == nil || strings.Contains(h.upper, "%Y") || relative.MatchString(h.Question.Text) {
			continue
		}
		years := h.run("SELECT count(DISTINCT strftime('%Y', " + h.quoted(column.Name) + ")) FROM " + h.quotedTable(home))
		if years != nil && len(years.Rows) == 1 {
			if n, ok := years.Rows[0][0].(int64); ok && n > 1 {
				return fmt.Sprintf("A month of the answer is that of %d years together.", n)
			}
		}
	}
	return ""
}

// nulls looks for rows that an inequality or a sum leaves out because a value is missing, where the question
// leaves out none.
func (h *held) nulls() string {
	denied := denies.MatchString(h.Question.Text)
	for _, c := range h.constant {
		t, column := h.home(c.column)
		missing := t != nil && column.Profile != nil && column.Profile.Nulls > 0 &&
			!strings.Contains(h.upper, " NULL")
		if denied && missing && (c.op == "<>" || c.op == "!=" || c.op == "NOT IN") && len(h.tables) == 1 &&
			h.named(c.text) {
			return fmt.Sprintf("Rows without %s are not in the answer, though they are not %s.", column.Name, c.text)
		}
	}
	if len(h.outline.Aggregates) == 0 || strings.Contains(h.upper, " NULL") {
		return ""
	}
	for _, c := range h.columns {
		t, column := h.home(c)
		at := slices.IndexFunc(h.tokens, func(t sqltext.Token) bool { return t.Pos == c.Pos })
		if t == nil || at < 0 || column.Profile == nil || column.Profile.Nulls == 0 {
			continue
		}
		end := at
		for h.word(end+1) == "." {
			end += 2
		}
		added := slices.Contains([]string{"+", "-"}, h.word(at-1)) ||
			slices.Contains([]string{"+", "-"}, h.word(end+1))
		if added && h.differs(h.replaced(map[int]string{at: "coalesce(" + h.tokens[at].Text, end: h.tail(at, end)})) {
			return fmt.Sprintf("Rows without %s add nothing to the sum.", column.Name)
		}
	}
	return ""
}

// tail is the last part of a column in a call of coalesce that begins at its first part.
func (h *held) tail(at, end int) string {
	if at == end {
		return "coalesce(" + h.tokens[at].Text + ", 0)"
	}
	return h.tokens[end].Text + ", 0)"
}

// alias looks for a group by a name that is both a column and the alias of an expression over it, of which an
// engine takes the
// column.
func (h *held) alias() string {
	for _, item := range h.outline.Items {
		stands := func(c sqlshape.ColumnRef) bool {
			return strings.EqualFold(c.Column, item.Alias) && strings.Contains(item.Text, c.Column)
		}
		if item.Alias == "" || item.Column != "" || !slices.ContainsFunc(h.columns, stands) {
			continue
		}
		for i := range h.tokens {
			if h.word(i) == "GROUP" && h.word(i+1) == "BY" &&
				strings.EqualFold(h.tokens[min(i+2, len(h.tokens)-1)].Text, item.Alias) &&
				h.differs(h.replaced(map[int]string{i + 2: item.Text})) {
				return fmt.Sprintf("The statement groups by the column %s and not by what it shows under that name.", item.Alias)
			}
		}
	}
	return ""
}

// ties looks for a number of rows by ROW_NUMBER that leaves out an equal row.
func (h *held) ties() string {
	by := map[int]string{}
	for i := range h.tokens {
		if h.word(i) == "ROW_NUMBER" {
			by[i] = "RANK"
		}
	}
	if len(by) != 1 || !h.differs(h.replaced(by)) {
		return ""
	}
	return "Of rows that are equal in the order one is shown and another is not."
}

// spellings looks for a count of different texts that differ in case and blanks only.
func (h *held) spellings() string {
	if len(h.outline.Aggregates) != 1 || len(h.columns) != 1 {
		return ""
	}
	at := slices.IndexFunc(h.tokens, func(t sqltext.Token) bool { return t.Pos == h.columns[0].Pos })
	t, column := h.home(h.columns[0])
	if t == nil || h.word(at-1) != "DISTINCT" || h.word(at+1) != ")" ||
		!strings.Contains(strings.ToUpper(column.Type), "TEXT") &&
			!strings.Contains(strings.ToUpper(column.Type), "CHAR") {
		return ""
	}
	if !h.differs(h.replaced(map[int]string{at: "lower(trim(" + h.tokens[at].Text + "))"})) {
		return ""
	}
	return fmt.Sprintf("Some values of %s differ in case or blanks only and count twice.", column.Name)
}

// typed looks for a part of a date, which is a text to SQLite, that is compared with a number: no row is equal.
func (h *held) typed() string {
	for _, c := range h.constant {
		at := h.operator(c.at)
		if !c.number || at < 2 || at+1 != c.at || h.word(at-1) != ")" {
			continue
		}
		open, depth := at-1, 0
		for ; open > 0; open-- {
			if w := h.word(open); w == ")" {
				depth++
			} else if w == "(" {
				depth--
			}
			if depth == 0 {
				break
			}
		}
		if h.word(open-1) == "STRFTIME" && h.word(open-2) != "(" && h.word(open-2) != "+" {
			return fmt.Sprintf("A text is compared with the number %s, and no text is equal to a number.", c.text)
		}
	}
	return ""
}
