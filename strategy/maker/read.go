package maker

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

var (
	scopeLabel = regexp.MustCompile(`(?i)^[^a-z]*(table|join)s?\**:\**\s*(.*)$`)
	nothing    = regexp.MustCompile(`(?i)^\W*(none|n/?a|no (tables?|joins?)( (is |are )?(needed|required))?)?\W*$`)
	// says what it is about without a label
	noTable  = regexp.MustCompile(`(?i)^\W*no tables? (is |are )?(needed|required)\W*$`)
	noFilter = regexp.MustCompile(
		`(?i)^\W*(there (is|are) )?(none|n/?a|no (filters?|where( clause)?|conditions?)( conditions?)?( (is|are))?( needed| required| necessary)?)\W*$`)
	whereLabel = regexp.MustCompile(
		`(?i)^(?:(?:where|filters?|conditions?)(?: (?:clause|conditions?))?\s*:\s*)?(?:where\s+)?`)
)

// readScope reads a reply of the form
//
//	Tables: customers, orders
//	Joins: orders.customer_id = customers.id
//
// by the rules of SQL: a table may have quotes, a schema and an alias. Every name must exist in s. Of joins only equal
// columns of listed tables are read. "Tables: none" is the empty scope. The error is a *flagError.
func readScope(s *schema.Schema, d exec.Dialect, reply string) (tableScope, error) {
	text := unfenced(prompttext.AnswerText(reply))
	tables, joins, found := labelled(text)
	if first, _, _ := strings.Cut(text, "\n"); !found && !noTable.MatchString(first) {
		return tableScope{}, malformed(reply, flagged(flagFormat, "no line with Tables:"))
	}
	if found && strings.TrimSpace(tables) == "" {
		return tableScope{}, flagged(flagFormat, "the list of tables is empty")
	}
	if nothing.MatchString(tables) {
		return tableScope{}, nil
	}

	sql := "SELECT 1 FROM " + fromList(s, d, tables)
	if !nothing.MatchString(joins) {
		sql += " WHERE " + conditionList(joins)
	}
	statement, err := d.Language().Text.Check(sql)
	if err != nil {
		return tableScope{}, flagged(flagFormat, "the lists do not read: %v", err)
	}
	return scopeOf(s, statement)
}

// labelled returns the lists behind the labels. A list of tables ends with its line, unless that ends in a comma or is
// empty; joins go on to an empty line. Of two lists with one label the last counts.
func labelled(text string) (tables, joins string, found bool) {
	var into *string
	open := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if m := scopeLabel.FindStringSubmatch(line); m != nil {
			into = &joins
			if strings.EqualFold(m[1], "table") {
				into, found = &tables, true
			}
			line, *into = m[2], ""
			open = line == "" || into == &joins
		}
		switch {
		case into == nil, line == "" && *into == "":
			continue
		case line == "":
			into = nil
			continue
		}
		*into += line + "\n"
		if !open && !strings.HasSuffix(line, ",") {
			into = nil
		}
	}
	return tables, joins, found
}

// fromList writes the entries of a list of tables as a FROM clause: the name of a table quoted, anything else as it is.
func fromList(s *schema.Schema, d exec.Dialect, list string) string {
	entries := items(list)
	for i, entry := range entries {
		if t, ok := s.Lookup("", strings.Trim(entry, "\"'`[]")); ok {
			entries[i] = t.TableName().Quoted(d.Language().PromptQuoter())
		}
	}
	return strings.Join(entries, ", ")
}

// conditionList writes a list of joins as conditions.
func conditionList(list string) string {
	entries := items(list)
	for i, entry := range entries {
		entry = strings.TrimSpace(strings.TrimPrefix(entry, "AND "))
		entries[i] = strings.TrimSpace(strings.TrimSuffix(entry, " AND"))
	}
	return strings.Join(entries, " AND ")
}

// items are the entries of a list on one line or several, without bullets and brackets around the whole.
func items(list string) (all []string) {
	list = strings.TrimSpace(list)
	if strings.HasPrefix(list, "[") && strings.HasSuffix(list, "]") && strings.Count(list, "[") == 1 {
		list = list[1 : len(list)-1]
	}
	for entry := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == '\n' }) {
		if entry = strings.Trim(entry, " \t-*•."); entry != "" {
			all = append(all, entry)
		}
	}
	return all
}

// scopeOf is the scope of a statement that reads all its tables, joined in its conditions.
func scopeOf(s *schema.Schema, statement *sqltext.Statement) (tableScope, error) {
	var tables []schema.TableName
	for _, t := range statement.Tables() {
		found, ok := s.Lookup(t.Schema, t.Name)
		if !ok {
			found, ok = s.Lookup("", t.Name) // main.orders may be the table orders of the default schema
		}
		if !ok {
			return tableScope{}, flagged(flagUnknown, "no table is called %q", words.Short(t.Name, 60))
		}
		tables = append(tables, found.TableName())
	}
	var joins []schema.Join
	for _, c := range statement.Conditions(nil) {
		if len(c.Equal) != 2 {
			continue
		}
		var sides [2]schema.ColumnName
		for i, r := range c.Equal {
			t, column := checks.ColumnOf(s, r)
			if t == nil {
				return tableScope{}, flagged(flagUnknown, "no listed table has the column %q", words.Short(r.Column, 60))
			}
			sides[i] = schema.ColumnName{Table: t.TableName(), Column: column}
		}
		if sides[0] != sides[1] {
			joins = append(joins, schema.Join{Left: sides[0], Right: sides[1]})
		}
	}
	return newScope(tables, joins), nil
}

// rowFilter is the conditions of a WHERE clause, the outcome of the second phase. The zero rowFilter keeps every row.
type rowFilter struct {
	Conditions []string // joined by AND: each once, in order, in the form of sqlshape.Condition.Key
}

// Key is what a filter votes for: the set of its conditions. None is a key like any other.
func (f rowFilter) Key() string { return fmt.Sprintf("%q", f.Conditions) }

// String is the filter as SQL, or "no filter".
func (f rowFilter) String() string {
	if len(f.Conditions) == 0 {
		return "no filter"
	}
	return strings.Join(f.Conditions, " AND ")
}

// readFilter reads a reply with the conditions of a WHERE clause over the tables of scope, and asks the engine whether
// they compile. The error is a *flagError, or says that the engine could not be asked.
func (r *run) readFilter(ctx context.Context, scope tableScope, reply string) (f rowFilter, err error) {
	text := conditionText(prompttext.AnswerText(reply))
	if noFilter.MatchString(text) {
		return f, nil
	}
	d := r.env.DB.Dialect()
	var names []string
	for _, t := range slices.Compact(slices.Clone(scope.Tables)) {
		names = append(names, t.Quoted(d.Language().PromptQuoter()))
	}
	statement, err := d.Language().Text.Check("SELECT 1 FROM " + strings.Join(names, ", ") + " WHERE " + text)
	if err != nil {
		return f, malformed(reply, flagged(flagFormat, "the conditions do not read: %v", err))
	}
	outline := statement.Outline()
	if len(outline.SetOps) > 0 || len(outline.GroupBy) > 0 || len(outline.OrderBy) > 0 || outline.Having || outline.Limit {
		return f, flagged(flagFormat, "more than the conditions of a WHERE clause")
	}
	end := 0
	for _, c := range statement.Conditions(checks.ColumnNames(r.env.Schema, d.Language().PromptQuoter())) {
		if c.Pos >= end { // not inside of a nested query
			f.Conditions = append(f.Conditions, c.Key)
			end = c.Pos + len(c.Text)
		}
	}
	if end == 0 {
		return f, flagged(flagFormat, "no condition")
	}
	slices.Sort(f.Conditions)
	f.Conditions = slices.Compact(f.Conditions)
	sql, _ := scope.Statement(d, rowFilter{Conditions: []string{text}})
	refused, err := r.refusal(ctx, phaseFilter, sql)
	var invalid *exec.InvalidError
	switch {
	case refused == nil || err != nil:
		return f, err
	case errors.As(refused, &invalid) && invalid.Fault == "schema":
		return f, malformed(reply, flagged(flagUnknown, "the conditions do not fit the agreed tables"))
	}
	return f, malformed(reply, flagged(flagFormat, "the engine does not take the conditions"))
}

// conditionText takes fences, labels, a leading WHERE and a closing semicolon off.
func conditionText(text string) string {
	text = strings.Trim(unfenced(text), "`")
	text = whereLabel.ReplaceAllString(strings.ReplaceAll(text, "**", ""), "")
	return strings.TrimSpace(strings.TrimRight(text, "; \t\n"))
}
