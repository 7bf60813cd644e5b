package doubt_test

import "testing"

// TestEcho: who asks for something is not answered by what the question says. The first one is of a live model.
func TestEcho(t *testing.T) {
	said := sayings(t, utility)
	for _, tt := range []struct {
		question, sql string
		contradicted  bool
		reason        string
	}{
		{"Which country is the Spot tariff from?", "SELECT label FROM tariffs WHERE label = 'Spot'", true,
			"the name is known"},
		{"Where is the meter P-3?", "SELECT serial FROM meters WHERE serial = 'P-3' AND location IS NOT NULL", true,
			"IS NOT NULL leaves nothing else"},
		{"Which city is Ada Berg from?", "SELECT first_name, last_name FROM customers WHERE first_name = 'Ada' " +
			"AND last_name = 'Berg'", true, "so are both names"},
		{"Where is the meter P-3?", "SELECT serial FROM meters WHERE serial = 'P-3'", true, "the question wants a place"},
		{"Who uses the meter G-1?", "SELECT m.serial FROM meters m JOIN customers c ON c.customer_no = m.customer_no " +
			"WHERE m.serial = 'G-1'", true, "the question wants a person"},

		{"Where is the meter P-3?", "SELECT location FROM meters WHERE serial = 'P-3'", false, "the place"},
		{"Where is the meter P-3?", "SELECT serial, location FROM meters WHERE serial = 'P-3'", false, "with the place"},
		{"Which tariff is Spot?", "SELECT label FROM tariffs WHERE label = 'Spot'", false, "the thing itself"},
		{"Who is called Eva?", "SELECT first_name FROM customers WHERE first_name = 'Eva'", false, "whether there is one"},
		{"Do we have a Spot tariff?", "SELECT label FROM tariffs WHERE label = 'Spot'", false, "the same"},
		{"What serial does the meter P-1 have?", "SELECT serial FROM meters WHERE serial = 'P-1'", false,
			"the question is to blame"},
		{"Who lives in Oslo or is called Ada?", "SELECT first_name FROM customers WHERE first_name = 'Ada' OR city = 'Oslo'",
			false, "others are returned, too"},
		{"Who lives in Oslo but is not Ada?",
			"SELECT first_name FROM customers WHERE city = 'Oslo' AND NOT first_name = 'Ada'", false, "all but her"},
		{"Who are the customers, Ada first?", "SELECT first_name FROM customers ORDER BY first_name = 'Ada' DESC", false,
			"the order only"},
	} {
		if lines := said(tt.question, tt.sql); len(lines) > 0 != tt.contradicted {
			t.Errorf("%s: %s\n\t%s: %v", tt.reason, tt.question, tt.sql, lines)
		}
	}
}

// TestCountedByAnAdjective: an adjective stands before what the question counts. The first one is like one of a live
// model.
func TestCountedByAnAdjective(t *testing.T) {
	const join = " FROM customers c JOIN invoices i ON i.customer_no = c.customer_no"
	said := sayings(t, utility)
	for _, tt := range []struct {
		question, sql string
		contradicted  bool
		reason        string
	}{
		{"How many private customers have a paid invoice?",
			"SELECT count(*)" + join + " WHERE c.segment = 'private' AND i.state = 'paid'", true, "Ada has two"},
		{"How many paperless customers have an invoice?", "SELECT count(c.customer_no)" + join + " WHERE c.paperless = 1",
			true, "the same by the key"},
		{"How many private customers have a paid invoice?",
			"SELECT count(DISTINCT c.customer_no)" + join + " WHERE c.segment = 'private' AND i.state = 'paid'", false,
			"each once"},
		{"How many settled invoices are there?", "SELECT count(paid_on) FROM invoices", false,
			"settled is what a value in paid_on means"},
		{"How many former customers do we have?", "SELECT count(left_on) FROM customers", false, "the same"},
		{"How many customers have an e-mail?", "SELECT count(email) FROM customers", false, "the question names it"},
		{"Show the number of each customer and how many invoices they have.",
			"SELECT c.customer_no, count(i.customer_no) FROM customers c LEFT JOIN invoices i " +
				"ON i.customer_no = c.customer_no GROUP BY c.customer_no", false, "each is no adjective"},
		{"How many customer invoices are paid?", "SELECT count(c.customer_no)" + join + " WHERE i.state = 'paid'", false,
			"invoices of customers are counted"},
		{"How many customer invoices are paid?", "SELECT count(*)" + join + " WHERE i.state = 'paid'", false, "the same"},
		{"How many invoices are settled?", "SELECT count(paid_on) FROM invoices", false, "the adjective stands behind"},
		{"How many invoices are there in total?", "SELECT count(paid_on) FROM invoices", true, "all of them"},
		{"How many private customers are there?", "SELECT count(email) FROM customers WHERE segment = 'private'", true,
			"a condition says which"},
		{"How many customers have invoices, and how many invoices do they have?",
			"SELECT count(DISTINCT c.customer_no), count(*)" + join, false, "two counts"},
		{"How many customers complain?",
			"SELECT count(*) FROM customers c JOIN complaints k ON k.customer_no = c.customer_no", true,
			"a verb behind the noun"},
		{"How many bills customers paid?", "SELECT count(*)" + join + " WHERE i.state = 'paid'", false,
			"bills are counted, which no table is named by"},
		{"How many paid invoices have private customers?",
			"SELECT count(*)" + join + " WHERE c.segment = 'private' AND i.state = 'paid'", false, "invoices are counted"},
	} {
		if lines := said(tt.question, tt.sql); len(lines) > 0 != tt.contradicted {
			t.Errorf("%s: %s\n\t%s: %v", tt.reason, tt.question, tt.sql, lines)
		}
	}
}
