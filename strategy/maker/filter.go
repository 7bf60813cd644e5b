package maker

import (
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
)

// rowFilter is the conditions of a WHERE clause, the outcome of the second phase of MAKER. The zero rowFilter keeps every
// row.
type rowFilter struct {
	// Conditions are joined by AND: canonical SQL (sqltext.Condition.Key) with every column behind its table, each
	// once, in order.
	Conditions []string `json:"conditions"`
}

// Key is what a filter votes for: the set of its conditions. None is a key like any other.
func (f rowFilter) Key() string { return setKey(f.Conditions) }

// String is the filter as SQL, or "no filter".
func (f rowFilter) String() string {
	if len(f.Conditions) == 0 {
		return "no filter"
	}
	return strings.Join(f.Conditions, " AND ")
}

var (
	noFilter   = regexp.MustCompile(`(?i)^(there (is|are) )?(none|n/?a|no (filters?|where( clause)?|conditions?)( conditions?)?( (is|are))?( needed| required| necessary)?)$`)
	whereLabel = regexp.MustCompile(`(?i)^(?:(?:where|filters?|conditions?)(?: (?:clause|conditions?))?\s*:\s*)?(?:where\s+)?`)
)

// readFilter reads a reply with the conditions of a WHERE clause over the tables of scope. Columns may be written with
// their table or without. Conditions over aggregates, which belong to a later phase, and joins that scope has are left
// out, with a note. The error is a *flagError: for anything but conditions, and for columns and tables outside of
// scope.
func readFilter(s *schema.Schema, d exec.Dialect, scope tableScope, reply string) (f rowFilter, notes []string, err error) {
	text := conditionText(strategy.AnswerText(reply))
	if noFilter.MatchString(strings.Trim(text, " .!*`\"'()[]")) {
		return rowFilter{}, nil, nil
	}
	var tokens []string
	for t := range d.Language().Text.Tokens(text) {
		if t.Kind != sqltext.Space && t.Kind != sqltext.Comment {
			tokens = append(tokens, strings.ToUpper(t.Text))
		}
	}
	if len(tokens) == 0 {
		return rowFilter{}, nil, flagged(flagFormat, "no condition")
	}
	switch first, last := tokens[0], tokens[len(tokens)-1]; {
	case first == "SELECT", first == "WITH":
		return rowFilter{}, nil, flagged(flagFormat, "a whole query instead of its conditions")
	case last == "AND", last == "OR", last == "NOT":
		return rowFilter{}, nil, flagged(flagFormat, "the conditions stop in the middle")
	}
	names := make([]string, len(scope.Tables))
	for i, t := range scope.Tables {
		names[i] = t.Quoted(exec.Names{Dialect: d})
	}
	head := "SELECT 1 FROM " + strings.Join(slices.Compact(names), ", ") + " WHERE "
	statement, cerr := d.Language().Text.Check(head + text)
	if cerr != nil {
		return rowFilter{}, nil, malformed(reply, flagged(flagFormat, "the conditions do not read: %v", cerr))
	}
	outline := statement.Outline()
	if len(outline.SetOps) > 0 || len(outline.GroupBy) > 0 || len(outline.OrderBy) > 0 || outline.Having || outline.Limit {
		return rowFilter{}, nil, flagged(flagFormat, "more than the conditions of a WHERE clause")
	}
	if err := insideScope(s, scope, statement); err != nil {
		return rowFilter{}, nil, malformed(reply, err)
	}
	end := 0
	for _, c := range statement.Conditions(exec.ColumnNames(s, d)) {
		if c.Pos < end { // inside of a nested query
			continue
		}
		end = c.Pos + len(c.Text)
		switch {
		case c.Aggregate:
			notes = append(notes, "a condition over an aggregate is left to the projection")
		case !c.Nested && len(c.Equal) == 2 && scope.joined(s, c.Equal):
			notes = append(notes, "a join that is agreed on is no filter")
		default:
			f.Conditions = append(f.Conditions, c.Key)
		}
	}
	slices.Sort(f.Conditions)
	f.Conditions = slices.Compact(f.Conditions)
	if end == 0 {
		return rowFilter{}, nil, flagged(flagFormat, "no condition")
	}
	return f, notes, nil
}

// conditionText takes fences, labels, a leading WHERE and a closing semicolon off.
func conditionText(text string) string {
	text = unfenced(text)
	if n := len(text); n > 1 && text[0] == '`' && text[n-1] == '`' && strings.Count(text, "`") == 2 {
		text = text[1 : n-1]
	}
	text = whereLabel.ReplaceAllString(strings.ReplaceAll(text, "**", ""), "")
	return strings.TrimSpace(strings.TrimRight(text, "; \t\n"))
}

// insideScope flags names outside of the scope in a query over its tables.
func insideScope(s *schema.Schema, scope tableScope, statement *sqltext.Statement) error {
	aliases := map[string]bool{}
	for _, t := range statement.Tables() {
		aliases[strings.ToLower(t.Alias)] = true
		if !t.Base() {
			aliases[strings.ToLower(t.Name)] = true
			continue
		}
		found, ok := s.Lookup(t.Schema, t.Name)
		switch {
		case !ok:
			return flagged(flagUnknown, "no table is called %q", words.Short(t.Name, 60))
		case !scope.Has(found.TableName()):
			return flagged(flagOutside, "%s is not among the agreed tables", found.Name)
		}
	}
	inScope := func(column string) bool {
		return slices.ContainsFunc(scope.Tables, func(t schema.TableName) bool {
			found, _ := s.Lookup(t.Schema, t.Name)
			_, ok := found.Column(column)
			return ok
		})
	}
	for _, r := range statement.Columns() {
		t, _ := exec.ColumnOf(s, r)
		switch {
		case t != nil, isRowID(r.Column):
			continue
		case r.Qualifier == "" && (r.Quote == '"' && r.Operand || inScope(r.Column)):
			continue // a string, to SQLite, or of several tables, or of the query around a nested one
		case r.Qualifier != "" && r.Table == "" && aliases[strings.ToLower(r.Qualifier)]:
			continue
		}
		for i := range s.Tables {
			if _, ok := s.Tables[i].Column(r.Column); ok && (r.Qualifier == "" || strings.EqualFold(r.Qualifier, s.Tables[i].Name)) {
				return flagged(flagOutside, "%s.%s is not in the agreed tables", s.Tables[i].Name, r.Column)
			}
		}
		return flagged(flagUnknown, "no column is called %q", words.Short(strings.TrimPrefix(r.Qualifier+"."+r.Column, "."), 60))
	}
	return nil
}

func isRowID(name string) bool {
	return slices.Contains([]string{"rowid", "_rowid_", "oid"}, strings.ToLower(name))
}

// joined reports whether the scope has the join of two columns.
func (s tableScope) joined(from *schema.Schema, pair []sqltext.ColumnRef) bool {
	var sides [2]schema.ColumnName
	for i, r := range pair {
		t, column := exec.ColumnOf(from, r)
		if t == nil {
			return false
		}
		sides[i] = schema.ColumnName{Table: t.TableName(), Column: column}
	}
	return slices.Contains(s.Joins, schema.Join{Left: sides[0], Right: sides[1]}.Ordered())
}
