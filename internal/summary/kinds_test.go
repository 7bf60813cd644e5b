package summary

import (
	"testing"
	"time"

	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// TestSentenceOfKinds: spellings of ordinary statements have the sentence of their kind.
func TestSentenceOfKinds(t *testing.T) {
	for _, tt := range []struct{ why, sql, want string }{
		{"a count of ones", "SELECT COUNT(1) FROM patients", "Number of patients."},
		{"a count of twos is no usual spelling", "SELECT COUNT(2) FROM patients", ""},
		{"a flag that is not set, denied", "SELECT count(*) FROM members WHERE NOT is_active = 1",
			"Number of members that are not active."},
		{"denied twice", "SELECT count(*) FROM members WHERE NOT is_active = 0", "Number of members that are active."},
		{"a denied number", "SELECT count(*) FROM members WHERE NOT age = 1", ""},
		{"different values in FROM", "SELECT count(*) FROM (SELECT DISTINCT city FROM members WHERE is_active = 1) x",
			"Number of different cities of members that are active."},
		{"different pairs in FROM", "SELECT count(*) FROM (SELECT DISTINCT city, age FROM members) x", ""},
		{"some different values in FROM", "SELECT count(*) FROM (SELECT DISTINCT city FROM members LIMIT 5) x", ""},
		{"counts of a SELECT in FROM", "SELECT n FROM (SELECT member_id, count(*) AS n FROM loans GROUP BY member_id)", ""},
		{"some counts of a SELECT in FROM", "SELECT avg(n) FROM (SELECT member_id, count(*) AS n FROM loans " +
			"GROUP BY member_id) WHERE n > 1", ""},
		{"different values of those", "SELECT count(DISTINCT city) FROM (SELECT DISTINCT city FROM members) x", ""},
		{"how many groups a SELECT in FROM has", "SELECT count(*) FROM (SELECT member_id, count(*) AS n FROM loans " +
			"GROUP BY member_id) x", ""},
		{"a sum of counts", "SELECT sum(n) FROM (SELECT member_id, count(*) AS n FROM loans GROUP BY member_id) x", ""},
		{"an average of counts", "SELECT avg(n) FROM (SELECT member_id, count(*) AS n FROM loans GROUP BY member_id)",
			"Average number of loans per member."},
		{"an average of the counts that HAVING leaves",
			"SELECT avg(n) FROM (SELECT member_id, count(*) AS n FROM loans GROUP BY member_id HAVING count(*) > 1)", ""},
		{"an average of counts, some of them zero",
			"SELECT avg(n) FROM (SELECT m.id, count(l.id) AS n FROM members m LEFT JOIN loans l ON l.member_id = m.id " +
				"GROUP BY m.id) x", ""},
		{"a hundred times a figure is no percentage", "SELECT 100 * avg(price) FROM products",
			"100 × average price of products."},
		{"a constant first", "SELECT count(*) FROM trips t WHERE '2024-01-01' <= t.shipped_on " +
			"AND '2025-01-01' > t.shipped_on",
			"Number of trips shipped in 2024."},
		{"a week", "SELECT count(*) FROM trips WHERE date_trunc('week', shipped_on) = '2024-01-08'",
			"Number of trips shipped from 8 to 14 January 2024."},
		{"two roles of one table", "SELECT COUNT(*) FROM Shipment s JOIN Warehouse o ON o.WarehouseCode = s.OriginCode " +
			"JOIN Warehouse d ON d.WarehouseCode = s.DestinationCode WHERE o.City = 'Hamburg' AND d.City = 'Oslo'",
			"Number of shipments, where origin city is “Hamburg” and destination city is “Oslo”."},
		{"a table that refers to itself", "SELECT e.name FROM agents e JOIN agents m ON m.id = e.manager_id " +
			"WHERE m.name = 'Ari'",
			"Name of agents, where manager name is “Ari”."},
		{"a join to itself leaves out rows without the other one",
			"SELECT e.name, m.name FROM agents e JOIN agents m ON m.id = e.manager_id",
			"Name and manager name of agents, where manager is known."},
		{"a join to itself without a key", "SELECT a.name FROM agents a JOIN agents b ON b.age > a.age", ""},
		{"a name for missing values", "SELECT COALESCE(city, 'unknown'), count(*) FROM members GROUP BY COALESCE(city, " +
			"'unknown')",
			"Number of members by city."},
		{"a name for missing values that is looked for", "SELECT count(*) FROM members WHERE COALESCE(city, 'York') = 'York'",
			""},
		{"the last of names for missing values", "SELECT max(COALESCE(city, 'zzz')) FROM members", ""},
		{"rows without another row of their table", "SELECT count(*) FROM agents a LEFT JOIN agents m " +
			"ON m.id = a.manager_id WHERE m.id IS NULL",
			"Number of agents without manager."},
		{"rows to which no row refers", "SELECT count(*) FROM agents m LEFT JOIN agents a ON a.manager_id = m.id " +
			"WHERE a.id IS NULL", ""},
		{"a time after another one", "SELECT count(*) FROM admissions WHERE discharged_at < admitted_at",
			"Number of admissions, where discharge time is before the admission time."},
		{"a figure above another one", "SELECT count(*) FROM trips WHERE cost > price",
			"Number of trips, where cost is above the price."},
		{"some keys", "SELECT count(*) FROM tickets WHERE agent_id IN (1, 2)", "Number of tickets of agent 1 or 2."},
		{"other keys", "SELECT count(*) FROM tickets WHERE agent_id NOT IN (1, 2)",
			"Number of tickets, where agent id is not 1 or 2."},
		{"two times, one of the rows", "SELECT count(*) FROM shipments WHERE delivered_on > '2024-01-01' " +
			"AND shipped_on < '2024-01-01'",
			"Number of shipments before 2024 and delivered after 1 January 2024."},
		{"a full name", "SELECT first_name || ' ' || last_name AS name FROM patients",
			"First name and last name of patients."},
		{"a text behind a number", "SELECT count(*) || ' rows' FROM patients", ""},
		{"a label names its rows", "SELECT s.label, count(*) FROM trips t JOIN lkp_trip_status s " +
			"ON s.id = t.trip_status_id GROUP BY s.label",
			"Number of trips by trip status."},
		{"a description of rows that have names", "SELECT count(*) FROM sales s JOIN products p ON p.id = s.product_id " +
			"WHERE p.description LIKE '%x%'",
			"Number of sales, where product description contains “x”."},
		{"a number for missing values changes an average", "SELECT avg(COALESCE(fine, 0)) FROM loans", ""},
		{"the highest of the highest ones", "SELECT ward, min(cost), max(cost) AS hi FROM stays GROUP BY ward " +
			"ORDER BY hi DESC",
			"Lowest cost and highest cost of stays by ward; highest cost first."},
		{"a part of all rows", "SELECT CAST(SUM(CASE WHEN cancelled = 1 THEN 1 ELSE 0 END) AS REAL) / COUNT(*) FROM bookings",
			"Share of bookings that are cancelled."},
		{"whole numbers make no part", "SELECT SUM(CASE WHEN cancelled = 1 THEN 1 ELSE 0 END) / COUNT(*) FROM bookings",
			"Number of bookings that are cancelled ÷ number of bookings."},
		{"a factor makes a fraction", "SELECT 1.0 * SUM(CASE WHEN cancelled = 1 THEN 1 ELSE 0 END) / COUNT(*) FROM bookings",
			"Share of bookings that are cancelled."},
		{"a part of all rows in percent", "SELECT 100.0 * count(*) FILTER (WHERE state = 'open') / count(*) FROM tickets",
			"Percentage of tickets where state is “open”."},
		{"a part of other rows", "SELECT 100.0 * count(*) FILTER (WHERE state = 'open') / count(DISTINCT owner_id) " +
			"FROM tickets",
			"Number of tickets where state is “open” in percent of number of different owners."},
		{"a factor of one", "SELECT avg(is_insured * 1.0) FROM shipments", "Share of shipments that are insured."},
		{"another factor", "SELECT avg(weight * 2.0) FROM shipments", "Average weight × 2.0 of shipments."},
		{"a list of keys without missing ones", "SELECT name FROM carriers WHERE id NOT IN (SELECT carrier_id FROM trips " +
			"WHERE carrier_id IS NOT NULL)",
			"Name of carriers without trips."},
		{"a list of keys of some rows", "SELECT name FROM carriers WHERE id NOT IN (SELECT carrier_id FROM trips " +
			"WHERE goal IS NOT NULL)",
			"Name of carriers without trips where goal is known."},
		{"texts of a month", "SELECT count(*) FROM trips WHERE shipped_on LIKE '2023-05%'",
			"Number of trips shipped in May 2023."},
		{"texts that begin with a part of a month", "SELECT count(*) FROM trips WHERE shipped_on LIKE '2023-0%'",
			"Number of trips, where shipping date begins with “2023-0”."},
		{"texts of no time", "SELECT count(*) FROM trips WHERE label LIKE '2023-05%'",
			"Number of trips, where label begins with “2023-05”."},
		{"a sum of ones", "SELECT sum(1) FROM patients", "Number of patients."},
		{"a sum of some rows", "SELECT sum(CASE WHEN channel = 'web' THEN total_price ELSE 0 END) FROM bookings",
			"Sum of total price of bookings where channel is “web”."},
		{"an average with zeros for the other rows",
			"SELECT avg(CASE WHEN channel = 'web' THEN price ELSE 0 END) FROM bookings", ""},
		{"a sum of the rows of a time", "SELECT sum(CASE WHEN paid_at < '2024-01-01' THEN amount END) FROM payments",
			"Total amount of payments before 2024."},
		{"an average of some rows", "SELECT avg(CASE WHEN channel = 'web' THEN price END) FROM bookings",
			"Average price of bookings where channel is “web”."},
		{"a difference of two sums", "SELECT region, sum(amount) - sum(cost) AS margin FROM sales GROUP BY region",
			"Margin (total amount − total cost) of sales by region."},
		{"a sum of differences", "SELECT region, sum(amount - cost) AS margin FROM sales GROUP BY region",
			"Margin (amount − cost) of sales by region."},
		{"a sum of a constant", "SELECT sum(CASE WHEN channel = 'web' THEN 5 ELSE 0 END) FROM bookings", ""},
		{"the key of one row", "SELECT count(*) FROM tickets WHERE agent_id = (SELECT id FROM agents WHERE name = 'Eve')",
			"Number of tickets of agents where name is “Eve”."},
		{"a time of a group", "SELECT name FROM visits GROUP BY name HAVING min(opened_at) < '2023-02-01'",
			"Each name of visits, only where earliest opening time is before 1 February 2023."},
		{"a quarter", "SELECT quarter(loan_date), count(*) FROM loans GROUP BY 1", "Number of loans by quarter of the year."},
		{"a day", "SELECT count(*) FROM staff_members WHERE hired_on = '2023-03-05'",
			"Number of staff members, where hire date is 5 March 2023."},
		{"a day of what happened", "SELECT count(*) FROM prescriptions WHERE prescribed_on = '2023-03-05'",
			"Number of prescriptions on 5 March 2023."},
		{"a time without a word for it", "SELECT guest_id, max(check_in) FROM bookings GROUP BY guest_id",
			"Latest check in of bookings by guest."},
	} {
		if got := Sentence(sqltext.SQLite(), tt.sql); got != tt.want {
			t.Errorf("%s: %s\n got %q\nwant %q", tt.why, tt.sql, got, tt.want)
		}
	}
}

// TestFoundOfKinds: ordinary rows have a headline, and no row is called highest of those that a condition leaves.
func TestFoundOfKinds(t *testing.T) {
	two := []string{"name", "n"}
	salaries := rows([]string{"name", "salary"}, []any{"Quinn", 2980.5}, []any{"Sven", 2790.75},
		[]any{"Tara", int64(2700)})
	counts := rows(two, []any{"Japan", int64(19)}, []any{"Brazil", int64(18)}, []any{"Norway", int64(17)})
	keys := rows([]string{"id", "weight"}, []any{int64(281), 134.5}, []any{int64(180), 99.25})
	days := rows([]string{"name", "first"}, []any{"Rapido", "2023-03-02"}, []any{"Haulex", "2023-03-03"})
	months := rows([]string{"m", "n"}, []any{int64(1), int64(5)}, []any{int64(2), int64(9)}, []any{int64(3), int64(4)})
	byMonth := "SELECT month(day) AS m, count(*) AS n FROM loans"

	for _, tt := range []struct {
		why, sql string
		rows     *result.Table
		want     string
	}{
		{"a figure with an upper bound", "SELECT name, salary FROM nurses WHERE salary < 3000 ORDER BY salary DESC", salaries,
			"3 nurses where salary is below 3000."},
		{"a figure within a range", "SELECT name, salary FROM nurses WHERE salary BETWEEN 2700 AND 3000 ORDER BY salary DESC",
			salaries,
			"3 nurses where salary is from 2700 to 3000."},
		{"a lower bound leaves the highest one", "SELECT name, salary FROM nurses WHERE salary > 2000 ORDER BY salary DESC",
			salaries,
			"Highest salary: Quinn, 2,980.50; then Sven, 2,790.75."},
		{"the lowest ones above a bound", "SELECT name, salary FROM nurses WHERE salary > 2000 ORDER BY salary LIMIT 3",
			salaries, ""},
		{"sums of some values", "SELECT name, sum(profit) AS loss FROM shops WHERE profit < 0 GROUP BY name",
			rows([]string{"name", "loss"}, []any{"Oslo", int64(-900)}, []any{"Bern", int64(-35)}),
			"Highest total profit where profit is below 0: Bern, −35; then Oslo, −900."},
		{"averages of some values of some rows", "SELECT name, avg(profit) AS p FROM shops WHERE profit > 5 AND is_open " +
			"GROUP BY name", rows([]string{"name", "p"}, []any{"Oslo", int64(900)}, []any{"Bern", int64(35)}),
			"Highest average profit of shops that are open where profit is above 5: Oslo, 900; then Bern, 35."},
		{"sums of rows with a value", "SELECT name, sum(profit) AS p FROM shops WHERE profit IS NOT NULL AND size < 9 " +
			"GROUP BY name", rows([]string{"name", "p"}, []any{"Oslo", int64(900)}, []any{"Bern", int64(35)}),
			"Highest total profit: Oslo, 900; then Bern, 35."},
		{"groups below a bound", "SELECT country, count(*) AS n FROM guests GROUP BY country HAVING n < 20", counts,
			"3 countries where number of guests is below 20."},
		{"groups above a bound", "SELECT country, count(*) AS n FROM guests GROUP BY country HAVING count(*) > 9", counts,
			"Japan has the most: 19, then Brazil with 18."},
		{"a bound of another figure", "SELECT country, count(*) AS n FROM guests GROUP BY country HAVING avg(age) < 20",
			counts,
			"Japan has the most: 19, then Brazil with 18."},

		{"rows with keys", "SELECT id, weight FROM shipments ORDER BY weight DESC LIMIT 2", keys,
			"Highest weight: shipment 281, 134.50; then shipment 180, 99.25."},
		{"keys of other rows", "SELECT shipment_id AS id, sum(weight) AS weight FROM items GROUP BY shipment_id", keys,
			"Highest total weight: shipment 281, 134.50; then shipment 180, 99.25."},
		{"one row with its key", "SELECT id, weight FROM shipments ORDER BY weight DESC LIMIT 1",
			rows([]string{"id", "weight"}, []any{int64(281), 134.5}), "Highest weight: shipment 281, 134.50."},
		{"a list with rows to which it refers", "SELECT b.title FROM books b JOIN authors a ON a.id = b.author_id " +
			"WHERE a.name = 'Ken'",
			rows([]string{"title"}, []any{"A"}, []any{"B"}), "2 books where author name is “Ken”."},
		{"a list whose rows a join repeats, without some",
			"SELECT a.name FROM authors a LEFT JOIN books b ON b.author_id = a.id",
			rows([]string{"name"}, []any{"A"}, []any{"B"}), ""},
		{"a list of several figures without an order", "SELECT name, floor, beds FROM wards",
			rows([]string{"name", "floor", "beds"}, []any{"A", int64(3), int64(9)}, []any{"B", int64(4), int64(8)}), "2 wards."},

		{"a hundred times a figure is no percentage", "SELECT 100 * avg(price) AS price FROM products",
			rows([]string{"price"}, []any{5000.0}), "Price: 5,000."},
		{"a price without its tax is no percentage", "SELECT name, 100 * sum(price) / 119 AS net FROM products GROUP BY name",
			rows([]string{"name", "net"}, []any{"A", 50.0}, []any{"B", 20.0}), "Highest net: A, 50; then B, 20."},
		{"the last one by its key", "SELECT id, shipped_on FROM trips ORDER BY shipped_on DESC LIMIT 1",
			rows([]string{"id", "shipped_on"}, []any{int64(7), "2024-01-04"}), "Latest trip shipped: trip 7, 4 January 2024."},
		{"two ends of a time", "SELECT min(paid_at), max(paid_at) FROM loans",
			rows([]string{"a", "b"}, []any{"2023-01-02", "2024-06-01"}),
			"Earliest payment time: 2 January 2023; latest payment time: 1 June 2024."},
		{"the earliest of each", "SELECT name, min(shipped_on) AS first FROM shipments GROUP BY name", days,
			"Earliest date: Rapido, 2 March 2023."},
		{"the last of the first ones", "SELECT name, min(shipped_on) AS first FROM shipments GROUP BY name " +
			"ORDER BY first DESC LIMIT 2", days, ""},
		{"two at once", "SELECT name, min(shipped_on) AS first FROM shipments GROUP BY name",
			rows([]string{"name", "first"}, []any{"Rapido", "2023-03-02"}, []any{"Haulex", "2023-03-02"}), ""},
		{"a cut by another order", "SELECT name, max(shipped_on) AS last FROM shipments GROUP BY name ORDER BY name LIMIT 2",
			days, ""},

		{"a flag", "SELECT cancelled, count(*) FROM bookings GROUP BY cancelled",
			rows(two, []any{int64(0), int64(7)}, []any{int64(1), int64(3)}),
			"3 of 10 bookings are cancelled (30 %), 7 are not."},
		{"a flag of some rows", "SELECT cancelled, count(*) FROM bookings WHERE channel = 'web' GROUP BY cancelled",
			rows(two, []any{int64(0), int64(7)}, []any{int64(1), int64(3)}),
			"3 of 10 bookings where channel is “web” are cancelled (30 %), 7 are not."},
		{"the first of names", "SELECT min(last_name) FROM patients", rows([]string{"min(last_name)"}, []any{"Abel"}),
			"Alphabetically first last name of patients: Abel."},
		{"a flag as text", "SELECT has_balcony, count(*) FROM rooms GROUP BY has_balcony",
			rows(two, []any{"no", int64(7)}, []any{"yes", int64(3)}),
			"3 of 10 rooms have balcony (30 %), 7 do not."},
		{"a flag that some rows lack", "SELECT is_remote, count(*) FROM agents GROUP BY is_remote",
			rows(two, []any{nil, int64(1)}, []any{false, int64(6)}, []any{true, int64(3)}),
			"3 of 10 agents are remote (30 %), 6 are not, 1 is unknown."},
		{"other values", "SELECT cancelled, count(*) FROM bookings GROUP BY cancelled",
			rows(two, []any{"no", int64(7)}, []any{"late", int64(3)}),
			"no has the most: 7 of 10 (70 %), then late with 3."},
		{"figures of a flag", "SELECT is_insured, sum(cost) AS cost FROM trips GROUP BY is_insured",
			rows(two, []any{int64(0), 7.5}, []any{int64(1), 3.25}),
			"Highest total cost: not insured, 7.50; then insured, 3.25."},
		{"a flag of one row", "SELECT is_bug FROM tickets WHERE id = 3", rows([]string{"is_bug"}, []any{int64(1)}),
			"Is bug: yes."},
		{"different names of joined rows", "SELECT DISTINCT g.name FROM bookings b JOIN guests g ON g.id = b.guest_id",
			rows([]string{"name"}, []any{"A"}, []any{"B"}), "2 different names of guests with bookings."},
		{"the last one by a time that is not listed", "SELECT title FROM tickets ORDER BY opened_at DESC LIMIT 1",
			rows([]string{"title"}, []any{"A"}), "Latest ticket opened: A."},
		{"a date is no name beside a key", "SELECT id, shipped_on, weight FROM shipments ORDER BY weight DESC LIMIT 1",
			rows([]string{"id", "shipped_on", "weight"}, []any{int64(281), "2024-01-04", 134.5}),
			"Highest weight: shipment 281, 134.50."},
		{"one row", "SELECT count(*) FROM members WHERE is_student AND NOT is_active", rows(two[1:], []any{int64(1)}),
			"1 member that is a student and not active."},
		{"one row that is not", "SELECT count(*) FROM members WHERE NOT is_student", rows(two[1:], []any{int64(1)}),
			"1 member that is not a student."},
		{"whole numbers of a group", "SELECT floor, count(*) AS n FROM rooms GROUP BY floor",
			rows([]string{"floor", "n"}, []any{int64(1), int64(6)}, []any{int64(2), int64(4)}),
			"Floor 1 has the most: 6 of 10 (60 %), then floor 2 with 4."},
		{"numbers that may be flags", "SELECT night_shift, avg(pay) AS pay FROM nurses GROUP BY night_shift",
			rows([]string{"night_shift", "pay"}, []any{int64(0), 7.5}, []any{int64(1), 4.5}), ""},
		{"the latest year", "SELECT title, published_year FROM books ORDER BY published_year DESC LIMIT 2",
			rows([]string{"title", "published_year"}, []any{"A", int64(2019)}, []any{"B", int64(2018)}),
			"Latest published year: A, 2019; then B, 2018."},
		{"months of one year", byMonth + " WHERE day >= '2023-01-01' AND day < '2024-01-01' GROUP BY m", months,
			"February has the most: 9 of 18 (50 %), then January with 5."},
		{"months of several years", byMonth + " WHERE day >= '2022-01-01' AND day < '2024-01-01' GROUP BY m", months, ""},
		{"two names of a group", "SELECT origin, goal, sum(cost) AS cost FROM trips GROUP BY origin, goal",
			rows([]string{"origin", "goal", "cost"}, []any{"BCN", "ROT", 9.5}, []any{"BCN", "HAM", 4.25}),
			"Highest total cost: BCN / ROT, 9.50; then BCN / HAM, 4.25."},
		{"a first and a last name", "SELECT p.first_name, p.last_name, sum(s.cost) AS cost FROM stays s JOIN patients p " +
			"ON p.id = s.patient_id GROUP BY 1, 2",
			rows([]string{"first_name", "last_name", "cost"}, []any{"Ann", "Lee", 9.5}, []any{"Bo", "Lee", 4.25}),
			"Highest total cost: Ann Lee, 9.50; then Bo Lee, 4.25."},
		{"a name and a flag", "SELECT state, is_late, avg(cost) AS cost FROM trips GROUP BY state, is_late",
			rows([]string{"state", "is_late", "cost"}, []any{"open", true, 9.5}, []any{"open", false, 4.25}),
			"Highest average cost: open / late, 9.50; then open / not late, 4.25."},
		{"months below a bound", "SELECT strftime('%Y-%m', day) AS m, count(*) AS n FROM sales GROUP BY m " +
			"HAVING count(*) < 9",
			rows([]string{"m", "n"}, []any{"2024-01", int64(5)}, []any{"2024-02", int64(8)}), ""},
		{"months above a bound", "SELECT strftime('%Y-%m', day) AS m, count(*) AS n FROM sales GROUP BY m " +
			"HAVING count(*) > 2",
			rows([]string{"m", "n"}, []any{"2024-01", int64(5)}, []any{"2024-02", int64(8)}), "Highest in February 2024: 8."},
		{"numbers of books are not amounts", "SELECT title, isbn FROM books",
			rows([]string{"title", "isbn"}, []any{"Emma", int64(9780141439587)}, []any{"Dune", int64(9780441013593)}),
			"2 books."},
		{"numbers of articles are not amounts", "SELECT title, sku FROM books",
			rows([]string{"title", "sku"}, []any{"Emma", int64(70001)}, []any{"Dune", int64(70002)}), "2 books."},
		{"places do not name rows", "SELECT serial, latitude FROM machines",
			rows([]string{"serial", "latitude"}, []any{int64(70001), 48.2}, []any{int64(70002), -33.5}),
			"2 machines."},
		{"serials without an order", "SELECT serial, floor FROM machines",
			rows([]string{"serial", "floor"}, []any{int64(70001), int64(3)}, []any{int64(70002), int64(12)}), "2 machines."},
		{"serials name rows", "SELECT serial, load FROM machines ORDER BY load DESC",
			rows([]string{"serial", "load"}, []any{int64(70001), 1.25}, []any{int64(70002), 0.5}),
			"Highest load: 70001, 1.25; then 70002, 0.50."},
		{"a list of keys without an order", "SELECT id, floor FROM rooms",
			rows([]string{"id", "floor"}, []any{int64(329), int64(3)}, []any{int64(430), int64(4)}), "2 rooms."},
		{"the first name", "SELECT name FROM guests ORDER BY name LIMIT 1", rows(two[:1], []any{"Abel"}),
			"Abel is the first by name."},
		{"a small quotient", "SELECT count(DISTINCT a) * 1.0 / count(*) AS part FROM guests",
			rows([]string{"part"}, []any{0.0085714285}),
			"Part: 0.0086."},
		{"a share of one", "SELECT name, avg(is_insured) AS part FROM shipments GROUP BY name",
			rows([]string{"name", "part"}, []any{"A", 0.5}, []any{"B", 0.25}),
			"Highest share of shipments that are insured: A, 50 %; then B, 25 %."},
		{"an average keeps no digits of its type", "SELECT avg(n) FROM (SELECT member_id, count(*) AS n FROM loans " +
			"GROUP BY member_id) x",
			&result.Table{Columns: []string{"avg"}, Types: []result.Type{{Kind: result.KindDecimal, Scale: 4}},
				Rows: [][]any{{result.Decimal("8.8889")}}},
			"Average number of loans per member: 8.89."},
	} {
		if got := Found(sqltext.SQLite(), tt.sql, tt.rows, time.Time{}, nil, false); got != tt.want {
			t.Errorf("%s: %s\n got %q\nwant %q", tt.why, tt.sql, got, tt.want)
		}
	}
}
