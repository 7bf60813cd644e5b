package doubt_test

import "testing"

// TestPlantedFaultsOfASchool: one fault each that a careful reader sees.
func TestPlantedFaultsOfASchool(t *testing.T) {
	said := sayings(t, school)
	for _, tt := range [][2]string{
		{"bookings in Q4 2023", "SELECT count(*) FROM bookings WHERE booked_at >= '2023-07-01' AND booked_at < '2023-10-01'"},
		{"bookings in the last 30 days", "SELECT count(*) FROM bookings WHERE booked_at >= '2024-03-16'"},
		{"bookings last week", "SELECT count(*) FROM bookings WHERE booked_at >= '2024-06-10' AND booked_at < '2024-06-17'"},
		{"bookings from 9/2023", "SELECT count(*) FROM bookings WHERE booked_at >= '2023-10-01' " +
			"AND booked_at < '2023-11-01'"},
		{"bookings in February", "SELECT count(*) FROM bookings WHERE strftime('%m', booked_at) = '03'"},
		{"pupils born in the nineties", "SELECT name FROM pupils WHERE born_on >= '2000-01-01' AND born_on < '2010-01-01'"},
		{"who was hired before 2010?", "SELECT full_name FROM teachers WHERE hired_on > '2010-01-01'"},
		{"who was hired in 2020 or later?", "SELECT full_name FROM teachers WHERE hired_on > '2021-01-01'"},
		{"teachers hired between 2010 and 2020", "SELECT full_name FROM teachers WHERE hired_on BETWEEN '2010-01-01' " +
			"AND '2012-12-31'"},
		{"bookings per month in 2023", "SELECT strftime('%Y-%m', booked_at) AS m, count(*) FROM bookings GROUP BY m"},
		{"bookings by weekday", "SELECT strftime('%d', booked_at) AS d, count(*) FROM bookings GROUP BY d ORDER BY d"},
		{"When did Ann first book?", "SELECT max(b.booked_at) FROM bookings b JOIN pupils p ON p.id = b.pupil_id " +
			"WHERE p.name = 'Ann'"},
		{"courses with exactly 20 hours", "SELECT title FROM courses WHERE hours >= 20"},
		{"courses between 30 and 50 hours", "SELECT title FROM courses WHERE hours >= 30"},
		{"top three courses by bookings",
			"SELECT c.title, count(*) AS n FROM courses c JOIN bookings b ON b.course_id = c.id GROUP BY c.id, c.title " +
				"ORDER BY n DESC LIMIT 5"},
		{"the best paid teacher", "SELECT full_name FROM teachers WHERE salary IS NOT NULL ORDER BY salary LIMIT 1"},
		{"the worst paid teacher", "SELECT full_name FROM teachers ORDER BY salary LIMIT 1"},
		{"the cheapest advanced course", "SELECT title FROM courses ORDER BY fee_gross LIMIT 1"},
		{"salaries over 45k", "SELECT full_name, salary FROM teachers WHERE salary > 4500"},
		{"average mark per course", "SELECT avg(b.mark) FROM bookings b"},
		{"pupils with two or more bookings", "SELECT p.name FROM pupils p JOIN bookings b ON b.pupil_id = p.id " +
			"GROUP BY p.id, p.name HAVING count(*) > 2"},
		{"pupils with only one booking", "SELECT p.name FROM pupils p JOIN bookings b ON b.pupil_id = p.id GROUP BY p.id, " +
			"p.name HAVING count(*) >= 1"},
		{"unpaid bookings", "SELECT pupil_id, course_id FROM bookings WHERE paid_at IS NOT NULL"},
		{"bookings that are not open", "SELECT count(*) FROM bookings WHERE status = 'done'"},
		{"courses nobody booked", "SELECT title FROM courses WHERE id IN (SELECT course_id FROM bookings)"},
		{"courses without a teacher", "SELECT title FROM courses WHERE teacher_id IS NOT NULL"},
		{"pupils outside of Bergen", "SELECT name FROM pupils WHERE city = 'Bergen'"},
		{"all teachers, also those without a campus",
			"SELECT t.full_name, c.name FROM teachers t JOIN campuses c ON c.code = t.campus"},
		{"every pupil and how many courses they take, even if none",
			"SELECT p.name, count(*) FROM pupils p JOIN bookings b ON b.pupil_id = p.id GROUP BY p.id, p.name"},
		{"every teacher and how many courses they give, even if none",
			"SELECT t.full_name, count(*) FROM teachers t LEFT JOIN courses c ON c.teacher_id = t.id GROUP BY t.id, " +
				"t.full_name"},
		{"expelled pupils", "SELECT name FROM pupils WHERE expelled_at IS NULL"},
		{"teachers who left", "SELECT full_name, left_on FROM teachers WHERE left_on IS NULL"},
		{"current teachers", "SELECT full_name FROM teachers WHERE left_on IS NOT NULL"},
		{"cancelled courses", "SELECT title FROM courses WHERE cancelled = 0"},
		{"german speaking pupils", "SELECT name FROM pupils WHERE language = 'en'"},
		{"teachers of the north campus", "SELECT full_name FROM teachers WHERE campus = 'S'"},
		{"teachers in Bergen", "SELECT t.full_name FROM teachers t JOIN campuses c ON c.code = t.campus " +
			"WHERE c.city = 'Oslo'"},
		{"number of pupils by language and city", "SELECT language, count(*) FROM pupils GROUP BY language"},
		{"which teachers teach both beginners and advanced courses?",
			"SELECT DISTINCT t.full_name FROM teachers t JOIN courses c ON c.teacher_id = t.id WHERE c.level IN ('beginner', " +
				"'advanced')"},
		{"gross income per course",
			"SELECT c.title, sum(c.fee_net) FROM courses c JOIN bookings b ON b.course_id = c.id WHERE b.paid_at IS NOT NULL " +
				"GROUP BY c.id, c.title"},
		{"how many different pupils booked something?", "SELECT count(pupil_id) FROM bookings"},
		{"how many pupils booked something?", "SELECT count(*) FROM bookings"},
		{"put the courses in order of length, longest first", "SELECT title, hours FROM courses ORDER BY hours"},
		{"list courses from short to long", "SELECT title, hours FROM courses ORDER BY hours DESC"},
		{"what is the total of all salaries", "SELECT avg(salary) FROM teachers"},
		{"courses dearer than average", "SELECT title FROM courses WHERE fee_gross < (SELECT avg(fee_gross) FROM courses)"},
		{"bookings paid in May 2024", "SELECT count(*) FROM bookings WHERE booked_at >= '2024-05-01' " +
			"AND booked_at < '2024-06-01'"},
		{"the youngest pupil", "SELECT name FROM pupils WHERE born_on IS NOT NULL ORDER BY born_on LIMIT 1"},
		{"average mark of each pupil", "SELECT name, avg(mark) FROM pupils p JOIN bookings b ON b.pupil_id = p.id " +
			"GROUP BY name"},
	} {
		if found := said(tt[0], tt[1]); len(found) == 0 {
			t.Errorf("no contradiction is found: %s\n   %s", tt[0], tt[1])
		}
	}
}
