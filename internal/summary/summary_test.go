package summary

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/sqltext"
)

// TestSentence: known shapes have a sentence that says all that the statement does; others have none.
func TestSentence(t *testing.T) {
	for _, tt := range []struct{ sql, want, why string }{
		{"SELECT count(*) FROM sales", "Number of sales.", "one table is counted by its name"},
		{"SELECT count(*) AS n FROM customer WHERE country = 'DE'", "Number of customers, where country is “DE”.",
			"a condition"},
		{"SELECT region, sum(amount) AS amount FROM sales GROUP BY region ORDER BY 2 DESC",
			"Total amount of sales by region; highest first.", "a group, by its place"},
		{"SELECT region, sum(amount) AS total FROM sales GROUP BY 1 ORDER BY total DESC LIMIT 5;",
			"Total amount of sales by region; the 5 highest.", "by its alias"},
		{"SELECT day, amount FROM sales ORDER BY day", "Day and amount of sales; earliest first.", "a list in order"},
		{"SELECT day FROM sales ORDER BY amount DESC LIMIT 1", "Day of sales; only the one with the highest amount.",
			"one row"},
		{"SELECT * FROM order_items", "All columns of order items.", "a star"},
		{"SELECT DISTINCT region FROM sales", "Each different region of sales.", "different values"},
		{"SELECT c.name, SUM(o.total) FROM orders o JOIN customers AS c ON c.id = o.customer_id " +
			"WHERE o.status IN ('paid', 'shipped') GROUP BY c.name",
			"Total of orders by customer name, where status is “paid” or “shipped”.", "a join"},
		{"SELECT c.name, COUNT(o.id) FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.name",
			"Number of orders by customer name, also where there are no orders.", "a left join keeps all"},
		{"SELECT strftime('%Y-%m', day) AS month, round(avg(amount), 2) FROM sales " +
			"WHERE day >= '2024-01-01' AND day < '2025-01-01' GROUP BY month HAVING count(*) > 3",
			"Average amount of sales in 2024 by month, only where number of sales is above 3.", "a whole year"},
		{"SELECT name FROM clerks WHERE town IS NOT NULL AND name LIKE '%x%' AND NOT a = 1", "",
			"a negation before its value"},
		{"SELECT name FROM clerks WHERE town IS NOT NULL AND name NOT LIKE '%x%'",
			"Name of clerks, where town is known and name does not contain “x”.", "a pattern"},
		{"SELECT name FROM clerks WHERE (town = 'A' OR town IS NULL)",
			"Name of clerks, where either town is “A” or town is missing.", "brackets"},
		{"SELECT sum(price * quantity) FROM items", "Total price × quantity of items.", "arithmetic"},

		{"SELECT strftime('%Y-%m', o.ordered_at), sum(i.qty * i.unit_price) AS revenue FROM orders o JOIN items i " +
			"ON i.order_id = o.id GROUP BY 1",
			"Revenue (quantity × unit price) of items by order month.", "a sum that has a name"},
		{"SELECT c.name FROM customers c LEFT JOIN payments p ON p.customer_id = c.id WHERE p.id IS NULL",
			"Name of customers without payments.", "an anti-join"},
		{"SELECT count(*) FROM customers c LEFT JOIN payments p ON p.customer_id = c.id WHERE p.id IS NULL " +
			"AND c.country = 'DE'",
			"Number of customers without payments, where country is “DE”.", "an anti-join that counts"},
		{"SELECT count(*) FROM SuperHero", "Number of super heroes.", "names are split at case"},
		{"SELECT count(*) FROM staff", "Number of entries in staff.", "a plural that is not sure"},
		{"SELECT a, b, c, d, e, f, g, h, i, j, k, l, m, n FROM stays WHERE a = 1 AND b = 2",
			"A, b, c, d, e, f and 8 more columns of stays, where a is exactly 1 and b is 2.", "many columns"},
		{"SELECT a FROM t WHERE a IN ('a b c d e f', 'a b c d e f', 'a b c d e f', 'a b c d e f', 'a b c d e f', " +
			"'a b c d e f')", "", "more than 40 words"},

		{"SELECT name FROM a UNION SELECT name FROM b", "", "two queries"},
		{"SELECT age FROM pupils WHERE b = (SELECT max(b) FROM pupils)", "Age of pupils, where b is the highest b of pupils.",
			"one value of all rows"},
		{"SELECT age FROM pupils p WHERE b = (SELECT max(b) FROM marks m WHERE m.pupil_id = p.id)", "",
			"one value for each row"},
		{"SELECT age FROM pupils WHERE b = (SELECT max(b) FROM pupils GROUP BY c)", "", "several values"},
		{"WITH x AS (SELECT 1) SELECT * FROM x", "", "a CTE"},
		{"SELECT count(*) OVER () FROM t", "", "a window"},
		{"SELECT count(*) FILTER (WHERE a > 1) FROM t", "Number of entries in t where a is above 1.", "a filter"},
		{"SELECT sum(b) FILTER (WHERE a > 1) FROM t", "", "a filter would be left out"},
		{"SELECT a FROM t, u", "", "a product"},
		{"SELECT a FROM t WHERE a = 1 AND b = 2 OR c = 3", "", "AND beside OR without brackets"},
		{"SELECT a FROM t WHERE a = 1 OR b = 2 AND c = 3", "", "and in the other order"},
		{"SELECT name FROM meals WHERE stock < needed", "Name of meals, where stock is below the needed.", "two columns"},
		{"SELECT name FROM meals WHERE stock = needed + 1", "", "arithmetic beside a column"},
		{"SELECT a FROM t WHERE a = 1 + 2", "", "arithmetic beside a constant"},
		{"SELECT a FROM t LIMIT 5 OFFSET 5", "", "rows are left out"},
		{"SELECT name, max(age) FROM t", "", "a column beside a measure without a group"},
		{"SELECT e.name FROM staff e JOIN staff b ON e.boss = b.id", "", "two roles of one table"},
		{"SELECT a FROM t WHERE name LIKE 'a_b%'", "", "a pattern with a hole"},
		{"SELECT age FROM pupils WHERE name LIKE 'x%'", "Age of pupils, where name begins with “x”.",
			"a pattern of a beginning"},
		{"SELECT date(day) AS day, count(*) FROM sales GROUP BY day", "", "an alias that hides a column"},
		{"SELECT coalesce(a, 0) FROM t", "", "a value in place of none"},
		{"SELECT a, b FROM t GROUP BY a", "", "some b"},
		{"SELECT CASE WHEN a THEN 1 END FROM t", "", "a case"},
		{"SELECT a FROM t WHERE NOT a = 1", "", "a negation before its value"},
		{"SELECT count(*) FROM t JOIN c ON c.id > t.id AND c.x = t.y AND c.z = 1 JOIN u ON u.a = c.b", "",
			"rows of which nothing is known"},
		{"", "", "nothing"},
	} {
		if got := Sentence(sqltext.SQLite(), tt.sql); got != tt.want {
			t.Errorf("%s: %s\n got %q\nwant %q", tt.why, tt.sql, got, tt.want)
		}
	}
}

// TestSentenceRows: a sentence names the rows that a join gives, and what a condition says about them.
func TestSentenceRows(t *testing.T) {
	for _, tt := range []struct{ sql, want, why string }{
		{`SELECT "Ward"."WardName", AVG("Stay"."LengthDays") FROM "Stay" JOIN "Ward" ON "Ward"."WardID" = "Stay"."WardID" GROUP BY "Ward"."WardName"`,
			"Average length in days of stays by ward name.", "names in capitals and in quotes, a unit"},
		{"SELECT d.dept_name, count(*) FROM tbl_emp e JOIN lkp_dept d ON d.dept_no = e.dept_no GROUP BY d.dept_name",
			"Number of employees by department name.", "abbreviations, and marks of tables"},
		{"SELECT t.name, count(c.id) FROM teachers t JOIN courses c ON c.teacher_id = t.id GROUP BY t.id, t.name " +
			"HAVING count(c.id) >= 3 ORDER BY 2 DESC",
			"Number of courses by teacher, only where it is at least 3; highest first.",
			"a key and its name are what they name"},
		{"SELECT t.id, t.name, t.city, count(*) FROM teachers t JOIN courses c ON c.teacher_id = t.id GROUP BY t.id, " +
			"t.name, t.city",
			"Number of courses by teacher and teacher city.", "beside another column"},
		{"SELECT name, count(*) FROM teachers GROUP BY name", "Number of teachers by name.",
			"a name alone need not be one of a teacher"},
		{"SELECT teacher_id, count(*) FROM courses GROUP BY teacher_id", "Number of courses by teacher.", "a key alone"},
		{"SELECT c.title, count(*) FROM courses c JOIN enrolments e USING (course_id) GROUP BY c.course_id, c.title",
			"Number of enrolments by course.", "USING"},
		{"SELECT count(*) FROM depots, trucks WHERE depots.id = trucks.depot_id AND depots.city = 'Oslo'",
			"Number of trucks, where depot city is “Oslo”.", "tables behind a comma"},
		{"SELECT sum(i.amount) FROM invoices i JOIN invoice_lines l ON l.invoice_id = i.id",
			"Total invoice amount of invoice lines.", "a join that repeats"},
		{"SELECT count(i.id) FROM invoices i JOIN invoice_lines l ON l.invoice_id = i.id", "Number of invoice lines.",
			"the same key several times"},
		{"SELECT count(DISTINCT i.id) FROM invoices i JOIN invoice_lines l ON l.invoice_id = i.id",
			"Number of different invoices with invoice lines.", "each key once"},
		{"SELECT a.last_name, count(*) FROM actors a JOIN film_actor fa ON fa.actor_id = a.actor_id GROUP BY a.actor_id, " +
			"a.last_name",
			"Number of film actors by actor.", "a linking table has no key of the other one"},
		{"SELECT c.name, sum(o.total) FROM customers c JOIN orders o ON o.customer_id = c.id JOIN payments p " +
			"ON p.customer_id = c.id GROUP BY 1",
			"", "each row of one side with each of the other"},
		{"SELECT t.name, sum(m.goals) FROM teams t JOIN matches m ON m.home_team_id = t.id GROUP BY t.id, t.name",
			"Total goals of matches by home team.", "a role"},
		{"SELECT count(*) FROM patients p JOIN labs l ON l.id = p.id",
			"Number of pairs of patients and labs, where lab id is the patient id.",
			"two ids need not be of the same thing"},
		{"SELECT c.colour FROM animals a JOIN colour c ON c.id = a.eye_colour_id WHERE a.name = 'x'",
			"Eye colour of animals, where name is “x”.",
			"a role that ends in the name of the table"},
		{"SELECT c.title FROM pupils p JOIN class c ON c.class_id = p.link_to_class WHERE p.age > 9",
			"Class title of pupils, where age is above 9.",
			"a reference without a role"},
		{"SELECT d.name, d.beds, count(*) FROM depts d JOIN nurses n ON n.dept_id = d.id GROUP BY d.id ORDER BY 3 DESC " +
			"LIMIT 1",
			"Department beds and number of nurses by department; only the highest.", "a column of which a group has one value"},
		{`SELECT count(*) FROM nurses WHERE town = "Oslo"`, "Number of nurses, where town is “Oslo”.",
			"SQLite reads a text in double quotes"},
		{`SELECT name FROM nurses WHERE "town" = "home"`, "", "or a column"},
		{"SELECT p.name, count(*) FROM patients p LEFT JOIN visits v ON v.patient_id = p.id GROUP BY p.id, p.name",
			"Number of visits by patient, counting 1 where there are no visits.", "a row of nothing counts"},
		{"SELECT p.name, count(p.id) FROM patients p LEFT JOIN visits v ON v.patient_id = p.id GROUP BY p.id, p.name",
			"Number of visits by patient, counting 1 where there are no visits.", "its key counts too"},
		{"SELECT p.name, count(v.id) FROM patients p LEFT JOIN visits v ON v.patient_id = p.id GROUP BY p.id, p.name",
			"Number of visits by patient, also where there are no visits.", "and here it does not"},
		{"SELECT p.name, count(v.id) FROM patients p LEFT JOIN visits v ON v.patient_id = p.id WHERE v.ward = 'A' " +
			"GROUP BY p.id, p.name",
			"Number of visits by patient, where ward is “A”.", "a condition makes the join an inner one"},

		{"SELECT name FROM patients p LEFT JOIN visits v ON v.patient_id = p.id AND v.visited_at >= '2024-01-01' " +
			"WHERE v.id IS NULL",
			"Name of patients without visits since 2024.", "an anti-join with a condition"},
		{"SELECT name FROM patients WHERE id NOT IN (SELECT v.patient_id FROM visits v WHERE v.ward = 'A')",
			"Name of patients without visits where ward is “A”.", "NOT IN"},
		{"SELECT name FROM patients p WHERE NOT EXISTS (SELECT * FROM visits WHERE visits.patient_id = p.id)",
			"Name of patients without visits.", "NOT EXISTS"},
		{"SELECT count(*) FROM patients WHERE id IN (SELECT patient_id FROM visits)", "Number of patients with visits.",
			"IN"},
		{"SELECT count(*) FROM drivers WHERE id NOT IN (SELECT owner_id FROM vehicles)",
			"Number of drivers that are not the owner of vehicles.", "a role"},
		{"SELECT count(*) FROM trips WHERE driver_id IN (SELECT id FROM drivers WHERE city = 'Oslo')",
			"Number of trips of drivers where city is “Oslo”.", "the other way"},
		{"SELECT name FROM airports WHERE code NOT IN (SELECT origin FROM flights)",
			"Name of airports, where code is not among the origins of flights.", "no key"},

		{"SELECT count(*) FROM patients WHERE is_insured AND NOT has_allergies",
			"Number of patients that are insured without allergies.", "flags"},
		{`SELECT count(*) FROM "Patient" WHERE "IsInsured" = 0`, "Number of patients that are not insured.", "0 is no"},
		{"SELECT count(*) FROM rooms WHERE active = 'Y' AND floor = 1",
			"Number of rooms that are active, where floor is exactly 1.", "a letter, and a number"},
		{"SELECT count(*) FROM shipments WHERE delivered IS NOT TRUE", "Number of shipments that are not delivered.",
			"IS NOT TRUE"},
		{"SELECT count(*) FROM users WHERE newsletter", "Number of users marked newsletter.", "a noun"},
		{"SELECT count(*) FROM stays s JOIN patients p ON p.id = s.patient_id WHERE p.is_smoker AND NOT s.private",
			"Number of stays that are not private, where patient is a smoker.", "flags of two tables"},
		{"SELECT founded, count(*) FROM clubs GROUP BY founded", "Number of clubs by founded.", "a year"},
		{"SELECT paid, count(*) FROM orders GROUP BY paid", "Number of orders by paid or not.", "a flag"},
		{"SELECT is_smoker, count(*) FROM patients GROUP BY is_smoker", "Number of patients by whether smoker or not.",
			"a group of a flag"},
		{"SELECT avg(is_smoker), sum(is_smoker) FROM patients",
			"Share of patients that are smokers and number of patients that are smokers.", "the average of a flag"},
		{"SELECT sum(paid) FROM invoices", "Sum of paid of invoices.", "an amount, or a flag"},
		{"SELECT name FROM rooms WHERE id = 1", "Name of rooms with id 1.", "a key is no flag"},
		{"SELECT avg(value) FROM readings WHERE sensor_id = 1", "Average value of readings of sensor 1.",
			"nor is a reference"},
		{"SELECT name FROM users WHERE email IS NULL AND phone IS NOT NULL",
			"Name of users without email, where phone is known.", "missing and known"},

		{"SELECT ward, round(100.0 * count(*) / (SELECT count(*) FROM stays), 1) FROM stays GROUP BY ward",
			"Share of stays in percent by ward.", "a share"},
		{"SELECT ward, 100.0 * sum(cost) / (SELECT sum(cost) FROM stays) FROM stays GROUP BY ward",
			"Share of the total cost of stays in percent by ward.", "of a sum"},
		{"SELECT ward, 1.0 * count(*) / (SELECT count(*) FROM stays) FROM stays WHERE year = 2024 GROUP BY ward", "",
			"a part of another whole"},
		{"SELECT avg(CASE WHEN status = 'late' THEN 1 ELSE 0 END) FROM stays", "Share of stays where status is “late”.",
			"a share of cases"},
		{"SELECT count(CASE WHEN status = 'late' THEN 1 ELSE 0 END) FROM stays", "", "0 counts as well"},
		{"SELECT avg(CASE WHEN status = 'late' THEN 1 END) FROM stays", "", "an average of ones"},
		{"SELECT min(price), max(price) FROM meals", "Lowest price and highest price of meals.", "two ends"},
		{"SELECT min(name) FROM meals", "Alphabetically first name of meals.", "an end of names"},
		{"SELECT ward, count(*), avg(cost) FROM stays WHERE paid GROUP BY ward ORDER BY 3 DESC LIMIT 2",
			"Number and average cost of stays that are paid by ward; the 2 with the highest average cost.",
			"two measures of some rows"},
		{"SELECT name FROM pupils ORDER BY name DESC", "Name of pupils; name from Z to A.", "names have no highest one"},
		{"SELECT plate FROM trucks ORDER BY bought_on LIMIT 1", "Plate of trucks; only the one bought earliest.",
			"the earliest one"},
		{"SELECT id FROM bills WHERE total > 20 AND weight IN (1, 2)",
			"Id of bills, where total comes to more than 20 and weight is 1 or 2.",
			"an amount"},
		{"SELECT made_by, count(*) FROM parts GROUP BY made_by", "Number of parts by “made by”.", "a name that ends in by"},
		{"SELECT d.id, max(s.shipped_at), count(*) FROM depots d JOIN shipments s ON s.depot_id = d.id GROUP BY d.id " +
			"ORDER BY 2 DESC",
			"Latest time and number of shipments by depot; latest time first.", "the word of an end once"},
		{"SELECT name FROM pupils WHERE town = 'A' OR age > 9", "Name of pupils, where town is “A” or age is above 9.",
			"OR alone"},
		{"SELECT name FROM pupils WHERE (town = 'A' AND age > 9) OR town = 'B'",
			"Name of pupils, where town is “A” and age is above 9 or town is “B”.", "AND in brackets belongs together"},
		{"SELECT count(CASE WHEN v.id IS NULL THEN 1 END) FROM patients p LEFT JOIN visits v ON v.patient_id = p.id",
			"", "a table that is absent in one measure"},
		{"SELECT p.name, count(*) FROM patients p LEFT JOIN visits v ON v.patient_id = p.id GROUP BY p.name, v.id " +
			"HAVING v.id IS NULL",
			"", "and in HAVING"},
		{"SELECT count(*) FROM parcels p JOIN rates r ON r.code = p.code",
			"Number of pairs of parcels and rates, where rate code is the parcel code.", "two codes"},
		{"SELECT 1 FROM pupils", "", "a number"},
	} {
		if got := Sentence(sqltext.SQLite(), tt.sql); got != tt.want {
			t.Errorf("%s: %s\n got %q\nwant %q", tt.why, tt.sql, got, tt.want)
		}
	}
}

// TestSentenceTimes: a range has the bounds that the statement sets.
func TestSentenceTimes(t *testing.T) {
	for _, tt := range []struct{ where, want, why string }{
		{"departed_at >= '2024-01-01' AND departed_at < '2025-01-01'", " departed in 2024", "a year"},
		{"departed_at < '2025-01-01' AND seats > 3 AND departed_at >= '2024-01-01'",
			" departed in 2024, where seats is above 3", "apart, and in the other order"},
		{"departed_at >= '2024-02-01' AND departed_at < '2025-02-01'", " departed from February 2024 to January 2025",
			"months of two years"},
		{"departed_at >= '2024-03-01' AND departed_at < '2024-03-08'", " departed from 1 to 7 March 2024", "days"},
		{"departed_at BETWEEN '2024-05-01' AND '2024-05-31'", " departed from 1 May 2024 to 31 May 2024, 00:00",
			"the last day is cut"},
		{"departed_at >= '2024-05-01' AND departed_at <= '2024-05-31'", " departed from 1 May 2024 to 31 May 2024, 00:00",
			"in two conditions"},
		{"departed_at BETWEEN '2024-05-01' AND '2024-05-31 23:59:59'", " departed from 1 May 2024 to 31 May 2024, 23:59:59",
			"not quite the last day"},
		{"date(departed_at) BETWEEN '2024-05-01' AND '2024-05-31'", " departed in May 2024", "whole days"},
		{"date(departed_at) = '2024-05-01'", ", where departure time is on 1 May 2024", "one day"},
		{"trip_date BETWEEN '2024-05-01' AND '2024-05-31'", " in May 2024", "the day of the row itself"},
		{"due_date BETWEEN '2024-05-01' AND '2024-05-30'", ", where due date is from 1 to 30 May 2024", "another day"},
		{"due_date >= '2024-05-01'", ", where due date is May 2024 or later", "a beginning"},
		{"departed_at > '2024-05-01'", " departed after 1 May 2024, 00:00", "behind a moment"},
		{"departed_at < '2024-05-02'", " departed before 2 May 2024", "an end"},
		{"departed_at >= '2024-05-01 08:30:00'", " departed since 1 May 2024, 08:30", "a time of the day"},
		{"strftime('%Y', departed_at) = '2024'", " departed in 2024", "a part of a time"},
		{"CAST(strftime('%Y', departed_at) AS INTEGER) >= 2023", " departed since 2023", "as a number"},
		{"strftime('%Y-%m', departed_at) = '2024-05'", " departed in May 2024", "a month"},
		{"strftime('%m', departed_at) = '05'", ", where departure month of the year is May", "of every year"},
		{"departed_at >= date('now', '-30 days')", " departed since 30 days ago", "told from now"},
		{"date(departed_at) = date('now')", ", where departure day is today", "today"},
		{"departed_at < datetime('now')", " departed before now", "now"},
		{"due_date <= CURRENT_DATE - INTERVAL 1 MONTH", ", where due date is up to 1 month ago", "an interval"},
		{"due_date < CURRENT_DATE - INTERVAL '2 weeks'", ", where due date is before 2 weeks ago", "in quotes"},
		{"departed_at BETWEEN '2024-05-01' AND '2024-05-31' OR seats = 2",
			", where departure time is from 1 May 2024 to 31 May 2024, 00:00 or seats is 2", "beside OR"},
	} {
		sql := "SELECT count(*) FROM trips WHERE " + tt.where
		if got, want := Sentence(sqltext.SQLite(), sql), "Number of trips"+tt.want+"."; got != want {
			t.Errorf("%s: %s\n got %q\nwant %q", tt.why, sql, got, want)
		}
	}
	for _, tt := range []struct {
		d         sqltext.Dialect
		sql, want string
	}{
		{sqltext.SQLite(), "SELECT count(*) FROM trips WHERE departed_at >= date('now', 'start of month')", ""},
		{sqltext.SQLite(), "SELECT count(*) FROM trips WHERE due_date <= date('now', '7 days')", ""}, // that is to come
		{sqltext.SQLite(), "SELECT count(*) FROM trips WHERE due_date <= date('now', '+7 days')", ""},
		{sqltext.PostgreSQL(), "SELECT count(*) FROM trips WHERE due_date <= CURRENT_DATE - INTERVAL '-7 days'", ""},
		{sqltext.PostgreSQL(), "SELECT count(*) FROM trips WHERE due_date <= CURRENT_DATE + INTERVAL '7 days'", ""},
		{sqltext.PostgreSQL(), "SELECT count(*) FROM trips WHERE trip_date <> CURRENT_DATE", ""},
		{sqltext.PostgreSQL(), "SELECT to_char(t.departed_at, 'YYYY-MM') m, sum(t.km) FROM trips t GROUP BY 1 ORDER BY 1",
			"Total km of trips by departure month."},
		{sqltext.PostgreSQL(), "SELECT date_trunc('week', admitted_at)::date, count(*) FROM admissions GROUP BY 1",
			"Number of admissions by week."},
		{sqltext.PostgreSQL(), "SELECT extract(month FROM born_on), count(*) FROM pupils GROUP BY 1",
			"Number of pupils by birth month of the year."},
		{sqltext.MySQL(), "SELECT DATE_FORMAT(hired_on, '%Y-%m') AS m, count(*) FROM nurses GROUP BY m",
			"Number of nurses by hire month."},
		{sqltext.MySQL(), "SELECT YEAR(`HireDate`) AS y, COUNT(*) FROM `Nurse` GROUP BY y", "Number of nurses by hire year."},
		{sqltext.SQLite(), "SELECT substr(taken_on, 1, 7), avg(result) FROM lab_results GROUP BY 1",
			"Average result of lab results by taken month."},
		{sqltext.SQLite(), "SELECT substr(code, 1, 4), count(*) FROM parcels GROUP BY 1", ""},
		{sqltext.SQLite(), "SELECT max(departed_at), min(km) FROM trips", "Latest departure time and lowest km of trips."},
		{sqltext.SQLite(), "SELECT max(visited_at) FROM visits", "Latest time of visits."},
		{sqltext.SQLite(), "SELECT max(price_per_day) FROM cars", "Highest price per day of cars."},
		{sqltext.SQLite(), "SELECT name FROM cars ORDER BY price_per_day DESC LIMIT 1",
			"Name of cars; only the one with the highest price per day."},
		{sqltext.SQLite(), "SELECT min(\"BirthDate\") FROM \"Pupils\"", "Earliest birth date of pupils."},
		{sqltext.SQLite(), "SELECT max(lap_time) FROM laps", "Highest lap time of laps."},
		{sqltext.PostgreSQL(), "SELECT name FROM pupils ORDER BY points DESC FETCH FIRST 3 ROWS ONLY",
			"Name of pupils; the 3 with the highest points."},
	} {
		if got := Sentence(tt.d, tt.sql); got != tt.want {
			t.Errorf("%s\n got %q\nwant %q", tt.sql, got, tt.want)
		}
	}
}

// TestDifferences: what all do is left out.
func TestDifferences(t *testing.T) {
	for _, tt := range []struct {
		all, want []string
		why       string
	}{
		{[]string{"SELECT count(*) FROM orders WHERE status = 'shipped'", "SELECT count(*) FROM orders"},
			[]string{"Orders where status is “shipped”", "All orders"}, "a condition"},
		{[]string{"SELECT c.name, count(*) FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.name",
			"SELECT c.name, sum(p.amount) FROM customers c JOIN payments p ON p.customer_id = c.id GROUP BY c.name"},
			[]string{"Customers by number of orders", "Customers by total amount of payments"}, "payments, not orders"},
		{[]string{"SELECT max(amount) FROM sales", "SELECT day FROM sales ORDER BY amount DESC LIMIT 1", "SELECT 1 + 1"},
			[]string{"Highest amount of sales", "Day of sales; only the one with the highest amount", ""}, "silence about one"},
		{[]string{"SELECT max(amount) FROM sales", "SELECT 1 + 1"}, []string{"Highest amount of sales", ""},
			"nothing to compare with"},
		{[]string{"SELECT age FROM pupils", "SELECT age FROM pupils"}, []string{"Age of pupils", "Age of pupils"},
			"no difference in words"},
		{[]string{"SELECT count(*) FROM trips WHERE cancelled", "SELECT count(*) FROM trips WHERE departed_at IS NULL"},
			[]string{"Trips that are cancelled", "Trips without departure time"}, "two conditions"},
		{[]string{"SELECT avg(cost) FROM stays", "SELECT avg(cost) FROM treatments"}, []string{"Stays", "Treatments"},
			"two tables"},
		{[]string{"SELECT ward, count(*) FROM stays GROUP BY ward ORDER BY 2 DESC",
			"SELECT ward, sum(cost) FROM stays GROUP BY ward ORDER BY 2 DESC"},
			[]string{"Wards by number of stays", "Wards by total cost of stays"}, "two measures"},
		{[]string{"SELECT ward, count(*) OVER () FROM stays", "SELECT count(*) FROM stays"},
			[]string{"", "Number of stays"}, "one that cannot be read"},
		{[]string{"SELECT strftime('%Y-%m', admitted_on), count(*) FROM stays GROUP BY 1",
			"SELECT strftime('%Y', admitted_on), count(*) FROM stays GROUP BY 1"},
			[]string{"By admission month", "By admission year"}, "two grains"},
		{[]string{"SELECT name FROM drivers ORDER BY hired_on LIMIT 5",
			"SELECT name FROM drivers ORDER BY hired_on DESC LIMIT 5"},
			[]string{"The 5 hired earliest", "The 5 hired latest"}, "two directions"},
		{[]string{"SELECT ward, count(*) FROM stays GROUP BY ward HAVING count(*) > 5",
			"SELECT ward, count(*) FROM stays GROUP BY ward HAVING count(*) >= 5"},
			[]string{"Only where it is above 5", "Only where it is at least 5"}, "two limits"},
	} {
		if diff := cmp.Diff(tt.want, DescribeDifferences(sqltext.SQLite(), tt.all)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

// FuzzSentence: no text breaks the reader.
func FuzzSentence(f *testing.F) {
	f.Add("SELECT a FROM t WHERE a IN (1, 'x') GROUP BY 1 ORDER BY b DESC LIMIT 3")
	f.Fuzz(func(t *testing.T, sql string) {
		DescribeDifferences(sqltext.PostgreSQL(), []string{sql, "SELECT a FROM t"})
		Sentence(sqltext.MySQL(), sql)
	})
}
