package strategy

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// ReadScope reads a reply of the form
//
//	Tables: customers, orders
//	Joins: orders.customer_id = customers.id
//
// line by line, tolerant of bullets, bold, fences, quotes, aliases, JSON and
// lists over several lines. Every table must exist in s, and so must the columns
// of the joins; of the joins only equalities of two columns of listed tables are
// read. "Tables: none" is the empty scope, and so is a reply that begins with the
// line "No tables needed". The error is a *FlagError.
func ReadScope(s *schema.Schema, d sqltext.Dialect, reply string) (Scope, error) {
	text := answerText(reply)
	parts, err := labelled(text)
	if err != nil {
		return Scope{}, err
	}
	switch first, _, _ := strings.Cut(text, "\n"); {
	case parts.found:
	case noTable.MatchString(first):
		parts.tables = []string{"none"}
	default:
		return Scope{}, malformed(reply, flagged(FlagFormat, "no line with Tables:"))
	}
	r := scopeReader{schema: s, dialect: d, aliases: map[string]TableName{}}
	if !isNothing(parts.tables) {
		for _, line := range parts.tables {
			if err := r.list(line); err != nil {
				return Scope{}, err
			}
		}
		if len(r.tables) == 0 {
			return Scope{}, flagged(FlagFormat, "the list of tables is empty")
		}
	}
	joins, err := r.joins(strings.Join(parts.joins, "\n"))
	if err != nil {
		return Scope{}, err
	}
	return NewScope(r.tables, joins), nil
}

// scopeText is a reply cut into its two answers.
type scopeText struct {
	tables, joins []string // lines without bullets
	found         bool     // there was a label for tables
}

var (
	scopeLabel = regexp.MustCompile(`(?i)^["'` + "`" + `]?(tables?|joins?)(?: (?:needed|used|required|conditions?))?["'` + "`" + `]?\s*:\s*(.*)$`)
	otherLabel = regexp.MustCompile(`^[A-Z][A-Za-z ]{2,20}:(\s|$)`)
	listMark   = regexp.MustCompile(`^(?:[-*•+>]\s+|\d{1,2}[.)]\s+|#+\s+)`)
)

// labelled finds the answers in a reply.
func labelled(text string) (scopeText, error) {
	var parts scopeText
	if strings.HasPrefix(unfenced(text), "{") {
		if p, ok := scopeJSON(unfenced(text)); ok {
			return p, nil
		}
	}
	var into *[]string
	block := false // the answer is a list below its label, or joins, which may take several lines
	more := false  // it may go on with the next line
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.ReplaceAll(line, "**", ""))
		line = strings.TrimSpace(listMark.ReplaceAllString(line, ""))
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			continue
		}
		m := scopeLabel.FindStringSubmatch(line)
		switch {
		case m != nil && strings.EqualFold(m[1][:1], "t"):
			if parts.found {
				if again := []string{m[2]}; strings.Join(again, "\n") != strings.Join(parts.tables, "\n") {
					return parts, flagged(FlagFormat, "two different lists of tables")
				}
				continue
			}
			parts.found, into = true, &parts.tables
		case m != nil:
			into = &parts.joins
		case line == "":
			// A list may start after a blank line; nothing goes on behind one.
			more = more && into != nil && len(*into) == 0
			continue
		case otherLabel.MatchString(line):
			into, more = nil, false
			continue
		case into == nil || !more:
			continue
		default:
			*into = append(*into, line)
			more = block || strings.HasSuffix(line, ",")
			continue
		}
		block = m[2] == "" || into == &parts.joins
		more = block || strings.HasSuffix(m[2], ",")
		if m[2] != "" {
			*into = append(*into, m[2])
		}
	}
	return parts, nil
}

// unfenced takes a fence around the whole off.
func unfenced(text string) string {
	if !strings.HasPrefix(text, "```") {
		return text
	}
	_, body, _ := strings.Cut(text, "\n")
	body, _, _ = strings.Cut(body, "```")
	return strings.TrimSpace(body)
}

// scopeJSON reads {"tables": [...], "joins": [...]}.
func scopeJSON(text string) (scopeText, bool) {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) != nil {
		return scopeText{}, false
	}
	lines := func(key string) (list []string, ok bool) {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			raw := object[name]
			if !strings.EqualFold(name, key) {
				continue
			}
			var one string
			if json.Unmarshal(raw, &list) == nil {
				return list, true
			}
			if json.Unmarshal(raw, &one) == nil {
				return []string{one}, true
			}
		}
		return nil, false
	}
	tables, ok := lines("tables")
	joins, _ := lines("joins")
	if ok && len(tables) == 0 {
		tables = []string{"none"}
	}
	return scopeText{tables: tables, joins: joins, found: ok}, ok
}

var (
	nothing = regexp.MustCompile(`(?i)^[("'\[]*(none|no tables?|no tables? (is |are )?(needed|required)|n/a|-)[)"'\].]*$`)
	noTable = regexp.MustCompile(`(?i)^\W*no tables? (is |are )?(needed|required)\W*$`) // says what it is about without a label
)

// isNothing reports whether the answer is that there is none.
func isNothing(lines []string) bool {
	return len(lines) == 1 && nothing.MatchString(strings.TrimSpace(lines[0]))
}

type scopeReader struct {
	schema  *schema.Schema
	dialect sqltext.Dialect
	tables  []TableName
	aliases map[string]TableName // by lower-case alias
}

// list reads a comma list of tables.
func (r *scopeReader) list(line string) error {
	for _, entry := range splitList(line) {
		entry = strings.TrimSpace(strings.TrimRight(strings.TrimSpace(entry), ".;"))
		if entry == "" {
			continue
		}
		if t, alias, ok := r.entry(entry); ok {
			r.add(t, alias)
			continue
		}
		var inner []string
		switch before, _, bracket := strings.Cut(entry, " ("); {
		case len(entry) > 1 && entry[0] == '[' && entry[len(entry)-1] == ']': // a list in brackets
			inner = splitList(entry[1 : len(entry)-1])
		case bracket: // orders (for the totals)
			inner = []string{before}
		default:
			inner = regexp.MustCompile(`(?i)(?:^|\s+)and\s+`).Split(entry, -1)
		}
		for _, e := range inner {
			if e = strings.TrimSpace(e); e == "" {
				continue
			}
			t, alias, ok := r.entry(e)
			if !ok {
				return flagged(FlagUnknown, "no table is called %q", cut(e, 60))
			}
			r.add(t, alias)
		}
	}
	return nil
}

func (r *scopeReader) add(t TableName, alias string) {
	r.tables = append(r.tables, t)
	if alias != "" {
		if _, taken := r.aliases[alias]; !taken {
			r.aliases[alias] = t
		}
	}
}

// entry reads "name", "name alias" or "name AS alias". The whole is looked up
// first: names may hold blanks.
func (r *scopeReader) entry(text string) (t TableName, alias string, ok bool) {
	if t, ok = r.lookup(text); ok {
		return t, "", true
	}
	words := strings.Fields(text)
	for n := len(words) - 1; n >= max(1, len(words)-2); n-- {
		rest := words[n:]
		if len(rest) == 2 && !strings.EqualFold(rest[0], "as") {
			continue
		}
		if t, ok = r.lookup(strings.Join(words[:n], " ")); ok {
			return t, strings.ToLower(unquote(rest[len(rest)-1])), true
		}
	}
	return t, "", false
}

// lookup finds a table by its name, in any quotes, with or without its schema.
func (r *scopeReader) lookup(name string) (TableName, bool) {
	try := func(schemaName, table string) (TableName, bool) {
		t, ok := r.schema.Lookup(schemaName, table)
		if !ok {
			return TableName{}, false
		}
		return TableName{t.Schema, t.Name}, true
	}
	if t, ok := try("", unquote(name)); ok {
		return t, true
	}
	before, after, ok := strings.Cut(name, ".")
	if !ok {
		return TableName{}, false
	}
	if t, ok := try(unquote(before), unquote(after)); ok {
		return t, true
	}
	return try("", unquote(after)) // main.orders
}

// unquote takes off one pair of quotes.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) < 2 {
		return s
	}
	switch first, last := s[0], s[len(s)-1]; {
	case first == '[' && last == ']', first == last && strings.IndexByte("\"'`", first) >= 0:
		return s[1 : len(s)-1]
	}
	return s
}

// splitList cuts at the commas outside of quotes and brackets.
func splitList(s string) []string {
	var parts []string
	from, depth := 0, 0
	var quote byte
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '`':
			quote = c
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		case c == ',' && depth <= 0:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	return append(parts, s[from:])
}

// joins reads the equalities of two columns.
func (r *scopeReader) joins(text string) ([]Join, error) {
	if isNothing([]string{strings.TrimSpace(text)}) {
		return nil, nil
	}
	tokens := r.tokens(text)
	r.inlineAliases(tokens)
	var joins []Join
	for i, t := range tokens {
		if t.Kind != sqltext.Operator || t.Text != "=" && t.Text != "==" {
			continue
		}
		left, right := chainBefore(tokens, i), chainBehind(tokens, i)
		if len(left) < 2 || len(right) < 2 {
			continue // no equality of two columns with their tables
		}
		a, err := r.column(left)
		if err != nil {
			return nil, err
		}
		b, err := r.column(right)
		if err != nil {
			return nil, err
		}
		scope := Scope{Tables: r.tables}
		if a != b && scope.Has(a.Table) && scope.Has(b.Table) {
			joins = append(joins, NewJoin(a, b))
		}
	}
	return joins, nil
}

// tokens are those of the joins, without blanks. A name of several words is one,
// quoted or not: that of a listed table, and behind a dot that of a column of one.
func (r *scopeReader) tokens(text string) []sqltext.Token {
	var tables, names []string
	for _, t := range r.tables {
		tables = append(tables, t.Name)
		found, _ := r.schema.Lookup(t.Schema, t.Name)
		for _, c := range found.Columns {
			names = append(names, c.Name)
		}
	}
	names = append(names, tables...)
	var tokens []sqltext.Token
	end := 0 // of the last name
	for t := range r.dialect.Tokens(text) {
		if t.Pos < end || t.Kind == sqltext.Space || t.Kind == sqltext.Comment {
			continue
		}
		known := tables
		if n := len(tokens); n > 0 && tokens[n-1].Text == "." {
			known = names
		}
		if name := longestName(known, text[t.Pos:]); t.Kind == sqltext.Word && len(name) > len(t.Text) {
			t.Kind, t.Text = sqltext.QuotedName, `"`+name+`"`
			end = t.Pos + len(name)
		}
		tokens = append(tokens, t)
	}
	return tokens
}

// longestName is the longest of names that text begins with.
func longestName(names []string, text string) string {
	longest := ""
	for _, name := range names {
		if len(name) <= len(longest) || len(name) > len(text) || !strings.EqualFold(text[:len(name)], name) {
			continue
		}
		if next, _ := utf8.DecodeRuneInString(text[len(name):]); next != '_' && !unicode.IsLetter(next) && !unicode.IsDigit(next) {
			longest = name
		}
	}
	return longest
}

// inlineAliases learns aliases from "orders o JOIN customers AS c ON …".
func (r *scopeReader) inlineAliases(tokens []sqltext.Token) {
	for i := range tokens {
		if !isNameToken(tokens[i]) {
			continue
		}
		t, ok := r.lookup(tokens[i].Text)
		j := i + 1
		if j < len(tokens) && strings.EqualFold(tokens[j].Text, "as") {
			j++
		}
		if !ok || j >= len(tokens) || !isNameToken(tokens[j]) || i > 0 && tokens[i-1].Text == "." {
			continue
		}
		switch strings.ToUpper(tokens[j].Text) {
		case "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "ON", "USING", "WHERE", "AND":
			continue
		}
		alias := strings.ToLower(unquote(tokens[j].Text))
		if _, taken := r.aliases[alias]; !taken {
			r.aliases[alias] = t
		}
	}
}

func isNameToken(t sqltext.Token) bool { return t.Kind == sqltext.Word || t.Kind == sqltext.QuotedName }

// chainBefore and chainBehind return the names joined by dots that end before,
// or start behind, token i.
func chainBefore(tokens []sqltext.Token, i int) []string {
	var names []string
	for j := i - 1; j >= 0 && isNameToken(tokens[j]); j -= 2 {
		names = append([]string{unquote(tokens[j].Text)}, names...)
		if j == 0 || tokens[j-1].Text != "." {
			break
		}
	}
	return names
}

func chainBehind(tokens []sqltext.Token, i int) []string {
	var names []string
	for j := i + 1; j < len(tokens) && isNameToken(tokens[j]); j += 2 {
		names = append(names, unquote(tokens[j].Text))
		if j+1 == len(tokens) || tokens[j+1].Text != "." {
			break
		}
	}
	return names
}

// column resolves qualifier and name.
func (r *scopeReader) column(chain []string) (ColumnName, error) {
	name, qualifier := chain[len(chain)-1], chain[len(chain)-2]
	t, ok := r.aliases[strings.ToLower(qualifier)]
	if !ok && len(chain) > 2 {
		t, ok = r.lookup(chain[len(chain)-3] + "." + qualifier)
	} else if !ok {
		t, ok = r.lookup(qualifier)
	}
	if !ok {
		return ColumnName{}, flagged(FlagUnknown, "no table is called %q", cut(qualifier, 60))
	}
	found, _ := r.schema.Lookup(t.Schema, t.Name)
	c, ok := found.Column(name)
	if !ok {
		return ColumnName{}, flagged(FlagUnknown, "%s has no column %q", t, cut(name, 60))
	}
	return ColumnName{t, c.Name}, nil
}
