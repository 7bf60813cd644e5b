package maker

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
)

// readScope reads a reply of the form
//
//	Tables: customers, orders
//	Joins: orders.customer_id = customers.id
//
// line by line, tolerant of bullets, bold, fences, quotes, aliases, JSON and lists over several lines. Every table must
// exist in s, and so must the columns of the joins; only equalities of two columns of listed tables are read. "Tables:
// none" is the empty scope, and so is a reply that begins with the line "No tables needed". The error is a *flagError.
func readScope(s *schema.Schema, d sqltext.Dialect, reply string) (tableScope, error) {
	text := strategy.AnswerText(reply)
	parts, err := labelled(text)
	if err != nil {
		return tableScope{}, err
	}
	if first, _, _ := strings.Cut(text, "\n"); !parts.found {
		if !noTable.MatchString(first) {
			return tableScope{}, malformed(reply, flagged(flagFormat, "no line with Tables:"))
		}
		parts.tables = lines{"none"}
	}
	r := scopeReader{schema: s, dialect: d, aliases: map[string]schema.TableName{}}
	if !parts.tables.none() {
		for _, line := range parts.tables {
			if err := r.list(line); err != nil {
				return tableScope{}, err
			}
		}
		if len(r.tables) == 0 {
			return tableScope{}, flagged(flagFormat, "the list of tables is empty")
		}
	}
	var joins []schema.Join
	if !parts.joins.none() {
		joins, err = r.joins(strings.Join(parts.joins, "\n"))
	}
	if err != nil {
		return tableScope{}, err
	}
	return newScope(r.tables, joins), nil
}

// scopeText is a reply cut into its answers.
type scopeText struct {
	tables, joins lines
	found         bool // there was a label for tables
}

// lines is an answer without bullets. In JSON it is a text or a list of texts.
type lines []string

func (l *lines) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*l = lines{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(l))
}

// none reports whether the answer is that there is none.
func (l lines) none() bool { return len(l) == 1 && nothing.MatchString(strings.TrimSpace(l[0])) }

var (
	nothing    = regexp.MustCompile(`(?i)^[("'\[]*(none|no tables?|no tables? (is |are )?(needed|required)|n/a|-)[)"'\].]*$`)
	noTable    = regexp.MustCompile(`(?i)^\W*no tables? (is |are )?(needed|required)\W*$`) // says what it is about without a label
	scopeLabel = regexp.MustCompile("(?i)^[\"'`]?(tables?|joins?)(?: (?:needed|used|required|conditions?))?[\"'`]?\\s*:\\s*(.*)$")
	otherLabel = regexp.MustCompile(`^[A-Z][A-Za-z ]{2,20}:(\s|$)`)
	listMark   = regexp.MustCompile(`^(?:[-*•+>]\s+|\d{1,2}[.)]\s+|#+\s+)`)
)

// labelled finds the answers in a reply.
func labelled(text string) (parts scopeText, err error) {
	if parts, ok := scopeJSON(text); ok {
		return parts, nil
	}
	var into *lines // the answer that the next line may go on with
	block := false  // it takes every line: a list below its label, or joins
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.ReplaceAll(line, "**", ""))
		line = strings.TrimSpace(listMark.ReplaceAllString(line, ""))
		m := scopeLabel.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			continue
		case m != nil && parts.found && strings.EqualFold(m[1][:1], "t"):
			if m[2] != strings.Join(parts.tables, "\n") {
				return parts, flagged(flagFormat, "two different lists of tables")
			}
			continue
		case m != nil:
			if into = &parts.joins; strings.EqualFold(m[1][:1], "t") {
				parts.found, into = true, &parts.tables
			}
			if line, block = m[2], m[2] == "" || into == &parts.joins; line == "" {
				continue
			}
		case into == nil, line == "" && len(*into) == 0: // a list may start after a blank line
			continue
		case line == "", otherLabel.MatchString(line):
			into = nil
			continue
		}
		*into = append(*into, line)
		if !block && !strings.HasSuffix(line, ",") {
			into = nil
		}
	}
	return parts, nil
}

// scopeJSON reads {"tables": [...], "joins": [...]}, in a fence or not.
func scopeJSON(text string) (scopeText, bool) {
	var object struct {
		Tables, Joins lines
	}
	if json.Unmarshal([]byte(unfenced(text)), &object) != nil || object.Tables == nil {
		return scopeText{}, false
	}
	if len(object.Tables) == 0 {
		object.Tables = lines{"none"}
	}
	return scopeText{tables: object.Tables, joins: object.Joins, found: true}, true
}

type scopeReader struct {
	schema  *schema.Schema
	dialect sqltext.Dialect
	tables  []schema.TableName
	aliases map[string]schema.TableName // by lower-case alias
}

// list reads a list of tables, each with an alias or without.
func (r *scopeReader) list(line string) error {
	tokens := r.listed(line)
	for i := 0; i < len(tokens); {
		t := tokens[i]
		switch {
		case t.Text == "(" && i > 0: // orders (for the totals)
			for i < len(tokens) && tokens[i].Text != ")" {
				i++
			}
			continue
		case !isName(t), strings.EqualFold(t.Text, "and"):
			i++
			continue
		}
		table, alias, next, ok := r.entry(tokens, i)
		switch {
		case ok:
			r.tables = append(r.tables, table)
			r.alias(alias, table)
		case t.Text[0] == '[': // a list in brackets
			if err := r.list(r.dialect.Value(t)); err != nil {
				return err
			}
		default:
			return flagged(flagUnknown, "no table is called %q", words.Short(r.dialect.Value(t), 60))
		}
		i = next
	}
	return nil
}

// entry reads a table at token i, and the alias behind it if there is one.
func (r *scopeReader) entry(tokens []sqltext.Token, i int) (table schema.TableName, alias string, next int, ok bool) {
	names, next := r.chain(tokens, i)
	table, ok = r.lookup(names)
	j := next
	if j < len(tokens) && strings.EqualFold(tokens[j].Text, "as") {
		j++
	}
	if ok && j < len(tokens) && isName(tokens[j]) && !slices.Contains(noAlias, strings.ToUpper(tokens[j].Text)) {
		return table, strings.ToLower(r.dialect.Value(tokens[j])), j + 1, true
	}
	return table, "", next, ok
}

var noAlias = []string{"JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "ON", "USING", "WHERE", "AND"}

func (r *scopeReader) alias(alias string, t schema.TableName) {
	if _, taken := r.aliases[alias]; alias != "" && !taken {
		r.aliases[alias] = t
	}
}

// lookup finds a table by its name, with or without that of its schema: main.orders may
// be the table orders of the default schema.
func (r *scopeReader) lookup(names []string) (schema.TableName, bool) {
	name, in := names[len(names)-1], ""
	if len(names) > 1 {
		in = names[len(names)-2]
	}
	t, ok := r.schema.Lookup(in, name)
	if !ok {
		t, ok = r.schema.Lookup("", name)
	}
	if !ok {
		return schema.TableName{}, false
	}
	return t.TableName(), true
}

// named keeps the aliases of the tables that tokens name: orders o JOIN customers AS c ON …. A side of an equality is no
// table.
func (r *scopeReader) named(tokens []sqltext.Token) {
	for i, t := range tokens {
		if !isName(t) || i > 0 && (tokens[i-1].Text == "." || tokens[i-1].Text == "=") {
			continue
		}
		if table, alias, next, ok := r.entry(tokens, i); ok && (next == len(tokens) || tokens[next].Text != "=") {
			r.alias(alias, table)
		}
	}
}

// joins reads the equalities of two columns.
func (r *scopeReader) joins(text string) (joins []schema.Join, err error) {
	var tables, columns []string
	for _, t := range r.tables {
		tables = append(tables, t.Name)
		found, _ := r.schema.Lookup(t.Schema, t.Name)
		for _, c := range found.Columns {
			columns = append(columns, c.Name)
		}
	}
	tokens := r.tokens(text, tables, append(columns, tables...))
	r.named(tokens)
	for i := 0; i < len(tokens); {
		left, next := r.chain(tokens, i)
		i = max(next, i+1)
		if next >= len(tokens) || tokens[next].Text != "=" && tokens[next].Text != "==" {
			continue
		}
		right, _ := r.chain(tokens, next+1)
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
		if scope := (tableScope{Tables: r.tables}); a != b && scope.Has(a.Table) && scope.Has(b.Table) {
			joins = append(joins, schema.Join{Left: a, Right: b})
		}
	}
	return joins, nil
}

// column resolves the names of a column and its table.
func (r *scopeReader) column(names []string) (schema.ColumnName, error) {
	last := len(names) - 1
	t, ok := r.aliases[strings.ToLower(names[last-1])]
	if !ok {
		t, ok = r.lookup(names[:last])
	}
	if !ok {
		return schema.ColumnName{}, flagged(flagUnknown, "no table is called %q", words.Short(names[last-1], 60))
	}
	found, _ := r.schema.Lookup(t.Schema, t.Name)
	c, ok := found.Column(names[last])
	if !ok {
		return schema.ColumnName{}, flagged(flagUnknown, "%s has no column %q", t, words.Short(names[last], 60))
	}
	return schema.ColumnName{Table: t, Column: c.Name}, nil
}

// listed are the tokens of a list of tables.
func (r *scopeReader) listed(line string) []sqltext.Token {
	all := make([]string, len(r.schema.Tables))
	for i := range all {
		all[i] = r.schema.Tables[i].Name
	}
	return r.tokens(line, all, all)
}

// tokens are those of a text without white space. A name of several words is one token,
// quoted or not: one of tables, and behind a dot one of parts.
func (r *scopeReader) tokens(text string, tables, parts []string) (tokens []sqltext.Token) {
	end := 0 // of the last name
	for t := range r.dialect.Tokens(text) {
		if t.Pos < end || t.Kind == sqltext.Space || t.Kind == sqltext.Comment {
			continue
		}
		known := tables
		if n := len(tokens); n > 0 && tokens[n-1].Text == "." {
			known = parts
		}
		if name := longestName(known, text[t.Pos:]); !isQuoted(t) && len(name) > len(t.Text) {
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

func isQuoted(t sqltext.Token) bool { return t.Kind == sqltext.QuotedName || t.Kind == sqltext.String }

func isName(t sqltext.Token) bool { return t.Kind == sqltext.Word || isQuoted(t) }

// chain reads the names joined by dots from token i on; next is the token behind them.
func (r *scopeReader) chain(tokens []sqltext.Token, i int) (names []string, next int) {
	for i < len(tokens) && isName(tokens[i]) {
		names = append(names, r.dialect.Value(tokens[i]))
		if i++; i+1 >= len(tokens) || tokens[i].Text != "." || !isName(tokens[i+1]) {
			break
		}
		i++
	}
	return names, i
}
