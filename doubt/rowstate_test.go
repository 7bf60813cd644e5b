package doubt_test

import (
	"database/sql"
	"testing"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/contradict"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
)

const clinic = `
CREATE TABLE members (id INTEGER PRIMARY KEY, town TEXT, removed_on DATE, is_test INTEGER NOT NULL, active TEXT);
CREATE TABLE fees (id INTEGER PRIMARY KEY, member_id INTEGER REFERENCES members(id), amount REAL, currency TEXT, status TEXT);
CREATE TABLE tariffs (id INTEGER PRIMARY KEY, code INTEGER, price REAL, effective_from DATE, effective_to DATE);
CREATE TABLE stock (item INTEGER, as_of_date DATE, pieces INTEGER, PRIMARY KEY (item, as_of_date));
CREATE TABLE wards (ward TEXT, beds INTEGER, year INTEGER);
CREATE TABLE visits (id INTEGER PRIMARY KEY, weight REAL, state TEXT);
INSERT INTO members VALUES (1,'Bern',NULL,0,'yes'),(2,'Bern','2024-01-01',0,'yes'),(3,'Basel',NULL,0,'yes'),(4,'Basel',NULL,0,'yes');
INSERT INTO fees VALUES (1,1,10,'CHF','paid'),(2,2,20,'CHF','refunded'),(3,3,30,'CHF','paid'),(4,3,5,'EUR','open');
INSERT INTO tariffs VALUES (1,1,5,'2023-01-01','2023-12-31'),(2,1,6,'2024-01-01','9999-12-31'),(3,2,8,'2023-01-01','9999-12-31');
INSERT INTO stock VALUES (1,'2024-01-01',4),(1,'2024-01-02',3),(2,'2024-01-01',5),(2,'2024-01-02',7);
INSERT INTO wards VALUES ('East',4,2024),('West',6,2024),('TOTAL',10,2024);
INSERT INTO visits VALUES (1,70,'CA'),(2,80,'NY'),(3,9999,'CA'),(4,60,'CA');`

// TestRowState: the remark about rows that usually do not count, with both figures.
func TestRowState(t *testing.T) {
	pool := testutil.Value(sql.Open("sqlite3", "file:"+t.TempDir()+"/clinic.db"))(t)
	defer pool.Close()
	testutil.Value(pool.Exec(clinic))(t)
	db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{}))(t)
	known := testutil.Value(db.Profile(t.Context(), testutil.Value(db.Schema(t.Context()))(t), exec.ProfileOptions{}))(t)
	for _, tt := range []struct{ why, question, evidence, sql, want string }{
		{"removed rows in a count", "How many members are there?", "", "SELECT count(*) FROM members",
			"4 members. 1 of them has removed_on set; without them 3."},
		{"with an alias, in a join", "How many fees did members from Bern pay?", "",
			"SELECT count(f.id) FROM fees f JOIN members AS m ON m.id = f.member_id WHERE m.town = 'Bern'",
			"Some rows of members have removed_on set. Without them the answer is 1, not 2."},
		{"in a list", "Which members live in Bern?", "", "SELECT id FROM members WHERE town = 'Bern'",
			"Some rows of members have removed_on set. Without them the answer is 1, not 2 rows."},
		{"the statement leaves them out", "How many members are there?", "",
			"SELECT count(*) FROM members WHERE removed_on IS NULL", ""},
		{"it leaves out others of the table: its author has thought of them", "How many members are there?", "",
			"SELECT count(*) FROM members WHERE is_test = 0", ""},
		{"it leaves out rows of another table", "What did members pay in CHF?", "",
			"SELECT sum(f.amount) FROM fees f JOIN members m ON m.id = f.member_id WHERE f.currency = 'CHF' " +
				"AND f.status <> 'refunded'", ""},
		{"a status without a word of what counts", "What did members pay in CHF, but for open fees?", "",
			"SELECT sum(f.amount) FROM fees f JOIN members m ON m.id = f.member_id WHERE f.currency = 'CHF' " +
				"AND f.status <> 'open'",
			"Some rows of members have removed_on set. Without them the answer is 40, not 60."},
		{"currencies are another matter", "What did members pay?", "",
			"SELECT sum(amount) FROM fees WHERE status <> 'refunded'",
			"Some rows of fees are not in CHF. Without them the answer is 40, not 45."},
		{"the question names them", "How many members are there, removed ones, too?", "", "SELECT count(*) FROM members", ""},
		{"the question wants all", "How many members did we ever have?", "", "SELECT count(*) FROM members", ""},
		{"instructions count them", "How many members are there?", "A removed member is still a member.",
			"SELECT count(*) FROM members", ""},
		{"instructions leave them out, and the statement does not", "How many members are there?",
			"Leave out removed members.",
			"SELECT count(*) FROM members", "4 members. 1 of them has removed_on set; without them 3."},
		{"the answer is the same", "How many members live in Basel?", "", "SELECT count(*) FROM members WHERE town = 'Basel'",
			""},
		{"refunds in what was earned", "What was our revenue in CHF?", "",
			"SELECT sum(amount) FROM fees WHERE currency = 'CHF'",
			"Some rows of fees are refunded. Without them the answer is 40, not 60."},
		{"a refunded fee is a fee", "How many fees are in CHF?", "", "SELECT count(*) FROM fees WHERE currency = 'CHF'", ""},
		{"two currencies", "What is the sum of all fees?", "", "SELECT sum(amount) FROM fees",
			"Some rows of fees are not in CHF. Without them the answer is 60, not 65."},
		{"fees by currency", "What is the sum of fees by currency?", "",
			"SELECT currency, sum(amount) FROM fees GROUP BY currency", ""},
		{"old versions", "What is the average price of the tariffs?", "", "SELECT avg(price) FROM tariffs",
			"Some rows of tariffs are old versions with effective_to. Without them the answer is 7, not 6.33."},
		{"the question names versions", "How many versions of tariffs are there?", "", "SELECT count(*) FROM tariffs", ""},
		{"snapshots", "How many pieces are in stock?", "", "SELECT sum(pieces) FROM stock",
			"Some rows of stock are of an earlier as_of_date. Without them the answer is 10, not 19."},
		{"totals among their parts", "How many beds are there?", "", "SELECT sum(beds) FROM wards WHERE year = 2024",
			"Some rows of wards are totals, where ward is TOTAL. Without them the answer is 10, not 20."},
		{"totals that the statement leaves out", "How many beds are there?", "",
			"SELECT sum(beds) FROM wards WHERE ward <> 'TOTAL'", ""},
		{"a placeholder", "What is the average weight?", "", "SELECT avg(weight) FROM visits",
			"Some rows of visits have the weight 9999. Without them the answer is 70, not 2,552.25."},
		{"a placeholder in a list", "List the weights", "", "SELECT weight FROM visits", ""},
		{"a state of a country", "How many visits were there?", "", "SELECT count(*) FROM visits", ""},
		{"the same table twice", "Which members live in one town?", "",
			"SELECT a.id FROM members a JOIN members b ON a.town = b.town AND a.id < b.id",
			"Some rows of members have removed_on set. Without them the answer is 3, not 2 rows."},
		{"a subquery", "How many fees are of members?", "",
			"SELECT count(*) FROM fees WHERE member_id IN (SELECT id FROM members)",
			"Some rows of members have removed_on set. Without them the answer is 3, not 4."},
	} {
		runs := 0
		reading := doubt.Rules{}.Read(tt.question, tt.evidence)
		a := contradict.Answer{
			Statement: db.Language().Text.Parse(tt.sql), Schema: known,
			Table: testutil.Value(db.Query(t.Context(), tt.sql))(t, tt.sql),
			Query: func(sql string) *result.Table { runs++; return testutil.Value(db.Query(t.Context(), sql))(t, sql) },
		}
		if got := reading.RowState(a); got != tt.want || runs > 1 {
			t.Errorf("%s: %d statements, %q, want %q", tt.why, runs, got, tt.want)
		}
		a.Query = nil
		if got := reading.RowState(a); got != "" {
			t.Errorf("%s: told though nothing may run: %q", tt.why, got)
		}
	}
}
