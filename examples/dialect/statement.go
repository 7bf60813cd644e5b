package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"modernc.org/sqlite"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// safe are functions that read their arguments and nothing else, and whose memory SQLite bounds.
const safe = `-> ->> abs avg ceil ceiling char coalesce concat concat_ws count cume_dist current_date current_time
	current_timestamp date datetime dense_rank first_value floor format glob group_concat hex if ifnull iif instr json
	json_array json_array_length json_each json_extract json_object json_quote json_tree json_type json_valid julianday
	lag last_value lead length like likelihood likely lower ltrim max min nth_value ntile nullif octet_length percent_rank
	printf quote random rank replace round row_number rtrim sign soundex strftime string_agg substr substring sum time
	timediff total trim typeof unicode unixepoch unlikely upper acos acosh asin asinh atan atan2 atanh cos cosh degrees
	exp ln log log10 log2 mod pi pow power radians sin sinh sqrt tan tanh trunc`

// noCall are keywords behind which a bracket opens no arguments.
var noCall = guard.Set(`ALL AND AS BETWEEN BY CASE CAST COLLATE DISTINCT ELSE ESCAPE EXCEPT EXISTS FILTER FROM HAVING IN
	INTERSECT IS JOIN LIMIT MATERIALIZED NOT OFFSET ON OR OVER SELECT THEN UNION USING VALUES WHEN WHERE WITH`)

// namesOf says what a text may name: rather too much than too little, since no parser of the engine helps.
//
//   - A table is what sqltext finds in a FROM, or a name behind IN. Confirm finds out whether one is missing.
//   - Each of the two names behind the name of a table may be its alias, wherever it stands.
//   - Each of the two names behind a bracket without a query may be the alias of all tables.
//   - Every name, but for one behind AS, may be a column of every table. So may a string where a name may be.
func namesOf(s *sqltext.Statement, find func(in, name string) *guard.Relation) *guard.Names {
	n, tables, tokens := &guard.Names{}, map[*guard.Relation]bool{}, slices.Collect(s.Tokens())
	text := func(i int) (name, word string) { // a name without its quotes, or a word or operator in upper case
		if i < 0 || i >= len(tokens) {
			return "", ""
		}
		switch t := tokens[i]; t.Kind {
		case sqltext.Word:
			return t.Text, strings.ToUpper(t.Text)
		case sqltext.QuotedName, sqltext.String:
			return s.Dialect().Value(t), ""
		default:
			return "", t.Text
		}
	}
	table := func(in, name string) {
		if r := find(in, name); r != nil {
			tables[r] = true
		} else {
			n.Lacks(name)
		}
	}
	ctes := map[string]bool{}
	for _, ref := range s.Tables() {
		if ctes[schema.FoldCase(ref.Name)] = ref.CTE; ref.Base() {
			table(ref.Schema, ref.Name)
		} else {
			n.Sources = append(n.Sources, guard.Source{Alias: cmp.Or(ref.Alias, ref.Name)})
		}
	}
	folded := schema.FoldCase(s.SQL())
	using, rowid := strings.Contains(folded, "using"), strings.Contains(folded, "oid") || strings.Contains(folded, "rowid")
	var queries []bool // of each open bracket, whether it has a query
	for i := range tokens {
		name, word := text(i)
		_, before := text(i - 1)
		next, behind := text(i + 1)
		third, _ := text(i + 2)
		last := len(queries) - 1
		switch {
		case word == "(":
			queries = append(queries, guard.Set("SELECT WITH VALUES")[behind])
		case word == ")" && last >= 0:
			for _, alias := range []string{next, third} {
				if !queries[last] {
					n.Sources = append(n.Sources, guard.Source{Alias: alias, Joined: true})
				}
			}
			queries = queries[:last]
		case word == "*" && before == ".":
			name, _ := text(i - 2)
			n.Refs = append(n.Refs, guard.Ref{Path: []string{name}, Star: true})
		case word == "*" && guard.Set("SELECT DISTINCT ALL ,")[before]:
			n.Refs = append(n.Refs, guard.Ref{Star: true})
		case word == "NATURAL":
			n.Natural = true
		case word == "INDEXED" && behind == "BY":
			n.Indexes = append(n.Indexes, third)
		}
		switch {
		case name == "", before == "AS": // an alias or a type
		case behind == "(":
			if !noCall[word] && !ctes[schema.FoldCase(name)] {
				n.Functions = append(n.Functions, schema.FoldCase(name))
			}
		case before == "IN":
			table("", name)
			n.Refs = append(n.Refs, guard.Ref{Path: []string{name}, Star: true})
		case tokens[i].Kind != sqltext.String, using, before == ".", behind == ".":
			n.Refs = append(n.Refs, guard.Ref{Path: []string{name}})
		}
	}
	for i := range tokens {
		name, _ := text(i)
		r := find("", name)
		if !tables[r] {
			continue
		}
		next, _ := text(i + 1)
		third, _ := text(i + 2)
		for _, alias := range []string{name, next, third} {
			n.Sources = append(n.Sources, guard.Source{Alias: alias, Relation: r})
		}
		for _, key := range r.Own.([]string) { // which the row's number may be
			if rowid {
				n.Refs = append(n.Refs, guard.Ref{Path: []string{key}})
			}
		}
	}
	return n
}

// Read implements [exec.Conn].
func (c *connection) Read(ctx context.Context, s *exec.Statement) (*guard.Names, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	n := namesOf(s.Statement, s.Catalog.Own.(facts).find)
	if len(n.Sources)*len(n.Refs) > 10_000_000 {
		return nil, guard.Refuse("too-complex", "it names too much")
	}
	return n, c.callable(n.Functions...)
}

func (c *connection) callable(functions ...string) error {
	for _, name := range functions {
		if !c.functions[name] {
			return guard.Refuse("function", "%s is not on the list of functions that may be called", name)
		}
	}
	return nil
}

// Confirm implements [exec.Conn]. SQLite lists the program that it makes of a statement: it opens tables and indexes by
// the number of their first page, and calls functions by their names.
func (c *connection) Confirm(ctx context.Context, s *exec.Statement) (seen guard.EngineReport, err error) {
	if version, err := c.Version(ctx); err != nil || version != s.Catalog.Version {
		return seen, cmp.Or(err, guard.ErrStale)
	}
	program, err := guard.Texts(ctx, c.Conn, "EXPLAIN "+s.SQL(), s.Args...)
	if err != nil {
		return seen, classify(err, "compile")
	}
	calls, stores := 0, 0
	for _, step := range program {
		name, p2, p3, p4 := step[1], step[3], step[4], step[5]
		switch {
		case name == "OpenWrite", name == "VUpdate", name == "Transaction" && p2 != "0":
			return seen, guard.Refuse("not-read-only", "its program has the step %s", name)
		case name == "OpenRead":
			r := s.Catalog.Own.(facts).roots[p2]
			if r == nil || p3 != "0" {
				return seen, guard.Refuse("table", "it reads what is no table of the schema")
			}
			seen.Relations = append(seen.Relations, r)
		case name == "OpenEphemeral", name == "OpenAutoindex", name == "SorterOpen":
			stores++
		case name == "Concat":
			calls++
		case name == "Function", name == "PureFunc", strings.HasPrefix(name, "Agg"):
			calls++
			function, _, _ := strings.Cut(schema.FoldCase(p4), "(")
			if err := c.callable(function); err != nil {
				return seen, err
			}
		}
	}
	if stores > 16 { // a statement of people has 12 at most
		return seen, guard.Refuse("too-complex", "it sorts or keeps rows in %d places", stores)
	}
	// Each of many calls, and each row that is kept, may hold a value of the greatest length.
	s.Names.Own = c.longest * 24 / (24 + calls + 10*stores)
	return seen, nil
}

// Explain implements [exec.Conn]. The plan calls a table by its alias, so the tables stand in front.
func (c *connection) Explain(ctx context.Context, s *exec.Statement) (p exec.Plan, err error) {
	lines := ""
	for _, r := range s.Seen.Relations {
		lines += "OPEN " + r.Name + "\n"
	}
	plan, err := guard.Texts(ctx, c.Conn, "EXPLAIN QUERY PLAN "+s.SQL(), s.Args...)
	for _, row := range plan {
		lines += row[3] + "\n"
	}
	p.AddText(lines)
	return p, err
}

// Run implements [exec.Conn]. The driver makes times of the texts in columns of some types. In such a statement the
// columns become expressions, which have no type. The order of rows stays: SQLite keeps that of a subquery in FROM
// where the query around it has neither an order nor a join.
func (c *connection) Run(ctx context.Context, s *exec.Statement, _ exec.Bounds) (*exec.Rows, error) {
	columns, err := c.inner.(interface {
		ColumnInfo(text string) ([]sqlite.ColumnInfo, error)
	}).ColumnInfo(s.SQL())
	if err != nil {
		return nil, err
	}
	text, timed, names, list := s.SQL(), false, "", ""
	for i, column := range columns {
		names += fmt.Sprintf(",c%d", i)
		list += fmt.Sprintf(",+c%d AS %s", i, Dialect{}.Language().Quote(column.Name))
		timed = timed || guard.Set("DATE DATETIME TIMESTAMP")[strings.ToUpper(column.DeclType)]
	}
	if timed {
		cte := fmt.Sprintf("stored_%x", sha256.Sum256([]byte(text))) // so no text names it
		text = "WITH " + cte + "(" + names[1:] + ") AS (" + text + "\n) SELECT " + list[1:] + " FROM " + cte
	}
	if _, err := sqlite.Limit(c.limits, 0, s.Names.Own.(int)); err != nil {
		return nil, err
	}
	rows, statement, err := guard.Query(ctx, c.Conn, text, s.Args...)
	return &exec.Rows{Rows: rows, Statement: statement}, err
}
