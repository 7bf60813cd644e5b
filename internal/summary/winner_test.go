package summary

import (
	"testing"
	"time"

	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// TestFoundTied: a row that ties with one behind the limit is not called the only first one.
func TestFoundTied(t *testing.T) {
	city, two := []string{"city"}, []string{"name", "price"}
	for _, tt := range []struct {
		why, sql   string
		rows       *result.Table
		want, tied string // without a tie, and with one
	}{
		{"a name", "SELECT city FROM customers GROUP BY city ORDER BY count(*) LIMIT 1", rows(city, []any{"Boston"}),
			"Boston has the lowest number of customers.", "Lowest number of customers: Boston and at least one other."},
		{"a count", "SELECT city, count(*) AS n FROM customers GROUP BY city ORDER BY n LIMIT 1",
			rows([]string{"city", "n"}, []any{"Boston", int64(1)}),
			"Boston has the fewest: 1.", "Boston and at least one other have the fewest: 1 each."},
		{"a count without its group", "SELECT count(*) AS n FROM customers GROUP BY city ORDER BY n LIMIT 1",
			rows([]string{"n"}, []any{int64(1)}), "", ""},
		{"a count of things", "SELECT c.name, count(*) AS orders FROM customers c JOIN orders o ON o.customer_id = c.id " +
			"GROUP BY c.id ORDER BY 2 DESC LIMIT 1",
			rows([]string{"name", "orders"}, []any{"Ann", int64(2)}), "Ann has the most orders: 2.",
			"Ann and at least one other have the most orders: 2 each."},
		{"a figure", "SELECT name, price FROM products ORDER BY price DESC LIMIT 1", rows(two, []any{"Ink", 7.5}),
			"Highest price: Ink, 7.50.", "Highest price: Ink and at least one other, 7.50 each."},
		{"a key", "SELECT id FROM orders ORDER BY amount DESC LIMIT 1", rows([]string{"id"}, []any{int64(4)}),
			"4 has the highest amount.", "Highest amount: 4 and at least one other."},
		{"a time", "SELECT name FROM doctors ORDER BY hire_date LIMIT 1", rows([]string{"name"}, []any{"Rosa"}),
			"Earliest hire date: Rosa.", "Earliest hire date: Rosa and at least one other."},
		{"a time that is shown", "SELECT name, hire_date FROM doctors ORDER BY hire_date LIMIT 1",
			rows([]string{"name", "hire_date"}, []any{"Rosa", "2012-11-20"}),
			"Earliest hire date: Rosa, 20 November 2012.", "Earliest hire date: Rosa and at least one other, 20 November 2012."},
		{"a text", "SELECT name FROM customers ORDER BY city LIMIT 1", rows([]string{"name"}, []any{"Ann"}),
			"Ann is the first by city.", "City from A to Z: Ann and at least one other."},
		{"the last text", "SELECT name FROM customers ORDER BY city DESC LIMIT 1", rows([]string{"name"}, []any{"Ann"}),
			"Ann is the last by city.", "City from Z to A: Ann and at least one other."},
		{"the first of three is above the tie", "SELECT name, price FROM products ORDER BY price DESC LIMIT 3",
			rows(two, []any{"Ink", 7.5}, []any{"Pad", 5.5}, []any{"Cup", 5.5}), "Highest price: Ink, 7.50.",
			"Highest price: Ink, 7.50."},
		{"the second one of two is not", "SELECT name, price FROM products ORDER BY price DESC LIMIT 2",
			rows(two, []any{"Ink", 7.5}, []any{"Pad", 5.5}), "Highest price: Ink, 7.50; then Pad, 5.50.",
			"Highest price: Ink, 7.50."},
		{"the second one of three is", "SELECT name, price FROM products ORDER BY price DESC LIMIT 3",
			rows(two, []any{"Ink", 7.5}, []any{"Pad", 5.5}, []any{"Cup", 4.5}), "Highest price: Ink, 7.50; then Pad, 5.50.",
			"Highest price: Ink, 7.50; then Pad, 5.50."},
		{"all that are shown", "SELECT name, price FROM products ORDER BY price DESC LIMIT 2",
			rows(two, []any{"Ink", 7.5}, []any{"Pad", 7.5}), "", ""},
		{"a limit inside", "SELECT name FROM customers WHERE id = (SELECT customer_id FROM orders GROUP BY 1 " +
			"ORDER BY count(*) DESC LIMIT 1)",
			rows([]string{"name"}, []any{"Ann"}), "Name: Ann.", ""},
		{"an offset", "SELECT name FROM products ORDER BY price DESC LIMIT 1 OFFSET 1", rows([]string{"name"}, []any{"Pad"}),
			"Name: Pad.", ""},
		{"two terms", "SELECT name FROM products ORDER BY price DESC, kind LIMIT 1", rows([]string{"name"}, []any{"Pad"}),
			"Name: Pad.", ""},
		{"a statement that is not read", "WITH x AS (SELECT 1) SELECT city, revenue FROM x ORDER BY revenue DESC LIMIT 1",
			rows([]string{"city", "revenue"}, []any{"Rome", int64(3)}), "Highest revenue: Rome, 3.",
			"Highest revenue: Rome and at least one other, 3 each."},
	} {
		for tied, want := range map[bool]string{false: tt.want, true: tt.tied} {
			if got := Found(sqltext.SQLite(), tt.sql, tt.rows, time.Time{}, nil, tied); got != want {
				t.Errorf("%s: %s, tied %v\n got %q\nwant %q", tt.why, tt.sql, tied, got, want)
			}
		}
	}
}

// TestFoundUnnamed: a participle or an adjective is no noun, and a time is earliest or latest, whatever its name.
func TestFoundUnnamed(t *testing.T) {
	name := rows([]string{"name"}, []any{"Grete"})
	at := func(column string, values ...any) *result.Table {
		return rows([]string{"name", column}, append([]any{"Grete"}, values...))
	}
	dates := func(string, string) (least, most any, values int64) { return "2018-01-02", "2024-05-01", 9 }
	numbers := func(string, string) (least, most any, values int64) { return int64(1), int64(40), 9 }
	for _, tt := range []struct {
		why, sql string
		rows     *result.Table
		ends     func(table, column string) (least, most any, values int64)
		want     string
	}{
		{"a participle of unknown values", "SELECT name FROM customers ORDER BY joined LIMIT 1", name, nil, ""},
		{"a participle of times", "SELECT name FROM customers ORDER BY joined LIMIT 1", name, dates,
			"Earliest joined: Grete."},
		{"the last one", "SELECT name FROM customers ORDER BY joined DESC LIMIT 1", name, dates, "Latest joined: Grete."},
		{"a participle of numbers", "SELECT name FROM customers ORDER BY discontinued DESC LIMIT 1", name, numbers, ""},
		{"its time is shown", "SELECT name, joined FROM customers ORDER BY joined LIMIT 1", at("joined", "2018-01-02"), nil,
			"Earliest joined: Grete, 2 January 2018."},
		{"only its time is shown", "SELECT joined FROM customers ORDER BY joined LIMIT 1",
			rows([]string{"joined"}, []any{"2018-01-02"}), nil,
			"Earliest joined: 2 January 2018."},
		{"the end of the times", "SELECT min(joined) FROM customers", rows([]string{"min(joined)"}, []any{"2018-01-02"}), nil,
			""},
		{"both ends", "SELECT min(joined), max(joined) FROM customers",
			rows([]string{"a", "b"}, []any{"2018-01-02", "2024-05-01"}), nil, ""},
		{"the time of each group", "SELECT city AS name, max(joined) AS joined FROM customers GROUP BY city",
			rows([]string{"name", "joined"}, []any{"Rome", "2018-01-02"}, []any{"Bonn", "2024-05-01"}), nil, ""},
		{"a list of the first ones", "SELECT name, joined FROM customers ORDER BY joined LIMIT 2",
			rows([]string{"name", "joined"}, []any{"Ann", "2018-01-02"}, []any{"Bo", "2018-01-03"}), nil,
			"Earliest joined: Ann, 2 January 2018."},
		{"the first of the groups by their times", "SELECT city, max(joined) AS joined FROM customers GROUP BY city " +
			"ORDER BY joined DESC LIMIT 1",
			rows([]string{"city", "joined"}, []any{"Rome", "2018-01-02"}), nil, ""},
		{"a noun of times", "SELECT name FROM customers ORDER BY last_login DESC LIMIT 1", name, dates,
			"Latest last login: Grete."},
		{"a noun of times of a join", "SELECT c.name FROM customers c JOIN logins l ON l.customer_id = c.id " +
			"ORDER BY l.expiry LIMIT 1", name, dates, ""},
		{"a noun of unknown values", "SELECT name FROM customers ORDER BY rating DESC LIMIT 1", name, nil,
			"Grete has the highest rating."},
		{"a noun with a participle", "SELECT name FROM customers ORDER BY amount_paid DESC LIMIT 1", name, numbers,
			"Grete has the highest amount paid."},
		{"a participle of a noun's time", "SELECT name FROM customers ORDER BY date_joined LIMIT 1", name, nil,
			"Earliest date joined: Grete."},
		{"an adverb with a participle", "SELECT name FROM customers ORDER BY last_seen DESC LIMIT 1", name, nil, ""},
		{"a flag", "SELECT name FROM customers ORDER BY is_active DESC LIMIT 1", name, numbers, ""},
		{"an adjective", "SELECT name FROM customers ORDER BY vip DESC LIMIT 1", name, nil, ""},
		{"what a row has or has not", "SELECT name FROM customers ORDER BY has_parking DESC LIMIT 1", name, nil, ""},
		{"a participle of another table", "SELECT c.name FROM customers c JOIN orders o ON o.customer_id = c.id " +
			"ORDER BY o.shipped DESC LIMIT 1", name, dates, ""},
		{"the end of a participle", "SELECT c.name FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.name " +
			"ORDER BY max(o.shipped) DESC LIMIT 1",
			name, nil, "Name: Grete."},
		{"a stamp of another table", "SELECT o.status FROM orders o JOIN customers c ON o.customer_id = c.id " +
			"ORDER BY c.created_at DESC LIMIT 1",
			rows([]string{"status"}, []any{"open"}), dates, "open has the latest customer creation time."},
		{"a participle of the rows of a join", "SELECT c.name FROM customers c JOIN orders o ON o.customer_id = c.id " +
			"ORDER BY o.shipped_on DESC LIMIT 1",
			name, nil, ""},
		{"the time of the rows of a join", "SELECT c.name FROM customers c JOIN orders o ON o.customer_id = c.id " +
			"ORDER BY o.ordered_on DESC LIMIT 1",
			name, dates, ""},
		{"a stamp", "SELECT name FROM customers ORDER BY created_at DESC LIMIT 1", name, nil,
			"Latest customer created: Grete."},
		{"an amount that is billed", "SELECT name, billed FROM orders ORDER BY billed DESC LIMIT 2",
			rows([]string{"name", "billed"}, []any{"Ann", 40.5}, []any{"Bo", 12.5}), nil,
			"Highest billed: Ann, 40.50; then Bo, 12.50."},
	} {
		if got := Found(sqltext.SQLite(), tt.sql, tt.rows, time.Time{}, tt.ends, false); got != tt.want {
			t.Errorf("%s: %s\n got %q\nwant %q", tt.why, tt.sql, got, tt.want)
		}
	}
	for _, tt := range []struct{ why, sql, want string }{
		{"a participle", "SELECT name FROM customers ORDER BY joined LIMIT 1",
			"Name of customers; only the first by joined."},
		{"the last ones", "SELECT name FROM customers ORDER BY joined DESC LIMIT 3",
			"Name of customers; the 3 last by joined."},
		{"all of them", "SELECT name FROM customers ORDER BY joined DESC", "Name of customers; joined in descending order."},
		{"a flag", "SELECT name FROM customers ORDER BY is_active DESC, name",
			"Name of customers; whether active in descending order, then name from A to Z."},
		{"the end of a participle has no word", "SELECT min(joined) FROM customers", ""},
		{"the end of a stamp", "SELECT min(created_at) FROM customers", "Earliest creation time of customers."},
		{"a noun with a participle", "SELECT max(amount_paid) FROM orders", "Highest amount paid of orders."},
	} {
		if got := Sentence(sqltext.SQLite(), tt.sql); got != tt.want {
			t.Errorf("%s: %s\n got %q\nwant %q", tt.why, tt.sql, got, tt.want)
		}
	}
}

// TestEntities: what is listed or counted is of the table of its column.
func TestEntities(t *testing.T) {
	const joined = " FROM customers c JOIN orders o ON o.customer_id = c.id"
	list := rows([]string{"x"}, []any{"a"}, []any{"b"}, []any{"c"})
	for _, tt := range []struct{ why, sql, want, says string }{
		{"a column of a table that others refer to", "SELECT DISTINCT c.name" + joined,
			"3 different names of customers with orders.",
			"Each different name of customers with orders."},
		{"in the other order", "SELECT DISTINCT c.city FROM orders o JOIN customers c ON o.customer_id = c.id " +
			"WHERE o.status = 'paid'",
			"3 different cities of customers with orders where status is “paid”.",
			"Each different city of customers with orders, where status is “paid”."},
		{"a column of the subject", "SELECT DISTINCT o.status" + joined, "3 different statuses of orders.",
			"Each different status of orders."},
		{"a column without its table", "SELECT DISTINCT name" + joined, "3 different names from customers and orders.",
			"Each different name from customers and orders."},
		{"with a condition", "SELECT DISTINCT city" + joined + " WHERE status = 'paid'",
			"3 different cities from customers and orders where status is “paid”.",
			"Each different city from customers and orders, where status is “paid”."},
		{"with a condition that would be one of the names", "SELECT DISTINCT city" + joined + " WHERE o.is_paid = 1",
			"3 different cities from customers and orders that are paid.",
			"Each different city from customers and orders that are paid."},
		{"two steps away", "SELECT DISTINCT p.name FROM products p JOIN order_items i ON i.product_id = p.id JOIN orders o " +
			"ON o.id = i.order_id",
			"3 different names of products with order items.", "Each different name of products with order items."},
		{"a role", "SELECT DISTINCT t.city FROM matches m JOIN teams t ON t.id = m.home_team_id",
			"3 different cities of teams with matches.",
			"Each different city of teams with matches."},
		{"a label is what its rows are", "SELECT DISTINCT k.label FROM products p JOIN product_types k " +
			"ON k.id = p.product_type_id",
			"3 different product types of products.", "Each different product type of products."},
		{"one table", "SELECT DISTINCT city FROM customers", "3 different cities.", "Each different city of customers."},
		{"a condition of one table", "SELECT DISTINCT city FROM customers WHERE is_active = 1",
			"3 different cities of customers that are active.",
			"Each different city of customers that are active."},
		{"an anti-join", "SELECT DISTINCT c.city FROM customers c LEFT JOIN orders o ON o.customer_id = c.id " +
			"WHERE o.id IS NULL",
			"3 different cities of customers without orders.", "Each different city of customers without orders."},
		{"a name that begins with its table", "SELECT DISTINCT c.customer_name" + joined,
			"3 different names of customers with orders.",
			"Each different name of customers with orders."},
		{"a table whose words are no nouns", "SELECT DISTINCT s.city FROM staff s JOIN orders o ON o.staff_id = s.id", "",
			"Each different city of staff of orders."},
		{"an average of a column without its table", "SELECT avg(rating)" + joined, "",
			"Average rating from customers and orders."},
		{"groups without their table", "SELECT city, sum(o.amount)" + joined + " GROUP BY city", "",
			"Total amount of orders by city."},
	} {
		if got := Found(sqltext.SQLite(), tt.sql, list, time.Time{}, nil, false); got != tt.want {
			t.Errorf("%s: %s\n got %q\nwant %q", tt.why, tt.sql, got, tt.want)
		}
		if got := Sentence(sqltext.SQLite(), tt.sql); got != tt.says {
			t.Errorf("%s: %s\nsays %q\nwant %q", tt.why, tt.sql, got, tt.says)
		}
	}
	three := rows([]string{"n"}, []any{int64(3)})
	for _, tt := range []struct{ why, sql, want, says string }{
		{"different values of another table", "SELECT count(DISTINCT c.city)" + joined, "3 different customer cities.",
			"Number of different customer cities of orders."},
		{"of the subject", "SELECT count(DISTINCT o.status)" + joined, "3 different statuses.",
			"Number of different statuses of orders."},
		{"of an unknown table", "SELECT count(DISTINCT city)" + joined, "3 different cities.",
			"Number of different cities from customers and orders."},
		{"of a SELECT", "SELECT count(*) FROM (SELECT DISTINCT c.city" + joined + ") x",
			"3 different cities of customers with orders.",
			"Number of different cities of customers with orders."},
		{"of a SELECT and an unknown table", "SELECT count(*) FROM (SELECT DISTINCT city" + joined + ") x",
			"3 different cities from customers and orders.",
			"Number of different cities from customers and orders."},
		{"keys of rows that need no other", "SELECT count(DISTINCT c.id) FROM customers c LEFT JOIN orders o " +
			"ON o.customer_id = c.id", "3 different customers.",
			"Number of different customers of orders, also where there are no orders."},
		{"values of rows that need no other", "SELECT count(DISTINCT c.city) FROM customers c LEFT JOIN orders o " +
			"ON o.customer_id = c.id",
			"3 different customer cities.",
			"Number of different customer cities of orders, also where there are no orders."},
		{"keys with others", "SELECT count(DISTINCT c.id)" + joined, "3 different customers with orders.",
			"Number of different customers with orders."},
	} {
		if got := Found(sqltext.SQLite(), tt.sql, three, time.Time{}, nil, false); got != tt.want {
			t.Errorf("%s: %s\n got %q\nwant %q", tt.why, tt.sql, got, tt.want)
		}
		if got := Sentence(sqltext.SQLite(), tt.sql); got != tt.says {
			t.Errorf("%s: %s\nsays %q\nwant %q", tt.why, tt.sql, got, tt.says)
		}
	}
}
