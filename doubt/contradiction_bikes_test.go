package doubt_test

import (
	"strings"
	"testing"
)

// bikes is a database of a trade with two ends of each trip, meters beside kilometers, and payments with states.
const bikes = `
CREATE TABLE stations (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE bikes (id INTEGER PRIMARY KEY, kind TEXT NOT NULL);
CREATE TABLE riders (id INTEGER PRIMARY KEY, name TEXT NOT NULL, birth_year INTEGER, student INTEGER NOT NULL, no_show INTEGER NOT NULL,
	active INTEGER NOT NULL, wins INTEGER NOT NULL);
CREATE TABLE trips (id INTEGER PRIMARY KEY, bike_id INTEGER NOT NULL REFERENCES bikes(id), rider_id INTEGER NOT NULL REFERENCES riders(id),
	start_station_id INTEGER NOT NULL REFERENCES stations(id), end_station_id INTEGER REFERENCES stations(id), started_at DATETIME NOT NULL,
	distance_m INTEGER);
CREATE TABLE payments (id INTEGER PRIMARY KEY, rider_id INTEGER NOT NULL REFERENCES riders(id), amount REAL NOT NULL, status TEXT NOT NULL);
INSERT INTO stations VALUES (1,'Harbour'),(2,'Museum'),(3,'Park');
INSERT INTO bikes VALUES (1,'classic'),(2,'electric'),(3,'cargo');
INSERT INTO riders VALUES (1,'Ann',1985,0,0,1,0),(2,'Bob',1999,1,0,1,1),(3,'Cid',NULL,0,0,0,0),(4,'Dee',1985,1,1,1,0);
INSERT INTO trips VALUES (1,1,1,1,2,'2023-05-06 10:00:00',4000),(2,2,1,2,1,'2023-09-03 11:00:00',12000),(3,1,2,1,1,'2024-02-05 08:00:00',800),
	(4,3,2,3,2,'2024-03-10 18:00:00',11000),(5,1,4,2,3,'2024-06-08 12:00:00',2500),(6,1,4,1,NULL,'2024-06-14 12:00:00',NULL);
INSERT INTO payments VALUES (1,1,12.5,'received'),(2,1,8,'pledged'),(3,2,30,'received'),(4,4,4.25,'failed'),(5,4,9,'received');`

// TestContradictionsOfBikes: for each reason one fault, by the rules that find it, and one right answer to the same
// question.
func TestContradictionsOfBikes(t *testing.T) {
	said := sayings(t, bikes)
	const trips = "SELECT t.id FROM trips t JOIN stations s ON s.id = t."
	const used = "SELECT DISTINCT r.name FROM riders r JOIN trips t ON t.rider_id = r.id JOIN bikes b " +
		"ON b.id = t.bike_id WHERE b.kind = "
	for _, tt := range []struct{ why, question, fault, right, rule string }{
		{"a column in another form of its verb", "trips that ended at Museum",
			trips + "start_station_id WHERE s.name = 'Museum'",
			trips + "end_station_id WHERE s.name = 'Museum'", "column"},
		{"the other end is named", "trips that started at Museum", trips + "end_station_id WHERE s.name = 'Museum'",
			trips + "start_station_id WHERE s.name = 'Museum'", "column"},
		{"meters for kilometers", "trips over 10 km", "SELECT id FROM trips WHERE distance_m > 10",
			"SELECT id FROM trips WHERE distance_m > 10000", "unit"},
		{"meters divided", "trips over 10 km", "SELECT id FROM trips WHERE distance_m >= 10",
			"SELECT id FROM trips WHERE distance_m / 1000.0 > 10", "unit"},
		{"a rank has no unit", "who rode the most kilometers?",
			"SELECT r.name FROM trips t JOIN riders r ON r.id = t.rider_id GROUP BY r.id, r.name ORDER BY sum(t.distance_m) " +
				"LIMIT 1",
			"SELECT r.name FROM trips t JOIN riders r ON r.id = t.rider_id GROUP BY r.id, r.name " +
				"ORDER BY sum(t.distance_m) DESC LIMIT 1", "direction"},
		{"only", "riders who only used classic bikes", used + "'classic'",
			used + "'classic' AND NOT EXISTS (SELECT 1 FROM trips x JOIN bikes y " +
				"ON y.id = x.bike_id WHERE x.rider_id = r.id AND y.kind <> 'classic')", "besides"},
		{"only the list is short", "only the riders who used electric bikes", used + "'cargo'", used + "'electric'", "value"},
		{"another day of the week", "How many trips take place on Sundays?",
			"SELECT count(*) FROM trips WHERE strftime('%w', started_at) = '6'",
			"SELECT count(*) FROM trips WHERE strftime('%w', started_at) = '0'", "weekend"},
		{"a day of the week that a number counts", "trips on a Saturday",
			"SELECT id FROM trips WHERE CAST(strftime('%w', started_at) AS INTEGER) = 5",
			"SELECT id FROM trips WHERE CAST(strftime('%w', started_at) AS INTEGER) = 6", "weekend"},
		{"no other day", "riders who only rode on weekends",
			"SELECT r.name FROM riders r JOIN trips t ON t.rider_id = r.id WHERE t.started_at > '2024-01-01' " +
				"AND r.name = 'Bob' GROUP BY r.id, r.name",
			"SELECT r.name FROM riders r JOIN trips t ON t.rider_id = r.id GROUP BY r.id, r.name HAVING sum(strftime('%w', " +
				"t.started_at) NOT IN " +
				"('0', '6')) = 0", "unasked"},
		{"a quarter in brackets", "trips in the second quarter (Q2) of 2023",
			"SELECT id FROM trips WHERE started_at >= '2023-07-01' AND started_at < '2023-10-01'",
			"SELECT id FROM trips WHERE started_at >= '2023-04-01' AND started_at < '2023-07-01'", "time"},
		{"a quarter behind its year", "trips in 2023 Q2",
			"SELECT id FROM trips WHERE started_at >= '2023-07-01' AND started_at < '2023-10-01'",
			"SELECT id FROM trips WHERE started_at >= '2023-04-01' AND started_at < '2023-07-01'", "time"},
		{"a year to date", "distance of all trips year to date",
			"SELECT sum(distance_m) FROM trips WHERE started_at >= '2023-01-01'",
			"SELECT sum(distance_m) FROM trips WHERE started_at >= '2024-01-01'", "period"},
		{"so far", "How many trips have there been so far this month?",
			"SELECT count(*) FROM trips WHERE started_at >= '2024-05-01'",
			"SELECT count(*) FROM trips WHERE started_at >= '2024-06-01' AND started_at < '2024-06-16'", "period"},
		{"the last month of a range", "trips between April and September 2023",
			"SELECT id FROM trips WHERE started_at >= '2023-04-01' AND started_at < '2023-09-01'",
			"SELECT id FROM trips WHERE started_at >= '2023-04-01' AND started_at < '2023-10-01'", "time"},
		{"until leaves out its end", "trips from 2023 until 2024",
			"SELECT id FROM trips WHERE started_at >= '2022-01-01' AND started_at < '2023-01-01'",
			"SELECT id FROM trips WHERE started_at >= '2023-01-01' AND started_at < '2024-01-01'", "time"},
		{"an end that is left out", "riders born between 1980 and 1990, both excluded",
			"SELECT name FROM riders WHERE birth_year > 1970 AND birth_year < 1980",
			"SELECT name FROM riders WHERE birth_year > 1980 AND birth_year < 1990", "time"},
		{"two bounds of two sums are no range", "riders whose trips increased from 2023 to 2024",
			"SELECT rider_id FROM trips WHERE started_at >= '2022-01-01' AND started_at < '2023-01-01' GROUP BY rider_id",
			"SELECT rider_id FROM trips GROUP BY rider_id HAVING sum(started_at >= '2024-01-01') > sum(started_at < " +
				"'2024-01-01')", "time"},
		{"the first who", "the first rider who ever rode",
			"SELECT r.name FROM trips t JOIN riders r ON r.id = t.rider_id ORDER BY t.started_at DESC LIMIT 1",
			"SELECT r.name FROM trips t JOIN riders r ON r.id = t.rider_id ORDER BY t.started_at LIMIT 1", "direction"},
		{"an average for each value of a column", "average distance for each bike kind",
			"SELECT avg(t.distance_m) FROM trips t JOIN bikes b ON b.id = t.bike_id",
			"SELECT b.kind, avg(t.distance_m) FROM trips t JOIN bikes b ON b.id = t.bike_id GROUP BY b.kind", "group"},
		{"an average a thing is one", "average distance per trip", "SELECT sum(distance_m) FROM trips",
			"SELECT avg(distance_m) FROM trips",
			"group average"},
		{"what somebody received is no state", "payments of riders that received an electric bike",
			"SELECT id FROM payments WHERE rider_id IN (SELECT t.rider_id FROM trips t JOIN bikes b ON b.id = t.bike_id " +
				"WHERE b.kind = 'cargo')",
			"SELECT id FROM payments WHERE rider_id IN (SELECT t.rider_id FROM trips t JOIN bikes b ON b.id = t.bike_id " +
				"WHERE b.kind = 'electric')", "value"},
		{"a careful state that is the usual one", "What is the average payment?",
			"SELECT avg(amount) FROM payments WHERE status = 'pledged'",
			"SELECT avg(amount) FROM payments WHERE status = 'received'", "unasked"},
		{"a flag of an integer", "names of the student riders", "SELECT name FROM riders",
			"SELECT name FROM riders WHERE student = 1", "flag"},
		{"a word that asks is no flag", "Show the riders born in 1985", "SELECT name FROM riders WHERE birth_year = 1999",
			"SELECT name FROM riders WHERE birth_year = 1985", "time"},
		{"none or one of several is no flag", "the top 2 trips by distance of riders with or without wins",
			"SELECT id FROM trips WHERE distance_m > 0 ORDER BY distance_m DESC LIMIT 3",
			"SELECT t.id FROM trips t JOIN riders r ON r.id = t.rider_id WHERE distance_m > 0 ORDER BY distance_m DESC LIMIT 2",
			"limit"},
		{"the most of a flag is a rank", "the 2 most active riders",
			"SELECT r.name FROM riders r JOIN trips t ON t.rider_id = r.id GROUP BY r.id, r.name ORDER BY count(*) DESC LIMIT 3",
			"SELECT r.name FROM riders r JOIN trips t ON t.rider_id = r.id GROUP BY r.id, r.name ORDER BY count(*) DESC LIMIT 2",
			"limit"},
		{"how much of a flag is a figure", "How active was each rider born in 1985?",
			"SELECT r.id, count(*) FROM riders r JOIN trips t ON t.rider_id = r.id WHERE r.birth_year = 1999 GROUP BY r.id",
			"SELECT r.id, count(*) FROM riders r JOIN trips t ON t.rider_id = r.id WHERE r.birth_year = 1985 GROUP BY r.id",
			"time"},
		{"one half or the other", "the top 2 riders by wins, student or pensioner",
			"SELECT name FROM riders ORDER BY wins DESC LIMIT 3",
			"SELECT name FROM riders ORDER BY wins DESC LIMIT 2", "limit"},
		{"a page of a list", "2nd page of the riders born in 1985, 2 per page",
			"SELECT name FROM riders WHERE birth_year = 1999 LIMIT 2 OFFSET 2",
			"SELECT name FROM riders WHERE birth_year = 1985 LIMIT 2 OFFSET 2", "time"},
		{"an age is computed the other way round", "How old is the youngest rider born after 1980?",
			"SELECT min(2024 - birth_year) FROM riders WHERE birth_year < 1980",
			"SELECT min(2024 - birth_year) FROM riders WHERE birth_year > 1980", "time"},
	} {
		if got := strings.Join(rulesOf(said(tt.question, tt.fault)), " "); got != tt.rule {
			t.Errorf("%s: %s\n  %s\n  contradicts by %q, want %q", tt.why, tt.question, tt.fault, got, tt.rule)
		}
		if lines := said(tt.question, tt.right); len(lines) > 0 {
			t.Errorf("%s: %s\n  %s\n  is right: %v", tt.why, tt.question, tt.right, lines)
		}
	}
}

// rulesOf are the rules of contradictions.
func rulesOf(lines []string) (rules []string) {
	for _, line := range lines {
		rule, _, _ := strings.Cut(line, ":")
		rules = append(rules, rule)
	}
	return rules
}
