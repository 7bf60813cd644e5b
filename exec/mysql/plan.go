package mysql

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// traceQuery reads what the optimizer wrote down while it prepared the last statement.
const traceQuery = `SELECT QUERY, MISSING_BYTES_BEYOND_MAX_MEM_SIZE, INSUFFICIENT_PRIVILEGES, JSON_EXTRACT(TRACE, '$**.expanded_query')
FROM information_schema.OPTIMIZER_TRACE`

// traced refuses the statement that was prepared last where the server itself reads a denied column for it: it writes
// out stars, NATURAL, USING and views in its trace. It knows columns that the catalog does not have yet.
func (h *held) traced(ctx context.Context, s *exec.Statement) error {
	refuse := func(detail string) error { return guard.Refuse("column", "%s", detail) }
	var (
		query, expanded       sql.NullString
		missing, unprivileged int
	)
	err := guard.QueryEach(ctx, h.conn, traceQuery, func(scan func(...any) error) error {
		return scan(&query, &missing, &unprivileged, &expanded)
	})
	switch {
	case err != nil:
		return ours(err)
	case unprivileged != 0 && onlyViews(s.Names):
		// Permit looked at each name of their definitions, in which the server writes out stars, NATURAL and USING.
		version, err := h.objects(ctx, "", func(_, _, _, _ string) {}) // as it is now
		if err == nil && version != s.Catalog.Version {
			return guard.ErrStale
		}
		return ours(err)
	case unprivileged != 0:
		return refuse("the server does not tell this user what a statement over views reads that are another user's: " +
			"name no tables beside them, or run them as SQL SECURITY INVOKER")
	case missing > 0 || !expanded.Valid || query.String != s.SQL():
		return refuse("the server does not tell what the statement reads, and a column of its tables may not be read")
	}
	var queries []string
	if err := json.Unmarshal([]byte(expanded.String), &queries); err != nil || len(queries) == 0 {
		return refuse("the server does not tell what the statement reads in a form that the guard knows")
	}
	aliases := map[string][]*guard.Relation{}
	collect(aliases, s.Names)
	for _, q := range queries {
		var before [2]string // the tokens before, names in lower case
		for t := range sqltext.MySQL().Parse(q).Tokens() {
			this := t.Text
			if t.Kind == sqltext.Word || t.Kind == sqltext.QuotedName {
				this = sqltext.MySQL().Value(t)
				if before[1] == "." && h.denies(aliases, lower(before[0]), this) {
					return refuse("the server would read " + before[0] + "." + this + ", which may not be read")
				}
			}
			before = [2]string{before[1], this}
		}
	}
	return nil
}

// onlyViews reports whether a statement names nothing but views without a column that is denied, and the definitions of
// those and of the views under them are known.
func onlyViews(n *guard.Names) bool {
	return !slices.ContainsFunc(n.Relations(), func(r *guard.Relation) bool {
		return !r.View || r.Hides() || !isDefined(r)
	})
}

// isDefined reports whether all views under r have a definition that is known. Permit refused views that read
// themselves.
func isDefined(r *guard.Relation) bool {
	return !r.View || r.Body != nil && !slices.ContainsFunc(r.Body.Relations(), func(r *guard.Relation) bool {
		return !isDefined(r)
	})
}

// collect adds what names stand for relations in a statement and in the views that it reads, in lower case; nil stands
// for anything else.
func collect(aliases map[string][]*guard.Relation, n *guard.Names) {
	for _, s := range n.Sources {
		if known := aliases[lower(s.Alias)]; slices.Contains(known, s.Relation) {
			continue
		}
		aliases[lower(s.Alias)] = append(aliases[lower(s.Alias)], s.Relation)
		if s.Relation != nil && s.Relation.Body != nil {
			collect(aliases, s.Relation.Body)
		}
	}
}

// denies reports whether qualifier.column may be a denied column. A qualifier that the statement does not have may
// stand for any table.
func (h *held) denies(aliases map[string][]*guard.Relation, qualifier, column string) bool {
	relations, ok := aliases[qualifier]
	if !ok {
		relations = slices.Concat(slices.Collect(maps.Values(aliases))...)
	}
	return slices.ContainsFunc(relations, func(r *guard.Relation) bool {
		return r != nil && (r.Denies(column) || !h.server.policy.AllowsColumn(h.at.database, r.Name, column))
	})
}

// Explain implements exec.Conn: what EXPLAIN FORMAT=JSON says, without conditions. MariaDB tells a cost from 11.0.
func (h *held) Explain(ctx context.Context, s *exec.Statement) (exec.Plan, error) {
	statement, err := h.conn.PrepareContext(ctx, "EXPLAIN FORMAT=JSON "+s.SQL())
	if err != nil {
		return exec.Plan{}, err
	}
	defer statement.Close()
	var text string
	if err := statement.QueryRowContext(ctx, s.Args...).Scan(&text); err != nil {
		return exec.Plan{}, err
	}
	aliases := map[string][]*guard.Relation{}
	collect(aliases, s.Names)
	return readPlan(text, aliases), nil
}

// costs match what each query block costs. The text of a statement may add to their sum, and takes nothing away.
var costs = regexp.MustCompile(
	`"(?:select_id": \d+,\s+"(?:operation": "\w+",\s+")?cost": ([\d.e+-]+)|query_cost": "([\d.]+)")`)

// aliased and whole match a table's alias, and that all of its rows, or all entries of an index, are read.
var (
	aliased = regexp.MustCompile(`^"table_name": (".*"),$`)
	whole   = regexp.MustCompile(`^"access_type": "(ALL|index)",?$`)
)

// readPlan reads what EXPLAIN FORMAT=JSON says. aliases are what its names of tables stand for.
func readPlan(text string, aliases map[string][]*guard.Relation) (p exec.Plan) {
	var alias string
	for line := range strings.Lines(text) {
		line, words := strings.TrimRight(line, "\r\n \t"), strings.TrimSpace(line)
		if m := aliased.FindStringSubmatch(words); m != nil {
			alias = ""
			_ = json.Unmarshal([]byte(m[1]), &alias) // the server escapes too little in some names: those are of no table
		}
		if line == "" || mayTell(line) {
			continue
		}
		row := exec.PlanRow{ID: len(p.Rows) + 1, Detail: line}
		if whole.MatchString(words) {
			for _, r := range aliases[lower(alias)] {
				if r != nil {
					row.Scans = append(row.Scans, schema.TableName{Schema: r.Schema, Name: r.Name})
				}
			}
		}
		p.Rows = append(p.Rows, row)
	}
	for _, m := range costs.FindAllStringSubmatch(text, -1) {
		if cost, err := strconv.ParseFloat(m[1]+m[2], 64); err == nil && cost > 0 {
			p.EngineCost += cost
		}
	}
	return p
}

// mayTell reports whether a line of a plan may hold stored values: where a key finds one row of a table, the server
// reads it first and writes its values into the conditions of the others. A name with a line break carries a condition
// on to the next line, which then has the backtick behind the name.
func mayTell(line string) bool {
	key, _, _ := strings.Cut(strings.TrimSpace(line), `":`)
	return strings.HasSuffix(key, "condition") || key == `"sort_key` || strings.ContainsAny(line, "'`")
}
