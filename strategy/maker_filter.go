package strategy

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

// Filter is the conditions of a WHERE clause, the outcome of the second phase of
// MAKER. The zero Filter keeps every row.
type Filter struct {
	// Conditions are joined by AND: canonical SQL (sqltext.Condition.Key) with
	// every column behind its table, each once, in order.
	Conditions []string `json:"conditions"`
}

// Key is what a filter votes for: the set of its conditions. None is a key like
// any other.
func (f Filter) Key() string { return vote.SetKey(f.Conditions) }

// String is the filter as SQL, or "no filter".
func (f Filter) String() string {
	if len(f.Conditions) == 0 {
		return "no filter"
	}
	return strings.Join(f.Conditions, " AND ")
}

var noFilter = regexp.MustCompile(`(?i)^(there (is|are) )?(none|n/?a|no (filters?|where( clause)?|conditions?)( conditions?)?( (is|are))?( needed| required| necessary)?)$`)

// ReadFilter reads a reply with the conditions of a WHERE clause over the tables
// of scope. Columns may be written with their table or without. Conditions over
// aggregates, which belong to a later phase, and joins that scope has are left
// out, with a note. The error is a *FlagError: for anything but conditions, and
// for columns and tables outside of scope.
func ReadFilter(s *schema.Schema, d exec.Dialect, scope Scope, reply string) (f Filter, notes []string, err error) {
	text := conditionText(answerText(reply))
	if noFilter.MatchString(strings.Trim(text, " .!*`\"'()[]")) {
		return Filter{}, nil, nil
	}
	if text == "" {
		return Filter{}, nil, flagged(FlagFormat, "no condition")
	}
	switch first, last := ends(d.Text(), text); {
	case first == "SELECT", first == "WITH":
		return Filter{}, nil, flagged(FlagFormat, "a whole query instead of its conditions")
	case last == "AND", last == "OR", last == "NOT":
		return Filter{}, nil, flagged(FlagFormat, "the conditions stop in the middle")
	}
	names := make([]string, len(scope.Tables))
	for i, t := range scope.Tables {
		names[i] = t.quoted(d)
	}
	head := "SELECT 1 FROM " + strings.Join(slices.Compact(names), ", ") + " WHERE "
	sql, cerr := d.Text().Check(head + text)
	if cerr != nil {
		return Filter{}, nil, malformed(reply, flagged(FlagFormat, "the conditions do not read: %v", cerr))
	}
	outline := d.Text().Outline(sql)
	if len(outline.SetOps) > 0 || len(outline.GroupBy) > 0 || len(outline.OrderBy) > 0 || outline.Having || outline.Limit {
		return Filter{}, nil, flagged(FlagFormat, "more than the conditions of a WHERE clause")
	}
	if err := insideScope(s, d.Text(), scope, sql); err != nil {
		return Filter{}, nil, malformed(reply, err)
	}
	end := 0
	for _, c := range d.Text().Conditions(sql, exec.ColumnNames(s, d)) {
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
		return Filter{}, nil, flagged(FlagFormat, "no condition")
	}
	return f, notes, nil
}

// ends are the first and the last token of a text, in upper case.
func ends(d sqltext.Dialect, text string) (first, last string) {
	for t := range d.Tokens(text) {
		if t.Kind == sqltext.Space || t.Kind == sqltext.Comment {
			continue
		}
		last = strings.ToUpper(t.Text)
		if first == "" {
			first = last
		}
	}
	return first, last
}

var whereLabel = regexp.MustCompile(`(?i)^(?:(?:where|filters?|conditions?)(?: (?:clause|conditions?))?\s*:\s*)?(?:where\s+)?`)

// conditionText takes fences, labels, a leading WHERE and a closing semicolon
// off.
func conditionText(text string) string {
	if i := strings.Index(text, "```"); i >= 0 {
		body := text[i+3:]
		if j := strings.Index(body, "```"); j >= 0 {
			body = body[:j]
		}
		if word, rest, ok := strings.Cut(body, "\n"); ok && !strings.ContainsAny(strings.TrimSpace(word), " =<>") {
			body = rest
		}
		text = body
	}
	text = strings.TrimSpace(text)
	if n := len(text); n > 1 && text[0] == '`' && text[n-1] == '`' && strings.Count(text, "`") == 2 {
		text = text[1 : n-1]
	}
	text = whereLabel.ReplaceAllString(strings.ReplaceAll(text, "**", ""), "")
	return strings.TrimSpace(strings.TrimRight(text, "; \t\n"))
}

// insideScope flags names outside of the scope in a query over its tables.
func insideScope(s *schema.Schema, d sqltext.Dialect, scope Scope, sql string) error {
	aliases := map[string]bool{}
	for _, t := range d.Tables(sql) {
		aliases[strings.ToLower(t.Alias)] = true
		if !t.Base() {
			aliases[strings.ToLower(t.Name)] = true
			continue
		}
		found, ok := s.Lookup(t.Schema, t.Name)
		switch {
		case !ok:
			return flagged(FlagUnknown, "no table is called %q", cut(t.Name, 60))
		case !scope.Has(TableName{found.Schema, found.Name}):
			return flagged(FlagOutside, "%s is not among the agreed tables", found.Name)
		}
	}
	for _, r := range d.Columns(sql) {
		if t, _ := exec.ColumnOf(s, r); t != nil || isRowID(r.Column) {
			continue
		}
		if r.Qualifier == "" && r.Quote == '"' && r.Operand {
			continue // a string, to SQLite
		}
		known := r.Table == "" && r.Qualifier != "" && aliases[strings.ToLower(r.Qualifier)]
		for _, t := range scope.Tables {
			// Of several tables, or of the query around a nested one.
			found, _ := s.Lookup(t.Schema, t.Name)
			if _, ok := found.Column(r.Column); ok && r.Qualifier == "" {
				known = true
			}
		}
		if known {
			continue
		}
		for i := range s.Tables {
			if _, ok := s.Tables[i].Column(r.Column); ok && (r.Qualifier == "" || strings.EqualFold(r.Qualifier, s.Tables[i].Name)) {
				return flagged(FlagOutside, "%s.%s is not in the agreed tables", s.Tables[i].Name, r.Column)
			}
		}
		return flagged(FlagUnknown, "no column is called %q", cut(strings.TrimPrefix(r.Qualifier+"."+r.Column, "."), 60))
	}
	return nil
}

func isRowID(name string) bool {
	return strings.EqualFold(name, "rowid") || strings.EqualFold(name, "_rowid_") || strings.EqualFold(name, "oid")
}

// joined reports whether the scope has the join of two columns.
func (s Scope) joined(from *schema.Schema, pair []sqltext.ColumnRef) bool {
	var sides [2]ColumnName
	for i, r := range pair {
		t, column := exec.ColumnOf(from, r)
		if t == nil {
			return false
		}
		sides[i] = ColumnName{TableName{t.Schema, t.Name}, column}
	}
	return slices.Contains(s.Joins, NewJoin(sides[0], sides[1]))
}

// FindingUnfiltered is the finding of CarriesFilter.
const FindingUnfiltered = "filter-missing"

// CarriesFilter is a check that finds statements without some condition of an
// agreed Filter in their WHERE and ON clauses. It compares canonical forms, so an
// equivalent condition in other words counts as missing: a reason to prefer
// another candidate, and none to reject one.
type CarriesFilter struct {
	Filter Filter // the agreed one; an empty one is carried by all
}

// Check implements exec.Check.
func (f CarriesFilter) Check(ctx context.Context, db *exec.DB, c *exec.Checked) error {
	if len(f.Filter.Conditions) == 0 {
		return nil
	}
	s, err := db.Schema(ctx)
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for _, cond := range db.Dialect().Text().Conditions(c.SQL, exec.ColumnNames(s, db.Dialect())) {
		has[cond.Key] = true
	}
	missing := 0
	for _, cond := range f.Filter.Conditions {
		if !has[cond] {
			missing++
		}
	}
	if missing > 0 {
		c.Findings = append(c.Findings, exec.Finding{Rule: FindingUnfiltered, Detail: plural(missing, "agreed condition") + " not found as written"})
	}
	return nil
}

// Filtered is a tie rule for vote.Majority: the candidate that carries the agreed
// filter goes first.
func Filtered(a, b vote.Candidate) int {
	return findings(a, FindingUnfiltered) - findings(b, FindingUnfiltered)
}

func findings(c vote.Candidate, rule string) int {
	n := 0
	for _, f := range c.Findings {
		if f.Rule == rule {
			n++
		}
	}
	return n
}
