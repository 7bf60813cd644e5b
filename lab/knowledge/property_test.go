package knowledge_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/result"
)

// TestEveryRequest: every metric by every dimension under every condition of four models gives what a loop over the
// rows gives, or is refused where the loop finds no way or two.
func TestEveryRequest(t *testing.T) {
	for _, name := range []string{"chinook", "classicmodels", "jaffle", "trips"} {
		t.Run(name, func(t *testing.T) {
			m, db, b := modelOf(t, name), onSQLite(t, name), bruteModels[name]
			w := newWorld(t, pool(t, name), m, b)
			equal, refused := 0, 0
			for _, metric := range m.Metrics {
				if _, ok := b.metrics[metric.Name]; !ok {
					continue
				}
				for _, dimension := range b.dimensions {
					for _, condition := range b.conditions {
						r := knowledge.Request{Metrics: []string{metric.Name}}
						if dimension != "" {
							r.GroupBy = []string{dimension}
						}
						if condition.sql != "" {
							r.Where = []string{condition.sql}
						}
						want, can := w.loop(metric.Name, dimension, condition)
						sql, err := m.Compile(r, "sqlite")
						var why *knowledge.RequestError
						if !can {
							if !errors.As(err, &why) || why.Reason != "fan-out" && why.Reason != "ambiguous" {
								t.Errorf("%+v: %v; want a refusal\n%s", r, err, sql)
							}
							refused++
							continue
						}
						if err != nil {
							t.Errorf("%+v: %v", r, err)
							continue
						}
						got := testutil.Value(db.Query(t.Context(), sql))(t, sql)
						if !nine.Equal(rounded(got), rounded(want)) {
							t.Fatalf("%+v: %s\n%s\nwant\n%s", r, sql, got.Preview(20, 20), want.Preview(20, 20))
						}
						equal++
					}
				}
			}
			t.Logf("%s: %d requests equal, %d refused", name, equal, refused)
		})
	}
}

// rounded takes away what an addition in another order changes.
func rounded(t *result.Table) *result.Table {
	out := plain(t)
	for _, r := range out.Rows {
		for i, v := range r {
			if f, ok := v.(float64); ok {
				r[i] = math.Round(f*1e6) / 1e6
			}
		}
	}
	return out
}

// world is the rows of a database, and where they lead.
type world struct {
	bruteModel
	rows  map[string][]seen
	links map[string][]link
	index map[string]map[string]row // rows by the columns that a link compares
}

type link struct {
	name, to string
	on       [][2]string
}

func newWorld(t *testing.T, p *sql.DB, m knowledge.Model, b bruteModel) *world {
	w := &world{bruteModel: b, rows: map[string][]seen{}, links: map[string][]link{}, index: map[string]map[string]row{}}
	stored := map[string][]row{}
	for _, table := range m.Tables {
		source := table.Source
		if source == "" {
			source = table.Name
		}
		name := strings.ToLower(table.Name)
		stored[name] = read(t, p, source)
		for column, compute := range b.computed {
			if of, c, _ := strings.Cut(column, "."); of == name {
				for _, r := range stored[name] {
					r[c] = compute(r)
				}
			}
		}
	}
	for _, r := range m.Relationships {
		from := strings.ToLower(r.From)
		w.links[from] = append(w.links[from], link{strings.ToLower(r.Name), strings.ToLower(r.To), r.On})
	}
	for name, rows := range stored {
		for _, r := range rows {
			s := seen{}
			w.follow(stored, s, name, r)
			w.rows[name] = append(w.rows[name], s)
		}
	}
	return w
}

// follow adds what a row leads to, nearest first: a table keeps the row of the shortest way.
func (w *world) follow(stored map[string][]row, s seen, table string, r row) {
	type at struct {
		table string
		row   row
	}
	s[table] = r
	for level := []at{{table, r}}; len(level) > 0; {
		var next []at
		for _, a := range level {
			for _, l := range w.links[a.table] {
				found := w.partner(stored[l.to], a.row, l)
				if _, ok := s[l.name]; l.name != "" && !ok {
					s[l.name] = found
				}
				if _, ok := s[l.to]; !ok {
					s[l.to] = found
					next = append(next, at{l.to, found})
				}
			}
		}
		level = next
	}
}

// partner is the row that another one names; nil: none.
func (w *world) partner(rows []row, of row, l link) row {
	index := w.index[l.key()]
	if index == nil {
		index = map[string]row{}
		w.index[l.key()] = index
		for _, r := range rows {
			index[l.values(r, 1)] = r
		}
	}
	return index[l.values(of, 0)]
}

func (l *link) key() string { return fmt.Sprint(l.to, l.on) }

// values are those of the columns of one side; NULL meets nothing.
func (l *link) values(r row, side int) string {
	key := ""
	for _, pair := range l.on {
		v := r[strings.ToLower(pair[side])]
		if v == nil {
			return fmt.Sprint("none", side)
		}
		key += fmt.Sprintf("%v|", v)
	}
	return key
}

func read(t *testing.T, p *sql.DB, table string) (all []row) {
	rows := testutil.Value(p.Query(`SELECT * FROM "` + table + `"`))(t)
	defer rows.Close()
	names := testutil.Value(rows.Columns())(t)
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		testutil.OK(t, rows.Scan(into...))
		r := row{"#": len(all)}
		for i, n := range names {
			v := text(values[i])
			if b, ok := v.(bool); ok {
				v = map[bool]int64{true: 1}[b]
			}
			r[strings.ToLower(n)] = v
		}
		all = append(all, r)
	}
	testutil.OK(t, rows.Err())
	return all
}

// reaches counts the shortest ways from a table to another, or to the end of a named relationship.
func (w *world) reaches(from, to string) int {
	ways := map[string]int{from: 1}
	for done := map[string]bool{}; len(ways) > 0; {
		for table := range ways {
			for _, l := range w.links[table] {
				if l.name == to {
					return ways[table]
				}
			}
		}
		if ways[to] > 0 {
			return ways[to]
		}
		next := map[string]int{}
		for table, n := range ways {
			done[table] = true
			for _, l := range w.links[table] {
				if !done[l.to] && ways[l.to] == 0 {
					next[l.to] += n
				}
			}
		}
		ways = next
	}
	return 0
}

// finest is the one table that reaches all and none of the others that do.
func (w *world) finest(all ...string) (string, bool) {
	var found []string
	for table := range w.rows {
		if !slices.ContainsFunc(all, func(to string) bool { return w.reaches(table, to) != 1 }) {
			found = append(found, table)
		}
	}
	found = slices.DeleteFunc(found, func(table string) bool {
		return slices.ContainsFunc(found, func(other string) bool { return other != table && w.reaches(table, other) > 0 })
	})
	if len(found) != 1 {
		return "", false
	}
	return found[0], true
}

// loop answers a request by loops; false: it cannot be answered.
func (w *world) loop(metric, dimension string, condition bruteCondition) (*result.Table, bool) {
	groups, ok := w.groups(metric, strings.ToLower(dimension), condition)
	out := &result.Table{Columns: []string{"m"}}
	if dimension != "" {
		out.Columns = []string{"d", "m"}
	} else if len(groups) == 0 {
		groups = map[any]any{nil: nil}
		if b := w.metrics[metric]; b.kind == "count" || b.kind == "distinct" {
			groups[nil] = 0.0
		}
	}
	for key, value := range groups {
		if f, ok := value.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			value = nil
		}
		if dimension == "" {
			out.Rows = append(out.Rows, []any{value})
		} else {
			out.Rows = append(out.Rows, []any{key, value})
		}
	}
	return out, ok
}

func (w *world) groups(metric, dimension string, condition bruteCondition) (map[any]any, bool) {
	b := w.metrics[metric]
	if b.parts == nil {
		return w.simple(b, dimension, condition)
	}
	left, ok := w.groups(b.parts[0], dimension, condition)
	right, ok2 := w.groups(b.parts[1], dimension, condition)
	out := map[any]any{}
	for _, side := range []map[any]any{left, right} {
		for key := range side {
			out[key] = nil
			a, isA := left[key].(float64)
			b2, isB := right[key].(float64)
			if isA && isB {
				out[key] = b.combine(a, b2)
			}
		}
	}
	return out, ok && ok2
}

// simple adds up the rows of one table.
func (w *world) simple(b brute, dimension string, condition bruteCondition) (map[any]any, bool) {
	base := b.table
	if at, _, _ := strings.Cut(dimension, "."); at != "" && w.reaches(base, at) != 1 {
		table, ok := w.finest(base, at)
		if w.reaches(base, at) > 1 || !ok || b.kind != "distinct" && b.kind != "max" {
			return nil, false
		}
		base = table
	}
	meets, ok := w.meets(base, condition)
	if !ok {
		return nil, false
	}
	groups, distinct := map[any]any{}, map[[2]any]bool{}
	for _, s := range w.rows[base] {
		if !meets(s) {
			continue
		}
		var key any
		if dimension != "" {
			key = s.at(dimension)
		}
		if _, ok := groups[key]; !ok {
			groups[key] = map[string]any{"count": 0.0, "distinct": 0.0}[b.kind]
		}
		value := b.value(s)
		if value == nil || b.where != nil && !b.where(s) {
			continue
		}
		old, _ := groups[key].(float64)
		switch b.kind {
		case "sum", "count":
			if f := value.(float64); !math.IsNaN(f) {
				groups[key] = old + f
			}
		case "max":
			groups[key] = max(old, float64(value.(int64)))
		case "distinct":
			if !distinct[[2]any{key, value}] {
				distinct[[2]any{key, value}] = true
				groups[key] = old + 1
			}
		}
	}
	return groups, true
}

// meets returns what tells whether a row of base meets a condition: by what it leads to, or by some row that leads to
// it.
func (w *world) meets(base string, c bruteCondition) (func(seen) bool, bool) {
	if c.sql == "" {
		return func(seen) bool { return true }, true
	}
	all, finer := []string{base}, false
	for _, table := range c.tables {
		table = strings.ToLower(table)
		all = append(all, table)
		switch w.reaches(base, table) {
		case 0:
			finer = true
		case 1:
		default:
			return nil, false
		}
	}
	if !finer {
		return c.holds, true
	}
	fine, ok := w.finest(all...)
	if !ok {
		return nil, false
	}
	met := map[any]bool{}
	for _, s := range w.rows[fine] {
		if s[base] != nil && c.holds(s) {
			met[s[base]["#"]] = true
		}
	}
	return func(s seen) bool { return met[s[base]["#"]] }, true
}
