package doubt_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/contradict"
	"github.com/texttosql/texttosql/internal/findings"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
)

// hotel is a database whose names and values no case of the collections has.
const hotel = `
CREATE TABLE guests (id INTEGER PRIMARY KEY, name TEXT NOT NULL, nationality TEXT, is_vip BOOLEAN NOT NULL, joined_on DATE NOT NULL, removed_on DATE);
CREATE TABLE rooms (id INTEGER PRIMARY KEY, label TEXT NOT NULL, kind TEXT NOT NULL, beds INTEGER NOT NULL, rate REAL);
CREATE TABLE bookings (id INTEGER PRIMARY KEY, guest_id INTEGER NOT NULL REFERENCES guests(id), room_id INTEGER NOT NULL REFERENCES rooms(id),
	booked_on DATE NOT NULL, arrival_on DATE, status TEXT NOT NULL, price_net REAL NOT NULL, price_gross REAL NOT NULL, currency TEXT NOT NULL,
	checked_in_by INTEGER REFERENCES staff(id), sold_by INTEGER REFERENCES staff(id));
CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT NOT NULL, boss_id INTEGER REFERENCES staff(id), born DATE, salary REAL);
CREATE TABLE extras (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE booking_extras (booking_id INTEGER NOT NULL REFERENCES bookings(id),
	extra_id INTEGER NOT NULL REFERENCES extras(id), PRIMARY KEY (booking_id, extra_id));
INSERT INTO guests VALUES (1,'Ann Lee','Austria',1,'2023-02-01',NULL),(2,'Bo Ray','Norway',0,'2023-05-01',NULL),(3,'Cid Fox','Austria',0,'2024-01-10',NULL),
	(4,'Ann Lee','Peru',0,'2024-03-03','2024-04-01'),(5,'Eve Poe',NULL,0,'2024-05-05',NULL);
INSERT INTO rooms VALUES (1,'101','suite',2,200),(2,'102','single',1,80),(3,'103','double',2,120),(4,'104','double',2,NULL),(5,'105','dormitory',6,30);
INSERT INTO staff VALUES (1,'Ida',NULL,'1970-01-01',5000),(2,'Jon',1,'1990-02-02',3000),(3,'Kim',1,NULL,3000);
INSERT INTO bookings VALUES (1,1,1,'2023-11-01','2023-12-24','kept',400,476,'EUR',2,3),(2,1,2,'2024-01-05','2024-02-01','kept',80,95.2,'EUR',2,2),
	(3,2,3,'2024-02-10','2024-03-01','no-show',120,142.8,'NOK',NULL,3),(4,3,3,'2024-02-20','2024-03-15','kept',240,285.6,'EUR',3,2),
	(5,3,5,'2024-04-01',NULL,'pending',30,35.7,'EUR',NULL,2),(6,2,1,'2024-05-02','2024-06-01','pending',400,476,'NOK',NULL,2);
INSERT INTO extras VALUES (1,'Sauna'),(2,'Breakfast'),(3,'Parking'),(4,'Late café'),(5,'Late cafe'),(6,'Early café');
INSERT INTO booking_extras VALUES (1,1),(1,2),(2,2),(4,1),(4,3),(6,2);`

// hold answers a question over hotel on 15 June 2024 with a statement, and returns the rules of its contradictions.
func hold(t *testing.T) func(question, statement string, earlier ...string) string {
	t.Helper()
	said := sayings(t, hotel)
	return func(question, statement string, earlier ...string) string {
		var rules []string
		for _, line := range said(question, statement, earlier...) {
			rule, detail, _ := strings.Cut(line, ": ")
			if detail == "" || strings.Count(detail, "  ") > 0 {
				t.Errorf("%s: the detail %q is no sentence", rule, detail)
			}
			rules = append(rules, rule)
		}
		return strings.Join(rules, " ")
	}
}

// sayings is hold with the sentence of each contradiction behind its rule, over the database of a script.
func sayings(t *testing.T, script string) func(question, statement string, earlier ...string) []string {
	t.Helper()
	pool := testutil.Value(sql.Open("sqlite3", "file:"+t.TempDir()+"/hotel.db"))(t)
	t.Cleanup(func() { pool.Close() })
	testutil.Value(pool.Exec(script))(t)
	db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{}))(t)
	ctx := context.Background()
	known := testutil.Value(db.Profile(ctx, testutil.Value(db.Schema(ctx))(t), exec.ProfileOptions{}))(t)
	return func(question, statement string, earlier ...string) []string {
		text := db.Language().Text
		a := contradict.Answer{
			Statement: text.Parse(statement), Schema: known, Values: (*snapshot.Snapshot)(nil).Words(known),
			Now: time.Date(2024, 6, 15, 10, 0, 0, 0, time.UTC), Table: testutil.Value(db.Query(ctx, statement))(t, statement),
			Query: func(sql string) *result.Table { t, _ := db.Query(ctx, sql); return t },
		}
		for _, e := range earlier {
			a.Earlier = append(a.Earlier, text.Parse(e))
		}
		var lines []string
		for _, f := range (doubt.Rules{}).Read(question, "").Contradictions(a) {
			lines = append(lines, strings.TrimPrefix(f.Rule, findings.Contradiction)+": "+f.Detail)
		}
		return lines
	}
}

func TestContradictions(t *testing.T) {
	held := hold(t)
	for _, tt := range []struct{ why, question, fault, right, rule string }{
		{"another year", "How many bookings were made in 2024?",
			"SELECT count(*) FROM bookings WHERE strftime('%Y', booked_on) = '2023'",
			"SELECT count(*) FROM bookings WHERE strftime('%Y', booked_on) = '2024'", "time"},
		{"the same without its accent", "Which extra is the late café?", "SELECT id FROM extras WHERE name = 'Late café'",
			"SELECT id FROM extras WHERE name = 'Late café' OR name = 'Late cafe'", "text"},
		{"another month", "bookings made in 2/2024",
			"SELECT id FROM bookings WHERE booked_on LIKE '2024-03%'",
			"SELECT id FROM bookings WHERE booked_on LIKE '2024-02%'", "time"},
		{"a quarter", "net price of bookings in Q2 2024",
			"SELECT sum(price_net) FROM bookings WHERE booked_on >= '2024-01-01' AND booked_on < '2024-04-01'",
			"SELECT sum(price_net) FROM bookings WHERE booked_on >= '2024-04-01' AND booked_on < '2024-07-01'", "time"},
		{"a day in words", "Who arrived on March 1, 2024?",
			"SELECT g.name FROM guests g JOIN bookings b ON b.guest_id = g.id WHERE b.arrival_on = '2024-03-15'",
			"SELECT g.name FROM guests g JOIN bookings b ON b.guest_id = g.id WHERE b.arrival_on = '2024-03-01'", "time"},
		{"a year too much", "How many bookings did we get in 2023?",
			"SELECT count(*) FROM bookings WHERE booked_on >= '2023-01-01'",
			"SELECT count(*) FROM bookings WHERE booked_on BETWEEN '2023-01-01' AND '2023-12-31'", "time"},
		{"no year at all", "bookings per month in 2024",
			"SELECT strftime('%m', booked_on) AS m, count(*) FROM bookings GROUP BY m",
			"SELECT strftime('%m', booked_on) AS m, count(*) FROM bookings WHERE booked_on >= '2024-01-01' GROUP BY m",
			"time"},
		{"last week", "bookings last week",
			"SELECT id FROM bookings WHERE booked_on >= '2024-05-27' AND booked_on < '2024-06-03'",
			"SELECT id FROM bookings WHERE booked_on >= '2024-06-03' AND booked_on < '2024-06-10'", "period"},
		{"the last 60 days", "how many bookings in the last 60 days",
			"SELECT count(*) FROM bookings WHERE booked_on >= '2024-02-16'",
			"SELECT count(*) FROM bookings WHERE booked_on >= '2024-04-16'", "period"},
		{"this quarter", "gross price this quarter",
			"SELECT sum(price_gross) FROM bookings WHERE booked_on >= '2024-01-01' AND booked_on < '2024-04-01'",
			"SELECT sum(price_gross) FROM bookings WHERE booked_on >= '2024-04-01' AND booked_on < '2024-07-01'", "period"},

		{"a decade in words is a reason for its years", "our staff of the nineties",
			"SELECT name FROM staff WHERE strftime('%Y', born) BETWEEN '1980' AND '1989'",
			"SELECT name FROM staff WHERE strftime('%Y', born) BETWEEN '1990' AND '1999'", "time"},
		{"a week by its day", "bookings in the week of 5 February 2024",
			"SELECT id FROM bookings WHERE booked_on >= '2023-02-05' AND booked_on < '2023-02-12'",
			"SELECT id FROM bookings WHERE booked_on >= '2024-02-05' AND booked_on < '2024-02-12'", "time"},
		{"a day that is computed", "bookings of the past 60 days", "SELECT id FROM bookings WHERE booked_on >= '2024-02-15'",
			"SELECT id FROM bookings WHERE booked_on >= date('2024-06-15', '-60 days')", "period"},
		{"a bound that is computed", "bookings last month",
			"SELECT id FROM bookings WHERE booked_on >= '2024-04-01' AND booked_on < '2024-05-01'",
			"SELECT id FROM bookings WHERE booked_on >= date('2024-06-01', '-1 month') AND booked_on < '2024-06-01'", "period"},
		{"two days of a list are not computed", "bookings of 5 January 2024 and 10 February 2024",
			"SELECT id FROM bookings WHERE booked_on IN ('2024-01-05', '2024-03-10')",
			"SELECT id FROM bookings WHERE booked_on IN ('2024-01-05', '2024-02-10')", "time"},
		{"another value", "How many guests are from Norway?",
			"SELECT count(*) FROM guests WHERE nationality = 'Peru'",
			"SELECT count(*) FROM guests WHERE nationality = 'Norway'", "value"},
		{"a value with a hyphen", "list the no-shows",
			"SELECT id FROM bookings WHERE status = 'pending'", "SELECT id FROM bookings WHERE status = 'no-show'", "value"},
		{"a value that is not used", "total beds in double rooms",
			"SELECT sum(beds) FROM rooms", "SELECT sum(beds) FROM rooms WHERE kind = 'double'", "value"},
		{"a currency in words", "How many euros did we take?",
			"SELECT sum(price_gross) FROM bookings", "SELECT sum(price_gross) FROM bookings WHERE currency = 'EUR'", "value"},
		{"one of two values", "guests from Austria and Peru",
			"SELECT name FROM guests WHERE nationality = 'Austria'",
			"SELECT name FROM guests WHERE nationality IN ('Austria', 'Peru')", "value"},
		{"another number", "rooms with a rate over 100", "SELECT label FROM rooms WHERE rate > 150",
			"SELECT label FROM rooms WHERE rate > 100", "number"},
		{"a number in thousands", "staff who earn more than 4k", "SELECT name FROM staff WHERE salary > 400",
			"SELECT name FROM staff WHERE salary > 4000", "number"},
		{"a top list", "top three rooms by rate", "SELECT label FROM rooms WHERE rate > 0 ORDER BY rate DESC LIMIT 5",
			"SELECT label FROM rooms WHERE rate > 0 ORDER BY rate DESC LIMIT 3", "limit"},
		{"at least", "rooms with at least 2 beds", "SELECT label FROM rooms WHERE beds > 2",
			"SELECT label FROM rooms WHERE beds >= 2", "bound"},
		{"or more", "Which extras were taken twice or more, 2 or more times?",
			"SELECT e.name FROM extras e JOIN booking_extras b ON b.extra_id = e.id GROUP BY e.id HAVING count(*) > 2",
			"SELECT e.name FROM extras e JOIN booking_extras b ON b.extra_id = e.id GROUP BY e.id HAVING count(*) >= 2",
			"bound"},
		{"less than", "rooms with fewer than 2 beds", "SELECT label FROM rooms WHERE beds <= 2",
			"SELECT label FROM rooms WHERE beds < 2", "bound"},
		{"the other side", "rooms below 100", "SELECT label FROM rooms WHERE rate > 100",
			"SELECT label FROM rooms WHERE rate < 100", "bound"},

		{"another date of the row", "bookings with arrival in March 2024",
			"SELECT id FROM bookings WHERE booked_on >= '2024-03-01' AND booked_on < '2024-04-01'",
			"SELECT id FROM bookings WHERE arrival_on >= '2024-03-01' AND arrival_on < '2024-04-01'", "column"},
		{"gross for net", "sum of the net price per room",
			"SELECT r.label, sum(b.price_gross) FROM bookings b JOIN rooms r ON r.id = b.room_id GROUP BY r.id, r.label",
			"SELECT r.label, sum(b.price_net) FROM bookings b JOIN rooms r ON r.id = b.room_id GROUP BY r.id, r.label",
			"column"},
		{"another reference", "bookings with the name of who sold them",
			"SELECT b.id, s.name FROM bookings b LEFT JOIN staff s ON s.id = b.checked_in_by",
			"SELECT b.id, s.name FROM bookings b LEFT JOIN staff s ON s.id = b.sold_by", "column"},
		{"a flag", "average rate paid by VIP guests",
			"SELECT avg(b.price_net) FROM bookings b JOIN guests g ON g.id = b.guest_id",
			"SELECT avg(b.price_net) FROM bookings b JOIN guests g ON g.id = b.guest_id WHERE g.is_vip = 1", "flag"},
		{"a condition on figures", "bookings per room",
			"SELECT room_id, count(*) FROM bookings WHERE price_net > 100 GROUP BY room_id",
			"SELECT room_id, count(*) FROM bookings GROUP BY room_id", "unasked"},
		{"a condition on time", "bookings by status",
			"SELECT status, count(*) FROM bookings WHERE booked_on >= '2024-01-01' GROUP BY status",
			"SELECT status, count(*) FROM bookings GROUP BY status", "unasked"},
		{"a condition on a value", "How many extras were booked?",
			"SELECT count(*) FROM booking_extras b JOIN extras e ON e.id = b.extra_id WHERE e.name = 'Sauna'",
			"SELECT count(*) FROM booking_extras", "unasked count"},

		{"the highest", "Which room has the highest rate?",
			"SELECT label FROM rooms WHERE rate > 0 ORDER BY rate LIMIT 1",
			"SELECT label FROM rooms WHERE rate > 0 ORDER BY rate DESC LIMIT 1", "direction"},
		{"the least", "room with the fewest beds", "SELECT label FROM rooms ORDER BY beds DESC LIMIT 1",
			"SELECT label FROM rooms ORDER BY beds LIMIT 1", "direction"},
		{"the youngest by birth", "Who is the youngest of the staff?",
			"SELECT name FROM staff WHERE born > '' ORDER BY born LIMIT 1",
			"SELECT name FROM staff WHERE born > '' ORDER BY born DESC LIMIT 1", "direction"},
		{"max for min", "What is the lowest salary?", "SELECT max(salary) FROM staff", "SELECT min(salary) FROM staff",
			"direction"},
		{"newest first", "newest bookings first", "SELECT id, booked_on FROM bookings ORDER BY booked_on",
			"SELECT id, booked_on FROM bookings ORDER BY booked_on DESC", "direction"},

		{"one row for all", "number of bookings in each room", "SELECT count(*) FROM bookings",
			"SELECT room_id, count(*) FROM bookings GROUP BY room_id", "group"},
		{"one for each", "the latest booking of every guest",
			"SELECT guest_id, booked_on FROM bookings ORDER BY booked_on DESC LIMIT 1",
			"SELECT guest_id, max(booked_on) FROM bookings GROUP BY guest_id", "group"},
		{"one group of two", "total net price by currency and year",
			"SELECT currency, sum(price_net) FROM bookings GROUP BY currency",
			"SELECT currency, strftime('%Y', booked_on), sum(price_net) FROM bookings GROUP BY 1, 2", "group"},
		{"another group", "bookings per room",
			"SELECT g.name, count(*) FROM bookings b JOIN guests g ON g.id = b.guest_id JOIN rooms r ON r.id = b.room_id " +
				"GROUP BY g.name",
			"SELECT r.label, count(*) FROM bookings b JOIN guests g ON g.id = b.guest_id JOIN rooms r ON r.id = b.room_id " +
				"GROUP BY r.label", "group"},
		{"different ones", "How many different guests booked in 2024?",
			"SELECT count(guest_id) FROM bookings WHERE booked_on >= '2024-01-01'",
			"SELECT count(DISTINCT guest_id) FROM bookings WHERE booked_on >= '2024-01-01'", "distinct count"},
		{"guests, not bookings", "How many guests have booked?",
			"SELECT count(*) FROM guests g JOIN bookings b ON b.guest_id = g.id",
			"SELECT count(DISTINCT g.id) FROM guests g JOIN bookings b ON b.guest_id = g.id", "count"},
		{"an average", "average net price of a booking", "SELECT sum(price_net) FROM bookings",
			"SELECT avg(price_net) FROM bookings", "average"},
		{"an average of averages", "What is the average net price of bookings?",
			"SELECT avg(a) FROM (SELECT avg(price_net) AS a FROM bookings GROUP BY guest_id)",
			"SELECT avg(price_net) FROM bookings", "average"},

		{"never", "guests who never booked",
			"SELECT name FROM guests WHERE id IN (SELECT guest_id FROM bookings)",
			"SELECT name FROM guests WHERE id NOT IN (SELECT guest_id FROM bookings)", "negation"},
		{"without", "bookings without extras",
			"SELECT b.id FROM bookings b JOIN booking_extras x ON x.booking_id = b.id",
			"SELECT b.id FROM bookings b LEFT JOIN booking_extras x ON x.booking_id = b.id WHERE x.booking_id IS NULL",
			"negation"},
		{"a careful filter is no exclusion", "guests without bookings",
			"SELECT name FROM guests WHERE removed_on IS NULL",
			"SELECT name FROM guests g WHERE removed_on IS NULL AND NOT EXISTS (SELECT 1 FROM bookings b " +
				"WHERE b.guest_id = g.id)", "negation"},
		{"except", "all rooms except suites", "SELECT label FROM rooms WHERE kind = 'suite'",
			"SELECT label FROM rooms WHERE kind <> 'suite'", "negation"},
		{"both", "bookings that have both Sauna and Parking",
			"SELECT DISTINCT x.booking_id FROM booking_extras x JOIN extras e ON e.id = x.extra_id WHERE e.name IN ('Sauna', " +
				"'Parking')",
			"SELECT booking_id FROM booking_extras JOIN extras e ON e.id = extra_id WHERE e.name IN ('Sauna', 'Parking') " +
				"GROUP BY booking_id HAVING count(*) = 2", "both"},
		{"no row has two names", "bookings with Sauna and Parking",
			"SELECT x.booking_id FROM booking_extras x JOIN extras e ON e.id = x.extra_id WHERE e.name = 'Sauna' " +
				"AND x.booking_id > 0 AND e.name = 'Parking'",
			"SELECT x.booking_id FROM booking_extras x JOIN extras e ON e.id = x.extra_id JOIN booking_extras y " +
				"ON y.booking_id = x.booking_id JOIN extras f ON f.id = y.extra_id WHERE e.name = 'Sauna' AND f.name = 'Parking'",
			"both"},
		{"cases of one name", "number of bookings with Sauna and with Parking",
			"SELECT count(*) FROM booking_extras x JOIN extras e ON e.id = x.extra_id WHERE e.name = 'Sauna' " +
				"AND e.name = 'Parking'",
			"SELECT sum(CASE WHEN e.name = 'Sauna' THEN 1 END), sum(CASE WHEN e.name = 'Parking' THEN 1 END) " +
				"FROM booking_extras x JOIN extras e ON e.id = x.extra_id", "both"},
		{"the time at which it was done", "bookings booked in May 2024",
			"SELECT id FROM bookings WHERE status = 'booked' AND arrival_on LIKE '2024-05%'",
			"SELECT id FROM bookings WHERE status = 'booked' AND booked_on LIKE '2024-05%'", "column"},
		{"those without", "number of bookings of each room, including rooms without",
			"SELECT r.label, count(b.id) FROM rooms r JOIN bookings b ON b.room_id = r.id GROUP BY r.id, r.label",
			"SELECT r.label, count(b.id) FROM rooms r LEFT JOIN bookings b ON b.room_id = r.id GROUP BY r.id, r.label",
			"including"},
		{"a decimal is not its first digits", "kinds with at least 2 rooms and fewer than 2.5 beds on average",
			"SELECT kind FROM rooms GROUP BY kind HAVING count(*) <= 2 AND avg(beds) < 2.5",
			"SELECT kind FROM rooms GROUP BY kind HAVING count(*) >= 2 AND avg(beds) < 2.5", "bound"},
		{"all but those under a bound", "all rooms but those under 100", "SELECT label FROM rooms WHERE rate >= 150",
			"SELECT label FROM rooms WHERE rate >= 100", "number"},
		{"two bounds with but", "rooms with at least 2 beds but fewer than 6",
			"SELECT label FROM rooms WHERE beds > 2 AND beds < 6",
			"SELECT label FROM rooms WHERE beds >= 2 AND beds < 6", "bound"},
		{"what is not another one is counted, and none is left", "guests with kept bookings only",
			"SELECT name FROM guests WHERE id IN (SELECT guest_id FROM bookings WHERE status <> 'kept')",
			"SELECT g.name FROM guests g JOIN bookings b ON b.guest_id = g.id GROUP BY g.id, g.name " +
				"HAVING sum(b.status <> 'kept') = 0", "opposite"},
		{"none that is another one", "guests who only made pending bookings",
			"SELECT g.name FROM guests g JOIN bookings b ON b.guest_id = g.id WHERE b.status <> 'pending'",
			"SELECT g.name FROM guests g WHERE EXISTS (SELECT 1 FROM bookings b WHERE b.guest_id = g.id) " +
				"AND NOT EXISTS (SELECT 1 FROM bookings b " +
				"WHERE b.guest_id = g.id AND b.status <> 'pending')", "opposite"},
		{"what is ignored", "net price of the bookings, ignoring pending ones",
			"SELECT sum(price_gross) FROM bookings WHERE status <> 'pending'",
			"SELECT sum(price_net) FROM bookings WHERE status <> 'pending'", "column"},
		{"those who opted out of a flag", "guests from Austria who opted out of VIP",
			"SELECT name FROM guests WHERE is_vip = 0 AND nationality = 'Peru'",
			"SELECT name FROM guests WHERE is_vip = 0 AND nationality = 'Austria'", "value"},
		{"those that have none", "rooms and their bookings, also rooms that have none",
			"SELECT r.label, b.id FROM rooms r JOIN bookings b ON b.room_id = r.id",
			"SELECT r.label, b.id FROM rooms r LEFT JOIN bookings b ON b.room_id = r.id", "including"},
		{"those who never", "number of bookings per guest, counting guests who never booked",
			"SELECT g.id, count(b.id) FROM guests g JOIN bookings b ON b.guest_id = g.id GROUP BY g.id",
			"SELECT g.id, count(b.id) FROM guests g LEFT JOIN bookings b ON b.guest_id = g.id GROUP BY g.id", "including"},
		{"what is left out", "net price of all bookings, leaving out pending ones",
			"SELECT sum(price_net) FROM bookings WHERE status = 'pending'",
			"SELECT sum(price_net) FROM bookings WHERE status <> 'pending'", "negation"},
		{"what is left out, behind it", "net price per room, pending bookings left out",
			"SELECT room_id, sum(price_net) FROM bookings WHERE status = 'pending' GROUP BY room_id",
			"SELECT room_id, sum(price_net) FROM bookings WHERE status <> 'pending' GROUP BY room_id", "negation"},
		{"no average has what is unknown", "average rate of the rooms, excluding unknown rates",
			"SELECT sum(rate) FROM rooms",
			"SELECT avg(rate) FROM rooms", "average"},
		{"nor has it what is missing", "average rate of the rooms, not counting missing rates", "SELECT sum(rate) FROM rooms",
			"SELECT avg(rate) FROM rooms WHERE rate IS NOT NULL", "average"},
		{"the longest standing one is the first", "the longest standing guest",
			"SELECT name FROM guests ORDER BY joined_on DESC LIMIT 1",
			"SELECT name FROM guests ORDER BY joined_on LIMIT 1", "direction"},
		{"one value is not another one", "guests from Austria, not from Norway",
			"SELECT name FROM guests WHERE nationality = 'Norway'",
			"SELECT name FROM guests WHERE nationality = 'Austria'", "negation"},
		{"a state that excludes what no column has", "bookings that are pending but not refunded", "SELECT id FROM bookings",
			"SELECT id FROM bookings WHERE status = 'pending'", "value negation"},
		{"a state that does not exclude what a table has", "pending but never booked extras",
			"SELECT name FROM extras WHERE name = 'pending'",
			"SELECT name FROM extras WHERE id NOT IN (SELECT extra_id FROM booking_extras)", "negation"},
		{"a state that does not exclude another column", "suites, but not with 2 beds",
			"SELECT label FROM rooms WHERE kind = 'suite'",
			"SELECT label FROM rooms WHERE kind = 'suite' AND beds <> 2", "number negation"},
		{"a share of a filtered whole", "What percentage of bookings is kept?",
			"SELECT 100.0 * count(*) / (SELECT count(*) FROM bookings WHERE status = 'kept') FROM bookings " +
				"WHERE status = 'kept'",
			"SELECT 100.0 * sum(status = 'kept') / count(*) FROM bookings", "share"},
		{"a share by a measure is one", "share of kept bookings by rate",
			"SELECT 100.0 * sum(CASE WHEN b.status = 'no-show' THEN r.rate ELSE 0 END) / sum(r.rate) FROM bookings b " +
				"JOIN rooms r ON r.id = b.room_id",
			"SELECT 100.0 * sum(CASE WHEN b.status = 'kept' THEN r.rate ELSE 0 END) / sum(r.rate) FROM bookings b " +
				"JOIN rooms r ON r.id = b.room_id",
			"value"},
		{"a figure of each group is no second group", "bookings by room and average price",
			"SELECT room_id, count(*), sum(price_net) FROM bookings GROUP BY room_id",
			"SELECT room_id, count(*), avg(price_net) FROM bookings GROUP BY room_id", "average"},
		{"two questions", "How many rooms are there and how many guests?",
			"SELECT count(*) FROM rooms", "SELECT (SELECT count(*) FROM rooms), (SELECT count(*) FROM guests)", "half"},
		{"two keys", "bookings of guests from Austria",
			"SELECT b.id FROM bookings b JOIN guests g ON g.id = b.id WHERE g.nationality = 'Austria'",
			"SELECT b.id FROM bookings b JOIN guests g ON g.id = b.guest_id WHERE g.nationality = 'Austria'", "join"},
		{"equal figures", "sum of all net prices", "SELECT sum(DISTINCT price_net) FROM bookings",
			"SELECT sum(price_net) FROM bookings", "union"},
		{"a text as a number", "net price in 2024", "SELECT sum(price_net) FROM bookings WHERE strftime('%Y', " +
			"booked_on) = 2024",
			"SELECT sum(price_net) FROM bookings WHERE CAST(strftime('%Y', booked_on) AS INTEGER) = 2024", "typed"},
		{"none is the first", "the 2 cheapest rooms", "SELECT label FROM rooms ORDER BY rate LIMIT 2",
			"SELECT label FROM rooms WHERE rate IS NOT NULL ORDER BY rate LIMIT 2", "null-first"},
		{"one of several", "bookings of guests from Austria",
			"SELECT id FROM bookings WHERE guest_id = (SELECT id FROM guests WHERE nationality = 'Austria')",
			"SELECT id FROM bookings WHERE guest_id IN (SELECT id FROM guests WHERE nationality = 'Austria')", "several"},
		{"two with one name", "net price per guest",
			"SELECT g.name, sum(b.price_net) FROM guests g JOIN bookings b ON b.guest_id = g.id GROUP BY g.name",
			"SELECT g.name, sum(b.price_net) FROM guests g JOIN bookings b ON b.guest_id = g.id GROUP BY g.id, g.name",
			"homonym"},
	} {
		if got := held(tt.question, tt.fault); got != tt.rule {
			t.Errorf("%s: %s\n  %s\n  contradicts by %q, want %q", tt.why, tt.question, tt.fault, got, tt.rule)
		}
		if got := held(tt.question, tt.right); got != "" {
			t.Errorf("%s: %s\n  %s\n  is right and contradicts by %q", tt.why, tt.question, tt.right, got)
		}
	}
}

// TestContradictionsOfTalk: a follow-up keeps what it refers to.
func TestContradictionsOfTalk(t *testing.T) {
	held := hold(t)
	const austrians = "SELECT name FROM guests WHERE nationality = 'Austria'"
	const never = "SELECT name FROM guests WHERE nationality = 'Austria' AND id NOT IN (SELECT guest_id FROM bookings)"
	const often = "SELECT name FROM guests JOIN bookings ON guest_id = guests.id WHERE nationality = 'Austria' " +
		"GROUP BY guests.id HAVING count(*) > 2"
	for _, tt := range []struct{ why, before, question, statement, rule string }{
		{"the condition is lost", austrians, "And which of them are VIPs?", "SELECT name FROM guests WHERE is_vip = 1",
			"lost"},
		{"what is left out is lost", never, "And from Peru?", "SELECT name FROM guests WHERE nationality = 'Peru'", "lost"},
		{"it is written in another way", never, "And from Peru?", "SELECT name FROM guests g LEFT JOIN bookings b " +
			"ON b.guest_id = g.id WHERE nationality = 'Peru' AND b.id IS NULL", ""},
		{"the groups are no longer chosen", often, "the same for Peru", strings.Replace(strings.Replace(often, "Austria",
			"Peru", 1), " HAVING count(*) > 2", "", 1), "lost"},
		{"with another number", often, "the same for Peru", strings.Replace(often, "Austria", "Peru", 1), ""},
		{"the others", never, "And those who did?", "SELECT name FROM guests WHERE nationality = 'Austria' AND id IN " +
			"(SELECT guest_id FROM bookings)", ""},
		{"a question of its own", never, "How many of those from Austria have booked a room in May?",
			"SELECT count(DISTINCT guest_id) FROM bookings JOIN guests ON guests.id = guest_id WHERE nationality = 'Austria' " +
				"AND booked_on BETWEEN '2024-05-01' AND '2024-05-31'", ""},
		{"it is kept", austrians, "And which of them are VIPs?",
			"SELECT name FROM guests WHERE is_vip = 1 AND nationality = 'Austria'", ""},
		{"another value of the column", austrians, "and from Peru?",
			"SELECT name FROM guests WHERE nationality = 'Peru'", ""},
		{"the old value", austrians, "and from Peru?", austrians, "value"},
		{"a whole question", austrians, "How many rooms do we have in total?", "SELECT count(*) FROM rooms", ""},
		{"this year refers to nothing", austrians, "What is the net price this year?",
			"SELECT sum(price_net) FROM bookings WHERE booked_on >= '2024-01-01' AND booked_on < '2025-01-01'", ""},
		{"and this year", austrians, "And how many joined this year?",
			"SELECT count(*) FROM guests WHERE joined_on >= '2024-01-01'",
			"lost"},
		{"what belongs to its own words", austrians, "our staff and their salaries",
			"SELECT name, salary FROM staff", ""},
		{"an order of its own", austrians, "names of rooms ordered by rate", "SELECT label FROM rooms ORDER BY rate", ""},
		{"a condition of its own", austrians, "bookings that are pending",
			"SELECT id FROM bookings WHERE status = 'pending'", ""},
		{"what belongs to those before", austrians, "And their bookings?", "SELECT b.id FROM bookings b", "lost"},
		{"those of before", austrians, "those that are VIPs", "SELECT name FROM guests WHERE is_vip = 1", "lost"},
		{"an order of those before", austrians, "order by name please", "SELECT name FROM guests ORDER BY name", "lost"},
		{"another month", "SELECT count(*) FROM bookings WHERE booked_on BETWEEN '2024-02-01' AND '2024-02-29'",
			"The same for April",
			"SELECT count(*) FROM bookings WHERE booked_on BETWEEN '2024-04-01' AND '2024-04-30'", ""},
		{"the old month", "SELECT count(*) FROM bookings WHERE booked_on BETWEEN '2024-02-01' AND '2024-02-29'",
			"The same for April",
			"SELECT count(*) FROM bookings WHERE booked_on BETWEEN '2024-02-01' AND '2024-02-29'", "month"},
	} {
		if got := held(tt.question, tt.statement, tt.before); got != tt.rule {
			t.Errorf("%s: %s\n  %s\n  contradicts by %q, want %q", tt.why, tt.question, tt.statement, got, tt.rule)
		}
	}
}
