package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/internal/testutil"
)

// oracleSchema has only columns of text, so that most statements of the generator compile, and names that mean two
// things. oracle tells what the engine itself finds that a statement reads: it makes a view of it, reads the
// dependencies of that view and takes it back. They do not tell rows that stand as a value: the stored tree does.
const oracleSchema = `
CREATE SCHEMA hr;
CREATE TABLE users(id text, name text, password text, email text);
CREATE TABLE hr.users(id text, name text, salary text, pets text);
CREATE TABLE pets(id text, owner text, name text, lower text, secret text);
CREATE TABLE odd(odd text, id text, secret text, "Odd" text, to_json text);
CREATE TABLE parent(id text, name text, secret text, kind text) PARTITION BY LIST (kind);
CREATE TABLE child PARTITION OF parent FOR VALUES IN ('a');
CREATE VIEW v_users AS SELECT id, name, email FROM users;
CREATE VIEW v_row AS SELECT to_jsonb(u)::text AS j, u.id FROM users u;
CREATE MATERIALIZED VIEW m AS SELECT id, owner FROM pets;
CREATE FUNCTION oracle(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE found text;
BEGIN
 EXECUTE 'CREATE TEMP VIEW oracle_v AS SELECT FROM (' || statement || ') AS oracle_x';
 SELECT coalesce(string_agg(DISTINCT d.read, ' '), '') INTO found FROM (
  SELECT d.refobjid::text || '.' || d.refobjsubid AS read FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
  AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class WHERE r.ev_class = 'oracle_v'::regclass
  UNION ALL SELECT a.attrelid::text || '.' || a.attnum FROM pg_rewrite r, regexp_matches(r.ev_action::text, ':varattno 0 :vartype (\d+)', 'g') m
  JOIN pg_class c ON c.reltype = m[1]::oid AND c.relkind IN ('r', 'p', 'v', 'm') JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
  WHERE r.ev_class = 'oracle_v'::regclass) d;
 RAISE EXCEPTION USING ERRCODE = 'ZZ001';
EXCEPTION WHEN SQLSTATE 'ZZ001' THEN RETURN found;
END $$;`

// oracleStatements is how many statements TestOracle makes that compile; TEXTTOSQL_ORACLE is another number.
const oracleStatements = 800

// TestOracle compares the columns that the resolver tells with those that the engine finds. It may tell more, and never
// fewer; and what reads a denied column is refused.
func TestOracle(t *testing.T) {
	pool, _ := open(t, oracleSchema)
	conn := testutil.Value(pool.Conn(context.Background()))(t)
	defer conn.Close()
	testutil.Value(conn.ExecContext(context.Background(), "SET search_path = pg_catalog, public, pg_temp"))(t)
	names := map[string]string{} // "oid.number" → "schema.table.column"
	rows := testutil.Value(conn.QueryContext(context.Background(), `SELECT a.attrelid::text || '.' || a.attnum,
 c.relnamespace::regnamespace::text || '.' || c.relname || '.' || a.attname
 FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE a.attnum > 0 AND c.relnamespace IN ('public'::regnamespace, 'hr'::regnamespace)`))(t)
	for rows.Next() {
		var key, name string
		testutil.OK(t, rows.Scan(&key, &name))
		names[key] = name
	}
	denied := []string{"public.users.password", "public.odd.secret", "public.parent.secret"}
	also := append([]string{"public.child.secret"}, denied...)
	free := readCatalog(t, pool, exec.Policy{})
	strict := readCatalog(t, pool, exec.Policy{DenyColumns: denied})

	count := oracleStatements
	if s := os.Getenv("TEXTTOSQL_ORACLE"); s != "" {
		count = testutil.Value(strconv.Atoi(s))(t)
	}
	var compiled, heavy, exact, leaking, needless int
	i := 0
	for ; compiled < count && i < 3*count; i++ {
		g := &generator{r: rand.New(rand.NewPCG(16, uint64(i)))}
		statement := g.query(nil, 3, 0)
		var heard string
		if err := conn.QueryRowContext(context.Background(), "SELECT public.oracle($1)", statement).Scan(&heard); err != nil {
			continue // the generator's fault
		}
		n, err := free.Check(statement)
		if refused := (*exec.RefusedError)(nil); errors.As(err, &refused) && refused.Reason == "too-complex" {
			heavy++
			continue
		}
		compiled++
		if err != nil {
			t.Fatalf("%d: the engine takes it, and the tree does not: %v\n%s", i, err, statement)
		}
		var told []string
		for _, r := range n.Columns() {
			for _, column := range r.Columns {
				told = append(told, r.Relation.Schema+"."+r.Relation.Name+"."+column)
			}
		}
		var reads []string
		for _, key := range strings.Fields(heard) {
			if name := names[key]; name != "" {
				reads = append(reads, name)
			}
		}
		for _, name := range reads {
			if !slices.Contains(told, name) {
				t.Fatalf("%d: the engine reads %s, and the resolver tells %v\n%s", i, name, told, statement)
			}
		}
		if len(told) == len(reads) {
			exact++
		}
		leaks := slices.ContainsFunc(reads, func(name string) bool { return slices.Contains(also, name) })
		if strings.Contains(heard, oidOf(names, "public.v_row.id")+".") {
			leaks = true // a view over the whole row
		}
		_, err = strict.Check(statement)
		switch {
		case leaks && err == nil:
			t.Fatalf("%d: it reads a denied column and is let through: %v\n%s", i, reads, statement)
		case leaks:
			leaking++
		case err != nil:
			needless++
		}
	}
	t.Logf("%d statements, %d compile and %d more are too complex; columns exact for %d; "+
		"%d read a denied column and are refused, %d are refused without need",
		i, compiled, heavy, exact, leaking, needless)
	if compiled < count || leaking < compiled/10 || exact < compiled/4 {
		t.Error("the generator or the resolver is worse than it was")
	}
}

func oidOf(names map[string]string, name string) string {
	for key, n := range names {
		if n == name {
			oid, _, _ := strings.Cut(key, ".")
			return oid
		}
	}
	return "?"
}

func readCatalog(t testing.TB, pool *sql.DB, p exec.Policy) postgres.Catalog {
	t.Helper()
	conn := testutil.Value(pool.Conn(context.Background()))(t)
	defer conn.Close()
	c := testutil.Value(postgres.ReadCatalog(context.Background(), conn, revealed(p)))(t)
	return c
}

// item is what a FROM made visible.
type item struct {
	name    string // that qualifies a column
	columns []string
}

// generator makes statements. Most compile.
type generator struct {
	r     *rand.Rand
	names int
	ctes  []item
}

func (g *generator) chance(n int) bool { return g.r.IntN(100) < n }

func pick[T any](g *generator, of ...T) T { return of[g.r.IntN(len(of))] }

func (g *generator) fresh() string { g.names++; return "x" + strconv.Itoa(g.names) }

// alias is a new name, or one that means something else too.
func (g *generator) alias() string {
	if g.chance(25) {
		return pick(g, "users", "pets", "odd", "id", "name", "u")
	}
	return g.fresh()
}

var oracleTables = []item{
	{"users", []string{"id", "name", "password", "email"}}, {"public.users", []string{"id", "name", "password", "email"}},
	{"hr.users", []string{"id", "name", "salary", "pets"}}, {"pets", []string{"id", "owner", "name", "lower", "secret"}},
	{"odd", []string{"odd", "id", "secret", `"Odd"`, "to_json"}}, {"parent", []string{"id", "name", "secret", "kind"}},
	{"child", []string{"id", "name", "secret", "kind"}}, {"v_users", []string{"id", "name", "email"}},
	{"v_row", []string{"j", "id"}},
	{"m", []string{"id", "owner"}},
}

// query makes a query of width columns of text, or of any where width is 0. outer are the items that it may refer to.
func (g *generator) query(outer []item, depth, width int) string {
	with, known := "", len(g.ctes)
	defer func() { g.ctes = g.ctes[:known] }()
	if depth > 1 && g.chance(25) {
		var parts []string
		for range 1 + g.r.IntN(2) {
			cte := item{name: pick(g, "c1", "users", "pets", g.fresh())}
			if slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, cte.name+"(") }) {
				continue
			}
			columns := 1 + g.r.IntN(3)
			for i := range columns {
				cte.columns = append(cte.columns, pick(g, "id", "name", "a", "password", "owner")+strings.Repeat("_", i))
			}
			parts = append(parts, cte.name+"("+strings.Join(cte.columns, ", ")+") AS "+pick(g, "", "MATERIALIZED ")+"("+
				g.query(nil, depth-1, columns)+")")
			g.ctes = append(g.ctes, cte)
		}
		with = "WITH " + pick(g, "", "", "RECURSIVE ") + strings.Join(parts, ", ") + " "
	}
	switch {
	case depth > 1 && g.chance(15):
		if width == 0 {
			width = 1 + g.r.IntN(3)
		}
		op := pick(g, "UNION", "UNION ALL", "INTERSECT", "EXCEPT")
		return with + "(" + g.query(outer, depth-1, width) + ") " + op + " (" + g.query(outer, depth-1, width) + ")" +
			pick(g, "", " ORDER BY 1", " LIMIT 3")
	case g.chance(4):
		row := "('a'" + strings.Repeat(", 'b'", max(width, 1)-1) + ")"
		return with + "VALUES " + row + ", " + row
	case width == 0 && g.chance(3):
		return with + "TABLE " + pick(g, "users", "pets", "hr.users", "m")
	}
	return with + g.simple(outer, depth, width)
}

// simple makes a SELECT without a set operation.
func (g *generator) simple(outer []item, depth, width int) string {
	from, items := g.from(outer, depth)
	scope := append(slices.Clone(outer), items...)
	inner := items
	if len(inner) == 0 {
		inner = scope
	}
	any := width == 0
	if any {
		width = 1 + g.r.IntN(4)
	}
	var list, group, names []string
	grouped := g.chance(20)
	for i := range width {
		var e string
		switch {
		case grouped && g.chance(50):
			e = g.column(inner)
			group = append(group, e)
		case grouped:
			e = pick(g, "count(*)::text", "max("+g.column(inner)+")", "string_agg(DISTINCT "+g.column(inner)+", ',')",
				"count("+g.row(inner)+")::text", "array_agg("+g.column(inner)+" ORDER BY "+g.column(inner)+")::text",
				"count(*) FILTER (WHERE "+g.column(inner)+" > 'a')::text")
		case any && g.chance(12):
			e = pick(g, "*", g.row(inner)+".*", "("+g.row(inner)+").*", g.row(inner))
		default:
			e = g.value(scope, depth)
		}
		if name := pick(g, "id", "password", "a", "name"); !strings.HasSuffix(e, "*") && g.chance(40) {
			e += " AS " + name + strconv.Itoa(i)
			names = append(names, name+strconv.Itoa(i))
		}
		list = append(list, e)
	}
	s := "SELECT " + pick(g, "", "", "", "DISTINCT ") + strings.Join(list, ", ") + from
	if g.chance(50) {
		s += " WHERE " + g.condition(scope, depth)
	}
	if len(group) > 0 {
		s += " GROUP BY " + pick(g, strings.Join(group, ", "), "ROLLUP ("+strings.Join(group, ", ")+")", "GROUPING SETS (("+
			strings.Join(group, ", ")+"), ())")
		if g.chance(20) {
			s += " HAVING max(" + g.column(inner) + ") > 'a'"
		}
	}
	if g.chance(20) {
		s += " ORDER BY " + pick(g, append(names, "1", "1 DESC NULLS LAST")...)
	}
	return s + pick(g, "", "", "", " LIMIT 5", " OFFSET 1")
}

// from makes a FROM and tells what it made visible.
func (g *generator) from(outer []item, depth int) (string, []item) {
	if g.chance(4) {
		return "", nil
	}
	var parts []string
	var items []item
	for range 1 + g.r.IntN(2) {
		text, made := g.source(append(slices.Clone(outer), items...), items, depth)
		for depth > 0 && g.chance(30) {
			right, more := g.source(outer, append(slices.Clone(items), made...), depth-1)
			switch g.r.IntN(6) {
			case 0, 1, 2:
				common := pick(g, "id", "id", "name", "secret")
				switch {
				case len(made) > 1 || len(more) > 1 || !slices.Contains(made[0].columns, common) ||
					!slices.Contains(more[0].columns, common):
					text += " CROSS JOIN " + right
				case g.chance(20):
					text += " NATURAL JOIN " + right
				default:
					text += " LEFT JOIN " + right + " USING (" + common + ")" + pick(g, "", "", " AS "+g.fresh())
				}
			default:
				text += " JOIN " + right + " ON " + g.column(made) + " = " + g.column(more)
			}
			made = append(made, more...)
			if g.chance(10) {
				var columns []string
				for _, m := range made {
					columns = append(columns, m.columns...)
				}
				made = []item{{g.alias(), columns}}
				text = "(" + text + ") AS " + made[0].name + pick(g, "", "", "(r1, r2)")
			}
		}
		parts, items = append(parts, text), append(items, made...)
	}
	return " FROM " + strings.Join(parts, ", "), items
}

// source makes one item of a FROM, mostly under a name that used does not have.
func (g *generator) source(outer, used []item, depth int) (string, []item) {
	for {
		text, made := g.one(outer, depth)
		if !slices.ContainsFunc(used, func(i item) bool { return i.name == made[0].name }) || g.chance(1) {
			return text, made
		}
	}
}

func (g *generator) one(outer []item, depth int) (string, []item) {
	switch {
	case depth > 0 && g.chance(20):
		name := g.alias()
		width := 1 + g.r.IntN(3)
		columns := []string{"s1", pick(g, "id", "password", "s2"), pick(g, "name", "owner")}[:width]
		lateral := pick(g, "", "LATERAL ")
		if lateral == "" {
			outer = nil
		}
		return lateral + "(" + g.query(outer, depth-1, width) + ") AS " + name + "(" + strings.Join(columns, ", ") + ")",
			[]item{{name, columns}}
	case g.chance(8):
		name := g.alias()
		switch g.r.IntN(3) {
		case 0:
			return "string_to_table('a,b', ',') AS " + name + "(n)", []item{{name, []string{"n"}}}
		case 1:
			return "unnest(ARRAY['a', 'b']) WITH ORDINALITY AS " + name + "(id, o)", []item{{name, []string{"id"}}}
		}
		return "(VALUES ('a', 'b')) AS " + name + "(id, password)", []item{{name, []string{"id", "password"}}}
	case len(g.ctes) > 0 && g.chance(60):
		c := pick(g, g.ctes...)
		if g.chance(40) {
			return c.name, []item{c}
		}
		name := g.alias()
		return c.name + " " + name, []item{{name, c.columns}}
	}
	table := pick(g, oracleTables...)
	_, bare, found := strings.Cut(table.name, ".")
	if !found {
		bare = table.name
	}
	text := pick(g, "", "", "", "", "ONLY ") + table.name
	switch {
	case g.chance(45):
		return text, []item{{bare, table.columns}}
	case g.chance(8):
		name := g.alias()
		return text + " AS " + name + "(r1, r2)", []item{{name, append([]string{"r1", "r2"}, table.columns[2:]...)}}
	case g.chance(5) && table.name != "v_users" && table.name != "v_row":
		name := g.alias()
		return table.name + " AS " + name + " TABLESAMPLE bernoulli (50)", []item{{name, table.columns}}
	}
	name := g.alias()
	return text + " " + name, []item{{name, table.columns}}
}

// column names a column, in most of the ways.
func (g *generator) column(items []item) string {
	if len(items) == 0 {
		return "'k'"
	}
	i := pick(g, items...)
	c := pick(g, i.columns...)
	others := 0
	for _, other := range items {
		if slices.Contains(other.columns, c) {
			others++
		}
	}
	switch {
	case others == 1 && g.chance(40), g.chance(3):
		return c
	case g.chance(5):
		return "(" + i.name + ")." + c
	}
	return i.name + "." + c
}

// row names an item.
func (g *generator) row(items []item) string {
	if len(items) == 0 {
		return "'r'"
	}
	return pick(g, items...).name
}

// value makes an expression of type text.
func (g *generator) value(scope []item, depth int) string {
	if depth <= 0 || g.chance(55) {
		return g.column(scope)
	}
	switch g.r.IntN(14) {
	case 0:
		return "(SELECT * FROM (" + g.query(scope, depth-1, 1) + ") AS " + g.fresh() + " LIMIT 1)"
	case 1:
		return "CASE WHEN " + g.condition(scope, depth-1) + " THEN " + g.value(scope, depth-1) + " ELSE 'e' END"
	case 2:
		return "coalesce(" + g.value(scope, depth-1) + ", " + g.column(scope) + ")"
	case 3:
		return pick(g, "to_jsonb(", "row_to_json(", "to_json(") + g.row(scope) + ")::text"
	case 4:
		return g.row(scope) + "::text"
	case 5:
		return g.row(scope) + pick(g, ".to_jsonb", ".to_json", ".row_to_json") + "::text"
	case 6:
		return "row_number() OVER (PARTITION BY " + g.column(scope) + " ORDER BY " + g.column(scope) + ")::text"
	case 7:
		return "lag(" + g.column(scope) + ") OVER (ORDER BY " + g.column(scope) + " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
	case 8:
		return "ROW(" + g.row(scope) + ".*)::text"
	case 9:
		return "(ARRAY(" + g.query(scope, depth-1, 1) + "))[1]"
	case 10:
		return "upper(" + g.value(scope, depth-1) + ")"
	case 11:
		return g.value(scope, depth-1) + " || " + g.column(scope)
	case 12:
		return "greatest(" + g.column(scope) + ", " + g.column(scope) + ")"
	}
	return "nullif(" + g.column(scope) + ", 'x')"
}

func (g *generator) condition(scope []item, depth int) string {
	if depth > 0 {
		switch g.r.IntN(9) {
		case 0:
			return "EXISTS (" + g.query(scope, depth-1, 0) + ")"
		case 1:
			return g.column(scope) + pick(g, " IN (", " NOT IN (", " = ANY (", " < ALL (") + g.query(scope, depth-1, 1) + ")"
		case 2:
			return g.condition(scope, depth-1) + pick(g, " AND ", " OR ") + g.condition(scope, depth-1)
		case 3:
			return "NOT (" + g.condition(scope, depth-1) + ")"
		case 4:
			return "(" + g.column(scope) + ", " + g.column(scope) + ") IN (" + g.query(scope, depth-1, 2) + ")"
		}
	}
	c := g.column(scope)
	return pick(g, c+" = "+g.column(scope), c+" LIKE 'a%'", c+" IS NOT NULL", c+" BETWEEN 'a' AND "+g.column(scope),
		c+" IS DISTINCT FROM "+g.column(scope),
		g.row(scope)+" IS NOT NULL", c+" ~ 'x'", fmt.Sprintf("length(%s) > %d", c, g.r.IntN(9)))
}
