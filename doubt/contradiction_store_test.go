package doubt_test

import (
	"strings"
	"testing"
)

// store is a database of a sixth trade: years and months in columns of their own, countries twice, states that end.
const store = `
CREATE TABLE countries (code TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, country_code TEXT REFERENCES countries(code),
	born_on DATE, smoking BOOLEAN NOT NULL, deleted_at DATE, last_visit_on DATE);
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL NOT NULL, in_stock BOOLEAN NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), status TEXT NOT NULL, ordered_at DATE NOT NULL,
	shipped_at DATE, due_on DATE, paid_on DATE, shipping_country TEXT REFERENCES countries(code), total REAL NOT NULL);
CREATE TABLE order_items (order_id INTEGER NOT NULL REFERENCES orders(id), product_id INTEGER NOT NULL REFERENCES products(id),
	quantity INTEGER NOT NULL, PRIMARY KEY (order_id, product_id));
CREATE TABLE budgets (id INTEGER PRIMARY KEY, year INTEGER NOT NULL, month INTEGER NOT NULL, week INTEGER NOT NULL, amount REAL NOT NULL);
CREATE TABLE tickets (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), priority TEXT NOT NULL, state TEXT NOT NULL,
	opened_on DATE NOT NULL, closed_on DATE);
CREATE TABLE bills (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id), state TEXT NOT NULL, due_on DATE NOT NULL);
CREATE TABLE contracts (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), started_on DATE NOT NULL, ended_on DATE,
	due_on DATE NOT NULL, paid BOOLEAN NOT NULL);
CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE product_tags (product_id INTEGER NOT NULL REFERENCES products(id), tag_id INTEGER NOT NULL REFERENCES tags(id),
	PRIMARY KEY (product_id, tag_id));
INSERT INTO countries VALUES ('FR','France'),('DE','Germany'),('ES','Spain');
INSERT INTO customers VALUES (1,'Ann Lee','Lyon','FR','1985-03-03',0,NULL,'2024-06-01'),(2,'Bo Ray','Bonn','DE','1992-07-07',1,NULL,'2024-02-01'),(3,'Cy Fox','Lyon','FR','2001-01-01',0,'2024-02-02','2023-05-05'),
	(4,'Di Orb','Bonn','DE',NULL,0,NULL,NULL),(5,'Ed Poe','Nice','FR','1979-12-12',1,NULL,'2024-05-05');
INSERT INTO products VALUES (1,'Lamp',40,1),(2,'Desk',500,1),(3,'Sofa',900,0),(4,'Bed',700,1),(5,'Rug',50,1);
INSERT INTO orders VALUES (1,1,'paid','2023-11-03','2023-11-05','2023-12-03','2023-11-20','FR',940),(2,1,'paid','2024-03-05',NULL,'2024-04-05','2024-03-09','FR',500),
	(3,2,'cancelled','2024-03-20',NULL,'2024-04-20',NULL,'DE',40),(4,2,'shipped','2024-04-11','2024-04-14','2024-05-11',NULL,'ES',90),
	(5,4,'shipped','2024-05-30','2024-06-02','2024-06-30',NULL,'DE',700),(6,5,'open','2024-06-10',NULL,'2024-07-10',NULL,'FR',1400),
	(7,1,'paid','2024-02-10','2024-02-12','2024-03-10','2024-02-20','DE',120),(8,2,'open','2023-08-15',NULL,'2023-09-15',NULL,'DE',60),
	(9,5,'open','2024-06-11',NULL,'2024-07-11',NULL,'FR',40);
INSERT INTO order_items VALUES (1,1,1),(1,3,1),(2,2,1),(3,1,1),(4,1,1),(4,5,1),(5,4,1),(6,2,1),(6,3,1),(7,1,3),(8,5,1),(9,1,1);
INSERT INTO budgets VALUES (1,2024,1,2,100),(2,2024,3,10,130),(3,2024,4,15,90),(4,2024,5,20,80),(5,2023,3,11,70),(6,2024,6,24,60);
INSERT INTO tickets VALUES (1,1,'urgent','open','2024-05-01',NULL),(2,1,'low','open','2024-05-02',NULL),(3,2,'urgent','closed','2024-01-10','2024-02-01'),
	(4,4,'high','closed','2024-03-03','2024-03-30'),(5,5,'low','closed','2024-04-04','2024-04-05');
INSERT INTO bills VALUES (1,1,'paid','2023-12-03'),(2,2,'paid','2024-04-05'),(3,3,'void','2024-04-20'),(4,4,'open','2024-06-20'),(5,5,'open','2024-07-01');
INSERT INTO contracts VALUES (1,1,'2023-01-01',NULL,'2024-06-20',0),(2,2,'2023-05-01','2024-01-31','2024-02-01',1),(3,4,'2024-02-01',NULL,'2024-07-20',0);
INSERT INTO tags VALUES (1,'sale'),(2,'eco');
INSERT INTO product_tags VALUES (1,1),(1,2),(2,1),(3,2);`

// TestContradictionsOfAStore: a right answer has no contradiction, and the fault beside it has one.
func TestContradictionsOfAStore(t *testing.T) {
	said := sayings(t, store)
	const (
		revenue = "SELECT sum(total) FROM orders WHERE "
		march   = " AND strftime('%m', ordered_at) = '03'"
		bought  = "SELECT p.name, sum(i.quantity) AS sold FROM order_items i JOIN products p ON p.id = i.product_id " +
			"JOIN orders o ON o.id = i.order_id WHERE o.ordered_at >= '2024-03-15' GROUP BY p.id, p.name ORDER BY " +
			"sold DESC LIMIT "
	)
	for _, tt := range []struct{ why, question, statement, rules string }{
		// The most of a thing.
		{"the most, by the newest", "Which customer has the most open orders?", "SELECT c.name FROM customers c JOIN " +
			"orders o ON o.customer_id = c.id WHERE o.status = 'open' ORDER BY o.ordered_at DESC LIMIT 1", "direction"},
		{"the most, counted", "Which customer has the most open orders?", "SELECT c.name FROM customers c JOIN orders o " +
			"ON o.customer_id = c.id WHERE o.status = 'open' GROUP BY c.id, c.name ORDER BY count(*) DESC LIMIT 1", ""},
		{"the most recent", "Which customer has the most recent order?", "SELECT c.name FROM customers c JOIN orders o " +
			"ON o.customer_id = c.id ORDER BY o.ordered_at DESC LIMIT 1", ""},

		// Months beside a year.
		{"a year and a month", "Revenue in March 2024", revenue + "strftime('%Y', ordered_at) = '2024'" + march, ""},
		{"a year and another month", "Revenue in April 2024", revenue + "strftime('%Y', ordered_at) = '2024'" +
			march, "time"},
		{"a year alone", "Revenue in March 2024", revenue + "strftime('%Y', ordered_at) = '2024'", "time"},
		{"numbers of a year and a month", "Revenue in March 2024", revenue +
			"CAST(strftime('%Y', ordered_at) AS INTEGER) = 2024 AND CAST(strftime('%m', ordered_at) AS INTEGER) = 3", ""},
		{"parts of a text", "Revenue in March 2024", revenue +
			"substr(ordered_at, 1, 4) = '2024' AND substr(ordered_at, 6, 2) = '03'", ""},
		{"columns of a year and a month", "budget of March 2024", "SELECT sum(amount) FROM budgets WHERE year = " +
			"2024 AND month = 3", ""},
		{"columns of a year and another month", "budget of March 2024",
			"SELECT sum(amount) FROM budgets WHERE year = 2024 AND month = 4",
			"time"},
		{"the months of a quarter", "Revenue in the second quarter of 2024", revenue +
			"strftime('%Y', ordered_at) = '2024' AND strftime('%m', ordered_at) IN ('04', '05', '06')", ""},
		{"the months of another quarter", "Revenue in the second quarter of 2024", revenue +
			"strftime('%Y', ordered_at) = '2024' AND strftime('%m', ordered_at) BETWEEN '01' AND '03'", "time"},
		{"the months up to one", "Revenue up to March 2024", revenue +
			"strftime('%Y', ordered_at) = '2024' AND strftime('%m', ordered_at) <= '03'", ""},
		{"a quarter that is computed", "Revenue in Q2 2024", revenue +
			"strftime('%Y', ordered_at) = '2024' AND (CAST(strftime('%m', ordered_at) AS INTEGER) + 2) / 3 = 2", ""},
		{"both ends of a quarter", "Revenue in Q2 2024", revenue + "strftime('%Y', ordered_at) = '2024' AND " +
			"strftime('%m', ordered_at) >= '04' AND strftime('%m', ordered_at) <= '06'", ""},
		{"from one month on", "Revenue since March 2024", revenue + "strftime('%Y', ordered_at) = '2024' AND " +
			"strftime('%m', ordered_at) >= '03'", ""},
		{"a figure of each month", "revenue of 2024 by month with 2 orders",
			"SELECT strftime('%m', ordered_at) AS month, sum(total) FROM orders " +
				"WHERE strftime('%Y', ordered_at) = '2024' GROUP BY month HAVING count(*) = 2", ""},
		{"last month", "revenue last month", revenue + "strftime('%Y', ordered_at) = '2024' AND strftime('%m', " +
			"ordered_at) = '05'", ""},
		{"the month before", "revenue last month", revenue +
			"strftime('%Y', ordered_at) = '2024' AND strftime('%m', ordered_at) = '04'",
			"period"},
		{"a month without its year", "revenue in March", revenue + "strftime('%Y', ordered_at) = '2024'" + march, ""},
		{"another month without its year", "revenue in April", revenue + "strftime('%Y', ordered_at) = '2024'" +
			march, "month"},
		{"months of two years", "orders of December 2023 and January 2024",
			"SELECT id FROM orders WHERE strftime('%Y', ordered_at) = '2023' AND " +
				"strftime('%m', ordered_at) = '12' OR strftime('%Y', ordered_at) = '2024' AND strftime('%m', ordered_at) " +
				"= '01'", ""},
		{"a day beside a year", "orders of 2024 on the fifth of a month",
			"SELECT id FROM orders WHERE strftime('%Y', ordered_at) = '2024' AND " +
				"strftime('%d', ordered_at) = '05'", ""},
		{"a week beside a year", "budgets of 2024 with a week of 2", "SELECT id FROM budgets WHERE year = 2024 AND " +
			"week = 2", ""},
		{"a figure behind a month", "orders of March 2024 over 5",
			"SELECT id FROM orders WHERE strftime('%Y', ordered_at) = '2024'" + march +
				" AND total > 5", ""},
		{"months in columns", "revenue in March 2024 and in April 2024",
			"SELECT sum(CASE WHEN strftime('%m', ordered_at) = '03' THEN total END), " +
				"sum(CASE WHEN strftime('%m', ordered_at) = '04' THEN total END) FROM orders WHERE strftime('%Y', " +
				"ordered_at) = '2024'", ""},

		// Groups in other words.
		{"grouped by", "revenue grouped by shipping country", "SELECT sum(total) FROM orders", "group"},
		{"grouped by it", "revenue grouped by shipping country", "SELECT shipping_country, sum(total) FROM orders " +
			"GROUP BY shipping_country", ""},
		{"ordered by", "products ordered by price", "SELECT name FROM products ORDER BY price", ""},

		// Columns with like names.
		{"a column explains its word", "orders per shipping country in 2024",
			"SELECT shipping_country, count(*) FROM orders " +
				"WHERE ordered_at >= '2024-01-01' AND ordered_at < '2025-01-01' GROUP BY shipping_country", ""},
		{"a column does not explain another word", "orders shipped in May per shipping country",
			"SELECT shipping_country, count(*) FROM orders " +
				"WHERE ordered_at >= '2024-05-01' AND ordered_at < '2024-06-01' GROUP BY shipping_country", "column"},
		{"no column explains it", "orders by date of shipping", "SELECT ordered_at, count(*) FROM orders GROUP BY " +
			"ordered_at", "column"},

		// Numbers of periods and ages.
		{"months are no top list", "Which product sold best in the last three months?", bought + "1", ""},
		{"days are none", "Which customer has the most orders due in the next 7 days?",
			"SELECT customer_id, count(*) AS n FROM orders " +
				"WHERE due_on >= '2024-06-15' AND due_on <= '2024-06-22' GROUP BY customer_id ORDER BY n DESC LIMIT 1", ""},
		{"a top list of some days", "top 5 products of the last 90 days by sales", bought + "10", "limit"},
		{"the last ones", "the last three orders", "SELECT id FROM orders ORDER BY ordered_at DESC LIMIT 5", "limit"},
		{"ages in a date of birth", "customers between 30 and 40 years old",
			"SELECT name FROM customers WHERE deleted_at IS NULL AND " +
				"born_on > '1983-06-15' AND born_on <= '1994-06-15'", ""},
		{"ages from and to", "customers aged 18 to 25", "SELECT name FROM customers WHERE born_on > '1998-06-15' " +
			"AND born_on <= '2006-06-15'", ""},
		{"figures that are no ages", "products between 30 and 50 of orders since 2024",
			"SELECT p.name FROM products p JOIN order_items i ON " +
				"i.product_id = p.id JOIN orders o ON o.id = i.order_id WHERE o.ordered_at >= '2024-01-01' AND p.price " +
				"BETWEEN 35 AND 50", "number"},

		// What is to be done, and what is not so.
		{"what is to be done", "paid orders waiting to be shipped",
			"SELECT id FROM orders WHERE status = 'paid' AND shipped_at IS NULL", ""},
		{"what awaits", "orders awaiting to be paid", "SELECT id FROM orders WHERE paid_on IS NULL", ""},
		{"all are so", "countries whose customers are all smoking",
			"SELECT k.name FROM countries k WHERE NOT EXISTS (SELECT 1 FROM customers c " +
				"WHERE c.country_code = k.code AND c.smoking = 0)", ""},
		{"others are non-smoking", "shipped orders of non-smoking customers",
			"SELECT o.id FROM orders o JOIN customers c ON c.id = o.customer_id " +
				"WHERE c.smoking = 0 AND o.shipped_at IS NULL", "opposite"},
		{"what is done", "shipped orders", "SELECT id FROM orders WHERE shipped_at IS NULL", "opposite"},
		{"a flag of what is to be done", "contracts to be paid this month",
			"SELECT id FROM contracts WHERE paid = 0 AND due_on >= '2024-06-01' AND " +
				"due_on < '2024-07-01'", ""},
		{"a flag of what is done", "paid contracts", "SELECT id FROM contracts WHERE paid = 0", "opposite"},
		{"non-", "non-cancelled orders per country", "SELECT shipping_country, count(*) FROM orders WHERE status <> " +
			"'cancelled' " +
			"GROUP BY shipping_country", ""},
		{"non- of a time", "non-deleted customers", "SELECT name FROM customers WHERE deleted_at IS NULL", ""},
		{"non- of a flag", "non-smoking customers", "SELECT name FROM customers WHERE smoking = 0", ""},
		{"the flag itself", "non-smoking customers", "SELECT name FROM customers WHERE smoking = 1", "opposite"},
		{"non in two words", "non smoking customers", "SELECT name FROM customers WHERE smoking = 1", "opposite"},
		{"smoking", "smoking customers", "SELECT name FROM customers WHERE smoking = 0", "opposite"},
		{"out of", "products out of stock", "SELECT name FROM products WHERE in_stock = 0", ""},
		{"in", "products out of stock", "SELECT name FROM products WHERE in_stock = 1", "opposite"},
		{"in stock", "products in stock", "SELECT name FROM products WHERE in_stock = 0", "opposite"},

		// Bounds of what goes elsewhere.
		{"bands", "group the products into cheap ones under 50, medium ones up to 500 and expensive ones above 500",
			"SELECT CASE WHEN price < 50 THEN 'cheap' WHEN price <= 500 THEN 'medium' ELSE 'expensive' END AS band, " +
				"count(*) " +
				"FROM products GROUP BY band", ""},
		{"bands at another bound", "group the products into cheap ones and expensive ones above 500",
			"SELECT CASE WHEN price < 500 THEN 'cheap' ELSE 'expensive' END AS band, count(*) FROM products GROUP BY " +
				"band", "bound"},
		{"the other band", "mark orders over 1000 as large", "SELECT id, CASE WHEN total <= 1000 THEN 'normal' ELSE " +
			"'large' END AS size FROM orders",
			""},
		{"all are on one side", "customers whose orders were all over 100",
			"SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o " +
				"WHERE o.customer_id = c.id) AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND " +
				"o.total <= 100)", ""},
		{"the other side", "products above 500", "SELECT name FROM products WHERE price <= 500", "bound"},
		{"a bound in a band", "mark orders of at least 500", "SELECT id, CASE WHEN total > 500 THEN 'marked' END AS " +
			"mark FROM orders", "bound"},

		// What did not happen.
		{"did not in a year", "Which customers did not order in 2024?",
			"SELECT DISTINCT c.name FROM customers c JOIN orders o ON o.customer_id = c.id " +
				"WHERE o.ordered_at >= '2024-01-01' AND o.ordered_at < '2025-01-01'", "negation"},
		{"none in a year", "Which customers did not order in 2024?",
			"SELECT name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders " +
				"WHERE ordered_at >= '2024-01-01' AND ordered_at < '2025-01-01')", ""},
		{"not since then", "customers who did not order since April 2024",
			"SELECT c.name FROM customers c JOIN (SELECT customer_id, " +
				"max(ordered_at) AS last FROM orders GROUP BY customer_id) o ON o.customer_id = c.id WHERE o.last < " +
				"'2024-04-01'", ""},
		{"a state of a year", "tickets of 2024 that have not been resolved",
			"SELECT id FROM tickets WHERE state = 'open' AND " +
				"opened_on >= '2024-01-01' AND opened_on < '2025-01-01'", ""},
		{"the other state is void", "bills that are not paid yet", "SELECT id FROM bills WHERE state = 'open'", ""},
		{"a state of what ended", "contracts that have not been cancelled",
			"SELECT id FROM contracts WHERE ended_on IS NULL", ""},
		{"closed is resolved", "tickets that are not resolved yet", "SELECT id FROM tickets WHERE closed_on IS NULL", ""},
		{"deleted is not without", "customers without orders", "SELECT name FROM customers WHERE deleted_at IS " +
			"NULL", "negation"},

		// Times that are relative or have one bound.
		{"a year back", "orders over the past year", "SELECT id FROM orders WHERE ordered_at >= '2023-06-15'", ""},
		{"a year back, computed", "orders over the past year",
			"SELECT id FROM orders WHERE ordered_at >= date('now', '-1 year')", ""},
		{"a month back", "orders within the last month", "SELECT id FROM orders WHERE ordered_at >= '2024-05-15'", ""},
		{"a week on", "bills due in the next week", "SELECT id FROM bills WHERE due_on >= '2024-06-15' AND due_on " +
			"<= '2024-06-22'", ""},
		{"two years back", "orders over the past year", "SELECT id FROM orders WHERE ordered_at >= '2022-06-15'",
			"period"},
		{"last month", "orders last month", "SELECT id FROM orders WHERE ordered_at >= '2024-04-01' AND ordered_at " +
			"< '2024-05-01'", "period"},
		{"last year", "orders last year", "SELECT id FROM orders WHERE ordered_at >= '2023-06-15'", "period"},
		{"since the end of a year", "orders since 2023", "SELECT id FROM orders WHERE ordered_at >= '2024-01-01'",
			"time"},
		{"since its begin", "orders since 2023", "SELECT id FROM orders WHERE ordered_at > '2022-12-31'", ""},
		{"up to the end of a year", "orders before 2024", "SELECT id FROM orders WHERE ordered_at < '2025-01-01'",
			"time"},
		{"up to its begin", "orders before 2024", "SELECT id FROM orders WHERE ordered_at < '2024-01-01'", ""},
		{"up to the end that is named", "orders before the end of 2023",
			"SELECT id FROM orders WHERE ordered_at < '2024-01-01'", ""},
		{"after a year", "orders after 2023", "SELECT id FROM orders WHERE ordered_at > '2023-12-31'", ""},
		{"after the begin of a year", "orders after 2023", "SELECT id FROM orders WHERE ordered_at > '2023-01-01'",
			"time"},
		{"after the start", "orders after the start of 2024",
			"SELECT id FROM orders WHERE ordered_at > '2024-01-01'", ""},
		{"a year and after", "orders of 2024 and after", "SELECT id FROM orders WHERE ordered_at >= '2024-01-01'", ""},
		{"a year or before", "orders of 2023 or before", "SELECT id FROM orders WHERE ordered_at < '2024-01-01'", ""},
		{"up to it and in it", "orders before or in 2023", "SELECT id FROM orders WHERE ordered_at < '2024-01-01'", ""},
		{"in it or up to it", "orders in or before 2023", "SELECT id FROM orders WHERE ordered_at < '2024-01-01'", ""},
		{"on it or after it", "orders on or after 5 March 2024",
			"SELECT id FROM orders WHERE ordered_at >= '2024-03-05'", ""},
		{"from another day on", "orders on or after 5 March 2024",
			"SELECT id FROM orders WHERE ordered_at >= '2024-03-20'", "time"},
		{"from it or before it", "orders from 2023 or earlier",
			"SELECT id FROM orders WHERE ordered_at < '2024-01-01'", ""},
		{"from it or after it", "orders from 2024 or later",
			"SELECT id FROM orders WHERE ordered_at < '2024-01-01'", "time"},
		{"since a season", "orders since summer 2023", "SELECT id FROM orders WHERE ordered_at >= '2023-06-01'", ""},
		{"none since then", "customers who have not ordered since 2024",
			"SELECT c.name FROM customers c JOIN orders o ON o.customer_id = c.id " +
				"GROUP BY c.id, c.name HAVING max(o.ordered_at) < '2024-01-01'", ""},
		{"no visit since then", "customers who have not visited since April 2024", "SELECT name FROM customers WHERE " +
			"last_visit_on < '2024-04-01'", ""},
		{"a quarter", "orders in Q2", "SELECT id FROM orders WHERE ordered_at >= '2024-04-01' AND ordered_at < " +
			"'2024-07-01'", ""},
		{"another quarter", "orders in Q2", "SELECT id FROM orders WHERE ordered_at >= '2024-01-01' AND ordered_at " +
			"< '2024-04-01'", "month"},
		{"another quarter in words", "orders in the first quarter",
			"SELECT id FROM orders WHERE strftime('%Y', ordered_at) = '2024' AND " +
				"strftime('%m', ordered_at) IN ('04', '05', '06')", "month"},
		{"two quarters", "orders in Q2, by month, compared with Q1",
			"SELECT strftime('%m', ordered_at) AS m, count(*) FROM orders WHERE " +
				"ordered_at >= '2024-01-01' AND ordered_at < '2024-07-01' GROUP BY m", ""},

		// Two values of one thing.
		{"of one of two countries", "list customers from both France and Germany",
			"SELECT cu.name FROM customers cu JOIN countries c ON " +
				"c.code = cu.country_code WHERE c.name IN ('France', 'Germany')", ""},
		{"of one of two cities", "list customers from both Lyon and Bonn",
			"SELECT name FROM customers WHERE city IN ('Lyon', 'Bonn')", ""},
		{"with both of two tags", "products tagged both sale and eco",
			"SELECT p.name FROM products p JOIN product_tags x ON x.product_id = p.id " +
				"JOIN tags t ON t.id = x.tag_id WHERE t.name IN ('sale', 'eco')", "both"},
		{"by the table between", "products tagged both sale and eco", "SELECT x.product_id FROM product_tags x JOIN " +
			"tags t ON t.id = x.tag_id " +
			"WHERE t.name IN ('sale', 'eco')", "both"},

		// Rows and things.
		{"how often they came", "how many customers did each country have in 2024",
			"SELECT k.name, count(*) FROM orders o JOIN countries k ON " +
				"k.code = o.shipping_country WHERE o.ordered_at >= '2024-01-01' GROUP BY k.code, k.name", "count"},
		{"each once", "how many customers did each country have in 2024",
			"SELECT k.name, count(DISTINCT o.customer_id) FROM orders o JOIN countries k ON " +
				"k.code = o.shipping_country WHERE o.ordered_at >= '2024-01-01' GROUP BY k.code, k.name", ""},
		{"keys of their orders", "How many customers ordered in 2024?",
			"SELECT count(o.id) FROM orders o WHERE o.ordered_at >= '2024-01-01'", "count"},
		{"different ones of each", "number of different cities per country",
			"SELECT country_code, count(city) FROM customers GROUP BY country_code",
			"distinct"},
		{"different ones of each, once", "number of different cities per country",
			"SELECT country_code, count(DISTINCT city) FROM customers " +
				"GROUP BY country_code", ""},
		{"a count that chooses groups", "number of customers with more than 2 orders by customer",
			"SELECT count(DISTINCT customer_id) FROM orders " +
				"GROUP BY customer_id HAVING count(*) > 2", ""},
		{"pieces of a kind", "how many products did each customer buy",
			"SELECT o.customer_id, count(*) FROM order_items i JOIN orders o ON " +
				"o.id = i.order_id GROUP BY o.customer_id", ""},
		{"what is counted is read", "how many orders per customer",
			"SELECT c.name, count(*) FROM orders o JOIN customers c ON c.id = o.customer_id " +
				"GROUP BY c.id, c.name", ""},
		{"a pair is its key", "how many products per order", "SELECT order_id, count(*) FROM order_items GROUP BY " +
			"order_id", ""},

		// Ends of an order.
		{"top and the least", "top 2 cheapest products", "SELECT name FROM products ORDER BY price DESC LIMIT 2",
			"direction"},
		{"the least", "top 2 cheapest products", "SELECT name FROM products ORDER BY price LIMIT 2", ""},
		{"top and the most", "top 2 most expensive products", "SELECT name FROM products ORDER BY price LIMIT 2",
			"direction"},
		{"top alone", "top 2 products by price", "SELECT name FROM products ORDER BY price LIMIT 2", ""},
		{"the bottom", "bottom 3 countries by revenue", "SELECT shipping_country, sum(total) AS r FROM orders GROUP " +
			"BY shipping_country ORDER BY r DESC " +
			"LIMIT 3", "direction"},
		{"the bottom itself", "bottom 3 countries by revenue", "SELECT shipping_country, sum(total) AS r FROM " +
			"orders GROUP BY shipping_country ORDER BY r " +
			"LIMIT 3", ""},
		{"the latest of each", "latest order of each customer", "SELECT id FROM (SELECT o.id, row_number() OVER " +
			"(PARTITION BY o.customer_id ORDER BY " +
			"o.ordered_at) AS rn FROM orders o) WHERE rn = 1", "direction"},
		{"the latest of each itself", "latest order of each customer",
			"SELECT id FROM (SELECT o.id, row_number() OVER (PARTITION BY o.customer_id " +
				"ORDER BY o.ordered_at DESC) AS rn FROM orders o) WHERE rn = 1", ""},
		{"most recently by a latest time", "Which customer ordered most recently?",
			"SELECT c.name, max(o.ordered_at) AS last_order FROM customers c " +
				"JOIN orders o ON o.customer_id = c.id GROUP BY c.id, c.name ORDER BY last_order LIMIT 1", "direction"},
		{"the longest time ago", "Which customer has been quiet the longest?",
			"SELECT c.name, max(o.ordered_at) AS last_order FROM customers c " +
				"JOIN orders o ON o.customer_id = c.id GROUP BY c.id, c.name ORDER BY last_order LIMIT 1", ""},

		// Periods by functions of today.
		{"days by today", "orders of the last 90 days",
			"SELECT id FROM orders WHERE ordered_at >= date('now', '-90 days')", ""},
		{"fewer days by today", "orders of the last 90 days",
			"SELECT id FROM orders WHERE ordered_at >= date('now', '-30 days')",
			"period"},
		{"months of days", "orders of the last 3 months",
			"SELECT id FROM orders WHERE ordered_at >= date('now', '-90 days')", ""},
		{"days of weeks", "orders of the last 2 weeks",
			"SELECT id FROM orders WHERE ordered_at > date('now', '-14 days')", ""},
		{"a month of days", "orders of the last 30 days",
			"SELECT id FROM orders WHERE ordered_at >= date('now', '-1 month')", ""},
		{"days with today", "orders of the last 7 days",
			"SELECT id FROM orders WHERE ordered_at >= date('now', '-6 days')", ""},
		{"days between", "orders of the last 30 days",
			"SELECT id FROM orders WHERE julianday('now') - julianday(ordered_at) <= 30",
			""},
		{"last year by today", "orders of last year", "SELECT id FROM orders WHERE strftime('%Y', ordered_at) = " +
			"strftime('%Y', 'now', '-1 year')", ""},
		{"last year by a difference", "orders of last year",
			"SELECT id FROM orders WHERE strftime('%Y', ordered_at) + 0 = " +
				"strftime('%Y', 'now') - 1", ""},
		{"this year by today", "orders of last year", "SELECT id FROM orders WHERE strftime('%Y', ordered_at) = " +
			"strftime('%Y', 'now')", "period"},
		{"this month by today", "orders of last month", "SELECT id FROM orders WHERE strftime('%Y-%m', ordered_at) = " +
			"strftime('%Y-%m', 'now')", "period"},
		{"this month itself", "orders of this month", "SELECT id FROM orders WHERE strftime('%Y-%m', ordered_at) = " +
			"strftime('%Y-%m', 'now')", ""},

		// What was done to them.
		{"all for the unpaid", "How many unpaid orders are there?", "SELECT count(*) FROM orders", "flag"},
		{"all for the paid", "How many paid orders are there?", "SELECT count(*) FROM orders", "flag"},
		{"those without a time", "How many unpaid orders are there?",
			"SELECT count(*) FROM orders WHERE paid_on IS NULL", ""},
		{"by a state", "How many unshipped orders are there?", "SELECT count(*) FROM orders WHERE status = 'open'", ""},
		{"where they went", "orders shipped to Germany", "SELECT id FROM orders WHERE shipping_country = 'DE'", ""},
		{"by another table", "shipped orders per customer",
			"SELECT c.name, count(*) FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.id, c.name", ""},

		// Months without a year.
		{"a month by its number", "orders in May",
			"SELECT id FROM orders WHERE CAST(strftime('%m', ordered_at) AS INTEGER) = 5",
			"months"},
		{"another one by its number", "orders in May",
			"SELECT id FROM orders WHERE CAST(strftime('%m', ordered_at) AS INTEGER) = 4", "month months"},
		{"in a range of numbers", "budgets in May", "SELECT id FROM budgets WHERE month BETWEEN 4 AND 6", ""},
		{"no number of a month", "budgets in May over 10", "SELECT id FROM budgets WHERE amount > 10", ""},

		// Places.
		{"the five who", "the five customers who spent the most", "SELECT customer_id FROM orders GROUP BY customer_id " +
			"ORDER BY sum(total) DESC LIMIT 10", "limit"},
		{"five of them", "the five customers who spent the most", "SELECT customer_id FROM orders GROUP BY customer_id " +
			"ORDER BY sum(total) DESC LIMIT 5", ""},
		{"the first for the second", "the second highest price",
			"SELECT price FROM products ORDER BY price DESC LIMIT 1", "limit"},
		{"the second", "the second highest price", "SELECT price FROM products ORDER BY price DESC LIMIT 1 OFFSET 1", ""},
		{"the second by a comma", "the second highest price",
			"SELECT price FROM products ORDER BY price DESC LIMIT 1, 1", ""},
		{"ascending", "products by price, ascending", "SELECT name FROM products ORDER BY price DESC", "direction"},
		{"ascending itself", "products by price, ascending", "SELECT name FROM products ORDER BY price", ""},
		{"the last for the first", "first order date per customer",
			"SELECT customer_id, max(ordered_at) FROM orders GROUP BY customer_id", "direction"},
		{"the first", "first order date per customer",
			"SELECT customer_id, min(ordered_at) FROM orders GROUP BY customer_id", ""},
		{"the last month of each", "orders last month per customer",
			"SELECT customer_id, min(ordered_at) FROM orders WHERE ordered_at >= '2024-05-01' AND ordered_at < '2024-06-01' " +
				"GROUP BY customer_id", ""},
		{"a sum of each month", "running total of the orders per month",
			"SELECT strftime('%Y-%m', ordered_at) AS m, sum(total) FROM orders GROUP BY m", "average"},
		{"a running sum", "running total of the orders per month",
			"SELECT strftime('%Y-%m', ordered_at) AS m, sum(sum(total)) OVER (ORDER BY strftime('%Y-%m', ordered_at)) " +
				"FROM orders GROUP BY m", ""},
		{"one for all", "best-selling product of each customer",
			"SELECT o.customer_id, i.product_id FROM orders o JOIN order_items i ON i.order_id = o.id " +
				"GROUP BY o.customer_id, i.product_id ORDER BY sum(i.quantity) DESC LIMIT 1", "group"},
		{"the one of a total of each", "Which customer has the highest total?",
			"SELECT customer_id FROM orders GROUP BY customer_id ORDER BY sum(total) DESC LIMIT 1", ""},
		{"one of each in order", "best-selling products of each customer",
			"SELECT o.customer_id, i.product_id FROM orders o JOIN order_items i ON i.order_id = o.id " +
				"GROUP BY o.customer_id, i.product_id ORDER BY sum(i.quantity) DESC LIMIT 20", ""},
		{"what runs", "running costs per month",
			"SELECT strftime('%Y-%m', ordered_at) AS m, sum(total) FROM orders GROUP BY m", ""},
		{"inclusive", "products between 40 and 500", "SELECT name FROM products WHERE price >= 40 AND price <= 500", ""},
		{"a bound left out", "products between 40 and 500",
			"SELECT name FROM products WHERE price > 40 AND price <= 500", "bound"},
		{"the other bound left out", "products between 40 and 500",
			"SELECT name FROM products WHERE price >= 40 AND price < 500", "bound"},
		{"bounds that leave out no row", "products between 30 and 600",
			"SELECT name FROM products WHERE price > 30 AND price < 600", ""},
		{"a mean for a median", "median price of the products", "SELECT avg(price) FROM products", "average"},

		// Values that begin like a denial.
		{"an end of such a value", "tickets that are not urgent",
			"SELECT id FROM tickets WHERE priority = 'urgent'", "negation"},

		// Shares.
		{"a share of all", "What share of the open tickets is urgent?",
			"SELECT 100.0 * count(*) / (SELECT count(*) FROM tickets) FROM tickets " +
				"WHERE state = 'open' AND priority = 'urgent'", "share"},
		{"a share of the open ones", "What share of the open tickets is urgent?",
			"SELECT 100.0 * count(*) / (SELECT count(*) FROM tickets " +
				"WHERE state = 'open') FROM tickets WHERE state = 'open' AND priority = 'urgent'", ""},
		{"a share by one state", "What percent of the orders were cancelled?",
			"SELECT 100.0 * count(*) / (SELECT count(*) FROM orders) FROM orders " +
				"WHERE status = 'cancelled'", ""},
	} {
		got := said(tt.question, tt.statement)
		if strings.Join(rulesOf(got), " ") != tt.rules {
			t.Errorf("%s: %s\n  %s\n  contradicts by %q, want %q", tt.why, tt.question, tt.statement, got, tt.rules)
		}
	}
}
