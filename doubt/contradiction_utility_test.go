package doubt_test

import "testing"

// utility is a database of a fifth trade: dates of two kinds, rates by unit, net and tax apart.
const utility = `
CREATE TABLE customers (customer_no INTEGER PRIMARY KEY, first_name TEXT NOT NULL, last_name TEXT NOT NULL, city TEXT NOT NULL,
	segment TEXT NOT NULL,
	joined_on TEXT NOT NULL, left_on TEXT, paperless INTEGER NOT NULL, email TEXT, referred_by INTEGER REFERENCES customers(customer_no));
CREATE TABLE meters (meter_id INTEGER PRIMARY KEY, customer_no INTEGER NOT NULL REFERENCES customers(customer_no), kind TEXT NOT NULL,
	serial TEXT NOT NULL UNIQUE,
	installed_on TEXT NOT NULL, removed_on TEXT, smart INTEGER NOT NULL, location TEXT);
CREATE TABLE readings (reading_id INTEGER PRIMARY KEY, meter_id INTEGER NOT NULL REFERENCES meters(meter_id), read_at TEXT NOT NULL,
	kwh REAL, estimated INTEGER NOT NULL);
CREATE TABLE tariffs (tariff_code TEXT PRIMARY KEY, label TEXT NOT NULL, cents_per_kwh REAL NOT NULL, base_fee REAL NOT NULL,
	valid_from TEXT NOT NULL, valid_to TEXT);
CREATE TABLE invoices (invoice_id INTEGER PRIMARY KEY, customer_no INTEGER NOT NULL REFERENCES customers(customer_no),
	tariff_code TEXT NOT NULL REFERENCES tariffs(tariff_code),
	issued_on TEXT NOT NULL, due_on TEXT NOT NULL, paid_on TEXT, net REAL NOT NULL, vat REAL NOT NULL, state TEXT NOT NULL);
CREATE TABLE complaints (complaint_id INTEGER PRIMARY KEY, customer_no INTEGER NOT NULL REFERENCES customers(customer_no),
	opened_at TEXT NOT NULL, solved_at TEXT,
	topic TEXT NOT NULL, channel TEXT NOT NULL, score INTEGER);
INSERT INTO customers VALUES (1,'Ada','Berg','Oslo','private','2019-03-01',NULL,1,'ada@x.no',NULL),(2,'Bo','Dahl','Bergen','business',
	'2020-07-15',NULL,0,NULL,1),
	(3,'Cai','Eide','Oslo','private','2021-01-20','2024-02-29',1,'cai@x.no',1),(4,'Dag','Foss','Tromso','public','2022-11-05',NULL,0,
	'dag@x.no',NULL),
	(5,'Eva','Berg','Bergen','private','2023-12-31',NULL,1,NULL,2),(6,'Fia','Gran','Oslo','business','2024-04-02',NULL,1,'fia@x.no',NULL);
INSERT INTO meters VALUES (1,1,'power','P-1','2019-03-05',NULL,1,'cellar'),(2,1,'water','W-1','2019-03-05','2023-06-30',0,NULL),(3,2,
	'power','P-2','2020-07-20',NULL,0,'hall'),
	(4,3,'gas','G-1','2021-02-01','2024-03-01',0,'cellar'),(5,4,'power','P-3','2022-11-10',NULL,1,'roof'),(6,5,'heat','H-1','2024-01-10',
	NULL,1,NULL),(7,6,'power','P-4','2024-04-10',NULL,1,'cellar');
INSERT INTO readings VALUES (1,1,'2024-01-01 00:00:00',120.5,0),(2,1,'2024-02-01 00:00:00',98.0,0),(3,1,'2024-03-01 00:00:00',101.2,1),(4,
	3,'2023-12-31 23:00:00',340.0,0),
	(5,3,'2024-01-31 23:00:00',355.5,1),(6,4,'2023-11-01 00:00:00',80.0,0),(7,5,'2024-05-05 12:00:00',77.7,0),(8,6,'2024-05-06 12:00:00',
	NULL,0),(9,7,'2024-06-01 08:00:00',15.0,0);
INSERT INTO tariffs VALUES ('G1','Green fixed',32.5,9.9,'2023-01-01',NULL),('S1','Spot',24.1,4.9,'2022-06-01',NULL),('O1','Old standard',
	19.9,12.5,'2015-01-01','2023-12-31'),('B1','Business',21.0,29.0,'2021-01-01',NULL);
INSERT INTO invoices VALUES (1,1,'G1','2024-01-31','2024-02-14','2024-02-10',80.0,20.0,'paid'),(2,1,'G1','2024-02-29','2024-03-14',
	'2024-03-20',64.0,16.0,'paid'),
	(3,2,'B1','2024-01-31','2024-02-14',NULL,400.0,100.0,'overdue'),(4,3,'O1','2023-12-31','2024-01-14','2024-01-14',120.0,30.0,'paid'),(5,4,
	'S1','2024-05-31','2024-06-30',NULL,240.0,60.0,'open'),
	(6,5,'S1','2024-05-31','2024-06-14',NULL,50.0,12.5,'open'),(7,6,'B1','2024-05-31','2024-06-14','2024-06-01',90.0,22.5,'paid'),(8,2,'B1',
	'2024-02-29','2024-03-14',NULL,380.0,95.0,'cancelled');
INSERT INTO complaints VALUES (1,1,'2024-02-01 09:00:00','2024-02-03 10:00:00','bill','phone',4),(2,2,'2024-03-01 14:30:00',NULL,'outage',
	'mail',NULL),(3,2,'2023-10-05 08:00:00','2023-10-05 09:30:00','bill','chat',2),
	(4,3,'2024-01-10 11:11:00','2024-02-20 11:11:00','meter','phone',1),(5,5,'2024-06-10 16:00:00',NULL,'bill','chat',NULL);`

// TestRightAnswersOfAUtility: a right answer has no contradiction.
func TestRightAnswersOfAUtility(t *testing.T) {
	said := sayings(t, utility)
	for _, tt := range [][2]string{
		{"How many smart meters are installed?", "SELECT count(*) FROM meters WHERE smart = 1 AND removed_on IS NULL"},
		{"How many customers do we have right now?", "SELECT count(*) FROM customers WHERE left_on IS NULL"},
		{"customers who left in 2024", "SELECT first_name, last_name FROM customers WHERE strftime('%Y', left_on) = '2024'"},
		{"new customers per year", "SELECT strftime('%Y', joined_on) AS year, count(*) FROM customers GROUP BY year " +
			"ORDER BY year"},
		{"Who joined on New Year's Eve 2023?", "SELECT first_name, last_name FROM customers WHERE joined_on = '2023-12-31'"},
		{"customers without an e-mail address", "SELECT first_name, last_name FROM customers WHERE email IS NULL"},
		{"private customers in Oslo or Bergen",
			"SELECT first_name, last_name, city FROM customers WHERE segment = 'private' AND city IN ('Oslo', 'Bergen')"},
		{"Which cities have at least two customers?",
			"SELECT city, count(*) FROM customers GROUP BY city HAVING count(*) >= 2"},
		{"customers outside Oslo", "SELECT first_name, last_name, city FROM customers WHERE city <> 'Oslo'"},
		{"Who was referred by Ada Berg?",
			"SELECT c.first_name, c.last_name FROM customers c JOIN customers r ON r.customer_no = c.referred_by " +
				"WHERE r.first_name = 'Ada' " +
				"AND r.last_name = 'Berg'"},
		{"How many customers came by referral?", "SELECT count(*) FROM customers WHERE referred_by IS NOT NULL"},
		{"who refers the most?",
			"SELECT r.first_name, r.last_name, count(*) AS referrals FROM customers c JOIN customers r " +
				"ON r.customer_no = c.referred_by GROUP " +
				"BY r.customer_no ORDER BY referrals DESC LIMIT 1"},
		{"share of paperless customers in percent", "SELECT 100.0 * avg(paperless) FROM customers"},
		{"paperless vs. paper customers", "SELECT paperless, count(*) FROM customers GROUP BY paperless"},
		{"customers that share a last name", "SELECT last_name, count(*) FROM customers GROUP BY last_name " +
			"HAVING count(*) > 1"},
		{"meters by kind", "SELECT kind, count(*) FROM meters GROUP BY kind"},
		{"power meters still in use", "SELECT meter_id, serial FROM meters WHERE kind = 'power' AND removed_on IS NULL"},
		{"meters installed before 2020", "SELECT serial FROM meters WHERE installed_on < '2020-01-01'"},
		{"meters not in the cellar", "SELECT serial, location FROM meters WHERE location <> 'cellar' OR location IS NULL"},
		{"how long was each removed meter in service, in days",
			"SELECT serial, julianday(removed_on) - julianday(installed_on) FROM meters WHERE removed_on IS NOT NULL"},
		{"the oldest meter that is still installed",
			"SELECT serial, installed_on FROM meters WHERE removed_on IS NULL ORDER BY installed_on LIMIT 1"},
		{"meters without any reading", "SELECT serial FROM meters m LEFT JOIN readings r ON r.meter_id = m.meter_id " +
			"WHERE r.reading_id IS NULL"},
		{"last reading of every meter", "SELECT m.serial, max(r.read_at) FROM meters m JOIN readings r " +
			"ON r.meter_id = m.meter_id GROUP BY m.meter_id"},
		{"total consumption in January 2024", "SELECT sum(kwh) FROM readings WHERE read_at >= '2024-01-01' " +
			"AND read_at < '2024-02-01'"},
		{"kWh per month in 2024",
			"SELECT strftime('%Y-%m', read_at) AS month, sum(kwh) FROM readings WHERE read_at >= '2024-01-01' " +
				"AND read_at < '2025-01-01' " +
				"GROUP BY month ORDER BY month"},
		{"measured (not estimated) readings above 100 kWh",
			"SELECT reading_id, kwh FROM readings WHERE estimated = 0 AND kwh > 100"},
		{"readings with a missing value", "SELECT reading_id FROM readings WHERE kwh IS NULL"},
		{"average reading by meter kind", "SELECT m.kind, avg(r.kwh) FROM readings r JOIN meters m " +
			"ON m.meter_id = r.meter_id GROUP BY m.kind"},
		{"consumption per customer, highest first",
			"SELECT c.customer_no, c.last_name, sum(r.kwh) AS total FROM customers c JOIN meters m " +
				"ON m.customer_no = c.customer_no JOIN " +
				"readings r ON r.meter_id = m.meter_id GROUP BY c.customer_no ORDER BY total DESC"},
		{"which share of readings is estimated?", "SELECT 1.0 * sum(estimated) / count(*) FROM readings"},
		{"current tariffs", "SELECT label FROM tariffs WHERE valid_to IS NULL OR valid_to >= date('now')"},
		{"the cheapest tariff per kWh today", "SELECT label, cents_per_kwh FROM tariffs WHERE valid_to IS NULL " +
			"ORDER BY cents_per_kwh LIMIT 1"},
		{"price per kWh of Spot in euros", "SELECT cents_per_kwh / 100.0 FROM tariffs WHERE label = 'Spot'"},
		{"tariffs with a base fee under 10", "SELECT label, base_fee FROM tariffs WHERE base_fee < 10"},
		{"tariffs nobody was billed for this year",
			"SELECT label FROM tariffs WHERE tariff_code NOT IN (SELECT tariff_code FROM invoices " +
				"WHERE issued_on >= '2024-01-01')"},
		{"unpaid invoices", "SELECT invoice_id FROM invoices WHERE paid_on IS NULL AND state <> 'cancelled'"},
		{"invoices paid late", "SELECT invoice_id FROM invoices WHERE paid_on > due_on"},
		{"invoices that were paid on time", "SELECT invoice_id FROM invoices WHERE paid_on <= due_on"},
		{"overdue amount by customer",
			"SELECT c.last_name, sum(i.net + i.vat) FROM invoices i JOIN customers c ON c.customer_no = i.customer_no " +
				"WHERE i.paid_on IS NULL " +
				"AND i.due_on < '2024-06-15' AND i.state <> 'cancelled' GROUP BY c.customer_no"},
		{"gross revenue in the first quarter of 2024",
			"SELECT sum(net + vat) FROM invoices WHERE issued_on BETWEEN '2024-01-01' AND '2024-03-31' " +
				"AND state <> 'cancelled'"},
		{"net revenue per month this year", "SELECT strftime('%Y-%m', issued_on) AS m, sum(net) FROM invoices " +
			"WHERE issued_on >= '2024-01-01' GROUP BY m"},
		{"What did we invoice in May?", "SELECT sum(net + vat) FROM invoices WHERE issued_on >= '2024-05-01' " +
			"AND issued_on < '2024-06-01'"},
		{"VAT in percent of net", "SELECT 100.0 * sum(vat) / sum(net) FROM invoices"},
		{"invoices due in the next 30 days", "SELECT invoice_id, due_on FROM invoices WHERE due_on BETWEEN '2024-06-15' " +
			"AND '2024-07-15'"},
		{"invoices due this month that are still open",
			"SELECT invoice_id FROM invoices WHERE due_on >= '2024-06-01' AND due_on < '2024-07-01' AND state = 'open'"},
		{"average days until payment", "SELECT avg(julianday(paid_on) - julianday(issued_on)) FROM invoices " +
			"WHERE paid_on IS NOT NULL"},
		{"biggest invoice of each customer", "SELECT customer_no, max(net + vat) FROM invoices GROUP BY customer_no"},
		{"three largest invoices", "SELECT invoice_id, net FROM invoices ORDER BY net DESC LIMIT 3"},
		{"customers with more than one invoice", "SELECT customer_no, count(*) FROM invoices GROUP BY customer_no " +
			"HAVING count(*) > 1"},
		{"customers who have never received an invoice",
			"SELECT first_name, last_name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM invoices i " +
				"WHERE i.customer_no = c.customer_no)"},
		{"did anybody pay on the due date?", "SELECT count(*) > 0 FROM invoices WHERE paid_on = due_on"},
		{"invoices above the average net amount", "SELECT invoice_id, net FROM invoices WHERE net > (SELECT avg(net) " +
			"FROM invoices)"},
		{"running total of net by issue date",
			"SELECT issued_on, sum(net) OVER (ORDER BY issued_on, invoice_id) FROM invoices ORDER BY issued_on, invoice_id"},
		{"rank customers by net revenue", "SELECT customer_no, rank() OVER (ORDER BY sum(net) DESC) FROM invoices " +
			"GROUP BY customer_no"},
		{"complaints per topic and channel", "SELECT topic, channel, count(*) FROM complaints GROUP BY topic, channel"},
		{"open complaints older than a month", "SELECT complaint_id FROM complaints WHERE solved_at IS NULL " +
			"AND opened_at < '2024-05-15'"},
		{"complaints solved the same day", "SELECT complaint_id FROM complaints WHERE date(solved_at) = date(opened_at)"},
		{"complaints solved within two days", "SELECT complaint_id FROM complaints " +
			"WHERE julianday(solved_at) - julianday(opened_at) <= 2"},
		{"average score of phone complaints", "SELECT avg(score) FROM complaints WHERE channel = 'phone'"},
		{"channels with an average score below 3", "SELECT channel, avg(score) FROM complaints GROUP BY channel " +
			"HAVING avg(score) < 3"},
		{"How many complaints have no score?", "SELECT count(*) FROM complaints WHERE score IS NULL"},
		{"complaints about bills or meters", "SELECT complaint_id, topic FROM complaints WHERE topic IN ('bill', 'meter')"},
		{"complaints not about bills", "SELECT complaint_id, topic FROM complaints WHERE topic <> 'bill'"},
		{"Which customers complained more than once?",
			"SELECT customer_no FROM complaints GROUP BY customer_no HAVING count(*) > 1"},
		{"customers with both a complaint and an unpaid invoice",
			"SELECT DISTINCT c.first_name, c.last_name FROM customers c JOIN complaints k ON k.customer_no = c.customer_no " +
				"JOIN invoices i ON " +
				"i.customer_no = c.customer_no WHERE i.paid_on IS NULL AND i.state <> 'cancelled'"},
		{"complaints opened on a weekend", "SELECT complaint_id FROM complaints WHERE strftime('%w', opened_at) IN ('0', " +
			"'6')"},
		{"at what hour do most complaints come in?",
			"SELECT strftime('%H', opened_at) AS hour, count(*) AS n FROM complaints GROUP BY hour ORDER BY n DESC LIMIT 1"},
		{"complaints in the last 12 months", "SELECT count(*) FROM complaints WHERE opened_at >= '2023-06-15'"},
		{"complaints this year compared with last year",
			"SELECT strftime('%Y', opened_at) AS y, count(*) FROM complaints WHERE opened_at >= '2023-01-01' GROUP BY y"},
		{"Business customers' average invoice, gross",
			"SELECT avg(i.net + i.vat) FROM invoices i JOIN customers c ON c.customer_no = i.customer_no " +
				"WHERE c.segment = 'business'"},
		{"number of different tariffs used in 2024",
			"SELECT count(DISTINCT tariff_code) FROM invoices WHERE issued_on >= '2024-01-01'"},
		{"list customers alphabetically by last name",
			"SELECT last_name, first_name FROM customers ORDER BY last_name, first_name"},
		{"who has been with us the longest?", "SELECT first_name, last_name FROM customers WHERE left_on IS NULL " +
			"ORDER BY joined_on LIMIT 1"},
		{"customers that joined after Bo Dahl",
			"SELECT first_name, last_name FROM customers WHERE joined_on > (SELECT joined_on FROM customers " +
				"WHERE first_name = 'Bo' AND " +
				"last_name = 'Dahl')"},
		{"all Bergs", "SELECT first_name, last_name FROM customers WHERE last_name = 'Berg'"},
		{"median net amount", "SELECT net FROM invoices ORDER BY net LIMIT 1 OFFSET (SELECT (count(*) - 1) / 2 " +
			"FROM invoices)"},
		{"revenue of the two biggest customers", "SELECT customer_no, sum(net) AS s FROM invoices GROUP BY customer_no " +
			"ORDER BY s DESC LIMIT 2"},
		{"percentage of invoices by state", "SELECT state, 100.0 * count(*) / (SELECT count(*) FROM invoices) " +
			"FROM invoices GROUP BY state"},
		{"invoices excluding cancelled ones", "SELECT count(*) FROM invoices WHERE state <> 'cancelled'"},
		{"half of the readings of meter P-1", "SELECT kwh / 2 FROM readings r JOIN meters m ON m.meter_id = r.meter_id " +
			"WHERE m.serial = 'P-1'"},
		{"meters whose location we do not know", "SELECT serial FROM meters WHERE location IS NULL"},
		{"Ada's meters", "SELECT m.serial FROM meters m JOIN customers c ON c.customer_no = m.customer_no " +
			"WHERE c.first_name = 'Ada'"},
		{"which tariff does Fia Gran have?",
			"SELECT DISTINCT t.label FROM invoices i JOIN tariffs t ON t.tariff_code = i.tariff_code JOIN customers c " +
				"ON c.customer_no = " +
				"i.customer_no WHERE c.first_name = 'Fia' AND c.last_name = 'Gran'"},
		{"last names starting with B", "SELECT last_name FROM customers WHERE last_name LIKE 'B%'"},
		{"last names that contain an e", "SELECT last_name FROM customers WHERE last_name LIKE '%e%'"},
		{"e-mail addresses ending in .no", "SELECT email FROM customers WHERE email LIKE '%.no'"},
		{"contracts ending in 2024", "SELECT first_name FROM customers WHERE left_on LIKE '2024%'"},
		{"serial numbers starting with P", "SELECT serial FROM meters WHERE serial LIKE 'P-%'"},
		{"meters whose serial includes P", "SELECT serial FROM meters WHERE serial LIKE '%P%'"},
		{"late payments", "SELECT invoice_id FROM invoices WHERE paid_on > due_on"},
		{"late payers", "SELECT DISTINCT customer_no FROM invoices WHERE due_on < paid_on"},
		{"invoices that are late", "SELECT invoice_id FROM invoices WHERE paid_on IS NULL AND due_on < date('now')"},
		{"Which invoices were paid early?", "SELECT invoice_id FROM invoices WHERE paid_on < due_on"},
		{"invoices not paid late", "SELECT invoice_id FROM invoices WHERE paid_on <= due_on"},
		{"share of invoices that were paid late", "SELECT 100.0 * sum(paid_on > due_on) / count(*) FROM invoices"},
		{"invoices issued late in 2023", "SELECT invoice_id FROM invoices WHERE issued_on >= '2023-10-01' " +
			"AND issued_on < '2024-01-01'"},
		{"weekday complaints", "SELECT complaint_id FROM complaints WHERE strftime('%w', opened_at) NOT IN ('0', '6')"},
		{"weekend complaints", "SELECT complaint_id FROM complaints WHERE strftime('%w', opened_at) IN ('6', '0')"},
		{"weekend versus weekday complaints",
			"SELECT CASE WHEN strftime('%w', opened_at) IN ('0', '6') THEN 'weekend' ELSE 'weekday' END AS d, count(*) " +
				"FROM complaints GROUP BY d"},
		{"net revenue", "SELECT sum(net) FROM invoices"},
		{"gross revenue", "SELECT sum(net + vat) FROM invoices"},
		{"gross revenue including VAT of paid invoices",
			"SELECT sum(net) + sum(vat) FROM invoices WHERE paid_on IS NOT NULL"},
		{"gross margin", "SELECT sum(net) FROM invoices"},
		{"net and gross revenue", "SELECT sum(net), sum(net + vat) FROM invoices"},
		{"revenue excluding VAT", "SELECT sum(net) FROM invoices"},
		{"net amount and VAT per invoice", "SELECT invoice_id, net, vat FROM invoices"},
		{"open complaints", "SELECT complaint_id FROM complaints WHERE solved_at IS NULL"},
		{"open and solved complaints", "SELECT complaint_id, solved_at IS NOT NULL FROM complaints"},
		{"tariffs that are no longer valid", "SELECT label FROM tariffs WHERE valid_to IS NOT NULL"},
		{"expired tariffs", "SELECT label FROM tariffs WHERE valid_to < '2024-06-15'"},
		{"customers on expired tariffs",
			"SELECT DISTINCT c.last_name FROM customers c JOIN invoices i ON i.customer_no = c.customer_no JOIN tariffs t " +
				"ON t.tariff_code = " +
				"i.tariff_code WHERE t.valid_to < '2024-06-15' AND c.left_on IS NULL"},
		{"customers who no longer have a meter",
			"SELECT last_name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM meters m WHERE m.customer_no = c.customer_no " +
				"AND m.removed_on IS NULL)"},
		{"customers from Z to A", "SELECT last_name FROM customers ORDER BY last_name DESC"},
		{"customers from A to Z", "SELECT last_name FROM customers ORDER BY last_name"},
		{"How many customers share a last name?",
			"SELECT count(*) FROM customers WHERE last_name IN (SELECT last_name FROM customers GROUP BY last_name " +
				"HAVING count(*) > 1)"},
		{"How many tariffs are more than 20 percent above Spot?",
			"SELECT count(*) FROM tariffs WHERE cents_per_kwh > 1.2 * (SELECT cents_per_kwh FROM tariffs WHERE label = 'Spot')"},
		{"What share of customers is paperless?", "SELECT avg(paperless) FROM customers"},
		{"percentage of smart meters", "SELECT 100.0 * count(CASE WHEN smart = 1 THEN 1 END) / count(*) FROM meters"},
		{"customers with more than one meter", "SELECT customer_no FROM meters GROUP BY customer_no HAVING count(*) > 1"},
		{"customers with more than one meter", "SELECT customer_no FROM meters GROUP BY customer_no HAVING count(*) >= 2"},
		{"customers with at least two invoices", "SELECT customer_no FROM invoices GROUP BY customer_no HAVING count(*) > 1"},
		{"customers that joined more than 3 years ago with several invoices",
			"SELECT c.customer_no FROM customers c JOIN invoices i ON i.customer_no = c.customer_no " +
				"WHERE c.joined_on < date('2024-06-15', " +
				"'-3 years') GROUP BY c.customer_no HAVING count(*) > 1"},
		{"how many meters are installed at the moment", "SELECT count(*) FROM meters WHERE removed_on IS NULL"},
		{"meters installed in 2024 that are still there",
			"SELECT serial FROM meters WHERE installed_on >= '2024-01-01' AND removed_on IS NULL"},
		{"average price per kWh", "SELECT avg(cents_per_kwh) FROM tariffs"},
		{"customers who joined on a weekend", "SELECT first_name FROM customers WHERE strftime('%w', " +
			"joined_on) IN ('0','6')"},
		{"the last 3 invoices", "SELECT invoice_id FROM invoices ORDER BY issued_on DESC LIMIT 3"},
		{"first two customers", "SELECT first_name FROM customers ORDER BY joined_on LIMIT 2"},
		{"last 30 days of complaints", "SELECT complaint_id FROM complaints WHERE opened_at >= '2024-05-16' " +
			"ORDER BY opened_at"},
		{"invoices on the Spot tariff", "SELECT invoice_id FROM invoices WHERE tariff_code = 'S1'"},
		{"number of invoices per tariff",
			"SELECT t.label, count(*) FROM invoices i JOIN tariffs t ON t.tariff_code = i.tariff_code GROUP BY t.tariff_code, " +
				"t.label"},
		{"invoices per customer city",
			"SELECT c.city, count(*) FROM invoices i JOIN customers c ON c.customer_no = i.customer_no GROUP BY c.city"},
		{"readings per customer", "SELECT c.last_name, count(*) FROM readings r JOIN meters m ON m.meter_id = r.meter_id " +
			"JOIN customers c ON c.customer_no = m.customer_no GROUP BY c.customer_no, c.last_name"},
		{"total number of readings with kwh", "SELECT count(kwh) FROM readings"},
		{"invoices paid by the due date", "SELECT invoice_id FROM invoices WHERE paid_on <= due_on"},
		{"meters that are still in service", "SELECT serial FROM meters WHERE removed_on IS NULL"},
	} {
		if lines := said(tt[0], tt[1]); len(lines) > 0 {
			t.Errorf("%s\n\t%s\n\t%v", tt[0], tt[1], lines)
		}
	}
}

// TestPlantedFaultsOfAUtility: another answer has one.
func TestPlantedFaultsOfAUtility(t *testing.T) {
	said := sayings(t, utility)
	for _, tt := range [][2]string{
		{"How many smart meters are there?", "SELECT count(*) FROM meters WHERE smart = 0"},
		{"customers who left in 2024", "SELECT first_name FROM customers WHERE strftime('%Y', left_on) = '2023'"},
		{"customers without an e-mail address", "SELECT first_name FROM customers WHERE email IS NOT NULL"},
		{"private customers in Bergen", "SELECT first_name FROM customers WHERE segment = 'private' AND city = 'Oslo'"},
		{"business customers in Oslo", "SELECT first_name FROM customers WHERE segment = 'private' AND city = 'Oslo'"},
		{"Which cities have at least two customers?", "SELECT city FROM customers GROUP BY city HAVING count(*) > 2"},
		{"customers outside Oslo", "SELECT first_name FROM customers WHERE city = 'Oslo'"},
		{"meters installed before 2020", "SELECT serial FROM meters WHERE installed_on > '2020-01-01'"},
		{"meters still installed", "SELECT serial FROM meters WHERE removed_on IS NOT NULL"},
		{"the oldest meter", "SELECT serial FROM meters ORDER BY installed_on DESC LIMIT 1"},
		{"the three largest invoices", "SELECT invoice_id FROM invoices ORDER BY net DESC LIMIT 5"},
		{"the smallest invoice", "SELECT max(net) FROM invoices"},
		{"average score of phone complaints", "SELECT avg(score) FROM complaints WHERE channel = 'chat'"},
		{"total VAT in 2024", "SELECT avg(vat) FROM invoices WHERE issued_on >= '2024-01-01'"},
		{"kWh in January 2024", "SELECT sum(kwh) FROM readings WHERE read_at >= '2024-02-01' AND read_at < '2024-03-01'"},
		{"invoices paid late", "SELECT invoice_id FROM invoices WHERE paid_on < due_on"},
		{"unpaid invoices", "SELECT invoice_id FROM invoices WHERE paid_on IS NOT NULL"},
		{"invoices above 100 net", "SELECT invoice_id FROM invoices WHERE net < 100"},
		{"invoices between 50 and 100", "SELECT invoice_id FROM invoices WHERE net BETWEEN 50 AND 1000"},
		{"complaints not about bills", "SELECT complaint_id FROM complaints WHERE topic = 'bill'"},
		{"open complaints", "SELECT complaint_id FROM complaints WHERE solved_at IS NOT NULL"},
		{"complaints per channel", "SELECT topic, count(*) FROM complaints GROUP BY topic"},
		{"revenue per month", "SELECT strftime('%Y', issued_on), sum(net) FROM invoices GROUP BY 1"},
		{"number of different tariffs used", "SELECT count(tariff_code) FROM invoices"},
		{"number of different cities", "SELECT count(city) FROM customers"},
		{"customers who joined in the second quarter of 2024",
			"SELECT first_name FROM customers WHERE joined_on >= '2024-01-01' AND joined_on < '2024-04-01'"},
		{"customers who joined since 2022", "SELECT first_name FROM customers WHERE joined_on < '2022-01-01'"},
		{"estimated readings", "SELECT reading_id FROM readings WHERE estimated = 0"},
		{"paperless customers", "SELECT first_name FROM customers WHERE paperless = 0"},
		{"How many customers have never complained?",
			"SELECT count(*) FROM customers WHERE customer_no IN (SELECT customer_no FROM complaints)"},
		{"customers with more than one invoice", "SELECT customer_no FROM invoices GROUP BY customer_no HAVING count(*) > 0"},
		{"share of cancelled invoices in percent", "SELECT count(*) FROM invoices WHERE state = 'cancelled'"},
		{"cheapest tariff per kWh", "SELECT label FROM tariffs ORDER BY cents_per_kwh DESC LIMIT 1"},
		{"tariff with the lowest base fee", "SELECT label FROM tariffs ORDER BY base_fee DESC LIMIT 1"},
		{"invoices of Ada Berg",
			"SELECT i.invoice_id FROM invoices i JOIN customers c ON c.customer_no = i.customer_no WHERE c.first_name = 'Eva' " +
				"AND c.last_name " +
				"= 'Berg'"},
		{"complaints in the last 3 months", "SELECT complaint_id FROM complaints WHERE opened_at >= '2023-12-15'"},
		{"complaints this month", "SELECT complaint_id FROM complaints WHERE opened_at >= '2024-05-01' " +
			"AND opened_at < '2024-06-01'"},
		{"invoices issued last year", "SELECT invoice_id FROM invoices WHERE issued_on >= '2024-01-01' " +
			"AND issued_on < '2025-01-01'"},
		{"customers in Oslo and Bergen", "SELECT first_name FROM customers WHERE city = 'Oslo'"},
		{"readings in the second half of 2023", "SELECT reading_id FROM readings WHERE read_at >= '2023-01-01' " +
			"AND read_at < '2023-07-01'"},
		{"power meters", "SELECT serial FROM meters WHERE kind = 'gas'"},
		{"overdue invoices", "SELECT invoice_id FROM invoices WHERE state = 'open'"},
		{"complaints with a score of at most 2", "SELECT complaint_id FROM complaints WHERE score >= 2"},
		{"list customers by last name from Z to A", "SELECT last_name FROM customers ORDER BY last_name"},
		{"Which tariffs are no longer valid?", "SELECT label FROM tariffs WHERE valid_to IS NULL"},
		{"meters removed in 2023", "SELECT serial FROM meters WHERE installed_on >= '2023-01-01' " +
			"AND installed_on < '2024-01-01'"},
		{"invoices paid in February 2024", "SELECT invoice_id FROM invoices WHERE issued_on >= '2024-02-01' " +
			"AND issued_on < '2024-03-01'"},
		{"net revenue in 2024", "SELECT sum(net + vat) FROM invoices WHERE issued_on >= '2024-01-01'"},
		{"complaints by phone", "SELECT complaint_id FROM complaints WHERE channel = 'mail'"},
		{"e-mail addresses ending in .no", "SELECT email FROM customers WHERE email LIKE '.no%'"},
		{"customers referred by nobody", "SELECT first_name FROM customers WHERE referred_by IS NOT NULL"},
		{"top 5 customers by revenue", "SELECT customer_no, sum(net) AS s FROM invoices GROUP BY customer_no ORDER BY s " +
			"LIMIT 5"},
		{"How many invoices were not cancelled?", "SELECT count(*) FROM invoices WHERE state = 'cancelled'"},
		{"average consumption per reading without estimates", "SELECT avg(kwh) FROM readings WHERE estimated = 1"},
		{"weekend complaints", "SELECT complaint_id FROM complaints WHERE strftime('%w', opened_at) NOT IN ('0', '6')"},
		{"the last 3 invoices", "SELECT invoice_id FROM invoices ORDER BY issued_on LIMIT 3"},
		{"invoices on the Spot tariff", "SELECT invoice_id FROM invoices"},
		{"number of invoices per tariff",
			"SELECT c.last_name, count(*) FROM invoices i JOIN customers c ON c.customer_no = i.customer_no " +
				"GROUP BY c.customer_no, c.last_name"},
		{"total vat of paid invoices", "SELECT count(vat) FROM invoices WHERE state = 'paid'"},
		{"invoices paid after the due date", "SELECT invoice_id FROM invoices WHERE paid_on < due_on"},
		{"meters that are still in service", "SELECT serial FROM meters WHERE removed_on IS NOT NULL"},
	} {
		if lines := said(tt[0], tt[1]); len(lines) == 0 {
			t.Errorf("%s\n\t%s", tt[0], tt[1])
		}
	}
}
