package doubt_test

import "testing"

// diner is a database of a third trade: amounts in cents, marks of yes and no, a role in place of a table.
const diner = `
CREATE TABLE restaurants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, country CHAR(2) NOT NULL, opened DATE, closed DATE);
CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL,
	restaurant_id INTEGER NOT NULL REFERENCES restaurants(id), started DATE NOT NULL, ended DATE, hourly_wage NUMERIC);
CREATE TABLE dishes (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, price_cents INTEGER NOT NULL,
	vegan BOOLEAN NOT NULL, spiciness INTEGER);
CREATE TABLE orders (id INTEGER PRIMARY KEY, restaurant_id INTEGER NOT NULL REFERENCES restaurants(id),
	waiter_id INTEGER REFERENCES staff(id), ordered_at TIMESTAMP NOT NULL,
 paid_at TIMESTAMP, tip_cents INTEGER, channel TEXT NOT NULL, state TEXT NOT NULL);
CREATE TABLE order_lines (order_id INTEGER NOT NULL REFERENCES orders(id), dish_id INTEGER NOT NULL REFERENCES dishes(id),
	quantity INTEGER NOT NULL, discount_pct REAL, PRIMARY KEY (order_id, dish_id));
CREATE TABLE reviews (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id), stars INTEGER NOT NULL,
	posted_on DATE NOT NULL, comment TEXT);
INSERT INTO restaurants VALUES (1,'Roma','Rome','IT','2015-04-01',NULL),(2,'Lutetia','Paris','FR','2018-09-15',NULL),
	(3,'Tiber','Rome','IT','2010-01-01','2022-12-31'),(4,'Ostia','Milan','IT','2024-02-01',NULL);
INSERT INTO staff VALUES (1,'Gina','waiter',1,'2020-01-01',NULL,14),(2,'Ugo','cook',1,'2019-05-01',NULL,18),
	(3,'Jean','waiter',2,'2021-03-01','2024-01-31',15),(4,'Lea','waiter',2,'2022-03-01',NULL,16),(5,'Pia','cook',4,'2024-02-01',NULL,NULL),
	(6,'Gina','waiter',4,'2024-03-01',NULL,13);
INSERT INTO dishes VALUES (1,'Carbonara','pasta',1400,0,1),(2,'Arrabbiata','pasta',1200,1,4),(3,'Tiramisu','dessert',700,0,0),
	(4,'Ratatouille','main',1500,1,2),(5,'Sorbet','dessert',500,1,NULL);
INSERT INTO orders VALUES (1,1,1,'2024-01-10 12:30:00','2024-01-10 13:30:00',300,'table','served'),
	(2,1,1,'2024-02-14 19:30:00','2024-02-14 22:00:00',1000,'table','served'),(3,2,3,'2023-12-31 20:00:00','2024-01-01 00:30:00',500,'table','served'),
(4,2,4,'2024-05-20 12:00:00',NULL,NULL,'delivery','open'),(5,1,NULL,'2024-05-21 12:00:00','2024-05-21 12:00:00',NULL,'delivery','served'),
	(6,4,6,'2024-06-12 13:00:00','2024-06-12 14:00:00',150,'table','served'),(7,1,1,'2024-06-13 13:00:00',NULL,NULL,'pickup','voided'),
	(8,3,NULL,'2022-11-05 19:00:00','2022-11-05 21:00:00',0,'table','served');
INSERT INTO order_lines VALUES (1,1,2,NULL),(1,3,1,10),(2,2,1,NULL),(2,5,2,NULL),(3,4,2,NULL),(3,3,2,0),(4,4,1,NULL),(5,2,3,20),
	(6,1,1,NULL),(7,1,4,NULL),(8,2,1,NULL);
INSERT INTO reviews VALUES (1,1,5,'2024-01-11','great'),(2,2,3,'2024-02-15',NULL),(3,3,4,'2024-01-02','ok'),(4,6,1,'2024-06-13','cold');`

// TestRightAnswersOfADiner: a right answer has no contradiction.
func TestRightAnswersOfADiner(t *testing.T) {
	said := sayings(t, diner)
	for _, tt := range [][2]string{
		{"restaurants still open", "SELECT name FROM restaurants WHERE closed IS NULL"},
		{"closed restaurants", "SELECT name FROM restaurants WHERE closed IS NOT NULL"},
		{"italian restaurants", "SELECT name FROM restaurants WHERE country = 'IT'"},
		{"Which restaurants opened before 2016?", "SELECT name FROM restaurants WHERE opened < '2016-01-01'"},
		{"restaurants opened in the 2010s", "SELECT name FROM restaurants WHERE opened BETWEEN '2010-01-01' " +
			"AND '2019-12-31'"},
		{"who works at Roma?", "SELECT s.name FROM staff s JOIN restaurants r ON r.id = s.restaurant_id " +
			"WHERE r.name = 'Roma' AND s.ended IS NULL"},
		{"waiters and the number of orders they took",
			"SELECT s.name, count(o.id) FROM staff s LEFT JOIN orders o ON o.waiter_id = s.id WHERE s.role = 'waiter' " +
				"GROUP BY s.id, s.name"},
		{"waiters who took no order",
			"SELECT name FROM staff WHERE role = 'waiter' AND id NOT IN (SELECT waiter_id FROM orders " +
				"WHERE waiter_id IS NOT NULL)"},
		{"staff earning at least 15 an hour", "SELECT name FROM staff WHERE hourly_wage >= 15"},
		{"what does a cook earn on average?", "SELECT avg(hourly_wage) FROM staff WHERE role = 'cook'"},
		{"vegan dishes under 13 euros", "SELECT name FROM dishes WHERE vegan AND price_cents < 1300"},
		{"dishes that are not vegan", "SELECT name FROM dishes WHERE vegan = 0"},
		{"desserts, cheapest first", "SELECT name, price_cents / 100.0 FROM dishes WHERE category = 'dessert' " +
			"ORDER BY price_cents"},
		{"the three most ordered dishes",
			"SELECT d.name, sum(l.quantity) AS n FROM dishes d JOIN order_lines l ON l.dish_id = d.id JOIN orders o " +
				"ON o.id = l.order_id WHERE " +
				"o.state <> 'voided' GROUP BY d.id, d.name ORDER BY n DESC LIMIT 3"},
		{"spiciest dish", "SELECT name FROM dishes WHERE spiciness IS NOT NULL ORDER BY spiciness DESC LIMIT 1"},
		{"dishes never ordered", "SELECT name FROM dishes d WHERE NOT EXISTS (SELECT 1 FROM order_lines l " +
			"WHERE l.dish_id = d.id)"},
		{"orders on Valentine's day 2024", "SELECT id FROM orders WHERE date(ordered_at) = '2024-02-14'"},
		{"orders on New Year's Eve", "SELECT id FROM orders WHERE strftime('%m-%d', ordered_at) = '12-31'"},
		{"unpaid orders", "SELECT id FROM orders WHERE paid_at IS NULL AND state <> 'voided'"},
		{"orders that were neither delivered nor picked up", "SELECT id FROM orders WHERE channel = 'table'"},
		{"orders by channel", "SELECT channel, count(*) FROM orders GROUP BY channel"},
		{"orders per weekday and channel", "SELECT strftime('%w', ordered_at), channel, count(*) FROM orders GROUP BY 1, 2"},
		{"busiest hour of the day", "SELECT strftime('%H', ordered_at) AS h, count(*) AS n FROM orders GROUP BY h " +
			"ORDER BY n DESC LIMIT 1"},
		{"lunch orders (11 to 15)",
			"SELECT count(*) FROM orders WHERE CAST(strftime('%H', ordered_at) AS INTEGER) >= 11 AND CAST(strftime('%H', " +
				"ordered_at) AS INTEGER) < 15"},
		{"orders this month", "SELECT count(*) FROM orders WHERE ordered_at >= '2024-06-01' AND ordered_at < '2024-07-01'"},
		{"orders yesterday", "SELECT count(*) FROM orders WHERE ordered_at >= '2024-06-14' AND ordered_at < '2024-06-15'"},
		{"orders in the past two days", "SELECT count(*) FROM orders WHERE ordered_at >= '2024-06-13'"},
		{"how much was tipped in May?", "SELECT sum(tip_cents) / 100.0 FROM orders WHERE paid_at >= '2024-05-01' " +
			"AND paid_at < '2024-06-01'"},
		{"average tip per waiter", "SELECT s.name, avg(o.tip_cents) / 100 FROM orders o JOIN staff s ON s.id = o.waiter_id " +
			"GROUP BY s.id, s.name"},
		{"share of orders without a tip", "SELECT 100.0 * sum(coalesce(tip_cents, 0) = 0) / count(*) FROM orders"},
		{"revenue by restaurant in 2024",
			"SELECT r.name, sum(l.quantity * d.price_cents) / 100.0 FROM orders o JOIN restaurants r " +
				"ON r.id = o.restaurant_id JOIN order_lines l ON " +
				"l.order_id = o.id JOIN dishes d ON d.id = l.dish_id WHERE o.ordered_at >= '2024-01-01' " +
				"AND o.ordered_at < '2025-01-01' AND o.state <> " +
				"'voided' GROUP BY r.id, r.name"},
		{"revenue of Rome compared with Paris",
			"SELECT r.city, sum(l.quantity * d.price_cents) FROM orders o JOIN restaurants r ON r.id = o.restaurant_id " +
				"JOIN order_lines l ON " +
				"l.order_id = o.id JOIN dishes d ON d.id = l.dish_id WHERE r.city IN ('Rome', 'Paris') GROUP BY r.city"},
		{"reviews with 4 stars or more", "SELECT id FROM reviews WHERE stars >= 4"},
		{"bad reviews (2 stars or fewer)", "SELECT id, comment FROM reviews WHERE stars <= 2"},
		{"average stars by city",
			"SELECT r.city, avg(v.stars) FROM reviews v JOIN orders o ON o.id = v.order_id JOIN restaurants r " +
				"ON r.id = o.restaurant_id GROUP BY " +
				"r.city"},
		{"restaurants rated above the average",
			"SELECT r.name FROM reviews v JOIN orders o ON o.id = v.order_id JOIN restaurants r ON r.id = o.restaurant_id " +
				"GROUP BY r.id, r.name " +
				"HAVING avg(v.stars) > (SELECT avg(stars) FROM reviews)"},
		{"reviews without a comment", "SELECT id FROM reviews WHERE comment IS NULL"},
		{"orders nobody reviewed", "SELECT id FROM orders WHERE id NOT IN (SELECT order_id FROM reviews)"},
		{"how many guests paid the next day?", "SELECT count(*) FROM orders WHERE date(paid_at) > date(ordered_at)"},
		{"how long do guests stay on average, in minutes?",
			"SELECT avg((julianday(paid_at) - julianday(ordered_at)) * 1440) FROM orders WHERE channel = 'table'"},
		{"orders over 40 euros",
			"SELECT l.order_id FROM order_lines l JOIN dishes d ON d.id = l.dish_id GROUP BY l.order_id " +
				"HAVING sum(l.quantity * d.price_cents) > 4000"},
		{"orders with more than one dish", "SELECT order_id FROM order_lines GROUP BY order_id HAVING count(*) > 1"},
		{"lines with a discount", "SELECT order_id, dish_id FROM order_lines WHERE discount_pct > 0"},
		{"how many waiters do we have?", "SELECT count(*) FROM staff WHERE role = 'waiter' AND ended IS NULL"},
		{"how many restaurants per country, countries with at least two only",
			"SELECT country, count(*) FROM restaurants GROUP BY country HAVING count(*) >= 2"},
		{"staff who started this year", "SELECT name FROM staff WHERE started >= '2024-01-01'"},
		{"the longest serving waiter", "SELECT name FROM staff WHERE role = 'waiter' AND ended IS NULL ORDER BY started " +
			"LIMIT 1"},
		{"names that occur twice among the staff", "SELECT name FROM staff GROUP BY name HAVING count(*) > 1"},
		{"list every dish with its price in euros", "SELECT name, price_cents / 100.0 FROM dishes"},
		{"which restaurant had the most orders in 2024, and how many?",
			"SELECT r.name, count(*) AS n FROM orders o JOIN restaurants r ON r.id = o.restaurant_id " +
				"WHERE o.ordered_at LIKE '2024%' AND o.state <> " +
				"'voided' GROUP BY r.id, r.name ORDER BY n DESC LIMIT 1"},
		{"did anybody order Sorbet?", "SELECT count(*) > 0 FROM order_lines l JOIN dishes d ON d.id = l.dish_id " +
			"WHERE d.name = 'Sorbet'"},
		{"median price of the pasta dishes", "SELECT price_cents FROM dishes WHERE category = 'pasta' ORDER BY price_cents " +
			"LIMIT 1 OFFSET 1"},
		{"raise every price by 5 percent and show it", "SELECT name, price_cents * 1.05 FROM dishes"},
		{"orders of Gina", "SELECT o.id FROM orders o JOIN staff s ON s.id = o.waiter_id WHERE s.name = 'Gina'"},
		{"first order of each restaurant", "SELECT restaurant_id, min(ordered_at) FROM orders GROUP BY restaurant_id"},
		{"restaurants that never got a review",
			"SELECT name FROM restaurants WHERE id NOT IN (SELECT o.restaurant_id FROM orders o JOIN reviews v " +
				"ON v.order_id = o.id)"},
	} {
		for _, line := range said(tt[0], tt[1]) {
			t.Errorf("%s\n   %s\n   %s", tt[0], tt[1], line)
		}
	}
}

// TestPlantedFaultsOfADiner: one fault each that a careful reader sees.
func TestPlantedFaultsOfADiner(t *testing.T) {
	said := sayings(t, diner)
	for _, tt := range [][2]string{
		{"restaurants still open", "SELECT name FROM restaurants WHERE closed IS NOT NULL"},
		{"closed restaurants", "SELECT name FROM restaurants WHERE closed IS NULL"},
		{"french restaurants", "SELECT name FROM restaurants WHERE country = 'IT'"},
		{"Which restaurants opened before 2016?", "SELECT name FROM restaurants WHERE opened < '2019-01-01'"},
		{"restaurants opened in the 2010s", "SELECT name FROM restaurants WHERE opened >= '2020-01-01'"},
		{"who works at Roma?", "SELECT s.name FROM staff s JOIN restaurants r ON r.id = s.restaurant_id " +
			"WHERE r.name = 'Tiber'"},
		{"staff earning at least 15 an hour", "SELECT name FROM staff WHERE hourly_wage > 15"},
		{"what does a cook earn on average?", "SELECT avg(hourly_wage) FROM staff WHERE role = 'waiter'"},
		{"what does a cook earn on average?", "SELECT sum(hourly_wage) FROM staff WHERE role = 'cook'"},
		{"vegan dishes under 13 euros", "SELECT name FROM dishes WHERE price_cents < 1300"},
		{"vegan dishes under 13 euros", "SELECT name FROM dishes WHERE vegan AND price_cents < 13"},
		{"dishes that are not vegan", "SELECT name FROM dishes WHERE vegan = 1"},
		{"desserts, cheapest first", "SELECT name, price_cents / 100.0 FROM dishes WHERE category = 'dessert' " +
			"ORDER BY price_cents DESC"},
		{"the three most ordered dishes",
			"SELECT d.name, sum(l.quantity) AS n FROM dishes d JOIN order_lines l ON l.dish_id = d.id GROUP BY d.id, d.name " +
				"ORDER BY n LIMIT 3"},
		{"spiciest dish", "SELECT name FROM dishes ORDER BY spiciness LIMIT 1"},
		{"dishes never ordered", "SELECT DISTINCT d.name FROM dishes d JOIN order_lines l ON l.dish_id = d.id"},
		{"orders on 14 February 2024", "SELECT id FROM orders WHERE date(ordered_at) = '2024-02-15'"},
		{"unpaid orders", "SELECT id FROM orders WHERE paid_at IS NOT NULL"},
		{"orders per weekday", "SELECT strftime('%m', ordered_at), count(*) FROM orders GROUP BY 1"},
		{"orders this month", "SELECT count(*) FROM orders WHERE ordered_at >= '2024-05-01' AND ordered_at < '2024-06-01'"},
		{"orders yesterday", "SELECT count(*) FROM orders WHERE ordered_at >= '2024-06-13' AND ordered_at < '2024-06-14'"},
		{"orders in the past two days", "SELECT count(*) FROM orders WHERE ordered_at >= '2024-06-01'"},
		{"how much was tipped in May 2024?", "SELECT sum(tip_cents) / 100.0 FROM orders WHERE paid_at >= '2024-04-01' " +
			"AND paid_at < '2024-05-01'"},
		{"average tip per waiter", "SELECT s.name, sum(o.tip_cents) / 100 FROM orders o JOIN staff s ON s.id = o.waiter_id " +
			"GROUP BY s.id, s.name"},
		{"average tip per waiter", "SELECT avg(tip_cents) FROM orders"},
		{"revenue by restaurant in 2024",
			"SELECT r.name, sum(l.quantity * d.price_cents) / 100.0 FROM orders o JOIN restaurants r " +
				"ON r.id = o.restaurant_id JOIN order_lines l ON " +
				"l.order_id = o.id JOIN dishes d ON d.id = l.dish_id WHERE o.ordered_at >= '2023-01-01' " +
				"AND o.ordered_at < '2024-01-01' GROUP BY r.id, " +
				"r.name"},
		{"revenue by restaurant in 2024",
			"SELECT r.city, sum(l.quantity * d.price_cents) / 100.0 FROM orders o JOIN restaurants r " +
				"ON r.id = o.restaurant_id JOIN order_lines l ON " +
				"l.order_id = o.id JOIN dishes d ON d.id = l.dish_id WHERE o.ordered_at >= '2024-01-01' GROUP BY r.city"},
		{"revenue of Rome compared with Paris",
			"SELECT r.city, sum(l.quantity * d.price_cents) FROM orders o JOIN restaurants r ON r.id = o.restaurant_id " +
				"JOIN order_lines l ON " +
				"l.order_id = o.id JOIN dishes d ON d.id = l.dish_id WHERE r.city IN ('Rome', 'Milan') GROUP BY r.city"},
		{"reviews with 4 stars or more", "SELECT id FROM reviews WHERE stars > 4"},
		{"average stars by city",
			"SELECT r.country, avg(v.stars) FROM reviews v JOIN orders o ON o.id = v.order_id JOIN restaurants r " +
				"ON r.id = o.restaurant_id GROUP BY " +
				"r.country"},
		{"restaurants rated above the average",
			"SELECT r.name FROM reviews v JOIN orders o ON o.id = v.order_id JOIN restaurants r ON r.id = o.restaurant_id " +
				"GROUP BY r.id, r.name " +
				"HAVING avg(v.stars) < (SELECT avg(stars) FROM reviews)"},
		{"reviews without a comment", "SELECT id FROM reviews WHERE comment IS NOT NULL"},
		{"orders nobody reviewed", "SELECT order_id FROM reviews"},
		{"orders over 40 euros",
			"SELECT l.order_id FROM order_lines l JOIN dishes d ON d.id = l.dish_id GROUP BY l.order_id " +
				"HAVING sum(l.quantity * d.price_cents) > 40"},
		{"orders with more than one dish", "SELECT order_id FROM order_lines GROUP BY order_id HAVING count(*) >= 1"},
		{"how many waiters do we have?", "SELECT count(*) FROM staff"},
		{"how many waiters do we have?", "SELECT count(*) FROM staff WHERE role = 'cook'"},
		{"how many waiters took an order?", "SELECT count(waiter_id) FROM orders"},
		{"staff who started this year", "SELECT name FROM staff WHERE started >= '2023-01-01' AND started < '2024-01-01'"},
		{"the longest serving waiter", "SELECT name FROM staff WHERE role = 'waiter' ORDER BY started DESC LIMIT 1"},
		{"list every dish with its price in euros", "SELECT name, price_cents FROM dishes"},
		{"which restaurant had the most orders in 2024, and how many?",
			"SELECT r.name, count(*) AS n FROM orders o JOIN restaurants r ON r.id = o.restaurant_id " +
				"WHERE o.ordered_at LIKE '2024%' GROUP BY r.id, " +
				"r.name ORDER BY n LIMIT 1"},
		{"orders of Gina", "SELECT o.id FROM orders o JOIN staff s ON s.id = o.waiter_id WHERE s.name = 'Lea'"},
		{"first order of each restaurant", "SELECT restaurant_id, max(ordered_at) FROM orders GROUP BY restaurant_id"},
		{"first order of each restaurant", "SELECT min(ordered_at) FROM orders"},
		{"number of orders per restaurant, including restaurants without one",
			"SELECT r.name, count(*) FROM restaurants r JOIN orders o ON o.restaurant_id = r.id GROUP BY r.id, r.name"},
		{"orders with both Carbonara and Tiramisu",
			"SELECT DISTINCT l.order_id FROM order_lines l JOIN dishes d ON d.id = l.dish_id WHERE d.name IN ('Carbonara', " +
				"'Tiramisu')"},
		{"deliveries between January and March 2024",
			"SELECT count(*) FROM orders WHERE channel = 'delivery' AND ordered_at >= '2024-04-01' " +
				"AND ordered_at < '2024-07-01'"},
		{"pickup orders", "SELECT id FROM orders WHERE channel = 'delivery'"},
		{"the two cheapest dishes", "SELECT name FROM dishes ORDER BY price_cents LIMIT 1"},
		{"voided orders", "SELECT id FROM orders WHERE state <> 'voided'"},
		{"number of different dishes ordered", "SELECT count(dish_id) FROM order_lines"},
		{"total discount of order 5 in percent", "SELECT sum(discount_pct) FROM order_lines WHERE order_id = 1"},
		{"average price of all dishes", "SELECT avg(d.price_cents) FROM dishes d JOIN order_lines l ON l.dish_id = d.id"},
		{"sales staff of Paris", "SELECT s.name FROM staff s JOIN restaurants r ON r.id = s.id WHERE r.city = 'Paris'"},
	} {
		if found := said(tt[0], tt[1]); len(found) == 0 {
			t.Errorf("no contradiction is found: %s\n   %s", tt[0], tt[1])
		}
	}
}
