package postgres_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

func TestNames(t *testing.T) {
	more := append([]string{"Ab", "aB", "ab", "AB", "dueDate", "_a", "id"}, dialecttest.OddNames...)
	dialecttest.Names(t, engine("", "reader"), "SELECT word FROM pg_get_keywords()", more...)
}

// TestQuotes: a statement without the quotes that names need gets them where one name fits, and only where it fails
// without.
func TestQuotes(t *testing.T) {
	pool, _ := open(t,
		`CREATE TABLE "Orders"("Id" int, "CustomerId" int, "Total" numeric, "Date" date, "user" text, "order" int, "Password" text);
		CREATE TABLE customers(id int, name text);
		CREATE TABLE login(id int, "localtime" text, "user" text, current_day date);
		CREATE TABLE "user"(id int, "Id" int, "ID" int);
		CREATE TABLE twins(a int, "A" int); CREATE TABLE "Twins"(b int, "B" int, "c" int, "C" int);`)
	const quoted, bare = "names-quoted", "odd-bare-function"
	db := newDB(t, pool, exec.Config{Policy: exec.Policy{DenyColumns: []string{"Password"}}})
	dialecttest.Quotes(t, db, [][4]string{
		{"SELECT Id FROM Orders", `SELECT "Id" FROM "Orders"`, quoted, "upper case"},
		{"SELECT o.Id, c.name FROM Orders o JOIN customers c ON o.CustomerId = c.id",
			`SELECT o."Id", c.name FROM "Orders" o JOIN customers c ON o."CustomerId" = c.id`, quoted,
			"the other table has the name in lower case"},
		{"SELECT SUM(Total) AS Total FROM Orders GROUP BY Date ORDER BY Total DESC",
			`SELECT SUM("Total") AS "Total" FROM "Orders" GROUP BY "Date" ORDER BY "Total" DESC`, quoted,
			"an alias of the same name"},
		{"SELECT CAST(Total AS Date), Total::Date, Date '2024-01-01' FROM Orders", "", "", "no cast of a number to a date"},
		{"SELECT x.Date::Date FROM Orders x WHERE x.Date > Date '2024-01-01'",
			`SELECT x."Date"::Date FROM "Orders" x WHERE x."Date" > Date '2024-01-01'`, quoted,
			"a type is not a column"},
		{`SELECT "id" FROM "orders"`, `SELECT "Id" FROM "Orders"`, quoted, "quotes around another case"},
		{"SELECT user, count(*) FROM login GROUP BY user", `SELECT "user", count(*) FROM login GROUP BY "user"`, quoted,
			"a function that is rejected"},
		{"SELECT order FROM Orders ORDER BY order", `SELECT "order" FROM "Orders" ORDER BY "order"`, quoted,
			"a keyword as a column and as itself"},
		{"SELECT id FROM user", `SELECT id FROM "user"`, quoted, "a keyword as a table"},
		{"SELECT u.Id FROM user u", `SELECT u.Id FROM "user" u`, quoted,
			"the column in lower case is the one that the server reads"},
		{"SELECT b, a FROM Twins", "", "", "two tables have the name in some case"},
		{"SELECT Id, nosuch FROM Orders", "", "", "quotes alone do not help"},
		{"SELECT Id, Password FROM Orders", "", "", "the policy denies a column"},
		{"SELECT localtime FROM login", "SELECT localtime FROM login", bare, "the clock and not the column"},
		{`SELECT "localtime" FROM login`, `SELECT "localtime" FROM login`, "", "the column"},
		{"SELECT l.localtime FROM login l", "SELECT l.localtime FROM login l", "", "the column, behind a dot"},
		{"SELECT localtime, name FROM customers", "SELECT localtime, name FROM customers", "",
			"the clock: the table has no such column"},
		{"SELECT id FROM login WHERE current_day = current_date", "SELECT id FROM login WHERE current_day = current_date", "",
			"the clock: no column has the name"},
		{"SELECT ID AS Number FROM customers", "SELECT ID AS Number FROM customers", "", "nothing is wrong"},
		{"SELECT max(a) AS Total FROM twins", "SELECT max(a) AS Total FROM twins", "", "nothing is wrong"},
		{"SELECT user, nosuch FROM login", "", "", "quotes alone do not help"},
		{"DELETE FROM Orders", "", "", "it writes"},
	})
}
