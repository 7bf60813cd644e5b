package sqlite_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestNames has the words of https://sqlite.org/lang_keywords.html.
func TestNames(t *testing.T) {
	words := strings.Fields(
		`abort action add after all alter always analyze and as asc attach autoincrement before begin between by cascade case
		cast check collate column commit conflict constraint create cross current current_date current_time current_timestamp database
		default deferrable deferred delete desc detach distinct do drop each else end escape except exclude exclusive exists explain
		fail filter first following for foreign from full generated glob group groups having if ignore immediate in index indexed
		initially inner insert instead intersect into is isnull join key last left like limit match materialized natural no not
		nothing notnull null nulls of offset on or order others outer over partition plan pragma preceding primary query raise range
		recursive references regexp reindex release rename replace restrict returning right rollback row rows savepoint select set
		table temp temporary then ties to transaction trigger unbounded union unique update using vacuum values view virtual when
		where window with within without`)
	dialecttest.Names(t, engine(), "", append(append(words, "Ab", "dueDate", "true", "rowid", "id"),
		dialecttest.OddNames...)...)
}

// TestQuotes: see dialecttest.Quotes.
func TestQuotes(t *testing.T) {
	pool, _ := open(t,
		`CREATE TABLE "order"(id INTEGER, "group" INTEGER, "current_date" TEXT); CREATE TABLE other(x INTEGER);`)
	dialecttest.Quotes(t, newDB(t, pool, exec.Config{}), [][4]string{
		{"SELECT group FROM order", "SELECT `group` FROM `order`", "names-quoted", "keywords"},
		{"SELECT group FROM other, (SELECT id FROM order)", "", "", "the name is not in scope, and is no string"},
		{"SELECT current_date FROM `order`", "SELECT current_date FROM `order`", "odd-bare-function",
			"the clock and not the column"},
		{"SELECT current_date FROM other", "SELECT current_date FROM other", "", "the clock"},
		{"SELECT nosuch FROM order", "", "", "quotes alone do not help"},
	})
}
