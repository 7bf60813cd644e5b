package linker_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
)

const shop = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT, credit_limit REAL, since DATE);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), status TEXT, total NUMERIC);
CREATE TABLE notes (body);
CREATE VIEW spenders AS SELECT name, country FROM customers WHERE credit_limit > 1000;
INSERT INTO customers VALUES (1,'Ada Lovelace','Norway',2500,'2003-01-05'),(2,'O''Brien','USA',100,'2004-02-01'),
	(3,'東京商店','日本',0,NULL),(4,'Zoë','Schweiz',7,NULL);
INSERT INTO orders VALUES (1,1,'On Hold',1234.5),(2,2,'Shipped',2500);
INSERT INTO notes VALUES ('Norway');`

// open makes a database file of its own.
func open(tb testing.TB, script string, c exec.Config) (*exec.DB, *schema.Schema) {
	tb.Helper()
	pool := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(tb.TempDir(), "test.sqlite")))(tb)
	tb.Cleanup(func() { pool.Close() })
	testutil.Value(pool.Exec(script))(tb)
	db := testutil.Value(exec.New(pool, sqlite.Dialect{}, c))(tb)
	s := testutil.Value(db.Schema(tb.Context()))(tb)
	return db, s
}

// tables makes a schema of tables given as a name followed by its columns.
func tables(all ...[]string) *schema.Schema {
	s := &schema.Schema{Dialect: "sqlite"}
	for _, names := range all {
		t := schema.Table{Name: names[0], Kind: "table"}
		for _, c := range names[1:] {
			t.Columns = append(t.Columns, schema.Column{Name: c, Type: "TEXT"})
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}
