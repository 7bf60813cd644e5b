package enginetest

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3" // the driver of Open

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm/llmtest"
)

// Shop is the script of a small database that most tests query.
const Shop = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL, password TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), total REAL);
INSERT INTO customers VALUES (1,'Ada','USA','s3cret-1'),(2,'Bo','Norway','s3cret-2'),(3,'Cyd','USA','s3cret-3');
INSERT INTO orders VALUES (1,1,10.5),(2,2,20),(3,1,NULL);`

// USA is a statement over [Shop] that returns two customers.
const USA = "SELECT name FROM customers WHERE country = 'USA'"

// Open returns a new database file that script has filled. The test closes it at its end.
func Open(tb testing.TB, script string) *sql.DB {
	tb.Helper()
	// The file need not survive a crash.
	db := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(tb.TempDir(), "test.sqlite")+"?_sync=OFF"))(tb)
	// database/sql keeps two, and DB.Warnings says so where a machine is busy enough to need a third.
	db.SetMaxIdleConns(64)
	tb.Cleanup(func() { db.Close() })
	testutil.Value(db.Exec(script))(tb)
	return db
}

// Options returns the options of a test, and before them the defaults that it does not override.
func Options(defaults []texttosql.Option, opts ...texttosql.Option) []texttosql.Option {
	for _, d := range slices.Backward(defaults) {
		all := append([]texttosql.Option{d}, opts...)
		if _, err := texttosql.New(nil, Always(""), all...); !strings.Contains(err.Error(), "it is given twice") {
			opts = all
		}
	}
	return opts
}

// Always returns a model that answers every request with text.
func Always(text string) *llmtest.Script {
	return &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(text), Repeat: true}}}
}
