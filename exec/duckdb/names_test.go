package duckdb_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

func TestNames(t *testing.T) {
	more := append([]string{"Ab", "dueDate", "_a", "id", "localtime", "current_date", "user", "rowid"},
		dialecttest.OddNames...)
	dialecttest.Names(t, engine(), "SELECT DISTINCT keyword_name FROM duckdb_keywords()", more...)
}

// TestQuotes: see dialecttest.Quotes.
func TestQuotes(t *testing.T) {
	db := newDB(t, `CREATE TABLE "show"(id INT, "at" TIMESTAMP, "desc" INT, "localtime" INT, "order" INT)`, exec.Config{})
	dialecttest.Quotes(t, db, [][4]string{
		{"SELECT at, ID FROM show", `SELECT "at", "id" FROM "show"`, "names-quoted", "keywords"},
		{"SELECT desc FROM show s ORDER BY desc DESC", `SELECT "desc" FROM "show" s ORDER BY "desc" DESC`, "names-quoted",
			"a keyword that is both"},
		{"FROM show SELECT order", `FROM "show" SELECT "order"`, "names-quoted", "FROM comes first"},
		{`SELECT localtime FROM "show"`, `SELECT localtime FROM "show"`, "", "the column comes before the function"},
		{"SELECT nosuch FROM show", "", "", "quotes alone do not help"},
	})
}
