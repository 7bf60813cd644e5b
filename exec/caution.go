package exec

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// ResultWarnings finds facts about an answer that a person should know. Right answers may have them, too: rows that
// tie with the last one shown, and a LIMIT that cut rows off. Others are numbers stored as text that are sorted or
// added up, rows that a join repeats before they are added up or counted, and counted rows without a partner. It
// works as [SuspiciousResultCheck] does. Call it once, for the final answer.
type ResultWarnings struct {
	// Unlimited reports that the question asks for everything. The check then also reports a LIMIT that cuts rows
	// off.
	Unlimited bool
}

// Check implements [Check].
func (l ResultWarnings) Check(ctx context.Context, s *Runner, c *Checked) error {
	return suspect(ctx, s, c, []look{
		{"text-number", "", (*suspicion).textNumbers},
		{"ties", "the row behind the last one shown is equal in the order: which of them is shown is chance",
			(*suspicion).ties},
		{"limit", "", func(o *suspicion) (string, bool) { return o.cutOff(l.Unlimited) }},
		{"double-counting", "a join repeats rows that are added up or counted", (*suspicion).repeats},
		{"outer-count", "rows without a partner in the LEFT JOIN count as one", (*suspicion).lonely},
	})
}

// limited are the numbers of a LIMIT or FETCH: LIMIT n, LIMIT n OFFSET m, LIMIT m, n, OFFSET m ROWS FETCH FIRST n ROWS
// ONLY.
var limited = regexp.MustCompile(`(?i)^LIMIT\s+(?:(\d+)\s*,\s*)?(\d+)(?:\s+OFFSET\s+(\d+)(?:\s+ROWS?)?)?$|` +
	`^(?:OFFSET\s+(\d+)\s+ROWS?\s+)?FETCH\s+(?:FIRST|NEXT)\s+(\d+)\s+ROWS?\s+ONLY$`)

// limitOf reads a limit; ok is false where there is none, or one that is no number.
func limitOf(s sqlshape.Select) (rows, skipped int, ok bool) {
	m := limited.FindStringSubmatch(strings.TrimSpace(s.Limit))
	if m == nil {
		return 0, 0, false
	}
	rows, _ = strconv.Atoi(m[2] + m[5])
	skipped, _ = strconv.Atoi(m[1] + m[3] + m[4])
	return rows, skipped, rows > 0
}

// unlimited is a SELECT without its limit.
func unlimited(s sqlshape.Select) string {
	return strings.TrimSuffix(strings.TrimRight(s.Text, " \t\r\n"), strings.TrimSpace(s.Limit))
}

// ties looks at the rows on both sides of a limit.
func (o *suspicion) ties() (string, bool) {
	for _, s := range o.selects {
		rows, skipped, ok := limitOf(s)
		if !ok || len(s.OrderBy) == 0 || rows+skipped > 1000 {
			continue
		}
		keys, added := orderKeys(s)
		text, ok := withItems(s, added)
		if !ok || keys == nil || s.Distinct && len(added) > 0 {
			continue
		}
		t := o.ask(fmt.Sprintf("%s%s LIMIT %d", o.with, text, rows+skipped+1), rows+skipped+1)
		if t != nil && (o.tied(t, s, keys, rows+skipped) || skipped > 0 && o.tied(t, s, keys, skipped)) {
			return "", true
		}
	}
	return "", false
}

// withItems is a SELECT without its limit, with further items behind its own; ok is false where their place is not
// found.
func withItems(s sqlshape.Select, added []string) (text string, ok bool) {
	text = unlimited(s)
	if len(added) == 0 {
		return text, true
	}
	at := max(strings.Index(text, s.Items[len(s.Items)-1].Text), 0)
	before, _, found := strings.Cut(text[at:], s.From)
	from := len(strings.TrimRight(before, " \t\r\n")) - len("FROM")
	if !found || from < 0 || !strings.EqualFold(before[from:from+len("FROM")], "FROM") {
		return "", false
	}
	from += at
	return text[:from] + ", " + strings.Join(added, ", ") + " " + text[from:], true
}

// tied reports whether rows n-1 and n are equal in the order and not as a whole.
func (o *suspicion) tied(t *result.Table, s sqlshape.Select, keys []int, n int) bool {
	if len(t.Rows) <= n {
		return false
	}
	equal := func(columns []int) bool {
		return !slices.ContainsFunc(columns, func(c int) bool {
			return c >= len(t.Columns) || fmt.Sprint(t.Rows[n-1][c]) != fmt.Sprint(t.Rows[n][c])
		})
	}
	shown := make([]int, len(t.Columns)-max(0, slices.Max(keys)-len(s.Items)+1))
	for i := range shown {
		shown[i] = i
	}
	return equal(keys) && !equal(shown)
}

// orderKeys returns the places of the order's terms among the items of a SELECT, and the terms that are not among them,
// which stand after the items. A star hides the places.
func orderKeys(s sqlshape.Select) (keys []int, added []string) {
	if len(s.Items) == 0 || slices.ContainsFunc(s.Items, func(i sqlshape.SelectItem) bool { return i.Star }) &&
		len(s.Items) > 1 {
		return nil, nil
	}
	star := s.Items[0].Star
	for _, term := range s.OrderBy {
		term = direction.ReplaceAllString(term, "")
		at := slices.IndexFunc(s.Items, func(i sqlshape.SelectItem) bool {
			return !star && (strings.EqualFold(term, i.Text) || i.Alias != "" &&
				strings.EqualFold(strings.Trim(term, "\"`"), i.Alias))
		})
		if n, err := strconv.Atoi(term); err == nil && n > 0 && n <= len(s.Items) {
			at = n - 1
		}
		if at < 0 {
			at = len(s.Items) + len(added)
			added = append(added, "("+term+")")
		}
		keys = append(keys, at)
	}
	if star || s.Compound && len(added) > 0 { // the places behind a star are unknown
		return nil, nil
	}
	return keys, added
}

var direction = regexp.MustCompile(`(?i)(?:\s+(?:ASC|DESC|NULLS\s+(?:FIRST|LAST)|COLLATE\s+\w+))+\s*$`)

// cutOff looks for a limit that cut rows off.
func (o *suspicion) cutOff(asked bool) (string, bool) {
	for _, s := range o.selects {
		rows, skipped, ok := limitOf(s)
		if !asked || !ok || s.Nested && rows == 1 {
			continue
		}
		t := o.ask(o.with+"SELECT count(*) FROM ("+unlimited(s)+") AS odd_all", 1)
		if t == nil || len(t.Rows) != 1 {
			continue
		}
		if all, ok := t.Rows[0][0].(int64); ok && all > int64(rows+skipped) {
			return fmt.Sprintf("a LIMIT that nobody asked for leaves out %d of %d rows", all-int64(rows), all), true
		}
	}
	return "", false
}

// repeats looks for sums, and counts of a key, of a table whose rows a join repeats.
func (o *suspicion) repeats() (string, bool) {
	for _, s := range o.selects {
		if len(s.Tables) < 2 || slices.ContainsFunc(s.Tables, func(t sqlshape.TableRef) bool { return !t.Base() }) {
			continue
		}
		for _, call := range aggregated.FindAllStringSubmatchIndex(s.Text, -1) {
			pos := s.Pos + call[0]
			if o.innermost(pos) < 0 || o.selects[o.innermost(pos)].Pos != s.Pos {
				continue
			}
			function, argument := strings.ToUpper(s.Text[call[2]:call[3]]), s.Text[call[4]:call[5]]
			of := o.tablesIn(s, pos, call[1]-call[0])
			if len(of) != 1 || distinct.MatchString(argument) {
				continue
			}
			ref := s.Tables[of[0]]
			t, ok := o.schema.Lookup(ref.Schema, ref.Name)
			if !ok {
				continue
			}
			key := o.keyOf(t, ref)
			if key == "" || !repeatable(function, argument, t) {
				continue
			}
			each := "SELECT 1 FROM " + s.From + where(s.Where)
			if o.some(each + " GROUP BY " + strings.Join(append([]string{key}, plainGroups(s)...), ", ") +
				" HAVING count(*) > 1 AND " + firstOf(key) + " IS NOT NULL") {
				return "", true
			}
		}
	}
	return "", false
}

// repeatable reports whether a sum or a count of the key is wrong where rows of its table stand there several times.
func repeatable(function, argument string, t *schema.Table) bool {
	if function == "COUNT" {
		return len(t.PrimaryKey) == 1 && strings.EqualFold(lastName(argument), t.PrimaryKey[0])
	}
	return !oneOrZero.MatchString(argument)
}

var (
	// oneOrZero finds what counts rows by a condition.
	oneOrZero = regexp.MustCompile(`(?i)\bCASE\b|[<>=]|\b(?:IS|IN|LIKE|BETWEEN)\b`)

	aggregated = regexp.MustCompile(`(?i)\b(SUM|TOTAL|COUNT)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)`)
	distinct   = regexp.MustCompile(`(?i)^\s*DISTINCT\b`)
)

func firstOf(key string) string { first, _, _ := strings.Cut(key, ", "); return first }

// lastName is a column without its qualifier and quotes.
func lastName(column string) string {
	return strings.Trim(strings.TrimSpace(column[strings.LastIndex(column, ".")+1:]), "\"`[]")
}

// plainGroups are the terms by which a SELECT groups, but for places of items.
func plainGroups(s sqlshape.Select) []string {
	return slices.DeleteFunc(slices.Clone(s.GroupBy), func(g string) bool {
		return strings.Trim(g, "0123456789") == "" || slices.ContainsFunc(s.Items, func(i sqlshape.SelectItem) bool {
			return strings.EqualFold(i.Alias, g)
		})
	})
}

// keyOf writes the key of a table as the statement sees it; "" where there is none.
func (o *suspicion) keyOf(t *schema.Table, ref sqlshape.TableRef) string {
	name := ref.Alias
	if name == "" {
		name = ref.Name
	}
	columns := t.PrimaryKey
	if len(columns) == 0 && o.run.db.language.Name == "sqlite" && t.Kind == "table" {
		columns = []string{"rowid"}
	}
	var list []string
	for _, c := range columns {
		list = append(list, o.run.db.language.Quote(name)+"."+o.run.db.language.Quote(c))
	}
	return strings.Join(list, ", ")
}

// rowCount finds counts of rows, whatever they hold.
var rowCount = regexp.MustCompile(`(?i)\b(?:COUNT\s*\(\s*(?:\*|\d+|([\w."\x60]+))\s*\)|SUM\s*\(\s*1\s*\))`)

// lonely looks for rows that are counted and have no partner in a LEFT JOIN.
func (o *suspicion) lonely() (string, bool) {
	for _, s := range o.selects {
		at := slices.Index(s.Joined, "LEFT JOIN")
		if at < 1 || at != len(s.Tables)-1 || len(s.GroupBy) == 0 {
			continue
		}
		ref := s.Tables[at]
		counted := slices.ContainsFunc(rowCount.FindAllStringSubmatch(s.Text, -1), func(m []string) bool {
			return m[1] == "" || len(o.columns) > 0 && !o.belongs(s, m[1], at)
		})
		inWhere := o.tablesIn(s, s.Pos+strings.LastIndex(s.Text, s.Where), len(s.Where))
		t, ok := o.schema.Lookup(ref.Schema, ref.Name)
		if !counted || ok && o.single(s, at, t) || s.Where != "" && slices.Contains(inWhere, at) || !ref.Base() || !ok {
			continue
		}
		if key := o.keyOf(t, ref); key != "" &&
			o.some("SELECT 1 FROM "+s.From+where(s.Where+and(s.Where)+firstOf(key)+" IS NULL")) {
			return "", true
		}
	}
	return "", false
}

// single reports whether a SELECT joins table at by its key, so that each row has one partner at most and counts once.
func (o *suspicion) single(s sqlshape.Select, at int, t *schema.Table) bool {
	return slices.ContainsFunc(o.Statement.Conditions(nil), func(c sqlshape.Condition) bool {
		return s.Has(c.Pos) && slices.ContainsFunc(c.Equal, func(r sqlshape.ColumnRef) bool {
			return len(t.PrimaryKey) == 1 && strings.EqualFold(r.Column, t.PrimaryKey[0]) && o.tableOf(s, r) == at
		})
	})
}

func and(conditions string) string {
	if conditions == "" {
		return ""
	}
	return " AND "
}

// belongs reports whether a column as written is one of table at of a SELECT.
func (o *suspicion) belongs(s sqlshape.Select, column string, at int) bool {
	i := slices.IndexFunc(o.columns, func(c sqlshape.ColumnRef) bool {
		return s.Has(c.Pos) && strings.HasPrefix(o.SQL[c.Pos:], column)
	})
	return i >= 0 && o.tableOf(s, o.columns[i]) == at
}

// numeral is a number as people write it: with a currency, a sign, thousands, a unit of percent.
var numeral = regexp.MustCompile(`^[^\pL\d.,+-]{0,3}\s*[+-]?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\s*[%€$£]?$`)

// textNumbers looks for texts that are numbers, and that are ordered or added up as the texts they are.
func (o *suspicion) textNumbers() (string, bool) {
	seen := map[string]bool{}
	tokens := slices.Collect(o.Statement.Tokens())
	for _, c := range o.columns {
		t, column := checks.ColumnOf(o.schema, c)
		if t == nil || seen[t.Name+"."+column] {
			continue
		}
		known, ok := t.Column(column)
		if kind := strings.ToUpper(known.Type); !ok || !strings.Contains(kind, "CHAR") && !strings.Contains(kind, "TEXT") &&
			!strings.Contains(kind, "STRING") {
			continue
		}
		ordered, summed := o.used(tokens, c)
		if !ordered && !summed {
			continue
		}
		seen[t.Name+"."+column] = true
		from, name := o.column(t, column)
		read := o.ask("SELECT DISTINCT "+name+" FROM "+from+" WHERE "+name+" IS NOT NULL AND "+name+" <> '' LIMIT 200", 200)
		if read == nil {
			continue
		}
		switch misordered, unread := sortOf(read); {
		case ordered && misordered:
			return fmt.Sprintf("the numbers of %s.%s are stored as text and are put in the order of texts: "+
				"'9' comes behind '100'", t.Name, column), true
		case summed && unread:
			return fmt.Sprintf("the numbers of %s.%s are stored as text with other marks, which count as 0", t.Name, column),
				true
		}
	}
	return "", false
}

// used says what is done with the column that is mentioned: put in order or compared, and added up.
func (o *suspicion) used(tokens []sqltext.Token, c sqlshape.ColumnRef) (ordered, summed bool) {
	for _, s := range o.selects {
		for _, term := range s.OrderBy {
			ordered = ordered || s.Has(c.Pos) && strings.EqualFold(lastName(direction.ReplaceAllString(term, "")), c.Column)
		}
	}
	for _, x := range o.Statement.Comparisons() {
		if x.Pos == c.Pos {
			ordered = ordered || slices.Contains([]string{"<", ">", "<=", ">=", "BETWEEN", "NOT BETWEEN"}, x.Op) &&
				numeral.MatchString(x.Literals[0].Value)
		}
	}
	argument, term := around(tokens, c.Pos)
	return ordered || argument == "MAX" || argument == "MIN", term ||
		slices.Contains([]string{"SUM", "AVG", "TOTAL", "CAST"}, argument)
}

// around says what stands around the column at pos: the function of which it is the argument, and whether it is a term
// of arithmetic.
func around(tokens []sqltext.Token, pos int) (function string, term bool) {
	i, _ := slices.BinarySearchFunc(tokens, pos, func(t sqltext.Token, pos int) int { return t.Pos - pos })
	text := func(i int) string {
		if i < 0 || i >= len(tokens) {
			return ""
		}
		return strings.ToUpper(tokens[i].Text)
	}
	end := i
	for text(end+1) == "." {
		end += 2
	}
	if call := text(i - 2); text(i-1) == "(" && text(end+1) == ")" || call == "CAST" {
		function = call
	}
	for _, beside := range []string{text(i - 1), text(end + 1)} {
		term = term || slices.Contains([]string{"+", "-", "*", "/"}, beside) && text(i-2) != "("
	}
	return function, term
}

// sortOf reports whether texts that are numbers have another order as texts, and whether some are written so that an
// engine does not read them as numbers.
func sortOf(t *result.Table) (misordered, unread bool) {
	type pair struct {
		text  string
		value float64
	}
	var list []pair
	for _, row := range t.Rows {
		text := strings.TrimSpace(fmt.Sprint(row[0]))
		m := numeral.FindStringSubmatch(text)
		if m == nil {
			return false, false
		}
		plain := strings.ReplaceAll(m[1], ",", "")
		value, err := strconv.ParseFloat(plain, 64)
		if err != nil {
			return false, false
		}
		unread = unread || !strings.HasPrefix(text, plain)
		list = append(list, pair{text, value})
	}
	slices.SortFunc(list, func(a, b pair) int { return strings.Compare(a.text, b.text) })
	misordered = !slices.IsSortedFunc(list, func(a, b pair) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	return misordered, unread
}
