package sqlite_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestLineage: views, and virtual tables over tables, views and other virtual tables.
func TestLineage(t *testing.T) {
	const (
		views    = "error error error | own,own all,all refused,refused | own,own all,all refused,refused"
		searches = "error error error | error all,all error | refused,own refused,all refused,refused"
		shadows  = "own_search_content own_search_segments own_search_segdir own_search_docsize own_search_stat"
	)
	dialecttest.Lineage(t, engine(), `CREATE TABLE other(id INTEGER);
CREATE TABLE sales(id INTEGER PRIMARY KEY, shop TEXT, note TEXT);
INSERT INTO sales VALUES (1, 'a', 'mine'), (2, 'b', 'theirs');
CREATE VIEW v_sales AS SELECT id AS rowid, shop, note FROM sales;
CREATE VIEW v_v_sales AS SELECT * FROM v_sales;
CREATE VIRTUAL TABLE search USING fts4(content="sales", shop, note);
CREATE VIRTUAL TABLE v_search USING fts4(content="v_sales", shop, note);
CREATE VIRTUAL TABLE own_search USING fts4(shop, note);
INSERT INTO own_search SELECT shop, note FROM sales;
CREATE VIEW v_own AS SELECT c0shop AS shop, c1note AS note FROM own_search_content;
`, [][5]string{
		{"a view", "v_sales", "sales", "", views},
		{"a view over a view", "v_v_sales", "sales", "", views},
		{"a search over a table", "search", "sales", "", searches},
		{"over a view", "v_search", "sales", "", searches},
		{"one with data of its own, whose tables have to be named too", "own_search", "sales", "",
			"error error error | refused,own refused,all refused,refused | refused,own refused,all refused,refused"},
		{"and are", "own_search", "sales", shadows, "error error error | all,own all,all all,refused | refused,own " +
			"refused,all refused,refused"},
		{"a view over one of them", "v_own", "sales", "own_search " + shadows,
			"error error error | all,own all,all all,refused | refused,own refused,all refused,refused"},
	}...)
}
