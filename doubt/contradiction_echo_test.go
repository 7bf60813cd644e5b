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
		{"Which city is Ada Berg from?", "SELECT first_name, last_name FROM customers WHERE first_name = 'Ada' " +
			"AND last_name = 'Berg'", true, "so are both names"},
		{"Where is the meter P-3?", "SELECT serial FROM meters WHERE serial = 'P-3'", true, "a place is asked for"},
		{"Who uses the meter G-1?", "SELECT m.serial FROM meters m JOIN customers c ON c.customer_no = m.customer_no " +
			"WHERE m.serial = 'G-1'", true, "a person is asked for"},

		{"Where is the meter P-3?", "SELECT location FROM meters WHERE serial = 'P-3'", false, "the place"},
		{"Where is the meter P-3?", "SELECT serial, location FROM meters WHERE serial = 'P-3'", false, "with the place"},
		{"Which tariff is Spot?", "SELECT label FROM tariffs WHERE label = 'Spot'", false, "the thing itself"},
		{"Who is called Eva?", "SELECT first_name FROM customers WHERE first_name = 'Eva'", false, "whether there is one"},
		{"Do we have a Spot tariff?", "SELECT label FROM tariffs WHERE label = 'Spot'", false, "the same"},
		{"What serial does the meter P-1 have?", "SELECT serial FROM meters WHERE serial = 'P-1'", false,
			"the question is to blame"},
		{"Who lives in Oslo or is called Ada?", "SELECT first_name FROM customers WHERE first_name = 'Ada' OR city = 'Oslo'",
			false, "others are returned, too"},
	} {
		if lines := said(tt.question, tt.sql); len(lines) > 0 != tt.contradicted {
			t.Errorf("%s: %s\n\t%s: %v", tt.reason, tt.question, tt.sql, lines)
		}
	}
}
