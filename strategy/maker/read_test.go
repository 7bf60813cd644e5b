package maker

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
)

// readOr is what was read, or ! and the reason of the flag.
func readOr(t *testing.T, read fmt.Stringer, err error) string {
	t.Helper()
	if err == nil {
		return read.String()
	}
	var flag *flagError
	if !errors.As(err, &flag) {
		t.Fatalf("error of type %T: %v", err, err)
	}
	return "!" + flag.Reason
}

// makerSchema is small and has what is awkward: a name with a blank, a keyword, a
// name with "and" in it, a table that refers to itself.
func makerSchema() *schema.Schema {
	columns := func(names ...string) []schema.Column {
		var all []schema.Column
		for _, n := range names {
			all = append(all, schema.Column{Name: n})
		}
		return all
	}
	return &schema.Schema{Dialect: "sqlite", Tables: []schema.Table{
		{Name: "Customers", Kind: "table", Columns: columns("id", "Segment", "country", "a", "b")},
		{Name: "orders", Kind: "table", Columns: columns("id", "customer_id", "total", "placed"),
			ForeignKeys: []schema.ForeignKey{{Columns: []string{"customer_id"}, RefTable: "customers",
				RefColumns: []string{"id"}}}},
		{Name: "order details", Kind: "table", Columns: columns("order id", "qty")},
		{Name: "order", Kind: "table", Columns: columns("id")},
		{Name: "salt and pepper", Kind: "table", Columns: columns("id")},
		{Name: "staff", Kind: "table", Columns: columns("id", "boss"),
			ForeignKeys: []schema.ForeignKey{{Columns: []string{"boss"}, RefTable: "staff", RefColumns: []string{"id"}}}},
	}}
}

func TestReadScope(t *testing.T) {
	const both, pair = "Customers, orders", "Customers.id = orders.customer_id"
	tests := []struct {
		name, reply string
		tables      string // or the reason of the flag, after a !
		joins       string
		why         string
	}{
		{"plain", "Tables: customers, orders\nJoins: orders.customer_id = customers.id", both, pair,
			"the form that is asked for"},
		{"other order", "Tables: Orders,customers\nJoins: CUSTOMERS.ID = orders.Customer_Id", both, pair,
			"order and case do not matter"},
		{"alias", "Tables: customers c, orders o\nJoins: o.customer_id = c.id", both, pair, "aliases are resolved"},
		{"alias with AS", "Tables: customers AS T1, orders as T2\nJoins: T1.id = T2.customer_id", both, pair, ""},
		{"double quotes", `Tables: "customers", "orders"` + "\n" + `Joins: "orders"."customer_id" = "customers"."id"`, both,
			pair, ""},
		{"backticks", "Tables: `customers`, `orders`\nJoins: `orders`.`customer_id` = `customers`.`id`", both, pair, ""},
		{"brackets", "Tables: [customers], [order details]", "Customers, order details", "", "brackets quote"},
		{"list in brackets", "Tables: [customers, orders]", both, "", "or hold a list"},
		{"list of strings", `Tables: ["customers", "orders"]`, both, "", ""},
		{"fence", "```\nTables: customers, orders\nJoins: orders.customer_id = customers.id\n```", both, pair, ""},
		{"bullets", "- Tables: customers, orders\n- Joins: orders.customer_id = customers.id", both, pair, ""},
		{"bold", "**Tables:** customers, orders\n**Joins:** orders.customer_id = customers.id", both, pair, ""},
		{"bold label", "**Tables**: customers", "Customers", "", ""},
		{"list below the label", "Tables:\n- customers\n- orders\n\nJoins:\n- orders.customer_id = customers.id", both, pair,
			""},
		{"numbered", "Tables:\n1. customers\n2. orders", both, "", ""},
		{"list over two lines", "Tables: customers,\n  orders\nJoins: orders.customer_id = customers.id", both, pair,
			"a comma goes on"},
		{
			"joins over several lines", "Tables: customers, orders, staff\nJoins: orders.customer_id = customers.id\n  " +
				"AND staff.id = customers.a",
			"Customers, orders, staff", "Customers.a = staff.id AND " + pair, "",
		},
		{
			"other conditions in the joins",
			"Tables: customers, orders\nJoins: orders.customer_id = customers.id AND orders.total > 5 " +
				"AND customers.country = 'USA'", both, pair,
			"only equal columns join",
		},
		{"table named twice", "Tables: staff, staff\nJoins: staff.boss = staff.id", "staff, staff", "staff.boss = staff.id",
			"a self-join counts twice"},
		{"no joins line", "Tables: customers, orders", both, "", ""},
		{"joins: none", "Tables: customers\nJoins: None", "Customers", "", ""},
		{"blank in a name", "Tables: order details, customers", "Customers, order details", "",
			"the whole entry is looked up first"},
		{"quoted blank", `Tables: "order details"`, "order details", "", ""},
		{"keyword", "Tables: order", "order", "", ""},
		{"and in a name", "Tables: salt and pepper, staff", "salt and pepper, staff", "", "no list of two"},
		{"schema prefix", "Tables: main.customers, main.orders", both, "", ""},
		{"full stop", "Tables: customers, orders.", both, "", ""},
		{"reasoning before", "<think>Tables: staff?</think>Tables: customers", "Customers", "", ""},
		{
			"prose around",
			"To answer this we need:\n\nTables: customers, orders\nJoins: orders.customer_id = customers.id\n\nExplanation: " +
				"orders refer to customers.", both,
			pair, "",
		},
		{"said twice", "Tables: customers\nTables: customers", "Customers", "", "nothing contradicts"},
		{"none", "Tables: none", "no tables", "", "a question of arithmetic"},
		{"no tables needed", "Tables: (no tables needed)\nJoins: none", "no tables", "", ""},
		{"no tables needed, without a label", "No tables needed.", "no tables", "",
			"the answer of a question that needs none, no refusal"},
		{"no table, among other words", "No tables needed for that, I cannot help.", "!refusal", "", ""},
		{"no tables needed, and no joins", "**No tables are needed.**\nJoins: none", "no tables", "", ""},
		{"windows lines", "Tables: customers, orders\r\nJoins: orders.customer_id = customers.id\r\n", both, pair, ""},
		{"said differently", "Tables: customers\nTables: orders", "orders", "", "the last list counts"},
		{"a pair of an unlisted table", "Tables: customers\nJoins: orders.customer_id = customers.id", "!unknown-name", "",
			"a reply that contradicts itself"},
		{"a join clause in place of joins", "Tables: customers, orders\nJoins: orders o JOIN customers AS c " +
			"ON o.customer_id = c.id",
			"!unknown-name", "", "not the form that is asked for"},
		{"JSON", `{"tables": ["customers", "orders"]}`, "!format", "", "not the form that is asked for"},
		{"a remark", "Tables: customers (for the country), orders", both, "", "SQL reads it as an alias and its columns"},
		{"blanks in the joins", "Tables: order details, order\nJoins: order details.order id = order.id",
			"order, order details", "", "a name with a blank needs its quotes there"},
		{"unknown table", "Tables: customers, clients", "!unknown-name", "", "a hallucination is a red flag"},
		{"unknown column", "Tables: customers, orders\nJoins: orders.client = customers.id", "!unknown-name", "", ""},
		{"unknown qualifier", "Tables: customers, orders\nJoins: x.customer_id = customers.id", "!unknown-name", "", ""},
		{"SQL", "SELECT * FROM customers", "!format", "", "not what was asked for"},
		{"prose", "You need the customers table.", "!format", "", ""},
		{"refusal", "I'm sorry, but I cannot help with that.", "!refusal", "", ""},
		{"empty list", "Tables:\n\nJoins:", "!format", "", ""},
		{"empty", "", "!format", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			scope, err := readScope(makerSchema(), sqlite.Dialect{}, tt.reply)
			got := readOr(t, scope, err)
			if got != tt.tables || scope.JoinText() != tt.joins {
				t.Errorf("got %q with %q (%v), want %q with %q: %s", got, scope.JoinText(), err, tt.tables, tt.joins, tt.why)
			}
		})
	}
}

// TestScopeKey: twelve spellings of one set of tables are one cluster.
func TestScopeKey(t *testing.T) {
	keys := map[string]bool{}
	for _, reply := range []string{
		"Tables: orders, customers", "Tables: Customers,orders",
		"Tables: ORDERS , CUSTOMERS\nJoins: orders.customer_id = customers.id",
		"Tables: main.orders, customers c", "Tables: `orders`, \"customers\"", "Tables: [orders, customers]",
	} {
		scope := testutil.Value(readScope(makerSchema(), sqlite.Dialect{}, reply))(t)
		keys[scope.Key()] = true
	}
	if len(keys) != 1 {
		t.Errorf("%d keys: %v", len(keys), keys)
	}
	one, two := tableScope{Tables: []schema.TableName{{Name: "a, b"}}},
		tableScope{Tables: []schema.TableName{{Name: "a"}, {Name: "b"}}}
	if one.Key() == two.Key() {
		t.Error("a name with a comma is the same vote as two names")
	}
}

func TestScopeStatement(t *testing.T) {
	column := func(s string) schema.ColumnName {
		table, c, _ := strings.Cut(s, ".")
		return schema.ColumnName{Table: schema.TableName{Name: table}, Column: c}
	}
	scope := func(tables, joins string) tableScope {
		var names []schema.TableName
		for name := range strings.SplitSeq(tables, ",") {
			if name != "" {
				names = append(names, schema.TableName{Name: name})
			}
		}
		var pairs []schema.Join
		for pair := range strings.SplitSeq(joins, ",") {
			if left, right, ok := strings.Cut(pair, "="); ok {
				pairs = append(pairs, schema.Join{Left: column(left), Right: column(right)})
			}
		}
		return newScope(names, pairs)
	}
	tests := []struct {
		name, tables, joins string
		want                string // "" for a cross product
		why                 string
	}{
		{"no table", "", "", "SELECT 1 LIMIT 1", "a question of arithmetic"},
		{"one table", "staff", "", "SELECT 1 FROM staff LIMIT 1", ""},
		{"given join", "orders,Customers", "orders.customer_id=Customers.id",
			"SELECT 1 FROM Customers JOIN orders ON orders.customer_id = Customers.id LIMIT 1", ""},
		{
			"completed by a key", "orders,Customers", "",
			"SELECT 1 FROM Customers JOIN orders ON orders.customer_id = Customers.id LIMIT 1",
			"a declared foreign key is a join that nobody has to name",
		},
		{
			"not completed where joined", "orders,Customers", "orders.id=Customers.a",
			"SELECT 1 FROM Customers JOIN orders ON orders.id = Customers.a LIMIT 1", "what was voted stands",
		},
		{
			"chain in any order", "order,staff,orders", "staff.id=order.id,orders.id=staff.boss",
			`SELECT 1 FROM "order" JOIN staff ON staff.id = "order".id JOIN orders ON orders.id = staff.boss LIMIT 1`,
			"pairs may come in any order",
		},
		{"cross product", "staff,order", "", "", "nothing joins them"},
		{"one of three unjoined", "Customers,orders,staff", "", "", "listed, but not connected"},
		{"self-join", "staff,staff", "", `SELECT 1 FROM staff JOIN staff AS staff_2 ON staff_2.boss = staff.id LIMIT 1`,
			"completed by its own key"},
		{"self-join beside the alias", "orders,staff,staff,staff_2",
			"orders.id=staff.id,orders.id=staff_2.id,staff.boss=staff.id",
			"SELECT 1 FROM orders JOIN staff ON staff.id = orders.id JOIN staff AS staff_3 ON staff_3.id = orders.id " +
				"AND staff_3.boss = staff.id " +
				"JOIN staff_2 ON staff_2.id = orders.id LIMIT 1",
			"a table of the question has the name that the alias would have"},
		{"twice without a key", "order,order", "", "", "a cross product with itself"},
		{
			"name with a blank", "order details,orders", "order details.order id=orders.id",
			`SELECT 1 FROM "order details" JOIN orders ON orders.id = "order details"."order id" LIMIT 1`, "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := scope(tt.tables, tt.joins).completed(makerSchema())
			sql, ok := s.Statement(sqlite.Dialect{}, rowFilter{})
			if ok != (tt.want != "") || ok && sql != tt.want {
				t.Errorf("got %q, %v, want %q: %s", sql, ok, tt.want, tt.why)
			}
		})
	}
}

// filterRun is a run over a database with the schema of makerSchema.
func filterRun(tb testing.TB) *run {
	env := makerEnvOf(tb,
		poolOf(tb, `CREATE TABLE Customers (id, Segment, country, a, b); CREATE TABLE orders (id, customer_id, total, placed);
CREATE TABLE "order details" ("order id", qty); CREATE TABLE "order" (id); CREATE TABLE "salt and pepper" (id); CREATE TABLE staff (id, boss);`), nil)
	return &run{env: env}
}

func TestReadFilter(t *testing.T) {
	r := filterRun(t)
	scope := newScope([]schema.TableName{{Name: "Customers"}, {Name: "orders"}}, []schema.Join{
		{Left: schema.ColumnName{Table: schema.TableName{Name: "orders"}, Column: "customer_id"},
			Right: schema.ColumnName{Table: schema.TableName{Name: "Customers"}, Column: "id"}},
	})
	const sme = "Customers.Segment = 'SME'"
	tests := []struct {
		name, reply string
		want        string // or the reason of the flag, after a !
		why         string
	}{
		{"plain", "customers.segment = 'SME'", sme, ""},
		{"without its table", "Segment='SME'", sme, "the column tells"},
		{"literal first", "'SME' = segment", sme, ""},
		{"case of the literal", "segment = 'sme'", "Customers.Segment = 'sme'", "literals are byte-exact"},
		{"a set", "b = 2 and a=1", "Customers.a = 1 AND Customers.b = 2", "order does not matter"},
		{"the same set", "customers.a = 1 AND customers.b = 2 AND a = 1", "Customers.a = 1 AND Customers.b = 2",
			"nor does saying it twice"},
		{"between", "total BETWEEN 1 AND 5 AND a = 1", "Customers.a = 1 AND orders.total BETWEEN 1 AND 5", ""},
		{"in list", "country IN ('USA', 'France')", "Customers.country IN ('France', 'USA')", ""},
		{"or group", "(b = 2 OR a = 1)", "(Customers.a = 1 OR Customers.b = 2)", "one condition"},
		{"quoted AND", "Segment = 'this AND that'", "Customers.Segment = 'this AND that'", ""},
		{"leading WHERE", "WHERE segment = 'SME';", sme, ""},
		{"label", "Conditions: segment = 'SME'", sme, ""},
		{"fence", "```sql\nWHERE segment = 'SME'\n```", sme, ""},
		{"inline code", "`segment = 'SME'`", sme, ""},
		{"several lines", "segment = 'SME'\nAND a = 1", "Customers.Segment = 'SME' AND Customers.a = 1", ""},
		{"double-quoted string", `segment = "SME"`, sme, "what SQLite takes it for"},
		{"not equal", "segment != 'SME'", "Customers.Segment <> 'SME'", ""},
		{
			"nested", "customers.id NOT IN (SELECT customer_id FROM orders)",
			"Customers.id NOT IN (SELECT customer_id FROM orders)",
			"within the agreed tables; inner names stay as written",
		},
		{"no filters needed", "No filters needed", "no filter", "a vote like any other"},
		{"no filter", "no filter.", "no filter", ""},
		{"none", "**None**", "no filter", ""},
		{"no where clause", "No WHERE clause is needed", "no filter", ""},
		{"aggregate", "COUNT(*) > 3", "!format", "it belongs to the projection"},
		{"agreed join", "customers.id = orders.customer_id AND segment = 'SME'",
			sme + " AND Customers.id = orders.customer_id", "said once more"},
		{"other join", "orders.id = customers.a", "Customers.a = orders.id", "a condition, if nobody agreed on it"},
		{"column outside", "boss = 3", "!unknown-name", "of a table that is not agreed on"},
		{"table outside", "customers.id IN (SELECT id FROM staff)", "Customers.id IN (SELECT id FROM staff)",
			"what is agreed on is advice"},
		{"unknown column", "customers.nation = 'USA'", "!unknown-name", ""},
		{"unknown qualifier", "T1.segment = 'SME'", "!unknown-name", "no alias was agreed on"},
		{"unknown table", "id IN (SELECT id FROM clients)", "!unknown-name", ""},
		{"whole query", "SELECT * FROM customers WHERE segment = 'SME'", "!format", ""},
		{"whole query on lines", "SELECT\n  *\nFROM customers\nWHERE segment = 'SME'", "!format",
			"as most models lay one out"},
		{"whole query behind a comment", "/* SME */ WITH x AS (SELECT 1) SELECT * FROM x", "!format", ""},
		{"cut", "segment = 'SME' AND", "!format", "nobody knows what was to come"},
		{"grouping", "segment = 'SME' GROUP BY country", "!format", "more than was asked for"},
		{"union", "1 = 1 UNION SELECT 2", "!format", ""},
		{"second statement", "a = 1; DROP TABLE orders", "!format", ""},
		{"prose", "The segment must be SME.", "!format", "words are no conditions"},
		{"refusal", "I'm sorry, I can't assist with that.", "!refusal", ""},
		{"open quote", "segment = 'SME", "!format", ""},
		{"empty", "```\n```", "!format", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := r.readFilter(t.Context(), scope, tt.reply)
			if got := readOr(t, f, err); got != tt.want {
				t.Errorf("got %q (%v), want %q: %s", got, err, tt.want, tt.why)
			}
		})
	}
}

func TestFilterKey(t *testing.T) {
	a, b := rowFilter{}, rowFilter{Conditions: []string{"x = 1"}}
	if a.Key() == b.Key() {
		t.Error("no filter is the same vote as a filter")
	}
	if d := cmp.Diff(a.Key(), rowFilter{Conditions: []string{}}.Key()); d != "" {
		t.Error(d)
	}
}

// FuzzReadScope and FuzzReadFilter: whatever a model says is read or flagged.
func FuzzReadScope(f *testing.F) {
	for _, s := range []string{
		"Tables: customers, orders\nJoins: orders.customer_id = customers.id", "Tables: [a, \"b\"", "{\"tables\": 1}",
		"Tables:\n- staff\n- `order details` x", "Tables: customers\nLeft join: orders o ON",
		"Tables: a\nJoins: LEFT JOIN orders",
	} {
		f.Add(s)
	}
	s := makerSchema()
	f.Fuzz(func(t *testing.T, reply string) {
		scope, err := readScope(s, sqlite.Dialect{}, reply)
		_ = readOr(t, scope, err)
		for _, name := range scope.Tables {
			if _, ok := s.Lookup(name.Schema, name.Name); !ok {
				t.Errorf("%s does not exist", name)
			}
		}
	})
}

func FuzzReadFilter(f *testing.F) {
	for _, s := range []string{"segment = 'SME' AND a = 1", "```sql\nWHERE id IN (SELECT x", "\"a\" = \"b\" OR NOT c",
		"No filters needed"} {
		f.Add(s)
	}
	r := filterRun(f)
	scope := newScope([]schema.TableName{{Name: "Customers"}, {Name: "orders"}}, []schema.Join{
		{Left: schema.ColumnName{Table: schema.TableName{Name: "orders"}, Column: "customer_id"},
			Right: schema.ColumnName{Table: schema.TableName{Name: "Customers"}, Column: "id"}},
	})
	f.Fuzz(func(t *testing.T, reply string) {
		read, err := r.readFilter(t.Context(), scope, reply)
		_ = readOr(t, read, err)
	})
}
