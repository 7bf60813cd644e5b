package doubt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/internal/contradict"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
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
		for _, find := range []func(*held, *schema.Table) rowState{
			(*held).markedRows, (*held).oldRows, (*held).snapshots, (*held).totals, (*held).placeholders, (*held).currencies,
		} {
			if s := find(h, t); s.keeps != "" {
				return h.withoutRows(t, s)
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
	goneWords = words.Set("deleted removed archived cancelled canceled voided void refunded deactivated disabled inactive " +
		"test trashed purged obsolete discontinued withdrawn")
	liveWords  = words.Set("active current enabled")
	aboutWords = words.Set("is at on date time flag ts row account user order")
	trueTexts  = words.Set("1 true t y yes")
	falseTexts = words.Set("0 false f n no")
	totalTexts = words.Set("all,total,totals,grand total,overall")
)

// lostWords are values of a status that matter for what was earned: an order that was cancelled was still placed.
var lostWords = words.Set("cancelled canceled refunded voided void")

// earned are words by which a question asks for what was earned.
var earned = words.Set("revenue turnover sale sales earning income profit mrr arr gmv earn earned sold")

// settled reports whether the statement mentions a column, or the question or what is known besides settles what it
// marks.
func (h *held) settled(t *schema.Table, column string, values ...string) bool {
	if h.uses(t, column) {
		return true
	}
	marks := without(words.Stems(column), nil)
	for _, v := range values {
		marks = append(marks, words.Stems(v)...)
	}
	marks = slices.DeleteFunc(marks, func(w string) bool { return aboutWords[w] || len(w) < 3 })
	near := func(list []string) bool {
		return slices.ContainsFunc(marks, func(m string) bool {
			return slices.ContainsFunc(list, func(s string) bool {
				n := min(len(s), len(m), 5)
				return n >= 4 && s[:n] == m[:n] || s == m
			})
		})
	}
	return near(h.stems) || near(stemsOf(h.Question.Evidence)) && !leavesOut.MatchString(h.Question.Evidence)
}

// markOf returns the word by which the name of a column marks rows; "": none.
func markOf(column string) string {
	list := slices.DeleteFunc(words.OfName(column), func(w string) bool { return aboutWords[w] })
	if len(list) != 1 || !goneWords[list[0]] && !liveWords[list[0]] {
		return ""
	}
	return list[0]
}

// markedRows finds rows that a column marks as deleted, archived, cancelled, refunded or as tests.
func (h *held) markedRows(t *schema.Table) rowState {
	for _, c := range t.Columns {
		if c.Profile == nil || c.Profile.Distinct == 0 {
			continue
		}
		s := h.flaggedRows(c)
		of := words.Stems(c.Name)
		if last := of[max(len(of)-1, 0):]; slices.Equal(last, []string{"status"}) || slices.Equal(last, []string{"state"}) {
			s = h.statusRows(t, c)
		}
		if s.keeps != "" && !h.settled(t, c.Name) {
			return s
		}
	}
	return rowState{}
}

// statusRows finds rows whose status says that they do not count.
func (h *held) statusRows(t *schema.Table, c schema.Column) (s rowState) {
	gone, texts := h.goneValues(c.Profile)
	if len(gone) == 0 || h.settled(t, c.Name, texts...) {
		return s
	}
	return rowState{h.notAmong(c, gone), "are " + strings.Join(texts, " or ")}
}

// flaggedRows finds rows that a flag or a moment takes out: is_test, active, deleted_at.
func (h *held) flaggedRows(c schema.Column) (s rowState) {
	mark := markOf(c.Name)
	yes, no, flag := flagValues(c.Profile)
	both := len(yes) > 0 && (len(no) > 0 || c.Profile.Nulls > 0)
	switch {
	case mark == "":
	case !flag && goneWords[mark] && c.Profile.Nulls > 0:
		s = rowState{h.quoted(c.Name) + " IS NULL", "have " + c.Name}
	case flag && both && goneWords[mark]:
		s = rowState{h.notAmong(c, yes), "have " + c.Name}
	case flag && both && len(no) > 0:
		s = rowState{h.quoted(c.Name) + " IN (" + strings.Join(yes, ", ") + ")", "do not have " + c.Name}
	}
	return s
}

// notAmong is the condition that a column has no value of a list.
func (h *held) notAmong(c schema.Column, literals []string) string {
	name := h.quoted(c.Name)
	return "(" + name + " IS NULL OR " + name + " NOT IN (" + strings.Join(literals, ", ") + "))"
}

// goneValues are the values of a status that say that a row does not count, as literals and as they read; none where
// all values say so.
func (h *held) goneValues(p *schema.Profile) (literals, texts []string) {
	money := slices.ContainsFunc(h.stems, func(w string) bool { return earned[w] })
	for _, v := range p.Top {
		text, ok := v.Value.(string)
		plain := strings.ToLower(strings.TrimSpace(text))
		if ok && goneWords[plain] && (money || !lostWords[plain]) {
			literals, texts = append(literals, literal(text)), append(texts, plain)
		}
	}
	if len(literals) == len(p.Top) {
		return nil, nil
	}
	return literals, texts
}

// flagValues parts the values of a column of truth values, as literals.
func flagValues(p *schema.Profile) (yes, no []string, flag bool) {
	for _, v := range p.Top {
		text := literalOf(v.Value)
		switch plain := strings.ToLower(strings.Trim(text, "'")); {
		case trueTexts[plain]:
			yes = append(yes, text)
		case falseTexts[plain]:
			no = append(no, text)
		default:
			return nil, nil, false
		}
	}
	return yes, no, len(p.Top) > 0 && p.Distinct <= 2
}

// literalOf is a stored value in a statement.
func literalOf(v any) string {
	if text, ok := v.(string); ok {
		return literal(text)
	}
	return fmt.Sprint(v)
}

// isBound reports whether a column has the first or the last moment at which a row is valid.
func isBound(column string, bounds ...string) bool {
	of := words.OfName(column)
	return len(of) > 1 && (of[0] == "valid" || of[0] == "effective") && slices.Contains(bounds, of[1])
}

// oldRows finds versions of rows that are over.
func (h *held) oldRows(t *schema.Table) (s rowState) {
	begins := slices.ContainsFunc(t.Columns, func(c schema.Column) bool {
		return isBound(c.Name, "from", "start", "since")
	})
	for _, c := range t.Columns {
		known := c.Profile != nil && c.Profile.Distinct > 0
		if !begins || !known || !isBound(c.Name, "to", "until", "end", "till") || h.settled(t, c.Name) {
			continue
		}
		name := h.quoted(c.Name)
		last, _ := c.Profile.Max.(string)
		switch {
		case c.Profile.Nulls > 0:
			return rowState{name + " IS NULL", "are old versions with " + c.Name}
		case strings.HasPrefix(last, "9999-") && c.Profile.Distinct > 1:
			return rowState{name + " = " + literal(last), "are old versions with " + c.Name}
		}
	}
	return s
}

// snapshots finds a table with a row for each day, of which a sum adds up the same thing.
func (h *held) snapshots(t *schema.Table) (s rowState) {
	if len(t.PrimaryKey) < 2 || len(h.outline.Aggregates) == 0 {
		return s
	}
	for _, c := range t.Columns {
		of := words.OfName(c.Name)
		named := slices.Contains(of, "snapshot") || len(of) > 1 && of[0] == "as" && of[1] == "of"
		key := slices.ContainsFunc(t.PrimaryKey, func(k string) bool { return strings.EqualFold(k, c.Name) })
		if named && key && c.Profile != nil && c.Profile.Distinct > 1 && !h.settled(t, c.Name) {
			name := h.quoted(c.Name)
			return rowState{name + " = (SELECT max(" + name + ") FROM " + h.quotedTable(t) + ")", "are of an earlier " + c.Name}
		}
	}
	return s
}

// totals finds rows of totals among those that they add up.
func (h *held) totals(t *schema.Table) (s rowState) {
	if len(h.outline.Aggregates)+len(h.outline.GroupBy) == 0 {
		return s
	}
	for _, c := range t.Columns {
		if c.Profile == nil || c.Profile.Distinct < 3 || h.compares(t, c.Name) {
			continue
		}
		for _, v := range c.Profile.Top {
			text, ok := v.Value.(string)
			if ok && totalTexts[strings.ToLower(text)] {
				return rowState{h.notAmong(c, []string{literal(text)}), "are totals, where " + c.Name + " is " + text}
			}
		}
	}
	return s
}

// compares reports whether the statement compares a column with a constant.
func (h *held) compares(t *schema.Table, column string) bool {
	return slices.ContainsFunc(h.constant, func(c constant) bool {
		home, found := h.home(c.column)
		return home == t && c.op != "" && strings.EqualFold(found.Name, column)
	})
}

// aggregated are the columns of a table in the aggregates of the outer query, counts aside.
func (h *held) aggregated(t *schema.Table) (list []*schema.Column) {
	for i := range h.tokens {
		if !slices.Contains([]string{"SUM", "AVG", "MIN", "MAX"}, h.word(i)) || h.word(i+1) != "(" {
			continue
		}
		home, c := h.home(h.columnBehind(h.tokens[i].Pos))
		if home == t && c != nil && !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// placeholders finds values such as -1 and 999 that stand for an unknown one, in a column that the statement
// aggregates.
func (h *held) placeholders(t *schema.Table) (s rowState) {
	for _, c := range h.aggregated(t) {
		if c.Profile == nil || h.compares(t, c.Name) {
			continue
		}
		var odd []string
		for _, v := range []any{c.Profile.Min, c.Profile.Max} {
			if isPlaceholder(v, c.Profile) && !slices.Contains(odd, literalOf(v)) {
				odd = append(odd, literalOf(v))
			}
		}
		if len(odd) > 0 && !h.settled(t, "", odd...) {
			return rowState{h.notAmong(*c, odd), "have the " + c.Name + " " + strings.Join(odd, " or ")}
		}
	}
	return s
}

// isPlaceholder reports whether the least or the greatest value of a column is one that people store for an unknown
// one: -1 where no other value is negative, 999 where all others are far from it.
func isPlaceholder(v any, p *schema.Profile) bool {
	if text, ok := v.(string); ok {
		return strings.HasPrefix(text, "9999-12-31")
	}
	number, ok := storedNumber(v)
	if !ok {
		return false
	}
	others := func(far func(x float64) bool) bool {
		n := 0
		for _, e := range p.Examples {
			x, ok := storedNumber(e)
			switch placeholder := ok && (x == number || placeholderNumbers[x]); {
			case placeholder:
			case !ok || !far(x):
				return false
			default:
				n++
			}
		}
		return n >= 2
	}
	if number < 0 {
		return placeholderNumbers[number] && others(func(x float64) bool { return x >= 0 })
	}
	return placeholderNumbers[number] && others(func(x float64) bool { return x < number/4 })
}

var placeholderNumbers = map[float64]bool{
	-1: true, -99: true, -999: true, -9999: true, 999: true, 9999: true, 99999: true, 999999: true,
}

// storedNumber is a stored number.
func storedNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case result.Decimal:
		x, err := strconv.ParseFloat(string(v), 64)
		return x, err == nil
	}
	return 0, false
}

// currencies finds amounts in several currencies that the statement takes together.
func (h *held) currencies(t *schema.Table) (s rowState) {
	for _, c := range t.Columns {
		several := c.Profile != nil && c.Profile.Distinct > 1 && len(c.Profile.Top) > 0
		if !several || !slices.Contains(words.OfName(c.Name), "currency") || h.settled(t, c.Name) {
			continue
		}
		money := slices.ContainsFunc(h.aggregated(t), func(x *schema.Column) bool { return x.Name != c.Name })
		if text, ok := c.Profile.Top[0].Value.(string); ok && money {
			return rowState{h.quoted(c.Name) + " = " + literal(text), "are not in " + text}
		}
	}
	return s
}

// oneRow writes a clause about rows for one of them.
var oneRow = strings.NewReplacer("do not have ", "does not have ", "have ", "has ",
	"are old versions", "is an old version", "are totals", "is a total", "are ", "is ")

// withoutRows tells what the answer is without the rows of a table that usually do not count; "" where it is the same.
func (h *held) withoutRows(t *schema.Table, s rowState) string {
	sql := h.over(t, s.keeps)
	if sql == "" {
		return ""
	}
	usual := h.run(sql)
	if usual == nil || usual.Truncated || (result.Equality{Digits: 9}).Equal(usual, h.Table) {
		return ""
	}
	all, kept := figure(h.Table), figure(usual)
	n, isCount := h.countOf(t)
	if fewer, ok := countIn(usual); ok && isCount && fewer < n {
		what := s.what
		if n-fewer == 1 {
			what = oneRow.Replace(what)
		}
		counts := []any{words.Thousands(int(n)), t.Name, words.Thousands(int(n - fewer)), what, words.Thousands(int(fewer))}
		return fmt.Sprintf("%s %s. %s of them %s; without them %s.", counts...)
	}
	if all == kept {
		return "" // what differs cannot be told in two figures
	}
	return fmt.Sprintf("Some rows of %s %s. Without them the answer is %s, not %s.", t.Name, s.what, kept, all)
}

// countOf returns the answer where it is a count of the rows of a table alone.
func (h *held) countOf(t *schema.Table) (n int64, ok bool) {
	alone := len(h.tables) == 1 && h.tables[0] == t && len(h.selects) == 1
	counts := slices.Equal(h.outline.Aggregates, []string{"COUNT"}) && !strings.Contains(h.upper, "DISTINCT")
	if !alone || !counts {
		return 0, false
	}
	return countIn(h.Table)
}

// countIn is the only value of a table where it is a whole number.
func countIn(t *result.Table) (n int64, ok bool) {
	if len(t.Rows) == 1 && len(t.Rows[0]) == 1 {
		n, ok = t.Rows[0][0].(int64)
	}
	return n, ok
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
func (h *held) over(t *schema.Table, keeps string) string {
	if len(t.Columns) > mostListedColumns {
		return ""
	}
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = h.quoted(c.Name)
	}
	by := map[int]string{}
	for _, ref := range h.Statement.Tables() {
		if found, ok := h.Schema.Lookup(ref.Schema, ref.Name); !ok || found != t || !ref.Base() {
			continue
		}
		at := slices.IndexFunc(h.tokens, func(x sqltext.Token) bool { return x.Pos == ref.Pos })
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
