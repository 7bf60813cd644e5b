package doubt_test

import "testing"

// school is a database of another trade than freight, with codes, marks, an own key of texts and two dates a row.
const school = `
CREATE TABLE campuses (code TEXT PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, opened_on DATE);
CREATE TABLE teachers (id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, hired_on DATE NOT NULL, left_on DATE,
	salary REAL, campus TEXT REFERENCES campuses(code),
	head_id INTEGER REFERENCES teachers(id));
CREATE TABLE courses (id INTEGER PRIMARY KEY, title TEXT NOT NULL, level TEXT NOT NULL, hours INTEGER NOT NULL, fee_net REAL NOT NULL, fee_gross REAL NOT NULL,
	teacher_id INTEGER REFERENCES teachers(id), cancelled BOOLEAN NOT NULL);
CREATE TABLE pupils (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born_on DATE, city TEXT, language TEXT, expelled_at DATETIME);
CREATE TABLE bookings (pupil_id INTEGER NOT NULL REFERENCES pupils(id), course_id INTEGER NOT NULL REFERENCES courses(id), booked_at DATETIME NOT NULL,
	paid_at DATETIME, mark REAL, status TEXT NOT NULL, PRIMARY KEY (pupil_id, course_id));
INSERT INTO campuses VALUES ('N','North','Bergen','2001-08-01'),('S','South','Oslo','2010-02-01'),('W','West','Bergen','2019-09-01');
INSERT INTO teachers VALUES (1,'Ola Vik','2005-01-01',NULL,52000,'N',NULL),(2,'Kari Dal','2012-03-01','2023-06-30',48000,'N',1),
	(3,'Per Lund','2020-08-15',NULL,41000,'S',1),(4,'Liv Moe','2021-01-10',NULL,NULL,NULL,3);
INSERT INTO courses VALUES (1,'French A1','beginner',40,200,250,1,0),(2,'French B2','advanced',60,320,400,3,0),(3,'Pottery','beginner',20,80,100,3,1),
	(4,'Piano','advanced',30,400,500,NULL,0);
INSERT INTO pupils VALUES (1,'Ann','2008-05-05','Bergen','no',NULL),(2,'Bo','2010-12-31','Oslo','no',NULL),(3,'Cy',NULL,NULL,'en',NULL),
	(4,'Di','2009-02-28','Bergen','en','2023-11-02 10:00:00'),(5,'Ann','2011-07-07','Oslo','de',NULL);
INSERT INTO bookings VALUES (1,1,'2023-09-01 10:00:00','2023-09-02 09:00:00',2.5,'done'),(1,2,'2024-02-29 12:00:00',NULL,NULL,'open'),
	(2,1,'2023-09-10 08:00:00','2023-10-01 08:00:00',5,'done'),(3,3,'2023-12-24 20:00:00',NULL,NULL,'withdrawn'),

	(4,2,'2023-10-10 10:00:00','2023-10-10 10:05:00',1,'done'),(5,4,'2024-05-30 09:00:00','2024-05-31 10:00:00',NULL,'open'),
	(5,1,'2024-06-03 09:00:00',NULL,NULL,'open');`

// TestRightAnswersOfASchool: a second trade, and the wordings in which people put times, numbers, codes and what is
// left out.
func TestRightAnswersOfASchool(t *testing.T) {
	said := sayings(t, school)
	for _, tt := range [][2]string{
		// Times.
		{"bookings in Q4 2023", "SELECT * FROM bookings WHERE booked_at >= '2023-10-01' AND booked_at < '2024-01-01'"},
		{"bookings in the last quarter of 2023", "SELECT count(*) FROM bookings WHERE booked_at >= '2023-10-01' " +
			"AND booked_at < '2024-01-01'"},
		{"bookings in the autumn of 2023", "SELECT count(*) FROM bookings WHERE booked_at >= '2023-09-01' " +
			"AND booked_at < '2023-12-01'"},
		{"how many bookings on leap day 2024?", "SELECT count(*) FROM bookings WHERE date(booked_at) = '2024-02-29'"},
		{"bookings on Christmas Eve", "SELECT count(*) FROM bookings WHERE strftime('%m-%d', booked_at) = '12-24'"},
		{"bookings of the school year 2023/24", "SELECT count(*) FROM bookings WHERE booked_at >= '2023-08-01' " +
			"AND booked_at < '2024-08-01'"},
		{"bookings this year so far", "SELECT count(*) FROM bookings WHERE booked_at >= '2024-01-01'"},
		{"bookings in the last 30 days", "SELECT count(*) FROM bookings WHERE booked_at >= '2024-05-16'"},
		{"bookings last week", "SELECT count(*) FROM bookings WHERE booked_at >= '2024-06-03' AND booked_at < '2024-06-10'"},
		{"bookings from 9/2023", "SELECT count(*) FROM bookings WHERE booked_at >= '2023-09-01' " +
			"AND booked_at < '2023-10-01'"},
		{"how many pupils turn 16 this year?", "SELECT count(*) FROM pupils WHERE strftime('%Y', born_on) = '2008'"},
		{"pupils older than 14", "SELECT name FROM pupils WHERE born_on <= '2009-06-15'"},
		{"pupils born in the nineties", "SELECT name FROM pupils WHERE born_on >= '1990-01-01' AND born_on < '2000-01-01'"},
		{"campuses opened this century", "SELECT name FROM campuses WHERE opened_on >= '2001-01-01'"},
		{"who was hired before 2010?", "SELECT full_name FROM teachers WHERE hired_on < '2010-01-01'"},
		{"who was hired in 2020 or later?", "SELECT full_name FROM teachers WHERE hired_on >= '2020-01-01'"},
		{"teachers hired between 2010 and 2020", "SELECT full_name FROM teachers WHERE hired_on BETWEEN '2010-01-01' " +
			"AND '2020-12-31'"},
		{"how long has each teacher been with us, in years?",
			"SELECT full_name, CAST((julianday('2024-06-15') - julianday(hired_on)) / 365.25 AS INTEGER) " +
				"FROM teachers WHERE left_on IS NULL"},
		{"bookings by weekday", "SELECT strftime('%w', booked_at) AS d, count(*) FROM bookings GROUP BY d ORDER BY d"},
		{"bookings per month in 2023", "SELECT strftime('%Y-%m', booked_at) AS m, count(*) FROM bookings " +
			"WHERE booked_at >= '2023-01-01' AND " +
			"booked_at < '2024-01-01' GROUP BY m"},
		{"in which month of 2023 did we get the most bookings?",
			"SELECT strftime('%Y-%m', booked_at) AS m, count(*) AS n FROM bookings WHERE " +
				"booked_at LIKE '2023%' GROUP BY m ORDER BY n DESC LIMIT 1"},
		{"When did Ann first book?", "SELECT min(b.booked_at) FROM bookings b JOIN pupils p ON p.id = b.pupil_id " +
			"WHERE p.name = 'Ann'"},
		{"When was the last time somebody paid?", "SELECT max(paid_at) FROM bookings"},
		{"When did the first teacher who left start?",
			"SELECT hired_on FROM teachers WHERE left_on IS NOT NULL ORDER BY left_on LIMIT 1"},
		{"payments made within a week of booking", "SELECT count(*) FROM bookings " +
			"WHERE julianday(paid_at) - julianday(booked_at) <= 7"},
		{"payments that took longer than two weeks",
			"SELECT pupil_id, course_id FROM bookings WHERE julianday(paid_at) - julianday(booked_at) > 14"},
		// Numbers.
		{"courses of two hours or more", "SELECT title FROM courses WHERE hours >= 2"},
		{"courses of at least 1,800 minutes", "SELECT title FROM courses WHERE hours >= 30"},
		{"courses with exactly 20 hours", "SELECT title FROM courses WHERE hours = 20"},
		{"courses between 30 and 50 hours", "SELECT title FROM courses WHERE hours >= 30 AND hours <= 50"},
		{"courses under 300 before tax", "SELECT title FROM courses WHERE fee_net < 300"},
		{"a dozen pupils", "SELECT name FROM pupils LIMIT 12"},
		{"top three courses by bookings", "SELECT c.title, count(*) AS n FROM courses c JOIN bookings b " +
			"ON b.course_id = c.id WHERE b.status <> " +
			"'withdrawn' GROUP BY c.id, c.title ORDER BY n DESC LIMIT 3"},
		{"the best paid teacher", "SELECT full_name FROM teachers WHERE salary IS NOT NULL ORDER BY salary DESC LIMIT 1"},
		{"the cheapest advanced course", "SELECT title FROM courses WHERE level = 'advanced' ORDER BY fee_gross LIMIT 1"},
		{"salaries over 45k", "SELECT full_name, salary FROM teachers WHERE salary > 45000"},
		{"20 % discount on every fee", "SELECT title, fee_gross * 0.8 FROM courses"},
		{"fees with 10 percent added", "SELECT title, fee_gross * 1.1 FROM courses"},
		{"what is the VAT of each course?", "SELECT title, fee_gross - fee_net FROM courses"},
		{"share of bookings that were paid", "SELECT 100.0 * count(paid_at) / count(*) FROM bookings"},
		{"average mark per course, one decimal",
			"SELECT c.title, round(avg(b.mark), 1) FROM courses c JOIN bookings b ON b.course_id = c.id GROUP BY c.id, c.title"},
		{"median salary", "SELECT salary FROM teachers WHERE salary IS NOT NULL ORDER BY salary " +
			"LIMIT 1 OFFSET (SELECT count(salary) / 2 FROM teachers)"},
		{"pupils with two or more bookings", "SELECT p.name FROM pupils p JOIN bookings b ON b.pupil_id = p.id " +
			"GROUP BY p.id, p.name HAVING count(*) >= 2"},
		{"pupils with only one booking", "SELECT p.name FROM pupils p JOIN bookings b ON b.pupil_id = p.id GROUP BY p.id, " +
			"p.name HAVING count(*) = 1"},
		// What is left out, and what is not.
		{"unpaid bookings", "SELECT pupil_id, course_id FROM bookings WHERE paid_at IS NULL AND status <> 'withdrawn'"},
		{"bookings that nobody paid for yet", "SELECT count(*) FROM bookings WHERE paid_at IS NULL"},
		{"bookings that are not open", "SELECT count(*) FROM bookings WHERE status = 'done' OR status = 'withdrawn'"},
		{"bookings that are not done", "SELECT count(*) FROM bookings WHERE status IN ('open', 'withdrawn')"},
		{"courses nobody booked", "SELECT title FROM courses WHERE id NOT IN (SELECT course_id FROM bookings) " +
			"AND NOT cancelled"},
		{"courses without a teacher", "SELECT title FROM courses WHERE teacher_id IS NULL"},
		{"pupils who have not booked a beginner course",
			"SELECT name FROM pupils WHERE id NOT IN (SELECT b.pupil_id FROM bookings b JOIN courses c ON c.id = " +
				"b.course_id WHERE c.level = 'beginner')"},
		{"pupils outside of Bergen", "SELECT name FROM pupils WHERE city <> 'Bergen' OR city IS NULL"},
		{"everyone but the heads", "SELECT full_name FROM teachers WHERE id NOT IN (SELECT head_id FROM teachers " +
			"WHERE head_id IS NOT NULL)"},
		{"all teachers, also those without a campus",
			"SELECT t.full_name, c.name FROM teachers t LEFT JOIN campuses c ON c.code = t.campus"},
		{"every pupil and how many courses they take, even if none",
			"SELECT p.name, count(b.course_id) FROM pupils p LEFT JOIN bookings b ON b.pupil_id = p.id " +
				"GROUP BY p.id, p.name"},
		{"expelled pupils", "SELECT name FROM pupils WHERE expelled_at IS NOT NULL"},
		{"current teachers", "SELECT full_name FROM teachers WHERE left_on IS NULL"},
		{"teachers who left", "SELECT full_name, left_on FROM teachers WHERE left_on IS NOT NULL"},
		{"cancelled courses", "SELECT title FROM courses WHERE cancelled = 1"},
		{"courses we still offer", "SELECT title FROM courses WHERE cancelled = 0"},
		// Codes, words and groups.
		{"german speaking pupils", "SELECT name FROM pupils WHERE language = 'de'"},
		{"teachers of the north campus", "SELECT full_name FROM teachers WHERE campus = 'N'"},
		{"teachers in Bergen", "SELECT t.full_name FROM teachers t JOIN campuses c ON c.code = t.campus " +
			"WHERE c.city = 'Bergen'"},
		{"pupils per city", "SELECT coalesce(city, 'unknown') AS city, count(*) FROM pupils WHERE expelled_at IS NULL " +
			"GROUP BY 1"},
		{"number of pupils by language and city", "SELECT language, city, count(*) FROM pupils GROUP BY language, city"},
		{"which teachers teach both beginners and advanced courses?",
			"SELECT t.full_name FROM teachers t JOIN courses c ON c.teacher_id = t.id GROUP BY t.id, " +
				"t.full_name HAVING count(DISTINCT c.level) = 2"},
		{"pupils who take French A1 as well as French B2",
			"SELECT p.name FROM pupils p WHERE p.id IN (SELECT pupil_id FROM bookings WHERE " +
				"course_id = 1) AND p.id IN " +
				"(SELECT pupil_id FROM bookings WHERE course_id = 2)"},
		{"teachers and their heads", "SELECT t.full_name, h.full_name FROM teachers t LEFT JOIN teachers h " +
			"ON h.id = t.head_id"},
		{"gross income per course",
			"SELECT c.title, sum(c.fee_gross) FROM courses c JOIN bookings b ON b.course_id = c.id " +
				"WHERE b.paid_at IS NOT NULL GROUP BY c.id, c.title"},
		{"income", "SELECT sum(c.fee_gross) FROM courses c JOIN bookings b ON b.course_id = c.id " +
			"WHERE b.paid_at IS NOT NULL"},
		{"how many different pupils booked something?", "SELECT count(DISTINCT pupil_id) FROM bookings"},
		{"how many pupils named Ann are there?", "SELECT count(*) FROM pupils WHERE name = 'Ann'"},
		{"put the courses in order of length, longest first", "SELECT title, hours FROM courses ORDER BY hours DESC"},
		{"list courses from short to long", "SELECT title, hours FROM courses ORDER BY hours"},
		{"everything we know about Pottery", "SELECT * FROM courses WHERE title = 'Pottery'"},
		{"mark each pupil as local (Bergen) or not",
			"SELECT name, CASE WHEN city = 'Bergen' THEN 'local' ELSE 'other' END FROM pupils"},
		{"is Piano more expensive than Pottery?",
			"SELECT (SELECT fee_gross FROM courses WHERE title = 'Piano') > (SELECT fee_gross FROM courses " +
				"WHERE title = 'Pottery')"},
		{"difference between the highest and the lowest fee", "SELECT max(fee_gross) - min(fee_gross) FROM courses"},
		{"courses dearer than average", "SELECT title FROM courses WHERE fee_gross > (SELECT avg(fee_gross) FROM courses)"},
		// What the rules must not take for a fault.
		{"current teachers and those who left", "SELECT full_name, left_on FROM teachers"},
		{"only two courses please", "SELECT title FROM courses LIMIT 2"},
		{"just 3 pupils of Oslo", "SELECT name FROM pupils WHERE city = 'Oslo' LIMIT 3"},
		{"courses only for beginners", "SELECT title FROM courses WHERE level = 'beginner'"},
		{"pupils with only 1 unpaid booking",
			"SELECT p.name FROM pupils p JOIN bookings b ON b.pupil_id = p.id WHERE b.paid_at IS NULL GROUP BY p.id, p.name " +
				"HAVING count(*) < 2"},
		{"average fee per level", "SELECT level, avg(fee_gross) FROM courses GROUP BY level"},
		{"average number of bookings per pupil", "SELECT 1.0 * count(*) / count(DISTINCT pupil_id) FROM bookings"},
		{"average number of bookings per course", "SELECT avg(n) FROM (SELECT course_id, count(*) AS n FROM bookings " +
			"GROUP BY course_id)"},
		{"average hours per course", "SELECT avg(hours) FROM courses"},
		{"average salary", "SELECT avg(salary) FROM teachers WHERE left_on IS NULL"},
		{"bookings from old to new", "SELECT pupil_id, booked_at FROM bookings ORDER BY booked_at"},
		{"bookings from new to old", "SELECT pupil_id, booked_at FROM bookings ORDER BY booked_at DESC"},
		{"courses from expensive to cheap", "SELECT title FROM courses ORDER BY fee_gross DESC"},
		{"pupils from young to old", "SELECT name FROM pupils WHERE born_on IS NOT NULL ORDER BY born_on DESC"},
		{"teachers hired after 2020", "SELECT full_name FROM teachers WHERE hired_on > '2020-12-31'"},
		{"teachers hired since 2020", "SELECT full_name FROM teachers WHERE hired_on >= '2020-01-01'"},
		{"teachers hired from 2020 on", "SELECT full_name FROM teachers WHERE strftime('%Y', hired_on) >= '2020'"},
		{"bookings from 2023", "SELECT count(*) FROM bookings WHERE booked_at LIKE '2023%'"},
		{"bookings from September 2023 to May 2024",
			"SELECT count(*) FROM bookings WHERE booked_at >= '2023-09-01' AND booked_at < '2024-06-01'"},
		{"bookings between 1 September 2023 and 31 December 2023",
			"SELECT count(*) FROM bookings WHERE date(booked_at) BETWEEN '2023-09-01' AND '2023-12-31'"},
		{"bookings until the end of 2023", "SELECT count(*) FROM bookings WHERE booked_at < '2024-01-01'"},
		{"pupils born in 2009 or later", "SELECT name FROM pupils WHERE born_on >= '2009-01-01'"},
		{"pupils born in 2009 or earlier", "SELECT name FROM pupils WHERE born_on < '2010-01-01'"},
		{"pupils born in the 2000s", "SELECT name FROM pupils WHERE born_on >= '2000-01-01' AND born_on < '2010-01-01'"},
		{"salaries in total", "SELECT sum(salary) FROM teachers"},
		{"non-cancelled courses", "SELECT title FROM courses WHERE cancelled = 0"},
		{"courses that weren't cancelled", "SELECT title FROM courses WHERE NOT cancelled"},
		{"active courses", "SELECT title FROM courses WHERE cancelled = 0"},
		{"share of cancelled courses", "SELECT 100.0 * sum(cancelled) / count(*) FROM courses"},
		{"how many pupils booked Pottery?", "SELECT count(*) FROM bookings b JOIN courses c ON c.id = b.course_id " +
			"WHERE c.title = 'Pottery'"},
		{"number of pupils per course", "SELECT c.title, count(*) FROM bookings b JOIN courses c ON c.id = b.course_id " +
			"GROUP BY c.id, c.title"},
		{"number of pupil bookings", "SELECT count(*) FROM bookings"},
		{"pupils who speak English", "SELECT name FROM pupils WHERE language = 'en'"},
		{"marks better than average", "SELECT pupil_id, mark FROM bookings WHERE mark < (SELECT avg(mark) FROM bookings)"},
		{"courses longer than average", "SELECT title FROM courses WHERE hours > (SELECT avg(hours) FROM courses)"},
		{"courses not above the average fee", "SELECT title FROM courses WHERE fee_gross <= (SELECT avg(fee_gross) " +
			"FROM courses)"},
		{"number of courses per teacher, with zero",
			"SELECT t.full_name, count(c.id) FROM teachers t LEFT JOIN courses c ON c.teacher_id = t.id GROUP BY t.id, " +
				"t.full_name"},
		{"number of teachers per campus", "SELECT c.name, count(*) FROM teachers t LEFT JOIN campuses c " +
			"ON c.code = t.campus GROUP BY c.name"},
		{"fees paid by pupils of Bergen", "SELECT sum(c.fee_gross) FROM bookings b JOIN courses c ON c.id = b.course_id " +
			"JOIN pupils p ON p.id = " +
			"b.pupil_id WHERE p.city = 'Bergen' " +
			"AND b.paid_at IS NOT NULL"},
		{"the teacher with the longest service", "SELECT full_name FROM teachers WHERE left_on IS NULL ORDER BY hired_on " +
			"LIMIT 1"},
		{"when did the last teacher leave?", "SELECT max(left_on) FROM teachers"},
		{"courses outside the beginner level", "SELECT title FROM courses WHERE level <> 'beginner'"},
		{"courses outside the building without a title", "SELECT id FROM courses WHERE title = ''"},
		{"running total of paid fees by month", "SELECT m, sum(s) OVER (ORDER BY m) FROM (SELECT strftime('%Y-%m', " +
			"b.paid_at) AS m, " +
			"sum(c.fee_gross) AS s FROM bookings b " +
			"JOIN courses c ON c.id = b.course_id WHERE b.paid_at IS NOT NULL GROUP BY m)"},
	} {
		for _, line := range said(tt[0], tt[1]) {
			t.Errorf("%s\n   %s\n   %s", tt[0], tt[1], line)
		}
	}
}
