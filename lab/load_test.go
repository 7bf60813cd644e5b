package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/internal/ported"
)

// dsn returns the flags for an engine, and the DSN in them; driver is that of database/sql.
func dsn(t testing.TB, engine string) (flags []string, dsn, driver string) {
	t.Helper()
	if engine == "postgres" {
		dsn, driver = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", postgresServer.at(t)), "pgx"
	} else {
		dsn, driver = fmt.Sprintf("root@tcp(127.0.0.1:%d)/", mysqlServer.at(t)), "mysql"
	}
	return []string{"--engine", engine, "--dsn", dsn}, dsn, driver
}

var engines = []string{"postgres", "mysql"}

// odd is a database whose columns hold what their types do not say.
const odd = `CREATE TABLE Person (Id INTEGER PRIMARY KEY, Name VARCHAR(3), Born DATE, "seen at" DATETIME, Since DATE, Height REAL,
		Price DECIMAL(10,2), Level TEXT, "Order" INT, Happy BOOL, Photo BLOB, Blank, UNIQUE (Name));
	INSERT INTO Person VALUES
		(1, 'Ada', '1815-12-10', '2020-01-02 03:04:05', '2020', 1.5, 7, 'high', 9007199254740993, 1, x'00ff', NULL),
		(2, 'Zoë!', '1900-01-01', NULL, '2021-05-06', 2, 0.1, 12, 2, 0, NULL, NULL);
	CREATE TABLE Pet (Owner INT REFERENCES Person (Id), Toy TEXT REFERENCES Person (Id), Friend INT REFERENCES Person (Id), Kind TEXT, PRIMARY KEY (Owner, Kind));
	INSERT INTO Pet VALUES (1, '1', 99, 'cat'), (1, '2', NULL, 'dog')`

func TestLoad(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			dir := data(t)
			path := filepath.Join(dir, "db", "spider", "shop.sqlite")
			os.Remove(path)
			makeDatabase(t, path, odd)
			flags, _, driver := dsn(t, engine)
			args := append([]string{"load", "--json", "--data", dir}, flags...)
			load := func() []map[string]any {
				t.Helper()
				out, _ := measured(t, nil, args...)
				return objects(t, out)
			}
			want := []map[string]any{{"db": "shop", "tables": 2.0, "rows": 4.0, "same": false, "notes": []any{
				"column Person.Since holds texts too, so its numbers are texts",
				"foreign key Pet(Toy) to Person(Id)", "foreign key Pet(Friend) to Person(Id)",
			}}}
			if diff := cmp.Diff(want, load()); diff != "" {
				t.Fatalf("(-want +got)\n%s", diff)
			}
			s := testutil.Value(ported.Connect(engine, flags[3]))(t)
			db := testutil.Value(s.Open("shop"))(t)
			defer db.Close()
			// Arithmetic shows what a type is.
			quote := s.Dialect.Language().Quote
			var text string
			query := `SELECT concat_ws('|', Id, Name, Born, ` + quote("seen at") + `, Since,
				Height / 2, Price / 2, Level, ` + quote(strings.ToLower("Order")) + ` + 1, Happy + 1)
				FROM Person WHERE name = 'Ada' OR name = 'ada' AND Blank IS NULL`
			const values = "1|Ada|1815-12-10|2020-01-02 03:04:05|2020|0.75|3.5|high|9007199254740994|2"
			if err := db.QueryRow(query).Scan(&text); err != nil || text != values {
				t.Errorf("%q, %v", text, err)
			}
			var photo []byte
			if err := db.QueryRow(`SELECT photo FROM Person WHERE Id = 1`).Scan(&photo); err != nil ||
				string(photo) != "\x00\xff" {
				t.Errorf("%q, %v", photo, err)
			}
			for statement, why := range map[string]string{
				"INSERT INTO Person (id) VALUES (1)":              "a primary key",
				"INSERT INTO Person (id, name) VALUES (3, 'Ada')": "a unique key",
				"INSERT INTO Pet (owner, kind) VALUES (77, 'x')":  "a foreign key",
				"INSERT INTO Pet (owner, kind) VALUES (1, 'cat')": "a primary key of two columns",
			} {
				if _, err := db.Exec(statement); err == nil {
					t.Errorf("%s is missing: %s", why, statement)
				}
			}
			db.Close()

			golden.Equal(t, []map[string]any{{"db": "shop", "tables": 0.0, "rows": 0.0, "same": true}}, load(), "again")
			os.Remove(path)
			makeDatabase(t, path, `CREATE TABLE other (a INT)`)
			if got := load(); got[0]["tables"] != 1.0 || got[0]["rows"] != 0.0 {
				t.Errorf("from another file: %v", got)
			}

			// What somebody else made stays, unless there is nothing in it.
			root, err := sql.Open(driver, flags[3])
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			for _, foreign := range []string{"DROP DATABASE shop", "CREATE DATABASE shop"} {
				testutil.Value(root.Exec(foreign))(t)
			}
			if engine == "mysql" {
				testutil.Value(root.Exec("DELETE FROM texttosql_evaluate.copies WHERE name = 'shop'"))(t)
			}
			if db, err = s.Open("shop"); err != nil {
				t.Fatal(err)
			}
			testutil.Value(db.Exec("CREATE TABLE mine (a INT)"))(t)
			_, _, err = evaluate(t, nil, args...)
			var taken *ported.ForeignError
			if !errors.As(err, &taken) || taken.Database != "shop" {
				t.Errorf("over a database of somebody else: %v", err)
			}
			if _, err := db.Exec("DROP TABLE mine"); err != nil {
				t.Errorf("the table of somebody else: %v", err)
			}
			db.Close()
			if got := load(); got[0]["tables"] != 1.0 {
				t.Errorf("over an empty database: %v", got)
			}
		})
	}
}

// The form of MySQL's own is taken where there is one, and touches no other database.
func TestLoadScript(t *testing.T) {
	flags, dsn, _ := dsn(t, "mysql")
	dir := data(t)
	path := filepath.Join(dir, "db", "spider", "shop.sqlite")
	os.Rename(path, filepath.Join(dir, "db", "spider", "scripted.sqlite"))
	script := filepath.Join(dir, "db", "spider", "scripted.mysql.sql")
	args := append([]string{"load", "--json", "--data", dir, "--only", "scripted"}, flags...)
	write(t, script, "CREATE DATABASE IF NOT EXISTS `scripted`; USE `scripted`; CREATE TABLE a (b ENUM('x')); "+
		"INSERT INTO a VALUES ('x')")
	out, _, err := evaluate(t, nil, args...)
	if want := []map[string]any{{"db": "scripted", "tables": 1.0, "rows": 1.0, "same": false}}; err != nil ||
		!cmp.Equal(want, objects(t, out)) {
		t.Errorf("%s, %v", out, err)
	}
	write(t, script, "USE `elsewhere`; CREATE TABLE a (b INT)")
	if _, _, err := evaluate(t, nil, args...); err == nil ||
		!strings.Contains(err.Error(), `a database "elsewhere", not "scripted"`) {
		t.Errorf("%v", err)
	}
	// An interrupted load is no other database of that name: it is made anew.
	write(t, script, "USE `scripted`; CREATE TABLE a (b INT)")
	if out, _, err := evaluate(t, nil, args...); err != nil || !strings.Contains(out, `"same":false`) {
		t.Errorf("%s, %v, %s", out, err, dsn)
	}
}

func TestLoadErrors(t *testing.T) {
	dir := data(t)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--engine", "oracle", "--dsn", "x"}, "must be one of"},
		{[]string{"--engine", "postgres", "--dsn", "postgres://u:s3cret@ho st/x"}, "--dsn cannot be read"},
		{[]string{"--engine", "mysql", "--dsn", "u:s3cret@nowhere"}, "--dsn cannot be read"},
		{[]string{"--engine", "postgres", "--dsn", "postgres://u:s3cret@127.0.0.1:1/x"}, "refused"},
		{[]string{"--engine", "mysql", "--dsn", "u:s3cret@tcp(127.0.0.1:1)/"}, "refused"},
		{[]string{"--engine", "mysql", "--dsn", "u@tcp(127.0.0.1:1)/", "--only", "farm"}, "farm"},
		{[]string{"--engine", "mysql", "--dsn", "u@tcp(127.0.0.1:1)/", "--data", t.TempDir()}, "holds no evaluation data"},
	} {
		_, _, err := evaluate(t, nil, append([]string{"load", "--data", dir}, test.args...)...)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v: %v, want %q", test.args, err, test.want)
		}
	}
}
