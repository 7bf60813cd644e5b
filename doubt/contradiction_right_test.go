package doubt_test

import (
	"strings"
	"testing"
)

// freight is a database of which each question below has a right, careful answer.
const freight = `
CREATE TABLE carriers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, active INTEGER NOT NULL, terminated_on DATE);
CREATE TABLE depots (code TEXT PRIMARY KEY, city TEXT NOT NULL, capacity INTEGER);
CREATE TABLE trucks (id INTEGER PRIMARY KEY, plate TEXT NOT NULL, carrier_id INTEGER NOT NULL REFERENCES carriers(id),
	bought_on DATE, scrapped_on DATE, payload_kg INTEGER);
CREATE TABLE drivers (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, born DATE, licence TEXT,
	carrier_id INTEGER REFERENCES carriers(id), mentor_id INTEGER REFERENCES drivers(id));
CREATE TABLE shipments (id INTEGER PRIMARY KEY, truck_id INTEGER REFERENCES trucks(id), driver_id INTEGER REFERENCES drivers(id),
	origin TEXT REFERENCES depots(code), destination TEXT REFERENCES depots(code),
 picked_up_on DATE, delivered_on DATE, weight_kg REAL, price_cents INTEGER, state TEXT NOT NULL, express BOOLEAN);
CREATE TABLE claims (id INTEGER PRIMARY KEY, shipment_id INTEGER NOT NULL REFERENCES shipments(id), filed_on DATE, settled_on DATE, amount REAL, reason TEXT);
INSERT INTO carriers VALUES (1,'Norbert Trans','FR',1,NULL),(2,'Hauler AG','DE',1,NULL),(3,'Old Wheels','DE',0,'2022-01-01');
INSERT INTO depots VALUES ('HAM','Hamburg',100),('LYS','Lyon',50),('MIL','Milan',NULL);
INSERT INTO trucks VALUES (1,'A-1',1,'2019-01-01',NULL,12000),(2,'B-2',2,'2020-05-05',NULL,18000),(3,'C-3',2,'2015-03-03','2023-01-01',9000);
INSERT INTO drivers VALUES (1,'Lea','Roy','1980-01-01','CE',1,NULL),(2,'Max','Orb','1992-02-02','C',2,1),(3,'Tim','Roy',NULL,'CE',2,1);
INSERT INTO shipments VALUES (1,1,1,'LYS','HAM','2024-01-05','2024-01-07',900,120000,'delivered',0),
	(2,2,2,'HAM','MIL','2024-02-10','2024-02-12',1500,220000,'delivered',1),
(3,2,3,'HAM','LYS','2024-05-01',NULL,700,90000,'in transit',0),
	(4,1,1,'LYS','MIL','2023-11-11','2023-11-13',300,45000,'delivered',0),(5,NULL,NULL,'MIL','HAM',NULL,NULL,100,15000,'planned',1),
	(6,1,2,'LYS','HAM','2024-03-03','2024-03-08',800,99000,'lost',0);
INSERT INTO claims VALUES (1,6,'2024-03-20',NULL,5000,'lost'),(2,2,'2024-03-01','2024-04-01',200,'damage');`

// TestRightAnswers: a right answer has no contradiction, however the question is put.
func TestRightAnswers(t *testing.T) {
	said := sayings(t, freight)
	for _, tt := range [][2]string{
		{"How many carriers do we work with?", "SELECT count(*) FROM carriers WHERE active = 1"},
		{"carriers per country", "SELECT country, count(*) FROM carriers WHERE terminated_on IS NULL GROUP BY country"},
		{"Which depot receives the most shipments?",
			"SELECT d.city, count(*) AS n FROM shipments s JOIN depots d ON d.code = s.destination GROUP BY d.code, d.city " +
				"ORDER BY n DESC LIMIT 1"},
		{"undelivered shipments", "SELECT id FROM shipments WHERE delivered_on IS NULL"},
		{"shipments not yet delivered",
			"SELECT id, origin, destination FROM shipments WHERE delivered_on IS NULL AND state <> 'lost'"},
		{"drivers who never had a claim",
			"SELECT first_name, last_name FROM drivers d WHERE NOT EXISTS (SELECT 1 FROM shipments s JOIN claims c " +
				"ON c.shipment_id = s.id " +
				"WHERE s.driver_id = d.id)"},
		{"open claims", "SELECT id, filed_on, amount FROM claims WHERE settled_on IS NULL"},
		{"our trucks and who runs them",
			"SELECT t.plate, c.name FROM trucks t JOIN carriers c ON c.id = t.carrier_id WHERE t.scrapped_on IS NULL"},
		{"turnover in euros by month in 2024",
			"SELECT strftime('%Y-%m', picked_up_on) AS m, sum(price_cents) / 100.0 FROM shipments " +
				"WHERE picked_up_on >= '2024-01-01' AND " +
				"picked_up_on < '2025-01-01' GROUP BY m"},
		{"everything about shipment 3", "SELECT * FROM shipments WHERE id = 3"},
		{"names of drivers with a CE licence", "SELECT first_name, last_name FROM drivers WHERE licence = 'CE'"},
		{"shipments from Hamburg to Lyon", "SELECT id FROM shipments WHERE origin = 'HAM' AND destination = 'LYS'"},
		{"shipments from Hamburg to Lyon, by city",
			"SELECT s.id FROM shipments s JOIN depots a ON a.code = s.origin JOIN depots b ON b.code = s.destination " +
				"WHERE a.city = " +
				"'Hamburg' AND b.city = 'Lyon'"},
		{"how many shipments are light (under 500 kg), medium or heavy (over 1000 kg)?",
			"SELECT CASE WHEN weight_kg < 500 THEN 'light' WHEN weight_kg <= 1000 THEN 'medium' ELSE 'heavy' END AS class, " +
				"count(*) FROM " +
				"shipments GROUP BY class"},
		{"how many full pallets of 400 kg is each shipment?", "SELECT id, CAST(weight_kg / 400 AS INTEGER) FROM shipments"},
		{"shipments per quarter of 2024",
			"SELECT (CAST(strftime('%m', picked_up_on) AS INTEGER) + 2) / 3 AS q, count(*) FROM shipments " +
				"WHERE picked_up_on >= " +
				"'2024-01-01' GROUP BY q"},
		{"drivers and their mentors",
			"SELECT d.last_name, m.last_name FROM drivers d JOIN drivers m ON m.id = d.mentor_id"},
		{"drivers with their mentor, if they have one",
			"SELECT d.last_name, m.last_name FROM drivers d LEFT JOIN drivers m ON m.id = d.mentor_id"},
		{"build a list of carriers from Germany", "SELECT name FROM carriers WHERE country = 'DE'"},
		{"group drivers into juniors (born after 1990) and seniors",
			"SELECT CASE WHEN born > '1990-12-31' THEN 'junior' ELSE 'senior' END AS g, count(*) FROM drivers " +
				"WHERE born IS NOT NULL GROUP BY g"},
		{"compare the weight shipped in 2023 and 2024",
			"SELECT strftime('%Y', picked_up_on) AS y, sum(weight_kg) FROM shipments WHERE picked_up_on >= '2023-01-01' " +
				"AND picked_up_on < " +
				"'2025-01-01' GROUP BY y"},
		{"deliveries last month",
			"SELECT id FROM shipments WHERE delivered_on >= '2024-05-01' AND delivered_on < '2024-06-01'"},
		{"pickups this week",
			"SELECT id FROM shipments WHERE picked_up_on >= '2024-06-10' AND picked_up_on < '2024-06-17'"},
		{"claims filed in the last 6 months", "SELECT count(*) FROM claims WHERE filed_on >= '2023-12-15'"},
		{"top 3 carriers by weight",
			"SELECT c.name, sum(s.weight_kg) AS w FROM shipments s JOIN trucks t ON t.id = s.truck_id JOIN carriers c " +
				"ON c.id = " +
				"t.carrier_id GROUP BY c.id, c.name ORDER BY w DESC LIMIT 3"},
		{"the oldest truck still in use", "SELECT plate FROM trucks WHERE scrapped_on IS NULL ORDER BY bought_on LIMIT 1"},
		{"longest serving truck", "SELECT plate FROM trucks WHERE scrapped_on IS NULL ORDER BY bought_on LIMIT 1"},
		{"average price of a shipment in euros by origin",
			"SELECT origin, avg(price_cents) / 100 FROM shipments GROUP BY origin"},
		{"average weight of lost shipments", "SELECT avg(weight_kg) FROM shipments WHERE state = 'lost'"},
		{"which shipments are express?", "SELECT id FROM shipments WHERE express = 1"},
		{"express shipments in 2024 that were damaged",
			"SELECT s.id FROM shipments s JOIN claims c ON c.shipment_id = s.id WHERE s.express = 1 AND c.reason = 'damage' " +
				"AND " +
				"s.picked_up_on >= '2024-01-01'"},
		{"carriers with more than 1 truck",
			"SELECT c.name FROM carriers c JOIN trucks t ON t.carrier_id = c.id WHERE t.scrapped_on IS NULL GROUP BY c.id, " +
				"c.name HAVING " +
				"count(*) > 1"},
		{"share of shipments that got lost in percent", "SELECT 100.0 * sum(state = 'lost') / count(*) FROM shipments"},
		{"what percentage of the weight of 2024 went to Hamburg?",
			"SELECT 100.0 * sum(CASE WHEN destination = 'HAM' THEN weight_kg ELSE 0 END) / sum(weight_kg) FROM shipments " +
				"WHERE " +
				"picked_up_on BETWEEN '2024-01-01' AND '2024-12-31'"},
		{"How long does a delivery take on average?",
			"SELECT avg(julianday(delivered_on) - julianday(picked_up_on)) FROM shipments WHERE delivered_on IS NOT NULL"},
		{"shipments over 1 tonne", "SELECT id FROM shipments WHERE weight_kg > 1000"},
		{"shipments that took more than 3 days",
			"SELECT id FROM shipments WHERE julianday(delivered_on) - julianday(picked_up_on) > 3"},
		{"the heaviest shipment of each carrier",
			"SELECT c.name, max(s.weight_kg) FROM shipments s JOIN trucks t ON t.id = s.truck_id JOIN carriers c " +
				"ON c.id = t.carrier_id " +
				"GROUP BY c.id, c.name"},
		{"second heaviest shipment", "SELECT id FROM shipments ORDER BY weight_kg DESC LIMIT 1 OFFSET 1"},
		{"Who are the youngest and the oldest driver?",
			"SELECT last_name, born FROM drivers WHERE born = (SELECT max(born) FROM drivers) OR born = (SELECT min(born) " +
				"FROM drivers)"},
		{"How many different drivers drove for us in 2024?",
			"SELECT count(DISTINCT driver_id) FROM shipments WHERE picked_up_on >= '2024-01-01'"},
		{"number of trucks per carrier, including carriers without trucks",
			"SELECT c.name, count(t.id) FROM carriers c LEFT JOIN trucks t ON t.carrier_id = c.id AND t.scrapped_on IS NULL " +
				"WHERE c.active " +
				"= 1 GROUP BY c.id, c.name"},
		{"every depot with its capacity", "SELECT city, capacity FROM depots"},
		{"depots that have no capacity on record", "SELECT city FROM depots WHERE capacity IS NULL"},
		{"claims over 1000", "SELECT id FROM claims WHERE amount > 1000"},
		{"total claims paid in 2024",
			"SELECT sum(amount) FROM claims WHERE settled_on >= '2024-01-01' AND settled_on < '2025-01-01'"},
		{"shipments delivered before March 2024", "SELECT id FROM shipments WHERE delivered_on < '2024-03-01'"},
		{"shipments picked up after 1 February 2024", "SELECT id FROM shipments WHERE picked_up_on > '2024-02-01'"},
		{"shipments between January and March 2024",
			"SELECT id FROM shipments WHERE picked_up_on >= '2024-01-01' AND picked_up_on < '2024-04-01'"},
		{"is there any shipment to Milan?", "SELECT EXISTS (SELECT 1 FROM shipments WHERE destination = 'MIL')"},
		{"who drove shipment 2?",
			"SELECT d.first_name, d.last_name FROM shipments s JOIN drivers d ON d.id = s.driver_id WHERE s.id = 2"},
		{"latest delivery",
			"SELECT id, delivered_on FROM shipments WHERE delivered_on IS NOT NULL ORDER BY delivered_on DESC LIMIT 1"},
		{"unsettled claims older than 30 days",
			"SELECT id FROM claims WHERE settled_on IS NULL AND filed_on < '2024-05-16'"},
		{"drivers over 40", "SELECT last_name FROM drivers WHERE born <= '1984-06-15'"},
		{"shipments without a driver", "SELECT id FROM shipments WHERE driver_id IS NULL"},
		{"trucks that carried nothing in 2024",
			"SELECT plate FROM trucks t WHERE scrapped_on IS NULL AND NOT EXISTS (SELECT 1 FROM shipments s " +
				"WHERE s.truck_id = t.id AND " +
				"s.picked_up_on >= '2024-01-01')"},
		{"shipments that are neither delivered nor lost",
			"SELECT id FROM shipments WHERE state NOT IN ('delivered', 'lost')"},
		{"drivers who carried both express and normal shipments",
			"SELECT d.last_name FROM drivers d JOIN shipments s ON s.driver_id = d.id GROUP BY d.id, d.last_name " +
				"HAVING count(DISTINCT " +
				"s.express) = 2"},
		{"cities by number of outgoing shipments, most first",
			"SELECT d.city, count(*) AS n FROM depots d JOIN shipments s ON s.origin = d.code GROUP BY d.code, d.city " +
				"ORDER BY n DESC"},
		{"price per kg of each shipment", "SELECT id, price_cents / 100.0 / weight_kg FROM shipments"},
		{"total weight and total price per carrier",
			"SELECT c.name, sum(s.weight_kg), sum(s.price_cents) / 100.0 FROM shipments s JOIN trucks t ON t.id = s.truck_id " +
				"JOIN carriers " +
				"c ON c.id = t.carrier_id GROUP BY c.id, c.name"},
		{"shipments by state and month",
			"SELECT state, strftime('%Y-%m', picked_up_on) AS m, count(*) FROM shipments GROUP BY state, m"},
		{"former carriers", "SELECT name FROM carriers WHERE terminated_on IS NOT NULL"},
		{"delayed or lost shipments",
			"SELECT id FROM shipments WHERE state = 'lost' OR julianday(delivered_on) - julianday(picked_up_on) > 4"},
		{"yearly number of claims", "SELECT strftime('%Y', filed_on) AS y, count(*) FROM claims GROUP BY y"},
		{"the 2 most recent claims", "SELECT id FROM claims ORDER BY filed_on DESC LIMIT 2"},
		{"payload of truck A-1", "SELECT payload_kg FROM trucks WHERE plate = 'A-1'"},
		{"trucks with a payload of at least 10 tons", "SELECT plate FROM trucks WHERE payload_kg >= 10000"},
		{"french carriers", "SELECT name FROM carriers WHERE country = 'FR'"},
		{"first shipment of 2024",
			"SELECT id FROM shipments WHERE picked_up_on >= '2024-01-01' ORDER BY picked_up_on LIMIT 1"},
	} {
		for _, line := range said(tt[0], tt[1]) {
			t.Errorf("%s\n   %s\n   %s", tt[0], tt[1], line)
		}
	}
}

// TestPlantedFaultsOfFreight: one fault each that a careful reader sees.
func TestPlantedFaultsOfFreight(t *testing.T) {
	said := sayings(t, freight)
	for _, tt := range [][2]string{
		{"Please give me the number of shipments that were picked up in May of 2024",
			"SELECT count(*) FROM shipments WHERE picked_up_on >= '2024-04-01' AND picked_up_on < '2024-05-01'"},
		{"Could you tell me which carriers are based in Germany?", "SELECT name FROM carriers WHERE country = 'FR'"},
		{"I need the carriers we no longer work with", "SELECT name FROM carriers WHERE active = 1"},
		{"shipments delivered late, i.e. after more than 3 days",
			"SELECT id FROM shipments WHERE julianday(delivered_on) - julianday(picked_up_on) > 5"},
		{"What was our turnover in euros in 2023?",
			"SELECT sum(price_cents) FROM shipments WHERE picked_up_on >= '2023-01-01' AND picked_up_on < '2024-01-01'"},
		{"What was our turnover in euros in 2023?",
			"SELECT sum(price_cents) / 100.0 FROM shipments WHERE picked_up_on >= '2024-01-01' AND picked_up_on < '2025-01-01'"},
		{"How many shipments went from Hamburg to Milan?",
			"SELECT count(*) FROM shipments WHERE origin = 'HAM' AND destination = 'LYS'"},
		{"shipments over 2 tonnes", "SELECT id FROM shipments WHERE weight_kg > 2"},
		{"lost shipments", "SELECT id FROM shipments WHERE state = 'delivered'"},
		{"shipments that are not express", "SELECT id FROM shipments WHERE express = 1"},
		{"express shipments", "SELECT id FROM shipments"},
		{"express shipments", "SELECT id FROM shipments WHERE express = 0"},
		{"claims per reason", "SELECT count(*) FROM claims"},
		{"settled claims", "SELECT id FROM claims WHERE settled_on IS NULL"},
		{"unsettled claims", "SELECT id FROM claims WHERE settled_on IS NOT NULL"},
		{"claims filed in March 2024", "SELECT id FROM claims WHERE settled_on >= '2024-03-01' " +
			"AND settled_on < '2024-04-01'"},
		{"the highest claim", "SELECT id, amount FROM claims ORDER BY amount LIMIT 1"},
		{"trucks with a payload of more than 10,000 kg", "SELECT plate FROM trucks WHERE payload_kg > 1000"},
		{"trucks with a payload of more than 10,000 kg", "SELECT plate FROM trucks WHERE payload_kg < 10000"},
		{"trucks bought before 2020", "SELECT plate FROM trucks WHERE bought_on > '2020-01-01'"},
		{"drivers without a mentor", "SELECT last_name FROM drivers WHERE mentor_id IS NOT NULL"},
		{"drivers of Hauler AG", "SELECT d.last_name FROM drivers d JOIN carriers c ON c.id = d.carrier_id " +
			"WHERE c.name = 'Norbert Trans'"},
		{"youngest driver", "SELECT last_name FROM drivers WHERE born IS NOT NULL ORDER BY born LIMIT 1"},
		{"drivers with a CE licence", "SELECT last_name FROM drivers WHERE licence = 'C'"},
		{"number of trucks by carrier", "SELECT t.carrier_id, sum(t.payload_kg) FROM trucks t GROUP BY t.carrier_id"},
		{"average weight per destination", "SELECT destination, sum(weight_kg) FROM shipments GROUP BY destination"},
		{"average weight per destination", "SELECT origin, avg(weight_kg) FROM shipments GROUP BY origin"},
		{"depots with a capacity of at least 50", "SELECT city FROM depots WHERE capacity > 50"},
		{"how many drivers have had a claim?",
			"SELECT count(*) FROM drivers d JOIN shipments s ON s.driver_id = d.id JOIN claims c ON c.shipment_id = s.id"},
		{"every carrier with its trucks, including those that have none",
			"SELECT c.name, t.plate FROM carriers c JOIN trucks t ON t.carrier_id = c.id"},
		{"five heaviest shipments", "SELECT id FROM shipments ORDER BY weight_kg DESC LIMIT 10"},
		{"shipments heavier than the average", "SELECT id FROM shipments WHERE weight_kg < (SELECT avg(weight_kg) " +
			"FROM shipments)"},
		{"monthly number of shipments", "SELECT strftime('%Y', picked_up_on) AS y, count(*) FROM shipments GROUP BY y"},
		{"shipments from last year", "SELECT id FROM shipments WHERE picked_up_on >= '2022-01-01' " +
			"AND picked_up_on < '2023-01-01'"},
		{"claims over 1000 that are still open", "SELECT id FROM claims WHERE amount > 1000 AND settled_on IS NOT NULL"},
		{"who drove shipment 2?", "SELECT d.last_name FROM shipments s JOIN drivers d ON d.id = s.driver_id WHERE s.id = 3"},
		{"which driver drove most kilograms?",
			"SELECT d.last_name FROM shipments s JOIN drivers d ON d.id = s.driver_id GROUP BY d.id, d.last_name " +
				"ORDER BY sum(s.weight_kg) LIMIT 1"},
	} {
		if found := said(tt[0], tt[1]); len(found) == 0 {
			t.Errorf("no contradiction is found: %s\n   %s", tt[0], tt[1])
		}
	}
}

// club is a database of members, their bills and races.
const club = `
CREATE TABLE plans (id INTEGER PRIMARY KEY, name TEXT NOT NULL, monthly_price_cents INTEGER NOT NULL);
CREATE TABLE members (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, country TEXT,
	joined_on DATE NOT NULL, plan_id INTEGER REFERENCES plans(id), birth_year INTEGER, death_year INTEGER);
CREATE TABLE bills (id INTEGER PRIMARY KEY, member_id INTEGER NOT NULL REFERENCES members(id), issued_on DATE NOT NULL,
	due_on DATE NOT NULL, paid_on DATE, shipped_on DATE, status TEXT NOT NULL, total REAL NOT NULL,
	shipping_cost REAL NOT NULL);
CREATE TABLE races (id INTEGER PRIMARY KEY, city TEXT NOT NULL, runtime_minutes INTEGER NOT NULL, weekday INTEGER NOT NULL,
	quarter INTEGER NOT NULL, edition INTEGER NOT NULL);
CREATE TABLE results (race_id INTEGER NOT NULL REFERENCES races(id), member_id INTEGER NOT NULL REFERENCES members(id),
	position INTEGER NOT NULL, rating REAL NOT NULL, PRIMARY KEY (race_id, member_id));
CREATE TABLE parcels (id INTEGER PRIMARY KEY, origin TEXT NOT NULL, destination TEXT NOT NULL, price REAL NOT NULL);
CREATE TABLE projects (id INTEGER PRIMARY KEY, name TEXT NOT NULL, start_date DATE NOT NULL, end_date DATE);
INSERT INTO plans VALUES (1,'Basic',1900),(2,'Plus',4900);
INSERT INTO members VALUES (1,'Ann','a@x','United States','2022-05-05',1,1950,2020),(2,'Bob','b@x','Austria','2023-03-03',2,1960,2021),
	(3,'Cid','c@x',NULL,'2024-05-09',1,1970,NULL);
INSERT INTO bills VALUES (1,1,'2022-06-01','2022-07-01','2022-06-09','2022-06-02','delivered',2000,5),
	(2,2,'2022-08-01','2022-09-01','2022-08-20','2022-08-02','shipped',50,5),(3,2,'2024-05-10','2024-06-20',NULL,NULL,'pending',2000,0),
	(4,3,'2024-05-20','2024-06-25',NULL,NULL,'processing',70,0),(5,1,'2023-12-05','2024-01-05','2024-01-04','2023-12-06','delivered',90,5);
INSERT INTO races VALUES (1,'Monaco',90,6,3,2023),(2,'Lyon',130,0,3,2023),(3,'Monaco',100,6,1,2024);
INSERT INTO results VALUES (1,1,1,4),(1,2,2,5),(1,3,3,3),(2,1,2,4),(3,2,3,5);
INSERT INTO parcels VALUES (1,'DE','US',9),(2,'FR','DE',8);
INSERT INTO projects VALUES (1,'Roof','2023-01-01','2024-01-01'),(2,'Pool','2024-02-02',NULL);`

// TestRightAnswersOfAClub: a right answer has no contradiction, and the fault that looks like it has one.
func TestRightAnswersOfAClub(t *testing.T) {
	said := sayings(t, club)
	const (
		bills = "SELECT count(*) FROM bills WHERE "
		month = "date(issued_on, 'start of month') "
		share = "SELECT 100.0 * sum(paid_on IS NOT NULL) / count(*) FROM bills WHERE "
	)
	for _, tt := range []struct{ why, question, statement, rules string }{
		// A bucket is a whole period, and not its first day.
		{"the bucket of a month", "How many bills were issued last month?", bills + month + "= '2024-05-01'", ""},
		{"the bucket of another month", "How many bills were issued last month?",
			bills + month + "= '2024-04-01'", "period"},
		{"a bucket of two", "bills issued between April and May 2024",
			bills + month + "BETWEEN '2024-04-01' AND '2024-05-01'", ""},
		{"a bucket of three", "bills issued between April and May 2024",
			bills + month + "BETWEEN '2024-04-01' AND '2024-06-01'",
			"time"},
		{"a bucket of a year", "bills issued last year", bills + "date(issued_on, 'start of year') = '2023-01-01'", ""},
		{"a day", "bills issued last month", bills + "issued_on = '2024-05-01'", "period"},
		{"a day beside a bucket", "bills issued last month",
			bills + month + "IS NOT NULL AND issued_on = '2024-05-01'", "period"},

		// Groups.
		{"a year and a month in one group", "revenue by year and month",
			"SELECT strftime('%Y-%m', issued_on) AS month, sum(total) FROM bills GROUP BY month", ""},
		{"one of two columns", "races by city and weekday", "SELECT city, count(*) FROM races GROUP BY city", "group"},
		{"a month in a condition", "December bills per year", "SELECT strftime('%Y', issued_on) AS y, count(*) FROM bills " +
			"WHERE strftime('%m', issued_on) = '12' GROUP BY y", ""},
		{"a month for a year", "bills per year", "SELECT strftime('%Y-%m', issued_on) AS m, count(*) FROM bills GROUP BY m",
			"group"},
		{"a month of any year for a year", "bills per year",
			"SELECT strftime('%m', issued_on) AS m, count(*) FROM bills GROUP BY m", "group"},
		{"yes or no of every one", "Does every member have an email?", "SELECT count(*) = count(email) FROM members", ""},
		{"yes or no of each", "Is every bill paid?", "SELECT count(*) = 0 FROM bills WHERE paid_on IS NULL", ""},
		{"a number of each", "bills of every member", "SELECT count(*) FROM bills", "group"},
		{"per in a name", "Which plan is the most expensive per month?",
			"SELECT name FROM plans ORDER BY monthly_price_cents DESC LIMIT 1", ""},
		{"per a unit", "highest price per kg", "SELECT max(price) FROM parcels", ""},
		{"per a column", "highest price per origin", "SELECT max(price) FROM parcels", "group"},

		// Negations that know NULL.
		{"not true", "bills that are not paid", bills + "(paid_on IS NOT NULL) IS NOT TRUE", ""},
		{"distinct from", "members not from Austria",
			"SELECT name FROM members WHERE country IS DISTINCT FROM 'Austria'", ""},
		{"is not", "members not from Austria", "SELECT name FROM members WHERE country IS NOT 'Austria'", ""},
		{"is", "members not from Austria", "SELECT name FROM members WHERE country IS 'Austria'", "negation"},
		{"the value itself", "members not from the United States",
			"SELECT name FROM members WHERE country = 'United States'",
			"negation"},
		{"a value that denies", "bills that are not delivered", bills + "status = 'undelivered'", ""},
		{"has one", "bills that are not paid", bills + "paid_on IS NOT NULL", "negation"},
		{"the states before", "Which bills have not shipped yet?",
			"SELECT id FROM bills WHERE status IN ('pending', 'processing')",
			""},
		{"the state itself", "Which bills have not shipped yet?",
			"SELECT id FROM bills WHERE status = 'shipped'", "negation"},
		{"a part is taken off", "revenue without shipping", "SELECT sum(total - shipping_cost) FROM bills", ""},
		{"no part is taken off", "revenue without shipping", "SELECT sum(total) FROM bills", "negation"},
		{"a look-up", "all bills of members from Austria",
			"SELECT b.id FROM bills b LEFT JOIN members m ON m.id = b.member_id WHERE m.country = 'Austria'", ""},
		{"a part of all", "all members with their bills",
			"SELECT m.name, b.id FROM members m LEFT JOIN bills b ON b.member_id = m.id WHERE b.total > 0", "including"},

		// States at a point in time.
		{"by a year", "How many members did we have by 2023?",
			"SELECT count(*) FROM members WHERE joined_on < '2024-01-01'", ""},
		{"by a day", "bills paid by 31 May 2024", bills + "paid_on <= '2024-05-31'", ""},
		{"at the end", "members at the end of 2023", "SELECT count(*) FROM members WHERE joined_on <= '2023-12-31'", ""},
		{"at the start", "members at the start of 2024", "SELECT count(*) FROM members WHERE joined_on < '2024-01-01'", ""},
		{"a balance", "balance on 31 May 2024", "SELECT sum(total) FROM bills WHERE issued_on <= '2024-05-31'", ""},
		{"in a year", "bills issued in 2023", bills + "issued_on < '2024-01-01'", "time"},
		{"by members", "bills by member in 2023",
			"SELECT member_id, count(*) FROM bills WHERE issued_on < '2024-01-01' GROUP BY member_id", "time"},

		// Amounts are not times.
		{"an amount like a year", "Which bills of 2000 euros are due this month?",
			"SELECT id FROM bills WHERE total = 2000 AND due_on >= '2024-06-01' AND due_on < '2024-07-01'", ""},
		{"an amount with a year", "bills of 2000 euros or more in 2024",
			"SELECT id FROM bills WHERE total >= 2000 AND issued_on >= '2024-01-01'", ""},
		{"an amount beside a year", "How many races under 200,000 were run in 2023?",
			"SELECT count(*) FROM races WHERE runtime_minutes < 200000 AND edition = 2023", ""},
		{"another year beside it", "How many races under 200,000 were run in 2023?",
			"SELECT count(*) FROM races WHERE runtime_minutes < 200000 AND edition = 2024", "time"},

		// Other words for a value.
		{"initials", "members in the US", "SELECT name FROM members WHERE country = 'United States'", ""},
		{"initials of another one", "members in the UK", "SELECT name FROM members WHERE country = 'Austria'", "unasked"},
		{"no initials", "show us a list of members", "SELECT name FROM members WHERE country = 'United States'", "unasked"},
		{"a letter", "A list of members", "SELECT name FROM members WHERE country = 'Austria'", "unasked"},
		{"an ordinal", "Who finished third in Monaco?",
			"SELECT m.name FROM results r JOIN members m ON m.id = r.member_id " +
				"JOIN races c ON c.id = r.race_id WHERE c.city = 'Monaco' AND r.position = 3", ""},
		{"an ordinal quarter", "races of the fourth quarter", "SELECT id FROM races WHERE quarter = 4", ""},
		{"no ordinal of a quarter", "races of the last season", "SELECT id FROM races WHERE quarter = 4", "unasked"},
		{"a day of the week", "races on Saturdays", "SELECT id FROM races WHERE weekday = 6", ""},
		{"no day of the week", "races in Monaco", "SELECT id FROM races WHERE city = 'Monaco' AND weekday = 6", "unasked"},
		{"a Monday", "bills issued on Monday", "SELECT id FROM bills WHERE issued_on >= '2024-06-10' AND " +
			"issued_on < '2024-06-11'", ""},

		// Shares.
		{"all were", "What percentage of the bills of 2022 were paid?", share + "issued_on >= '2022-01-01' AND " +
			"issued_on < '2023-01-01'", ""},

		// Figures.
		{"millions", "parcels of more than 50 Million grams", "SELECT id FROM parcels WHERE price > 50000000", ""},
		{"billions", "parcels over 2 bn", "SELECT id FROM parcels WHERE price > 2000000000", ""},
		{"other millions", "parcels over 50 mn", "SELECT id FROM parcels WHERE price > 50000", "number"},
		{"a discount", "parcel prices after a 7 percent discount", "SELECT price * 0.93 FROM parcels", ""},
		{"minutes of hours", "races longer than two hours",
			"SELECT city, runtime_minutes FROM races WHERE runtime_minutes > 120", ""},
		{"no minutes of hours", "average hours of a race", "SELECT avg(runtime_minutes) FROM races", "unit"},
		{"an overall rating", "overall rating of the races in Monaco",
			"SELECT avg(r.rating) FROM results r JOIN races c ON c.id = r.race_id WHERE c.city = 'Monaco'", ""},
		{"a total", "combined rating of the races in Monaco",
			"SELECT avg(r.rating) FROM results r JOIN races c ON c.id = r.race_id WHERE c.city = 'Monaco'", "average"},

		// Years that begin in another month.
		{"a fiscal year", "revenue in fiscal year 2024",
			"SELECT sum(total) FROM bills WHERE issued_on >= '2023-10-01' AND issued_on < '2024-10-01'", ""},
		{"a year", "revenue in 2024",
			"SELECT sum(total) FROM bills WHERE issued_on >= '2023-10-01' AND issued_on < '2024-10-01'", "time"},
		{"no fiscal year", "revenue in fiscal year 2024", "SELECT sum(total) FROM bills", "time"},

		// Others.
		{"codes of two countries", "parcels from Germany to the United States",
			"SELECT id FROM parcels WHERE origin = 'DE' AND destination = 'US'", ""},
		{"the code of another one", "parcels from Germany", "SELECT id FROM parcels WHERE origin = 'FR'", "country"},
		{"a verb for its column", "projects that had started by the end of 2024",
			"SELECT name FROM projects WHERE start_date <= '2024-12-31'", ""},
		{"a verb for another column", "projects that ended in 2024",
			"SELECT name FROM projects WHERE start_date >= '2024-01-01' AND start_date < '2025-01-01'", "column"},
		{"an age needs both years", "average age at death", "SELECT avg(death_year - birth_year) FROM members", ""},
		{"birthdays", "members' birthdays per month",
			"SELECT strftime('%m', joined_on) AS m, count(*) FROM members GROUP BY m", ""},
		{"a month of several years", "bills per month",
			"SELECT strftime('%m', issued_on) AS m, count(*) FROM bills GROUP BY m", "months"},
		{"a list of a list", "of the top 2 members by bills the 1 with the highest total",
			"SELECT member_id FROM (SELECT member_id, sum(total) AS t FROM bills GROUP BY member_id " +
				"ORDER BY count(*) DESC LIMIT 2) " +
				"ORDER BY t DESC LIMIT 1", ""},
		{"another list", "the top 2 members by bills",
			"SELECT member_id FROM bills GROUP BY member_id ORDER BY count(*) DESC LIMIT 3", "limit"},
	} {
		got := said(tt.question, tt.statement)
		if strings.Join(rulesOf(got), " ") != tt.rules {
			t.Errorf("%s: %s\n  %s\n  contradicts by %q, want %q", tt.why, tt.question, tt.statement, got, tt.rules)
		}
	}
}
