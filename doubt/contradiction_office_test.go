package doubt_test

import (
	"strings"
	"testing"
)

// office is a database of a company that rents out tools: things with several rows elsewhere, days, flags and states.
const office = `
CREATE TABLE branches (id INTEGER PRIMARY KEY, name TEXT NOT NULL, town TEXT NOT NULL);
CREATE TABLE clients (id INTEGER PRIMARY KEY, name TEXT NOT NULL, sex TEXT NOT NULL, country TEXT NOT NULL, town TEXT,
	birth_date DATE NOT NULL, since DATE NOT NULL);
CREATE TABLE couriers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, is_express BOOLEAN NOT NULL);
CREATE TABLE rentals (id INTEGER PRIMARY KEY, client_id INTEGER NOT NULL REFERENCES clients(id),
	branch_id INTEGER NOT NULL REFERENCES branches(id), courier_id INTEGER NOT NULL REFERENCES couriers(id),
	rented_on DATE NOT NULL, returned_on DATE, days INTEGER NOT NULL, total REAL NOT NULL, fee REAL NOT NULL,
	currency TEXT NOT NULL, state TEXT NOT NULL, pickup_town TEXT NOT NULL, drop_town TEXT NOT NULL);
CREATE TABLE tools (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL NOT NULL, stock INTEGER NOT NULL,
	weight_kg REAL NOT NULL);
CREATE TABLE bills (id INTEGER PRIMARY KEY, rental_id INTEGER NOT NULL REFERENCES rentals(id), paid_on DATE);
CREATE TABLE rental_tools (rental_id INTEGER NOT NULL REFERENCES rentals(id),
	tool_id INTEGER NOT NULL REFERENCES tools(id), quantity INTEGER NOT NULL, PRIMARY KEY (rental_id, tool_id));
INSERT INTO branches VALUES (1,'North','Graz'),(2,'South','Linz'),(3,'East','Wels');
INSERT INTO clients VALUES (1,'Ada','F','Poland','Graz','1950-02-03','2022-01-10'),
	(2,'Bo','M','Austria','Linz','1990-04-05','2023-02-11'),
	(3,'Cy','M','Poland','Graz','2001-06-07','2024-03-12'),(4,'Di','F','Austria',NULL,'1970-08-09','2024-04-13');
INSERT INTO couriers VALUES (1,'Swift',1),(2,'Mule',0);
INSERT INTO rentals VALUES (1,1,1,1,'2023-03-01','2023-03-04',3,90,10,'EUR','paid','Graz','Graz'),
	(2,1,2,2,'2024-02-05','2024-02-07',2,60,10,'CHF','paid','Linz','Graz'),
	(3,2,1,1,'2024-03-06',NULL,9,270,20,'EUR','open','Graz','Linz'),
	(4,2,1,2,'2024-03-09','2024-03-11',2,40,5,'EUR','paid','Wels','Wels'),
	(5,2,2,1,'2024-04-01',NULL,5,75,5,'EUR','open','Linz','Linz'),
	(6,3,2,2,'2024-05-02','2024-05-03',1,20,5,'CHF','paid','Graz','Wels');
INSERT INTO tools VALUES (1,'Drill',199,0,4),(2,'Saw',89,3,6),(3,'Ladder',140,7,11);
INSERT INTO bills VALUES (1,1,'2023-04-01'),(2,3,NULL);
INSERT INTO rental_tools VALUES (1,1,2),(1,2,1),(2,2,1),(3,1,1),(4,3,4),(5,2,2),(6,3,1);`

// contradictionsOfOffice holds answers over office against their questions.
func contradictionsOfOffice(t *testing.T, rows []struct{ why, question, statement, rules string }) {
	t.Helper()
	said := sayings(t, office)
	for _, tt := range rows {
		if got := said(tt.question, tt.statement); strings.Join(rulesOf(got), " ") != tt.rules {
			t.Errorf("%s: %s\n  %s\n  contradicts by %q, want %q", tt.why, tt.question, tt.statement, got, tt.rules)
		}
	}
}

// TestAliasesNameNothing: the name that a statement gives to a figure does not say what the figure is.
func TestAliasesNameNothing(t *testing.T) {
	contradictionsOfOffice(t, []struct{ why, question, statement, rules string }{
		{"a sum called average", "average fee per client",
			"SELECT client_id, sum(fee) AS average_fee FROM rentals GROUP BY client_id ORDER BY average_fee", "average"},
		{"an average", "average fee per client",
			"SELECT client_id, avg(fee) AS average_fee FROM rentals GROUP BY client_id ORDER BY average_fee", ""},
		{"an average of a query", "average fee of the clients", "WITH f AS (SELECT client_id, sum(fee) AS s FROM rentals " +
			"GROUP BY client_id) SELECT avg(s) AS average_fee FROM f ORDER BY average_fee", ""},
		{"other rows called open", "open rentals by currency", "SELECT currency, count(*) AS open_rentals FROM rentals " +
			"WHERE state = 'paid' GROUP BY currency ORDER BY open_rentals", "value unasked"},
		{"open ones", "open rentals by currency", "SELECT currency, count(*) AS open_rentals FROM rentals " +
			"WHERE state = 'open' GROUP BY currency ORDER BY open_rentals", ""},
		{"open ones by their date", "open rentals by currency", "SELECT currency, count(*) AS open_rentals FROM rentals " +
			"WHERE returned_on IS NULL GROUP BY currency ORDER BY open_rentals", ""},
	})
}

// TestShortWords: a not without its apostrophe, years to date, and those without something that are left out.
func TestShortWords(t *testing.T) {
	contradictionsOfOffice(t, []struct{ why, question, statement, rules string }{
		{"havent since", "clients who havent rented since May 2024", "SELECT c.name FROM clients c JOIN rentals r " +
			"ON r.client_id = c.id GROUP BY c.id, c.name HAVING max(r.rented_on) < '2024-05-01'", ""},
		{"since", "clients who rented since May 2024", "SELECT c.name FROM clients c JOIN rentals r " +
			"ON r.client_id = c.id WHERE r.rented_on < '2024-05-01'", "time"},
		{"havent", "clients who havent rented", "SELECT DISTINCT c.name FROM clients c JOIN rentals r ON r.client_id = c.id",
			"negation"},
		{"ytd", "fees ytd", "SELECT sum(fee) FROM rentals WHERE rented_on >= '2024-01-01'", ""},
		{"no ytd", "the total of the fees", "SELECT sum(fee) FROM rentals WHERE rented_on >= '2024-01-01'", "unasked"},
		{"those without", "How many clients are there by town, ignoring those without a town?",
			"SELECT town, count(*) FROM clients WHERE town IS NOT NULL GROUP BY town", ""},
		{"without", "How many clients without a town are there?", "SELECT count(*) FROM clients WHERE town IS NOT NULL",
			"negation"},
	})
}

// TestByWhom: by and a plural, or a flag, may say who did something.
func TestByWhom(t *testing.T) {
	const express = "SELECT count(*) FROM rentals r JOIN couriers k ON k.id = r.courier_id"
	contradictionsOfOffice(t, []struct{ why, question, statement, rules string }{
		{"by those with a flag", "How many rentals were there by express couriers?", express + " WHERE k.is_express = 1", ""},
		{"by a flag", "How many rentals were there by express?", express, "flag group"},
		{"by those from there", "number of rentals by clients from Poland", "SELECT count(*) FROM rentals r " +
			"JOIN clients c ON c.id = r.client_id WHERE c.country = 'Poland'", ""},
		{"by those of an age", "number of rentals by clients under 30", "SELECT count(*) FROM rentals r " +
			"JOIN clients c ON c.id = r.client_id WHERE c.birth_date > '1994-06-15'", ""},
		{"by each", "number of rentals by client from Poland", "SELECT count(*) FROM rentals r " +
			"JOIN clients c ON c.id = r.client_id WHERE c.country = 'Poland'", "group"},
	})
}

// TestEndsOfGroups: the first or the last of each group is a MIN or a MAX, however the groups are sorted.
func TestEndsOfGroups(t *testing.T) {
	const of = " FROM clients c JOIN rentals r ON r.client_id = c.id GROUP BY c.id, c.name ORDER BY "
	contradictionsOfOffice(t, []struct{ why, question, statement, rules string }{
		{"the first for the latest", "latest rental of each client", "SELECT c.name, min(r.rented_on) AS d" + of + "d DESC",
			"direction"},
		{"the latest", "latest rental of each client", "SELECT c.name, max(r.rented_on) AS d" + of + "d DESC", ""},
		{"the latest first", "latest rental of each client", "SELECT c.name, max(r.rented_on)" + of + "2", ""},
		{"the first for their last", "clients with their last rental", "SELECT c.name, min(r.rented_on)" + of + "c.name",
			"direction"},
		{"their last", "clients with their last rental", "SELECT c.name, max(r.rented_on)" + of + "c.name", ""},
		{"both", "clients with their first and last rental",
			"SELECT c.name, min(r.rented_on), max(r.rented_on)" + of + "c.name", ""},
		{"an order by another figure", "clients with the highest fees and since when they rent",
			"SELECT c.name, min(r.rented_on), sum(r.fee) AS f" + of + "f DESC", ""},
		{"an inner one", "latest rental of each client", "SELECT id, client_id FROM rentals r WHERE rented_on = " +
			"(SELECT min(x.rented_on) FROM rentals x WHERE x.client_id = r.client_id) ORDER BY id", "direction"},
		{"an average for the highest", "What is the highest price?", "SELECT avg(price) FROM tools", "average"},
		{"an average of each for the highest", "highest fee per client",
			"SELECT client_id, avg(fee) AS f FROM rentals GROUP BY client_id ORDER BY f", "average"},
		{"the highest average", "client with the highest average fee",
			"SELECT client_id, avg(fee) AS f FROM rentals GROUP BY client_id ORDER BY f DESC LIMIT 1", ""},
		{"rated by the average", "client with the highest fee",
			"SELECT client_id, avg(fee) AS f FROM rentals GROUP BY client_id ORDER BY f DESC LIMIT 1", ""},
	})
}

// TestBoundsOfOffice: bounds beside a number, in thousands, of a count and of an age.
func TestBoundsOfOffice(t *testing.T) {
	const often = "SELECT client_id FROM rentals WHERE rented_on >= '2024-01-01' GROUP BY client_id HAVING count(*) "
	contradictionsOfOffice(t, []struct{ why, question, statement, rules string }{
		{"a bound that is another one", "tools of 90 euros or more", "SELECT name FROM tools WHERE price >= 89", "number"},
		{"the same bound", "tools of 90 euros or more", "SELECT name FROM tools WHERE price > 89", ""},
		{"more than once", "clients who rented more than once in 2024", often + "> 2", "bound"},
		{"more than one", "clients who rented more than once in 2024", often + "> 1", ""},
		{"at least two", "clients who rented more than once in 2024", often + ">= 2", ""},
		{"thousands", "rentals with a total below 3k", "SELECT id FROM rentals WHERE total > 3000", "bound"},
		{"under thousands", "rentals with a total below 3k", "SELECT id FROM rentals WHERE total < 3000", ""},
		{"later than", "rentals returned later than 2 days after the rental", "SELECT id FROM rentals " +
			"WHERE julianday(returned_on) - julianday(rented_on) < 2", "bound"},
		{"an age", "clients older than 65", "SELECT name FROM clients WHERE birth_date > '1959-06-15'", "bound"},
		{"the age", "clients older than 65", "SELECT name FROM clients WHERE birth_date < '1959-06-15'", ""},
		{"a younger age", "clients under 30",
			"SELECT name FROM clients WHERE birth_date < date('now', '-30 years')", "bound"},
		{"the younger age", "clients under 30", "SELECT name FROM clients WHERE birth_date > date('now', '-30 years')", ""},
		{"an age in years", "clients older than 65",
			"SELECT name FROM clients WHERE (julianday('now') - julianday(birth_date)) / 365.25 > 65", ""},
		{"another number than an age", "minors with over 10 rentals", "SELECT c.name FROM clients c JOIN rentals r " +
			"ON r.client_id = c.id WHERE c.birth_date > '2006-06-15' GROUP BY c.id, c.name HAVING count(*) > 10", ""},
		{"both sides", "clients between 18 and 65", "SELECT name FROM clients " +
			"WHERE birth_date > '1959-06-15' AND birth_date <= '2006-06-15'", ""},
	})
}

// TestStatesOfOffice: what has not happened, or is out, and the adjectives of a code.
func TestStatesOfOffice(t *testing.T) {
	const saws = "FROM rentals r JOIN rental_tools x ON x.rental_id = r.id JOIN tools t ON t.id = x.tool_id WHERE t.name "
	contradictionsOfOffice(t, []struct{ why, question, statement, rules string }{
		{"paid for unpaid", "unpaid rentals before May 2024",
			"SELECT id FROM rentals WHERE state = 'paid' AND rented_on < '2024-05-01'", "negation"},
		{"unpaid", "unpaid rentals before May 2024",
			"SELECT id FROM rentals WHERE state <> 'paid' AND rented_on < '2024-05-01'", ""},
		{"unpaid and paid", "clients with unpaid rentals who also have a paid one",
			"SELECT client_id FROM rentals " +
				"WHERE state = 'paid' AND client_id IN (SELECT client_id FROM rentals WHERE state = 'open')", ""},
		{"not returned", "rentals not returned yet", "SELECT id FROM rentals WHERE returned_on IS NOT NULL " +
			"AND currency <> 'USD'", "negation"},
		{"those without a return", "rentals not returned yet", "SELECT id FROM rentals WHERE returned_on IS NULL", ""},
		{"a negation of it", "rentals not returned yet", "SELECT id FROM rentals WHERE NOT (returned_on IS NOT NULL)", ""},
		{"another state", "rentals without a saw", "SELECT r.id " + saws + "<> 'Saw'", "negation"},
		{"a state of its own", "rentals without open state", "SELECT id FROM rentals WHERE state <> 'open'", ""},
		{"without one by NOT IN", "rentals without a saw",
			"SELECT id FROM rentals WHERE id NOT IN (SELECT r.id " + saws + "= 'Saw')", ""},
		{"paid for outstanding", "outstanding bills", "SELECT id FROM bills WHERE paid_on IS NOT NULL", "opposite"},
		{"outstanding", "outstanding bills", "SELECT id FROM bills WHERE paid_on IS NULL", ""},
		{"out of stock", "tools out of stock", "SELECT name FROM tools WHERE stock > 0", "opposite"},
		{"nothing in stock", "tools out of stock", "SELECT name FROM tools WHERE stock = 0", ""},
		{"in stock", "tools in stock", "SELECT name FROM tools WHERE stock > 0", ""},
		{"equal towns", "rentals where pickup and drop town differ",
			"SELECT id FROM rentals WHERE pickup_town = drop_town", "opposite"},
		{"other towns", "rentals where pickup and drop town differ",
			"SELECT id FROM rentals WHERE pickup_town <> drop_town", ""},
		{"an adjective", "rentals of Polish clients",
			"SELECT r.id FROM rentals r JOIN clients c ON c.id = r.client_id WHERE c.country = 'Austria'", "country"},
		{"its country", "rentals of Polish clients",
			"SELECT r.id FROM rentals r JOIN clients c ON c.id = r.client_id WHERE c.country = 'Poland'", ""},
		{"men for women", "How many women are clients?", "SELECT count(*) FROM clients WHERE sex = 'M'", "country"},
		{"women", "How many women are clients?", "SELECT count(*) FROM clients WHERE sex = 'F'", ""},
		{"women and men", "more women than men?", "SELECT (SELECT count(*) FROM clients WHERE sex = 'F') > " +
			"(SELECT count(*) FROM clients WHERE sex = 'M')", ""},
		{"empty ones", "number of rentals per branch including empty ones", "SELECT b.name, count(r.id) FROM branches b " +
			"JOIN rentals r ON r.branch_id = b.id GROUP BY b.id, b.name", "including"},
		{"those with none", "branches and number of rentals in 2024, including those with none",
			"SELECT b.name, count(r.id) FROM branches b LEFT JOIN rentals r ON r.branch_id = b.id " +
				"WHERE r.rented_on >= '2024-01-01' GROUP BY b.id, b.name", "including"},
		{"those with none kept", "branches and number of rentals in 2024, including those with none",
			"SELECT b.name, count(r.id) FROM branches b LEFT JOIN rentals r ON r.branch_id = b.id " +
				"AND r.rented_on >= '2024-01-01' GROUP BY b.id, b.name", ""},
	})
}

// TestFiguresOfOffice: what is added up, counted, grouped and sorted by.
func TestFiguresOfOffice(t *testing.T) {
	contradictionsOfOffice(t, []struct{ why, question, statement, rules string }{
		{"rows for days", "days per client", "SELECT client_id, count(*) FROM rentals GROUP BY client_id", "average"},
		{"days", "days per client", "SELECT client_id, sum(days) FROM rentals GROUP BY client_id", ""},
		{"figures of which each is one", "totals per client",
			"SELECT client_id, count(*) FROM rentals GROUP BY client_id", ""},
		{"a number of rentals", "number of rentals with revenue per state",
			"SELECT state, count(fee) FROM rentals GROUP BY state", ""},
		{"things", "tools per rental", "SELECT rental_id, count(*) FROM rental_tools GROUP BY rental_id", ""},
		{"rows for pieces", "How many pieces of the Drill were rented?", "SELECT count(*) FROM rental_tools x " +
			"JOIN tools t ON t.id = x.tool_id WHERE t.name = 'Drill'", "average"},
		{"pieces", "How many pieces of the Drill were rented?", "SELECT sum(x.quantity) FROM rental_tools x " +
			"JOIN tools t ON t.id = x.tool_id WHERE t.name = 'Drill'", ""},
		{"a count for revenue", "revenue by state", "SELECT state, count(fee) FROM rentals GROUP BY state", "average"},
		{"revenue", "revenue by state", "SELECT state, sum(fee) FROM rentals GROUP BY state", ""},
		{"towns again", "How many towns do our clients come from?", "SELECT count(town) FROM clients", "count"},
		{"towns", "How many towns do our clients come from?", "SELECT count(DISTINCT town) FROM clients", ""},
		{"one of two groups", "fees per month and currency in 2024", "SELECT strftime('%Y-%m', rented_on) AS m, sum(fee) " +
			"FROM rentals WHERE rented_on >= '2024-01-01' GROUP BY m", "group"},
		{"two groups", "fees per month and currency in 2024",
			"SELECT strftime('%Y-%m', rented_on) AS m, currency, sum(fee) " +
				"FROM rentals WHERE rented_on >= '2024-01-01' GROUP BY m, currency", ""},
		{"a month and what is computed", "fees per month and total in 2024", "SELECT strftime('%Y-%m', rented_on) AS m, " +
			"sum(fee), sum(total) FROM rentals WHERE rented_on >= '2024-01-01' GROUP BY m", ""},
		{"days of the month", "On which weekday are most rentals?", "SELECT strftime('%d', rented_on) AS d, count(*) AS n " +
			"FROM rentals GROUP BY d ORDER BY n DESC LIMIT 1", "group"},
		{"days of the week", "On which weekday are most rentals?",
			"SELECT strftime('%w', rented_on) AS d, count(*) AS n " +
				"FROM rentals GROUP BY d ORDER BY n DESC LIMIT 1", ""},
		{"sorted by another column", "all clients sorted by name",
			"SELECT id, name FROM clients ORDER BY since", "direction"},
		{"sorted", "all clients sorted by name", "SELECT id, name FROM clients ORDER BY name", ""},
		{"sorted by its alias", "all clients sorted by name", "SELECT id, name AS client FROM clients ORDER BY client", ""},
		{"sorted by the name of another table", "rentals sorted by name", "SELECT r.id, c.name FROM rentals r " +
			"JOIN clients c ON c.id = r.client_id ORDER BY r.rented_on", ""},
		{"sorted by two", "all clients sorted by name", "SELECT id, name FROM clients ORDER BY country, name", ""},
		{"months of two columns", "clients whose birth month and month of joining differ", "SELECT name FROM clients " +
			"WHERE strftime('%m', birth_date) <> strftime('%m', since)", ""},
		{"a month of all years", "clients who joined in March", "SELECT name FROM clients " +
			"WHERE strftime('%m', since) = '03'", "months"},
		{"kg for tonnes", "tonnes of tools per name", "SELECT name, sum(weight_kg) FROM tools GROUP BY name", "unit"},
		{"tonnes", "tonnes of tools per name", "SELECT name, sum(weight_kg) / 1000.0 FROM tools GROUP BY name", ""},
	})
}
