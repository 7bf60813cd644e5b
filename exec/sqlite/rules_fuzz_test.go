package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// statements writes statements over the tables of shop, with every way to name a table that SQLite has.
type statements struct {
	*rand.Rand
	depth int
	names []string // of the FROM around
}

func pick[T any](s *statements, of ...T) T { return of[s.IntN(len(of))] }

func (s *statements) table() (text, alias string) {
	name := pick(s, "orders", "customers", "keyless", "ids", "countries", "big", "Orders", `"orders"`, "[customers]",
		"'ids'", "`orders`", "main.orders",
		"main.customers", "MAIN . ids", "main.big", "/* x */ orders", "renamed", "plain", "c1", "c2")
	if s.depth > 0 && s.IntN(4) == 0 {
		name = "(" + s.query() + ")"
	}
	alias = pick(s, "a", "b", "c", "orders", "ids", "main", `"o o"`, "countries")
	switch s.IntN(5) {
	case 0:
		return name + " " + alias, alias
	case 1, 2:
		return name + " AS " + alias, alias
	}
	if alias = name[strings.LastIndexAny(name, " .")+1:]; strings.HasPrefix(name, "(") {
		alias = "x"
		name += " AS x"
	}
	return name + pick(s, "", "", "", " NOT INDEXED"), alias
}

func (s *statements) column() string {
	name := pick(s, "id", "tenant", "total", "note", "a", "b", "name", "customer", "region", `"id"`, "'id'", "rowid",
		"one", "n", "who", "main.orders.id", "*")
	if name == "*" {
		return "1"
	}
	if len(s.names) > 0 && s.IntN(2) == 0 && !strings.Contains(name, ".") {
		name = pick(s, s.names...) + "." + strings.Trim(name, "'")
	}
	return name
}

func (s *statements) value() string {
	if s.depth <= 0 {
		return s.column()
	}
	s.depth--
	defer func() { s.depth++ }()
	switch s.IntN(12) {
	case 0:
		return "(" + s.query() + ")"
	case 1:
		return "EXISTS (" + s.query() + ")"
	case 2:
		return s.column() + pick(s, " IN (", " NOT IN (") + s.query() + ")"
	case 3:
		return s.column() + " IN " + pick(s, "ids", "main.ids", "c1", "orders", `"ids"`, "(ids)")
	case 4:
		return pick(s, "count(*)", "max(", "sum(", "count(DISTINCT ")
	case 5:
		return s.value() + pick(s, " = ", " < ", " <> ", " AND ", " OR ", " IS ", " || ") + s.value()
	case 6:
		return "json_extract(doc, '$.v')"
	}
	return s.column()
}

func (s *statements) expression() string {
	v := s.value()
	if strings.HasSuffix(v, "(") || strings.HasSuffix(v, "DISTINCT ") {
		v += s.column() + ")"
	}
	return v
}

func (s *statements) query() string {
	s.depth--
	around := s.names
	defer func() { s.depth++; s.names = around }()
	var with, from []string
	if s.IntN(5) == 0 {
		for range 1 + s.IntN(2) {
			with = append(with, pick(s, "c1", "c2", "orders", "ids", "countries", "main")+pick(s, "", "", "(id)")+" AS "+
				pick(s, "", "MATERIALIZED ")+"("+s.query()+")")
		}
	}
	s.names = nil
	for i := range 1 + s.IntN(3) {
		text, alias := s.table()
		s.names = append(s.names, alias)
		join := ""
		if i > 0 {
			join = pick(s, ", ", " JOIN ", " LEFT JOIN ", " NATURAL JOIN ", " RIGHT JOIN ", " CROSS JOIN ")
			switch s.IntN(3) {
			case 0:
				text += " USING (" + pick(s, "id", "tenant") + ")"
			case 1:
				text += " ON " + s.expression()
			}
		}
		from = append(from, join+text)
	}
	q := "SELECT " + pick(s, "", "", "DISTINCT ") +
		pick(s, "*", s.expression(), s.expression()+", "+s.expression(), s.names[0]+".*") + " FROM " + strings.Join(from, "")
	if s.IntN(2) == 0 {
		q += " WHERE " + s.expression()
	}
	if s.IntN(6) == 0 {
		q += " GROUP BY " + s.column()
	}
	if s.IntN(6) == 0 && s.depth > 0 {
		q += pick(s, " UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT ") + "SELECT " + s.expression() + " FROM " +
			pick(s, "orders", "main.ids", "countries")
	}
	if len(with) > 0 {
		q = "WITH " + pick(s, "", "RECURSIVE ") + strings.Join(with, ", ") + " " + q
	}
	return q
}

// FuzzRows: a statement that is accepted with the rules gives what it gives on the copy, and none tells what is hidden.
// Where SQL leaves the rows open, so that another order of the copy gives others, there are as many.
func FuzzRows(f *testing.F) {
	ruled, copied, turned := allShops(f, shopRules)
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		s := &statements{Rand: rand.New(rand.NewPCG(seed, 0)), depth: 3}
		text := s.query()
		got, err := ruled.Query(t.Context(), text)
		if err != nil && strings.Contains(err.Error(), "CANARY") || err == nil &&
			strings.Contains(fmt.Sprint(got.Rows), "CANARY") {
			t.Fatalf("%s\ntells what is hidden: %v, %v", text, got, err)
		}
		if err != nil && isRefusal(err) {
			return
		}
		want, werr := copied.Query(t.Context(), text)
		if got != nil && got.Truncated || want != nil && want.Truncated || limited(err) || limited(werr) {
			return
		}
		if (err == nil) != (werr == nil) {
			t.Fatalf("%s\n%v, with a copy %v", text, err, werr)
		}
		if diff := cmp.Diff(want, got, unordered); err == nil && diff != "" {
			if other, err := turned.Query(t.Context(), text); err == nil && cmp.Diff(want, other, unordered) != "" &&
				len(want.Rows) == len(got.Rows) {
				return // SQL does not say which rows these are
			}
			t.Fatalf("%s (-copy +ruled)\n%s", text, diff)
		}
	})
}
