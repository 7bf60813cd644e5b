package mysql_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestLineage: views of each kind, a partitioned table, one of system versions, and a table of an engine that reads
// others. FEDERATED, SPIDER and CONNECT are as MERGE is: no engine but those that keep rows of their own is read under
// rules.
func TestLineage(t *testing.T) {
	const (
		views  = "error error error | own,own all,all refused,refused | own,own all,all refused,refused"
		others = "error error error | error error error | refused,own refused,all refused,refused"
	)
	dialecttest.Lineage(t, engine("", "reader"), `CREATE TABLE other(id INTEGER);
CREATE TABLE sales(shop VARCHAR(9), note VARCHAR(9)) ENGINE=MyISAM;
INSERT INTO sales VALUES ('a', 'mine'), ('b', 'theirs');
CREATE ALGORITHM=MERGE VIEW v_merge AS SELECT * FROM sales;
CREATE ALGORITHM=TEMPTABLE SQL SECURITY INVOKER VIEW v_temp AS SELECT * FROM sales;
CREATE DEFINER=boss@127.0.0.1 SQL SECURITY DEFINER VIEW v_boss AS SELECT * FROM v_temp;
CREATE TABLE m_sales(shop VARCHAR(9), note VARCHAR(9)) ENGINE=MERGE UNION=(sales);
CREATE VIEW v_m AS SELECT * FROM m_sales;
CREATE TABLE parts(shop VARCHAR(9), note VARCHAR(9)) PARTITION BY KEY (shop) PARTITIONS 2;
INSERT INTO parts SELECT * FROM sales;
CREATE TABLE past(shop VARCHAR(9), note VARCHAR(9)) WITH SYSTEM VERSIONING;
INSERT INTO past SELECT * FROM sales;
`, [][5]string{
		{"a view that is merged", "v_merge", "sales", "", views},
		{"one that is not", "v_temp", "sales", "", views},
		{"one over it with the rights of another user", "v_boss", "sales", "", views},
		{"a table of the engine MERGE", "m_sales", "sales", "", others},
		{"a view over it", "v_m", "sales", "m_sales", others},
		{"a partitioned table without columns of its own", "parts", "sales", "",
			"own,own own,all own,refused | all,own all,all all,refused | refused,own refused,all refused,refused"},
		{"a table of system versions", "past", "sales", "",
			"own,own own,all own,refused | all,own all,all all,refused | refused,own refused,all refused,refused"},
	}...)
}
