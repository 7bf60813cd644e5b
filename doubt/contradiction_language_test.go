package doubt_test

import "testing"

// TestContradictionsOfLanguages: of a question in another language only numbers, dates and stored values are compared.
func TestContradictionsOfLanguages(t *testing.T) {
	held := hold(t)
	for _, tt := range []struct{ question, statement string }{
		{"Wie viele Gäste haben wir?", "SELECT count(*) FROM guests WHERE removed_on IS NULL"},
		{"Welche Gäste haben nie gebucht?", "SELECT name FROM guests g WHERE NOT EXISTS (SELECT 1 FROM bookings b " +
			"WHERE b.guest_id = g.id)"},
		{"Buchungen im März 2024", "SELECT id FROM bookings WHERE booked_on >= '2024-03-01' AND booked_on < '2024-04-01'"},
		{"Umsatz pro Monat 2024", "SELECT strftime('%Y-%m', booked_on), sum(price_net) FROM bookings " +
			"WHERE booked_on >= '2024-01-01' GROUP BY 1"},
		{"Die 3 teuersten Zimmer", "SELECT label FROM rooms ORDER BY rate DESC LIMIT 3"},
		{"Gäste aus Austria und wie oft sie kamen",
			"SELECT g.name, count(b.id) FROM guests g LEFT JOIN bookings b ON b.guest_id = g.id " +
				"WHERE g.nationality = 'Austria' GROUP BY g.id, g.name"},
		{"Durchschnittliches Gehalt der Mitarbeiter, die vor 1980 geboren sind",
			"SELECT avg(salary) FROM staff WHERE born < '1980-01-01'"},
		{"Zimmer mit mindestens 2 Betten", "SELECT label FROM rooms WHERE beds >= 2"},
		{"Anteil der Buchungen mit Status kept in Prozent", "SELECT 100.0 * sum(status = 'kept') / count(*) FROM bookings"},

		{"Combien de clients avons-nous ?", "SELECT count(*) FROM guests WHERE removed_on IS NULL"},
		{"Réservations de février 2024", "SELECT id FROM bookings WHERE booked_on LIKE '2024-02%'"},
		{"Les 2 chambres les moins chères", "SELECT label FROM rooms WHERE rate IS NOT NULL ORDER BY rate LIMIT 2"},
		{"Quels clients n'ont jamais réservé ?", "SELECT name FROM guests WHERE id NOT IN (SELECT guest_id FROM bookings)"},
		{"Chiffre d'affaires net par devise", "SELECT currency, sum(price_net) FROM bookings GROUP BY currency"},
		{"Le salaire moyen du personnel", "SELECT avg(salary) FROM staff"},
		{"Toutes les chambres sauf les suites", "SELECT label FROM rooms WHERE kind <> 'suite'"},
		{"Réservations avec Sauna et Parking",
			"SELECT booking_id FROM booking_extras JOIN extras e ON e.id = extra_id WHERE e.name IN ('Sauna', 'Parking') " +
				"GROUP BY 1 HAVING count(*) = 2"},

		{"¿Cuántos huéspedes hay?", "SELECT count(*) FROM guests WHERE removed_on IS NULL"},
		{"Reservas del 2024-05-02", "SELECT id FROM bookings WHERE booked_on = '2024-05-02'"},
		{"Ingresos por mes en 2024",
			"SELECT strftime('%m', booked_on), sum(price_net) FROM bookings WHERE booked_on BETWEEN '2024-01-01' " +
				"AND '2024-12-31' GROUP BY 1"},
		{"Las tres habitaciones más caras", "SELECT label FROM rooms ORDER BY rate DESC LIMIT 3"},
		{"Huéspedes de Norway sin reservas este año",
			"SELECT name FROM guests g WHERE nationality = 'Norway' AND NOT EXISTS (SELECT 1 FROM bookings b " +
				"WHERE b.guest_id = g.id AND b.booked_on >= '2024-01-01')"},
		{"¿Quién es el empleado más joven?", "SELECT name FROM staff WHERE born IS NOT NULL ORDER BY born DESC LIMIT 1"},
		{"Promedio de camas por tipo de habitación", "SELECT kind, avg(beds) FROM rooms GROUP BY kind"},
		{"Habitaciones con tarifa de más de 100", "SELECT label FROM rooms WHERE rate > 100"},

		{"كم عدد الضيوف؟", "SELECT count(*) FROM guests WHERE removed_on IS NULL"},
		{"الحجوزات في عام 2024", "SELECT id FROM bookings WHERE strftime('%Y', booked_on) = '2024'"},
		{"أغلى 3 غرف", "SELECT label FROM rooms ORDER BY rate DESC LIMIT 3"},
		{"الضيوف من Austria", "SELECT name FROM guests WHERE nationality = 'Austria'"},
		{"متوسط الراتب", "SELECT avg(salary) FROM staff"},
		{"الإيرادات حسب العملة", "SELECT currency, sum(price_gross) FROM bookings GROUP BY currency"},
		{"الضيوف الذين لم يحجزوا", "SELECT name FROM guests WHERE id NOT IN (SELECT guest_id FROM bookings)"},
		{"الغرف التي فيها سريران على الأقل", "SELECT label FROM rooms WHERE beds >= 2"},

		{"我们有多少客人？", "SELECT count(*) FROM guests WHERE removed_on IS NULL"},
		{"2024年2月的预订", "SELECT id FROM bookings WHERE booked_on >= '2024-02-01' AND booked_on < '2024-03-01'"},
		{"最贵的3个房间", "SELECT label FROM rooms ORDER BY rate DESC LIMIT 3"},
		{"来自Austria的客人", "SELECT name FROM guests WHERE nationality = 'Austria'"},
		{"每个房间的预订数量", "SELECT room_id, count(*) FROM bookings GROUP BY room_id"},
		{"平均工资", "SELECT avg(salary) FROM staff"},
		{"没有预订的客人", "SELECT name FROM guests WHERE id NOT IN (SELECT guest_id FROM bookings)"},
		{"房价超过100的房间", "SELECT label FROM rooms WHERE rate > 100"},
		{"状态为 kept 的预订占百分之几？", "SELECT 100.0 * sum(status = 'kept') / count(*) FROM bookings"},
	} {
		if got := held(tt.question, tt.statement); got != "" {
			t.Errorf("%s\n  %s\n  is right and contradicts by %q", tt.question, tt.statement, got)
		}
	}
	for _, tt := range []struct{ why, question, statement, rule string }{
		{"a value", "Wie viele Gäste kommen aus Norway?", "SELECT count(*) FROM guests WHERE nationality = 'Peru'",
			"value"},
		{"a year", "Combien de réservations en 2024 ?",
			"SELECT count(*) FROM bookings WHERE booked_on BETWEEN '2023-01-01' AND '2023-12-31'", "time"},
		{"a day", "预订 2024-05-02", "SELECT id FROM bookings WHERE booked_on = '2024-05-03'", "time"},
		{"a number", "Habitaciones con tarifa de más de 100", "SELECT label FROM rooms WHERE rate > 150", "number"},
	} {
		if got := held(tt.question, tt.statement); got != tt.rule {
			t.Errorf("%s: %s\n  %s\n  contradicts by %q, want %q", tt.why, tt.question, tt.statement, got, tt.rule)
		}
	}
}
