package doubt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/internal/contradict"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// RowState computes the answer again without rows that usually do not count, and compares both. Such rows are
// deleted, archived, cancelled and test rows, old versions, earlier snapshots, totals among their parts, placeholders
// such as -1, and other currencies. It returns a sentence with both figures. It returns "" if the answer is the same,
// or if the statement, the question or its evidence mentions such rows. It runs at most one statement. Like
// Contradictions it is for the Engine.
func (q QuestionFeatures) RowState(w contradict.Answer) string {
	if w.Statement == nil || w.Schema == nil || w.Query == nil || w.Table == nil || w.Table.Truncated {
		return ""
	}
	h := newHeld(answer{w, q})
	if anyState.MatchString(q.Text) {
		return ""
	}
	for _, t := range h.tables {
		for _, find := range []func(held, mention) rowState{
			held.markedRows, held.oldRows, held.snapshots, held.totals, held.placeholders, held.currencies,
		} {
			for i, c := range t.Columns {
				s := find(h, mention{sqlshape.ColumnRef{Column: c.Name}, t, &t.Columns[i]})
				if s.keeps != "" && profileOf(&c).Distinct > 0 {
					return h.withoutRows(t, s)
				}
			}
		}
	}
	return ""
}

// rowState says which rows of a table usually count.
type rowState struct {
	keeps string // the condition that they meet
	what  string // what the others are, as a clause
}

// anyState are words by which a question asks for rows of every kind.
var anyState = compile(`(?i)\b(?:includ\w+|ever|whatever|regardless|no matter|any (?:status|state|kind)|
		versions?|histor\w+|rows|changes|over time)\b`)

// leavesOut are words by which an instruction leaves rows out.
var leavesOut = compile(`(?i)\b(?:leave out|exclude|ignore|omit|without|filter|is no|are no|not|never|only)\b`)

// Words of columns and values that mark rows which usually do not count, and those that do.
var (
	goneWords = words.Set(`deleted removed archived cancelled canceled voided void refunded deactivated disabled inactive 
		test trashed purged obsolete discontinued withdrawn`)
	liveWords  = words.Set("active current enabled")
	aboutWords = words.Set("is at on date time flag ts row account user order")
	totalTexts = words.Set("all,total,totals,grand total,overall")
)

// lostWords are values of a status that matter for what was earned: an order that was cancelled was still placed.
var lostWords = words.Set("cancelled canceled refunded voided void")

// earned are words by which a question asks for what was earned.
var earned = words.Set("revenue turnover sale sales earning income profit mrr arr gmv earn earned sold")

// settled reports whether the statement mentions a column, or the question or what is known besides settles what it
// marks.
func (h held) settled(c mention, values ...string) bool {
	marks := without(words.Stems(c.Column), nil)
	for _, v := range values {
		marks = append(marks, words.Stems(v)...)
	}
	marks = except(marks, func(m string) bool { return aboutWords[m] || len(m) < 3 })
	near := func(list []string) bool {
		return slices.ContainsFunc(marks, func(m string) bool { return alike(list, m, 4, 5) })
	}
	return h.uses(c.of, c.Column) || near(h.stems) || near(stemsOf(h.evidence)) && !leavesOut.MatchString(h.evidence)
}

// isCareful reports whether the statement names a column that marks rows, or a value of a status that says that a row
// does not count: its author has thought of which rows count.
func (h held) isCareful() bool {
	return h.anyMention(func(m mention) bool { return m.of != nil && markOf(m.Column) != "" }) ||
		h.anyConstant(func(c constant) bool {
			return isStatus(c.column.Column) && goneWords[strings.ToLower(c.text)]
		})
}

// markOf is the word by which the name of a column marks rows; "": none.
func markOf(column string) string {
	mark := except(words.OfName(column), func(w string) bool { return aboutWords[w] })
	if len(mark) != 1 || !goneWords[mark[0]] && !liveWords[mark[0]] {
		return ""
	}
	return mark[0]
}

// isStatus reports whether a column has the status of its row.
func isStatus(column string) bool { return nounOf(column) == "status" || nounOf(column) == "state" }

// markedRows finds rows that a column marks as deleted, archived, cancelled, refunded or as tests.
func (h held) markedRows(c mention) rowState {
	s := h.flaggedRows(c)
	if isStatus(c.Column) {
		s = h.statusRows(c)
	}
	if s.keeps == "" || h.isCareful() {
		return rowState{}
	}
	return s
}

// statusRows finds rows whose status says that they do not count.
func (h held) statusRows(c mention) (s rowState) {
	gone, texts := h.goneValues(profileOf(c.known))
	if len(gone) == 0 || h.settled(c, texts...) {
		return s
	}
	return rowState{h.notAmong(c, gone), "are " + strings.Join(texts, " or ")}
}

// flaggedRows finds rows that a flag or a moment takes out: is_test, active, deleted_at.
func (h held) flaggedRows(c mention) (s rowState) {
	mark := markOf(c.Column)
	if mark == "" || h.settled(c) {
		return s
	}
	p, with := profileOf(c.known), "have "+c.Column+" set"
	takes, leaves, flag := h.flagValues(p)
	switch gone := goneWords[mark]; {
	case !flag && gone && p.Nulls > 0:
		return rowState{h.quoted(c.Column) + " IS NULL", with}
	case flag && gone && len(takes) > 0 && (len(leaves) > 0 || p.Nulls > 0):
		return rowState{h.notAmong(c, takes), with}
	case flag && !gone && len(takes) > 0 && len(leaves) > 0:
		return rowState{h.quoted(c.Column) + " IN (" + strings.Join(takes, ", ") + ")", "do not " + with}
	}
	return s
}

// notAmong is the condition that a column has no value of a list.
func (h held) notAmong(c mention, literals []string) string {
	return fmt.Sprintf("(%s IS NULL OR %[1]s NOT IN (%s))", h.quoted(c.Column), strings.Join(literals, ", "))
}

// goneValues are the values of a status that say that a row does not count, as literals and as they read; none where
// all values say so.
func (h held) goneValues(p *schema.Profile) (literals, texts []string) {
	money := slices.ContainsFunc(h.stems, func(w string) bool { return earned[w] })
	for _, v := range p.Top {
		text, _ := v.Value.(string)
		plain := strings.ToLower(strings.TrimSpace(text))
		if goneWords[plain] && (money || !lostWords[plain]) {
			literals, texts = append(literals, h.literal(text)), append(texts, plain)
		}
	}
	if len(literals) == len(p.Top) {
		return nil, nil
	}
	return literals, texts
}

// flagValues parts the values of a column of truth values, as literals.
func (h held) flagValues(p *schema.Profile) (takes, leaves []string, flag bool) {
	for _, v := range p.Top {
		text := h.literalOf(v.Value)
		switch plain := strings.ToLower(strings.Trim(text, "'")); {
		case yes[plain]:
			takes = append(takes, text)
		case no[plain]:
			leaves = append(leaves, text)
		default:
			return nil, nil, false
		}
	}
	return takes, leaves, len(p.Top) > 0 && p.Distinct <= 2
}

// literalOf is a stored value in a statement.
func (h held) literalOf(v any) string {
	if text, ok := v.(string); ok {
		return h.literal(text)
	}
	return fmt.Sprint(v)
}

// Columns with the first or the last moment at which a row is valid, and columns of a day for which a row was written.
var (
	validFrom  = compile(`^(?:valid|effective) (?:from|start|since)\b`)
	validUntil = compile(`^(?:valid|effective) (?:to|until|end|till)\b`)
	ofSnapshot = compile(`\bsnapshot\b|^as of\b`)
)

// oldRows finds versions of rows that are over.
func (h held) oldRows(c mention) (s rowState) {
	begins := anyColumn(c.of, func(name string) bool { return nameHas(name, validFrom) })
	if !begins || !nameHas(c.Column, validUntil) || h.settled(c) {
		return s
	}
	p, what := profileOf(c.known), "are old versions with "+c.Column
	last, _ := p.Max.(string)
	switch {
	case p.Nulls > 0:
		return rowState{h.quoted(c.Column) + " IS NULL", what}
	case strings.HasPrefix(last, "9999-") && p.Distinct > 1:
		return rowState{h.quoted(c.Column) + " = " + h.literal(last), what}
	}
	return s
}

// nameHas reports whether the words of a name have a form.
func nameHas(name string, form *regexp.Regexp) bool {
	return form.MatchString(strings.Join(words.OfName(name), " "))
}

// snapshots finds a table with a row for each day, of which a sum adds up the same thing.
func (h held) snapshots(c mention) (s rowState) {
	key := slices.ContainsFunc(c.of.PrimaryKey, func(k string) bool { return strings.EqualFold(k, c.Column) })
	if !key || len(c.of.PrimaryKey) < 2 || len(h.Aggregates) == 0 || profileOf(c.known).Distinct < 2 ||
		!nameHas(c.Column, ofSnapshot) || h.settled(c) {
		return s
	}
	keeps := fmt.Sprintf("%s = (SELECT max(%[1]s) FROM %s)", h.quoted(c.Column), h.quotedTable(c.of))
	return rowState{keeps, "are of an earlier " + c.Column}
}

// totals finds rows of totals among those that they add up.
func (h held) totals(c mention) (s rowState) {
	if len(h.Aggregates)+len(h.GroupBy) == 0 || profileOf(c.known).Distinct < 3 || h.compares(c) {
		return s
	}
	for _, v := range profileOf(c.known).Top {
		if text, _ := v.Value.(string); totalTexts[strings.ToLower(text)] {
			return rowState{h.notAmong(c, []string{h.literal(text)}), "are totals, where " + c.Column + " is " + text}
		}
	}
	return s
}

// compares reports whether the statement compares a column with a constant.
func (h held) compares(m mention) bool {
	return h.anyConstant(func(c constant) bool { return c.column.is(m.of, m.Column) })
}

// aggregates reports whether a column such as this stands in an aggregate of the statement, counts aside.
func (h held) aggregates(such func(mention) bool) bool {
	for i, t := range h.tokens {
		if figuring[h.word(i)] && h.word(i+1) == "(" && such(h.columnBehind(t.Pos)) {
			return true
		}
	}
	return false
}

var figuring = words.Set("SUM AVG MIN MAX")

// placeholders finds values such as -1 and 999 that stand for an unknown one, in a column that the statement
// aggregates.
func (h held) placeholders(c mention) (s rowState) {
	if !h.aggregates(func(m mention) bool { return m.known == c.known }) || h.compares(c) {
		return s
	}
	var odd []string
	for _, v := range []any{profileOf(c.known).Min, profileOf(c.known).Max} {
		if isPlaceholder(v, profileOf(c.known)) {
			odd = append(odd, h.literalOf(v))
		}
	}
	if len(odd) == 0 || h.settled(mention{}, odd...) {
		return s
	}
	return rowState{h.notAmong(c, odd), "have the " + c.Column + " " + strings.Join(odd, " or ")}
}

// isPlaceholder reports whether the least or the greatest value of a column is one that people store for an unknown
// one: -1 where no other value is negative, 999 where all others are far from it.
func isPlaceholder(v any, p *schema.Profile) bool {
	if text, ok := v.(string); ok {
		return strings.HasPrefix(text, "9999-12-31")
	}
	number, _ := storedNumber(v)
	if !placeholderNumbers[fmt.Sprint(number)] {
		return false
	}
	n := 0
	for _, e := range p.Examples {
		x, ok := storedNumber(e)
		switch far := number < 0 && x >= 0 || number >= 0 && x < number/4; {
		case placeholderNumbers[fmt.Sprint(x)]:
		case !ok || !far:
			return false
		default:
			n++
		}
	}
	return n >= 2
}

var placeholderNumbers = words.Set("-1 -99 -999 -9999 999 9999 99999 999999")

// storedNumber is a stored number.
func storedNumber(v any) (float64, bool) {
	switch v.(type) {
	case int64, float64, result.Decimal:
		x, err := strconv.ParseFloat(fmt.Sprint(v), 64)
		return x, err == nil
	}
	return 0, false
}

// currencies finds amounts in several currencies that the statement takes together.
func (h held) currencies(c mention) (s rowState) {
	p := profileOf(c.known)
	money := func(m mention) bool { return m.of == c.of && m.known != c.known }
	if p.Distinct < 2 || len(p.Top) == 0 || !slices.Contains(words.OfName(c.Column), "currency") || h.settled(c) ||
		!h.aggregates(money) {
		return s
	}
	if text, ok := p.Top[0].Value.(string); ok {
		return rowState{h.quoted(c.Column) + " = " + h.literal(text), "are not in " + text}
	}
	return s
}

// oneRow writes a clause about rows for one of them.
var oneRow = strings.NewReplacer("do not have ", "does not have ", "have ", "has ",
	"are old versions", "is an old version", "are totals", "is a total", "are ", "is ")

// withoutRows tells what the answer is without the rows of a table that usually do not count; "" where it is the same.
func (h held) withoutRows(t *schema.Table, s rowState) string {
	sql := h.over(t, s.keeps)
	if sql == "" {
		return ""
	}
	usual := h.run("%s", sql)
	if usual == nil || usual.Truncated || (result.Equality{Digits: 9}).Equal(usual, h.Table) {
		return ""
	}
	n, _ := countIn(h.Table)
	if fewer, ok := countIn(usual); ok && h.countsRows() && fewer < n {
		what := s.what
		if n-fewer == 1 {
			what = oneRow.Replace(what)
		}
		count := func(n int64) string { return words.Thousands(int(n)) }
		return fmt.Sprintf("%s %s. %s of them %s; without them %s.", count(n), t.Name, count(n-fewer), what, count(fewer))
	}
	all, kept := figure(h.Table), figure(usual)
	if all == kept {
		return "" // what differs cannot be told in two figures
	}
	return fmt.Sprintf("Some rows of %s %s. Without them the answer is %s, not %s.", t.Name, s.what, kept, all)
}

// countsRows reports whether the statement is a count of the rows of a table alone.
func (h held) countsRows() bool {
	return len(h.tables) == 1 && h.single && slices.Equal(h.Aggregates, []string{"COUNT"}) && !h.writes("DISTINCT")
}

// valueOf is the only value of a table; nil: there is none, or there are several.
func valueOf(t *result.Table) any {
	if t == nil || len(t.Rows) != 1 || len(t.Rows[0]) != 1 {
		return nil
	}
	return t.Rows[0][0]
}

// countIn is the only value of a table where it is a whole number.
func countIn(t *result.Table) (n int64, ok bool) {
	n, ok = valueOf(t).(int64)
	return
}

// figure is a result in few words: its value, its first row, or its number of rows. Values are written as cells are.
func figure(t *result.Table) string {
	if len(t.Rows) != 1 {
		return words.Thousands(len(t.Rows)) + " rows"
	}
	var parts []string
	for i, v := range t.Rows[0][:min(3, len(t.Columns))] {
		text := "unknown"
		if v != nil {
			text = t.Texts(i).Text(v)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// mostListedColumns bounds a table that is read through a condition.
const mostListedColumns = 100

// over is the statement with the rows of a table that meet a condition in place of the table; "" where it cannot be
// written.
func (h held) over(t *schema.Table, keeps string) string {
	if len(t.Columns) > mostListedColumns {
		return ""
	}
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = h.quoted(c.Name)
	}
	by := map[int]string{}
	for _, ref := range h.Statement.Tables() {
		if h.table(ref) != t {
			continue
		}
		at := h.tokenAt(ref.Pos)
		if at < 0 {
			return ""
		}
		part := "(SELECT " + strings.Join(names, ", ") + " FROM " + h.quotedTable(t) + " WHERE " + keeps + ")"
		if ref.Alias == "" {
			part += " AS " + h.quoted(ref.Name)
		}
		for ref.Schema != "" && h.word(at+1) == "." {
			by[at], by[at+1] = "", ""
			at += 2
		}
		by[at] = part
	}
	if len(by) == 0 {
		return ""
	}
	return h.replaced(by)
}
