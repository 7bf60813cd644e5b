package doubt_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/contradict"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
)

// atlas is a database like those about which a model of 1.5 billion parameters joined tables that nobody had asked for.
const atlas = `
CREATE TABLE visitor (visitor_id INTEGER PRIMARY KEY, name TEXT NOT NULL, level INTEGER NOT NULL, age INTEGER NOT NULL);
CREATE TABLE visit (visit_id INTEGER PRIMARY KEY, visitor_id INTEGER NOT NULL REFERENCES visitor(visitor_id), tickets INTEGER NOT NULL,
	day TEXT NOT NULL);
CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT NOT NULL, continent TEXT NOT NULL);
CREATE TABLE spoken (code TEXT NOT NULL REFERENCES country(code), language TEXT NOT NULL, is_official TEXT NOT NULL, share REAL NOT NULL,
	PRIMARY KEY (code, language));
CREATE TABLE student (student_id INTEGER PRIMARY KEY, name TEXT NOT NULL, grade INTEGER NOT NULL, code TEXT REFERENCES country(code));
CREATE TABLE friend (student_id INTEGER NOT NULL REFERENCES student(student_id),
	friend_id INTEGER NOT NULL REFERENCES student(student_id), PRIMARY KEY (student_id, friend_id));
INSERT INTO visitor VALUES (1,'Ann',5,40),(2,'Bob',6,30),(3,'Cid',1,20),(4,'Dan',7,35);
INSERT INTO visit VALUES (1,1,3,'2024-01-01'),(2,1,2,'2024-01-02'),(3,3,1,'2024-01-02');
INSERT INTO country VALUES ('CA','Canada','America'),('DE','Germany','Europe'),('SE','Sweden','Europe'),('UK','Britain','Europe');
INSERT INTO spoken VALUES ('CA','English','T',60),('CA','French','T',20),('DE','German','T',95),('SE','Swedish','T',90),('SE','English',
	'F',80),('UK','English','T',98);
INSERT INTO student VALUES (1,'Kim',9,'CA'),(2,'Lee',10,'DE'),(3,'Kim',11,NULL),(4,'Max',12,'SE');
INSERT INTO friend VALUES (1,2),(1,4),(3,2),(2,1);`

func TestJoinsOfAModel(t *testing.T) {
	said := sayings(t, atlas)
	for _, tt := range []struct{ why, question, fault, right string }{
		{"a table that nothing uses", "names of the visitors whose level is higher than 4, by level from high to low",
			"SELECT T1.name FROM visitor AS T1 INNER JOIN visit AS T2 ON T1.visitor_id = T2.visitor_id WHERE T1.level > 4 " +
				"ORDER BY T1.level DESC",
			"SELECT name FROM visitor WHERE level > 4 ORDER BY level DESC"},
		{"the same around a nested query", "List the names of visitors above the average age.",
			"SELECT T1.name FROM visitor T1 JOIN visit T2 ON T1.visitor_id = T2.visitor_id WHERE T1.age > (SELECT avg(age) " +
				"FROM visitor)",
			"SELECT name FROM visitor WHERE age > (SELECT avg(age) FROM visitor)"},
		{"the same beside another join", "names of students of grade 9 or above with their continents",
			"SELECT s.name, c.continent FROM student s JOIN friend f ON f.student_id = s.student_id JOIN country c " +
				"ON c.code = s.code WHERE s.grade >= 9",
			"SELECT s.name, c.continent FROM student s LEFT JOIN country c ON c.code = s.code WHERE s.grade >= 9"},
		{"a denial by one that is not", "Which countries do not speak English?",
			"SELECT c.name FROM country c JOIN spoken s ON s.code = c.code WHERE s.language != 'English'",
			"SELECT name FROM country WHERE code NOT IN (SELECT code FROM spoken WHERE language = 'English')"},
		{"the same as a clause", "countries in Europe for which English is not an official language",
			"SELECT c.name FROM country c JOIN spoken s ON s.code = c.code WHERE c.continent = 'Europe' " +
				"AND s.is_official = 'T' AND " +
				"s.language <> 'Swedish' AND s.language <> 'English' OR s.language <> 'English'",
			"SELECT name FROM country c WHERE continent = 'Europe' AND NOT EXISTS (SELECT 1 FROM spoken s " +
				"WHERE s.code = c.code AND " +
				"s.is_official = 'T' AND s.language = 'English')"},
		{"a mark of T and F that is not read", "Which countries have English as an official language?",
			"SELECT c.name FROM country c JOIN spoken s ON s.code = c.code WHERE s.language = 'English'",
			"SELECT c.name FROM country c JOIN spoken s ON s.code = c.code WHERE s.language = 'English' " +
				"AND s.is_official = 'T'"},
		{"groups by a name that two have", "Show the names of the students and their number of friends.",
			"SELECT s.name, count(f.friend_id) FROM student s JOIN friend f ON f.student_id = s.student_id GROUP BY s.name",
			"SELECT s.name, count(f.friend_id) FROM student s LEFT JOIN friend f ON f.student_id = s.student_id " +
				"GROUP BY s.student_id, s.name"},
	} {
		if lines := said(tt.question, tt.right); len(lines) > 0 {
			t.Errorf("%s: the right answer: %v", tt.why, lines)
		}
		if lines := said(tt.question, tt.fault); len(lines) == 0 {
			t.Errorf("%s: nothing is found", tt.why)
		}
	}
}

// TestJoinsThatAreMeant: a table that no word names may be asked for by a verb, and a row that is not something, too.
func TestJoinsThatAreMeant(t *testing.T) {
	said := sayings(t, atlas)
	for _, tt := range [][2]string{
		{"visitors who came", "SELECT DISTINCT v.name FROM visitor v JOIN visit t ON t.visitor_id = v.visitor_id"},
		{"Who visited us?", "SELECT DISTINCT v.name FROM visitor v JOIN visit t ON t.visitor_id = v.visitor_id"},
		{"visitors with a visit", "SELECT DISTINCT v.name FROM visitor v JOIN visit t ON t.visitor_id = v.visitor_id"},
		{"students who have friends", "SELECT DISTINCT s.name FROM student s JOIN friend f ON f.student_id = s.student_id"},
		{"How many languages does Canada have?", "SELECT count(*) FROM country c JOIN spoken s ON s.code = c.code " +
			"WHERE c.name = 'Canada'"},
		{"nations where both English and French are official",
			"SELECT c.name FROM country c JOIN spoken a ON a.code = c.code AND a.language = 'English' " +
				"AND a.is_official = 'T' JOIN spoken b ON b.code = c.code AND b.language = 'French' AND b.is_official = 'T'"},
		{"befriended students", "SELECT DISTINCT s.name FROM student s JOIN friend f ON f.friend_id = s.student_id"},
		{"students from a known country", "SELECT s.name FROM student s JOIN country c ON c.code = s.code"},
		{"each visitor with the days of the visits",
			"SELECT v.name, t.day FROM visitor v LEFT JOIN visit t ON t.visitor_id = v.visitor_id"},
		{"countries with a language other than English",
			"SELECT DISTINCT c.name FROM country c JOIN spoken s ON s.code = c.code WHERE s.language <> 'English'"},
		{"languages that are not English, with their countries",
			"SELECT s.language, c.name FROM spoken s JOIN country c ON c.code = s.code WHERE s.language <> 'English'"},
		{"countries where something that is not English is spoken",
			"SELECT DISTINCT c.name FROM country c JOIN spoken s ON s.code = c.code WHERE s.language <> 'English'"},
		{"countries without English", "SELECT name FROM country WHERE code NOT IN (SELECT code FROM spoken " +
			"WHERE language = 'English')"},
		{"students that do not live in Canada",
			"SELECT s.name FROM student s LEFT JOIN country c ON c.code = s.code WHERE c.name <> 'Canada' OR c.name IS NULL"},
		{"number of students per name", "SELECT name, count(*) FROM student GROUP BY name"},
		{"shares of official languages", "SELECT language, share FROM spoken WHERE is_official = 'T'"},
	} {
		if lines := said(tt[0], tt[1]); len(lines) > 0 {
			t.Errorf("%s\n\t%s\n\t%v", tt[0], tt[1], lines)
		}
	}
}

// TestSameJoinTwice: the text of the FROM stands in front of it, too.
func TestSameJoinTwice(t *testing.T) {
	said := sayings(t, atlas)
	for _, from := range []string{"visitor v JOIN visit t ON 1 = 1",
		"visitor v JOIN visit t ON t.visitor_id = v.visitor_id"} {
		for _, statement := range []string{
			"SELECT v.name, '" + from + "' AS x FROM " + from,
			"SELECT (SELECT count(*) FROM " + from + ") AS n, v.name FROM " + from,
			"SELECT v.name FROM " + from + " WHERE v.age > (SELECT min(v.age) FROM " + from + ")",
		} {
			said("What are the names of the people?", statement) // it does not panic
		}
	}
}

// FuzzContradictions: no question and no statement of a model makes a reader panic.
func FuzzContradictions(f *testing.F) {
	pool := testutil.Value(sql.Open("sqlite3", "file:"+f.TempDir()+"/atlas.db"))(f)
	f.Cleanup(func() { pool.Close() })
	testutil.Value(pool.Exec(atlas))(f)
	db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{}))(f)
	ctx := context.Background()
	known := testutil.Value(db.Profile(ctx, testutil.Value(db.Schema(ctx))(f), exec.ProfileOptions{}))(f)
	const join = "visitor v JOIN visit t ON 1 = 1"
	f.Add("What are the names of the people?", "SELECT v.name, '"+join+"' AS x FROM "+join)
	f.Add("countries that do not speak English", "SELECT c.name FROM country c, spoken s WHERE s.language <> 'English'")
	f.Add("names starting with A, late, on weekends",
		"SELECT name FROM visitor WHERE name LIKE '%A' AND strftime('%w', age) IN ('0', '6')")
	f.Add("net revenue of the last 3 orders", "SELECT sum(net + vat) FROM (SELECT 1) GROUP BY 1, 2 HAVING count(*) > 0")
	f.Fuzz(func(t *testing.T, question, statement string) {
		a := contradict.Answer{Statement: db.Language().Text.Parse(statement), Schema: known,
			Query: func(string) *result.Table { return &result.Table{Columns: []string{"a"}, Rows: [][]any{{"x"}}} }}
		doubt.Rules{}.Read(question, "").Contradictions(a)
	})
}
