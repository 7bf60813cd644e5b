package attack

import (
	_ "embed" // of the statements
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/race"
)

//go:embed order.txt
var order string

// OrderStatement is a statement that asks which of a tenant's own rows comes first.
type OrderStatement struct{ SQL, Why string }

// OrderStatements returns the statements for an engine ("sqlite"), on the tables of [OrderScript].
func OrderStatements(engine string) (all []OrderStatement) {
	var engines []string
	why := ""
	for line := range strings.Lines(order) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "== "):
			engines = strings.Fields(line[3:])
		case strings.HasPrefix(line, "# "):
			why = line[2:]
		case slices.Contains(engines, engine):
			all = append(all, OrderStatement{orderText(engine, line), why})
		}
	}
	return all
}

var (
	rangeMark = regexp.MustCompile(`\{([RE])(2?)(?: (\w+))?\}`)
	listMark  = regexp.MustCompile(`\{(CAT|JSON) ([^}]*)\}`)
)

// orderLists are the functions that put values in a list, by engine.
var orderLists = map[string]map[string]string{
	"sqlite":   {"CAT": "group_concat(%s)", "JSON": "json_group_array(%s)"},
	"postgres": {"CAT": "string_agg((%s)::text, ',')", "JSON": "json_agg(%s)"},
	"mysql":    {"CAT": "group_concat(%s)", "JSON": "json_arrayagg(%s)"},
}

// orderText writes a line of order.txt for an engine.
func orderText(engine, line string) string {
	line = rangeMark.ReplaceAllStringFunc(line, func(mark string) string {
		m, prefix, group := rangeMark.FindStringSubmatch(mark), "", 0
		if m[3] != "" {
			prefix = m[3] + "."
		}
		if m[2] != "" {
			group = 1
		}
		if m[1] == "E" || engine == "sqlite" { // without statistics of values SQLite gives every range the same share
			return equalities(group, prefix)
		}
		return between(group, 30, prefix)
	})
	return listMark.ReplaceAllStringFunc(line, func(mark string) string {
		m := listMark.FindStringSubmatch(mark)
		return fmt.Sprintf(orderLists[engine][m[1]], m[2])
	})
}

// blocks are the six ranges of the table log, as hundreds of its rows.
var blocks = []int{15, 31, 52, 73, 94, 119}

// between is a condition that the index of txt answers with 21 rows, and that of val with bound+1 rows in the opposite
// order.
func between(group, bound int, prefix string) string {
	first := 100 * blocks[group]
	return fmt.Sprintf("(%[1]stxt BETWEEN 'u%06[2]d' AND 'u%06[3]d' AND %[1]sval BETWEEN %[4]d AND %[5]d)", prefix, first,
		first+20, first+99-bound, first+99)
}

// equalities is a condition that the index of a answers with 20 rows in order of val, and the index of b with 25 in
// order of rev.
func equalities(group int, prefix string) string {
	row := 100*blocks[group] + 30
	return fmt.Sprintf("(%[1]sa = %[2]d AND %[1]sb = %[3]d)", prefix, row%600, row*7%480)
}

// OrderTables are the tables of [OrderScript].
var OrderTables = []string{"log", "items", "loose", "maybe", "nums", "spread", "pays", "parts"}

// OrderRules are the rules about them: rows of team 1 are the tenant's own, team 2 is hidden. The last two rules may
// fail for all that is known of them, so each statement about their tables has a fence. No engine has statistics for
// them but the size of the table.
func OrderRules() map[string]string {
	rules := map[string]string{}
	for _, table := range OrderTables {
		rules[table] = "team = :team"
	}
	for _, table := range OrderTables[6:] {
		rules[table] = "team % 100 = 1"
	}
	return rules
}

// OrderScript makes the tables for an engine, with the rows of team 1 alone: 12,000 in log.
func OrderScript(engine string) string {
	text, exact := map[string]string{"sqlite": " COLLATE NOCASE", "postgres": " COLLATE ci"}[engine],
		map[string]string{"postgres": "NUMERIC", "mysql": "DOUBLE"}[engine]
	script := map[string]string{
		"postgres": "CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);\n",
	}[engine] + fmt.Sprintf(
		`CREATE TABLE log(id INTEGER PRIMARY KEY, team INTEGER, txt VARCHAR(20), val INTEGER, a INTEGER, b INTEGER, rev INTEGER, c INTEGER,
 city VARCHAR(20)%s, f DOUBLE PRECISION, d VARCHAR(10), memo VARCHAR(20));
CREATE TABLE items(id INTEGER PRIMARY KEY, team INTEGER, a INTEGER, label VARCHAR(20), qty INTEGER, price DOUBLE PRECISION);
CREATE TABLE loose(team INTEGER, a INTEGER, b INTEGER, txt VARCHAR(20), n INTEGER);
CREATE TABLE maybe(u INTEGER UNIQUE, team INTEGER, val INTEGER, txt VARCHAR(20));
CREATE TABLE nums(id INTEGER PRIMARY KEY, team INTEGER, x %s, k INTEGER, t VARCHAR(20));
CREATE TABLE spread(id INTEGER PRIMARY KEY, team INTEGER, grp INTEGER, val INTEGER);
CREATE TABLE pays(id INTEGER PRIMARY KEY, team INTEGER, a INTEGER, amount INTEGER);
CREATE TABLE parts(team INTEGER, a INTEGER, b INTEGER, txt VARCHAR(20));
`, text, exact) + visibleRows() + `CREATE INDEX log_txt ON log(txt);
CREATE INDEX log_val ON log(val);
CREATE INDEX log_a ON log(a, val);
CREATE INDEX log_b ON log(b, rev);
CREATE INDEX log_rev ON log(rev);
CREATE INDEX log_city ON log(city);
CREATE INDEX log_c ON log(c, d);
CREATE INDEX items_a ON items(a);
CREATE INDEX items_label ON items(label);
CREATE INDEX loose_a ON loose(a);
CREATE INDEX loose_b ON loose(b);
CREATE INDEX maybe_val ON maybe(val);
CREATE INDEX nums_x ON nums(x);
CREATE INDEX nums_k ON nums(k);
CREATE INDEX pays_a ON pays(a);
CREATE INDEX parts_a ON parts(a);
CREATE INDEX spread_team ON spread(team, val);
`
	return script + "CREATE VIEW firsts AS SELECT id, txt, val FROM log WHERE " + orderText(engine, "{R}") +
		" LIMIT 3;\n" +
		"CREATE VIEW logs AS SELECT id, txt, val, a, b, c, city, f FROM log WHERE memo IS NOT NULL;\n"
}

// inserts collects rows of a table for statements of 500 rows.
type inserts struct {
	table string
	rows  []string
}

func (n *inserts) add(form string, args ...any) { n.rows = append(n.rows, fmt.Sprintf(form, args...)) }

func (n *inserts) script() string {
	var out strings.Builder
	for some := range slices.Chunk(n.rows, 500) {
		out.WriteString("INSERT INTO " + n.table + " VALUES " + strings.Join(some, ",") + ";\n")
	}
	return out.String()
}

const (
	logRow    = "(%d,%d,'%s',%d,%d,%d,%d,%d,'%s',%s,'2024-01-%02d','same')"
	itemRow   = "(%d,%d,%d,'p%05d',%d,%s)"
	looseRow  = "(%d,%d,%d,'%s',%d)"
	maybeRow  = "(%s,%d,%d,'m%d')"
	numsRow   = "(%d,%d,%s,%d,'n%d')"
	spreadRow = "(%d,%d,%d,%d)"
	partsRow  = "(%d,%d,%d,'%s')"
)

// visibleRows are the rows of team 1. Their numbers are even: hidden rows have odd ones, between them.
func visibleRows() string {
	cities := []string{"Oslo", "oslo", "Bergen", "OSLO", "bergen", "osLO"}
	// These add up to 0 or to 0.1, by the order, also where a sum is compensated.
	floats := []string{"0.1", "1e60", "1e40", "-1e60", "-1e40"}
	log := inserts{table: "log"}
	for i := range 12_000 {
		hundred, rest := i/100*100, i%100
		log.add(logRow, 2*i+2, 1, fmt.Sprintf("u%06d", i), hundred+99-rest, i%600, i*7%480, 12_000-i, i/7%3, cities[i/3%6],
			floats[(i/2400+i)%5], 1+i/11%3)
	}
	items, loose, maybe := inserts{table: "items"}, inserts{table: "loose"}, inserts{table: "maybe"}
	nums, spread := inserts{table: "nums"}, inserts{table: "spread"}
	for i := range 600 {
		items.add(itemRow, 2*i+2, 1, i, 599-i, i%5, floats[i%5])
	}
	for i := range 3000 {
		spread.add(spreadRow, 2*i+2, 1, i%4, 3000-i)
	}
	for i := range 2000 {
		u := "NULL"
		if i%40 == 0 {
			u = fmt.Sprint(2000 - i)
		}
		loose.add(looseRow, 1, i%40, i*7%100, "same", 2000-i)
		maybe.add(maybeRow, u, 1, i*37%2000, i)
	}
	for i := range 300 {
		nums.add(numsRow, 2*i+2, 1, []string{"1", "1.0", "-0.0", "0", "0.0", "2.5", "1.00"}[i%7], i/7%12, 300-i)
	}
	pays, parts := inserts{table: "pays"}, inserts{table: "parts"}
	for i := range 250 {
		pays.add(spreadRow, 2*i+2, 1, i*7%120, 900-i)
		parts.add(partsRow, 1, i*11%120, i%9, "same")
	}
	return log.script() + items.script() + loose.script() + maybe.script() + nums.script() + spread.script() +
		pays.script() + parts.script()
}

// HiddenState is what is hidden from the tenant for a while.
type HiddenState struct {
	Name    string
	Rows    string // a script that inserts the hidden rows
	Analyze bool   // the owner runs ANALYZE behind it

	Moved, Others bool // for MovedStatements alone, for the others alone
}

// HiddenStates are states that differ in hidden rows alone. The first one has none.
func HiddenStates() []HiddenState {
	return []HiddenState{
		{Name: "no hidden row", Analyze: true},
		{Name: "a hidden row in each range", Rows: hiddenInRanges(1), Moved: true},
		{Name: "hidden rows beyond both ends", Rows: hiddenEnds(), Others: true},
		{Name: "40 hidden rows in each range", Rows: hiddenInRanges(40), Analyze: true},
		{Name: "many hidden rows", Rows: hiddenMany(), Analyze: true},
	}
}

// WithoutHidden is a script that deletes all hidden rows.
func WithoutHidden() (script string) {
	for _, table := range OrderTables {
		script += "DELETE FROM " + table + " WHERE team = 2;\n"
	}
	return script
}

func hiddenInRanges(n int) string {
	log, items := inserts{table: "log"}, inserts{table: "items"}
	for g, block := range blocks {
		for k := range n {
			i, beside := 100*block+k, 1000*g+k
			log.add(logRow, 2*i+1, 2, fmt.Sprintf("u%06d", 100*block+k%20), -1-beside, (100*block+30)%600, 100_000+beside,
				-1-beside, 9, "Rome", "1", 9)
			items.add(itemRow, 2*(500*g+k)+1, 2, (100*block+30)%600, 599-(100*block)%600, 9, "1")
		}
	}
	return log.script() + items.script()
}

func hiddenEnds() string {
	log := inserts{table: "log"}
	log.add(logRow, 1, 2, "a", -1_000_000, -1_000_000, -1_000_000, -1_000_000, -9, "Aaa", "-1e99", 0)
	log.add(logRow, 1_000_001, 2, "z", 10_000_000, 10_000_000, 10_000_000, 10_000_000, 99, "Zzz", "1e99", 99)
	return log.script()
}

func hiddenMany() string {
	log, items, loose, maybe := inserts{table: "log"}, inserts{table: "items"}, inserts{table: "loose"},
		inserts{table: "maybe"}
	nums, spread := inserts{table: "nums"}, inserts{table: "spread"}
	for k := range 4000 {
		log.add(logRow, 6*k+1, 2, "u001510", 100_000+k, k%5, 100_000+k, -1-k, k%2, "Oslo", "1", 1)
		spread.add(spreadRow, 2*k+100_001, 2, k%2, k%2)
		spread.add(spreadRow, 2*k+200_001, 2, k%2, k%2)
	}
	pays, parts := inserts{table: "pays"}, inserts{table: "parts"}
	for k := range 5000 {
		pays.add(spreadRow, 2*k+1, 2, k%3, k)
	}
	for k := range 9 {
		parts.add(partsRow, 2, 1000+k, k, "hidden")
	}
	for k := range 2000 {
		items.add(itemRow, 2*k+1, 2, 300+k%3, k%600, k%2, "1")
		loose.add(looseRow, 2, k%2, 1000+k, "hidden", k)
		maybe.add(maybeRow, fmt.Sprint(100_000+k), 2, k%3, k)
		nums.add(numsRow, 2*k+1, 2, "1", 5, k)
	}
	return log.script() + items.script() + loose.script() + maybe.script() + nums.script() + spread.script() +
		pays.script() + parts.script()
}

// MovedStatements are the statements of six ranges whose bound moves over 0 to 40 rows: the plan changes where both
// indexes have as many rows. Without TEXTTOSQL_ORDER=all they are those of each second bound.
func MovedStatements(engine string) (all []string) {
	forms := []string{
		"SELECT id FROM log l WHERE %s", "SELECT id, c FROM log l WHERE %s ORDER BY c LIMIT 2",
		"SELECT {CAT id} FROM log l WHERE %s",
		"SELECT sum(f) FROM log l WHERE %s", "SELECT DISTINCT c FROM log l WHERE %s LIMIT 2",
		"SELECT id FROM log l WHERE %s LIMIT 2 OFFSET 1",
		"SELECT min(city) FROM log l WHERE %s", "SELECT l.id, i.label FROM log l JOIN items i ON i.a = l.a WHERE %s LIMIT 1",
	}
	for g := range blocks {
		for bound := range 41 {
			if bound%2 == 0 && bound%40 > 0 && os.Getenv("TEXTTOSQL_ORDER") != "all" {
				continue
			}
			if race.Enabled && bound%8 != 3 {
				continue // the detector wants each path, not each bound
			}
			where := between(g, bound, "l.")
			if engine == "sqlite" || bound%4 == 3 {
				where = equalities(g, "l.") + fmt.Sprintf(" AND l.val <= %d", 12_000-bound)
			}
			all = append(all, "SELECT id FROM log l WHERE "+where+" LIMIT 1")
			if bound%2 == 1 {
				all = append(all, fmt.Sprintf(orderText(engine, forms[(bound/2)%len(forms)]), where))
			}
		}
	}
	return all
}
