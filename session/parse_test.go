package session_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// shop has names of every sort: with blanks, hyphens, dots, quotes, a schema, other scripts, and a table that is named
// as a column.
func shop() *schema.Schema {
	columns := func(names string) (all []schema.Column) {
		for n := range strings.SplitSeq(names, ",") {
			all = append(all, schema.Column{Name: n})
		}
		return all
	}
	return &schema.Schema{Tables: []schema.Table{
		{Name: "Customers", Columns: columns("id,name,city,Credit Limit")},
		{Name: "clients", Columns: columns("id,name,region")},
		{Name: "orders", Columns: columns("id,customer_id,total,amount,status")},
		{Name: "order-items", Columns: columns("order_id,sku,unit-price")},
		{Name: "Order Details", Columns: columns("order_id,qty")},
		{Name: "city", Columns: columns("code,population")},
		{Name: "country", Columns: columns("code")},
		{Name: "sales.2024", Columns: columns("id")},
		{Name: `the "big" one`, Columns: columns("id")},
		{Name: "заказы", Columns: columns("id")},
		{Schema: "aux", Name: "Stores", Columns: columns("id,city")},
	}}
}

// say writes a correction in short: "table A,B not C + text".
func say(c session.Correction) string {
	list := func(all []schema.TableName) string {
		var names []string
		for _, t := range all {
			names = append(names, t.String())
		}
		return strings.Join(names, ",")
	}
	text := ""
	switch c.Kind {
	case dialogue.CorrectTable:
		text = "table " + list(c.Tables)
		if len(c.Rejected) > 0 {
			text += " not " + list(c.Rejected)
		}
	case dialogue.CorrectJoin:
		text = "join " + c.Join.String()
	case dialogue.CorrectColumn:
		text = "column '" + c.Term + "' " + c.Column.String()
	default:
		return "natural " + c.Text
	}
	if c.Text != "" {
		text += " + " + c.Text
	}
	return text
}

// natural stands for the text itself, as natural language.
const natural = "natural"

func TestParse(t *testing.T) {
	const join = "join orders.customer_id = Customers.id"
	tests := []struct{ why, text, want string }{
		// joins
		{"a comparison alone", "orders.customer_id = customers.id", join},
		{"use", "use orders.customer_id = customers.id", join},
		{"without blanks", "orders.customer_id=customers.id", join},
		{"two equals signs", "orders.customer_id == customers.id", join},
		{"with", "join orders.customer_id with customers.id", join},
		{"to", "Join Orders.Customer_ID to CUSTOMERS.ID", join},
		{"and", "join orders.customer_id and customers.id.", join},
		{"join and a comparison", "join orders.customer_id = customers.id", join},
		{"tables first", "join tables orders and customers on orders.customer_id = customers.id", join},
		{"tables first, with", "join orders with customers on (orders.customer_id = customers.id)", join},
		{"a column that both have", "join customers and clients using (id)", "join Customers.id = clients.id"},
		{"on one column", "join customers and clients on name", "join Customers.name = clients.name"},
		{"courtesy", "No, please use orders.customer_id = customers.id, thanks!", join},
		{"the right join is", "the correct join is orders.customer_id = customers.id", join},
		{"a reason", "use orders.customer_id = customers.id because it is the key", join + " + because it is the key"},
		{"a second condition", "orders.customer_id = customers.id and orders.status = 'paid'", natural},
		{"instead of another", "use orders.customer_id = customers.id instead of orders.id = customers.id", natural},
		{"quoted in three ways", "\"order-items\".`order_id` = [orders].id", "join order-items.order_id = orders.id"},
		{"hyphens", "order-items.order_id = orders.id", "join order-items.order_id = orders.id"},
		{"blanks in quotes", `"Order Details".order_id = orders.id`, "join Order Details.order_id = orders.id"},
		{"a schema", "aux.stores.city = customers.city", "join aux.Stores.city = Customers.city"},
		{"a doubled quote", `"the ""big"" one".id = orders.id`, `join the "big" one.id = orders.id`},
		{"one table twice is no join", "orders.id = orders.customer_id", natural},
		{"negated", "don't join orders.customer_id with customers.id", natural},
		{"negated behind", "orders.customer_id = customers.id is wrong", natural},
		{"negated at the end", "orders.customer_id = customers.id, that is not right", natural},
		{"negated in German", "orders.customer_id = customers.id, nicht verwenden", natural},
		{"a question", "is it orders.customer_id = customers.id?", natural},
		{"an alternative", "orders.customer_id = customers.id or clients.id", natural},
		{"arithmetic", "orders.customer_id = customers.id + 1", natural},
		{"no columns", "join orders with customers", natural},
		{"an alias", "join orders o on o.customer_id = customers.id where it fits", natural},
		// tables
		{"use table", "use table orders", "table orders"},
		{"use the table", "Use the table ORDERS.", "table orders"},
		{"without the word", "use orders", "table orders"},
		{"three words", "table customers", "table Customers"},
		{"a comma behind a negation", "select customers not clients, orders", natural},
		{"the verb says which is wanted", "not customers, use clients", "table clients not Customers"},
		{"both are refused", "select customers, not clients or orders", "table Customers not clients,orders"},
		{"behind and", "not customers and clients, orders", natural},
		{"courtesy behind a list", "avoid customers, clients please", natural},
		{"the other one is old", "use the clients table, the customers one is old", "table clients not Customers"},
		{"somebody takes it back", "use orders, actually clients", natural},
		{"a complaint", "you used customers", natural},
		{"another complaint", "it does not use orders", natural},
		{"a question without its mark", "should I use orders", natural},
		{"a reason that names another table", "use orders because I don't trust clients", natural},
		{"a reason is no table", "select customers not clients because clients is old",
			"table Customers not clients + because clients is old"},
		{"several", "use tables customers, orders and clients", "table Customers,orders,clients"},
		{"not used", "do not use table customers", "table  not Customers"},
		{"not used, without the word", "don't use customers", "table  not Customers"},
		{"a typographic apostrophe", "don’t use customers or orders", "table  not Customers,orders"},
		{"neither", "do not use customers nor orders", "table  not Customers,orders"},
		{"not table", "not table clients", "table  not clients"},
		{"never", "you should never use clients", "table  not clients"},
		{"instead of", "use customers instead of clients", "table Customers not clients"},
		{"instead first", "instead of clients use customers", "table Customers not clients"},
		{"rather than", "use the table customers rather than the table clients", "table Customers not clients"},
		{"but not", "use customers, but not clients", "table Customers not clients"},
		{"only names", "customers, not clients", "table Customers not clients"},
		{"one name", "Customers", "table Customers"},
		{"I meant", "no, I meant the table customers", "table Customers"},
		{"no table", "no table clients please", "table  not clients"},
		{"exclude a table", "exclude table clients", "table  not clients"},
		{"blanks without quotes", "use table order details", "table Order Details"},
		{"a hyphen", "use table Order-Items", "table order-items"},
		{"brackets", "use table [order details]", "table Order Details"},
		{"single quotes", "DO NOT use 'clients'", "table  not clients"},
		{"typographic quotes", "use table “orders”", "table orders"},
		{"a dot in a quoted name", `use table "sales.2024"`, "table sales.2024"},
		{"a schema", "use table aux.stores", "table aux.Stores"},
		{"another script", "use table заказы", "table заказы"},
		{"a comma behind a negation: not this, that, or neither", "not customers, clients", natural},
		{"no, not this, that", "No, not the table customers, the table clients!", natural},
		{"not this but that", "not customers but clients", "table clients not Customers"},
		{"not these two", "not customers and clients", "table  not Customers,clients"},
		{"a list of three", "not customers, clients, orders", natural},
		{"another one instead", "do not use customers, use clients instead", "table clients not Customers"},
		{"another one instead, with the word", "Don't use table customers. Use the table clients instead, please.",
			"table clients not Customers"},
		{"another one", "do not use customers, use clients", "table clients not Customers"},
		{"instead, and a wish", "do not use customers, use table clients instead, only those of 2020", natural},
		{"a rejection, and why", "do not use customers, they are old", natural},
		{"a rejection, and another wish", "not clients! count the open ones", natural},
		{"a rejection with a limit behind a comma", "never use table clients, unless needed", natural},
		{"prose behind not", "use orders, not sure", natural},
		{"a column instead of a table", "use region, not customers", natural},
		{"words are left over", "use table orders for the revenue of 2020", natural},
		{"a further wish", "use table orders, only paid ones", natural},
		{"prose without the word table", "use orders of 2020", natural},
		{"a filter, no rejection", "do not use customers from France", natural},
		{"a filter, no rejection either", "customers without orders", natural},
		{"or", "use table orders or table clients", natural},
		{"a statement about it", "table orders is wrong", natural},
		{"a name of a table and of a column", "use city instead of country", natural},
		{"a name of both, said to be a table", "use table city instead of country", "table city not country"},
		{"a name of both, documented form", "select city not country", "table city not country"},
		{"a question", "should I use table orders?", natural},
		{"prose about tables", "use table tennis data", natural},
		{"many words", "table orders and what belongs to it", natural},
		{"French", "n'utilise pas la table clients", natural},
		{"German", "benutze die Tabelle orders", natural},
		{"Spanish", "usa la tabla orders en lugar de clients", natural},
		{"Chinese", "请使用 orders 表", natural},
		// columns
		{"means", "revenue means orders.total", "column 'revenue' orders.total"},
		{"map", "map revenue to Orders.Total", "column 'revenue' orders.total"},
		{"use for", "use orders.total for revenue", "column 'revenue' orders.total"},
		{"use the column for", "please use the column orders.total for 'net revenue'.", "column 'net revenue' orders.total"},
		{"the word column behind it", "use the orders.total column for revenue", "column 'revenue' orders.total"},
		{"the word field behind it", "revenue means the orders.total field", "column 'revenue' orders.total"},
		{"an article", "the net revenue means orders.total", "column 'net revenue' orders.total"},
		{"refers to", `"limit" refers to customers."credit limit"`, "column 'limit' Customers.Credit Limit"},
		{"by u I mean", "by revenue I mean orders.total", "column 'revenue' orders.total"},
		{"a wish behind it", "revenue means orders.total, in thousands", natural},
		{"not", "revenue does not mean orders.total", natural},
		{"doesn't", "revenue doesn't means orders.total", natural},
		{"a formula", "revenue means orders.total * 2", natural},
		{"two columns", "revenue means orders.total or orders.amount", natural},
		{"don't use", "don't use orders.total for revenue", natural},
		{"instead of", "use orders.total instead of orders.amount", natural},
		{"a value", "active means paid", natural},
		{"a number", "rich means 3.5 million", natural},
		// others
		{"a passive that rejects", "table clients must not be used", natural},
		{"a passive of advice", "table clients should be avoided", natural},
		{"a question within", "use table clients? no, table orders", natural},
		{"no more", "use table clients no more", natural},
		{"not alone rejects nothing", "don't use only orders", natural},
		{"not only", "not only table orders but also customers", natural},
		{"a rejection with a condition", "never use table clients unless needed", natural},
		{"a rejection of one without another", "do not use table orders without customers", natural},
		{"prose", "only count customers of this year", natural},
		{"control characters", "only\x00 this\nyear\u202e\t!", "natural only this year !"},
		{"not UTF-8", "only \xff this", "natural only \uFFFD this"},
		{"one mark", "!", natural},
		{"quotes without an end", `use table "orders`, natural},
		{"marks of a chat", "<|im_start|>system", natural},
		// never inverted
		{"nothing is no table", "use nothing other than customers", natural},
		{"nothing except", "I need nothing except the customers table", natural},
		{"anything", "use anything rather than clients", natural},
		{"a wish is no table", "I want revenue, not orders", natural},
		{"a wish and two tables", "I want customers, not orders", "table Customers not orders"},
		{"what it is about", "it's about revenue, not orders", natural},
		{"a result is no table", "the result is wrong, use orders", natural},
		{"away from one", "switch from customers", natural},
		{"go away from one", "go from customers", natural},
		{"what is wrong, a join", "wrong: orders.customer_id = customers.id", natural},
		{"what is wrong, a table", "That's wrong: customers", natural},
		{"what is wrong, a dash", "incorrect - customers", natural},
		{"dismissed, a comma", "that's wrong, use customers", "table Customers"},
		{"is, without its mark", "is orders.customer_id = customers.id", natural},
		{"are, without its mark", "are joined on orders.customer_id = customers.id", natural},
		{"tables are joined", "the tables are joined on orders.customer_id = customers.id", join},
		{"no, this one", "use customers, no the clients table", natural},
		{"no and an article", "no the clients table", natural},
		{"no table", "use customers, no table clients", "table Customers not clients"},
		{"a column that is a table, too", "join customers and stores using city", "join Customers.city = aux.Stores.city"},
		{"a column in quotes", "join customers and clients using \"region\"",
			"!session: the correction cannot be used: the database has no column Customers.region"},
		{"a dotted name for both", "join customers and clients using orders.id", natural},
		{"500 characters", strings.Repeat("é", 500), natural},
	}
	if len(tests) < 60 {
		t.Fatal("the acceptance wants 60 texts")
	}
	for _, tt := range tests {
		t.Run(tt.why+": "+words.Short(tt.text, 60), func(t *testing.T) {
			if tt.want == natural {
				tt.want += " " + tt.text
			}
			c, err := session.Parse(tt.text, shop())
			got := say(c)
			if err != nil {
				got = "!" + err.Error()
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ why, text, says string }{
		{"empty", "", "it is empty"},
		{"only blanks and control characters", " \n\x00\u200b", "it is empty"},
		{"501 characters", strings.Repeat("é", 501), "501 characters"},
		{"1 MB", "use table orders because " + strings.Repeat("x ", 1<<19), "characters; the limit is 500"},
		{"an unknown table", "use table custmers", "no table custmers; did you mean Customers?"},
		{"an unknown table in quotes", `use "custmers"`, "no table custmers"},
		{"an unknown table rejected", "do not use table client", "no table client; did you mean clients?"},
		{"an unknown column of a join", "join orders.custmer_id with customers.id",
			"no column orders.custmer_id; did you mean customer_id?"},
		{"an unknown column, and a reason", "orders.cust = customers.id because of history", "no column orders.cust"},
		{"an unknown table of a join", "orders.customer_id = custmers.id", "no table custmers"},
		{"an unknown column", "revenue means orders.totals", "no column orders.totals; did you mean total"},
		{"an unknown table of a column", "map revenue to ordrs.total", "no table ordrs; did you mean orders?"},
		{"an unknown column that is used", "use orders.totl for revenue", "no column orders.totl"},
		{"an unknown table and a known one", "use table custs, not customers",
			"no table custs (the rest applies: do not read Customers"},
		{"without the word", "use purchases, not orders", "no table purchases (the rest applies: do not read orders"},
		{"instead of", "use purchases instead of orders", "no table purchases (the rest applies: do not read orders"},
		{"only names", "purchases, not orders", "no table purchases (the rest applies"},
		{"not this but that", "not orders but purchases", "no table purchases (the rest applies: do not read orders"},
		{"another one instead", "do not use orders, use purchase instead",
			"no table purchase (the rest applies: do not read orders"},
		{"an unknown one rejected", "use orders instead of purchases", "no table purchases (the rest applies: read orders"},
		{"near a table, without the word", "use custmers", "no table custmers; did you mean Customers?"},
		{"because", "use table purchases, not orders, because it is new", "no table purchases (the rest applies"},
		{"an unknown one, with the word behind it", "use the custmers table", "no table custmers; did you mean Customers?"},
		{"selected and rejected", "use orders not orders", "both selects and rejects the table orders"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			c, err := session.Parse(tt.text, shop())
			var bad *session.CorrectionError
			if !errors.As(err, &bad) || !errors.Is(err, session.ErrInvalidCorrection) ||
				!strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q (%s)", err, tt.says, say(session.Correction{Kind: "x", Text: c.Text}))
			}
			if diff := cmp.Diff(session.Correction{}, c); diff != "" {
				t.Error(diff)
			}
			if held := bad.Held; held != nil {
				checkCorrection(t, *held, shop())
			}
		})
	}
}

// TestCourtesyIsATable: a word of courtesy that is a table is read.
func TestCourtesyIsATable(t *testing.T) {
	s := &schema.Schema{Tables: []schema.Table{{Name: "production"}, {Name: "well"},
		{Name: "region", Columns: []schema.Column{{Name: "id"}}},
		{Name: "shops", Columns: []schema.Column{{Name: "region"}}},
		{Name: "sites", Columns: []schema.Column{{Name: "region"}}}}}
	for text, want := range map[string]string{
		"avoid production, well":            "natural avoid production, well",
		"use production, well":              "table production,well",
		"well, use production":              "natural well, use production",
		"avoid production, thanks":          "table  not production",
		"join shops and sites using region": "join shops.region = sites.region",
	} {
		if c, err := session.Parse(text, s); err != nil || say(c) != want {
			t.Errorf("%q: %s, %v; want %s", text, say(c), err, want)
		}
	}
}

// TestResolveWithoutSchema: where there is no schema no name is known, and nothing panics.
func TestResolveWithoutSchema(t *testing.T) {
	for _, c := range []session.Correction{
		{Kind: dialogue.CorrectTable, Tables: []schema.TableName{{Name: "orders"}}},
		{Kind: dialogue.CorrectColumn, Term: "revenue", Column: &schema.ColumnName{Column: "total"}},
	} {
		if got, err := c.Resolve(nil); !errors.Is(err, session.ErrInvalidCorrection) {
			t.Errorf("%s: %v, %v", c.Kind, got, err)
		}
	}
	if c, err := session.Parse("use table orders", nil); err == nil && c.Kind == dialogue.CorrectTable {
		t.Errorf("a table without a schema: %+v", c)
	}
}

// TestCorrectionJSON reads what a person writes in a program, and resolves it.
func TestCorrectionJSON(t *testing.T) {
	tests := []struct{ why, text, want string }{
		{"a join", `{"type":"join","tables":["orders","customers"],"join_condition":"orders.customer_id = customers.id"}`,
			"join orders.customer_id = Customers.id"},
		{"a join, its other name, bare columns",
			`{"type":"join_clarification","tables":["orders","customers"],"join_condition":"customer_id=id"}`,
			"join orders.customer_id = Customers.id"},
		{"a table", `{"type":"table","selected_table":"ORDERS"}`, "table orders"},
		{"a table, its other name",
			`{"type":"table_selection","selected_table":"Order Details","rejected_tables":["clients","\"order-items\""]}`,
			"table Order Details not clients,order-items"},
		{"tables as objects",
			`{"type":"table","selected_tables":[{"name":"orders"},{"schema":"aux","name":"stores"},{"name":"Orders"}]}`,
			"table orders,aux.Stores"},
		{"only rejected", `{"type":"table","rejected_tables":["aux.stores"]}`, "table  not aux.Stores"},
		{"a column", `{"type":"column","user_term":" revenue\u0000 ","actual_column":"orders.total"}`,
			"column 'revenue' orders.total"},
		{"a column, its other name, one table has it",
			`{"type":"column_mapping","user_term":"people","actual_column":"population"}`,
			"column 'people' city.population"},
		{"natural", `{"type":"natural_language","correction":"only\n2020"}`, "natural only 2020"},
		{"a filter", `{"type":"filter","correction":"only 2020"}`, "natural only 2020"},
		{"unknown kind", `{"type":"other","correction":"x"}`, "!not table, join"},
		{"unknown table", `{"type":"table","selected_table":"oders"}`, "!no table oders; did you mean orders?"},
		{"no table", `{"type":"table"}`, "!names no table"},
		{"an empty table", `{"type":"table","selected_table":""}`, "!no table"},
		{"no join", `{"type":"join","tables":["orders","customers"]}`, "!comparison of two columns"},
		{"no condition", `{"type":"join","join_condition":"orders"}`, "!no comparison of two columns"},
		{"one table", `{"type":"join","join_condition":"orders.id = orders.customer_id"}`, "!one table"},
		{"no term", `{"type":"column","actual_column":"orders.total"}`, "!a word of the user"},
		{"no column", `{"type":"column","user_term":"x"}`, "!a word of the user"},
		{"several tables have it", `{"type":"column","user_term":"x","actual_column":"name"}`,
			"!2 tables have a column name; write Customers.name or clients.name"},
		{"a term of 101 characters", `{"type":"column","user_term":"` + strings.Repeat("x", 101) +
			`","actual_column":"orders.total"}`, "!the limit is 100"},
		{"no text", `{"type":"logic"}`, "!it is empty"},
		{"a text of 501", `{"type":"logic","correction":"` + strings.Repeat("x", 501) + `"}`, "!the limit is 500"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			var c session.Correction
			err := json.Unmarshal([]byte(tt.text), &c)
			if err == nil {
				c, err = c.Resolve(shop())
			}
			if says, wrong := strings.CutPrefix(tt.want, "!"); wrong {
				if !errors.Is(err, session.ErrInvalidCorrection) || !strings.Contains(err.Error(), says) {
					t.Errorf("%v, want %q", err, says)
				}
				return
			}
			if err != nil || say(c) != tt.want {
				t.Errorf("%s, %v\nwant %s", say(c), err, tt.want)
			}
			checkCorrection(t, c, shop())
		})
	}
	var c session.Correction
	if err := json.Unmarshal([]byte(`{"type":"table","selected_table":3}`), &c); err == nil {
		t.Error("a table that is a number")
	}
}

// checkCorrection holds a resolved correction to what all of them keep.
func checkCorrection(t *testing.T, c session.Correction, s *schema.Schema) {
	t.Helper()
	again, err := c.Resolve(s)
	if diff := cmp.Diff(c, again); err != nil || diff != "" {
		t.Errorf("resolved again: %v (-first +second):\n%s", err, diff)
	}
	text, err := json.Marshal(c)
	var read session.Correction
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if diff := cmp.Diff(c, read); err != nil || diff != "" {
		t.Errorf("through JSON: %v (-written +read):\n%s", err, diff)
	}
	if line := c.Constraint(); line != words.Line(line) || utf8.RuneCountInString(c.Text) > 500 {
		t.Errorf("the constraint is no clean line: %q", line)
	}
	for _, n := range slices.Concat(c.Tables, c.Rejected) {
		if found, ok := s.Lookup(n.Schema, n.Name); !ok || found.TableName() != n {
			t.Errorf("the schema has no table %s", n)
		}
	}
	if c.Join != nil && c.Join.Left.Table == c.Join.Right.Table {
		t.Errorf("a join of one table: %s", c.Join)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"use table orders", "select customers not clients, orders because",
		"join tables orders and customers on orders.customer_id = customers.id",
		"do not use 'clients'", "map \"net revenue\" to orders.total", "use orders.total for revenue",
		"join customers and clients using (id)",
		"“x” means [the \"big\" one].id!", "instead of clients, use customers", "no. not table clients", "a.b.c.d = e..f",
		"u means \x00\u2028orders.total",
	} {
		f.Add(seed)
	}
	s := shop()
	f.Fuzz(func(t *testing.T, text string) {
		c, err := session.Parse(text, s)
		if err != nil {
			if !errors.Is(err, session.ErrInvalidCorrection) || strings.ContainsFunc(err.Error(), func(r rune) bool {
				return r == '\n' || words.Hidden(r)
			}) {
				t.Errorf("%q", err)
			}
			return
		}
		checkCorrection(t, c, s)
	})
}

func ExampleCorrection_Parse() {
	s := shop()
	for _, text := range []string{
		"No, use customers instead of clients", "join orders.customer_id with customers.id", "revenue means orders.total",
		"only paid orders count", "use table custmers",
	} {
		c, err := session.Parse(text, s)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(c.Constraint())
	}
	// Output:
	// MANDATORY TABLE: Use table 'Customers'. DO NOT use: clients
	// MANDATORY JOIN: orders.customer_id = Customers.id between [orders, Customers]
	// COLUMN MAPPING: 'revenue' maps to 'orders.total'
	// USER CLARIFICATION: only paid orders count
	// session: the correction cannot be used: the database has no table custmers; did you mean Customers?
}
